/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floats from text, correctly rounded. Three ways, each taken when the one before cannot be sure:
 *
 *   both the digits and the power of ten are exact doubles: one multiplication or division (Clinger)
 *   the digits times a 128-bit power of ten: 126 bits of the product are certain (as Eisel and Lemire do)
 *   the digits against the middle between the two candidates, with whole numbers of any size
 */
#include <string.h>

#include "base/short_number.h"
#include "base/value_text.h"
#include "exponent.h"
#include "powers_of_ten.h"
#include "uint128.h"

/* The bits below the implicit one, the exponent of the smallest number, and the bits of infinity. */
typedef struct float_format {
    unsigned fraction_bits;
    int lowest;
    uint64_t infinity;
} float_format;

static const float_format format_f64 = {52, -1074, UINT64_C(0x7ff) << 52};
static const float_format format_f32 = {23, -149, UINT64_C(0xff) << 23};

/* The number as it is written: digits × 10^exponent. */
typedef struct decimal_text {
    uint64_t digits; /* the first 19 significant ones */
    int64_t exponent;
    bool negative, cut;                /* cut: there are more digits, and exponent is that of the first 19 */
    const char *significand, *sig_end; /* digits and perhaps a point */
    int64_t last_exponent;             /* of the last digit of all */
} decimal_text;

#define DIGITS_64 19 /* of them any number fits 64 bits */

/* Adds digits to *value, modulo 2^64. */
static const char *take_digits(const char *p, const char *end, uint64_t *value)
{
    for (; end - p >= 8; p += 8) {
        uint64_t eight = hac_eight_characters(p);
        if (hac_not_digits(eight) != 0)
            break;
        *value = *value * HAC_HUNDRED_MILLION + hac_eight_digits(eight);
    }
    for (; p < end && is_digit(*p); p++)
        *value = *value * 10 + (uint64_t)(*p - '0');
    return p;
}

/* More than 19 digits: the first significant ones again, without those that do not fit. */
static void cut_digits(decimal_text *number)
{
    uint64_t value = 0;
    unsigned taken = 0;
    int64_t left = 0;
    for (const char *p = number->significand; p < number->sig_end; p++) {
        if (*p == '.')
            continue;
        if (taken == DIGITS_64) {
            left++;
            continue;
        }
        value = value * 10 + (uint64_t)(*p - '0');
        taken += value != 0;
    }
    number->digits = value;
    number->exponent = number->last_exponent + left;
    number->cut = left > 0;
}

/* False: not a decimal number. */
static bool scan(const char *text, size_t bytes, decimal_text *ret)
{
    const char *p = text, *end = text + bytes;
    *ret = (decimal_text){0};
    if (p < end && (*p == '+' || *p == '-'))
        ret->negative = *p++ == '-';
    ret->significand = p;
    p = take_digits(p, end, &ret->digits);
    int64_t count = p - ret->significand;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = take_digits(p, end, &ret->digits);
        ret->exponent = fraction - p;
        count += p - fraction;
    }
    if (count == 0)
        return false;
    ret->sig_end = p;
    if (p < end) {
        int64_t exponent;
        if ((*p | 0x20) != 'e' || !take_exponent(p + 1, end, &exponent))
            return false;
        ret->exponent += exponent;
    }
    ret->last_exponent = ret->exponent;
    if (count > DIGITS_64)
        cut_digits(ret);
    return true;
}

/* The number lies in [fraction, fraction + 1) units of 2^unit (units of the last place of the result), and
 * `rest` of 2^shift parts of one, or up to `doubt` parts above. */
typedef struct approximation {
    uint64_t fraction;
    int unit;
    hac_u128 rest, doubt;
    unsigned shift;
    bool tiny, known; /* tiny: below half of the smallest number, fraction 0; known: rest and shift are set */
    bool exact;       /* rest is exact, but for a part that is not zero if `above` */
    bool above;
} approximation;

/* digits × 10^power, digits > 0. */
static approximation approximate(const float_format *format, uint64_t digits, int64_t power)
{
    approximation a = {.tiny = power < HAC_POWER_FIRST, .unit = format->lowest};
    if (a.tiny)
        return a;
    int zeros = __builtin_clzll(digits);
    const hac_power *p = &hac_powers_of_ten[power - HAC_POWER_FIRST];
    hac_u128 low = (hac_u128)(digits << zeros) * p->low;
    hac_u128 product = (hac_u128)(digits << zeros) * p->high + (uint64_t)(low >> 64);
    /* the number is product × 2^e, or up to 1 more: the power was rounded down */
    int e = hac_floor_log2_power((int)power) - 63 - zeros;
    int top = (product >> 127 != 0 ? 127 : 126) + e;
    a.unit = top - (int)format->fraction_bits;
    if (a.unit < format->lowest)
        a.unit = format->lowest;
    int shift = a.unit - e;
    a.tiny = shift >= 130;
    a.known = shift < 128;
    if (!a.known)
        return a;
    a.shift = (unsigned)shift;
    a.fraction = (uint64_t)(product >> shift);
    a.rest = product & (((hac_u128)1 << shift) - 1);
    a.exact = power >= 0 && power <= HAC_POWER_EXACT_LAST;
    a.above = a.exact && (uint64_t)low != 0;
    a.doubt = a.exact ? 0 : 2;
    return a;
}

/* Whether to round up, if that is certain. */
static bool round_certain(const approximation *a, bool *ret_up)
{
    if (a->tiny) {
        *ret_up = false;
        return true;
    }
    if (!a->known)
        return false;
    hac_u128 half = (hac_u128)1 << (a->shift - 1);
    if (a->exact && a->rest == half) {
        *ret_up = a->above || (a->fraction & 1) != 0;
        return true;
    }
    *ret_up = a->rest > half;
    return a->exact || ((a->rest + a->doubt < half || a->rest > half) && a->rest + a->doubt < half * 2);
}

/* ---- whole numbers of any size -------------------------------------------------------------------------
 * 768 digits and what follows them as one more decide every case; such a number times 10^308, or the middle
 * of two doubles times 5^(342 + 768), is below 2^3700. */

#define LIMBS          64
#define DIGITS_DECIDED 769

typedef struct whole {
    uint64_t limb[LIMBS];
    int used;
} whole;

static void multiply_add(whole *number, uint64_t factor, uint64_t addend)
{
    hac_u128 carry = addend;
    for (int i = 0; i < number->used; i++) {
        carry += (hac_u128)number->limb[i] * factor;
        number->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    if (carry != 0 && number->used < LIMBS)
        number->limb[number->used++] = (uint64_t)carry;
}

static void multiply_power_of_five(whole *number, int64_t exponent)
{
    for (; exponent >= 27; exponent -= 27)
        multiply_add(number, UINT64_C(7450580596923828125), 0);
    for (; exponent > 0; exponent--)
        multiply_add(number, 5, 0);
}

static void shift_left(whole *number, int64_t bits)
{
    for (; bits >= 63; bits -= 63)
        multiply_add(number, UINT64_C(1) << 63, 0);
    multiply_add(number, UINT64_C(1) << bits, 0);
}

static int compare(const whole *a, const whole *b)
{
    if (a->used != b->used)
        return a->used < b->used ? -1 : 1;
    for (int i = a->used - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* All digits that matter; returns the exponent of ten of the last one. */
static int64_t whole_digits(const decimal_text *number, whole *ret)
{
    int taken = 0;
    int64_t left = 0;
    bool more = false;
    for (const char *p = number->significand; p < number->sig_end; p++) {
        if (*p == '.')
            continue;
        if (taken == DIGITS_DECIDED - 1) {
            left++;
            more |= *p != '0';
            continue;
        }
        multiply_add(ret, 10, (uint64_t)(*p - '0'));
        taken += ret->used > 0;
    }
    if (!more)
        return number->last_exponent + left;
    multiply_add(ret, 10, 1); /* one digit for all that are left */
    return number->last_exponent + left - 1;
}

/* Whether the number is nearer to fraction + 1 than to fraction (units of 2^unit), ties to even. */
static bool round_whole(const decimal_text *number, uint64_t fraction, int unit)
{
    whole left = {.used = 0}, right = {.used = 0};
    int64_t ten = whole_digits(number, &left), two = unit - 1;
    multiply_add(&right, 1, 2 * fraction + 1);
    multiply_power_of_five(ten >= 0 ? &left : &right, ten >= 0 ? ten : -ten);
    /* digits × 5^ten × 2^ten against middle × 2^two */
    int64_t shift = ten - two;
    shift_left(shift >= 0 ? &left : &right, shift >= 0 ? shift : -shift);
    int order = compare(&left, &right);
    return order > 0 || (order == 0 && (fraction & 1) != 0);
}

/* ---- putting it together ------------------------------------------------------------------------------- */

static bool certain(const decimal_text *number, const float_format *format, uint64_t *ret_fraction,
                    int *ret_unit)
{
    bool up, up_next;
    approximation a = approximate(format, number->digits, number->exponent);
    *ret_fraction = a.fraction;
    *ret_unit = a.unit;
    if (!round_certain(&a, &up))
        return false;
    if (number->cut) { /* somewhere between these digits and the next: certain if both say the same */
        approximation next = approximate(format, number->digits + 1, number->exponent);
        if (!round_certain(&next, &up_next) || next.unit != a.unit ||
            next.fraction + up_next != a.fraction + up)
            return false;
    }
    *ret_fraction = a.fraction + up;
    return true;
}

/* The bits without the sign. */
static hac_text_status to_bits(const decimal_text *number, const float_format *format, uint64_t *ret)
{
    *ret = 0;
    if (number->digits == 0)
        return HAC_TEXT_OK;
    if (number->exponent > 308)
        return HAC_TEXT_RANGE;
    uint64_t fraction;
    int unit;
    if (!certain(number, format, &fraction, &unit))
        fraction += round_whole(number, fraction, unit);
    /* The implicit bit, and a carry into a new one, add up with the exponent. */
    *ret = ((uint64_t)(unit - format->lowest) << format->fraction_bits) + fraction;
    return *ret >= format->infinity ? HAC_TEXT_RANGE : HAC_TEXT_OK;
}

static bool matches(const char *text, size_t bytes, const char *word)
{
    size_t length = strlen(word);
    if (bytes != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((text[i] | 0x20) != word[i])
            return false;
    return true;
}

/* inf, infinity, nan. */
static bool special(const char *text, size_t bytes, double *ret)
{
    bool sign = bytes > 0 && (*text == '+' || *text == '-');
    const char *word = text + sign;
    double value;
    if (matches(word, bytes - sign, "inf") || matches(word, bytes - sign, "infinity"))
        value = __builtin_inf();
    else if (matches(word, bytes - sign, "nan"))
        value = __builtin_nan("");
    else
        return false;
    *ret = sign && *text == '-' ? -value : value;
    return true;
}

static const double small_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

hac_text_status hac_parse_f64(const char *text, size_t bytes, double *ret)
{
    decimal_text number;
    if (!scan(text, bytes, &number))
        return special(text, bytes, ret) ? HAC_TEXT_OK : HAC_TEXT_MALFORMED;
    if (number.digits <= UINT64_C(1) << 53 && number.exponent >= -22 && number.exponent <= 22 &&
        !number.cut) {
        double value = (double)number.digits;
        value = number.exponent < 0 ? value / small_powers[-number.exponent]
                                    : value * small_powers[number.exponent];
        *ret = number.negative ? -value : value;
        return HAC_TEXT_OK;
    }
    uint64_t bits;
    hac_text_status status = to_bits(&number, &format_f64, &bits);
    if (status != HAC_TEXT_OK)
        return status;
    bits |= (uint64_t)number.negative << 63;
    memcpy(ret, &bits, sizeof bits);
    return HAC_TEXT_OK;
}

hac_text_status hac_parse_f32(const char *text, size_t bytes, float *ret)
{
    decimal_text number;
    double value;
    if (!scan(text, bytes, &number)) {
        if (!special(text, bytes, &value))
            return HAC_TEXT_MALFORMED;
        *ret = (float)value;
        return HAC_TEXT_OK;
    }
    uint64_t bits;
    hac_text_status status = to_bits(&number, &format_f32, &bits);
    if (status != HAC_TEXT_OK)
        return status;
    uint32_t narrow = (uint32_t)bits | (uint32_t)number.negative << 31;
    memcpy(ret, &narrow, sizeof narrow);
    return HAC_TEXT_OK;
}
