/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_forms.h"

#include <string.h>

enum { GROUP = 3, YEAR_DIGITS = 4, NOON = 12 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- numbers ---- */

typedef struct separator {
    hac_thousands thousands;
    const char *text;
} separator;

/* The bytes of a separator at `at`; 0: there is none. */
static size_t separator_at(const char *at, size_t bytes, hac_thousands *ret)
{
    static const separator separators[] = {
        {HAC_THOUSANDS_COMMA, ","},           {HAC_THOUSANDS_POINT, "."},
        {HAC_THOUSANDS_SPACE, " "},           {HAC_THOUSANDS_SPACE, "\u00a0"},
        {HAC_THOUSANDS_SPACE, "\u202f"},      {HAC_THOUSANDS_APOSTROPHE, "'"},
        {HAC_THOUSANDS_APOSTROPHE, "\u2019"},
    };
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
        size_t n = strlen(separators[i].text);
        if (n > bytes || memcmp(at, separators[i].text, n) != 0)
            continue;
        *ret = separators[i].thousands;
        return n;
    }
    return 0;
}

/* Copies the digits in front of the decimal sign. Returns the bytes that were read; SIZE_MAX: they are not
 * grouped as thousands are. `wanted`: the only separator, or HAC_THOUSANDS_AUTO for any one. */
static size_t take_whole(const char *text, size_t bytes, char sign, hac_thousands wanted,
                         hac_number_form *form, char **to)
{
    size_t at = 0, digits = 0;
    char first = bytes > 0 ? text[0] : '\0';
    while (at < bytes) {
        hac_thousands found = HAC_THOUSANDS_NONE;
        if (is_digit(text[at])) {
            *(*to)++ = text[at++];
            digits++;
            continue;
        }
        size_t n = text[at] == sign ? 0 : separator_at(text + at, bytes - at, &found);
        if (n == 0 || (wanted != HAC_THOUSANDS_AUTO && found != wanted))
            break;
        bool group = form->thousands != HAC_THOUSANDS_NONE ? digits == GROUP && found == form->thousands
                                                           : digits > 0 && digits <= GROUP && first != '0';
        if (!group)
            return SIZE_MAX;
        form->several = form->thousands != HAC_THOUSANDS_NONE;
        form->thousands = found;
        digits = 0;
        at += n;
    }
    return form->thousands != HAC_THOUSANDS_NONE && digits != GROUP ? SIZE_MAX : at;
}

static size_t rewrite(const char *text, size_t bytes, hac_decimal_sign decimal, hac_thousands wanted,
                      hac_number_form *form, char ret[HAC_FORM_TEXT_MAX])
{
    const char sign = decimal == HAC_DECIMAL_COMMA ? ',' : '.', other = sign == ',' ? '.' : ',';
    char *to = ret;
    *form = (hac_number_form){.thousands = HAC_THOUSANDS_NONE};
    if (bytes == 0 || bytes >= HAC_FORM_TEXT_MAX)
        return 0;
    size_t at = text[0] == '-' || text[0] == '+';
    if (at > 0)
        *to++ = text[0];
    size_t whole = take_whole(text + at, bytes - at, sign, wanted, form, &to);
    if (whole == SIZE_MAX)
        return 0;
    at += whole;
    form->fraction = at < bytes;
    if (at < bytes && text[at] == sign) {
        *to++ = '.';
        at++;
    }
    if (memchr(text + at, other, bytes - at) != NULL || memchr(text + at, sign, bytes - at) != NULL)
        return 0;
    memcpy(to, text + at, bytes - at);
    return (size_t)(to - ret) + bytes - at;
}

size_t hac_plain_number(const char *text, size_t bytes, hac_decimal_sign decimal, hac_thousands thousands,
                        char ret[HAC_FORM_TEXT_MAX])
{
    hac_number_form form;
    return rewrite(text, bytes, decimal, thousands == HAC_THOUSANDS_AUTO ? HAC_THOUSANDS_NONE : thousands,
                   &form, ret);
}

size_t hac_number_form_of(const char *text, size_t bytes, hac_decimal_sign decimal, hac_number_form *ret,
                          char ret_plain[HAC_FORM_TEXT_MAX])
{
    return rewrite(text, bytes, decimal, HAC_THOUSANDS_AUTO, ret, ret_plain);
}

/* ---- dates ---- */

typedef struct date_parts {
    unsigned value[3], digits[3]; /* as they are written, from left to right */
    char separator;
    size_t bytes;
} date_parts;

static bool take_parts(const char *text, size_t bytes, date_parts *ret)
{
    size_t at = 0;
    *ret = (date_parts){.separator = 0};
    for (unsigned part = 0; part < 3; part++) {
        if (part > 0 && (at == bytes || text[at] != ret->separator))
            return false;
        at += part > 0;
        for (; at < bytes && is_digit(text[at]) && ret->digits[part] < YEAR_DIGITS; at++, ret->digits[part]++)
            ret->value[part] = ret->value[part] * 10 + (unsigned)(text[at] - '0');
        if (part == 0)
            ret->separator = at < bytes ? text[at] : '\0';
    }
    ret->bytes = at;
    return (ret->separator == '.' || ret->separator == '/' || ret->separator == '-') &&
           (at == bytes || text[at] == ' ' || text[at] == 'T');
}

static bool is_short(unsigned digits)
{
    return digits == 1 || digits == 2;
}

static char *put(char *to, unsigned value, unsigned digits)
{
    for (unsigned i = digits; i-- > 0; value /= 10)
        to[i] = (char)('0' + value % 10);
    return to + digits;
}

/* " PM" or " am" at the end, which it leaves out. */
static bool take_half(const char *text, size_t *bytes, bool *ret_afternoon)
{
    size_t n = *bytes;
    if (n < 3 || (text[n - 1] | ' ') != 'm' || ((text[n - 2] | ' ') != 'a' && (text[n - 2] | ' ') != 'p'))
        return false;
    *ret_afternoon = (text[n - 2] | ' ') == 'p';
    n -= 2;
    *bytes = n - (text[n - 1] == ' ');
    return true;
}

/* A time of day with one digit or two of the hour, and perhaps AM or PM. Returns the end; NULL: there is no
 * such hour. */
static char *put_time(char *to, const char *text, size_t bytes)
{
    bool afternoon = false, half = take_half(text, &bytes, &afternoon);
    unsigned hour = 0;
    size_t digits = 0;
    while (digits < bytes && digits < 2 && is_digit(text[digits]))
        hour = hour * 10 + (unsigned)(text[digits++] - '0');
    if (digits == 0 || (half && (hour < 1 || hour > NOON)))
        return NULL;
    if (half)
        hour = hour % NOON + (afternoon ? NOON : 0);
    to = put(to, hour, 2);
    if (half && digits == bytes) /* 1 PM */
        return (char *)memcpy(to, ":00", 3) + 3;
    memcpy(to, text + digits, bytes - digits);
    return to + (bytes - digits);
}

size_t hac_plain_date(const char *text, size_t bytes, hac_date_order order, char ret[HAC_FORM_TEXT_MAX])
{
    date_parts d;
    if (bytes + 16 > HAC_FORM_TEXT_MAX || !take_parts(text, bytes, &d))
        return 0;
    unsigned year = 0, month = 1, day = 2;
    if (is_short(d.digits[0]) && is_short(d.digits[1]) && d.digits[2] == YEAR_DIGITS) {
        if (order != HAC_DATES_DMY && order != HAC_DATES_MDY)
            return 0;
        year = 2;
        month = order == HAC_DATES_DMY ? 1 : 0;
        day = 1 - month;
    } else if (d.digits[0] != YEAR_DIGITS || !is_short(d.digits[1]) || !is_short(d.digits[2]) ||
               d.separator == '.') { /* 2024.1.5 is a version, too */
        return 0;
    }
    char *to = put(ret, d.value[year], 4);
    *to++ = '-';
    to = put(to, d.value[month], 2);
    *to++ = '-';
    to = put(to, d.value[day], 2);
    if (d.bytes == bytes)
        return (size_t)(to - ret);
    *to++ = ' ';
    to = put_time(to, text + d.bytes + 1, bytes - d.bytes - 1);
    return to != NULL ? (size_t)(to - ret) : 0;
}

char hac_date_separator(const char *text, size_t bytes)
{
    date_parts d;
    bool is_date = take_parts(text, bytes, &d) && is_short(d.digits[0]) && is_short(d.digits[1]) &&
                   d.digits[2] == YEAR_DIGITS;
    return is_date ? d.separator : '\0';
}
