/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of exact sums: values as integers, and the units that they are counted in. */
#ifndef QUERY_EXACT_ROWS_H
#define QUERY_EXACT_ROWS_H

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "accumulator.h"

/* A value that fits: ±m · 2^shift units. */
typedef struct hac_exact_factor {
    uint64_t m, sign;
    int32_t shift;
} hac_exact_factor;

/* The reach of an accumulator with `n_terms` terms. */
static inline int hac_exact_reach(size_t n_terms)
{
    return n_terms == 1 ? HAC_EXACT_SUM_REACH : HAC_EXACT_PRODUCT_REACH;
}

/* Value `i` of a vector as a factor; false: it does not fit. `repr` is a compile-time constant. */
static inline __attribute__((always_inline)) bool
hac_exact_take(const void *values, hac_repr repr, size_t i, int32_t unit, int reach, hac_exact_factor *ret)
{
    uint64_t bits, pair[2];
    if (repr == HAC_REPR_F64) {
        bits = ((const uint64_t *)values)[i];
        int32_t shift = (int32_t)(bits >> 52 & 0x7ff) - 1075 - unit;
        ret->sign = hac_exact_sign(bits);
        if (__builtin_expect((uint32_t)shift <= (uint32_t)reach, 1)) { /* no unit is below a subnormal's */
            ret->m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
            ret->shift = shift;
            return true;
        }
        ret->m = hac_exact_mantissa(bits);
        ret->shift = ret->m == 0 ? 0 : hac_exact_exponent(bits) - unit;
        return hac_exact_fits(bits, unit, reach);
    }
    if (repr == HAC_REPR_I128) {
        memcpy(pair, (const uint8_t *)values + 16 * i, sizeof pair);
        bits = pair[0];
        ret->sign = pair[1] >> 63;
        ret->m = ret->sign != 0 ? 0 - bits : bits;
        ret->shift = 0;
        return pair[1] == 0 || (pair[1] == UINT64_MAX && bits != 0);
    }
    bits = repr == HAC_REPR_BOOL ? ((const uint8_t *)values)[i] : ((const uint64_t *)values)[i];
    ret->sign = repr == HAC_REPR_I64 ? bits >> 63 : 0;
    ret->m = ret->sign != 0 ? 0 - bits : bits;
    ret->shift = 0;
    return true;
}

/* An f64 of which only the sum is kept, in units; false: it does not fit. */
static inline __attribute__((always_inline)) bool hac_exact_fit(uint64_t bits, int32_t unit, hac_i128 *ret)
{
    uint32_t shift = (uint32_t)((int32_t)(bits >> 52 & 0x7ff) - 1075 - unit);
    int64_t sign = (int64_t)bits >> 63;
    int64_t m = ((int64_t)(bits & ((UINT64_C(1) << 52) - 1)) | INT64_C(1) << 52);
    m = (m ^ sign) - sign;
    if (__builtin_expect(shift > HAC_EXACT_SUM_REACH, 0)) {
        *ret = 0;
        return bits << 1 == 0;
    }
    *ret = hac_multiply(m, INT64_C(1) << shift);
    return true;
}

_Static_assert(2 * HAC_EXACT_PRODUCT_REACH < 64, "the scale of a product is a word");

/* As hac_exact_add3. Compilers make no chain of carries of that, and some a jump of each carry. */
static inline void hac_exact_add_words3(uint64_t *to, const uint64_t *words)
{
#if defined(__x86_64__)
    unsigned long long *sums = (unsigned long long *)to;
    unsigned char carry = _addcarry_u64(0, sums[0], words[0], &sums[0]);
    carry = _addcarry_u64(carry, sums[1], words[1], &sums[1]);
    (void)_addcarry_u64(carry, sums[2], words[2], &sums[2]);
#else
    hac_exact_add3(to, words);
#endif
}

/* Adds a factor to a window of two words, a product to one of three: as exact.h does it for all devices, but
 * with multiplications, which are faster on a CPU than shifts over several words. */
static inline void hac_exact_add_factor(uint64_t *to, const hac_exact_factor *x)
{
    unsigned __int128 words = (unsigned __int128)x->m * (UINT64_C(1) << x->shift);
    hac_sum_add((hac_i128 *)(void *)to, (hac_i128)(x->sign != 0 ? 0 - words : words));
}

static inline void hac_exact_add_product(uint64_t *to, const hac_exact_factor *x, const hac_exact_factor *y)
{
    uint64_t scale = UINT64_C(1) << (x->shift + y->shift), sign = x->sign ^ y->sign, mask = 0 - sign;
    unsigned __int128 product = (unsigned __int128)x->m * y->m;
    unsigned __int128 low = (unsigned __int128)(uint64_t)product * scale;
    unsigned __int128 high = (unsigned __int128)(uint64_t)(product >> 64) * scale + (low >> 64);
    uint64_t words[3] = {((uint64_t)low ^ mask) + sign};
    words[1] = ((uint64_t)high ^ mask) + (words[0] < sign);
    words[2] = ((uint64_t)(high >> 64) ^ mask) + ((words[0] | words[1]) == 0 ? sign : 0);
    hac_exact_add_words3(to, words);
}

/* Prepares an accumulator for a batch: chooses the units if this batch has the first values.
 * `columns` are those of the accumulator. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_exact_begin(hac_group_table *t, const hac_accumulate_batch *b,
                                        const hac_accumulator *a, const hac_column *const *columns,
                                        hac_error *err);
/* Call after a batch: changes the units to suit its values if too many values of the table did not fit. */
HAC_MUST_USE hac_status hac_exact_end(hac_group_table *t, const hac_accumulate_batch *b,
                                      const hac_accumulator *a, const hac_column *const *columns,
                                      hac_error *err);

/* Converts the values of a sum of f64 to limbs, t->exact.limbs. False: they have none, or this was not
 * tried. */
bool hac_exact_to_limbs(hac_group_table *t, const hac_accumulator *a, const uint8_t *values, size_t rows);

/* Adds row `i` beside the windows of its group: to every term. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_exact_add_beside(hac_group_table *t, const hac_accumulate_batch *b,
                                             const hac_accumulator *a, const hac_column *const *columns,
                                             size_t i, hac_error *err);

/* Adds the windows of records, which have been aligned (hac_exact_align). */
HAC_MUST_USE hac_status hac_exact_merge(hac_group_table *t, const hac_accumulate_batch *b,
                                        const hac_accumulator *a, const uint8_t *from, hac_error *err);

/* The exact sum of term `term` of an accumulator. */
hac_exact_state hac_exact_total(const hac_result_cell *cell, const hac_accumulator *a, size_t term,
                                const uint8_t *from, hac_exact_number *ret);

/* The digits behind the point of values that count in 10^-digits: of decimals; else 0. */
static inline unsigned hac_exact_scale(hac_value_type type)
{
    return type.kind == HAC_KIND_DECIMAL ? type.scale : 0;
}

/* n · Σab - Σa · Σb. `ret` is none of the sums. */
static inline void hac_exact_spread(hac_exact_number *ret, uint64_t n, const hac_exact_number *ab,
                                    const hac_exact_number *a, const hac_exact_number *b)
{
    hac_exact_number product;
    *ret = *ab;
    hac_exact_times_u64(ret, n);
    hac_exact_times(&product, a, b);
    hac_exact_difference(ret, ret, &product);
}

#endif
