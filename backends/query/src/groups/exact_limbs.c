/* SPDX-License-Identifier: Apache-2.0 */
#include "exact_limbs.h"

#include <string.h>

#include "base/exact.h"

#define LANES 4

typedef double floats __attribute__((vector_size(8 * LANES)));
typedef uint64_t words __attribute__((vector_size(8 * LANES)));
typedef uint64_t limb_pair __attribute__((vector_size(16), may_alias));

typedef struct limb_conversion {
    floats high, low;     /* magic numbers */
    words inexact, large; /* bits that are set if some value has no limbs */
} limb_conversion;

/* 1.5 · 2^(exponent + 52). Adding it rounds a smaller number to a multiple of 2^exponent. The bits of the
 * sum, less the bits of the magic number, are the multiple as an integer. */
static double magic(int32_t exponent)
{
    uint64_t bits = (uint64_t)(exponent + 52 + 1023) << 52 | UINT64_C(1) << 51;
    double ret;
    memcpy(&ret, &bits, sizeof ret);
    return ret;
}

/* Rounding a value to a multiple of the upper limb leaves a rest without an error. The rest is a multiple of
 * the unit if rounding it to one does not change it. `wide` is a compile-time constant: whole vectors are
 * stored. */
static inline __attribute__((always_inline)) void convert_lanes(limb_conversion *c, const uint8_t *values,
                                                                hac_limbs *ret, bool wide)
{
    floats v;
    memcpy(&v, values, sizeof v);
    floats high = v + c->high, rest = v - (high - c->high), low = rest + c->low;
    words upper = (words)high - (words)c->high, lower = (words)low - (words)c->low;
    c->inexact |= (words)(low - c->low) ^ (words)rest;
    c->large |= upper + (UINT64_C(1) << HAC_LIMB_BITS);
    words even = __builtin_shufflevector(lower, upper, 0, 4, 2, 6);
    words odd = __builtin_shufflevector(lower, upper, 1, 5, 3, 7);
    if (wide) {
        words first = __builtin_shufflevector(even, odd, 0, 1, 4, 5);
        words second = __builtin_shufflevector(even, odd, 2, 3, 6, 7);
        memcpy(ret, &first, sizeof first);
        memcpy(ret + 2, &second, sizeof second);
        return;
    }
    *(limb_pair *)ret[0].of = __builtin_shufflevector(even, even, 0, 1);
    *(limb_pair *)ret[1].of = __builtin_shufflevector(odd, odd, 0, 1);
    *(limb_pair *)ret[2].of = __builtin_shufflevector(even, even, 2, 3);
    *(limb_pair *)ret[3].of = __builtin_shufflevector(odd, odd, 2, 3);
}

static inline __attribute__((always_inline)) bool convert(const uint8_t *values, size_t rows, int32_t unit,
                                                          hac_limbs *ret, bool wide)
{
    const double high = magic(unit + HAC_LIMB_BITS), low = magic(unit);
    limb_conversion c = {.high = {high, high, high, high}, .low = {low, low, low, low}};
    uint64_t inexact = 0, large = 0;
    uint8_t rest[8 * LANES] = {0};
    size_t whole = rows - rows % LANES;
    for (size_t i = 0; i < whole; i += LANES)
        convert_lanes(&c, values + 8 * i, ret + i, wide);
    if (whole < rows) {
        memcpy(rest, values + 8 * whole, 8 * (rows - whole));
        convert_lanes(&c, rest, ret + whole, wide);
    }
    const words inexact_of = c.inexact, large_of = c.large;
    for (int k = 0; k < LANES; k++) {
        inexact |= inexact_of[k];
        large |= large_of[k];
    }
    return inexact << 1 == 0 && /* zeros of different signs are equal */
           large >> (HAC_LIMB_BITS + 1) == 0;
}

static bool convert_baseline(const uint8_t *values, size_t rows, int32_t unit, hac_limbs *ret)
{
    return convert(values, rows, unit, ret, false);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool convert_avx2(const uint8_t *values, size_t rows, int32_t unit,
                                                         hac_limbs *ret)
{
    return convert(values, rows, unit, ret, true);
}
#endif

hac_limbs_converter *hac_limbs_converter_at(size_t i)
{
#if defined(__x86_64__)
    if (i == 1 && __builtin_cpu_supports("avx2"))
        return convert_avx2;
#endif
    return i == 0 ? convert_baseline : NULL;
}

bool hac_limbs_convert(const uint8_t *values, size_t rows, int32_t unit, hac_limbs *ret)
{
    hac_limbs_converter *fast = hac_limbs_converter_at(1);
    if (unit < HAC_EXACT_EXPONENT_MIN || unit > HAC_LIMB_UNIT_MAX)
        return false;
    return fast != NULL ? fast(values, rows, unit, ret) : convert_baseline(values, rows, unit, ret);
}
