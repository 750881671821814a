/* SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <string.h>

#include "expr/machine.h"
#include "syntax/literal.h"
#include "syntax/types.h"

#define FOLD_STRING_BYTES (256u * 1024)
#define FOLDS_MAX         256 /* constants folded in a program; more stay operations */

void hac_emitter_begin(hac_emitter *e, hac_program_builder *builder, uint32_t *pass)
{
    e->builder = builder;
    e->pass = pass;
    e->current = ++*pass;
}

hac_value_id hac_emit_argument(hac_emitter *e, const hac_node *node, size_t i)
{
    return hac_emit_as(e, node->args[i], node->wants[i]);
}

static hac_value_id emit_call(hac_emitter *e, const hac_node *node)
{
    const hac_function *function = node->function;
    if (function->emit != NULL)
        return function->emit(e, node);
    hac_value_id args[3] = {0};
    for (size_t i = 0; i < node->n_args && i < 3; i++)
        args[i] = hac_emit_argument(e, node, i);
    hac_op op = function->ops[hac_program_builder_repr(e->builder, args[0])];
    return op == HAC_OP_COLUMN
               ? args[0]
               : hac_program_builder_op(e->builder, op, args[0], args[1], args[2], function->k);
}

static hac_value_id emit_cast(hac_emitter *e, const hac_node *node)
{
    hac_node *arg = node->args[0];
    if (arg->type.kind == HAC_KIND_NONE)
        return hac_program_builder_null(e->builder, hac_repr_of(node->type));
    hac_value_id value = hac_emit_convert(e->builder, hac_emit_node(e, arg), arg->type, node->type);
    return node->try_cast ? hac_program_builder_op(e->builder, HAC_OP_NULL_IF_ERROR, value, 0, 0, 0) : value;
}

static hac_value_id emit_fresh(hac_emitter *e, const hac_node *node)
{
    switch (node->kind) {
    case HAC_NODE_LITERAL:
        return hac_literal_emit(e->builder, &node->literal,
                                node->type.kind == HAC_KIND_NONE ? HAC_TYPE(BOOL) : node->type);
    case HAC_NODE_COLUMN:
        return hac_program_builder_input(e->builder, (size_t)e->column_inputs[node->column], node->type);
    case HAC_NODE_CAST:
        return emit_cast(e, node);
    default:
        return emit_call(e, node);
    }
}

/* ---- constant folding ---- */

static hac_value_id constant_of(hac_program_builder *builder, const hac_column *column, hac_repr repr)
{
    uint64_t words[2] = {0, 0};
    hac_string_ref ref;
    if (repr == HAC_REPR_STRING) {
        memcpy(&ref, column->values, sizeof ref);
        return hac_program_builder_string(builder, column->bytes + ref.offset, ref.length);
    }
    memcpy(words, column->values, hac_repr_size(repr));
    return hac_program_builder_constant(builder, repr, words[0], words[1]);
}

static hac_program *constant_program(hac_emitter *e, const hac_node *node, hac_value_type type)
{
    hac_program *program = NULL;
    hac_emitter inner = *e;
    inner.n_inputs = 0; /* a constant is not an input here, even if a key is equal */
    inner.folding = true;
    hac_program_builder *builder = NULL;
    if (hac_program_builder_new(&builder, NULL) != HAC_OK)
        return NULL;
    hac_emitter_begin(&inner, builder, e->pass);
    hac_value_id value = hac_emit_convert(builder, emit_fresh(&inner, node), node->type, type);
    hac_program_builder_output(builder, value, type);
    if (hac_program_builder_finish(builder, &program, NULL) != HAC_OK)
        program = NULL;
    hac_program_builder_free(builder);
    return program;
}

/* The constant's value as a `type`. 0: it cannot be folded and stays an operation, because an error counts
 * only if a row uses the result. */
static hac_value_id fold(hac_emitter *e, const hac_node *node, hac_value_type type)
{
    hac_value_id ret = 0;
    hac_machine_c *machine = NULL;
    if (!node->constant || hac_node_is_literal(node) || e->folding || e->folds == FOLDS_MAX)
        return 0;
    e->folds++;
    hac_program *program = constant_program(e, node, type);
    if (program != NULL && hac_machine_c_new_once(program, FOLD_STRING_BYTES, &machine, NULL) == HAC_OK) {
        hac_column value = {0};
        uint8_t state = hac_machine_c_constant(machine, &value);
        hac_repr repr = hac_repr_of(type);
        if (state == HAC_ROW_NULL)
            ret = hac_program_builder_null(e->builder, repr);
        else if (state == HAC_ROW_OK)
            ret = constant_of(e->builder, &value, repr);
    }
    hac_machine_c_free(machine);
    hac_program_free(program);
    return ret;
}

/* ---- nodes ---- */

/* The index of the input that equals the node; n_inputs: none. */
static size_t find_input(const hac_emitter *e, hac_node *node)
{
    size_t i = 0;
    while (i < e->n_inputs && !hac_node_equal(e->inputs[i], node))
        i++;
    return i;
}

hac_value_id hac_emit_node(hac_emitter *e, hac_node *node)
{
    uint32_t *pass = e->folding ? &node->fold_pass : &node->pass;
    hac_value_id *known = e->folding ? &node->fold_value : &node->value;
    if (*pass == e->current)
        return *known;
    /* `value` is also 0 if the builder has failed. An input must not be emitted as an expression even then,
     * because its columns may not be inputs. */
    size_t input = find_input(e, node);
    hac_value_id value = input < e->n_inputs ? hac_program_builder_input(e->builder, input, node->type)
                                             : fold(e, node, node->type);
    if (value == 0 && input == e->n_inputs)
        value = emit_fresh(e, node);
    *pass = e->current;
    *known = value;
    return value;
}

hac_value_id hac_emit_as(hac_emitter *e, hac_node *node, hac_value_type type)
{
    hac_literal literal;
    if (type.kind == HAC_KIND_NONE)
        return hac_emit_node(e, node);
    if (hac_node_is_literal(node) &&
        hac_literal_as(&node->literal, node->type, type, &literal) == HAC_LITERAL_FITS)
        return hac_literal_emit(e->builder, &literal, type);
    hac_value_id value = hac_value_type_equal(node->type, type) ? 0 : fold(e, node, type);
    return value != 0 ? value : hac_emit_convert(e->builder, hac_emit_node(e, node), node->type, type);
}
