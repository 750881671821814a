/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons. Both sides are converted to a type that holds the values of both, if there is one. Literals
 * are cheaper: an i64 column is compared with 1.5 without decimals. */
#include "emit.h"
#include "syntax/literal.h"
#include "syntax/types.h"

static hac_value_id binary(hac_emitter *e, hac_op op, hac_value_id a, hac_value_id b)
{
    return hac_program_builder_op(e->builder, op, a, b, 0, 0);
}

static hac_value_id negate(hac_emitter *e, hac_value_id value)
{
    return hac_program_builder_op(e->builder, HAC_OP_NOT, value, 0, 0, 0);
}

/* Compares two values of one representation. */
static hac_value_id compare(hac_emitter *e, hac_relation which, hac_value_id a, hac_value_id b)
{
    static const hac_op equal[HAC_REPR_END] = {HAC_OP_EQ_BOOL, HAC_OP_EQ_BOOL,  HAC_OP_EQ_I64,
                                               HAC_OP_EQ_U64,  HAC_OP_EQ_F32,   HAC_OP_EQ_F64,
                                               HAC_OP_EQ_I128, HAC_OP_EQ_STRING};
    static const hac_op less[HAC_REPR_END] = {HAC_OP_LT_BOOL, HAC_OP_LT_BOOL,  HAC_OP_LT_I64,
                                              HAC_OP_LT_U64,  HAC_OP_LT_F32,   HAC_OP_LT_F64,
                                              HAC_OP_LT_I128, HAC_OP_LT_STRING};
    static const hac_op less_equal[HAC_REPR_END] = {HAC_OP_COLUMN,  HAC_OP_COLUMN,   HAC_OP_LE_I64,
                                                    HAC_OP_LE_U64,  HAC_OP_LE_F32,   HAC_OP_LE_F64,
                                                    HAC_OP_LE_I128, HAC_OP_LE_STRING};
    hac_repr repr = hac_program_builder_repr(e->builder, a);
    switch (which) {
    case HAC_EQ:
        return binary(e, equal[repr], a, b);
    case HAC_NE:
        return negate(e, binary(e, equal[repr], a, b));
    case HAC_LT:
        return binary(e, less[repr], a, b);
    case HAC_GT:
        return binary(e, less[repr], b, a);
    case HAC_LE:
        return repr == HAC_REPR_BOOL ? negate(e, binary(e, less[repr], b, a))
                                     : binary(e, less_equal[repr], a, b);
    default:
        return repr == HAC_REPR_BOOL ? negate(e, binary(e, less[repr], a, b))
                                     : binary(e, less_equal[repr], b, a);
    }
}

/* `truth` where a is not null; null where a is null. */
static hac_value_id always(hac_emitter *e, bool truth, hac_value_id a)
{
    hac_value_id equal = compare(e, HAC_EQ, a, a);
    return truth ? equal : negate(e, equal);
}

/* The result of the comparison if the left side is less than the right side. */
static bool when_less(hac_relation which)
{
    return which == HAC_NE || which == HAC_LT || which == HAC_LE;
}

static hac_relation mirrored(hac_relation which)
{
    static const hac_relation others[] = {HAC_EQ, HAC_NE, HAC_GT, HAC_GE, HAC_LT, HAC_LE};
    return others[which];
}

/* Compares an i64 with a u64. Below 0 the result is known; otherwise the conversion to u64 cannot fail. */
static hac_value_id compare_mixed(hac_emitter *e, hac_relation which, hac_value_id a, hac_value_id b)
{
    hac_program_builder *builder = e->builder;
    hac_value_id zero = hac_program_builder_constant(builder, HAC_REPR_I64, 0, 0);
    hac_value_id below = binary(e, HAC_OP_LT_I64, a, zero);
    hac_value_id converted = hac_program_builder_op(builder, HAC_OP_I64_TO_U64, a, 0, 0, 0);
    return hac_program_builder_op(builder, HAC_OP_SELECT, below, always(e, when_less(which), b),
                                  compare(e, which, converted, b), 0);
}

/* Compares an integer or decimal with a literal that is not a value of its type: with the next lower value of
 * the type. */
static hac_value_id compare_off_grid(hac_emitter *e, hac_relation which, hac_node *a, const hac_node *b)
{
    hac_value_id left = hac_emit_node(e, a);
    hac_repr repr = hac_program_builder_repr(e->builder, left);
    __int128 min = repr == HAC_REPR_U64 ? 0 : INT64_MIN, max = repr == HAC_REPR_U64 ? UINT64_MAX : INT64_MAX;
    if (repr == HAC_REPR_I128) {
        max = hac_nines(HAC_DECIMAL_DIGITS_MAX);
        min = -max;
    }
    /* a product that is too large compares as the largest value does */
    hac_literal scaled = b->literal;
    unsigned scale = b->type.scale;
    for (; scale < a->type.scale; scale++)
        if (__builtin_mul_overflow(scaled.integer, 10, &scaled.integer))
            scaled.integer = b->literal.integer < 0 ? min - 1 : max + 1;
    __int128 below = hac_literal_floor(&scaled, hac_decimal(HAC_DECIMAL_DIGITS_MAX, scale - a->type.scale));
    if (which == HAC_EQ || which == HAC_NE)
        return always(e, which == HAC_NE, left);
    bool less = when_less(which);
    if (below < min)
        return always(e, !less, left);
    if (below >= max)
        return always(e, less, left);
    hac_value_id bound =
        hac_program_builder_constant(e->builder, repr, (uint64_t)below,
                                     repr == HAC_REPR_I128 ? (uint64_t)((unsigned __int128)below >> 64) : 0);
    return compare(e, less ? HAC_LE : HAC_GT, left, bound);
}

/* Compares a date with a timestamp literal: with the day of the literal. So every date compares, even one
 * that no timestamp can represent. */
static hac_value_id compare_moment(hac_emitter *e, hac_relation which, hac_node *a, const hac_node *b)
{
    int64_t moment = (int64_t)b->literal.integer, rest = moment % HAC_US_PER_DAY;
    int64_t day = moment / HAC_US_PER_DAY - (rest < 0);
    hac_value_id left = hac_emit_node(e, a);
    if (rest != 0 && (which == HAC_EQ || which == HAC_NE))
        return always(e, which == HAC_NE, left);
    if (rest != 0) /* the literal is later than the day's start, which is therefore less */
        which = when_less(which) ? HAC_LE : HAC_GT;
    return compare(e, which, left, hac_program_builder_constant(e->builder, HAC_REPR_I64, (uint64_t)day, 0));
}

static hac_value_id compare_literal(hac_emitter *e, hac_relation which, hac_node *a, const hac_node *b)
{
    hac_literal literal;
    if (hac_kind_is_float(a->type.kind))
        return 0;
    if (a->type.kind == HAC_KIND_DATE && b->type.kind == HAC_KIND_TIMESTAMP && !b->literal.null)
        return compare_moment(e, which, a, b);
    switch (hac_literal_as(&b->literal, b->type, a->type, &literal)) {
    case HAC_LITERAL_FITS:
        return compare(e, which, hac_emit_node(e, a), hac_literal_emit(e->builder, &literal, a->type));
    case HAC_LITERAL_NEVER:
        return compare_off_grid(e, which, a, b);
    default:
        return 0;
    }
}

static bool is_integer(const hac_node *node)
{
    return hac_kind_is_integer(node->type.kind);
}

static hac_value_id compare_integers(hac_emitter *e, hac_relation which, hac_node *a, hac_node *b)
{
    bool ua = hac_is_unsigned(a->type), ub = hac_is_unsigned(b->type);
    if (ua == ub)
        return compare(e, which, hac_emit_node(e, a), hac_emit_node(e, b));
    if (ua)
        return compare_integers(e, mirrored(which), b, a);
    if (b->type.kind == HAC_KIND_U64)
        return compare_mixed(e, which, hac_emit_node(e, a), hac_emit_node(e, b));
    return compare(e, which, hac_emit_node(e, a), hac_emit_as(e, b, HAC_TYPE(I64)));
}

hac_value_id hac_emit_comparison(hac_emitter *e, hac_relation which, hac_node *a, hac_node *b)
{
    if (a->type.kind == HAC_KIND_NONE || b->type.kind == HAC_KIND_NONE)
        return hac_program_builder_null(e->builder, HAC_REPR_BOOL);
    if (hac_node_is_literal(a) && !hac_node_is_literal(b))
        return hac_emit_comparison(e, mirrored(which), b, a);
    if (hac_node_is_literal(b)) {
        hac_value_id value = compare_literal(e, which, a, b);
        if (value != 0)
            return value;
    }
    if (is_integer(a) && is_integer(b))
        return compare_integers(e, which, a, b);
    hac_value_type type = a->type;
    bool numbers = hac_is_number(a->type) && hac_is_number(b->type);
    if (numbers && (hac_kind_is_float(a->type.kind) || hac_kind_is_float(b->type.kind)))
        type = hac_value_type_equal(a->type, b->type) ? a->type : HAC_TYPE(F64);
    else if (numbers)
        type = hac_decimal_common(hac_as_decimal(a), hac_as_decimal(b));
    else if (!hac_value_type_equal(a->type, b->type))
        type = HAC_TYPE(TIMESTAMP);
    return compare(e, which, hac_emit_as(e, a, type), hac_emit_as(e, b, type));
}

hac_value_id hac_emit_compare(hac_emitter *e, const hac_node *node)
{
    return hac_emit_comparison(e, (hac_relation)node->function->k, node->args[0], node->args[1]);
}

/* ---- in ---- */

static hac_op list_op(hac_repr repr)
{
    switch (repr) {
    case HAC_REPR_I64:
        return HAC_OP_IN_I64;
    case HAC_REPR_U64:
        return HAC_OP_IN_U64;
    case HAC_REPR_F64:
        return HAC_OP_IN_F64;
    case HAC_REPR_STRING:
        return HAC_OP_IN_STRING;
    default:
        return HAC_OP_END;
    }
}

static hac_value_id either(hac_emitter *e, hac_value_id a, hac_value_id b)
{
    return a == 0 ? b : binary(e, HAC_OP_OR, a, b);
}

/* Literals become one list; other items are compared one by one. */
hac_value_id hac_emit_in(hac_emitter *e, const hac_node *node)
{
    hac_node *left = node->args[0];
    hac_value_type type = left->type.kind == HAC_KIND_F32 ? HAC_TYPE(F64) : left->type;
    hac_op op = left->type.kind == HAC_KIND_NONE ? HAC_OP_END : list_op(hac_repr_of(type));
    hac_value_id value = hac_emit_as(e, left, type), list[HAC_NODE_ARGS_MAX], all = 0;
    size_t n = 0;
    for (size_t i = 1; i < node->n_args && n < HAC_NODE_ARGS_MAX; i++) {
        hac_node *item = node->args[i];
        hac_literal literal;
        if (op != HAC_OP_END && hac_node_is_literal(item) && !item->literal.null &&
            hac_literal_as(&item->literal, item->type, type, &literal) == HAC_LITERAL_FITS)
            list[n++] = hac_literal_emit(e->builder, &literal, type);
        else
            all = either(e, all, hac_emit_comparison(e, HAC_EQ, left, item));
    }
    return n > 0 ? either(e, all, hac_program_builder_in(e->builder, op, value, list, n)) : all;
}
