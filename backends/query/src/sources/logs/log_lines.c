/* SPDX-License-Identifier: Apache-2.0 */
/* Log files whose lines have the same fields: clf (Apache's and nginx's access logs) and syslog (RFC 3164 and
 * 5424). Fields are refs into the line; what is written in another way than values are (times, numbers of a
 * priority) is put into a row of texts beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/byte_order_mark.h"
#include "base/value_text.h"
#include "log_text.h"
#include "sources/source_parts.h"

enum { FIELDS_MAX = 14, ROW_TEXT = 64, TIME_MAX = 48, DATE_BYTES = 11 };

/* Fields, in the order of hac_formats[].columns. */
enum {
    CLF_HOST,
    CLF_IDENT,
    CLF_USER,
    CLF_TIME,
    CLF_REQUEST,
    CLF_METHOD,
    CLF_PATH,
    CLF_PROTOCOL,
    CLF_STATUS,
    CLF_BYTES,
    CLF_REFERER,
    CLF_AGENT,
    CLF_REST,
    CLF_VHOST,
    CLF_FIELDS
};
enum {
    SYS_TIME,
    SYS_HOST,
    SYS_APP,
    SYS_PID,
    SYS_MSGID,
    SYS_DATA,
    SYS_MESSAGE,
    SYS_FACILITY,
    SYS_SEVERITY,
    SYS_FIELDS
};

typedef struct log_source {
    int64_t now; /* days since 1970: times of RFC 3164 have no year */
    char *texts; /* HAC_BATCH_ROWS × ROW_TEXT */
} log_source;

typedef struct log_field {
    uint8_t *at; /* NULL: null */
    size_t bytes;
    bool made; /* it is in the row's text */
} log_field;

typedef struct log_line {
    hac_log_text text;
    log_field fields[FIELDS_MAX];
    char *made; /* ROW_TEXT bytes */
    int64_t now;
} log_line;

static bool problem(log_line *l, const char *what)
{
    return hac_log_problem(&l->text, what);
}

static bool take(log_line *l, char c)
{
    return hac_log_take(&l->text, c);
}

static void set(log_line *l, size_t field, uint8_t *at, size_t bytes)
{
    bool dash = bytes == 1 && *at == '-';
    l->fields[field] = (log_field){dash ? NULL : at, dash ? 0 : bytes, false};
}

/* Up to a blank. */
static bool take_word(log_line *l, size_t field)
{
    uint8_t *from = l->text.at;
    while (l->text.at < l->text.end && *l->text.at != ' ')
        l->text.at++;
    if (l->text.at == from)
        return problem(l, "expected a field");
    set(l, field, from, (size_t)(l->text.at - from));
    return true;
}

/* The number that these digits are; a blank counts as 0. */
static int number(const uint8_t *at, size_t digits)
{
    int value = 0;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (at[i] == ' ' ? 0 : at[i] - '0');
    return value;
}

/* A date, and a time of day that is kept as it is. The year has four digits. */
static void set_time(log_line *l, size_t field, int year, int month, int day, const uint8_t *clock,
                     size_t bytes)
{
    snprintf(l->made, TIME_MAX, "%04d-%02d-%02d ", year, month, day);
    memcpy(l->made + DATE_BYTES, clock, bytes);
    l->fields[field] = (log_field){(uint8_t *)l->made, DATE_BYTES + bytes, true};
}

/* ---- clf ---- */

/* 10/Oct/2000:13:55:36 -0700 becomes 2000-10-10 13:55:36 -0700. */
static bool clf_time(log_line *l, const uint8_t *at, size_t bytes)
{
    bool fits = bytes >= 20 && bytes < TIME_MAX && hac_log_fits(at, "00/xxx/0000:00:00:00");
    int month = fits ? hac_log_month(at + 3) : 0;
    if (month == 0)
        return problem(l, "the time is not written as [10/Oct/2000:13:55:36 -0700]");
    set_time(l, CLF_TIME, number(at + 7, 4), month, number(at, 2), at + 12, bytes - 12);
    return true;
}

static bool take_bracketed_time(log_line *l)
{
    if (!take(l, '['))
        return problem(l, "expected [ and the time");
    uint8_t *from = l->text.at, *close = memchr(from, ']', (size_t)(l->text.end - from));
    if (close == NULL)
        return problem(l, "the [ of the time is never closed");
    if (!clf_time(l, from, (size_t)(close - from)))
        return false;
    l->text.at = close + 1;
    return true;
}

static bool take_quoted(log_line *l, size_t field)
{
    uint8_t *from;
    size_t bytes;
    if (!hac_log_quoted(&l->text, &from, &bytes))
        return false;
    set(l, field, from, bytes);
    return true;
}

/* GET /index.html HTTP/1.1; a request of another form has no parts. */
static void split_request(log_line *l)
{
    uint8_t *at = l->fields[CLF_REQUEST].at;
    if (at == NULL)
        return;
    uint8_t *end = at + l->fields[CLF_REQUEST].bytes, *first = memchr(at, ' ', (size_t)(end - at));
    uint8_t *last = first != NULL ? memrchr(first, ' ', (size_t)(end - first)) : NULL;
    if (first == last || end - last < 6 || memcmp(last + 1, "HTTP/", 5) != 0)
        return;
    set(l, CLF_METHOD, at, (size_t)(first - at));
    set(l, CLF_PATH, first + 1, (size_t)(last - first) - 1);
    set(l, CLF_PROTOCOL, last + 1, (size_t)(end - last) - 1);
}

/* NAME:80, 1.2.3.4:80 or [::1]:80. The colons of ::1 are no port's. */
static bool has_port(const uint8_t *at, size_t bytes)
{
    const uint8_t *colon = memrchr(at, ':', bytes);
    if (colon == NULL || colon == at || colon + 1 == at + bytes)
        return false;
    for (const uint8_t *digit = colon + 1; digit != at + bytes; digit++)
        if (*digit < '0' || *digit > '9')
            return false;
    return memchr(at, ':', (size_t)(colon - at)) == NULL || (*at == '[' && colon[-1] == ']');
}

/* Debian's vhost_combined has the virtual host and its port before the host, so that four words or more come
 * before the time. Where the first word is a host that has a port itself, an ident follows: -. */
static void take_vhost(log_line *l)
{
    uint8_t *from = l->text.at, *end = memmem(from, (size_t)(l->text.end - from), " [", 2);
    uint8_t *blank = end != NULL ? memchr(from, ' ', (size_t)(end - from)) : NULL;
    if (blank == NULL || !has_port(from, (size_t)(blank - from)) || memcmp(blank + 1, "- ", 2) == 0)
        return;
    uint8_t *second = memchr(blank + 1, ' ', (size_t)(end - blank) - 1);
    if (second == NULL || memchr(second + 1, ' ', (size_t)(end - second) - 1) == NULL)
        return;
    set(l, CLF_VHOST, from, (size_t)(blank - from));
    l->text.at = blank + 1;
}

/* The user's name may have blanks: it ends before " [". */
static bool take_user(log_line *l)
{
    uint8_t *from = l->text.at, *end = memmem(from, (size_t)(l->text.end - from), " [", 2);
    if (end == NULL || end == from)
        return problem(l, "expected a user and [ before the time");
    if (memcmp(from, "- ", 2) == 0 && end > from + 1)
        return problem(l, "expected host, ident and user before the time, and nothing else but a virtual "
                          "host with its port (vhost_combined)");
    set(l, CLF_USER, from, (size_t)(end - from));
    l->text.at = end;
    return true;
}

static bool parse_clf(log_line *l)
{
    take_vhost(l);
    bool good = take_word(l, CLF_HOST) && take(l, ' ') && take_word(l, CLF_IDENT) && take(l, ' ') &&
                take_user(l) && take(l, ' ') && take_bracketed_time(l) && take(l, ' ') &&
                take_quoted(l, CLF_REQUEST) && take(l, ' ') && take_word(l, CLF_STATUS) && take(l, ' ') &&
                take_word(l, CLF_BYTES);
    if (!good)
        return problem(l, "expected a blank and the next field");
    split_request(l);
    if (l->text.end - l->text.at > 1 && l->text.at[1] == '"') {
        l->text.at++;
        if (!take_quoted(l, CLF_REFERER) || !take(l, ' ') || !take_quoted(l, CLF_AGENT))
            return problem(l, "expected the referer and the agent in quotes");
    }
    if (l->text.at < l->text.end && !take(l, ' '))
        return problem(l, "expected a blank and the next field");
    if (l->text.at < l->text.end)
        set(l, CLF_REST, l->text.at, (size_t)(l->text.end - l->text.at));
    return true;
}

/* ---- syslog ---- */

/* <165>: facility × 8 + severity */
static bool take_priority(log_line *l)
{
    unsigned value = 0, digits = 0;
    if (!take(l, '<'))
        return true;
    for (; l->text.at < l->text.end && *l->text.at >= '0' && *l->text.at <= '9' && digits < 3; digits++)
        value = value * 10 + (unsigned)(*l->text.at++ - '0');
    if (digits == 0 || value > 191 || !take(l, '>'))
        return problem(l, "expected a priority, <0> to <191>");
    char *to = l->made + TIME_MAX;
    size_t facility = (size_t)snprintf(to, ROW_TEXT - TIME_MAX, "%u", value / 8);
    l->fields[SYS_FACILITY] = (log_field){(uint8_t *)to, facility, true};
    to[4] = (char)('0' + value % 8);
    l->fields[SYS_SEVERITY] = (log_field){(uint8_t *)to + 4, 1, true};
    return true;
}

/* [id name="value" …][…]: as it stands */
static bool take_data(log_line *l)
{
    uint8_t *from = l->text.at;
    if (take(l, '-'))
        return true;
    if (l->text.at == l->text.end || *l->text.at != '[')
        return problem(l, "expected structured data in [ ], or -");
    while (take(l, '[')) {
        bool quoted = false;
        for (; l->text.at < l->text.end && (quoted || *l->text.at != ']'); l->text.at++) {
            quoted ^= *l->text.at == '"';
            if (*l->text.at == '\\' && quoted && l->text.end - l->text.at > 1)
                l->text.at++;
        }
        if (!take(l, ']'))
            return problem(l, "the structured data are never closed");
    }
    set(l, SYS_DATA, from, (size_t)(l->text.at - from));
    return true;
}

static void take_message(log_line *l)
{
    size_t bytes = (size_t)(l->text.end - l->text.at);
    size_t mark = hac_byte_order_mark(l->text.at, bytes);
    l->text.at += mark;
    l->fields[SYS_MESSAGE] = (log_field){l->text.at, bytes - mark, false};
}

/* A time as RFC 3339 has it goes as it is. */
static bool take_iso_time(log_line *l)
{
    if (!take_word(l, SYS_TIME))
        return false;
    size_t bytes = l->fields[SYS_TIME].bytes;
    if (bytes >= TIME_MAX)
        return problem(l, "the time is too long");
    if (l->fields[SYS_TIME].at != NULL) {
        memcpy(l->made, l->fields[SYS_TIME].at, bytes);
        l->fields[SYS_TIME] = (log_field){(uint8_t *)l->made, bytes, true};
    }
    return true;
}

static bool parse_5424(log_line *l)
{
    bool good = take(l, '1') && take(l, ' ') && take_iso_time(l) && take(l, ' ') && take_word(l, SYS_HOST) &&
                take(l, ' ') && take_word(l, SYS_APP) && take(l, ' ') && take_word(l, SYS_PID) &&
                take(l, ' ') && take_word(l, SYS_MSGID) && take(l, ' ') && take_data(l);
    if (!good)
        return problem(l, "expected a blank and the next field of RFC 5424");
    if (l->text.at < l->text.end && !take(l, ' '))
        return problem(l, "expected a blank before the message");
    if (l->text.at < l->text.end)
        take_message(l);
    return true;
}

/* The latest year in which the day is there and not later than tomorrow. */
static int64_t year_of(int month, int day, int64_t now)
{
    int64_t year, again;
    unsigned m, d;
    hac_civil_from_days(now + 1, &year, &m, &d); /* tomorrow may be in the next year */
    for (int tries = 0; tries < 9; tries++, year--) {
        int64_t days = hac_days_from_civil(year, (unsigned)month, (unsigned)day);
        hac_civil_from_days(days, &again, &m, &d);
        if (days <= now + 1 && m == (unsigned)month && d == (unsigned)day)
            break;
    }
    return year;
}

/* Oct 11 22:14:15, whose day may have a blank in place of a 0. */
static bool take_short_time(log_line *l)
{
    const uint8_t *at = l->text.at;
    bool fits = l->text.end - at >= 15 &&
                (hac_log_fits(at, "xxx 00 00:00:00") || hac_log_fits(at, "xxx  0 00:00:00"));
    int month = fits ? hac_log_month(at) : 0;
    if (month == 0)
        return problem(l, "expected a time: Oct 11 22:14:15, or 2003-10-11T22:14:15Z");
    int day = number(at + 4, 2);
    if (day < 1 || day > 31)
        return problem(l, "expected a day of the month");
    set_time(l, SYS_TIME, (int)year_of(month, day, l->now), month, day, at + 7, 8);
    l->text.at += 15;
    return true;
}

/* app[pid]: message, app: message, or a message alone */
static void take_tag(log_line *l)
{
    uint8_t *from = l->text.at, *at = from, *open = NULL;
    while (at < l->text.end && *at != ' ' && *at != ':' && *at != '[')
        at++;
    uint8_t *app_end = at;
    if (at < l->text.end && *at == '[') {
        open = at + 1;
        at = memchr(at, ']', (size_t)(l->text.end - at));
        at = at != NULL ? at + 1 : l->text.end;
    }
    if (at < l->text.end && *at == ':' && app_end > from) {
        set(l, SYS_APP, from, (size_t)(app_end - from));
        if (open != NULL)
            set(l, SYS_PID, open, (size_t)(at - open) - 1);
        l->text.at = at + 1;
        (void)take(l, ' ');
    }
    take_message(l);
}

static bool parse_syslog(log_line *l)
{
    if (!take_priority(l))
        return false;
    const uint8_t *at = l->text.at;
    size_t left = (size_t)(l->text.end - at);
    if (l->fields[SYS_FACILITY].at != NULL && left > 2 && at[0] == '1' && at[1] == ' ')
        return parse_5424(l);
    bool iso = left > 0 && *at >= '0' && *at <= '9';
    if (!(iso ? take_iso_time(l) : take_short_time(l)))
        return false;
    if (!take(l, ' ') || !take_word(l, SYS_HOST))
        return problem(l, "expected a blank and the host");
    if (take(l, ' '))
        take_tag(l);
    return true;
}

/* ---- the format ---- */

static hac_status open_log(hac_source *source, hac_error *err)
{
    log_source *s = source->state;
    size_t fields = source->query->source.format == HAC_INPUT_CLF ? CLF_FIELDS : SYS_FIELDS;
    for (size_t i = 0; i < source->n_columns; i++)
        if (source->columns[i].place >= fields)
            return hac_fail(err, HAC_INVALID, "there is no column '%s': the format has %zu fields",
                            source->columns[i].name, fields);
    const uint64_t today = source->query->source.options.today;
    s->now = today != 0 ? (int64_t)today : (int64_t)time(NULL) / 86400;
    s->texts = malloc(HAC_BATCH_ROWS * ROW_TEXT);
    if (s->texts == NULL)
        return hac_fail_no_memory(err);
    return hac_source_open_lines(source, err);
}

static void close_log(hac_source *source)
{
    free(((log_source *)source->state)->texts);
}

static void set_row(hac_source *source, const log_line *l, const uint8_t *data, size_t row)
{
    const log_source *s = source->state;
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_source_column *column = &source->columns[i];
        const log_field *f = &l->fields[column->place];
        const uint8_t *base = f->made ? (const uint8_t *)s->texts : data;
        if (f->at == NULL)
            hac_source_null(column, row);
        else
            column->refs[row] = (hac_string_ref){(uint32_t)(f->at - base), (uint32_t)f->bytes};
    }
}

/* Fields that are made in one row are made in all. */
static bool is_made(const hac_source *source, size_t field)
{
    return source->query->source.format == HAC_INPUT_CLF
               ? field == CLF_TIME
               : field == SYS_TIME || field == SYS_FACILITY || field == SYS_SEVERITY;
}

static hac_status next_log(hac_source *source, hac_error *err)
{
    const log_source *s = source->state;
    hac_records_view view;
    size_t used = 0;
    hac_status status = hac_records_next(&source->records, &view, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < source->n_columns; i++)
        source->columns[i].bytes =
            is_made(source, source->columns[i].place) ? (const uint8_t *)s->texts : view.data;
    for (; used < view.n; used++) {
        log_line l = {.made = s->texts + source->rows * ROW_TEXT, .now = s->now};
        l.text = hac_log_line(&view, used);
        if (l.text.at == l.text.end)
            continue;
        uint8_t *begin = l.text.at;
        if (!(source->query->source.format == HAC_INPUT_CLF ? parse_clf(&l) : parse_syslog(&l))) {
            if (hac_source_bad_record(source, view.base + (uint64_t)(begin - view.data), NULL,
                                      "byte %zu of the line: %s", (size_t)(l.text.at - begin) + 1,
                                      l.text.problem))
                continue;
            break;
        }
        set_row(source, &l, view.data, source->rows);
        source->starts[source->rows++] = view.base + (uint64_t)(begin - view.data);
    }
    hac_records_take(&source->records, used);
    return HAC_OK;
}

const hac_source_format hac_format_log_lines = {.state_bytes = sizeof(log_source),
                                                .open = open_log,
                                                .begin = hac_source_begin_lines,
                                                .next = next_log,
                                                .close = close_log};
