/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms: k buckets of equal width from `low` to `high`. Bucket i has the values from border i up to,
 * but not including, border i + 1; `high` belongs to the last bucket. Border i is low + i · (high - low) /
 * k, computed exactly from the exact ends. Floats are compared with the borders rounded once to f64.
 * Integers and decimals are compared with the exact borders.
 *
 * A value is compared as its key, an integer with the same order: hac_bucket_key_of_f64,
 * hac_bucket_key_of_u64; of an integer or a decimal of up to 18 digits itself. The quotient (x - low) · k /
 * (high - low) of doubles is only a guess: the borders decide.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/value.h"

__extension__ typedef __int128 hac_int128;

/* A constant of a query, a finite number: `real` itself if `scale` is HAC_CONSTANT_REAL, else digits /
 * 10^scale, of which `real` is the nearest double. */
#define HAC_CONSTANT_REAL 255
typedef struct hac_constant_number {
    double real;
    hac_int128 digits;
    uint8_t scale; /* up to HAC_DECIMAL_DIGITS_MAX */
} hac_constant_number;

hac_constant_number hac_constant_real(double value);
hac_constant_number hac_constant_decimal(hac_int128 digits, uint8_t scale);
bool hac_constant_less(const hac_constant_number *a, const hac_constant_number *b);
static inline bool hac_constant_equal(const hac_constant_number *a, const hac_constant_number *b)
{
    return !hac_constant_less(a, b) && !hac_constant_less(b, a);
}

typedef struct hac_buckets {
    uint64_t n;                 /* buckets that values of the type can reach */
    hac_int128 first, last;     /* keys outside of these have no bucket */
    int64_t *border;            /* keys of the lower borders; NULL for decimals of more than 18 digits */
    hac_int128 *wide;           /* lower borders of decimals of more than 18 digits */
    double half_low, per_width; /* for the guess: k / (high / 2 - low / 2) */
} hac_buckets;

/* Buckets for values of `type`, a number type. low < high, both finite, 0 < k ≤ UINT32_MAX. False: no
 * memory. */
HAC_MUST_USE bool hac_buckets_init(const hac_constant_number *low, const hac_constant_number *high,
                                   uint32_t k, hac_value_type type, hac_buckets *ret);
void hac_buckets_clear(hac_buckets *buckets);

#define HAC_NO_BUCKET UINT64_MAX
/* The bucket of a key; `x` is about the value. HAC_NO_BUCKET: it has none. */
uint64_t hac_bucket_of(const hac_buckets *buckets, int64_t key, double x);
uint64_t hac_bucket_of_wide(const hac_buckets *buckets, hac_int128 key, double x);

/* -0.0 is 0.0. NaN has a key that lies outside of all borders. */
static inline int64_t hac_bucket_key_of_f64(double value)
{
    int64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ (int64_t)((uint64_t)(bits >> 63) >> 1);
}

static inline int64_t hac_bucket_key_of_u64(uint64_t value)
{
    return (int64_t)(value ^ UINT64_C(1) << 63);
}

#endif
