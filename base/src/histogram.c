/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

#include <math.h>
#include <stdlib.h>

#include "base/exact.h"
#include "base/exact_number.h"
#include "uint128.h"

/* What has more digits than any decimal is this, or minus this. */
#define BEYOND ((hac_int128)(~(hac_u128)0 >> 1))

static unsigned scale_of(const hac_constant_number *number)
{
    return number->scale == HAC_CONSTANT_REAL ? 0 : number->scale;
}

static void set_integer(hac_exact_number *x, hac_int128 value)
{
    const uint64_t words[2] = {(uint64_t)value, (uint64_t)(value >> 64)};
    hac_exact_set_window(x, words, 2, 0);
}

/* number · 10^scale, which is at least the number's own scale. */
static void set(hac_exact_number *x, const hac_constant_number *number, unsigned scale)
{
    uint64_t bits;
    memcpy(&bits, &number->real, sizeof bits);
    const uint64_t mantissa[2] = {hac_exact_mantissa(bits), 0};
    if (number->scale == HAC_CONSTANT_REAL) {
        hac_exact_set_window(x, mantissa, 2, hac_exact_exponent(bits));
        x->negative = hac_exact_sign(bits) != 0 && x->n > 0;
    } else {
        set_integer(x, number->digits);
    }
    hac_exact_times_ten(x, scale - scale_of(number));
}

/* ---- constants ---- */

hac_constant_number hac_constant_real(double value)
{
    return (hac_constant_number){.real = value, .scale = HAC_CONSTANT_REAL};
}

hac_constant_number hac_constant_decimal(hac_int128 digits, uint8_t scale)
{
    hac_constant_number number = {.digits = digits, .scale = scale};
    hac_exact_number x, power;
    set(&x, &number, scale);
    hac_exact_set_u64(&power, 1);
    hac_exact_times_ten(&power, scale);
    number.real = hac_exact_quotient(&x, &power);
    return number;
}

bool hac_constant_less(const hac_constant_number *a, const hac_constant_number *b)
{
    unsigned scale = scale_of(a) > scale_of(b) ? scale_of(a) : scale_of(b);
    hac_exact_number x, y, difference;
    set(&x, a, scale);
    set(&y, b, scale);
    hac_exact_difference(&difference, &x, &y);
    return difference.negative;
}

/* ---- buckets ---- */

/* What borders are computed from. */
typedef struct ends {
    hac_exact_number low, high; /* · 10^scale */
    hac_exact_number divisor;   /* k · 10^(scale - the values' own) */
    uint32_t k;
    bool real;           /* values are floats */
    bool is_wide;        /* keys of 128 bits */
    hac_int128 min, max; /* values of integers and decimals */
} ends;

/* The remainder of x for the quotient c. */
static void remainder_of(const hac_exact_number *x, const hac_exact_number *y, hac_int128 c,
                         hac_exact_number *ret)
{
    hac_exact_number factor, product;
    set_integer(&factor, c);
    hac_exact_times(&product, y, &factor);
    hac_exact_difference(ret, x, &product);
}

/* x / y rounded up. Rounded quotients come near to it, remainders decide. */
static hac_int128 ceiling(const hac_exact_number *x, const hac_exact_number *y)
{
    hac_int128 ret = 0;
    for (;;) {
        hac_exact_number rest;
        remainder_of(x, y, ret, &rest);
        double quotient = hac_exact_quotient(&rest, y);
        if (fabs(quotient) >= 1.7e38)
            return quotient < 0 ? -BEYOND : BEYOND;
        ret += (hac_int128)quotient;
        if (fabs(quotient) >= 0x1p52)
            continue;
        remainder_of(x, y, ret, &rest);
        while (rest.n > 0 && !rest.negative)
            remainder_of(x, y, ++ret, &rest);
        remainder_of(x, y, ret - 1, &rest);
        return rest.negative || rest.n == 0 ? ret - 1 : ret;
    }
}

/* (low · (k - i) + high · i) / k: for floats the key of the nearest double, else rounded up. */
static hac_int128 border_at(const ends *e, uint32_t i)
{
    hac_exact_number low = e->low, high = e->high, sum;
    hac_exact_times_u64(&low, e->k - i);
    hac_exact_times_u64(&high, i);
    hac_exact_sum(&sum, &low, &high);
    return e->real ? hac_bucket_key_of_f64(hac_exact_quotient(&sum, &e->divisor))
                   : ceiling(&sum, &e->divisor);
}

static void range_of(hac_value_type type, hac_int128 *ret_min, hac_int128 *ret_max)
{
    bool is_unsigned = type.kind >= HAC_KIND_U8 && type.kind <= HAC_KIND_U64;
    *ret_min = is_unsigned ? 0 : INT64_MIN;
    *ret_max = is_unsigned ? UINT64_MAX : INT64_MAX;
    if (type.kind == HAC_KIND_DECIMAL && type.precision > HAC_DECIMAL_DIGITS_64) {
        *ret_max = BEYOND - 1;
        *ret_min = -*ret_max;
    }
}

/* Sets the borders up to the first that no value reaches. */
static void set_borders(const ends *e, hac_int128 bias, hac_buckets *ret)
{
    for (uint32_t i = 0; i < e->k; i++) {
        hac_int128 border = border_at(e, i);
        if (!e->real && border > e->max)
            break;
        if (!e->real && border < e->min)
            border = e->min;
        if (e->is_wide)
            ret->wide[i] = border;
        else
            ret->border[i] = (int64_t)(border - bias);
        if (i == 0)
            ret->first = border - bias;
        ret->n = i + 1;
    }
}

/* The last value's key: for floats that of the double nearest to `high`, else of `high` rounded down. */
static hac_int128 last_value(const ends *e)
{
    ends mirrored = *e;
    if (e->real)
        return border_at(e, e->k);
    mirrored.high.negative = !e->high.negative && e->high.n > 0;
    return -border_at(&mirrored, e->k);
}

bool hac_buckets_init(const hac_constant_number *low, const hac_constant_number *high, uint32_t k,
                      hac_value_type type, hac_buckets *ret)
{
    ends e = {.k = k,
              .real = hac_kind_is_float((hac_kind)type.kind),
              .is_wide = type.kind == HAC_KIND_DECIMAL && type.precision > HAC_DECIMAL_DIGITS_64};
    unsigned scale = scale_of(low) > scale_of(high) ? scale_of(low) : scale_of(high);
    scale = scale > type.scale ? scale : type.scale;
    set(&e.low, low, scale);
    set(&e.high, high, scale);
    hac_exact_set_u64(&e.divisor, k);
    hac_exact_times_ten(&e.divisor, scale - type.scale);
    range_of(type, &e.min, &e.max);
    *ret = (hac_buckets){
        .first = 1, .half_low = low->real / 2, .per_width = k / (high->real / 2 - low->real / 2)};
    if (e.is_wide)
        ret->wide = aligned_alloc(64, ((size_t)k * sizeof *ret->wide + 63) / 64 * 64);
    else
        ret->border = aligned_alloc(64, ((size_t)k * sizeof *ret->border + 63) / 64 * 64);
    if (ret->wide == NULL && ret->border == NULL)
        return false;
    hac_int128 bias = !e.real && e.min == 0 ? (hac_int128)1 << 63 : 0, last = last_value(&e);
    set_borders(&e, bias, ret);
    if (!e.real)
        last = last > e.max ? e.max : last;
    if (ret->n > 0)
        ret->last = last - bias;
    return true;
}

void hac_buckets_clear(hac_buckets *buckets)
{
    free(buckets->border);
    free(buckets->wide);
    *buckets = (hac_buckets){.border = NULL};
}

static uint64_t guess(const hac_buckets *b, double x)
{
    double quotient = (x / 2 - b->half_low) * b->per_width;
    uint64_t last = b->n - 1;
    return quotient > 0 ? quotient < (double)last ? (uint64_t)quotient : last : 0; /* NaN: 0 */
}

/* The last border that is not above the key is the guess or one beside it, or is searched. */
#define BUCKET_OF(border)                                                                                    \
    {                                                                                                        \
        if (key < b->first || key > b->last)                                                                 \
            return HAC_NO_BUCKET;                                                                            \
        uint64_t low = 0, high = b->n, at = guess(b, x);                                                     \
        if (key < (border)[at]) {                                                                            \
            if (key >= (border)[at - 1])                                                                     \
                return at - 1;                                                                               \
            high = at - 1;                                                                                   \
        } else if (at + 1 == b->n || key < (border)[at + 1]) {                                               \
            return at;                                                                                       \
        } else {                                                                                             \
            low = at + 1;                                                                                    \
        }                                                                                                    \
        while (high - low > 1) {                                                                             \
            uint64_t middle = low + (high - low) / 2;                                                        \
            if (key < (border)[middle])                                                                      \
                high = middle;                                                                               \
            else                                                                                             \
                low = middle;                                                                                \
        }                                                                                                    \
        return low;                                                                                          \
    }

uint64_t hac_bucket_of(const hac_buckets *b, int64_t key, double x){BUCKET_OF(b->border)}

uint64_t hac_bucket_of_wide(const hac_buckets *b, hac_int128 key, double x)
{
    BUCKET_OF(b->wide)
}
