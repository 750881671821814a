/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shortest decimal that reads back to the same float, the nearest to it among those: the method of
 * Raffaello Giulietti, "The Schubfach way to render doubles" (2020). With v = c·2^q, the texts that read back
 * as v lie between v's two neighbours' middles; k is chosen such that multiples of 10^k are at least one and
 * at most ten times in there, and so at most four candidates have to be looked at. The products are rounded
 * to odd, which keeps all comparisons right.
 */
#include <string.h>

#include "base/value_text.h"
#include "powers_of_ten.h"
#include "uint128.h"

typedef struct digits_of {
    uint64_t digits;
    int exponent; /* value = digits × 10^exponent */
} digits_of;

/* g·c / 2^128 with the lowest bit set when something was cut off. */
static uint64_t round_to_odd(hac_power g, uint64_t c)
{
    uint64_t below = (uint64_t)(((hac_u128)g.low * c) >> 64);
    hac_u128 product = (hac_u128)g.high * c + below;
    return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

/* 10^e, rounded up where it is not exact. */
static hac_power power_up(int e)
{
    hac_power g = hac_powers_of_ten[e - HAC_POWER_FIRST];
    if (e < 0 || e > HAC_POWER_EXACT_LAST) {
        g.low++;
        g.high += g.low == 0;
    }
    return g;
}

/* c·2^q, c > 0; `even_step`: the neighbour below is half as far away as the one above. */
static digits_of shortest(uint64_t c, int q, bool even_step)
{
    bool odd = (c & 1) != 0;
    uint64_t left = 4 * c - 2 + even_step, middle = 4 * c, right = 4 * c + 2;
    int k = (q * 1262611 - (even_step ? 524031 : 0)) >> 22; /* ⌊log10 2^q⌋, or of ¾ of it */
    int h = q + hac_floor_log2_power(-k) + 1;
    hac_power g = power_up(-k);
    uint64_t v = round_to_odd(g, middle << h);
    uint64_t low = round_to_odd(g, left << h) + odd, high = round_to_odd(g, right << h) - odd;
    uint64_t s = v / 4;
    if (s >= 10) { /* one digit less */
        uint64_t tens = s / 10;
        bool below = low <= 40 * tens, above = 40 * tens + 40 <= high;
        if (below != above)
            return (digits_of){tens + above, k + 1};
    }
    bool below = low <= 4 * s, above = 4 * s + 4 <= high;
    if (below != above)
        return (digits_of){s + above, k};
    uint64_t half = 4 * s + 2;
    bool up = v > half || (v == half && (s & 1) != 0);
    return (digits_of){s + up, k};
}

static unsigned count_digits(uint64_t value)
{
    static const uint64_t powers[20] = {
        0, /* every number has a digit */
        UINT64_C(10),
        UINT64_C(100),
        UINT64_C(1000),
        UINT64_C(10000),
        UINT64_C(100000),
        UINT64_C(1000000),
        UINT64_C(10000000),
        UINT64_C(100000000),
        UINT64_C(1000000000),
        UINT64_C(10000000000),
        UINT64_C(100000000000),
        UINT64_C(1000000000000),
        UINT64_C(10000000000000),
        UINT64_C(100000000000000),
        UINT64_C(1000000000000000),
        UINT64_C(10000000000000000),
        UINT64_C(100000000000000000),
        UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000),
    };
    unsigned guess = (unsigned)(64 - __builtin_clzll(value | 1)) * 1233 >> 12;
    return guess + (value >= powers[guess]);
}

/* 10^n must divide it to be taken off. */
static void strip(digits_of *number, uint64_t power, int n)
{
    if (number->digits % power == 0) {
        number->digits /= power;
        number->exponent += n;
    }
}

static void strip_zeros(digits_of *number)
{
    if (number->digits % 10 != 0)
        return;
    strip(number, 10000000000000000, 16);
    strip(number, 100000000, 8);
    strip(number, 10000, 4);
    strip(number, 100, 2);
    strip(number, 10, 1);
}

static size_t print_exponent(char *ret, int exponent)
{
    char *p = ret;
    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    unsigned value = (unsigned)(exponent < 0 ? -exponent : exponent);
    if (value < 10)
        *p++ = '0';
    p += hac_print_u64(value, p);
    return (size_t)(p - ret);
}

/* As Python's repr(): with an exponent from 10^16 on and below 10^-4, else with a point and a digit on each
 * side of it. */
static size_t layout(digits_of number, char *ret)
{
    char digits[24], *p = ret;
    int count = (int)count_digits(number.digits);
    hac_print_u64(number.digits, digits);
    int point = count + number.exponent; /* digits before the point */
    if (point > 16 || point < -3) {
        *p++ = digits[0];
        if (count > 1) {
            *p++ = '.';
            memcpy(p, digits + 1, (size_t)(count - 1));
            p += count - 1;
        }
        return (size_t)(p - ret) + print_exponent(p, point - 1);
    }
    if (point <= 0) {
        memcpy(p, "0.000", (size_t)(2 - point));
        p += 2 - point;
        memcpy(p, digits, (size_t)count);
        return (size_t)(p - ret) + (size_t)count;
    }
    int before = count < point ? count : point;
    memcpy(p, digits, (size_t)before);
    memset(p + before, '0', (size_t)(point - before));
    p += point;
    *p++ = '.';
    if (count <= point) {
        *p++ = '0';
        return (size_t)(p - ret);
    }
    memcpy(p, digits + point, (size_t)(count - point));
    return (size_t)(p - ret) + (size_t)(count - point);
}

static size_t put(char *ret, const char *text)
{
    size_t bytes = strlen(text);
    memcpy(ret, text, bytes);
    return bytes;
}

/* `fraction` without the implicit bit and the biased exponent, of a format with these many fraction bits. */
static size_t print_float(bool negative, uint64_t fraction, int exponent, int fraction_bits, int bias,
                          char *ret)
{
    if (exponent == 2 * bias + 1) {
        if (fraction != 0)
            return put(ret, "nan");
        return put(ret, negative ? "-inf" : "inf");
    }
    char *p = ret;
    if (negative)
        *p++ = '-';
    if (exponent == 0 && fraction == 0)
        return (size_t)(p - ret) + put(p, "0.0");
    uint64_t implicit = UINT64_C(1) << fraction_bits;
    uint64_t c = exponent == 0 ? fraction : fraction | implicit;
    int q = (exponent == 0 ? 1 : exponent) - bias - fraction_bits;
    digits_of number;
    if (q <= 0 && q >= -fraction_bits && (c & ((UINT64_C(1) << -q) - 1)) == 0)
        number = (digits_of){c >> -q, 0}; /* an integer below 2^53 */
    else
        number = shortest(c, q, fraction == 0 && exponent > 1);
    strip_zeros(&number);
    return (size_t)(p - ret) + layout(number, p);
}

size_t hac_print_f64(double value, char *ret)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return print_float(bits >> 63, bits & ((UINT64_C(1) << 52) - 1), (int)(bits >> 52 & 0x7ff), 52, 1023,
                       ret);
}

size_t hac_print_f32(float value, char *ret)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return print_float(bits >> 31, bits & ((1u << 23) - 1), (int)(bits >> 23 & 0xff), 23, 127, ret);
}
