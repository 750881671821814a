/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions of stored values, one value at a time: what the kernels are compared with. */
#ifndef PARQUET_CONVERT_ONE_H
#define PARQUET_CONVERT_ONE_H

#include <string.h>

#include "read/kernels.h"

/* Converts one value with 128-bit arithmetic; false: it is not of the type. */
static bool convert_one(const hac_parquet_rule *r, const uint8_t *from, void *ret)
{
    __int128 v = 0;
    uint32_t word = 0;
    bool big = r->kind == HAC_RULE_BIG_64 || r->kind == HAC_RULE_BIG_128;
    for (uint32_t i = 0; i < r->width && i < 16; i++)
        v |= (__int128)((unsigned __int128)from[big ? r->width - 1 - i : i] << 8 * i);
    uint8_t last = r->width > 0 ? from[big ? 0 : r->width - 1] : 0;
    bool is_signed = r->kind != HAC_RULE_U32;
    bool small = r->kind == HAC_RULE_SMALL_U32 || r->kind == HAC_RULE_SMALL_U64;
    if (r->width < 16 && is_signed && last & 0x80)
        v -= (__int128)((unsigned __int128)1 << 8 * r->width);
    if (r->kind == HAC_RULE_COPY_4) {
        memcpy(ret, from, 4);
        return true;
    }
    if (r->kind == HAC_RULE_FLOAT_64) {
        float f;
        memcpy(&f, from, sizeof f);
        double d = (double)f;
        memcpy(ret, &d, sizeof d);
        return true;
    }
    if (r->kind == HAC_RULE_HALF || r->kind == HAC_RULE_HALF_64) {
        int sign = from[1] >> 7, exponent = from[1] >> 2 & 31, fraction = (from[1] & 3) << 8 | from[0];
        float f = exponent == 31  ? (fraction != 0 ? __builtin_nanf("") : __builtin_inff())
                  : exponent == 0 ? (float)fraction / 16777216.0f
                                  : (float)(1024 + fraction) / 1024.0f * __builtin_powif(2.0f, exponent - 15);
        f = sign ? -f : f;
        double d = (double)f;
        if (r->kind == HAC_RULE_HALF)
            memcpy(ret, &f, sizeof f);
        else
            memcpy(ret, &d, sizeof d);
        return true;
    }
    if (r->kind == HAC_RULE_BIG_128) {
        __int128 limit = 1;
        for (unsigned i = 0; i < r->digits; i++)
            limit *= 10;
        memcpy(ret, &v, sizeof v);
        return v < limit && v > -limit;
    }
    bool fits = true, limited = big || r->kind == HAC_RULE_RANGE_I32 || small ||
                                r->kind == HAC_RULE_RANGE_I64 || r->kind == HAC_RULE_MILLIS;
    v = small ? (int32_t)v : v;
    if (limited)
        fits = v >= r->low && v <= r->high;
    if (r->kind == HAC_RULE_MILLIS)
        v *= 1000;
    v = small ? v & r->high : v;
    if (r->kind == HAC_RULE_NANOS) {
        fits = v % 1000 == 0;
        v /= 1000;
    }
    if (r->kind == HAC_RULE_INT96 || r->kind == HAC_RULE_INT96_NANOS) {
        int64_t nanos;
        memcpy(&nanos, from, sizeof nanos);
        memcpy(&word, from + 8, sizeof word);
        v = ((__int128)(int32_t)word - 2440588) * 86400000000000 + nanos;
        fits = r->kind == HAC_RULE_INT96_NANOS || v % 1000 == 0;
        v /= r->kind == HAC_RULE_INT96 ? 1000 : 1;
        if (r->kind == HAC_RULE_INT96 && v < INT64_MIN && v + (__int128)2440588 * 86400000000 >= INT64_MIN)
            v += (__int128)1 << 64; /* the writer's sum has wrapped around */
        fits = fits && v >= INT64_MIN && v <= INT64_MAX;
    }
    if (r->kind == HAC_RULE_WIDE_32 || r->kind == HAC_RULE_WIDE_64) {
        memcpy(ret, &v, sizeof v);
        return true;
    }
    int64_t short_v = (int64_t)v;
    memcpy(ret, &short_v, sizeof short_v);
    return fits;
}

#endif
