/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of casts and of arguments. The range is checked only if the source type has values that the
 * target type does not have. */
#include <string.h>

#include "base/value_text.h"
#include "emit.h"
#include "syntax/types.h"

#define EXACT_DIGITS 15 /* integers of up to 15 digits, and powers of ten up to 10^15, are exact doubles */

static hac_value_id op(hac_program_builder *b, hac_op operation, hac_value_id value)
{
    return hac_program_builder_op(b, operation, value, 0, 0, 0);
}

static hac_value_id digits_op(hac_program_builder *b, hac_op operation, hac_value_id value, unsigned digits)
{
    return digits == 0 ? value : hac_program_builder_op(b, operation, value, 0, 0, digits);
}

static hac_value_id constant_f64(hac_program_builder *b, double value)
{
    union {
        double real;
        uint64_t bits;
    } u = {value};
    return hac_program_builder_constant(b, HAC_REPR_F64, u.bits, 0);
}

/* From an integer of 64 bits to an integer type; `from` is the type whose values can occur. */
static hac_value_id to_integer(hac_program_builder *b, hac_value_id value, hac_kind from, hac_value_type to)
{
    __int128 min = 0, max = 0, has_min = 0, has_max = 0;
    hac_integer_range(to.kind, &min, &max);
    hac_integer_range(from, &has_min, &has_max);
    bool unsigned_to = hac_is_unsigned(to);
    if (hac_program_builder_repr(b, value) == HAC_REPR_I64 && unsigned_to) {
        value = op(b, HAC_OP_I64_TO_U64, value);
        has_min = 0;
    } else if (hac_program_builder_repr(b, value) == HAC_REPR_U64 && !unsigned_to) {
        value = op(b, HAC_OP_U64_TO_I64, value);
        has_max = has_max > INT64_MAX ? INT64_MAX : has_max;
    }
    if (has_min >= min && has_max <= max)
        return value;
    return hac_program_builder_range(b, unsigned_to ? HAC_OP_RANGE_U64 : HAC_OP_RANGE_I64, value, min, max);
}

/* Converts integer × 10^-scale, with at most `whole` digits before the point, to a decimal. */
static hac_value_id to_decimal(hac_program_builder *b, hac_value_id value, unsigned whole, unsigned scale,
                               hac_value_type to)
{
    hac_repr repr = hac_program_builder_repr(b, value);
    bool wide = hac_repr_of(to) == HAC_REPR_I128;
    if (repr == HAC_REPR_U64)
        value = op(b, HAC_OP_U64_TO_I128, value);
    else if (repr == HAC_REPR_I64 && wide)
        value = op(b, HAC_OP_I64_TO_I128, value);
    bool big = hac_program_builder_repr(b, value) == HAC_REPR_I128;
    if (to.scale > scale)
        value = digits_op(b, big ? HAC_OP_SCALE_UP_I128 : HAC_OP_SCALE_UP_I64, value, to.scale - scale);
    else
        value = digits_op(b, big ? HAC_OP_SCALE_DOWN_I128 : HAC_OP_SCALE_DOWN_I64, value, scale - to.scale);
    unsigned has = whole + (scale > to.scale); /* 9.9 rounds to 10 */
    __int128 max = hac_nines(to.precision);
    if (has > (unsigned)to.precision - to.scale)
        value = hac_program_builder_range(b, big ? HAC_OP_RANGE_I128 : HAC_OP_RANGE_I64, value, -max, max);
    return big && !wide ? op(b, HAC_OP_I128_TO_I64, value) : value;
}

static hac_value_id to_i128(hac_program_builder *b, hac_value_id value)
{
    return hac_program_builder_repr(b, value) == HAC_REPR_I64 ? op(b, HAC_OP_I64_TO_I128, value) : value;
}

static hac_value_id from_bool(hac_program_builder *b, hac_value_id value, hac_value_type to)
{
    value = op(b, HAC_OP_BOOL_TO_I64, value);
    return hac_emit_convert(b, value, HAC_TYPE(I8), to);
}

static hac_value_id from_integer(hac_program_builder *b, hac_value_id value, hac_value_type from,
                                 hac_value_type to)
{
    hac_node typed = {.kind = HAC_NODE_COLUMN, .type = from};
    bool big = hac_is_unsigned(from);
    switch (to.kind) {
    case HAC_KIND_BOOL:
        if (!big)
            return op(b, HAC_OP_I64_TO_BOOL, value);
        value = hac_program_builder_op(b, HAC_OP_EQ_U64, value,
                                       hac_program_builder_constant(b, HAC_REPR_U64, 0, 0), 0, 0);
        return op(b, HAC_OP_NOT, value);
    case HAC_KIND_F32:
        return op(b, big ? HAC_OP_U64_TO_F32 : HAC_OP_I64_TO_F32, value);
    case HAC_KIND_F64:
        return op(b, big ? HAC_OP_U64_TO_F64 : HAC_OP_I64_TO_F64, value);
    case HAC_KIND_DECIMAL:
        return to_decimal(b, value, hac_as_decimal(&typed).precision, 0, to);
    default:
        return to_integer(b, value, from.kind, to);
    }
}

static hac_value_id from_f64(hac_program_builder *b, hac_value_id value, hac_value_type to)
{
    switch (to.kind) {
    case HAC_KIND_BOOL:
        value = hac_program_builder_op(b, HAC_OP_EQ_F64, value, constant_f64(b, 0), 0, 0);
        return op(b, HAC_OP_NOT, value);
    case HAC_KIND_F32:
        return op(b, HAC_OP_F64_TO_F32, value);
    case HAC_KIND_DECIMAL:
        value = hac_program_builder_op(b, HAC_OP_F64_TO_DECIMAL, value, 0, 0, to.scale);
        return to_decimal(b, value, HAC_DECIMAL_DIGITS_MAX, to.scale, to);
    default:
        if (hac_is_unsigned(to))
            return to_integer(b, op(b, HAC_OP_F64_TO_U64, value), HAC_KIND_U64, to);
        return to_integer(b, op(b, HAC_OP_F64_TO_I64, value), HAC_KIND_I64, to);
    }
}

static hac_value_id from_float(hac_program_builder *b, hac_value_id value, hac_value_type from,
                               hac_value_type to)
{
    if (from.kind == HAC_KIND_F64)
        return from_f64(b, value, to);
    value = op(b, HAC_OP_F32_TO_F64, value);
    return to.kind == HAC_KIND_F64 ? value : from_f64(b, value, to);
}

static hac_value_id decimal_to_f64(hac_program_builder *b, hac_value_id value, hac_value_type from)
{
    double power = 1;
    if (from.precision > EXACT_DIGITS)
        return hac_program_builder_op(b, HAC_OP_DECIMAL_TO_F64, to_i128(b, value), 0, 0, from.scale);
    value = op(b, HAC_OP_I64_TO_F64, value);
    if (from.scale == 0)
        return value;
    for (unsigned i = 0; i < from.scale; i++)
        power *= 10;
    return hac_program_builder_op(b, HAC_OP_DIV_F64, value, constant_f64(b, power), 0, 0);
}

static hac_value_id decimal_to_bool(hac_program_builder *b, hac_value_id value)
{
    hac_repr repr = hac_program_builder_repr(b, value);
    hac_value_id zero = hac_program_builder_constant(b, repr, 0, 0);
    value =
        hac_program_builder_op(b, repr == HAC_REPR_I128 ? HAC_OP_EQ_I128 : HAC_OP_EQ_I64, value, zero, 0, 0);
    return op(b, HAC_OP_NOT, value);
}

static hac_value_id decimal_to_integer(hac_program_builder *b, hac_value_id value, hac_value_type from,
                                       hac_value_type to)
{
    __int128 min = 0, max = 0;
    bool wide = hac_repr_of(from) == HAC_REPR_I128;
    value = digits_op(b, wide ? HAC_OP_SCALE_DOWN_I128 : HAC_OP_SCALE_DOWN_I64, value, from.scale);
    if (!wide)
        return to_integer(b, value, HAC_KIND_I64, to);
    hac_integer_range(to.kind, &min, &max);
    value = hac_program_builder_range(b, HAC_OP_RANGE_I128, value, min, max);
    if (to.kind == HAC_KIND_U64) /* there is no direct operation; the value is an integer by now */
        return op(b, HAC_OP_STRING_TO_U64,
                  hac_program_builder_op(b, HAC_OP_DECIMAL_TO_STRING, value, 0, 0, 0));
    value = op(b, HAC_OP_I128_TO_I64, value);
    return hac_is_unsigned(to) ? op(b, HAC_OP_I64_TO_U64, value) : value;
}

static hac_value_id from_decimal(hac_program_builder *b, hac_value_id value, hac_value_type from,
                                 hac_value_type to)
{
    switch (to.kind) {
    case HAC_KIND_BOOL:
        return decimal_to_bool(b, value);
    case HAC_KIND_F64:
        return decimal_to_f64(b, value, from);
    case HAC_KIND_F32:
        return op(b, HAC_OP_F64_TO_F32, decimal_to_f64(b, value, from));
    case HAC_KIND_STRING:
        return hac_program_builder_op(b, HAC_OP_DECIMAL_TO_STRING, to_i128(b, value), 0, 0, from.scale);
    case HAC_KIND_DECIMAL:
        return to_decimal(b, value, (unsigned)from.precision - from.scale, from.scale, to);
    default:
        return decimal_to_integer(b, value, from, to);
    }
}

static hac_value_id instant_to_string(hac_program_builder *b, hac_value_id value)
{
    hac_value_id zone =
        hac_program_builder_string(b, (const uint8_t *)HAC_PRINTED_ZONE, strlen(HAC_PRINTED_ZONE));
    return hac_program_builder_op(b, HAC_OP_CONCAT, op(b, HAC_OP_TIMESTAMP_TO_STRING, value), zone, 0, 0);
}

static hac_value_id from_string(hac_program_builder *b, hac_value_id value, hac_value_type to)
{
    if (hac_facts_of_kind[to.kind].from_string != HAC_OP_COLUMN)
        return op(b, hac_facts_of_kind[to.kind].from_string, value);
    if (to.kind == HAC_KIND_DECIMAL) {
        value = hac_program_builder_op(b, HAC_OP_STRING_TO_DECIMAL, value, 0, 0, to.scale);
        return to_decimal(b, value, HAC_DECIMAL_DIGITS_MAX, to.scale, to);
    }
    if (hac_is_unsigned(to))
        return to_integer(b, op(b, HAC_OP_STRING_TO_U64, value), HAC_KIND_U64, to);
    return to_integer(b, op(b, HAC_OP_STRING_TO_I64, value), HAC_KIND_I64, to);
}

hac_value_id hac_emit_convert(hac_program_builder *b, hac_value_id value, hac_value_type from,
                              hac_value_type to)
{
    if (from.kind == HAC_KIND_NONE)
        return hac_program_builder_null(b, hac_repr_of(to));
    if (value == 0 || hac_value_type_equal(from, to))
        return value;
    if (from.kind == HAC_KIND_TIMESTAMP && to.kind == HAC_KIND_TIMESTAMP)
        return value;
    if (hac_value_type_has_zone(from) && to.kind == HAC_KIND_STRING)
        return instant_to_string(b, value);
    if (hac_kind_is_text(from.kind) && hac_kind_is_text(to.kind))
        return value;
    if (to.kind == HAC_KIND_STRING && hac_facts_of_kind[from.kind].to_string != HAC_OP_COLUMN)
        return op(b, hac_facts_of_kind[from.kind].to_string, value);
    if (hac_kind_is_integer(from.kind))
        return from_integer(b, value, from, to);
    if (hac_kind_is_float(from.kind))
        return from_float(b, value, from, to);
    switch (from.kind) {
    case HAC_KIND_BOOL:
        return from_bool(b, value, to);
    case HAC_KIND_DECIMAL:
        return from_decimal(b, value, from, to);
    case HAC_KIND_STRING:
        return from_string(b, value, to);
    default:
        return op(b, from.kind == HAC_KIND_DATE ? HAC_OP_DATE_TO_TIMESTAMP : HAC_OP_TIMESTAMP_TO_DATE, value);
    }
}
