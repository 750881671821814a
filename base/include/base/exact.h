/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sums of numbers: the arithmetic of the aggregates sum, avg, variance, covar and their kin. It is C11
 * and OpenCL C 1.2, of integers only, so that the bits of a result depend neither on the order of additions
 * nor on the compiler. Only exact_number.h rounds, once, when all rows are added.
 *
 * Numbers. A finite f64 is ±m · 2^e with an integer m < 2^53 (hac_exact_mantissa) and an exponent e from
 * -1074 to 971 (hac_exact_exponent). An f32 is converted to the bits of the equal f64 (hac_exact_of_f32), so
 * a device needs no f64 of its own. An integer i is i · 2^0.
 *
 * Windows. A sum is kept in a *window*: HAC_EXACT_SUM_WORDS words (64 bits each, lowest first, two's
 * complement) that are one integer; the sum is this integer times 2^unit. Sums of squares and products have
 * HAC_EXACT_PRODUCT_WORDS words that count in 2^(unit of one factor + unit of the other). Adding is adding
 * integers modulo 2^128 or 2^192, in any order, also with atomic operations on one word after another:
 *     old = atomic_add(&w[0], x[0]);  carry = old + x[0] < old;  atomic_add(&w[1], x[1] + carry); …
 * (if x[k] is all ones, x[k] + carry overflows, too: that carry goes to the next word as well).
 *
 * Unit. A unit is an exponent; all groups of a task share one for each argument. The *reach* is how far above
 * the unit the exponent of a value may lie. A value *fits* if it is 0 or
 *     unit <= e <= unit + reach      (hac_exact_fits)
 * with reach HAC_EXACT_SUM_REACH where only the sum is kept, HAC_EXACT_PRODUCT_REACH where squares or
 * products are. hac_exact_unit chooses the unit from the lowest and the highest exponent of values seen so
 * far (zeros, infinities and NaN are left out), with room on both sides. Any unit is correct: values that do
 * not fit, and infinities and NaN, are added beside the window (in digits, exact_number.h), and the result
 * shows neither the unit nor which values went where. Integers have unit 0 and always fit if they have 64
 * bits.
 *
 * Carry. A value that fits is below 2^96 units, a square or product below 2^160. A window of at most 2^126
 * units (2^190 for products) has room for HAC_EXACT_ROWS_MAX more rows; then its size has to be checked.
 */
#ifndef BASE_EXACT_H
#define BASE_EXACT_H

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define HAC_EXACT_U64        ulong
#define HAC_EXACT_U32        uint
#define HAC_EXACT_FUNCTION   inline
#define hac_exact_zeros(x)   clz((uint)(x))
#define hac_exact_high(x, y) mul_hi((ulong)(x), (ulong)(y))
#else
#include <stdint.h>
#define HAC_EXACT_U64        uint64_t
#define HAC_EXACT_U32        uint32_t
#define HAC_EXACT_FUNCTION   static inline
#define hac_exact_zeros(x)   __builtin_clz((unsigned)(x))
#define hac_exact_high(x, y) ((uint64_t)((unsigned __int128)(x) * (y) >> 64))
#endif

#define HAC_EXACT_SUM_WORDS     2
#define HAC_EXACT_PRODUCT_WORDS 3
#define HAC_EXACT_SUM_REACH     43
#define HAC_EXACT_PRODUCT_REACH 27
#define HAC_EXACT_ROWS_MAX      (1 << 30)

/* The exponents of all values, and "no value seen yet" for hac_exact_unit: low above high. */
#define HAC_EXACT_EXPONENT_MIN (-1074)
#define HAC_EXACT_EXPONENT_MAX 971

/* ---- numbers ---- */

/* The bits of the f64 that equals the f32 of these bits. */
HAC_EXACT_FUNCTION HAC_EXACT_U64 hac_exact_of_f32(HAC_EXACT_U32 bits)
{
    HAC_EXACT_U64 sign = (HAC_EXACT_U64)(bits >> 31) << 63;
    HAC_EXACT_U32 exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    if (exponent == 0xff)
        return sign | (HAC_EXACT_U64)0x7ff << 52 | (HAC_EXACT_U64)fraction << 29;
    if (exponent == 0) {
        if (fraction == 0)
            return sign;
        HAC_EXACT_U32 shift = (HAC_EXACT_U32)hac_exact_zeros(fraction) - 8; /* its top bit becomes bit 23 */
        fraction = fraction << shift & 0x7fffff;
        exponent = 1 - shift; /* modulo 2^32; the sum below is positive */
    }
    return sign | (HAC_EXACT_U64)(HAC_EXACT_U32)(exponent + 896) << 52 | (HAC_EXACT_U64)fraction << 29;
}

/* Neither infinite nor NaN. */
HAC_EXACT_FUNCTION int hac_exact_finite(HAC_EXACT_U64 bits)
{
    return (bits >> 52 & 0x7ff) != 0x7ff;
}

/* 1 for numbers with a minus sign. */
HAC_EXACT_FUNCTION HAC_EXACT_U64 hac_exact_sign(HAC_EXACT_U64 bits)
{
    return bits >> 63;
}

HAC_EXACT_FUNCTION HAC_EXACT_U64 hac_exact_mantissa(HAC_EXACT_U64 bits)
{
    HAC_EXACT_U64 fraction = bits & (((HAC_EXACT_U64)1 << 52) - 1);
    return (bits >> 52 & 0x7ff) == 0 ? fraction : fraction | (HAC_EXACT_U64)1 << 52;
}

HAC_EXACT_FUNCTION int hac_exact_exponent(HAC_EXACT_U64 bits)
{
    int exponent = (int)(bits >> 52 & 0x7ff);
    return (exponent == 0 ? 1 : exponent) - 1075;
}

/* ---- units ---- */

/* The unit for values with exponents from `low` to `high`. A quarter of the reach that
 * is left lies above `high`, three quarters below `low`, where the exponents of small values lie. */
HAC_EXACT_FUNCTION int hac_exact_unit(int low, int high, int reach)
{
    int spare = reach - (high - low), unit = spare >= 0 ? low - spare * 3 / 4 : high - reach * 7 / 8;
    return unit < HAC_EXACT_EXPONENT_MIN ? HAC_EXACT_EXPONENT_MIN : unit;
}

/* Whether a value may be given to hac_exact_words or hac_exact_product. */
HAC_EXACT_FUNCTION int hac_exact_fits(HAC_EXACT_U64 bits, int unit, int reach)
{
    int shift = hac_exact_exponent(bits) - unit;
    return (bits << 1 == 0) | ((shift >= 0) & (shift <= reach) & hac_exact_finite(bits));
}

/* ---- words ---- */

/* A value that fits, in units of 2^unit. */
HAC_EXACT_FUNCTION void hac_exact_words(HAC_EXACT_U64 bits, int unit, HAC_EXACT_U64 *ret)
{
    HAC_EXACT_U64 m = hac_exact_mantissa(bits), sign = hac_exact_sign(bits), mask = 0 - sign;
    int shift = (hac_exact_exponent(bits) - unit) & 63; /* of a zero, any number */
    ret[0] = ((m << shift) ^ mask) + sign;
    ret[1] = ((m >> 1 >> (63 - shift)) ^ mask) + (ret[0] < sign);
}

/* ±(x · y · 2^shift) for shift < 64 and a product below 2^192; with a minus sign if `sign` is 1. */
HAC_EXACT_FUNCTION void hac_exact_multiply(HAC_EXACT_U64 x, HAC_EXACT_U64 y, int shift, HAC_EXACT_U64 sign,
                                           HAC_EXACT_U64 *ret)
{
    HAC_EXACT_U64 low = x * y, high = hac_exact_high(x, y), mask = 0 - sign;
    ret[0] = ((low << shift) ^ mask) + sign;
    ret[1] = ((high << shift | low >> 1 >> (63 - shift)) ^ mask) + (ret[0] < sign);
    /* negating carries into the top word only if both lower words are 0 */
    ret[2] = ((high >> 1 >> (63 - shift)) ^ mask) + ((ret[0] | ret[1]) == 0 ? sign : 0);
}

/* The product of two values that fit, in units of 2^(unit_x + unit_y). */
HAC_EXACT_FUNCTION void hac_exact_product(HAC_EXACT_U64 x, HAC_EXACT_U64 y, int unit_x, int unit_y,
                                          HAC_EXACT_U64 *ret)
{
    HAC_EXACT_U64 mx = hac_exact_mantissa(x), my = hac_exact_mantissa(y);
    int shift = hac_exact_exponent(x) - unit_x + hac_exact_exponent(y) - unit_y;
    hac_exact_multiply(mx, my, shift & 63, hac_exact_sign(x) ^ hac_exact_sign(y), ret);
}

/* Adds to a window that only one item writes to. */
HAC_EXACT_FUNCTION void hac_exact_add2(HAC_EXACT_U64 *to, const HAC_EXACT_U64 *x)
{
    to[0] += x[0];
    to[1] += x[1] + (to[0] < x[0]);
}

HAC_EXACT_FUNCTION void hac_exact_add3(HAC_EXACT_U64 *to, const HAC_EXACT_U64 *x)
{
    HAC_EXACT_U64 carry, sum;
    to[0] += x[0];
    carry = to[0] < x[0];
    sum = x[1] + carry;
    carry = sum < carry;
    to[1] += sum;
    to[2] += x[2] + carry + (to[1] < sum);
}

#endif
