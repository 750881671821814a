/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of at most 16 characters, as most are, without a loop over their digits: eight are one word. For
 * loops over many values whose text lies in a buffer with room: HAC_SHORT_NUMBER bytes from the text's start
 * on are read, however short it is. What is longer or has another form (exponents, a plus sign, inf) is for
 * the parsers of base/value_text.h; where these say true, those give the same.
 */
#ifndef BASE_SHORT_NUMBER_H
#define BASE_SHORT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HAC_SHORT_NUMBER 17 /* a sign and 16 more */

/* Eight characters, the first in the lowest byte; digits become 0 … 9, all else more. */
static inline uint64_t hac_eight_characters(const void *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word ^ UINT64_C(0x3030303030303030);
}

/* The top bit of each byte that is no digit: right up to the first such byte, and not zero if there is one.
 */
static inline uint64_t hac_not_digits(uint64_t eight)
{
    return ((eight + UINT64_C(0x7676767676767676)) | eight) & UINT64_C(0x8080808080808080);
}

/* The number that eight digits are. */
static inline uint64_t hac_eight_digits(uint64_t eight)
{
    eight = eight * 2561 >> 8;
    eight = (eight & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    return (eight & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
}

#define HAC_HUNDRED_MILLION UINT64_C(100000000)

/* The bit at which the first point stands in eight characters; 64: there is none. */
static inline unsigned hac_point_bit(uint64_t eight)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), differ = eight ^ ones * ('.' ^ '0');
    uint64_t found = (differ - ones) & ~differ & ones << 7;
    return found != 0 ? (unsigned)__builtin_ctzll(found) & ~7u : 64;
}

/* Eight characters without the one at `bit`: those before it move up, `first` comes in. */
static inline uint64_t hac_without_byte(uint64_t eight, unsigned bit, uint64_t first)
{
    uint64_t before = eight & ((UINT64_C(1) << bit) - 1), after = eight & (UINT64_MAX << bit << 8);
    return after | before << 8 | first;
}

/* Digits with at most one point: their number, and how many stand behind the point. */
static inline bool hac_short_digits(const char *text, size_t n, uint64_t *ret, unsigned *ret_fraction)
{
    if (n - 1 >= 16)
        return false;
    uint64_t high = 0, low = hac_eight_characters(text);
    if (n <= 8) {
        low <<= 64 - 8 * n;
    } else {
        high = low << (128 - 8 * n);
        low = hac_eight_characters(text + n - 8);
    }
    unsigned point = hac_point_bit(low);
    *ret_fraction = 0;
    if (point < 64) {
        *ret_fraction = 7 - point / 8;
        low = hac_without_byte(low, point, high >> 56);
        high <<= 8;
        if (n == 1)
            return false;
    }
    if (high != 0) {
        unsigned early = hac_point_bit(high);
        if (early < 64) {
            if (point < 64)
                return false;
            *ret_fraction = 15 - early / 8;
            high = hac_without_byte(high, early, 0);
        }
        if (hac_not_digits(high) != 0)
            return false;
    }
    *ret = hac_eight_digits(high) * HAC_HUNDRED_MILLION + hac_eight_digits(low);
    return hac_not_digits(low) == 0;
}

/* [-]digits */
static inline bool hac_short_i64(const char *text, size_t n, int64_t *ret)
{
    bool negative = n > 0 && *text == '-';
    text += negative;
    n -= negative;
    if (n - 1 >= 16)
        return false;
    uint64_t low = hac_eight_characters(text);
    int64_t value = 0;
    if (n <= 8) {
        low <<= 64 - 8 * n;
    } else {
        uint64_t high = low << (128 - 8 * n);
        low = hac_eight_characters(text + n - 8);
        if (hac_not_digits(high) != 0)
            return false;
        value = (int64_t)(hac_eight_digits(high) * HAC_HUNDRED_MILLION);
    }
    value += (int64_t)hac_eight_digits(low);
    *ret = negative ? -value : value;
    return hac_not_digits(low) == 0;
}

/* [-]digits with a point or none. Both numbers are exact doubles, so that the quotient is rounded once. */
static inline bool hac_short_f64(const char *text, size_t n, double *ret)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    uint64_t digits;
    unsigned fraction;
    bool negative = n > 0 && *text == '-';
    if (!hac_short_digits(text + negative, n - negative, &digits, &fraction) || digits > UINT64_C(1) << 53)
        return false;
    double value = (double)(int64_t)digits / powers[fraction];
    *ret = negative ? -value : value;
    return true;
}

/* The same, where both are exact floats. */
static inline bool hac_short_f32(const char *text, size_t n, float *ret)
{
    static const float powers[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
    uint64_t digits;
    unsigned fraction;
    bool negative = n > 0 && *text == '-';
    if (!hac_short_digits(text + negative, n - negative, &digits, &fraction) || digits > 1u << 24 ||
        fraction > 10)
        return false;
    float value = (float)(int32_t)digits / powers[fraction];
    *ret = negative ? -value : value;
    return true;
}

/* The same as value × 10^scale, at most 18 digits of it. */
static inline bool hac_short_decimal(const char *text, size_t n, unsigned precision, unsigned scale,
                                     int64_t *ret)
{
    static const int64_t powers[] = {1,
                                     10,
                                     100,
                                     1000,
                                     10000,
                                     100000,
                                     1000000,
                                     10000000,
                                     100000000,
                                     1000000000,
                                     10000000000,
                                     100000000000,
                                     1000000000000,
                                     10000000000000,
                                     100000000000000,
                                     1000000000000000,
                                     10000000000000000,
                                     100000000000000000,
                                     1000000000000000000};
    uint64_t digits;
    unsigned fraction;
    int64_t value;
    bool negative = n > 0 && *text == '-';
    if (precision > 18 || !hac_short_digits(text + negative, n - negative, &digits, &fraction) ||
        fraction > scale || __builtin_mul_overflow((int64_t)digits, powers[scale - fraction], &value) ||
        value >= powers[precision])
        return false;
    *ret = negative ? -value : value;
    return true;
}

#endif
