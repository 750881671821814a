/* SPDX-License-Identifier: Apache-2.0 */
#include "time_format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef enum time_part {
    PART_YEAR,
    PART_YEAR_SHORT,
    PART_MONTH, /* names of months are numbers, too */
    PART_DAY,
    PART_DAY_OF_YEAR,
    PART_HOUR,
    PART_HOUR_12,
    PART_HALF, /* 0: AM, 1: PM */
    PART_MINUTE,
    PART_SECOND,
    PART_FRACTION,
    PART_WEEKDAY, /* Monday is 1 */
    PART_OFFSET,  /* minutes east of Greenwich */
    PART_ZONE,
    PARTS
} time_part;

typedef enum time_style { STYLE_NUMBER, STYLE_BLANKS, STYLE_SHORT, STYLE_LONG, STYLE_OTHER } time_style;

static const struct {
    char letter;
    uint8_t part, style, digits;
    int low, high;
} codes[] = {
    {'Y', PART_YEAR, STYLE_NUMBER, 4, 1, 9999},      {'y', PART_YEAR_SHORT, STYLE_NUMBER, 2, 0, 99},
    {'m', PART_MONTH, STYLE_NUMBER, 2, 1, 12},       {'b', PART_MONTH, STYLE_SHORT, 0, 1, 12},
    {'B', PART_MONTH, STYLE_LONG, 0, 1, 12},         {'d', PART_DAY, STYLE_NUMBER, 2, 1, 31},
    {'e', PART_DAY, STYLE_BLANKS, 2, 1, 31},         {'j', PART_DAY_OF_YEAR, STYLE_NUMBER, 3, 1, 366},
    {'H', PART_HOUR, STYLE_NUMBER, 2, 0, 23},        {'I', PART_HOUR_12, STYLE_NUMBER, 2, 1, 12},
    {'p', PART_HALF, STYLE_SHORT, 0, 0, 1},          {'M', PART_MINUTE, STYLE_NUMBER, 2, 0, 59},
    {'S', PART_SECOND, STYLE_NUMBER, 2, 0, 59},      {'f', PART_FRACTION, STYLE_OTHER, 6, 0, 999999},
    {'a', PART_WEEKDAY, STYLE_SHORT, 0, 1, 7},       {'A', PART_WEEKDAY, STYLE_LONG, 0, 1, 7},
    {'z', PART_OFFSET, STYLE_OTHER, 4, -1439, 1439}, {'Z', PART_ZONE, STYLE_OTHER, 0, 0, 0},
};

#define CODES ((int)(sizeof codes / sizeof *codes))

static const char *const months[] = {"",     "January", "February",  "March",   "April",    "May",     "June",
                                     "July", "August",  "September", "October", "November", "December"};
static const char *const weekdays[] = {"",         "Monday", "Tuesday",  "Wednesday",
                                       "Thursday", "Friday", "Saturday", "Sunday"};
static const char *const halves[] = {"AM", "PM"};

static const char *name_of(time_part part, int value)
{
    return part == PART_MONTH ? months[value] : part == PART_WEEKDAY ? weekdays[value] : halves[value];
}

static size_t name_length(const char *name, time_style style)
{
    size_t n = strlen(name);
    return style == STYLE_SHORT && n > 3 ? 3 : n;
}

/* ---- formats ------------------------------------------------------------------------------------------- */

/* A format_walk over a format, in which %F and %T are written out. */
typedef struct format_walk {
    const char *at, *end;
    const char *inner; /* the rest of what stands for %F or %T; NULL: none */
} format_walk;

enum { ELEMENT_END = -1, ELEMENT_TEXT = -2, ELEMENT_UNKNOWN = -3 };

static int find_code(char letter)
{
    int i = 0;
    while (i < CODES && codes[i].letter != letter)
        i++;
    return i < CODES ? i : ELEMENT_UNKNOWN;
}

/* The next element: the index of a code, or one of the above. *ret is its last character. */
static int next_element(format_walk *w, char *ret)
{
    if (w->inner != NULL && *w->inner == '\0')
        w->inner = NULL;
    const char **at = w->inner != NULL ? &w->inner : &w->at;
    if (w->inner == NULL && w->at == w->end)
        return ELEMENT_END;
    *ret = *(*at)++;
    if (*ret != '%')
        return ELEMENT_TEXT;
    if (w->inner == NULL && w->at == w->end) {
        *ret = '\0';
        return ELEMENT_UNKNOWN;
    }
    *ret = *(*at)++;
    if (*ret == '%')
        return ELEMENT_TEXT;
    if (w->inner == NULL && (*ret == 'F' || *ret == 'T')) {
        w->inner = *ret == 'F' ? "%Y-%m-%d" : "%H:%M:%S";
        return next_element(w, ret);
    }
    return find_code(*ret);
}

#define CODES_TEXT "codes are %Y %y %m %b %B %d %e %j %H %I %p %M %S %f %a %A %z %Z %F %T %%"

static const char *unknown_code(char letter, char ret[HAC_TIME_FORMAT_PROBLEM_MAX])
{
    if (letter > ' ' && letter < 0x7f)
        snprintf(ret, HAC_TIME_FORMAT_PROBLEM_MAX, "there is no %%%c; %s", letter, CODES_TEXT);
    else
        snprintf(ret, HAC_TIME_FORMAT_PROBLEM_MAX, "a code is missing behind %%; %s", CODES_TEXT);
    return ret;
}

/* What formats for reading must not combine. */
static const char *combination_problem(const bool seen[PARTS])
{
    if (seen[PART_HOUR_12] != seen[PART_HALF])
        return "%I and %p belong together";
    if (seen[PART_HOUR_12] && seen[PART_HOUR])
        return "%H and %I are both hours";
    if (seen[PART_YEAR] && seen[PART_YEAR_SHORT])
        return "%Y and %y are both years";
    if (seen[PART_DAY_OF_YEAR] && (seen[PART_MONTH] || seen[PART_DAY]))
        return "%j already has the month and the day";
    return NULL;
}

const char *hac_time_format_problem(const char *format, size_t bytes, bool reading,
                                    char ret[HAC_TIME_FORMAT_PROBLEM_MAX])
{
    format_walk w = {format, format + bytes, NULL};
    bool seen[PARTS] = {false};
    char c = '\0';
    for (int code; (code = next_element(&w, &c)) != ELEMENT_END;) {
        if (code == ELEMENT_UNKNOWN)
            return unknown_code(c, ret);
        if (code == ELEMENT_TEXT)
            continue;
        if (reading && seen[codes[code].part] && codes[code].part != PART_WEEKDAY) {
            snprintf(ret, HAC_TIME_FORMAT_PROBLEM_MAX, "%%%c is there twice", c);
            return ret;
        }
        seen[codes[code].part] = true;
    }
    return reading ? combination_problem(seen) : NULL;
}

bool hac_time_format_has_offset(const char *format, size_t bytes)
{
    format_walk w = {format, format + bytes, NULL};
    char c = '\0';
    for (int code; (code = next_element(&w, &c)) != ELEMENT_END;)
        if (code >= 0 && codes[code].part == PART_OFFSET)
            return true;
    return false;
}

/* ---- printing ------------------------------------------------------------------------------------------ */

static void split(int64_t microseconds, int ret[PARTS])
{
    int64_t days = microseconds / HAC_US_PER_DAY - (microseconds % HAC_US_PER_DAY < 0),
            rest = microseconds - days * HAC_US_PER_DAY, year;
    unsigned month, day;
    hac_civil_from_days(days, &year, &month, &day);
    ret[PART_YEAR] = (int)year;
    ret[PART_YEAR_SHORT] = (int)(year % 100);
    ret[PART_MONTH] = (int)month;
    ret[PART_DAY] = (int)day;
    ret[PART_DAY_OF_YEAR] = (int)(days - hac_days_from_civil(year, 1, 1)) + 1;
    ret[PART_WEEKDAY] = (int)(((days + 3) % 7 + 7) % 7) + 1; /* 1970-01-01 was a Thursday */
    ret[PART_HOUR] = (int)(rest / HAC_US_PER_HOUR);
    ret[PART_HOUR_12] = (ret[PART_HOUR] + 11) % 12 + 1;
    ret[PART_HALF] = ret[PART_HOUR] >= 12;
    ret[PART_MINUTE] = (int)(rest / HAC_US_PER_MINUTE % 60);
    ret[PART_SECOND] = (int)(rest / HAC_US_PER_SECOND % 60);
    ret[PART_FRACTION] = (int)(rest % HAC_US_PER_SECOND);
}

static size_t print_number(int value, unsigned digits, bool blanks, char *ret)
{
    for (unsigned i = digits; i-- > 0; value /= 10)
        ret[i] = value == 0 && blanks && i + 1 < digits ? ' ' : (char)('0' + value % 10);
    return digits;
}

size_t hac_time_print(int64_t microseconds, const char *format, size_t bytes, char *ret)
{
    format_walk w = {format, format + bytes, NULL};
    int parts[PARTS] = {0};
    size_t used = 0;
    char c = '\0';
    split(microseconds, parts);
    for (int code; (code = next_element(&w, &c)) >= 0 || code == ELEMENT_TEXT;) {
        if (code == ELEMENT_TEXT) {
            ret[used++] = c;
            continue;
        }
        time_part part = codes[code].part;
        time_style style = codes[code].style;
        const char *text = part == PART_OFFSET ? "+0000" : "UTC";
        size_t n = strlen(text);
        if (codes[code].digits > 0 && part != PART_OFFSET) {
            used += print_number(parts[part], codes[code].digits, style == STYLE_BLANKS, ret + used);
            continue;
        }
        if (style == STYLE_SHORT || style == STYLE_LONG) {
            text = name_of(part, parts[part]);
            n = name_length(text, style);
        }
        memcpy(ret + used, text, n);
        used += n;
    }
    return used;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

typedef struct time_reader {
    const char *at, *end;
    int parts[PARTS];
    hac_text_status status; /* of a text that is well-formed */
} time_reader;

/* Whether there were any. */
static bool skip_blanks(time_reader *r)
{
    const char *from = r->at;
    while (r->at < r->end && (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r')))
        r->at++;
    return r->at > from;
}

/* Up to `max` digits. Returns their number. */
static unsigned read_digits(time_reader *r, unsigned max, int *ret)
{
    unsigned n = 0;
    for (*ret = 0; n < max && r->at < r->end && *r->at >= '0' && *r->at <= '9'; n++)
        *ret = *ret * 10 + (*r->at++ - '0');
    return n;
}

static bool read_name(time_reader *r, int code)
{
    for (int value = codes[code].low; value <= codes[code].high; value++) {
        const char *name = name_of(codes[code].part, value);
        size_t n = name_length(name, codes[code].style);
        if ((size_t)(r->end - r->at) < n || strncasecmp(r->at, name, n) != 0)
            continue;
        r->parts[codes[code].part] = value;
        r->at += n;
        return true;
    }
    return false;
}

static bool read_fraction(time_reader *r)
{
    int value, below;
    unsigned n = read_digits(r, 6, &value);
    for (unsigned i = n; i < 6; i++)
        value *= 10;
    r->parts[PART_FRACTION] = value;
    if (n == 6 && read_digits(r, 3, &below) > 0 && below != 0)
        r->status = HAC_TEXT_PRECISION;
    return n > 0;
}

static bool read_word(time_reader *r, const char *word)
{
    size_t n = strlen(word);
    bool there = (size_t)(r->end - r->at) >= n && strncasecmp(r->at, word, n) == 0;
    r->at += there ? n : 0;
    return there;
}

/* Z, +hh, +hhmm, +hh:mm */
static bool read_offset(time_reader *r)
{
    int hours, minutes = 0;
    if (read_word(r, "Z"))
        return true;
    bool west = r->at < r->end && *r->at == '-';
    if (!west && (r->at == r->end || *r->at != '+'))
        return false;
    r->at++;
    if (read_digits(r, 2, &hours) != 2 || hours > 23)
        return false;
    bool colon = r->end - r->at > 2 && *r->at == ':';
    r->at += colon;
    unsigned digits = read_digits(r, 2, &minutes);
    if (digits == 1 || (colon && digits == 0) || minutes > 59)
        return false;
    r->parts[PART_OFFSET] = (west ? -1 : 1) * (hours * 60 + minutes);
    return true;
}

static bool read_code(time_reader *r, int code)
{
    int value;
    switch (codes[code].style) {
    case STYLE_SHORT:
    case STYLE_LONG:
        return read_name(r, code);
    case STYLE_OTHER:
        if (codes[code].part == PART_FRACTION)
            return read_fraction(r);
        return codes[code].part == PART_OFFSET
                   ? read_offset(r)
                   : read_word(r, "UTC") || read_word(r, "GMT") || read_word(r, "Z");
    default:
        if (codes[code].style == STYLE_BLANKS)
            (void)skip_blanks(r);
        if (read_digits(r, codes[code].digits, &value) == 0 || value < codes[code].low ||
            value > codes[code].high)
            return false;
        r->parts[codes[code].part] = value;
        return true;
    }
}

/* The days of the date that was read; false: there is no such day. */
static bool days_of(const int parts[PARTS], int64_t *ret)
{
    int64_t year = parts[PART_YEAR], again;
    unsigned month, day;
    if (parts[PART_YEAR_SHORT] >= 0)
        year = parts[PART_YEAR_SHORT] + (parts[PART_YEAR_SHORT] < 69 ? 2000 : 1900);
    *ret = hac_days_from_civil(year, 1, 1) + parts[PART_DAY_OF_YEAR] - 1;
    if (parts[PART_DAY_OF_YEAR] == 0)
        *ret = hac_days_from_civil(year, (unsigned)parts[PART_MONTH], (unsigned)parts[PART_DAY]);
    hac_civil_from_days(*ret, &again, &month, &day);
    return again == year && (parts[PART_DAY_OF_YEAR] != 0 || day == (unsigned)parts[PART_DAY]);
}

static hac_text_status assemble(const time_reader *r, int64_t *ret)
{
    const int *parts = r->parts;
    int hour = parts[PART_HOUR_12] > 0 ? parts[PART_HOUR_12] % 12 + 12 * parts[PART_HALF] : parts[PART_HOUR];
    int64_t days;
    if (!days_of(parts, &days))
        return HAC_TEXT_MALFORMED;
    int64_t minutes = hour * 60 + parts[PART_MINUTE] - parts[PART_OFFSET];
    int64_t time = days * HAC_US_PER_DAY + minutes * HAC_US_PER_MINUTE +
                   parts[PART_SECOND] * HAC_US_PER_SECOND + parts[PART_FRACTION];
    if (!hac_timestamp_has_text(time))
        return HAC_TEXT_RANGE;
    if (r->status == HAC_TEXT_OK)
        *ret = time;
    return r->status;
}

hac_text_status hac_time_parse(const char *text, size_t n, const char *format, size_t bytes, int64_t *ret)
{
    format_walk w = {format, format + bytes, NULL};
    time_reader r = {.at = text, .end = text + n};
    char c = '\0';
    bool blanks = true; /* blanks were skipped last */
    r.parts[PART_YEAR] = 1900;
    r.parts[PART_YEAR_SHORT] = -1;
    r.parts[PART_MONTH] = r.parts[PART_DAY] = 1;
    (void)skip_blanks(&r);
    for (int code; (code = next_element(&w, &c)) >= 0 || code == ELEMENT_TEXT;) {
        if (code >= 0) {
            if (!read_code(&r, code))
                return HAC_TEXT_MALFORMED;
        } else if (c == ' ') {
            if (!blanks && !skip_blanks(&r) && r.at < r.end)
                return HAC_TEXT_MALFORMED;
        } else if (r.at == r.end || *r.at++ != c) {
            return HAC_TEXT_MALFORMED;
        }
        blanks = code < 0 && c == ' ';
    }
    (void)skip_blanks(&r);
    return r.at == r.end ? assemble(&r, ret) : HAC_TEXT_MALFORMED;
}
