/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run by the build: writes the table of powers_of_ten.h, computed with exact integers. 10^q is 5^q times a
 * power of two, so the leading 128 bits of 5^q (q ≥ 0) or of 1 / 5^-q are all there is to it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "powers_of_ten.h"

#define LIMBS 16 /* of 64 bits: 5^342 has 795 */

typedef struct big {
    uint64_t limb[LIMBS];
} big;

static void multiply(big *number, uint64_t factor)
{
    unsigned __int128 carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (unsigned __int128)number->limb[i] * factor;
        number->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

static bool less(const big *a, const big *b)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i];
    return false;
}

static void subtract(big *a, const big *b)
{
    bool borrow = false;
    for (int i = 0; i < LIMBS; i++) {
        uint64_t before = a->limb[i], less_one = before - b->limb[i], result = less_one - borrow;
        borrow = before < b->limb[i] || less_one < borrow;
        a->limb[i] = result;
    }
}

static int bit_length(const big *number)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (number->limb[i] != 0)
            return i * 64 + 64 - __builtin_clzll(number->limb[i]);
    return 0;
}

static void put(unsigned __int128 value)
{
    printf("    {0x%016llx, 0x%016llx},\n", (unsigned long long)(value >> 64), (unsigned long long)value);
}

/* The highest 128 bits. */
static unsigned __int128 leading(big number)
{
    for (int length = bit_length(&number); length < LIMBS * 64; length++)
        multiply(&number, 2);
    return (unsigned __int128)number.limb[LIMBS - 1] << 64 | number.limb[LIMBS - 2];
}

/* The highest 128 bits of 1 / divisor, bit by bit. */
static unsigned __int128 reciprocal(const big *divisor)
{
    unsigned __int128 quotient = 0;
    int length = bit_length(divisor);
    big rest;
    memset(&rest, 0, sizeof rest);
    rest.limb[(length - 1) / 64] = UINT64_C(1) << (length - 1) % 64;
    for (int bit = 0; bit < 128; bit++) {
        multiply(&rest, 2);
        bool one = !less(&rest, divisor);
        if (one)
            subtract(&rest, divisor);
        quotient = quotient << 1 | one;
    }
    return quotient;
}

int main(void)
{
    printf("/* Written by make_powers.c. */\n");
    for (int q = HAC_POWER_FIRST; q <= HAC_POWER_LAST; q++) {
        big power = {{1}};
        for (int i = 0; i < (q < 0 ? -q : q); i++)
            multiply(&power, 5);
        put(q < 0 ? reciprocal(&power) : leading(power));
    }
    return ferror(stdout) || fflush(stdout) != 0;
}
