/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_prune FILE: for every filter on a line of standard input, a line of JSON: the rows that each row
 * group keeps, as [first, rows], and the counters. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "expr/query.h"
#include "parquet/prune.h"

#define LINE_BYTES 30000

static void must(hac_status status, const hac_error *err)
{
    if (status == HAC_OK)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static hac_schema schema_of(const hac_parquet_file *file)
{
    hac_schema ret = {calloc(file->n_leaves + 1, sizeof *ret.fields), 0};
    for (size_t i = 0; i < file->n_leaves && ret.fields != NULL; i++) {
        if (file->leaves[i].why != NULL)
            continue;
        hac_field *field = &ret.fields[ret.n_fields++];
        snprintf(field->name, sizeof field->name, "%s", file->leaves[i].name);
        field->type = file->leaves[i].type;
    }
    return ret;
}

static void prune(const hac_parquet_file *file, const hac_query *query, hac_text *text, hac_error *err)
{
    hac_conjuncts conjuncts;
    must(hac_conjuncts_find(query->filter, &conjuncts, err), err);
    size_t leaves[HAC_PROGRAM_INPUTS_MAX];
    for (size_t i = 0; i < query->columns.n_fields; i++) {
        const char *name = query->columns.fields[i].name;
        leaves[i] = (size_t)hac_parquet_find(file, name, strlen(name));
    }
    hac_parquet_pruned pruned = {.rows = 0};
    hac_json_open(text, NULL, '{');
    hac_json_open(text, "groups", '[');
    for (size_t group = 0; group < file->n_groups; group++) {
        hac_parquet_ranges ranges;
        must(hac_parquet_prune(file, group, &conjuncts, leaves, &ranges, &pruned, err), err);
        hac_json_open(text, NULL, '[');
        for (size_t i = 0; i < ranges.n; i++) {
            hac_json_open(text, NULL, '[');
            hac_json_unsigned(text, NULL, ranges.ranges[i].first);
            hac_json_unsigned(text, NULL, ranges.ranges[i].rows);
            hac_json_close(text, ']');
        }
        hac_json_close(text, ']');
        hac_parquet_ranges_clear(&ranges);
    }
    hac_json_close(text, ']');
    hac_json_unsigned(text, "by_statistics", pruned.groups_by_statistics);
    hac_json_unsigned(text, "by_bloom", pruned.groups_by_bloom);
    hac_json_unsigned(text, "by_pages", pruned.groups_by_pages);
    hac_json_unsigned(text, "rows", pruned.rows);
    hac_json_unsigned(text, "bounds", conjuncts.n_bounds);
    hac_json_close(text, '}');
    hac_conjuncts_clear(&conjuncts);
}

int main(int argc, char **argv)
{
    hac_autoclose int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        fprintf(stderr, "usage: parquet_prune FILE\n");
        return 2;
    }
    hac_error err = HAC_ERROR_NONE;
    hac_parquet_file *file;
    const hac_parquet_place place = {.fd = fd, .bytes = (uint64_t)st.st_size};
    must(hac_parquet_open(&place, NULL, &file, &err), &err);
    hac_schema schema = schema_of(file);
    hac_autofree char *line = malloc(LINE_BYTES);
    while (line != NULL && fgets(line, LINE_BYTES, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const hac_query_text words = {
            .where = line, .select = "count()", .limit = UINT64_MAX, .source = {.format = HAC_INPUT_PARQUET}};
        hac_query *query;
        must(hac_query_compile(&words, &schema, &query, &err), &err);
        hac_text text = HAC_TEXT_NONE;
        prune(file, query, &text, &err);
        hac_autofree char *json = NULL;
        must(hac_text_finish(&text, &json, NULL, &err), &err);
        puts(json);
        hac_query_free(query);
    }
    hac_schema_clear(&schema);
    hac_parquet_close(file);
    return 0;
}
