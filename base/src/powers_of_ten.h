/* SPDX-License-Identifier: Apache-2.0 */
/* Powers of ten as 128-bit numbers, for reading and printing floats. */
#ifndef BASE_POWERS_OF_TEN_H
#define BASE_POWERS_OF_TEN_H

#include <stdint.h>

/* Below 10^-342 even 2^64 - 1 times the power is less than half of the smallest double; printing needs 10^324
 * for the smallest one. */
#define HAC_POWER_FIRST (-342)
#define HAC_POWER_LAST  324

/* 10^q is 5^q times a power of two, and 5^55 is the last that 128 bits hold. */
#define HAC_POWER_EXACT_LAST 55

typedef struct hac_power {
    uint64_t high, low;
} hac_power;

/* 10^q ≈ p · 2^(hac_floor_log2_power(q) - 127), 2^127 ≤ p < 2^128, rounded down; exact for 0 ≤ q ≤
 * HAC_POWER_EXACT_LAST. Entry q - HAC_POWER_FIRST. */
extern const hac_power hac_powers_of_ten[HAC_POWER_LAST - HAC_POWER_FIRST + 1];

/* ⌊log2 10^q⌋, for |q| ≤ 1233. */
static inline int hac_floor_log2_power(int q)
{
    return (q * 1741647) >> 19;
}

#endif
