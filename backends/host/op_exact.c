/* SPDX-License-Identifier: Apache-2.0 */
#include "op_exact.h"

#include <math.h>
#include <string.h>

#include "base/exact.h"
#include "host/op_kernels.h"
#include "host/op_parts.h"

_Static_assert(sizeof(hac_op_exact) == HAC_OP_EXACT_COLUMNS * sizeof(uint64_t), "a partial is a sum");

enum {
    INFINITE = 0x7ff, /* exponent of infinities and NaN, in their bits */
    EXPONENT_BIAS = 1023,
    PRODUCT_HIGH = 2 * EXPONENT_BIAS + 1000, /* sums of two exponents up to here do not overflow */
    PRODUCT_LOW = EXPONENT_BIAS + 53         /* … and from here on lose no bits at the lower end */
};

/* ---- one value at a time ---- */

static void add_product(hac_op_exact *sum, uint64_t x, uint64_t y, int exponent, bool negative)
{
    int64_t digits[HAC_EXACT_SPLIT_MAX];
    unsigned first, n = hac_exact_split(x, y, exponent, negative, &first, digits);
    for (unsigned i = 0; i < n; i++)
        sum->digits[first + i] += digits[i];
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Counts a value that is not finite. */
static void count_infinite(hac_op_exact *sum, double x)
{
    sum->nans += x != x;
    sum->infinite += x == x;
    sum->negative += x < 0;
}

static void add_value(double x, hac_op_exact *sum)
{
    uint64_t bits = bits_of(x);
    if (!hac_exact_finite(bits))
        count_infinite(sum, x);
    else
        add_product(sum, hac_exact_mantissa(bits), 1, hac_exact_exponent(bits), hac_exact_sign(bits) != 0);
}

static void add_product_of(double x, double y, hac_op_exact *sum)
{
    uint64_t a = bits_of(x), b = bits_of(y);
    if (!hac_exact_finite(a) || !hac_exact_finite(b))
        count_infinite(sum, x * y);
    else
        add_product(sum, hac_exact_mantissa(a), hac_exact_mantissa(b),
                    hac_exact_exponent(a) + hac_exact_exponent(b),
                    (hac_exact_sign(a) ^ hac_exact_sign(b)) != 0);
}

/* ---- many values ---- */

/* Adds up to HAC_OP_EXACT_ROWS values. Each pass takes the upper 128 bits of the range of exponents; the rest
 * is smaller. `rest` is memory for as many values. */
static void add_part(const double *x, size_t n, bool magnitude, double *rest, hac_op_exact *sum)
{
    const hac_op_kernels *kernels = hac_op_kernels_best();
    double sums[HAC_OP_EXACT_LEVELS];
    bool more = true;
    while (more) {
        unsigned low, high;
        kernels->exponents(x, n, &low, &high);
        int exponent = (int)(high > 0 ? high : 1) - EXPONENT_BIAS + 1;
        if (high == INFINITE || exponent > HAC_OP_EXACT_EXPONENT) {
            for (size_t i = 0; i < n; i++)
                add_value(magnitude ? fabs(x[i]) : x[i], sum);
            return;
        }
        more = kernels->sums(x, n, magnitude, exponent, rest, sums);
        for (size_t k = 0; k < HAC_OP_EXACT_LEVELS; k++)
            add_value(sums[k], sum);
        x = rest;
        magnitude = false; /* the rest may be negative where the value was rounded up */
    }
}

static void add_values(const double *x, size_t n, bool magnitude, hac_op_exact *sum)
{
    double rest[HAC_OP_EXACT_ROWS];
    for (size_t at = 0; at < n; at += HAC_OP_EXACT_ROWS)
        add_part(x + at, n - at < HAC_OP_EXACT_ROWS ? n - at : HAC_OP_EXACT_ROWS, magnitude, rest, sum);
}

static void add_products(const double *x, const double *y, size_t n, hac_op_exact *sum)
{
    const hac_op_kernels *kernels = hac_op_kernels_best();
    double product[HAC_OP_EXACT_ROWS], rest[HAC_OP_EXACT_ROWS];
    for (size_t at = 0; at < n; at += HAC_OP_EXACT_ROWS) {
        size_t rows = n - at < HAC_OP_EXACT_ROWS ? n - at : HAC_OP_EXACT_ROWS;
        unsigned x_low, x_high, y_low, y_high;
        kernels->exponents(x + at, rows, &x_low, &x_high);
        kernels->exponents(y + at, rows, &y_low, &y_high);
        if (x_high == INFINITE || y_high == INFINITE || x_high + y_high > PRODUCT_HIGH ||
            x_low + y_low < PRODUCT_LOW) {
            for (size_t i = at; i < at + rows; i++)
                add_product_of(x[i], y[i], sum);
            continue;
        }
        kernels->products(x + at, y + at, rows, product, rest);
        add_part(product, rows, false, product, sum);
        add_part(rest, rows, false, rest, sum);
    }
}

void hac_op_exact_add(unsigned function, const double *x, const double *y, size_t n, hac_op_exact *sum)
{
    if (function == HAC_OP_EXACT_SUM || function == HAC_OP_EXACT_MAGNITUDE)
        add_values(x, n, function == HAC_OP_EXACT_MAGNITUDE, sum);
    else
        add_products(x, function == HAC_OP_EXACT_PRODUCTS ? y : x, n, sum);
}

/* ---- sums ---- */

void hac_op_exact_carry(hac_op_exact *sum)
{
    int64_t carry = 0;
    for (size_t i = 0; i + 1 < HAC_EXACT_DIGITS; i++) {
        uint64_t digit = (uint64_t)sum->digits[i] + (uint64_t)carry;
        sum->digits[i] = (int64_t)(uint32_t)digit;
        carry = (int64_t)digit >> 32;
    }
    sum->digits[HAC_EXACT_DIGITS - 1] =
        (int64_t)((uint64_t)sum->digits[HAC_EXACT_DIGITS - 1] + (uint64_t)carry);
}

void hac_op_exact_join(hac_op_exact *sum, const hac_op_exact *other)
{
    for (size_t i = 0; i < HAC_EXACT_DIGITS; i++)
        sum->digits[i] = (int64_t)((uint64_t)sum->digits[i] + (uint64_t)other->digits[i]);
    sum->nans += other->nans;
    sum->infinite += other->infinite;
    sum->negative += other->negative;
}

double hac_op_exact_result(unsigned function, const hac_op_exact *sum)
{
    hac_exact_number number, one;
    if (sum->nans > 0 || (sum->negative > 0 && sum->negative < sum->infinite))
        return (double)NAN;
    if (sum->infinite > 0)
        return sum->negative > 0 ? -(double)INFINITY : (double)INFINITY;
    hac_exact_set_digits(&number, sum->digits);
    if (function != HAC_OP_EXACT_LENGTH)
        return hac_exact_round(&number);
    number.negative = false; /* of partials from outside */
    hac_exact_set_u64(&one, 1);
    return hac_exact_root(&number, &one);
}
