/* SPDX-License-Identifier: Apache-2.0 */
#include "base/value_text.h"

#include <string.h>

#include "base/short_number.h"
#include "base/value.h"
#include "exponent.h"
#include "uint128.h"

/* ---- integers and truth -------------------------------------------------------------------------------- */

/* Digits with a point or an exponent, whose value is a whole number: 1.0, 1e3, 12.50e1. Programs that know
 * only floats write integers so. Out of line: most integers are plain digits. */
__attribute__((noinline)) static hac_text_status parse_whole(const char *p, const char *end, uint64_t *ret)
{
    int64_t exponent = 0;
    const char *e = p;
    while (e < end && (*e | 0x20) != 'e')
        e++;
    if (e < end && !take_exponent(e + 1, end, &exponent))
        return HAC_TEXT_MALFORMED;
    uint64_t value = 0, zeros = 0; /* zeros: read, and not in `value` yet */
    size_t digits = 0;
    bool point = false, overflow = false;
    for (; p < e; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*p))
            return HAC_TEXT_MALFORMED;
        digits++;
        exponent -= point;
        zeros++;
        if (*p == '0')
            continue;
        for (; zeros > 0 && !overflow; zeros--)
            overflow = value != 0 && __builtin_mul_overflow(value, UINT64_C(10), &value);
        overflow |= __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value);
        zeros = 0;
    }
    if (digits == 0 || (value != 0 && exponent + (int64_t)zeros < 0))
        return HAC_TEXT_MALFORMED;
    for (exponent += (int64_t)zeros; value != 0 && exponent > 0 && !overflow; exponent--)
        overflow = __builtin_mul_overflow(value, UINT64_C(10), &value);
    *ret = value;
    return overflow ? HAC_TEXT_RANGE : HAC_TEXT_OK;
}

/* [+-]digits, or what parse_whole takes, as a magnitude; above 64 bits: HAC_TEXT_RANGE. */
static hac_text_status parse_magnitude(const char *text, size_t bytes, bool *ret_negative, uint64_t *ret)
{
    const char *p = text, *end = text + bytes;
    *ret_negative = bytes > 0 && *p == '-';
    if (bytes > 0 && (*p == '-' || *p == '+'))
        p++;
    if (p == end)
        return HAC_TEXT_MALFORMED;
    const char *begin = p;
    uint64_t value = 0;
    bool overflow = false;
    for (; end - p >= 8; p += 8) {
        uint64_t eight = hac_eight_characters(p);
        if (hac_not_digits(eight) != 0)
            return parse_whole(begin, end, ret);
        overflow |= __builtin_mul_overflow(value, HAC_HUNDRED_MILLION, &value);
        overflow |= __builtin_add_overflow(value, hac_eight_digits(eight), &value);
    }
    for (; p < end; p++) {
        if (!is_digit(*p))
            return parse_whole(begin, end, ret);
        overflow |= __builtin_mul_overflow(value, UINT64_C(10), &value);
        overflow |= __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value);
    }
    *ret = value;
    return overflow ? HAC_TEXT_RANGE : HAC_TEXT_OK;
}

hac_text_status hac_parse_i64(const char *text, size_t bytes, int64_t *ret)
{
    bool negative;
    uint64_t value;
    hac_text_status status = parse_magnitude(text, bytes, &negative, &value);
    if (status != HAC_TEXT_OK)
        return status;
    if (value > (uint64_t)INT64_MAX + negative)
        return HAC_TEXT_RANGE;
    *ret = (int64_t)(negative ? 0 - value : value);
    return HAC_TEXT_OK;
}

hac_text_status hac_parse_u64(const char *text, size_t bytes, uint64_t *ret)
{
    bool negative;
    uint64_t value;
    hac_text_status status = parse_magnitude(text, bytes, &negative, &value);
    if (status != HAC_TEXT_OK)
        return status;
    if (negative && value != 0)
        return HAC_TEXT_RANGE;
    *ret = value;
    return HAC_TEXT_OK;
}

hac_text_status hac_parse_bool(const char *text, size_t bytes, bool *ret)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"true", true}, {"false", false}, {"t", true},   {"f", false},
                 {"1", true},    {"0", false},     {"yes", true}, {"no", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t at = 0;
        if (strlen(words[i].word) != bytes)
            continue;
        while (at < bytes &&
               (text[at] >= 'A' && text[at] <= 'Z' ? text[at] | 0x20 : text[at]) == words[i].word[at])
            at++;
        if (at == bytes) {
            *ret = words[i].value;
            return HAC_TEXT_OK;
        }
    }
    return HAC_TEXT_MALFORMED;
}

size_t hac_print_u64(uint64_t value, char *ret)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    char text[20], *p = text + sizeof text;
    for (; value >= 100; value /= 100) {
        p -= 2;
        memcpy(p, pairs + value % 100 * 2, 2);
    }
    if (value >= 10) {
        p -= 2;
        memcpy(p, pairs + value * 2, 2);
    } else {
        *--p = (char)('0' + value);
    }
    size_t bytes = (size_t)(text + sizeof text - p);
    memcpy(ret, p, bytes);
    return bytes;
}

size_t hac_print_i64(int64_t value, char *ret)
{
    if (value >= 0)
        return hac_print_u64((uint64_t)value, ret);
    *ret = '-';
    return 1 + hac_print_u64(0 - (uint64_t)value, ret + 1);
}

/* ---- decimals ------------------------------------------------------------------------------------------ */

static hac_u128 power_of_ten(unsigned exponent)
{
    hac_u128 power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* Where the digits, the point and the exponent of a decimal are. */
typedef struct decimal_parts {
    bool negative;
    const char *begin, *end; /* digits and at most one point */
    int64_t exponent;        /* of the digit in front of the point */
} decimal_parts;

/* Splits; the exponent becomes that of the first digit. */
static bool split_decimal(const char *text, size_t bytes, decimal_parts *ret)
{
    const char *p = text, *end = text + bytes, *point = NULL;
    ret->negative = bytes > 0 && *p == '-';
    if (bytes > 0 && (*p == '-' || *p == '+'))
        p++;
    ret->begin = p;
    for (; p < end && (is_digit(*p) || (*p == '.' && point == NULL)); p++)
        if (*p == '.')
            point = p;
    ret->end = p;
    if (p - ret->begin - (point != NULL) == 0)
        return false;
    ret->exponent = 0;
    if (p < end && ((*p | 0x20) != 'e' || !take_exponent(p + 1, end, &ret->exponent)))
        return false;
    ret->exponent += (point != NULL ? point : ret->end) - ret->begin - 1;
    return true;
}

hac_text_status hac_parse_decimal(const char *text, size_t bytes, unsigned precision, unsigned scale,
                                  __int128 *ret)
{
    decimal_parts parts;
    if (!split_decimal(text, bytes, &parts))
        return HAC_TEXT_MALFORMED;
    hac_u128 value = 0, limit = power_of_ten(precision);
    /* from here on one digit more is out of range, and of 38 digits out of the 128 bits */
    const hac_u128 full = limit / 10;
    int64_t exponent = parts.exponent + scale; /* of the next digit, in units of the result */
    const char *p = parts.begin;
    for (; p < parts.end && exponent >= 0; p++) {
        if (*p == '.')
            continue;
        if (value >= full)
            return HAC_TEXT_RANGE;
        value = value * 10 + (unsigned)(*p - '0');
        exponent--;
    }
    for (; exponent >= 0 && value != 0; exponent--) { /* zeros that were not written */
        if (value >= full)
            return HAC_TEXT_RANGE;
        value *= 10;
    }
    if (p < parts.end && *p == '.')
        p++;
    if (exponent == -1 && p < parts.end && *p >= '5') /* the first digit that was cut off */
        value++;
    if (value >= limit)
        return HAC_TEXT_RANGE;
    *ret = parts.negative ? -(__int128)value : (__int128)value;
    return HAC_TEXT_OK;
}

bool hac_decimal_is_exact(const char *text, size_t bytes, unsigned scale)
{
    decimal_parts parts;
    if (!split_decimal(text, bytes, &parts))
        return false;
    int64_t exponent = parts.exponent + scale;
    for (const char *p = parts.begin; p < parts.end; p++) {
        if (*p != '.' && *p != '0' && exponent < 0)
            return false;
        exponent -= *p != '.';
    }
    return true;
}

size_t hac_print_decimal(__int128 value, unsigned scale, char *ret)
{
    char text[40], *p = text + sizeof text, *out = ret;
    hac_u128 rest = value < 0 ? 0 - (hac_u128)value : (hac_u128)value;
    while (rest > UINT64_MAX) {
        *--p = (char)('0' + (unsigned)(rest % 10));
        rest /= 10;
    }
    char front[20];
    size_t n = hac_print_u64((uint64_t)rest, front);
    p -= n;
    memcpy(p, front, n);
    size_t digits = (size_t)(text + sizeof text - p);
    if (value < 0)
        *out++ = '-';
    if (digits <= scale) { /* 0.00ddd */
        *out++ = '0';
        *out++ = '.';
        memset(out, '0', scale - digits);
        out += scale - digits;
        memcpy(out, p, digits);
        return (size_t)(out + digits - ret);
    }
    memcpy(out, p, digits - scale);
    out += digits - scale;
    if (scale > 0) {
        *out++ = '.';
        memcpy(out, p + digits - scale, scale);
        out += scale;
    }
    return (size_t)(out - ret);
}

int hac_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

hac_text_status hac_parse_hex(const char *text, size_t bytes, uint8_t *ret)
{
    for (size_t i = 0; i < bytes; i++)
        if (hac_hex_digit(text[i]) < 0)
            return HAC_TEXT_MALFORMED;
    if (bytes % 2 != 0)
        return HAC_TEXT_MALFORMED;
    for (size_t i = 0; i < bytes; i += 2)
        ret[i / 2] = (uint8_t)(hac_hex_digit(text[i]) << 4 | hac_hex_digit(text[i + 1]));
    return HAC_TEXT_OK;
}

void hac_print_hex(const uint8_t *data, size_t bytes, char *ret)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes; i++) {
        ret[2 * i] = digits[data[i] >> 4];
        ret[2 * i + 1] = digits[data[i] & 15];
    }
}
