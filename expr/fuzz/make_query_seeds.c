/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the seeds of query_text and query_bytes into DIRECTORY/{query_text,query_bytes}. Run it after a
 * change of the format, and commit the files. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "expr/query.h"

#define SCHEMA                                                                                               \
    "a:i8,b:i64,c:u64,d:f32,e:f64,f:bool,g:string,h:date,i:timestamp,j:decimal(15,2),\"k l\":decimal(30,4)"

static const struct {
    const char *name, *where, *group_by, *select, *order_by, *having;
} seeds[] = {
    {"star", "", "", "*", "", ""},
    {"filter", "a > 1.5 and g like 'x!%' escape '!' or b in (1, 2, null)", "", "g, \"k l\" * 2 as x",
     "x desc", ""},
    {"group", "f is not null", "g, year(h) as y", "sum(j) as s, count(), avg(d) / 2, count(distinct g)",
     "s desc, y", "s > 1 and max(a) is not null"},
    {"case", "", "", "case a when 1 then 'x' else g || 'y' end, if(f, c, 0), coalesce(e, 1e3)", "", ""},
    {"dates", "h between date '2020-01-31' and date_trunc('month', i)", "",
     "i - timestamp '2020-01-31', add_months(h, 1)", "", ""},
    {"casts", "", "", "try_cast(g as decimal(10,3)), cast(j as u8), cast(c as string), -a % 3 // b", "", ""},
    {"aggregates", "", "",
     "top_k(g, 3), histogram(e, 0, 1, 4), approx_quantile(b, 0.5), string_list(g), first(h), stddev(a)", "",
     ""},
    {"strings", "starts_with(lower(g), 'a') and length(trim(g)) > 2", "substr(g, 1, 2)",
     "max(replace(g, 'a', 'b'))", "count()", ""},
    {"texts", "regexp_matches(g, '^(a|b)+', 'i')", "",
     "regexp_replace(g, '(.)x', '\\\\1', 'g'), regexp_extract(g, '[0-9]+'), strftime(i, '%e %j %F %p'), "
     "try_strptime(g, '%d/%b/%Y:%H:%M:%S %z'), split_part(g, '-', b), lpad(g, 9, 'x'), i + interval '1 day', "
     "b & 7, i at time zone 'Europe/Berlin' at time zone 'UTC'",
     "", ""},
    {"math", "", "", "round(j, 1), floor(\"k l\"), sqrt(abs(e)), pow(2, a), greatest(a, b, 3), pi()", "", ""},
};

static void write_file(const char *directory, const char *kind, const char *name, const char *data,
                       size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s", directory, kind, name);
    hac_autofclose FILE *file = fopen(path, "wbe");
    if (file == NULL || fwrite(data, 1, bytes, file) != bytes) {
        perror(path);
        exit(1);
    }
}

static void write_seed(const char *directory, size_t i)
{
    hac_text text = HAC_TEXT_NONE, bytes = HAC_TEXT_NONE;
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_query_text parts = {.schema = SCHEMA,
                            .where = seeds[i].where,
                            .group_by = seeds[i].group_by,
                            .select = seeds[i].select,
                            .order_by = seeds[i].order_by,
                            .having = seeds[i].having,
                            .limit = 10,
                            .source = {.format = HAC_INPUT_JSONL, .options = {.skip_errors = 1}}};
    if (hac_query_compile(&parts, NULL, &query, &err) != HAC_OK ||
        hac_query_write(query, &bytes, &err) != HAC_OK) {
        fprintf(stderr, "%s: %s\n", seeds[i].name, err.message);
        exit(1);
    }
    hac_text_addf(&text, "%s\n%s\n%s\n%s\n%s\n%s", SCHEMA, parts.where, parts.group_by, parts.select,
                  parts.order_by, parts.having);
    write_file(directory, "query_text", seeds[i].name, text.data, text.bytes);
    write_file(directory, "query_bytes", seeds[i].name, bytes.data, bytes.bytes);
    hac_text_clear(&text);
    hac_text_clear(&bytes);
    hac_query_free(query);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        write_seed(argv[1], i);
    return 0;
}
