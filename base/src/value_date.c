/* SPDX-License-Identifier: Apache-2.0 */
/* Dates and timestamps from and to text. */
#include <string.h>

#include "base/short_number.h"
#include "base/value_text.h"

/* Years that begin in March have the leap day at their end, and months of 30.6 days: 153 in five. */

int64_t hac_days_from_civil(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (int64_t)(month > 2 ? month - 3 : month + 9) + 2) / 5 + (int64_t)day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void hac_civil_from_days(int64_t days, int64_t *ret_year, unsigned *ret_month, unsigned *ret_day)
{
    int64_t era = days / 146097;
    int64_t rest = days % 146097 + 719468; /* 0000-03-01 is day 0 of an era */
    era += rest / 146097;
    rest %= 146097;
    unsigned of_era = (unsigned)rest;
    unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * of_year + 2) / 153;
    *ret_day = of_year - (153 * month + 2) / 5 + 1;
    *ret_month = month < 10 ? month + 3 : month - 9;
    *ret_year = era * 400 + year + (*ret_month <= 2);
}

/* Exactly `count` digits at *at. */
static bool take(const char **at, const char *end, unsigned count, unsigned *ret)
{
    unsigned value = 0;
    if ((size_t)(end - *at) < count)
        return false;
    for (unsigned i = 0; i < count; i++) {
        unsigned digit = (unsigned char)((*at)[i] - '0');
        if (digit > 9)
            return false;
        value = value * 10 + digit;
    }
    *at += count;
    *ret = value;
    return true;
}

static bool take_char(const char **at, const char *end, char c)
{
    if (*at == end || **at != c)
        return false;
    ++*at;
    return true;
}

static unsigned days_of_month(unsigned year, unsigned month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap ? 1u : 0u);
}

#define DATE_BYTES 10

static hac_text_status civil_day(unsigned year, unsigned month, unsigned day, int64_t *ret)
{
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
        return HAC_TEXT_RANGE;
    *ret = hac_days_from_civil(year, month, day);
    return HAC_TEXT_OK;
}

/* One digit or two. */
static bool take_short(const char **at, const char *end, unsigned *ret)
{
    return take(at, end, 2, ret) || take(at, end, 1, ret);
}

/* A date whose month or day may lack its zero: 2024-1-5. */
static hac_text_status take_short_date(const char **at, const char *end, int64_t *ret)
{
    unsigned year, month, day;
    if (!take(at, end, 4, &year) || !take_char(at, end, '-') || !take_short(at, end, &month) ||
        !take_char(at, end, '-') || !take_short(at, end, &day))
        return HAC_TEXT_MALFORMED;
    return civil_day(year, month, day, ret);
}

/* A date at the front: its eight digits are one number. */
static hac_text_status take_date(const char **at, const char *end, int64_t *ret)
{
    const uint64_t dashes = UINT64_C(0xff0000ff00000000), dash = '-' ^ '0';
    if (end - *at < DATE_BYTES)
        return take_short_date(at, end, ret);
    uint64_t front = hac_eight_characters(*at), back = hac_eight_characters(*at + DATE_BYTES - 8);
    uint64_t digits = (front & UINT32_MAX) | (front >> 8 & UINT64_C(0xffff00000000)) | (back >> 48 << 48);
    if ((front & dashes) != (dash << 32 | dash << 56) || hac_not_digits(digits) != 0)
        return take_short_date(at, end, ret);
    unsigned number = (unsigned)hac_eight_digits(digits);
    unsigned year = number / 10000, month = number / 100 % 100, day = number % 100;
    *at += DATE_BYTES;
    return civil_day(year, month, day, ret);
}

hac_text_status hac_parse_date(const char *text, size_t bytes, int32_t *ret)
{
    const char *end = text + bytes;
    int64_t days;
    hac_text_status status = take_date(&text, end, &days);
    if (status == HAC_TEXT_MALFORMED || text != end)
        return HAC_TEXT_MALFORMED;
    if (status == HAC_TEXT_OK)
        *ret = (int32_t)days;
    return status;
}

/* 1 to 9 digits behind the point; HAC_TEXT_PRECISION if one below a microsecond is not 0. */
static hac_text_status take_fraction(const char **at, const char *end, int64_t *ret)
{
    int64_t value = 0;
    unsigned digits = 0;
    bool finer = false;
    for (; *at < end && (unsigned char)(**at - '0') < 10; ++*at, digits++) {
        if (digits < 6)
            value = value * 10 + (**at - '0');
        else
            finer |= **at != '0';
    }
    for (unsigned i = digits; i < 6; i++)
        value *= 10;
    *ret = value;
    if (digits < 1 || digits > 9)
        return HAC_TEXT_MALFORMED;
    return finer ? HAC_TEXT_PRECISION : HAC_TEXT_OK;
}

/* [h]h:mm[:ss[.ffffff]] */
static hac_text_status take_time(const char **at, const char *end, int64_t *ret)
{
    unsigned hour, minute, second = 0;
    int64_t fraction = 0;
    hac_text_status status = HAC_TEXT_OK;
    if (!take_short(at, end, &hour) || !take_char(at, end, ':') || !take(at, end, 2, &minute))
        return HAC_TEXT_MALFORMED;
    if (take_char(at, end, ':')) {
        if (!take(at, end, 2, &second))
            return HAC_TEXT_MALFORMED;
        if (take_char(at, end, '.') || take_char(at, end, ','))
            status = take_fraction(at, end, &fraction);
        if (status == HAC_TEXT_MALFORMED)
            return status;
    }
    *ret = (int64_t)(hour * 3600 + minute * 60 + second) * HAC_US_PER_SECOND + fraction;
    return hour > 23 || minute > 59 || second > 59 ? HAC_TEXT_RANGE : status;
}

static bool take_word(const char **at, const char *end, const char *word)
{
    size_t bytes = strlen(word);
    if ((size_t)(end - *at) < bytes || memcmp(*at, word, bytes) != 0)
        return false;
    *at += bytes;
    return true;
}

/* hh, hhmm, hh:mm or hh:mm:ss of a zone, in seconds. */
static hac_text_status take_offset(const char **at, const char *end, int64_t *ret)
{
    unsigned hour, minute = 0, second = 0;
    if (!take(at, end, 2, &hour))
        return HAC_TEXT_MALFORMED;
    bool colon = take_char(at, end, ':');
    if (!take(at, end, 2, &minute) && colon)
        return HAC_TEXT_MALFORMED;
    if (colon && take_char(at, end, ':') && !take(at, end, 2, &second))
        return HAC_TEXT_MALFORMED;
    *ret = hour * 3600 + minute * 60 + second;
    return hour > 23 || minute > 59 || second > 59 ? HAC_TEXT_RANGE : HAC_TEXT_OK;
}

/* A zone as hac_parse_timestamp describes it, or nothing. */
static hac_text_status take_zone(const char **at, const char *end, int64_t *ret)
{
    *ret = 0;
    if (*at == end)
        return HAC_TEXT_OK;
    (void)take_char(at, end, ' ');
    if (take_char(at, end, 'Z') || take_char(at, end, 'z') || take_word(at, end, "UTC"))
        return HAC_TEXT_OK;
    bool west = take_char(at, end, '-');
    if (!west && !take_char(at, end, '+'))
        return HAC_TEXT_MALFORMED;
    int64_t seconds = 0;
    hac_text_status status = take_offset(at, end, &seconds);
    *ret = (west ? -seconds : seconds) * HAC_US_PER_SECOND;
    return status;
}

/* 0001-01-01 and the day after 9999-12-31 */
#define FIRST_DAY  INT64_C(-719162)
#define BEHIND_DAY INT64_C(2932897)

bool hac_date_has_text(int64_t days)
{
    return days >= FIRST_DAY && days < BEHIND_DAY;
}

bool hac_timestamp_has_text(int64_t microseconds)
{
    return microseconds >= FIRST_DAY * HAC_US_PER_DAY && microseconds < BEHIND_DAY * HAC_US_PER_DAY;
}

hac_text_status hac_parse_timestamp(const char *text, size_t bytes, int64_t *ret)
{
    const char *end = text + bytes;
    int64_t days = 0, time = 0, zone = 0;
    hac_text_status date = take_date(&text, end, &days), clock = HAC_TEXT_OK;
    if (date == HAC_TEXT_MALFORMED)
        return date;
    if (take_char(&text, end, ' ') || take_char(&text, end, 'T') || take_char(&text, end, 't'))
        clock = take_time(&text, end, &time);
    if (clock == HAC_TEXT_MALFORMED)
        return clock;
    hac_text_status offset = take_zone(&text, end, &zone);
    if (offset == HAC_TEXT_MALFORMED || text != end)
        return HAC_TEXT_MALFORMED;
    if (date != HAC_TEXT_OK || clock == HAC_TEXT_RANGE || offset != HAC_TEXT_OK)
        return HAC_TEXT_RANGE;
    if (clock != HAC_TEXT_OK)
        return clock;
    int64_t value = days * HAC_US_PER_DAY + time - zone;
    if (!hac_timestamp_has_text(value)) /* what is printed could not be read */
        return HAC_TEXT_RANGE;
    *ret = value;
    return HAC_TEXT_OK;
}

bool hac_timestamp_says_zone(const char *text, size_t bytes)
{
    const size_t month = sizeof "2020-" - 1;
    const char *dash = bytes > month ? memchr(text + month, '-', bytes - month) : NULL;
    char last = bytes > 0 ? text[bytes - 1] : '\0';
    if (last == 'Z' || last == 'z' || last == 'C')
        return true;
    for (size_t i = dash != NULL ? (size_t)(dash - text) + 1 : bytes; i < bytes; i++)
        if (text[i] == '+' || text[i] == '-')
            return true;
    return false;
}

static char *put(char *p, unsigned value, unsigned digits)
{
    for (unsigned i = digits; i-- > 0; value /= 10)
        p[i] = (char)('0' + value % 10);
    return p + digits;
}

static char *put_date(char *p, int64_t days)
{
    int64_t year;
    unsigned month, day;
    hac_civil_from_days(days, &year, &month, &day);
    if (year < 0)
        *p++ = '-';
    uint64_t magnitude = year < 0 ? 0 - (uint64_t)year : (uint64_t)year;
    p = magnitude < 10000 ? put(p, (unsigned)magnitude, 4) : p + hac_print_u64(magnitude, p);
    *p++ = '-';
    p = put(p, month, 2);
    *p++ = '-';
    return put(p, day, 2);
}

size_t hac_print_date(int32_t days, char *ret)
{
    return (size_t)(put_date(ret, days) - ret);
}

size_t hac_print_timestamp(int64_t microseconds, char *ret)
{
    int64_t days = microseconds / HAC_US_PER_DAY, time = microseconds % HAC_US_PER_DAY;
    if (time < 0) {
        days--;
        time += HAC_US_PER_DAY;
    }
    unsigned seconds = (unsigned)(time / HAC_US_PER_SECOND);
    unsigned fraction = (unsigned)(time % HAC_US_PER_SECOND);
    char *p = put_date(ret, days);
    *p++ = ' ';
    p = put(p, seconds / 3600, 2);
    *p++ = ':';
    p = put(p, seconds / 60 % 60, 2);
    *p++ = ':';
    p = put(p, seconds % 60, 2);
    if (fraction != 0) {
        *p++ = '.';
        p = put(p, fraction, 6);
    }
    return (size_t)(p - ret);
}
