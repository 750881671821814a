/* SPDX-License-Identifier: Apache-2.0 */
#include "query_verify.h"

#include <math.h>
#include <string.h>

#include "types.h"

#define wrong(err, ...) hac_fail((err), HAC_INVALID, "not a valid query: " __VA_ARGS__)

static bool is(hac_value_type type, hac_kind kind)
{
    return type.kind == kind;
}

static hac_status verify_source(const hac_source_options *source, hac_error *err)
{
    if (source->format <= HAC_FORMAT_NONE || source->format >= HAC_FORMAT_END)
        return wrong(err, "unknown format %d", (int)source->format);
    if (memchr(source->null_text, '\0', sizeof source->null_text) == NULL)
        return wrong(err, "the text of nulls has no end");
    bool csv = source->format == HAC_FORMAT_CSV;
    if ((csv && source->delimiter == '\0') ||
        (source->delimiter != '\0' && strchr("\"\r\n", source->delimiter)))
        return wrong(err, "byte %d as the delimiter", source->delimiter);
    return HAC_OK;
}

/* Of records with their length in front: every column's width is one that there is, that of a column which
 * the query reads its type's. */
static hac_status verify_widths(const hac_query *query, hac_error *err)
{
    if (query->source.format != HAC_FORMAT_LENGTHS)
        return query->widths == NULL ? HAC_OK : wrong(err, "widths of columns that have none");
    if (query->widths == NULL || query->schema_columns == 0 || query->schema_columns > HAC_FIELDS_MAX)
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

static hac_status verify_columns(const hac_query *query, hac_error *err)
{
    bool fixed = query->source.format == HAC_FORMAT_FIXED;
    hac_status status = verify_widths(query, err);
    if (status != HAC_OK)
        return status;
    if (query->schema_columns > (fixed ? HAC_RECORD_BYTES_MAX : HAC_FIELDS_MAX) ||
        query->columns.n_fields > query->schema_columns)
        return wrong(err, "%zu columns of %zu", query->columns.n_fields, query->schema_columns);
    for (size_t i = 0; i < query->columns.n_fields; i++) {
        const hac_field *field = &query->columns.fields[i];
        if (field->name[0] == '\0' || !hac_value_type_valid(field->type))
            return wrong(err, "column %zu has no name or no type", i);
        if (query->positions[i] >= query->schema_columns ||
            (i > 0 && query->positions[i] <= query->positions[i - 1]))
            return wrong(err, "position %u of column %zu", query->positions[i], i);
        if (fixed && (hac_kind_is_text(field->type.kind) ||
                      hac_value_size(field->type) > query->schema_columns - query->positions[i]))
            return wrong(err, "column %zu is outside of its record", i);
    }
    return HAC_OK;
}

/* A program's inputs are columns 0 … n - 1 of those types; ones that it does not read have no type. */
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

static bool sum_type(hac_value_type of, hac_value_type type)
{
    if (is(of, HAC_KIND_DECIMAL))
        return hac_value_type_equal(type, hac_decimal(HAC_DECIMAL_DIGITS_MAX, of.scale));
    return (is(of, HAC_KIND_I64) || is(of, HAC_KIND_U64) || is(of, HAC_KIND_F64)) &&
           hac_value_type_equal(of, type);
}

/* The type of the argument, and the constants. */
static bool aggregate_valid(const hac_aggregate *a, hac_value_type of)
{
    bool count = a->k >= 1 && a->k <= HAC_AGGREGATE_K_MAX;
    bool plain = a->k == 0 && a->low == 0 && a->high == 0;
    bool f64 = is(of, HAC_KIND_F64);
    switch (a->function) {
    case HAC_AGGREGATE_COUNT_ROWS:
    case HAC_AGGREGATE_COUNT:
    case HAC_AGGREGATE_COUNT_DISTINCT:
        return plain && is(a->type, HAC_KIND_I64);
    case HAC_AGGREGATE_SUM:
        return plain && sum_type(of, a->type);
    case HAC_AGGREGATE_MIN:
    case HAC_AGGREGATE_MAX:
    case HAC_AGGREGATE_FIRST:
    case HAC_AGGREGATE_LAST:
        return plain && hac_value_type_equal(of, a->type);
    case HAC_AGGREGATE_AVG:
        return plain && is(a->type, HAC_KIND_F64) &&
               (f64 || is(of, HAC_KIND_I64) || is(of, HAC_KIND_U64) || is(of, HAC_KIND_DECIMAL));
    case HAC_AGGREGATE_VARIANCE:
    case HAC_AGGREGATE_STDDEV:
    case HAC_AGGREGATE_VARIANCE_POP:
    case HAC_AGGREGATE_STDDEV_POP:
        return plain && f64 && is(a->type, HAC_KIND_F64);
    case HAC_AGGREGATE_TOP_K:
        return count && a->low == 0 && a->high == 0 && is(a->type, HAC_KIND_STRING);
    case HAC_AGGREGATE_HISTOGRAM:
        return count && f64 && is(a->type, HAC_KIND_STRING) && a->low < a->high && isfinite(a->high - a->low);
    case HAC_AGGREGATE_QUANTILE:
        return a->k == 0 && a->high == 0 && f64 && is(a->type, HAC_KIND_F64) && a->low >= 0 && a->low <= 1;
    case HAC_AGGREGATE_STRING_LIST:
        return plain && is(of, HAC_KIND_STRING) && is(a->type, HAC_KIND_STRING);
    default:
        return false;
    }
}

static hac_status verify_groups(const hac_query *query, hac_error *err)
{
    if (query->finals == NULL || query->n_keys > HAC_QUERY_KEYS_MAX ||
        query->n_keys > query->rows->n_outputs ||
        query->n_keys + query->n_aggregates > HAC_PROGRAM_INPUTS_MAX)
        return wrong(err, "%zu keys and %zu aggregates", query->n_keys, query->n_aggregates);
    for (size_t i = 0; i < query->n_aggregates; i++) {
        const hac_aggregate *a = &query->aggregate[i];
        bool rows = a->function == HAC_AGGREGATE_COUNT_ROWS;
        bool in_range = a->argument >= (int)query->n_keys && a->argument < (int)query->rows->n_outputs;
        if (rows ? a->argument != -1 : !in_range)
            return wrong(err, "aggregate %zu reads output %d", i, a->argument);
        hac_value_type of = rows ? (hac_value_type){0} : query->rows->outputs[a->argument].type;
        if (!aggregate_valid(a, of))
            return wrong(err, "aggregate %zu does not fit its argument", i);
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
        return wrong(err, "the filter does not fit the columns, or is no condition");
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
        query->n_visible > query->outputs.n_fields || (unsigned)query->output >= HAC_OUTPUT_END ||
        query->parquet.compression >= HAC_COMPRESSIONS)
        return wrong(err, "%zu outputs, %zu of them visible", query->outputs.n_fields, query->n_visible);
    for (size_t i = 0; i < query->outputs.n_fields; i++) {
        const hac_field *field = &query->outputs.fields[i];
        if ((field->name[0] != '\0') != (i < query->n_visible) || !hac_value_type_valid(field->type))
            return wrong(err, "the name or type of output %zu", i);
    }
    for (size_t i = 0; i < query->n_order; i++)
        if (query->order[i].column >= query->outputs.n_fields)
            return wrong(err, "ordered by output %u", query->order[i].column);
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
