/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact numbers: integers times a power of two, as large as any sum of squares of f64 values needs, and the
 * rounding of their quotients and roots to f64, to nearest, ties to even. All results of exact aggregates
 * (exact.h) are rounded here, once. No function fails: numbers are as large as HAC_EXACT_NUMBER_WORDS allows,
 * which is said with each function, and results beyond the largest f64 are infinite.
 *
 * Sums of values that fit no window are kept in *digits*: 32 bits each, digit d counting 2^(32·d - 2176),
 * which reaches from the square of the smallest f64 to 2^64 times the square of the largest.
 */
#ifndef BASE_EXACT_NUMBER_H
#define BASE_EXACT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A product of two differences n · Σx² - (Σx)²: 2 · (2 · 2176 + 128) bits, and room for a shift. */
#define HAC_EXACT_NUMBER_WORDS 152

#define HAC_EXACT_DIGIT_BASE (-2176) /* exponent of digit 0 */
#define HAC_EXACT_DIGITS     136

/* ±(words as one integer, lowest first) · 2^exponent. The highest word is not 0; 0 has no words. */
typedef struct hac_exact_number {
    bool negative;
    int32_t exponent;
    uint32_t n;
    uint64_t words[HAC_EXACT_NUMBER_WORDS];
} hac_exact_number;

/* A window of n words (two's complement) in units of 2^exponent. */
void hac_exact_set_window(hac_exact_number *ret, const uint64_t *words, uint32_t n, int32_t exponent);
/* An integer without a sign. */
void hac_exact_set_u64(hac_exact_number *ret, uint64_t value);

/* The digits that equal ±(x · y · 2^exponent), -2176 <= exponent <= 2000: *ret_first is the number of the
 * first one. Returns how many there are; each is below 2^32 and has the sign. */
#define HAC_EXACT_SPLIT_MAX 5
unsigned hac_exact_split(uint64_t x, uint64_t y, int32_t exponent, bool negative, unsigned *ret_first,
                         int64_t ret[HAC_EXACT_SPLIT_MAX]);
/* The sum of digits[d] · 2^(32·d - 2176). */
void hac_exact_set_digits(hac_exact_number *ret, const int64_t digits[HAC_EXACT_DIGITS]);

/* x + y and x - y. `ret` may be x or y. Exponents of numbers up to a sum of squares: -2176 or more. */
void hac_exact_sum(hac_exact_number *ret, const hac_exact_number *x, const hac_exact_number *y);
void hac_exact_difference(hac_exact_number *ret, const hac_exact_number *x, const hac_exact_number *y);
/* x · y; `ret` is neither. */
void hac_exact_times(hac_exact_number *ret, const hac_exact_number *x, const hac_exact_number *y);
void hac_exact_times_u64(hac_exact_number *x, uint64_t factor);
/* x · 10^digits. */
void hac_exact_times_ten(hac_exact_number *x, unsigned digits);

/* x / y and √(x / y), rounded once. y is not 0; x / y is not negative for the root. */
double hac_exact_quotient(const hac_exact_number *x, const hac_exact_number *y);
double hac_exact_root(const hac_exact_number *x, const hac_exact_number *y);
/* x, rounded once. */
double hac_exact_round(const hac_exact_number *x);

/* A window of two words in units of 2^exponent, rounded once: what hac_exact_round gives, faster. */
double hac_exact_round_window(const uint64_t words[2], int32_t exponent);

#endif
