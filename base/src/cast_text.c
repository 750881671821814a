/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cast_text.h"

#include <string.h>

#define SPELLING_MAX 128 /* bytes of a text that is spelled in another way; longer ones are not taken */

/* A text as the parsers take it. */
typedef struct spelling {
    char text[SPELLING_MAX];
    size_t bytes;
} spelling;

static bool is_digit_at(const char *text, size_t bytes, size_t i)
{
    return i < bytes && (unsigned char)(text[i] - '0') < 10;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void trim(const char **text, size_t *bytes)
{
    while (*bytes > 0 && is_blank(**text)) {
        ++*text;
        --*bytes;
    }
    while (*bytes > 0 && is_blank((*text)[*bytes - 1]))
        --*bytes;
}

/* ---- numbers ---- */

/* Leaves out underscores between digits. False: no number is spelled so. */
static bool spell_number(const char *text, size_t bytes, spelling *ret)
{
    ret->bytes = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '_' && i > 0 && is_digit_at(text, bytes, i - 1) && is_digit_at(text, bytes, i + 1))
            continue;
        if (text[i] == '_' || ret->bytes == sizeof ret->text)
            return false;
        ret->text[ret->bytes++] = text[i];
    }
    return true;
}

/* Calls `parse` with the text as it is spelled: trimmed, and without underscores. */
#define CAST(parse, text, bytes, ...)                                                                        \
    do {                                                                                                     \
        hac_text_status status_ = parse(text, bytes, __VA_ARGS__);                                           \
        if (status_ != HAC_TEXT_MALFORMED)                                                                   \
            return status_;                                                                                  \
        trim(&(text), &(bytes));                                                                             \
        spelling s_;                                                                                         \
        if (memchr(text, '_', bytes) == NULL)                                                                \
            return parse(text, bytes, __VA_ARGS__);                                                          \
        return spell_number(text, bytes, &s_) ? parse(s_.text, s_.bytes, __VA_ARGS__) : HAC_TEXT_MALFORMED;  \
    } while (0)

hac_text_status hac_cast_f64(const char *text, size_t bytes, double *ret)
{
    CAST(hac_parse_f64, text, bytes, ret);
}

hac_text_status hac_cast_f32(const char *text, size_t bytes, float *ret)
{
    CAST(hac_parse_f32, text, bytes, ret);
}

hac_text_status hac_cast_decimal(const char *text, size_t bytes, unsigned precision, unsigned scale,
                                 __int128 *ret)
{
    CAST(hac_parse_decimal, text, bytes, precision, scale, ret);
}

/* 0x1f, 0b101: without a sign; an underscore may stand between two digits. */
static hac_text_status parse_with_base(const char *text, size_t bytes, uint64_t *ret)
{
    uint64_t value = 0, base = (text[1] | 0x20) == 'x' ? 16 : 2;
    for (size_t i = 2; i < bytes; i++) {
        if (text[i] == '_' && i > 2 && text[i - 1] != '_' && i + 1 < bytes)
            continue;
        int digit = hac_hex_digit(text[i]);
        if (digit < 0 || (uint64_t)digit >= base)
            return HAC_TEXT_MALFORMED;
        if (__builtin_mul_overflow(value, base, &value))
            return HAC_TEXT_RANGE;
        value += (uint64_t)digit;
    }
    *ret = value;
    return HAC_TEXT_OK;
}

/* An integer from `min` to `max` that its parser does not take. Fractions are rounded as decimals are. */
static hac_text_status cast_integer(const char *text, size_t bytes, __int128 min, __int128 max, __int128 *ret)
{
    uint64_t value = 0;
    hac_text_status status;
    trim(&text, &bytes);
    if (bytes > 2 && text[0] == '0' && ((text[1] | 0x20) == 'x' || (text[1] | 0x20) == 'b')) {
        status = parse_with_base(text, bytes, &value);
        *ret = value;
    } else {
        status = hac_cast_decimal(text, bytes, HAC_DECIMAL_DIGITS_MAX, 0, ret);
    }
    return status == HAC_TEXT_OK && (*ret < min || *ret > max) ? HAC_TEXT_RANGE : status;
}

hac_text_status hac_cast_i64(const char *text, size_t bytes, int64_t *ret)
{
    __int128 value = 0;
    hac_text_status status = hac_parse_i64(text, bytes, ret);
    if (status != HAC_TEXT_MALFORMED)
        return status;
    status = cast_integer(text, bytes, INT64_MIN, INT64_MAX, &value);
    if (status == HAC_TEXT_OK)
        *ret = (int64_t)value;
    return status;
}

hac_text_status hac_cast_u64(const char *text, size_t bytes, uint64_t *ret)
{
    __int128 value = 0;
    hac_text_status status = hac_parse_u64(text, bytes, ret);
    if (status != HAC_TEXT_MALFORMED)
        return status;
    status = cast_integer(text, bytes, 0, (__int128)UINT64_MAX, &value);
    if (status == HAC_TEXT_OK)
        *ret = (uint64_t)value;
    return status;
}

hac_text_status hac_cast_bool(const char *text, size_t bytes, bool *ret)
{
    if (bytes == 1 && ((*text | 0x20) == 'y' || (*text | 0x20) == 'n')) {
        *ret = (*text | 0x20) == 'y';
        return HAC_TEXT_OK;
    }
    return hac_parse_bool(text, bytes, ret);
}

/* ---- dates and times ---- */

/* What is left of a text, and what is made of it. */
typedef struct speller {
    const char *at, *end;
    spelling *to;
} speller;

static bool put(speller *s, char c)
{
    if (s->to->bytes == sizeof s->to->text)
        return false;
    s->to->text[s->to->bytes++] = c;
    return true;
}

/* Up to `digits` digits, one at least, with zeros in front. */
static bool take_part(speller *s, size_t digits)
{
    size_t n = 0;
    while (n < digits && is_digit_at(s->at, (size_t)(s->end - s->at), n))
        n++;
    for (size_t i = n; i < digits; i++)
        if (!put(s, '0'))
            return false;
    for (size_t i = 0; i < n; i++)
        if (!put(s, *s->at++))
            return false;
    return n > 0;
}

static bool take(speller *s, char c, char as)
{
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return put(s, as);
}

/* y-m-d; the year has four digits */
static bool spell_date(speller *s)
{
    const size_t year = 4;
    char separator = s->end - s->at > (ptrdiff_t)year ? s->at[year] : '\0';
    if (separator == '\0' || strchr("-/\\ ", separator) == NULL)
        return false;
    for (size_t i = 0; i < year; i++)
        if (!is_digit_at(s->at, year, i))
            return false;
    return take_part(s, year) && take(s, separator, '-') && take_part(s, 2) && take(s, separator, '-') &&
           take_part(s, 2);
}

/* h:m[:s[.f]] and what follows, behind the date */
static bool spell_time(speller *s)
{
    bool letter = (*s->at | 0x20) == 't';
    if (!letter && !is_blank(*s->at))
        return false;
    s->at++;
    while (!letter && s->at < s->end && is_blank(*s->at))
        s->at++;
    if (!put(s, 'T') || !take_part(s, 2) || !take(s, ':', ':') || !take_part(s, 2))
        return false;
    if (take(s, ':', ':') && !take_part(s, 2))
        return false;
    while (s->at < s->end)
        if (!put(s, *s->at++))
            return false;
    return true;
}

/* Spells the text as hac_parse_timestamp takes it. */
static bool spell(const char *text, size_t bytes, spelling *ret)
{
    trim(&text, &bytes);
    ret->bytes = 0;
    speller s = {text, text + bytes, ret};
    return spell_date(&s) && (s.at == s.end || spell_time(&s));
}

hac_text_status hac_cast_timestamp(const char *text, size_t bytes, int64_t *ret)
{
    spelling s;
    hac_text_status status = hac_parse_timestamp(text, bytes, ret);
    if (status != HAC_TEXT_MALFORMED)
        return status;
    return spell(text, bytes, &s) ? hac_parse_timestamp(s.text, s.bytes, ret) : status;
}

hac_text_status hac_cast_date(const char *text, size_t bytes, int32_t *ret)
{
    spelling s;
    int64_t microseconds = 0;
    const size_t date = sizeof "2024-01-31" - 1;
    hac_text_status status = hac_parse_date(text, bytes, ret);
    if (status != HAC_TEXT_MALFORMED || !spell(text, bytes, &s))
        return status;
    /* The day is that which is written, in whatever zone. The digits of its second do not matter. */
    status = hac_parse_timestamp(s.text, s.bytes, &microseconds);
    if (status == HAC_TEXT_OK || status == HAC_TEXT_PRECISION)
        return hac_parse_date(s.text, date, ret);
    return status;
}
