/* SPDX-License-Identifier: Apache-2.0 */
#include "patterns.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static double unit(uint64_t *state)
{
    return (double)(next(state) >> 11) * 0x1p-53;
}

/* Rank of a Zipf distribution with exponent 1 over 2^20 values, by inverting its continuous form. */
static double zipf(uint64_t *state)
{
    return exp2(20.0 * unit(state));
}

/* A value in [0, 1) for position i of n. */
static double value(const char *pattern, uint64_t i, uint64_t n, uint64_t *state)
{
    double at = (double)i / (double)n;
    if (strcmp(pattern, "sorted") == 0)
        return at;
    if (strcmp(pattern, "reversed") == 0)
        return 1.0 - at - 0x1p-53;
    if (strcmp(pattern, "equal") == 0)
        return 0.5;
    if (strcmp(pattern, "few") == 0)
        return floor(unit(state) * 100) / 100;
    if (strcmp(pattern, "zipf") == 0)
        return floor(zipf(state)) * 0x1p-20;
    if (strcmp(pattern, "skewed") == 0)
        return pow(unit(state), 8);
    if (strcmp(pattern, "nearly") == 0)
        return unit(state) < 0.05 ? unit(state) : at;
    return unit(state);
}

static bool known(const char *pattern)
{
    static const char *const names[] = {"random", "sorted", "reversed", "equal",
                                        "few",    "zipf",   "skewed",   "nearly"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(pattern, names[i]) == 0)
            return true;
    return false;
}

bool bench_fill(const char *pattern, hac_type type, void *keys, uint64_t n, uint64_t seed)
{
    if (!known(pattern))
        return false;
    bool random = strcmp(pattern, "random") == 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits = random ? next(&seed) : 0;
        double v = random ? 0 : value(pattern, i, n, &seed);
        switch (type) {
        case HAC_TYPE_U32:
            ((uint32_t *)keys)[i] = random ? (uint32_t)bits : (uint32_t)(v * 0x1p32);
            break;
        case HAC_TYPE_I32:
            ((int32_t *)keys)[i] = random ? (int32_t)(uint32_t)bits : (int32_t)(v * 0x1p31);
            break;
        case HAC_TYPE_F32:
            ((float *)keys)[i] = random ? (float)((double)(bits >> 11) * 0x1p-53 - 0.5) : (float)v;
            break;
        case HAC_TYPE_U64:
            ((uint64_t *)keys)[i] = random ? bits : (uint64_t)(v * 0x1p63);
            break;
        case HAC_TYPE_I64:
            ((int64_t *)keys)[i] = random ? (int64_t)bits : (int64_t)(v * 0x1p62);
            break;
        case HAC_TYPE_F64:
            ((double *)keys)[i] = random ? (double)(bits >> 11) * 0x1p-53 - 0.5 : v;
            break;
        default:
            return false;
        }
    }
    return true;
}
