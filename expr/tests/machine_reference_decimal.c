/* SPDX-License-Identifier: Apache-2.0 */
/* The decimals of the reference: digit by digit, as on paper. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine_reference.h"

typedef __int128 i128;

static i128 ten_to(unsigned k)
{
    i128 p = 1;
    while (k-- > 0)
        p *= 10;
    return p;
}

static void put_i64(ref_value *ret, i128 value, uint8_t otherwise)
{
    if (value < INT64_MIN || value > INT64_MAX)
        ret->state = otherwise;
    else
        ret->i64 = (int64_t)value;
}

#define DIGITS 400

/* The decimal digits of a magnitude, least significant first. */
typedef struct digits {
    unsigned char d[DIGITS];
} digits;

static digits to_digits(i128 value)
{
    digits r = {{0}};
    unsigned __int128 m = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
    for (int i = 0; m > 0; i++, m /= 10)
        r.d[i] = (unsigned char)(m % 10);
    return r;
}

/* False: the number has more than 38 digits. */
static bool from_digits(const digits *x, bool negative, i128 *ret)
{
    i128 value = 0;
    for (int i = DIGITS - 1; i >= 38; i--)
        if (x->d[i] != 0)
            return false;
    for (int i = 37; i >= 0; i--)
        value = value * 10 + x->d[i];
    *ret = negative ? -value : value;
    return true;
}

static digits times(const digits *x, const digits *y)
{
    unsigned sum[DIGITS] = {0};
    digits r;
    for (int i = 0; i < 80; i++)
        for (int j = 0; j < 80; j++)
            sum[i + j] += (unsigned)x->d[i] * y->d[j];
    for (int i = 0; i + 1 < DIGITS; i++) {
        sum[i + 1] += sum[i] / 10;
        r.d[i] = (unsigned char)(sum[i] % 10);
    }
    r.d[DIGITS - 1] = 0;
    return r;
}

static digits shift_digits(const digits *x, int by)
{
    digits r = {{0}};
    for (int i = 0; i < DIGITS; i++)
        if (i + by >= 0 && i + by < DIGITS)
            r.d[i + by] = x->d[i];
    return r;
}

static void add_one(digits *x)
{
    for (int i = 0; i < DIGITS && ++x->d[i] == 10; i++)
        x->d[i] = 0;
}

static i128 round_digits(i128 value, unsigned k)
{
    digits x = to_digits(value), r = shift_digits(&x, -(int)k);
    i128 result = 0;
    if (k > 0 && x.d[k - 1] >= 5)
        add_one(&r);
    if (!from_digits(&r, value < 0, &result))
        abort();
    return result;
}

/* The exact decimal expansion of a double, by printf. */
static void decimal_of(double value, unsigned k, ref_value *ret)
{
    char text[1600];
    if (isnan(value) || isinf(value) || fabs(value) >= 1e40) {
        ret->state = HAC_ROW_RANGE;
        return;
    }
    snprintf(text, sizeof text, "%.1100f", fabs(value));
    char *point = strchr(text, '.');
    char whole[200];
    snprintf(whole, sizeof whole, "%.*s%.*s", (int)(point - text), text, (int)k, point + 1);
    digits x = {{0}};
    size_t n = strlen(whole);
    for (size_t i = 0; i < n; i++)
        x.d[i] = (unsigned char)(whole[n - 1 - i] - '0');
    if (point[1 + k] >= '5')
        add_one(&x);
    if (!from_digits(&x, signbit(value), &ret->i128))
        ret->state = HAC_ROW_RANGE;
}

static void put_product(const digits *x, const digits *y, bool negative, ref_value *ret)
{
    digits product = times(x, y);
    if (!from_digits(&product, negative, &ret->i128))
        ret->state = HAC_ROW_OVERFLOW;
}

static void put_i128(ref_value *ret, i128 value)
{
    if (value <= -ten_to(38) || value >= ten_to(38))
        ret->state = HAC_ROW_OVERFLOW;
    else
        ret->i128 = value;
}

void reference_decimal_text(i128 value, unsigned scale, char *ret)
{
    digits x = to_digits(value);
    int top = 39;
    while (top > (int)scale && x.d[top] == 0)
        top--;
    if (value < 0)
        *ret++ = '-';
    for (int i = top; i >= 0; i--) {
        *ret++ = (char)('0' + x.d[i]);
        if (i == (int)scale && i > 0)
            *ret++ = '.';
    }
    *ret = '\0';
}

bool reference_decimals(const hac_instruction *at, const ref_value *a, const ref_value *b, ref_value *ret)
{
    digits x = to_digits(a->i128), y = to_digits(b->i128), one = to_digits(1);
    char text[80];
    switch (at->op) {
    case HAC_OP_ADD_I128:
    case HAC_OP_SUB_I128: { /* the values of the test have at most 38 digits, so halves cannot overflow */
        i128 other = at->op == HAC_OP_ADD_I128 ? b->i128 : -b->i128;
        i128 half = a->i128 / 2 + other / 2;
        if (half > ten_to(38) / 2 + 1 || half < -ten_to(38) / 2 - 1)
            ret->state = HAC_ROW_OVERFLOW;
        else
            put_i128(ret, a->i128 + other);
        return true;
    }
    case HAC_OP_MUL_I128:
        put_product(&x, &y, (a->i128 < 0) != (b->i128 < 0), ret);
        return true;
    case HAC_OP_NEG_I128:
        ret->i128 = -a->i128;
        return true;
    case HAC_OP_ABS_I128:
        ret->i128 = a->i128 < 0 ? -a->i128 : a->i128;
        return true;
    case HAC_OP_SCALE_UP_I128:
        one = shift_digits(&one, at->k);
        put_product(&x, &one, a->i128 < 0, ret);
        return true;
    case HAC_OP_SCALE_DOWN_I128:
        ret->i128 = round_digits(a->i128, at->k);
        return true;
    case HAC_OP_SCALE_UP_I64:
        x = to_digits(a->i64);
        one = shift_digits(&one, at->k);
        put_product(&x, &one, a->i64 < 0, ret);
        if (ret->state == HAC_ROW_OK)
            put_i64(ret, ret->i128, HAC_ROW_OVERFLOW);
        return true;
    case HAC_OP_SCALE_DOWN_I64:
        ret->i64 = (int64_t)round_digits(a->i64, at->k);
        return true;
    case HAC_OP_DECIMAL_TO_F64:
        reference_decimal_text(a->i128, at->k, text);
        ret->f64 = strtod(text, NULL);
        return true;
    case HAC_OP_F64_TO_DECIMAL:
        decimal_of(a->f64, at->k, ret);
        return true;
    case HAC_OP_I64_TO_I128:
        ret->i128 = a->i64;
        return true;
    case HAC_OP_U64_TO_I128:
        ret->i128 = a->u64;
        return true;
    case HAC_OP_I128_TO_I64:
        put_i64(ret, a->i128, HAC_ROW_RANGE);
        return true;
    default:
        return false;
    }
}
