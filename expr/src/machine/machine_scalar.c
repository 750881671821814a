/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that work a value at a time: 128-bit decimals, the calendar, libm. */
#include <math.h>

#include "decimal128.h"
#include "machine_parts.h"
#include "shifts.h"
#include "short_types.h"

#define BINARY(name, R, A, B, ...)                                                                           \
    static uint64_t name(const hac_columns *c)                                                               \
    {                                                                                                        \
        R *r = c->r;                                                                                         \
        const A *a = c->a;                                                                                   \
        const B *b = c->b;                                                                                   \
        bool bad = false;                                                                                    \
        for (size_t i = 0; i < c->rows; i++) {                                                               \
            A x = a[i];                                                                                      \
            B y = b[i];                                                                                      \
            R z;                                                                                             \
            __VA_ARGS__                                                                                      \
            r[i] = z;                                                                                        \
        }                                                                                                    \
        return bad;                                                                                          \
    }

#define UNARY(name, R, A, ...)                                                                               \
    static uint64_t name(const hac_columns *c)                                                               \
    {                                                                                                        \
        R *r = c->r;                                                                                         \
        const A *a = c->a;                                                                                   \
        bool bad = false;                                                                                    \
        for (size_t i = 0; i < c->rows; i++) {                                                               \
            A x = a[i];                                                                                      \
            R z;                                                                                             \
            __VA_ARGS__                                                                                      \
            r[i] = z;                                                                                        \
        }                                                                                                    \
        return bad;                                                                                          \
    }

/* The product of two 64-bit numbers always fits. Most decimals are that short. */
static inline bool multiply(i128 x, i128 y, i128 *ret)
{
    if (x != (i64)x || y != (i64)y)
        return hac_mul_i128(x, y, ret);
    *ret = (i128)(i64)x * (i64)y;
    return true;
}

BINARY(add_i128, i128, i128, i128, bad |= !hac_add_i128(x, y, &z);)
BINARY(sub_i128, i128, i128, i128, bad |= !hac_sub_i128(x, y, &z);)
BINARY(mul_i128, i128, i128, i128, bad |= !multiply(x, y, &z);)
UNARY(neg_i128, i128, i128, z = (i128)(0 - (unsigned __int128)x);)
UNARY(abs_i128, i128, i128, z = x < 0 ? (i128)(0 - (unsigned __int128)x) : x;)
BINARY(eq_i128, b8, i128, i128, z = x == y;)
BINARY(lt_i128, b8, i128, i128, z = x < y;)
BINARY(le_i128, b8, i128, i128, z = x <= y;)
UNARY(range_i128, i128, i128, z = x; bad |= x < c->k->low_128 || x > c->k->high_128;)
UNARY(i64_to_i128, i128, i64, z = x;)
UNARY(u64_to_i128, i128, u64, z = x;)
UNARY(i128_to_i64, i64, i128, z = (i64)x; bad |= x != z;)
UNARY(scale_up_i128, i128, i128, bad |= !hac_mul_i128(x, c->k->power_128, &z);)
UNARY(scale_down_i128, i128, i128, z = hac_scale_down_i128(x, c->k->number);)
UNARY(decimal_to_f64, f64, i128, z = hac_decimal_to_f64(x, c->k->number);)
UNARY(f64_to_decimal, i128, f64, bad |= !hac_decimal_from_f64(x, c->k->number, &z);)

/* ---- bits ---------------------------------------------------------------------------------------------- */

#define SHIFTS(t)                                                                                            \
    BINARY(shift_left_##t, t, t, i64, bad |= !hac_shift_left_##t(x, y, &z);)                                 \
    BINARY(shift_right_##t, t, t, i64, bad |= !hac_shift_right_##t(x, y, &z);)
SHIFTS(i64)
SHIFTS(u64)
BINARY(bit_and, u64, u64, u64, z = x & y;)
BINARY(bit_or, u64, u64, u64, z = x | y;)
BINARY(bit_xor, u64, u64, u64, z = x ^ y;)
UNARY(bit_count, i64, u64, z = __builtin_popcountll(x);)

/* ---- dates and times ----------------------------------------------------------------------------------- */

/* The remainder of a floor division: never negative. */
static i64 floor_rest(i64 value, i64 unit)
{
    i64 rest = value % unit;
    return rest < 0 ? rest + unit : rest;
}

static i64 floor_quotient(i64 value, i64 unit)
{
    i64 quotient = value / unit;
    return quotient - (value % unit < 0);
}

/* Microseconds of a unit and of the next larger unit. */
static i64 unit_length(unsigned unit, i64 *ret_above)
{
    switch (unit) {
    case HAC_UNIT_HOUR:
        *ret_above = HAC_US_PER_DAY;
        return HAC_US_PER_HOUR;
    case HAC_UNIT_MINUTE:
        *ret_above = HAC_US_PER_HOUR;
        return HAC_US_PER_MINUTE;
    case HAC_UNIT_SECOND:
        *ret_above = HAC_US_PER_MINUTE;
        return HAC_US_PER_SECOND;
    default:
        *ret_above = HAC_US_PER_SECOND;
        return 1;
    }
}

static uint64_t time_part(const hac_columns *c)
{
    i64 *r = c->r, above, unit = unit_length(c->k->number, &above);
    const i64 *a = c->a;
    for (size_t i = 0; i < c->rows; i++)
        r[i] = floor_rest(a[i], above) / unit;
    return 0;
}

/* The earliest timestamps wrap around: their hour begins before the first representable microsecond. */
static uint64_t time_trunc(const hac_columns *c)
{
    i64 *r = c->r, above, unit = unit_length(c->k->number, &above);
    const i64 *a = c->a;
    for (size_t i = 0; i < c->rows; i++)
        r[i] = (i64)((u64)a[i] - (u64)floor_rest(a[i], unit));
    return 0;
}

UNARY(date_part, i64, i64, z = hac_date_part(x, c->k->number);)
UNARY(date_trunc, i64, i64, z = hac_date_trunc(x, c->k->number);)
UNARY(timestamp_to_date, i64, i64, z = floor_quotient(x, HAC_US_PER_DAY);)
UNARY(date_to_timestamp, i64, i64, bad |= __builtin_mul_overflow(x, HAC_US_PER_DAY, &z);)
BINARY(add_months, i64, i64, i64, bad |= !hac_add_months(x, y, &z);)

/* ---- libm ---------------------------------------------------------------------------------------------- */

UNARY(exp_f64, f64, f64, z = exp(x);)
UNARY(ln_f64, f64, f64, z = log(x);)
UNARY(log2_f64, f64, f64, z = log2(x);)
UNARY(log10_f64, f64, f64, z = log10(x);)
UNARY(sin_f64, f64, f64, z = sin(x);)
UNARY(cos_f64, f64, f64, z = cos(x);)
UNARY(tan_f64, f64, f64, z = tan(x);)
UNARY(asin_f64, f64, f64, z = asin(x);)
UNARY(acos_f64, f64, f64, z = acos(x);)
UNARY(atan_f64, f64, f64, z = atan(x);)
BINARY(atan2_f64, f64, f64, f64, z = atan2(x, y);)
BINARY(pow_f64, f64, f64, f64, z = pow(x, y);)

#define ROW(OP, name) [HAC_OP_##OP] = {name, NULL, NULL}

const hac_kernels hac_kernels_scalar[HAC_OP_END] = {
    ROW(ADD_I128, add_i128),
    ROW(SUB_I128, sub_i128),
    ROW(MUL_I128, mul_i128),
    ROW(NEG_I128, neg_i128),
    ROW(ABS_I128, abs_i128),
    ROW(EQ_I128, eq_i128),
    ROW(LT_I128, lt_i128),
    ROW(LE_I128, le_i128),
    ROW(RANGE_I128, range_i128),
    ROW(I64_TO_I128, i64_to_i128),
    ROW(U64_TO_I128, u64_to_i128),
    ROW(I128_TO_I64, i128_to_i64),
    ROW(SCALE_UP_I128, scale_up_i128),
    ROW(SCALE_DOWN_I128, scale_down_i128),
    ROW(DECIMAL_TO_F64, decimal_to_f64),
    ROW(F64_TO_DECIMAL, f64_to_decimal),
    ROW(BIT_AND_I64, bit_and),
    ROW(BIT_OR_I64, bit_or),
    ROW(BIT_XOR_I64, bit_xor),
    ROW(SHIFT_LEFT_I64, shift_left_i64),
    ROW(SHIFT_RIGHT_I64, shift_right_i64),
    ROW(BIT_COUNT_I64, bit_count),
    ROW(BIT_AND_U64, bit_and),
    ROW(BIT_OR_U64, bit_or),
    ROW(BIT_XOR_U64, bit_xor),
    ROW(SHIFT_LEFT_U64, shift_left_u64),
    ROW(SHIFT_RIGHT_U64, shift_right_u64),
    ROW(BIT_COUNT_U64, bit_count),
    ROW(DATE_PART, date_part),
    ROW(TIME_PART, time_part),
    ROW(DATE_TRUNC, date_trunc),
    ROW(TIME_TRUNC, time_trunc),
    ROW(TIMESTAMP_TO_DATE, timestamp_to_date),
    ROW(DATE_TO_TIMESTAMP, date_to_timestamp),
    ROW(ADD_MONTHS, add_months),
    ROW(EXP_F64, exp_f64),
    ROW(LN_F64, ln_f64),
    ROW(LOG2_F64, log2_f64),
    ROW(LOG10_F64, log10_f64),
    ROW(SIN_F64, sin_f64),
    ROW(COS_F64, cos_f64),
    ROW(TAN_F64, tan_f64),
    ROW(ASIN_F64, asin_f64),
    ROW(ACOS_F64, acos_f64),
    ROW(ATAN_F64, atan_f64),
    ROW(ATAN2_F64, atan2_f64),
    ROW(POW_F64, pow_f64),
};
