/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the parts of a query from checked expressions. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "compile.h"
#include "emit/emit.h"
#include "language/functions.h"
#include "syntax/literal.h"
#include "syntax/types.h"

HAC_DEFINE_CLEANUP(hac_program_builder *, hac_program_builder_free)

/* ---- which columns are read ---- */

static void mark_used(hac_compiler *c, hac_node *node, int *used)
{
    if (node->pass == c->pass)
        return;
    node->pass = c->pass;
    if (node->kind == HAC_NODE_COLUMN)
        used[node->column] = 0;
    for (size_t i = 0; i < node->n_args; i++)
        mark_used(c, node->args[i], used);
}

/* The columns of the source, then the parts of its lists. */
static size_t count_columns(const hac_compiler *c)
{
    return c->schema.n_fields + c->parts.n_fields;
}

static const hac_field *column_at(const hac_compiler *c, size_t i)
{
    return i < c->schema.n_fields ? &c->schema.fields[i] : &c->parts.fields[i - c->schema.n_fields];
}

/* Numbers the columns that are read: those of the file in the order of the schema, then those of its path;
 * -1: not read. Lists that are unnested make the rows, whether or not an expression reads their elements. */
static size_t number_columns(hac_compiler *c, int *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < count_columns(c); i++)
        ret[i] = column_at(c, i)->part == HAC_LIST_UNNEST ? 0 : -1;
    c->pass++;
    if (c->where != NULL)
        mark_used(c, c->where, ret);
    for (size_t i = 0; c->aggregated && i < c->n_inputs; i++)
        mark_used(c, c->inputs[i], ret);
    for (size_t i = 0; !c->aggregated && i < c->n_outputs; i++)
        mark_used(c, c->outputs[i].node, ret);
    for (int in_path = 0; in_path < 2; in_path++)
        for (size_t i = 0; i < count_columns(c); i++)
            if (ret[i] == 0 && column_at(c, i)->in_path == in_path)
                ret[i] = (int)n++;
    return n;
}

/* The position of the field that `value` reads, too. */
static uint16_t position_of(const hac_compiler *c, const hac_field *value)
{
    size_t at = 0;
    for (size_t i = 0; strcmp(c->schema.fields[i].name, value->name) != 0; i++)
        at += !c->schema.fields[i].in_path;
    return (uint16_t)at;
}

/* Sets hac_query.positions. */
static hac_status set_positions(hac_compiler *c, const int *inputs, hac_query *query)
{
    const hac_input_format format = c->text->source.format;
    bool fixed = format == HAC_INPUT_FIXED, parquet = format == HAC_INPUT_PARQUET,
         parts = parquet && c->parts.n_fields > 0;
    size_t at = 0;
    if (c->text->source.format == HAC_INPUT_LENGTHS &&
        (query->widths = calloc(c->schema.n_fields + 1, 1)) == NULL)
        return hac_fail_no_memory(c->err);
    for (size_t i = 0; i < count_columns(c); i++) {
        const hac_field *field = column_at(c, i);
        if (field->part == HAC_LIST_VALUE || (field->part == HAC_LIST_UNNEST && !parquet)) {
            if (inputs[i] >= 0)
                query->positions[inputs[i]] = position_of(c, field);
            continue;
        }
        if (field->in_path) {
            if (inputs[i] >= 0)
                query->positions[inputs[i]] = (uint16_t)at;
            continue;
        }
        if (fixed && hac_kind_is_text(field->type.kind))
            return hac_fail(c->err, HAC_INVALID,
                            "--schema: column '%s' is %s; records of fixed width cannot have such a column",
                            field->name, field->type.kind == HAC_KIND_STRING ? "a string" : "bytes");
        if (inputs[i] >= 0)
            query->positions[inputs[i]] = (uint16_t)at;
        if (query->widths != NULL)
            query->widths[i] = (uint8_t)hac_value_size(field->type);
        if (!parts || inputs[i] >= 0) /* a source with lists finds its columns by their names */
            at += fixed ? hac_value_size(field->type) : 1;
    }
    query->schema_columns = at;
    return HAC_OK;
}

static hac_status set_columns(hac_compiler *c, const int *inputs, size_t n, hac_query *query)
{
    query->columns.fields = calloc(n + 1, sizeof *query->columns.fields);
    query->positions = calloc(n + 1, sizeof *query->positions);
    if (query->columns.fields == NULL || query->positions == NULL)
        return hac_fail_no_memory(c->err);
    query->columns.n_fields = n;
    for (size_t i = 0; i < count_columns(c); i++)
        if (inputs[i] >= 0)
            query->columns.fields[inputs[i]] = *column_at(c, i);
    return set_positions(c, inputs, query);
}

/* ---- programs ---- */

static hac_status make_filter(hac_compiler *c, const int *inputs, hac_query *query)
{
    hac_cleanup(hac_program_builder_free_cleanup) hac_program_builder *builder = NULL;
    hac_status status = hac_program_builder_new(&builder, c->err);
    if (status != HAC_OK)
        return status;
    hac_emitter e = {.column_inputs = inputs};
    hac_emitter_begin(&e, builder, &c->pass);
    hac_program_builder_output(builder, hac_emit_as(&e, c->where, HAC_TYPE(BOOL)), HAC_TYPE(BOOL));
    status = hac_program_builder_finish(builder, &query->filter, c->err);
    return status == HAC_OK ? HAC_OK : hac_error_prefix(c->err, "--where");
}

typedef struct aggregate_arguments {
    struct {
        hac_value_id value;
        hac_value_type type;
    } of[HAC_PROGRAM_OUTPUTS_MAX];
    size_t n;
} aggregate_arguments;

/* The index of the output with that value, which may be new; -1: there are too many outputs. */
static int add_argument(aggregate_arguments *args, hac_program_builder *builder, hac_value_id value,
                        hac_value_type type, size_t n_keys)
{
    for (size_t i = 0; i < args->n; i++)
        if (args->of[i].value == value && hac_value_type_equal(args->of[i].type, type))
            return (int)(n_keys + i);
    if (n_keys + args->n == HAC_PROGRAM_OUTPUTS_MAX)
        return -1;
    args->of[args->n].value = value;
    args->of[args->n++].type = type;
    hac_program_builder_output(builder, value, type);
    return (int)(n_keys + args->n - 1);
}

/* Emits argument `i` of an aggregate; *ret is its index among the outputs. */
static hac_status set_argument(hac_compiler *c, hac_emitter *e, aggregate_arguments *args, hac_node *node,
                               size_t i, int16_t *ret)
{
    hac_value_type type = node->wants[i].kind != HAC_KIND_NONE ? node->wants[i] : HAC_TYPE(BOOL);
    int argument = add_argument(args, e->builder, hac_emit_as(e, node->args[i], type), type, c->n_keys);
    if (argument < 0)
        return hac_expr_fail(node->source, node->at, c->err, "more than %d keys and arguments",
                             HAC_PROGRAM_OUTPUTS_MAX);
    *ret = (int16_t)argument;
    return HAC_OK;
}

static hac_status set_aggregate(hac_compiler *c, hac_emitter *e, aggregate_arguments *args, hac_node *node,
                                hac_aggregate *ret)
{
    hac_aggregate_constants_of(node, ret);
    ret->type = node->type;
    hac_status status = node->n_args == 0 ? HAC_OK : set_argument(c, e, args, node, 0, &ret->argument);
    if (status == HAC_OK && hac_aggregate_info_of(ret->function)->second != HAC_SECOND_NONE)
        status = set_argument(c, e, args, node, 1, &ret->second);
    return status;
}

static hac_status emit_groups(hac_compiler *c, hac_emitter *e, hac_query *query)
{
    aggregate_arguments args = {.n = 0};
    query->aggregates = true;
    query->n_keys = c->n_keys;
    query->n_aggregates = c->n_inputs - c->n_keys;
    query->aggregate = calloc(query->n_aggregates + 1, sizeof *query->aggregate);
    if (query->aggregate == NULL)
        return hac_fail_no_memory(c->err);
    for (size_t i = 0; i < c->n_keys; i++)
        hac_program_builder_output(e->builder, hac_emit_node(e, c->keys[i].node), c->keys[i].node->type);
    hac_status status = HAC_OK;
    for (size_t i = c->n_keys; i < c->n_inputs && status == HAC_OK; i++)
        status = set_aggregate(c, e, &args, c->inputs[i], &query->aggregate[i - c->n_keys]);
    return status;
}

static void emit_outputs(hac_compiler *c, hac_emitter *e)
{
    for (size_t i = 0; i < c->n_outputs; i++)
        hac_program_builder_output(e->builder, hac_emit_node(e, c->outputs[i].node),
                                   c->outputs[i].node->type);
}

static hac_status make_rows(hac_compiler *c, const int *inputs, hac_query *query)
{
    hac_cleanup(hac_program_builder_free_cleanup) hac_program_builder *builder = NULL;
    hac_status status = hac_program_builder_new(&builder, c->err);
    if (status != HAC_OK)
        return status;
    hac_emitter e = {.column_inputs = inputs};
    hac_emitter_begin(&e, builder, &c->pass);
    if (c->aggregated)
        status = emit_groups(c, &e, query);
    else
        emit_outputs(c, &e);
    if (status != HAC_OK)
        return status;
    status = hac_program_builder_finish(builder, &query->rows, c->err);
    return status == HAC_OK ? HAC_OK : hac_error_prefix(c->err, "--select");
}

static hac_status make_finals(hac_compiler *c, hac_query *query)
{
    hac_cleanup(hac_program_builder_free_cleanup) hac_program_builder *builder = NULL;
    hac_status status = hac_program_builder_new(&builder, c->err);
    if (status != HAC_OK)
        return status;
    hac_emitter e = {.inputs = c->inputs, .n_inputs = c->n_inputs};
    hac_emitter_begin(&e, builder, &c->pass);
    emit_outputs(c, &e);
    status = hac_program_builder_finish(builder, &query->finals, c->err);
    return status == HAC_OK ? HAC_OK : hac_error_prefix(c->err, "--select");
}

/* ---- the rest ---- */

static hac_status set_outputs(hac_compiler *c, hac_query *query)
{
    query->outputs.fields = calloc(c->n_outputs + 1, sizeof *query->outputs.fields);
    query->order = calloc(c->n_order + 1, sizeof *query->order);
    query->limit_by = calloc(c->n_limit_by + 1, sizeof *query->limit_by);
    if (query->outputs.fields == NULL || query->order == NULL || query->limit_by == NULL)
        return hac_fail_no_memory(c->err);
    query->outputs.n_fields = c->n_outputs;
    query->n_visible = c->n_visible;
    query->having = c->having_output;
    for (size_t i = 0; i < c->n_outputs; i++) {
        strncpy(query->outputs.fields[i].name, c->outputs[i].name, HAC_FIELD_NAME_MAX - 1);
        query->outputs.fields[i].type = c->outputs[i].node->type;
    }
    memcpy(query->order, c->order, c->n_order * sizeof *query->order);
    query->n_order = c->n_order;
    memcpy(query->limit_by, c->limit_by, c->n_limit_by * sizeof *query->limit_by);
    query->n_limit_by = c->n_limit_by;
    return HAC_OK;
}

static void set_limits(const hac_compiler *c, hac_query *query)
{
    uint64_t all;
    if (__builtin_add_overflow(c->text->limit, c->text->offset, &all))
        all = UINT64_MAX;
    bool each = c->n_limit_by > 0;
    query->offset = c->text->offset;
    query->limit = each ? UINT64_MAX : all;
    query->limit_after = all;
    query->limit_each = each ? c->text->limit_each : UINT64_MAX;
}

hac_status hac_compile_query(hac_compiler *c, hac_query *query)
{
    int inputs[2 * HAC_COLUMNS_MAX];
    size_t n = number_columns(c, inputs);
    if (n > HAC_COLUMNS_MAX)
        return hac_fail(c->err, HAC_INVALID,
                        "the query reads %zu columns and parts of lists; up to %d can be read", n,
                        HAC_COLUMNS_MAX);
    query->source = c->text->source;
    set_limits(c, query);
    query->output = c->text->output;
    query->parquet = c->text->parquet;
    hac_status status = set_columns(c, inputs, n, query);
    if (status == HAC_OK)
        status = set_outputs(c, query);
    if (status == HAC_OK && c->where != NULL)
        status = make_filter(c, inputs, query);
    if (status == HAC_OK)
        status = make_rows(c, inputs, query);
    if (status == HAC_OK && c->aggregated)
        status = make_finals(c, query);
    return status;
}
