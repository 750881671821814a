/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of f64 in two *limbs*: value = (low + high · 2^HAC_LIMB_BITS) · 2^unit, with signed limbs of 40 bits
 * at most. Sums of limbs are two additions of 64 bits without a carry, which a CPU does in one instruction.
 * HAC_LIMB_ROWS values can be added before a limb overflows; then the sum has to become a window.
 */
#ifndef QUERY_EXACT_LIMBS_H
#define QUERY_EXACT_LIMBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HAC_LIMB_BITS 40
/* Exponents above the unit of values that surely have limbs: 79 bits less the 53 of a mantissa. */
#define HAC_LIMB_REACH 26
#define HAC_LIMB_ROWS  (1 << 21)
/* The highest unit that has limbs: the conversion adds numbers below 2^(unit + 40 + 53), which are finite. */
#define HAC_LIMB_UNIT_MAX (1023 - 52 - HAC_LIMB_BITS)
#define HAC_LIMB_MAX      (INT64_C(1) << 61) /* of a sum to which so many values are added */

typedef struct hac_limbs {
    int64_t of[2]; /* the low one first */
} __attribute__((aligned(16))) hac_limbs;

/* Converts values (8 bytes each, unaligned, which another process may change). `ret` has room for `rows`,
 * rounded up to a multiple of 4. False: some value is no multiple of 2^unit, is not below 2^80 - 2^39 units,
 * or is not finite; then `ret` is undefined. */
bool hac_limbs_convert(const uint8_t *values, size_t rows, int32_t unit, hac_limbs *ret);

/* The implementations that this machine can run, the fastest one last; NULL: there is no number `i`. */
typedef bool hac_limbs_converter(const uint8_t *values, size_t rows, int32_t unit, hac_limbs *ret);
hac_limbs_converter *hac_limbs_converter_at(size_t i);

/* Adds limbs to a sum of limbs, which is aligned to 8 bytes. */
static inline void hac_limbs_add(uint8_t *sum, const hac_limbs *limbs)
{
    typedef int64_t limb_sums __attribute__((vector_size(16)));
    limb_sums x, y;
    memcpy(&x, sum, sizeof x);
    memcpy(&y, limbs, sizeof y);
    x += y;
    memcpy(sum, &x, sizeof x);
}

/* The window that equals a sum of limbs. */
static inline __int128 hac_limbs_join(const hac_limbs *sum)
{
    return (__int128)sum->of[1] * (INT64_C(1) << HAC_LIMB_BITS) + sum->of[0];
}

/* The limbs of a window, to which those of HAC_LIMB_ROWS values can be added; false: it is too large. */
static inline bool hac_limbs_split(__int128 window, hac_limbs *ret)
{
    __int128 high = window >> HAC_LIMB_BITS;
    ret->of[0] = (int64_t)window & ((INT64_C(1) << HAC_LIMB_BITS) - 1);
    ret->of[1] = (int64_t)high;
    return high >= -HAC_LIMB_MAX && high <= HAC_LIMB_MAX;
}

#endif
