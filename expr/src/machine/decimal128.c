/* SPDX-License-Identifier: Apache-2.0 */
#include "decimal128.h"

#include <string.h>

#include "base/value_text.h"
#include "expr/ops.h"
#include "short_types.h"

typedef unsigned __int128 bits128;

i128 hac_power_of_ten(unsigned exponent)
{
    i128 power = 1;
    for (unsigned i = 0; i < exponent; i++)
        power *= 10;
    return power;
}

/* 10^38 */
static const i128 beyond = (i128)10000000000000000000u * 10000000000000000000u;

static bool exists(i128 value, i128 *ret)
{
    bool fits = value > -beyond && value < beyond;
    *ret = fits ? value : 0;
    return fits;
}

bool hac_add_i128(i128 a, i128 b, i128 *ret)
{
    *ret = 0;
    return !__builtin_add_overflow(a, b, ret) && exists(*ret, ret);
}

bool hac_sub_i128(i128 a, i128 b, i128 *ret)
{
    *ret = 0;
    return !__builtin_sub_overflow(a, b, ret) && exists(*ret, ret);
}

static bits128 magnitude(i128 value)
{
    return value < 0 ? 0 - (bits128)value : (bits128)value;
}

/* __builtin_mul_overflow on 128 bits needs a function that is in clang's runtime, but not in gcc's. */
bool hac_mul_i128(i128 a, i128 b, i128 *ret)
{
    bits128 x = magnitude(a), y = magnitude(b);
    uint64_t x_high = (uint64_t)(x >> 64), y_high = (uint64_t)(y >> 64);
    *ret = 0;
    if (x_high != 0 && y_high != 0)
        return false;
    bits128 low = (bits128)(uint64_t)x * (uint64_t)y;
    bits128 cross = (bits128)x_high * (uint64_t)y + (bits128)y_high * (uint64_t)x;
    bits128 product;
    if (cross >> 64 != 0 || __builtin_add_overflow(cross << 64, low, &product) || product >= (bits128)beyond)
        return false;
    *ret = (a < 0) != (b < 0) ? -(i128)product : (i128)product;
    return true;
}

i128 hac_scale_down_i128(i128 a, unsigned digits)
{
    if (digits == 0)
        return a;
    bits128 power = (bits128)hac_power_of_ten(digits), value = magnitude(a);
    bits128 quotient = value / power;
    quotient += value % power >= power / 2;
    return a < 0 ? (i128)(0 - quotient) : (i128)quotient;
}

double hac_decimal_to_f64(i128 a, unsigned digits)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const i128 exact = (i128)1 << 53;
    if (digits < sizeof powers / sizeof *powers && a >= -exact && a <= exact)
        return (double)a / powers[digits];
    char text[HAC_PRINT_MAX + 8];
    double value = 0;
    size_t bytes = hac_print_decimal(a, digits, text);
    if (hac_parse_f64(text, bytes, &value) != HAC_TEXT_OK) /* it cannot be out of range */
        value = 0;
    return value;
}

/* 192 bits, lowest limb first. */
typedef struct triple {
    uint64_t limb[3];
} triple;

static triple multiply_wide(bits128 a, uint64_t b)
{
    bits128 low = (bits128)(uint64_t)a * b, high = (bits128)(uint64_t)(a >> 64) * b + (low >> 64);
    return (triple){{(uint64_t)low, (uint64_t)high, (uint64_t)(high >> 64)}};
}

static uint64_t limb_at(const triple *t, unsigned i)
{
    return i < 3 ? t->limb[i] : 0;
}

/* t ÷ 2^bits, rounded half away from zero. False: the result has more than 128 bits. */
static bool shift_down(const triple *t, unsigned bits, bits128 *ret)
{
    unsigned first = bits / 64, shift = bits % 64;
    uint64_t part[3];
    for (unsigned i = 0; i < 3; i++)
        part[i] =
            limb_at(t, first + i) >> shift | (shift == 0 ? 0 : limb_at(t, first + i + 1) << (64 - shift));
    unsigned half = bits - 1;
    bits128 value = (bits128)part[1] << 64 | part[0];
    uint64_t up = bits == 0 ? 0 : limb_at(t, half / 64) >> half % 64 & 1;
    return part[2] == 0 && !__builtin_add_overflow(value, (bits128)up, ret);
}

bool hac_decimal_from_f64(double value, unsigned digits, i128 *ret)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    *ret = 0;
    if (exponent == 0x7ff)
        return false;
    if (exponent > 0)
        fraction |= UINT64_C(1) << 52;
    exponent = (exponent > 0 ? exponent : 1) - 1075; /* value = fraction × 2^exponent */
    triple product = multiply_wide((bits128)hac_power_of_ten(digits), fraction);
    bits128 result;
    if (exponent > 0) {
        if (exponent > 127 || product.limb[2] != 0)
            return fraction == 0;
        result = (bits128)product.limb[1] << 64 | product.limb[0];
        if (result >> (127 - exponent) != 0)
            return false;
        result <<= exponent;
    } else if (!shift_down(&product, (unsigned)-exponent, &result)) {
        return false;
    }
    if (result >= (bits128)beyond)
        return false;
    *ret = (bits >> 63) != 0 ? -(i128)result : (i128)result;
    return true;
}

/* ---- the calendar -------------------------------------------------------------------------------------- */

/* Monday is 0; 1970-01-01 was a Thursday. */
static int64_t weekday(int64_t days)
{
    int64_t at = (days + 3) % 7;
    return at < 0 ? at + 7 : at;
}

/* ISO 8601: a week belongs to the year of its Thursday. */
static int64_t iso_week(int64_t days)
{
    int64_t year, thursday = days - weekday(days) + 3;
    unsigned month, day;
    hac_civil_from_days(thursday, &year, &month, &day);
    return (thursday - hac_days_from_civil(year, 1, 1)) / 7 + 1;
}

int64_t hac_date_part(int64_t days, unsigned unit)
{
    int64_t year;
    unsigned month, day;
    days = (int32_t)days;
    hac_civil_from_days(days, &year, &month, &day);
    switch (unit) {
    case HAC_UNIT_YEAR:
        return year;
    case HAC_UNIT_QUARTER:
        return (month + 2) / 3;
    case HAC_UNIT_MONTH:
        return month;
    case HAC_UNIT_WEEK:
        return iso_week(days);
    case HAC_UNIT_DAY:
        return day;
    case HAC_UNIT_DAY_OF_WEEK:
        return weekday(days) + 1;
    default:
        return days - hac_days_from_civil(year, 1, 1) + 1;
    }
}

int64_t hac_date_trunc(int64_t days, unsigned unit)
{
    int64_t year;
    unsigned month, day;
    days = (int32_t)days;
    hac_civil_from_days(days, &year, &month, &day);
    switch (unit) {
    case HAC_UNIT_YEAR:
        return hac_days_from_civil(year, 1, 1);
    case HAC_UNIT_QUARTER:
        return hac_days_from_civil(year, (month - 1) / 3 * 3 + 1, 1);
    case HAC_UNIT_MONTH:
        return hac_days_from_civil(year, month, 1);
    default:
        return days - weekday(days);
    }
}

static unsigned days_of_month(int64_t year, unsigned month)
{
    int64_t next =
        month == 12 ? hac_days_from_civil(year + 1, 1, 1) : hac_days_from_civil(year, month + 1, 1);
    return (unsigned)(next - hac_days_from_civil(year, month, 1));
}

bool hac_add_months(int64_t days, int64_t months, int64_t *ret)
{
    int64_t year;
    unsigned month, day;
    const int64_t max = INT64_C(12) * 12000000; /* 32 bits of days are 11.8 million years */
    *ret = 0;
    if (months < -max || months > max)
        return false;
    hac_civil_from_days((int32_t)days, &year, &month, &day);
    int64_t total = year * 12 + (int64_t)month - 1 + months;
    int64_t new_year = total / 12, new_month = total % 12;
    if (new_month < 0) {
        new_month += 12;
        new_year--;
    }
    unsigned last = days_of_month(new_year, (unsigned)new_month + 1);
    int64_t result = hac_days_from_civil(new_year, (unsigned)new_month + 1, day < last ? day : last);
    if (result < INT32_MIN || result > INT32_MAX)
        return false;
    *ret = result;
    return true;
}
