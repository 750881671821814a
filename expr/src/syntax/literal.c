/* SPDX-License-Identifier: Apache-2.0 */
#include "literal.h"

#include <math.h>
#include <string.h>

#include "base/value_text.h"
#include "program/type_facts.h"

static unsigned digits_of(__int128 value)
{
    unsigned digits = 1;
    for (; value > 9 || value < -9; value /= 10)
        digits++;
    return digits;
}

static hac_value_type integer_type(__int128 value)
{
    if (value >= INT64_MIN && value <= INT64_MAX)
        return HAC_TYPE(I64);
    if (value >= 0 && value <= UINT64_MAX)
        return HAC_TYPE(U64);
    return hac_decimal(digits_of(value), 0);
}

const char *hac_literal_number(const char *text, size_t bytes, bool real, bool negative, hac_literal *ret,
                               hac_value_type *ret_type)
{
    if (real) {
        if (hac_parse_f64(text, bytes, &ret->real) != HAC_TEXT_OK)
            return "the number is too large for f64";
        ret->real = negative ? -ret->real : ret->real;
        *ret_type = HAC_TYPE(F64);
        return NULL;
    }
    __int128 value = 0;
    unsigned significant = 0, scale = 0;
    bool point = false;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '.') {
            point = true;
            continue;
        }
        significant += value != 0 || text[i] != '0';
        scale += point;
        if (significant > HAC_DECIMAL_DIGITS_MAX || scale > HAC_DECIMAL_DIGITS_MAX)
            return "a number of over 38 digits; write it with an exponent (1e40) for f64";
        value = value * 10 + (text[i] - '0');
    }
    ret->integer = negative ? -value : value;
    if (scale == 0)
        *ret_type = integer_type(ret->integer);
    else
        *ret_type = hac_decimal(significant > scale ? significant : scale, scale);
    return NULL;
}

double hac_literal_real(const hac_literal *literal, hac_value_type type)
{
    if (hac_kind_is_float(type.kind))
        return literal->real;
    char text[HAC_PRINT_MAX];
    double ret = 0;
    size_t bytes = hac_print_decimal(literal->integer, type.scale, text);
    if (hac_parse_f64(text, bytes, &ret) != HAC_TEXT_OK)
        ret = NAN; /* unreachable: 38 digits fit a double */
    return ret;
}

hac_constant_number hac_literal_constant(const hac_literal *literal, hac_value_type type)
{
    return hac_kind_is_float(type.kind) ? hac_constant_real(literal->real)
                                        : hac_constant_decimal(literal->integer, type.scale);
}

static bool integer_fits(__int128 value, hac_kind kind)
{
    __int128 min = 0, max = 0;
    hac_integer_range(kind, &min, &max);
    return value >= min && value <= max;
}

/* The literal value × 10^(to.scale - scale), as a decimal. */
static hac_literal_fit rescale(__int128 value, unsigned scale, hac_value_type to, hac_literal *ret)
{
    for (; scale > to.scale; scale--) {
        if (value % 10 != 0)
            return HAC_LITERAL_NEVER;
        value /= 10;
    }
    for (; scale < to.scale; scale++)
        if (digits_of(value) >= HAC_DECIMAL_DIGITS_MAX || __builtin_mul_overflow(value, 10, &value))
            return HAC_LITERAL_NEVER;
    ret->integer = value;
    return digits_of(value) <= to.precision ? HAC_LITERAL_FITS : HAC_LITERAL_NEVER;
}

static hac_literal_fit exact_as(const hac_literal *literal, hac_value_type from, hac_value_type to,
                                hac_literal *ret)
{
    if (to.kind == HAC_KIND_DECIMAL)
        return rescale(literal->integer, from.scale, to, ret);
    hac_literal_fit fit = rescale(literal->integer, from.scale, hac_decimal(HAC_DECIMAL_DIGITS_MAX, 0), ret);
    if (fit == HAC_LITERAL_FITS && !integer_fits(ret->integer, to.kind))
        fit = HAC_LITERAL_NEVER;
    return fit;
}

hac_literal_fit hac_literal_as(const hac_literal *literal, hac_value_type from, hac_value_type to,
                               hac_literal *ret)
{
    *ret = *literal;
    if (literal->null || hac_value_type_equal(from, to))
        return HAC_LITERAL_FITS;
    if (hac_kind_is_text(from.kind) && hac_kind_is_text(to.kind))
        return HAC_LITERAL_FITS;
    if (from.kind == HAC_KIND_TIMESTAMP && to.kind == HAC_KIND_TIMESTAMP)
        return HAC_LITERAL_FITS;
    if (from.kind == HAC_KIND_DATE && to.kind == HAC_KIND_TIMESTAMP) {
        ret->integer = literal->integer * HAC_US_PER_DAY;
        return HAC_LITERAL_FITS;
    }
    if (!hac_is_number(from) || !hac_is_number(to))
        return HAC_LITERAL_OTHER;
    if (hac_kind_is_float(to.kind)) {
        ret->real = hac_literal_real(literal, from);
        if (to.kind == HAC_KIND_F32 && (double)(float)ret->real != ret->real)
            return HAC_LITERAL_OTHER;
        return HAC_LITERAL_FITS;
    }
    return hac_kind_is_float(from.kind) ? HAC_LITERAL_OTHER : exact_as(literal, from, to, ret);
}

__int128 hac_literal_floor(const hac_literal *literal, hac_value_type type)
{
    __int128 value = literal->integer, rest = 0;
    for (unsigned i = 0; i < type.scale; i++) {
        rest |= value % 10;
        value /= 10;
    }
    return rest != 0 && literal->integer < 0 ? value - 1 : value;
}

hac_value_id hac_literal_emit(hac_program_builder *builder, const hac_literal *literal, hac_value_type type)
{
    hac_repr repr = hac_repr_of(type);
    uint64_t low = (uint64_t)literal->integer, high = 0;
    float narrow = 0;
    uint32_t bits = 0;
    if (literal->null)
        return hac_program_builder_null(builder, repr);
    switch (repr) {
    case HAC_REPR_STRING:
        return hac_program_builder_string(builder, (const uint8_t *)literal->bytes, literal->n_bytes);
    case HAC_REPR_F32:
        narrow = (float)literal->real;
        memcpy(&bits, &narrow, sizeof bits);
        low = bits;
        break;
    case HAC_REPR_F64:
        memcpy(&low, &literal->real, sizeof low);
        break;
    case HAC_REPR_I128:
        high = (uint64_t)((unsigned __int128)literal->integer >> 64);
        break;
    default:
        break;
    }
    return hac_program_builder_constant(builder, repr, low, high);
}
