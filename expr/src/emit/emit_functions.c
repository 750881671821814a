/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of more than one operation. */
#include <string.h>

#include "emit.h"
#include "syntax/literal.h"
#include "syntax/types.h"

static hac_value_id op(hac_emitter *e, hac_op operation, hac_value_id a, hac_value_id b, hac_value_id c)
{
    return hac_program_builder_op(e->builder, operation, a, b, c, 0);
}

static hac_value_id constant_i64(hac_emitter *e, int64_t value)
{
    return hac_program_builder_constant(e->builder, HAC_REPR_I64, (uint64_t)value, 0);
}

static hac_value_id constant_f64(hac_emitter *e, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return hac_program_builder_constant(e->builder, HAC_REPR_F64, bits, 0);
}

/* ---- conditions ---- */

hac_value_id hac_emit_if(hac_emitter *e, const hac_node *node)
{
    hac_value_id condition = hac_emit_argument(e, node, 0);
    hac_value_id yes = hac_emit_argument(e, node, 1), no = hac_emit_argument(e, node, 2);
    return op(e, HAC_OP_SELECT, condition, yes, no);
}

hac_value_id hac_emit_coalesce(hac_emitter *e, const hac_node *node)
{
    hac_value_id value = hac_emit_argument(e, node, 0);
    for (size_t i = 1; i < node->n_args; i++)
        value = op(e, HAC_OP_COALESCE, value, hac_emit_argument(e, node, i), 0);
    return value;
}

hac_value_id hac_emit_nullif(hac_emitter *e, const hac_node *node)
{
    hac_value_id equal = hac_emit_comparison(e, HAC_EQ, node->args[0], node->args[1]);
    hac_value_id null = hac_program_builder_null(e->builder, hac_repr_of(node->type));
    return op(e, HAC_OP_SELECT, equal, null, hac_emit_argument(e, node, 0));
}

/* select(less(a, b), b, coalesce(a, b)): the result is null only if all arguments are. */
hac_value_id hac_emit_greatest(hac_emitter *e, const hac_node *node)
{
    static const hac_op less[HAC_REPR_END] = {HAC_OP_LT_BOOL, HAC_OP_LT_BOOL,  HAC_OP_LT_I64,
                                              HAC_OP_LT_U64,  HAC_OP_LT_F32,   HAC_OP_LT_F64,
                                              HAC_OP_LT_I128, HAC_OP_LT_STRING};
    bool max = node->function->k != 0;
    hac_value_id value = hac_emit_argument(e, node, 0);
    hac_op compare = less[hac_program_builder_repr(e->builder, value)];
    for (size_t i = 1; i < node->n_args; i++) {
        hac_value_id other = hac_emit_argument(e, node, i);
        hac_value_id take = op(e, compare, max ? value : other, max ? other : value, 0);
        value = op(e, HAC_OP_SELECT, take, other, op(e, HAC_OP_COALESCE, value, other, 0));
    }
    return value;
}

/* ---- rounding decimals to whole numbers ---- */

typedef struct decimal_ops {
    hac_op up, down, add, sub, less;
    hac_value_id zero, one;
} decimal_ops;

static decimal_ops ops_of(hac_emitter *e, hac_repr repr)
{
    hac_value_id zero = hac_program_builder_constant(e->builder, repr, 0, 0);
    hac_value_id one = hac_program_builder_constant(e->builder, repr, 1, 0);
    if (repr == HAC_REPR_I128)
        return (decimal_ops){HAC_OP_SCALE_UP_I128,
                             HAC_OP_SCALE_DOWN_I128,
                             HAC_OP_ADD_I128,
                             HAC_OP_SUB_I128,
                             HAC_OP_LT_I128,
                             zero,
                             one};
    return (decimal_ops){
        HAC_OP_SCALE_UP_I64, HAC_OP_SCALE_DOWN_I64, HAC_OP_ADD_I64, HAC_OP_SUB_I64, HAC_OP_LT_I64, zero, one};
}

/* Rounds to the nearest, then corrects by one if that was the wrong direction. */
hac_value_id hac_emit_whole(hac_emitter *e, const hac_node *node)
{
    hac_value_type from = node->wants[0], to = node->type;
    hac_value_id value = hac_emit_argument(e, node, 0);
    if (from.scale == 0)
        return hac_emit_convert(e->builder, value, from, to);
    decimal_ops ops = ops_of(e, hac_program_builder_repr(e->builder, value));
    hac_value_id near = hac_program_builder_op(e->builder, ops.down, value, 0, 0, from.scale);
    hac_value_id back = hac_program_builder_op(e->builder, ops.up, near, 0, 0, from.scale);
    hac_value_id floor =
        op(e, HAC_OP_SELECT, op(e, ops.less, value, back, 0), op(e, ops.sub, near, ops.one, 0), near);
    hac_value_id ceil =
        op(e, HAC_OP_SELECT, op(e, ops.less, back, value, 0), op(e, ops.add, near, ops.one, 0), near);
    hac_value_id result = near;
    if (node->function->k == HAC_WHOLE_FLOOR)
        result = floor;
    else if (node->function->k == HAC_WHOLE_CEIL)
        result = ceil;
    else if (node->function->k == HAC_WHOLE_TRUNC)
        result = op(e, HAC_OP_SELECT, op(e, ops.less, value, ops.zero, 0), ceil, floor);
    bool narrower = hac_repr_of(from) == HAC_REPR_I128 && hac_repr_of(to) != HAC_REPR_I128;
    return narrower ? op(e, HAC_OP_I128_TO_I64, result, 0, 0) : result;
}

hac_value_id hac_emit_round_decimal(hac_emitter *e, const hac_node *node)
{
    return hac_emit_convert(e->builder, hac_emit_argument(e, node, 0), node->wants[0], node->type);
}

/* The parts of a number of at most 26 bits each, which add up to it (Veltkamp). */
static void split(hac_emitter *e, hac_value_id value, hac_value_id *ret_high, hac_value_id *ret_low)
{
    hac_value_id wide = op(e, HAC_OP_MUL_F64, value, constant_f64(e, 0x1p27 + 1), 0);
    *ret_high = op(e, HAC_OP_SUB_F64, wide, op(e, HAC_OP_SUB_F64, wide, value, 0), 0);
    *ret_low = op(e, HAC_OP_SUB_F64, value, *ret_high, 0);
}

/* What the rounded product of `value` and the power of ten lacks to the exact one (Dekker). */
static hac_value_id product_error(hac_emitter *e, hac_value_id value, double power, hac_value_id product)
{
    double wide = power * (0x1p27 + 1), high = wide - (wide - power);
    hac_value_id a, b, c = constant_f64(e, high), d = constant_f64(e, power - high);
    split(e, value, &a, &b);
    hac_value_id error = op(e, HAC_OP_SUB_F64, op(e, HAC_OP_MUL_F64, a, c, 0), product, 0);
    error = op(e, HAC_OP_ADD_F64, error, op(e, HAC_OP_MUL_F64, a, d, 0), 0);
    error = op(e, HAC_OP_ADD_F64, error, op(e, HAC_OP_MUL_F64, b, c, 0), 0);
    return op(e, HAC_OP_ADD_F64, error, op(e, HAC_OP_MUL_F64, b, d, 0), 0);
}

/* The float nearest to the exact value, rounded to so many digits, halves away from zero. The product with
 * the power of ten is exact in two parts; the whole number that it is rounded to has at most 53 bits, as the
 * power has, so that the quotient is rounded once. */
hac_value_id hac_emit_round_digits(hac_emitter *e, const hac_node *node)
{
    double power = 1;
    for (__int128 i = 0; i < node->args[1]->literal.integer; i++)
        power *= 10;
    hac_value_id factor = constant_f64(e, power), zero = constant_f64(e, 0);
    hac_value_id value = hac_emit_argument(e, node, 0), plain = op(e, HAC_OP_ABS_F64, value, 0, 0);
    hac_value_id scaled = op(e, HAC_OP_MUL_F64, plain, factor, 0);
    hac_value_id error = product_error(e, plain, power, scaled);
    hac_value_id floor = op(e, HAC_OP_FLOOR_F64, scaled, 0, 0);
    hac_value_id above_half =
        op(e, HAC_OP_SUB_F64, op(e, HAC_OP_SUB_F64, scaled, floor, 0), constant_f64(e, 0.5), 0);
    hac_value_id up = op(e, HAC_OP_LE_F64, op(e, HAC_OP_NEG_F64, error, 0, 0), above_half, 0);
    hac_value_id whole = op(e, HAC_OP_SELECT, up, op(e, HAC_OP_ADD_F64, floor, constant_f64(e, 1), 0), floor);
    hac_value_id near = op(e, HAC_OP_DIV_F64, whole, factor, 0);
    near =
        op(e, HAC_OP_SELECT, op(e, HAC_OP_LT_F64, value, zero, 0), op(e, HAC_OP_NEG_F64, near, 0, 0), near);
    /* From 2^53 on, neighbours of the value are farther than the digits; infinity and NaN are above, too.
     * -0.0 stays. */
    hac_value_id large = op(e, HAC_OP_LE_F64, constant_f64(e, 0x1p53), scaled, 0);
    hac_value_id same = op(e, HAC_OP_OR, large, op(e, HAC_OP_EQ_F64, value, zero, 0), 0);
    return op(e, HAC_OP_SELECT, same, value, near);
}

hac_value_id hac_emit_pi(hac_emitter *e, const hac_node *node)
{
    (void)node;
    return constant_f64(e, 3.14159265358979323846);
}

/* NaN is above all numbers, infinity included, and has no sign. */
hac_value_id hac_emit_sign(hac_emitter *e, const hac_node *node)
{
    static const hac_op less[HAC_REPR_END] = {
        [HAC_REPR_I64] = HAC_OP_LT_I64, [HAC_REPR_U64] = HAC_OP_LT_U64,   [HAC_REPR_F32] = HAC_OP_LT_F32,
        [HAC_REPR_F64] = HAC_OP_LT_F64, [HAC_REPR_I128] = HAC_OP_LT_I128,
    };
    hac_value_id value = hac_emit_argument(e, node, 0);
    hac_repr repr = hac_program_builder_repr(e->builder, value);
    hac_value_id zero = hac_program_builder_constant(e->builder, repr, 0, 0);
    hac_value_id positive = op(e, less[repr], zero, value, 0), none = constant_i64(e, 0);
    if (repr == HAC_REPR_F32 || repr == HAC_REPR_F64) {
        uint64_t infinity = repr == HAC_REPR_F32 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
        hac_value_id highest = hac_program_builder_constant(e->builder, repr, infinity, 0);
        hac_op at_most = repr == HAC_REPR_F32 ? HAC_OP_LE_F32 : HAC_OP_LE_F64;
        positive = op(e, HAC_OP_AND, positive, op(e, at_most, value, highest, 0), 0);
    }
    hac_value_id negative = op(e, less[repr], value, zero, 0);
    hac_value_id sign = op(e, HAC_OP_SELECT, positive, constant_i64(e, 1),
                           op(e, HAC_OP_SELECT, negative, constant_i64(e, -1), none));
    hac_value_id null = hac_program_builder_null(e->builder, HAC_REPR_I64);
    return op(e, HAC_OP_SELECT, op(e, HAC_OP_IS_NULL, value, 0, 0), null, sign);
}

/* ---- strings ---- */

hac_value_id hac_emit_typeof(hac_emitter *e, const hac_node *node)
{
    char name[HAC_VALUE_TYPE_NAME_MAX] = "null";
    if (node->args[0]->type.kind != HAC_KIND_NONE)
        (void)hac_value_type_name(node->args[0]->type, name);
    return hac_program_builder_string(e->builder, (const uint8_t *)name, strlen(name));
}

hac_value_id hac_emit_concat(hac_emitter *e, const hac_node *node)
{
    hac_value_id empty = hac_program_builder_string(e->builder, (const uint8_t *)"", 0), all = 0;
    for (size_t i = 0; i < node->n_args; i++) {
        hac_value_id part = hac_emit_argument(e, node, i);
        if (!hac_node_is_text(node->args[i]))
            part = op(e, HAC_OP_COALESCE, part, empty, 0);
        all = i == 0 ? part : op(e, HAC_OP_CONCAT, all, part, 0);
    }
    return all;
}

/* The number, or -2^40 if it is less: no string is that long, and its negative is a number. */
static hac_value_id bounded_below(hac_emitter *e, hac_value_id n)
{
    hac_value_id lowest = constant_i64(e, -(INT64_C(1) << 40));
    return op(e, HAC_OP_SELECT, op(e, HAC_OP_LT_I64, n, lowest, 0), lowest, n);
}

static bool is_negative(const hac_node *node)
{
    return !hac_node_is_literal(node) || node->literal.integer < 0;
}

/* A negative `from` counts from the end; a negative count is of characters before `from`. Constants that are
 * not negative need neither. */
hac_value_id hac_emit_substr(hac_emitter *e, const hac_node *node)
{
    hac_value_id text = hac_emit_argument(e, node, 0), from = hac_emit_argument(e, node, 1);
    hac_value_id count = node->n_args > 2 ? hac_emit_argument(e, node, 2) : constant_i64(e, INT64_MAX);
    hac_value_id zero = constant_i64(e, 0);
    if (is_negative(node->args[1])) {
        hac_value_id length = op(e, HAC_OP_LENGTH, text, 0, 0);
        from = bounded_below(e, from);
        hac_value_id behind =
            op(e, HAC_OP_ADD_I64, op(e, HAC_OP_ADD_I64, from, length, 0), constant_i64(e, 1), 0);
        from = op(e, HAC_OP_SELECT, op(e, HAC_OP_LT_I64, from, zero, 0), behind, from);
    }
    if (node->n_args > 2 && is_negative(node->args[2])) {
        hac_value_id before = op(e, HAC_OP_LT_I64, count, zero, 0);
        count = bounded_below(e, count);
        from = op(e, HAC_OP_SELECT, before, op(e, HAC_OP_ADD_I64, bounded_below(e, from), count, 0), from);
        count = op(e, HAC_OP_ABS_I64, count, 0, 0);
    }
    return op(e, HAC_OP_SUBSTR, text, from, count);
}

hac_value_id hac_emit_left(hac_emitter *e, const hac_node *node)
{
    hac_value_id text = hac_emit_argument(e, node, 0), n = bounded_below(e, hac_emit_argument(e, node, 1));
    hac_value_id negative = op(e, HAC_OP_LT_I64, n, constant_i64(e, 0), 0);
    hac_value_id shorter = op(e, HAC_OP_ADD_I64, op(e, HAC_OP_LENGTH, text, 0, 0), n, 0);
    return op(e, HAC_OP_SUBSTR, text, constant_i64(e, 1), op(e, HAC_OP_SELECT, negative, shorter, n));
}

/* Characters length - n + 1 … length, or 1 - n … */
hac_value_id hac_emit_right(hac_emitter *e, const hac_node *node)
{
    hac_value_id text = hac_emit_argument(e, node, 0), n = bounded_below(e, hac_emit_argument(e, node, 1));
    hac_value_id zero = constant_i64(e, 0), negative = op(e, HAC_OP_LT_I64, n, zero, 0);
    hac_value_id length = op(e, HAC_OP_SELECT, negative, zero, op(e, HAC_OP_LENGTH, text, 0, 0));
    hac_value_id from = op(e, HAC_OP_ADD_I64, op(e, HAC_OP_SUB_I64, length, n, 0), constant_i64(e, 1), 0);
    return op(e, HAC_OP_SUBSTR, text, from, op(e, HAC_OP_SELECT, negative, constant_i64(e, INT64_MAX), n));
}

/* The bytes of texts, of `bytes` too; other values are printed. */
hac_value_id hac_emit_hash(hac_emitter *e, const hac_node *node)
{
    hac_value_type type = node->args[0]->type;
    if (type.kind == HAC_KIND_NONE)
        return hac_program_builder_null(e->builder, HAC_REPR_U64);
    hac_value_id value = hac_emit_argument(e, node, 0);
    if (hac_repr_of(type) != HAC_REPR_STRING)
        value = hac_emit_convert(e->builder, value, type, HAC_TYPE(STRING));
    return op(e, HAC_OP_HASH, value, 0, 0);
}

/* The group and the options may be there; a replacement is the second operand. */
hac_value_id hac_emit_regexp(hac_emitter *e, const hac_node *node)
{
    static const hac_op operations[] = {HAC_OP_REGEXP_MATCHES, HAC_OP_REGEXP_EXTRACT, HAC_OP_REGEXP_REPLACE};
    const hac_literal *pattern = &node->args[1]->literal, *last = &node->args[node->n_args - 1]->literal;
    bool options = node->function->args[node->n_args - 1] == 'o';
    bool group = node->n_args > 2 && node->function->args[2] == 'k';
    hac_value_id by = node->function->k == HAC_EMIT_REPLACE ? hac_emit_argument(e, node, 2) : 0;
    hac_text text = HAC_TEXT_NONE;
    if (options)
        hac_text_add_bytes(&text, last->bytes, last->n_bytes);
    hac_text_addf(&text, "/%d/", group ? (int)node->args[2]->literal.integer : 0);
    hac_text_add_bytes(&text, pattern->bytes, pattern->n_bytes);
    hac_value_id ret = text.broken ? hac_program_builder_no_memory(e->builder)
                                   : hac_program_builder_text(e->builder, operations[node->function->k],
                                                              hac_emit_argument(e, node, 0), by,
                                                              (const uint8_t *)text.data, text.bytes);
    hac_text_clear(&text);
    return ret;
}

hac_value_id hac_emit_like(hac_emitter *e, const hac_node *node)
{
    const hac_literal *pattern = &node->args[1]->literal;
    uint8_t escape = node->n_args > 2 ? (uint8_t)node->args[2]->literal.bytes[0] : 0;
    return hac_program_builder_like(e->builder, hac_emit_argument(e, node, 0),
                                    (const uint8_t *)pattern->bytes, pattern->n_bytes, escape);
}
