/* SPDX-License-Identifier: Apache-2.0 */
#include "query/detect.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/byte_order_mark.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/query_layout.h"
#include "base/text_forms.h"
#include "base/value_text.h"
#include "null_words.h"
#include "source_parts.h"
#include "window.h"

/* The delimiters that are tried, in the order in which they are preferred. */
static const char candidates[] = {',', ';', '\t', '|', ' '};
enum { N_CANDIDATES = sizeof candidates, COMMA = 0, SPACE = N_CANDIDATES - 1 };
enum { SPACE_RECORDS = 3, YEAR_FIRST = 1800, YEAR_LAST = 2200 };

/* What a value looks like. */
enum { EMPTY = 0, NUMBER = 1, BOOL = 2, TIME = 4, TEXT = 8 };

/* The whole records at the beginning of the input. */
typedef struct text_sample {
    const char *data;
    size_t bytes, records;
    bool quotes; /* the format has quotes */
    hac_null_words nulls;
} text_sample;

/* How often a byte stands outside of quotes in a record. */
typedef struct occurrence {
    size_t first, now; /* in the first record, and so far in this one */
    bool same;         /* all records have as many */
} occurrence;

/* The values of a column. */
typedef struct column_look {
    uint8_t first; /* what the first record has */
    uint8_t rest;  /* the union of what the others have */
    long year;     /* the first record's value, if it is a whole number; 0: none */
} column_look;

/* ---- records and delimiters ---- */

static void end_record(text_sample *s, occurrence *counts)
{
    for (size_t i = 0; i < N_CANDIDATES; i++) {
        if (s->records == 0)
            counts[i] = (occurrence){.first = counts[i].now, .same = true};
        counts[i].same &= s->records == 0 || counts[i].now == counts[i].first;
        counts[i].now = 0;
    }
    s->records++;
}

static bool is_blank(const char *record, size_t bytes)
{
    return bytes == 0 || (bytes == 1 && record[0] == '\r');
}

/* Counts in all records, and leaves out a last one whose end is not there. `whole`: the input has no more. */
static void count(text_sample *s, bool whole, occurrence counts[N_CANDIDATES])
{
    bool inside = false;
    size_t begin = 0, at = 0;
    memset(counts, 0, N_CANDIDATES * sizeof *counts);
    for (; at < s->bytes; at++) {
        char c = s->data[at];
        inside ^= s->quotes && c == '"';
        if (inside)
            continue;
        if (c == '\n') {
            if (!is_blank(s->data + begin, at - begin))
                end_record(s, counts);
            begin = at + 1;
        }
        for (size_t i = 0; i < N_CANDIDATES; i++)
            counts[i].now += c == candidates[i];
    }
    if (whole && !inside && !is_blank(s->data + begin, at - begin)) {
        end_record(s, counts);
        begin = at;
    }
    s->bytes = begin;
}

static bool is_possible(const occurrence *counts, size_t i)
{
    return counts[i].same && counts[i].first > 0;
}

static bool is_decimal_comma(const char *text, size_t bytes)
{
    char plain[HAC_FORM_TEXT_MAX];
    hac_number_form form;
    double value;
    size_t n = hac_number_form_of(text, bytes, HAC_DECIMAL_COMMA, &form, plain);
    return n > 0 && hac_parse_f64(plain, n, &value) == HAC_TEXT_OK;
}

/* Whether every comma outside of quotes stands in a number, if `delimiter` separates the fields: 1,5;2,5. */
static bool commas_are_decimal(const text_sample *s, char delimiter)
{
    bool inside = false, comma = false;
    for (size_t at = 0, begin = 0; at < s->bytes; at++) {
        char c = s->data[at];
        inside ^= s->quotes && c == '"';
        if (inside)
            continue;
        comma |= c == ',';
        if (c != delimiter && c != '\n')
            continue;
        size_t bytes = at - begin - (c == '\n' && at > begin && s->data[at - 1] == '\r');
        if (comma && !is_decimal_comma(s->data + begin, bytes))
            return false;
        comma = false;
        begin = at + 1;
    }
    return !comma;
}

static size_t choose(const text_sample *s, const occurrence *counts)
{
    size_t best = N_CANDIDATES;
    bool numbers = false;
    for (size_t i = COMMA + 1; i < SPACE && is_possible(counts, COMMA) && !numbers; i++)
        numbers = is_possible(counts, i) && commas_are_decimal(s, candidates[i]);
    if (is_possible(counts, COMMA) && !numbers)
        return COMMA;
    for (size_t i = COMMA + 1; i < SPACE; i++)
        if (is_possible(counts, i) && (best == N_CANDIDATES || counts[i].first > counts[best].first))
            best = i;
    return best != N_CANDIDATES ? best : is_possible(counts, SPACE) ? SPACE : COMMA;
}

/* ---- values ---- */

/* 12,5 or 1,234.5: with a decimal comma, or a point and separators of thousands */
static bool is_formed_number(const char *text, size_t bytes)
{
    char plain[HAC_FORM_TEXT_MAX];
    hac_number_form form;
    double value;
    size_t n = hac_number_form_of(text, bytes, HAC_DECIMAL_POINT, &form, plain);
    return is_decimal_comma(text, bytes) || (n > 0 && hac_parse_f64(plain, n, &value) == HAC_TEXT_OK);
}

static uint8_t look_at_value(const text_sample *s, const char *text, size_t bytes)
{
    char plain[HAC_FORM_TEXT_MAX];
    double number;
    int32_t days;
    int64_t microseconds;
    while (bytes > 0 && (text[bytes - 1] == ' ' || text[bytes - 1] == '\r'))
        bytes--;
    for (; bytes > 0 && *text == ' '; bytes--)
        text++;
    if (bytes >= 2 && s->quotes && text[0] == '"' && text[bytes - 1] == '"') {
        text++;
        bytes -= 2;
    }
    if (bytes == 0 || hac_null_words_have(&s->nulls, text, bytes) ||
        (bytes == 2 && memcmp(text, "\\N", 2) == 0))
        return EMPTY;
    if (hac_parse_f64(text, bytes, &number) == HAC_TEXT_OK || is_formed_number(text, bytes))
        return NUMBER;
    if ((bytes == 4 && strncasecmp(text, "true", 4) == 0) ||
        (bytes == 5 && strncasecmp(text, "false", 5) == 0))
        return BOOL;
    bool time = bytes >= 8 && (hac_parse_date(text, bytes, &days) == HAC_TEXT_OK ||
                               hac_parse_timestamp(text, bytes, &microseconds) == HAC_TEXT_OK ||
                               hac_date_separator(text, bytes) != '\0' ||
                               hac_plain_date(text, bytes, HAC_DATES_YMD, plain) > 0);
    return time ? TIME : TEXT;
}

static long year_of(const char *text, size_t bytes)
{
    long year = 0;
    for (size_t i = 0; i < bytes && i < 5; i++)
        year = text[i] >= '0' && text[i] <= '9' ? year * 10 + (text[i] - '0') : -YEAR_LAST * 10;
    return year >= YEAR_FIRST && year <= YEAR_LAST ? year : 0;
}

/* Looks at all values. Returns the number of columns, at most HAC_COLUMNS_MAX of which are looked at. */
static size_t look(const text_sample *s, char delimiter, column_look columns[HAC_COLUMNS_MAX])
{
    size_t begin = 0, column = 0, n = 0, record = 0, line = 0;
    bool inside = false;
    memset(columns, 0, HAC_COLUMNS_MAX * sizeof *columns);
    for (size_t at = 0; at <= s->bytes; at++) {
        bool end = at == s->bytes || (!inside && s->data[at] == '\n');
        inside ^= at < s->bytes && s->quotes && s->data[at] == '"';
        if (!end && (inside || s->data[at] != delimiter))
            continue;
        bool blank = end && is_blank(s->data + line, at - line);
        if (!blank && column < HAC_COLUMNS_MAX) {
            size_t bytes = at - begin - (end && at > begin && s->data[at - 1] == '\r');
            uint8_t value = look_at_value(s, s->data + begin, bytes);
            if (record == 0)
                columns[column] = (column_look){.first = value, .year = year_of(s->data + begin, bytes)};
            else
                columns[column].rest |= value;
            n = record == 0 ? column + 1 : n;
        }
        record += end && !blank;
        column = end ? 0 : column + 1;
        begin = at + 1;
        line = end ? at + 1 : line;
    }
    return n;
}

static bool is_typed(uint8_t values)
{
    return values == NUMBER || values == BOOL || values == TIME;
}

static bool any_typed(const column_look *columns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_typed(columns[i].rest))
            return true;
    return false;
}

/* Whether the values of the typed columns in the first record are two years or more, one after the other. */
static bool are_years(const column_look *columns, size_t n)
{
    long before = 0;
    size_t years = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_typed(columns[i].rest) || columns[i].first == EMPTY)
            continue;
        if (columns[i].year == 0 || (before != 0 && columns[i].year != before + 1))
            return false;
        before = columns[i].year;
        years++;
    }
    return years >= 2;
}

static bool has_header(const text_sample *s, const column_look *columns, size_t n)
{
    size_t fit = 0, others = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t wanted = s->records == 1 ? columns[i].first : columns[i].rest;
        if (s->records == 1 ? columns[i].first == TEXT : is_typed(wanted) && columns[i].first != EMPTY)
            others += s->records == 1 || columns[i].first != wanted;
        fit += is_typed(wanted) && columns[i].first == wanted;
    }
    return others > 0 || fit == 0 || (s->records > 1 && are_years(columns, n));
}

/* ---- the input ---- */

static void detect(unsigned what, text_sample *s, bool whole, column_look *columns,
                   hac_source_options *options)
{
    occurrence counts[N_CANDIDATES];
    char delimiter = (char)hac_format_delimiter(options->format, options->options.delimiter);
    count(s, whole, counts);
    if (s->records == 0)
        return;
    if ((what & HAC_DETECT_DELIMITER) != 0 && hac_formats[options->format].any_delimiter) {
        size_t chosen = choose(s, counts);
        if (chosen == SPACE && (s->records < SPACE_RECORDS || !any_typed(columns, look(s, ' ', columns))))
            chosen = COMMA;
        delimiter = candidates[chosen];
        options->options.delimiter = chosen == COMMA ? 0 : (uint8_t)delimiter;
    }
    if ((what & HAC_DETECT_HEADER) != 0)
        options->options.no_header = !has_header(s, columns, look(s, delimiter, columns));
}

hac_status hac_detect_options(unsigned what, const hac_source_place *place, hac_source_options *options,
                              hac_error *err)
{
    if (what == 0 || !hac_formats[options->format].header)
        return HAC_OK;
    bool whole = place->bytes <= HAC_DETECT_BYTES;
    size_t bytes = whole ? (size_t)place->bytes : HAC_DETECT_BYTES;
    hac_autofree char *data = malloc(bytes + 1);
    hac_autofree column_look *columns = calloc(HAC_COLUMNS_MAX, sizeof *columns);
    if (data == NULL || columns == NULL)
        return hac_fail_no_memory(err);
    if (hac_place_read(place, 0, (uint8_t *)data, bytes, NULL) != HAC_OK)
        return HAC_OK;
    size_t mark = hac_byte_order_mark(data, bytes);
    text_sample s = {.data = data + mark,
                     .bytes = bytes - mark,
                     .quotes = hac_format_has_quotes(options->format),
                     .nulls = hac_null_words_of(options->options.null_text)};
    detect(what, &s, whole, columns, options);
    return HAC_OK;
}
