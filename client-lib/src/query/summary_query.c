/* SPDX-License-Identifier: Apache-2.0 */
#include "summary_query.h"

#include <string.h>

#include "base/format.h"
#include "expr/column_names.h"
#include "expr/program.h"

/* One result of each column that has it. */
typedef struct summary_value {
    const char *name, *before, *after; /* what stands around the column's name */
    bool numbers;                      /* only columns of numbers have it */
} summary_value;

static const summary_value values[] = {
    {"count", "count(", ")", false},       {"distinct", "count(distinct ", ")", false},
    {"min", "min(", ")", false},           {"max", "max(", ")", false},
    {"mean", "avg(", ")", true},           {"stddev", "stddev(", ")", true},
    {"q25", "quantile(", ", 0.25)", true}, {"median", "median(", ")", true},
    {"q75", "quantile(", ", 0.75)", true},
};
enum { N_VALUES = sizeof(values) / sizeof(values[0]), TEXT_MAX = HAC_EXPRESSION_MAX - 4096 };

/* The columns of the file, with the types of --schema. */
static hac_status file_columns(const hac_query_options *options, const hac_source_columns *columns,
                               hac_schema *ret, hac_error *err)
{
    bool has_schema = options->schema != NULL && options->schema[0] != '\0';
    const char *text =
        has_schema ? options->schema : hac_format_columns((hac_input_format)options->input_format);
    hac_schema listed = {0}, all = {0};
    hac_status status = text != NULL ? hac_schema_parse(text, &listed, err) : HAC_OK;
    if (status != HAC_OK || columns->schema.fields == NULL) {
        *ret = listed;
        return status;
    }
    all.fields = calloc(columns->schema.n_fields + 1, sizeof(*all.fields));
    if (all.fields == NULL) {
        hac_schema_clear(&listed);
        return hac_fail_no_memory(err);
    }
    all.n_fields = columns->schema.n_fields;
    memcpy(all.fields, columns->schema.fields, all.n_fields * sizeof(*all.fields));
    for (size_t i = 0; i < listed.n_fields; i++) {
        int at = hac_schema_find(&all, listed.fields[i].name, strlen(listed.fields[i].name));
        if (at >= 0)
            all.fields[at].type = listed.fields[i].type;
    }
    hac_schema_clear(&listed);
    *ret = all;
    return HAC_OK;
}

hac_status hac_summary_columns(const hac_query_options *options, const hac_source_columns *columns,
                               hac_schema *ret, hac_error *err)
{
    hac_schema all = {0}, path = {0};
    hac_status status = file_columns(options, columns, &all, err);
    if (status == HAC_OK && options->path_columns != NULL)
        status = hac_schema_parse(options->path_columns, &path, err);
    for (size_t i = 0; i < path.n_fields; i++) {
        int at = hac_schema_find(&all, path.fields[i].name, strlen(path.fields[i].name));
        if (at >= 0 && options->schema != NULL) /* --schema may give it a type */
            path.fields[i].type = all.fields[at].type;
    }
    if (status == HAC_OK)
        status = hac_schema_add_path(&all, &path, err);
    hac_schema_clear(&path);
    if (status == HAC_OK)
        *ret = all;
    else
        hac_schema_clear(&all);
    return status;
}

static void add_values(hac_text *text, const hac_field *field, size_t index)
{
    for (size_t i = 0; i < N_VALUES; i++) {
        if (values[i].numbers && !hac_kind_is_number((hac_kind)field->type.kind))
            continue;
        hac_text_addf(text, ", %s", values[i].before);
        hac_text_add_name(text, field->name);
        hac_text_addf(text, "%s as \"%zu:%s\"", values[i].after, index, values[i].name);
    }
}

static void add_any_column(hac_text *text, const hac_schema *columns)
{
    for (size_t i = 0; i < columns->n_fields; i++)
        if (columns->fields[i].type.kind != HAC_KIND_NONE) {
            hac_text_add_name(text, columns->fields[i].name);
            return;
        }
    hac_text_add(text, "count()");
}

hac_status hac_summary_select(const hac_query_options *options, const hac_schema *columns, char **ret,
                              hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    size_t n = 1;
    if (options->summary == HAC_SUMMARY_COLUMNS) {
        add_any_column(&text, columns);
        return hac_text_finish(&text, ret, NULL, err);
    }
    if (options->summary_first > 0 && options->summary_first >= columns->n_fields)
        return hac_fail(err, HAC_INVALID, "there is no column %u to summarize", options->summary_first + 1);
    hac_text_add(&text, "count() as \"rows\"");
    for (size_t i = options->summary_first; i < columns->n_fields; i++, n += N_VALUES) {
        if (n + N_VALUES > HAC_PROGRAM_OUTPUTS_MAX / 2 || text.bytes > TEXT_MAX)
            break;
        if (columns->fields[i].type.kind != HAC_KIND_NONE)
            add_values(&text, &columns->fields[i], i);
        else
            hac_text_addf(&text, ", count() as \"%zu:none\"", i);
    }
    return hac_text_finish(&text, ret, NULL, err);
}
