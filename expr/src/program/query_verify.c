/* SPDX-License-Identifier: Apache-2.0 */
#include "query_verify.h"

#include <string.h>

#include "base/format.h"
#include "base/input_options.h"

#define NO_TYPE         ((hac_value_type){0})
#define wrong(err, ...) hac_fail((err), HAC_INVALID, "not a valid query: " __VA_ARGS__)

static bool is(hac_value_type type, hac_kind kind)
{
    return type.kind == kind;
}

static hac_status verify_source(const hac_source_options *source, hac_error *err)
{
    if (source->format <= HAC_INPUT_NONE || source->format >= HAC_INPUT_END)
        return wrong(err, "unknown format %d", (int)source->format);
    return hac_input_options_check(source->format, &source->options, err);
}

/* For HAC_INPUT_LENGTHS: every width is one that a type has, and columns that the query reads have the width
 * of their type. */
static hac_status verify_widths(const hac_query *query, hac_error *err)
{
    if (query->source.format != HAC_INPUT_LENGTHS)
        return query->widths == NULL ? HAC_OK : wrong(err, "widths, but the format has none");
    if (query->widths == NULL || query->schema_columns == 0 || query->schema_columns > HAC_COLUMNS_MAX)
        return wrong(err, "records of %zu columns", query->schema_columns);
    for (size_t i = 0; i < query->schema_columns; i++)
        if (query->widths[i] > 16 || (query->widths[i] & (query->widths[i] - 1)) != 0)
            return wrong(err, "column %zu of %u bytes", i, query->widths[i]);
    for (size_t i = 0; i < query->columns.n_fields; i++)
        if (query->positions[i] >= query->schema_columns ||
            query->widths[query->positions[i]] != hac_value_size(query->columns.fields[i].type))
            return wrong(err, "the width of column %zu", i);
    return HAC_OK;
}

bool hac_query_unnests(hac_input_format format)
{
    return hac_formats[format].inferred || format == HAC_INPUT_PARQUET;
}

/* Columns of text that read a field of the file which another column may read, too. */
static bool reads_again(const hac_query *query, const hac_field *field)
{
    return field->part == HAC_LIST_VALUE ||
           (field->part == HAC_LIST_UNNEST && query->source.format != HAC_INPUT_PARQUET);
}

static bool has_part(const hac_query *query, const hac_field *field)
{
    switch (field->part) {
    case HAC_LIST_WHOLE:
        return true;
    case HAC_LIST_VALUE:
        return query->source.format == HAC_INPUT_CSV && !field->in_path;
    case HAC_LIST_UNNEST:
        return hac_query_unnests(query->source.format) && !field->in_path;
    default:
        return field->part < HAC_LIST_PART_END && query->source.format == HAC_INPUT_PARQUET;
    }
}

static hac_status verify_columns(const hac_query *query, hac_error *err)
{
    bool fixed = query->source.format == HAC_INPUT_FIXED;
    hac_status status = verify_widths(query, err);
    if (status != HAC_OK)
        return status;
    size_t n = query->columns.n_fields, in_file = hac_query_columns_in_file(query), again = 0;
    for (size_t i = 0; i < n; i++)
        again += reads_again(query, &query->columns.fields[i]);
    if (query->schema_columns > (fixed ? HAC_RECORD_BYTES_MAX : HAC_COLUMNS_MAX) || n > HAC_COLUMNS_MAX ||
        in_file - again > query->schema_columns ||
        (n > in_file && !hac_formats[query->source.format].path_columns))
        return wrong(err, "%zu columns of %zu", n, query->schema_columns);
    for (size_t i = 0; i < n; i++) {
        const hac_field *field = &query->columns.fields[i];
        if (!has_part(query, field))
            return wrong(err, "column %zu is part %u of lists", i, field->part);
        if (field->name[0] == '\0' || !hac_value_type_valid(field->type) || field->in_path != (i >= in_file))
            return wrong(err, "column %zu has no name or no type, or is at the wrong place", i);
        if (field->in_path)
            continue;
        if (query->positions[i] >= query->schema_columns ||
            (i > 0 && !reads_again(query, field) && query->positions[i] <= query->positions[i - 1]))
            return wrong(err, "position %u of column %zu", query->positions[i], i);
        if (fixed && (hac_kind_is_text(field->type.kind) ||
                      hac_value_size(field->type) > query->schema_columns - query->positions[i]))
            return wrong(err, "column %zu is outside of its record", i);
    }
    return HAC_OK;
}

/* Whether the program's inputs are among columns 0 … n - 1, with their types; unused inputs have no type. */
static bool reads(const hac_program *program, size_t n, hac_value_type (*type_of)(const hac_query *, size_t),
                  const hac_query *query)
{
    if (program->n_inputs > n)
        return false;
    for (size_t i = 0; i < program->n_inputs; i++)
        if (program->inputs[i].kind != HAC_KIND_NONE &&
            !hac_value_type_equal(program->inputs[i], type_of(query, i)))
            return false;
    return true;
}

static hac_value_type column_type(const hac_query *query, size_t i)
{
    return query->columns.fields[i].type;
}

static hac_value_type group_type(const hac_query *query, size_t i)
{
    return i < query->n_keys ? query->rows->outputs[i].type : query->aggregate[i - query->n_keys].type;
}

static bool gives(const hac_program *program, const hac_schema *outputs)
{
    if (program->n_outputs != outputs->n_fields)
        return false;
    for (size_t i = 0; i < outputs->n_fields; i++)
        if (!hac_value_type_equal(program->outputs[i].type, outputs->fields[i].type))
            return false;
    return true;
}

/* The type of the row program's output `argument`; HAC_KIND_NONE: it is a key, or there is no such output. */
static hac_value_type argument_type(const hac_query *query, int argument)
{
    bool in_range = argument >= (int)query->n_keys && argument < (int)query->rows->n_outputs;
    return in_range ? query->rows->outputs[argument].type : NO_TYPE;
}

static hac_status verify_aggregate(const hac_query *query, size_t i, hac_error *err)
{
    const hac_aggregate *a = &query->aggregate[i];
    const hac_aggregate_info *info = hac_aggregate_info_of(a->function);
    if (info == NULL)
        return wrong(err, "aggregate %zu is unknown", i);
    bool rows = a->function == HAC_AGGREGATE_COUNT_ROWS, two = info->second != HAC_SECOND_NONE;
    hac_value_type of = argument_type(query, a->argument);
    hac_value_type second = two ? argument_type(query, a->second) : NO_TYPE;
    if (rows ? a->argument != -1 : of.kind == HAC_KIND_NONE)
        return wrong(err, "aggregate %zu reads output %d", i, a->argument);
    if (two && second.kind == HAC_KIND_NONE)
        return wrong(err, "aggregate %zu reads output %d", i, a->second);
    return hac_aggregate_valid(a, of, second) ? HAC_OK
                                              : wrong(err, "aggregate %zu does not fit its arguments", i);
}

static hac_status verify_groups(const hac_query *query, hac_error *err)
{
    if (query->finals == NULL || query->n_keys > HAC_QUERY_KEYS_MAX ||
        query->n_keys > query->rows->n_outputs ||
        query->n_keys + query->n_aggregates > HAC_PROGRAM_INPUTS_MAX)
        return wrong(err, "%zu keys and %zu aggregates", query->n_keys, query->n_aggregates);
    for (size_t i = 0; i < query->n_aggregates; i++) {
        hac_status status = verify_aggregate(query, i, err);
        if (status != HAC_OK)
            return status;
    }
    if (!reads(query->finals, query->n_keys + query->n_aggregates, group_type, query) ||
        !gives(query->finals, &query->outputs))
        return wrong(err, "the final program does not fit keys, aggregates or outputs");
    return HAC_OK;
}

static hac_status verify_programs(const hac_query *query, hac_error *err)
{
    size_t n = query->columns.n_fields;
    if (query->filter != NULL &&
        (!reads(query->filter, n, column_type, query) || query->filter->n_outputs != 1 ||
         !is(query->filter->outputs[0].type, HAC_KIND_BOOL)))
        return wrong(err, "the filter does not fit the columns, or is not a condition");
    if (query->rows == NULL || !reads(query->rows, n, column_type, query))
        return wrong(err, "the row program does not fit the columns");
    if (query->aggregates)
        return verify_groups(query, err);
    if (query->finals != NULL || query->n_keys != 0 || query->n_aggregates != 0 ||
        !gives(query->rows, &query->outputs))
        return wrong(err, "the row program does not fit the outputs");
    return HAC_OK;
}

static hac_status verify_outputs(const hac_query *query, hac_error *err)
{
    if (query->outputs.n_fields > HAC_PROGRAM_OUTPUTS_MAX || query->n_visible == 0 ||
        query->n_visible > query->outputs.n_fields || (unsigned)query->output >= HAC_RESULT_END ||
        query->parquet.compression >= HAC_COMPRESSION_END)
        return wrong(err, "%zu outputs, %zu of them visible", query->outputs.n_fields, query->n_visible);
    for (size_t i = 0; i < query->outputs.n_fields; i++) {
        const hac_field *field = &query->outputs.fields[i];
        if ((field->name[0] != '\0') != (i < query->n_visible) || !hac_value_type_valid(field->type))
            return wrong(err, "the name or type of output %zu", i);
    }
    if (query->having != HAC_QUERY_NO_OUTPUT &&
        (!query->aggregates || query->having >= query->outputs.n_fields ||
         !is(query->outputs.fields[query->having].type, HAC_KIND_BOOL)))
        return wrong(err, "groups chosen by output %u", query->having);
    if (query->n_order > HAC_ORDER_MAX)
        return wrong(err, "ordered by %zu items", query->n_order);
    for (size_t i = 0; i < query->n_order; i++)
        if (query->order[i].column >= query->outputs.n_fields)
            return wrong(err, "ordered by output %u", query->order[i].column);
    for (size_t i = 0; i < query->n_limit_by; i++)
        if (query->limit_by[i] >= query->outputs.n_fields)
            return wrong(err, "limited by output %u", query->limit_by[i]);
    if (query->n_limit_by > 0 && query->limit != UINT64_MAX)
        return wrong(err, "limited by columns, and to %llu rows", (unsigned long long)query->limit);
    return HAC_OK;
}

hac_status hac_query_verify(const hac_query *query, hac_error *err)
{
    hac_status status = verify_source(&query->source, err);
    if (status == HAC_OK)
        status = verify_columns(query, err);
    if (status == HAC_OK)
        status = verify_outputs(query, err);
    return status == HAC_OK ? verify_programs(query, err) : status;
}
