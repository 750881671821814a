/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles a query for tests that implement hacd's protocol themselves. Writes the packed
 * hac.client.CompiledQuery to standard output. Exits with status 2 and a message if the query is invalid.
 *
 *     hac_compile_query [NAME=VALUE]...
 *
 *     schema, where, group_by, select, order_by    strings of the query
 *     kind                                         hac_input_format; 1 is a table
 *     header, skip                                 0 or 1
 *     limit                                        a number
 *     output                                       hac_result_format
 *     columns                                      the schema of the source
 *     place                                        one for each column of a table:
 *                                                  kind,precision,scale,large,validity,values,bytes,n_bytes
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/format.h"
#include "query/compile_query.h"

enum { PLACES_MAX = 256 };

static hac_query_options options = HAC_QUERY_OPTIONS_INIT;
static hac_source_columns columns;
static hac_table_column places[PLACES_MAX];

static int fail(const char *message)
{
    fprintf(stderr, "%s\n", message);
    return 2;
}

static void add_place(const char *text)
{
    unsigned kind, precision, scale, large;
    uint64_t validity, values, bytes, n_bytes;
    if (columns.table.n_columns == PLACES_MAX ||
        sscanf(text, "%u,%u,%u,%u,%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64, &kind, &precision, &scale,
               &large, &validity, &values, &bytes, &n_bytes) != 8)
        exit(fail("a place is wrong"));
    places[columns.table.n_columns++] =
        (hac_table_column){.type = {(uint8_t)kind, (uint8_t)precision, (uint8_t)scale},
                           .large = large != 0,
                           .validity = validity,
                           .values = values,
                           .bytes = bytes,
                           .n_bytes = n_bytes};
    columns.table.columns = places;
}

static void read_argument(char *argument)
{
    char *value = strchr(argument, '=');
    if (value == NULL)
        exit(fail("usage: hac_compile_query [NAME=VALUE]..."));
    *value++ = '\0';
    hac_error err = {.code = HAC_OK};
    const struct {
        const char *name, **text;
    } texts[] = {{"schema", &options.schema},
                 {"where", &options.where},
                 {"group_by", &options.group_by},
                 {"select", &options.select},
                 {"order_by", &options.order_by}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(argument, texts[i].name) == 0 && value[0] != '\0')
            *texts[i].text = value;
    if (strcmp(argument, "kind") == 0)
        options.input_format = (hac_input_format)atoi(value);
    if (strcmp(argument, "header") == 0)
        options.input_options.no_header = hac_formats[options.input_format].header && atoi(value) == 0;
    if (strcmp(argument, "skip") == 0)
        options.input_options.skip_errors = atoi(value) != 0;
    if (strcmp(argument, "limit") == 0)
        options.limit = strtoull(value, NULL, 10);
    if (strcmp(argument, "output") == 0)
        options.result_format = (hac_result_format)atoi(value);
    if (strcmp(argument, "place") == 0)
        add_place(value);
    if (strcmp(argument, "columns") == 0 && hac_schema_parse(value, &columns.schema, &err) != HAC_OK)
        exit(fail(err.message));
}

int main(int argc, char **argv)
{
    hac_error err = {.code = HAC_OK};
    hac_compiled_query *compiled = NULL;
    uint8_t packed[HAC_QUERY_BYTES_MAX + 256];
    for (int i = 1; i < argc; i++)
        read_argument(argv[i]);
    if (hac_query_compile_options(&options, &columns, &compiled, &err) != HAC_OK)
        return fail(err.message);
    size_t bytes = hac__client__compiled_query__pack(&compiled->message, packed);
    free(compiled);
    hac_schema_clear(&columns.schema);
    return write(STDOUT_FILENO, packed, bytes) == (ssize_t)bytes ? 0 : 1;
}
