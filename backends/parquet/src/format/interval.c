/* SPDX-License-Identifier: Apache-2.0 */
#include "interval.h"

#include <math.h>
#include <string.h>

#include "sizes.h"

#define EPOCH_JULIAN_DAY 2440588

/* ---- stored values ----------------------------------------------------------------------------------------
 */

static uint64_t load_little(const uint8_t *data, size_t bytes)
{
    uint64_t ret = 0;
    for (size_t i = bytes; i-- > 0;)
        ret = ret << 8 | data[i];
    return ret;
}

static double half_to_double(uint16_t half)
{
    int exponent = half >> 10 & 0x1f;
    double fraction = half & 0x3ff;
    double magnitude = exponent == 31  ? (fraction == 0 ? (double)INFINITY : (double)NAN)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(fraction + 1024, exponent - 25);
    return half >> 15 != 0 ? -magnitude : magnitude;
}

static double load_float(const hac_parquet_leaf *leaf, hac_parquet_slice stored)
{
    if (leaf->conversion == HAC_PARQUET_HALF)
        return half_to_double((uint16_t)load_little(stored.data, 2));
    if (leaf->physical == HAC_PARQUET_FLOAT) {
        float value;
        memcpy(&value, stored.data, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, stored.data, sizeof value);
    return value;
}

/* Reads a two's complement number of any length. False: more than 128 bits. */
static bool load_big_endian(hac_parquet_slice stored, __int128 *ret)
{
    if (stored.bytes == 0)
        return false;
    uint8_t sign = stored.data[0] >= 0x80 ? 0xff : 0;
    unsigned __int128 value = sign == 0 ? 0 : ~(unsigned __int128)0;
    for (uint32_t i = 0; i < stored.bytes; i++) {
        uint8_t lost = (uint8_t)(value >> 120);
        value = value << 8 | stored.data[i];
        if (lost != sign || (uint8_t)(value >> 127) != (sign & 1))
            return false;
    }
    *ret = (__int128)value;
    return true;
}

/* Nanoseconds as the next whole microseconds that are not inside of the bound. */
static __int128 whole_micros(__int128 nanos, bool is_max)
{
    __int128 rest = nanos % 1000;
    return nanos / 1000 + (is_max ? rest > 0 : -(rest < 0));
}

/* Converts a bound like the values themselves. */
static bool load_integer(const hac_parquet_leaf *leaf, hac_parquet_slice stored, bool is_max, __int128 *ret)
{
    if (leaf->conversion == HAC_PARQUET_BIG_ENDIAN)
        return load_big_endian(stored, ret);
    uint64_t bits = load_little(stored.data, stored.bytes > 8 ? 8 : stored.bytes);
    __int128 value = stored.bytes == 4 ? (int32_t)bits : (int64_t)bits;
    switch (leaf->conversion) {
    case HAC_PARQUET_UNSIGNED:
        value = bits;
        break;
    case HAC_PARQUET_MILLIS:
        value *= 1000;
        break;
    case HAC_PARQUET_NANOS:
        value = whole_micros(value, is_max);
        break;
    case HAC_PARQUET_INT96_TIME:
        if (bits >= (uint64_t)HAC_US_PER_DAY * 1000) /* outside the day: the order says nothing about it */
            return false;
        value = whole_micros(bits, is_max);
        value += ((__int128)(int32_t)load_little(stored.data + 8, 4) - EPOCH_JULIAN_DAY) * HAC_US_PER_DAY;
        break;
    default:
        break;
    }
    *ret = value;
    return true;
}

static __int128 power_of_ten(unsigned digits)
{
    __int128 ret = 1;
    while (digits-- > 0)
        ret *= 10;
    return ret;
}

/* Whether the integer is a value of the type. */
static bool type_has(hac_value_type type, __int128 value)
{
    if (type.kind == HAC_KIND_DECIMAL)
        return value < power_of_ten(type.precision) && value > -power_of_ten(type.precision);
    __int128 end = (__int128)1 << hac_kinds[type.kind].bits;
    return value < end && value >= (hac_kinds[type.kind].is_signed ? -end : 0);
}

static bool load(const hac_parquet_leaf *leaf, hac_repr repr, hac_parquet_slice stored, bool is_max,
                 hac_parquet_scalar *ret)
{
    size_t width =
        leaf->physical == HAC_PARQUET_BOOLEAN ? 1 : hac_parquet_width(leaf->physical, leaf->type_length);
    if (width != 0 && stored.bytes != width)
        return false;
    switch (repr) {
    case HAC_REPR_F32:
    case HAC_REPR_F64:
        ret->number = load_float(leaf, stored);
        return !isnan(ret->number);
    case HAC_REPR_STRING:
        ret->bytes = stored;
        return true;
    case HAC_REPR_BOOL:
        ret->integer = stored.data[0];
        return type_has(leaf->type, ret->integer);
    case HAC_REPR_I64:
    case HAC_REPR_U64:
    case HAC_REPR_I128:
        return load_integer(leaf, stored, is_max, &ret->integer) && type_has(leaf->type, ret->integer);
    default:
        return false;
    }
}

/* ---- comparisons ------------------------------------------------------------------------------------------
 */

static int compare_bytes(hac_parquet_slice a, hac_parquet_slice b)
{
    uint32_t common = a.bytes < b.bytes ? a.bytes : b.bytes;
    int ret = common == 0 ? 0 : memcmp(a.data, b.data, common);
    return ret != 0 ? ret : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

/* There are no NaNs here. */
int hac_parquet_scalar_compare(uint8_t repr, const hac_parquet_scalar *a, const hac_parquet_scalar *b)
{
    if (repr == HAC_REPR_F32 || repr == HAC_REPR_F64)
        return (a->number > b->number) - (a->number < b->number);
    if (repr == HAC_REPR_STRING)
        return compare_bytes(a->bytes, b->bytes);
    return (a->integer > b->integer) - (a->integer < b->integer);
}

bool hac_parquet_scalar_constant(uint8_t repr, const hac_parquet_scalar *value, hac_constant *ret,
                                 const uint8_t **ret_bytes)
{
    hac_constant c = {.repr = repr};
    float f32 = (float)value->number;
    switch (repr) {
    case HAC_REPR_F32:
        memcpy(&c.low, &f32, sizeof f32);
        break;
    case HAC_REPR_F64:
        memcpy(&c.low, &value->number, sizeof c.low);
        break;
    case HAC_REPR_STRING:
        c.high = value->bytes.bytes;
        *ret_bytes = value->bytes.data;
        break;
    case HAC_REPR_BOOL:
    case HAC_REPR_I64:
    case HAC_REPR_U64:
        c.low = (uint64_t)value->integer;
        break;
    case HAC_REPR_I128:
        c.low = (uint64_t)value->integer;
        c.high = (uint64_t)((unsigned __int128)value->integer >> 64);
        break;
    default:
        return false;
    }
    *ret = c;
    return true;
}

bool hac_parquet_interval_of(const hac_parquet_leaf *leaf, hac_parquet_slice min, hac_parquet_slice max,
                             hac_parquet_interval *ret)
{
    *ret = (hac_parquet_interval){.repr = (uint8_t)hac_repr_of(leaf->type)};
    bool good = true;
    if (min.data != NULL)
        good = ret->has_min = load(leaf, ret->repr, min, false, &ret->min);
    if (good && max.data != NULL)
        good = ret->has_max = load(leaf, ret->repr, max, true, &ret->max);
    if (good && ret->has_min && ret->has_max)
        good = hac_parquet_scalar_compare(ret->repr, &ret->min, &ret->max) <= 0;
    if (leaf->small_bits != 0 && !(ret->has_min && ret->has_max))
        good = false; /* the other one may be a value with its highest bit repeated, in either order */
    if (!good)
        ret->has_min = ret->has_max = false;
    return good;
}

/* ---- bounds -----------------------------------------------------------------------------------------------
 */

/* Reads the bound's constant. False: NaN, or another representation. */
static bool load_constant(const hac_bound *bound, const hac_constant *constant, hac_parquet_scalar *ret)
{
    if (constant->repr != bound->repr)
        return false;
    float single;
    uint32_t single_bits = (uint32_t)constant->low;
    switch (constant->repr) {
    case HAC_REPR_F32:
        memcpy(&single, &single_bits, sizeof single);
        ret->number = (double)single;
        return !isnan(single);
    case HAC_REPR_F64:
        memcpy(&ret->number, &constant->low, sizeof ret->number);
        return !isnan(ret->number);
    case HAC_REPR_STRING:
        ret->bytes = (hac_parquet_slice){bound->bytes + constant->low, (uint32_t)constant->high};
        return true;
    case HAC_REPR_I64:
        ret->integer = (int64_t)constant->low;
        return true;
    case HAC_REPR_BOOL:
    case HAC_REPR_U64:
        ret->integer = constant->low;
        return true;
    case HAC_REPR_I128:
        ret->integer = (__int128)((unsigned __int128)constant->high << 64 | constant->low);
        return true;
    default:
        return false;
    }
}

static bool below(const hac_parquet_interval *i, const hac_parquet_scalar *value, bool or_equal)
{
    return i->has_max && hac_parquet_scalar_compare(i->repr, &i->max, value) < (or_equal ? 1 : 0);
}

static bool above(const hac_parquet_interval *i, const hac_parquet_scalar *value, bool or_equal)
{
    return i->has_min && hac_parquet_scalar_compare(i->repr, &i->min, value) > (or_equal ? -1 : 0);
}

/* NaN is above all numbers, and not within the interval */
static bool excludes_value(const hac_parquet_interval *i, bool no_nans, uint8_t comparison,
                           const hac_parquet_scalar *value)
{
    switch (comparison) {
    case HAC_COMPARE_EQ:
    case HAC_COMPARE_IN:
        return below(i, value, false) || above(i, value, false);
    case HAC_COMPARE_NE: /* the interval has only that value */
        return no_nans && below(i, value, true) && above(i, value, true);
    case HAC_COMPARE_LT:
        return above(i, value, true);
    case HAC_COMPARE_LE:
        return above(i, value, false);
    case HAC_COMPARE_GT:
        return no_nans && below(i, value, true);
    case HAC_COMPARE_GE:
        return no_nans && below(i, value, false);
    default:
        return false;
    }
}

/* For values, without nulls. */
static bool excludes_values(const hac_parquet_interval *interval, bool no_nans, const hac_bound *bound)
{
    if (bound->repr != interval->repr)
        return false;
    for (size_t i = 0; i < bound->n_values; i++) {
        hac_parquet_scalar value = {.integer = 0};
        if (!load_constant(bound, &bound->values[i], &value) ||
            !excludes_value(interval, no_nans, bound->comparison, &value))
            return false;
    }
    return bound->n_values > 0 || bound->comparison == HAC_COMPARE_IN;
}

bool hac_parquet_excludes(const hac_parquet_interval *interval, const hac_parquet_counts *counts,
                          const hac_bound *bound, bool nulls_too)
{
    if (bound->comparison == HAC_COMPARE_NULL)
        return counts->nulls == 0;
    if (bound->comparison == HAC_COMPARE_NONE || bound->comparison > HAC_COMPARE_NOT_NULL ||
        (counts->nulls != 0 && !nulls_too))
        return false;
    /* If there are bounds, there are values: a number of nulls that leaves no value is wrong. */
    if (counts->nulls == counts->rows && !interval->has_min && !interval->has_max)
        return true;
    bool is_float = interval->repr == HAC_REPR_F32 || interval->repr == HAC_REPR_F64;
    return bound->comparison != HAC_COMPARE_NOT_NULL &&
           excludes_values(interval, !is_float || counts->nans == 0, bound);
}
