/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/expression.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "emit/emit.h"
#include "language/check.h"
#include "syntax/types.h"

#define ARENA_BYTES (4u * 1024 * 1024)

HAC_DEFINE_CLEANUP(hac_program_builder *, hac_program_builder_free)

typedef struct compilation {
    hac_expr_source source;
    const hac_schema *schema;
    hac_parser parser;
    hac_node *node;
    uint32_t pass;
    hac_error *err;
} compilation;

void hac_expression_clear(hac_expression *expression)
{
    hac_program_free(expression->program);
    free(expression->columns);
    *expression = (hac_expression){0};
}

static hac_status check(compilation *c, hac_value_type as)
{
    char from[HAC_VALUE_TYPE_NAME_MAX], to[HAC_VALUE_TYPE_NAME_MAX];
    hac_status status = hac_parse_expression(&c->parser, &c->source, &c->node);
    if (status != HAC_OK)
        return status;
    hac_checker checker = {.parser = &c->parser, .schema = c->schema};
    c->node = hac_check(&checker, c->node);
    if (c->node == NULL)
        return c->parser.status;
    if (c->node->aggregates)
        return hac_expr_fail(&c->source, 0, c->err,
                             "an aggregate needs many rows, and this expression sees one; use `reduce`");
    if (c->node->type.kind == HAC_KIND_NONE)
        return hac_expr_fail(&c->source, 0, c->err, "null has no type here; write cast(null as i64)");
    if (as.kind != HAC_KIND_NONE && !hac_castable(c->node->type, as))
        return hac_expr_fail(&c->source, 0, c->err, "this is %s, which cannot become %s",
                             hac_value_type_name(c->node->type, from), hac_value_type_name(as, to));
    return HAC_OK;
}

static void mark_used(compilation *c, hac_node *node, int *used)
{
    if (node->pass == c->pass)
        return;
    node->pass = c->pass;
    if (node->kind == HAC_NODE_COLUMN)
        used[node->column] = 0;
    for (size_t i = 0; i < node->n_args; i++)
        mark_used(c, node->args[i], used);
}

/* Numbers the columns that are read, in the order of the schema; -1: not read. */
static hac_status number_columns(compilation *c, int *inputs, hac_expression *ret)
{
    ret->columns = calloc(c->schema->n_fields + 1, sizeof *ret->columns);
    if (ret->columns == NULL)
        return hac_fail_no_memory(c->err);
    for (size_t i = 0; i < c->schema->n_fields; i++)
        inputs[i] = -1;
    c->pass++;
    mark_used(c, c->node, inputs);
    for (size_t i = 0; i < c->schema->n_fields; i++) {
        if (inputs[i] < 0)
            continue;
        inputs[i] = (int)ret->n_columns;
        ret->columns[ret->n_columns++] = (uint16_t)i;
    }
    return HAC_OK;
}

static hac_status emit(compilation *c, const int *inputs, hac_expression *ret)
{
    hac_cleanup(hac_program_builder_free_cleanup) hac_program_builder *builder = NULL;
    hac_status status = hac_program_builder_new(&builder, c->err);
    if (status != HAC_OK)
        return status;
    hac_emitter e = {.column_inputs = inputs};
    hac_emitter_begin(&e, builder, &c->pass);
    hac_program_builder_output(builder, hac_emit_as(&e, c->node, ret->type), ret->type);
    return hac_program_builder_finish(builder, &ret->program, c->err);
}

static hac_status compile(compilation *c, hac_value_type as, hac_expression *ret)
{
    int inputs[HAC_COLUMNS_MAX];
    if (c->schema->n_fields > HAC_COLUMNS_MAX)
        return hac_fail(c->err, HAC_INVALID, "more than %d columns", HAC_COLUMNS_MAX);
    hac_status status = check(c, as);
    if (status != HAC_OK)
        return status;
    ret->type = as.kind != HAC_KIND_NONE ? as : c->node->type;
    status = number_columns(c, inputs, ret);
    return status == HAC_OK ? emit(c, inputs, ret) : status;
}

hac_status hac_expression_compile(const char *text, const hac_schema *schema, hac_value_type as,
                                  hac_expression *ret, size_t *ret_character, hac_error *err)
{
    hac_error unused;
    size_t character = 0;
    hac_arena arena = {.limit = ARENA_BYTES};
    hac_expression made = {0};
    compilation *c = calloc(1, sizeof *c);
    if (err == NULL)
        err = &unused;
    if (c == NULL)
        return hac_fail_no_memory(err);
    c->source = (hac_expr_source){.option = "", .text = text, .character = &character};
    c->schema = schema;
    c->parser = (hac_parser){.arena = &arena, .err = err};
    c->err = err;
    hac_status status = compile(c, as, &made);
    hac_arena_clear(&arena);
    free(c);
    if (status == HAC_OK)
        *ret = made;
    else
        hac_expression_clear(&made);
    *ret_character = character;
    return status;
}
