/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's operations with a text: the C library's regular expressions and times. */
#include <locale.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "machine_reference.h"

#define MICROSECONDS INT64_C(1000000)

/* ---- regular expressions ---- */

typedef struct expression {
    regex_t compiled;
    bool all;
    unsigned group;
} expression;

/* "options/group/pattern" */
static void compile(const char *text, size_t n, expression *ret)
{
    char copy[REFERENCE_STRING_MAX];
    static locale_t utf8;
    if (utf8 == NULL)
        utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
    uselocale(utf8);
    memcpy(copy, text, n);
    copy[n] = '\0';
    char *slash = strchr(copy, '/');
    *slash = '\0';
    ret->all = strchr(copy, 'g') != NULL;
    ret->group = (unsigned)(slash[1] - '0');
    if (regcomp(&ret->compiled, slash + 3, REG_EXTENDED | (strchr(copy, 'i') != NULL ? REG_ICASE : 0)) != 0)
        abort();
}

static bool match(const expression *e, const char *text, size_t at, regmatch_t groups[10])
{
    return regexec(&e->compiled, text + at, 10, groups, at > 0 ? REG_NOTBOL : 0) == 0;
}

static void put(ref_value *ret, const char *text, size_t bytes)
{
    if (ret->state != HAC_ROW_OK || bytes > sizeof ret->string - ret->bytes) {
        ret->state = 255;
        return;
    }
    memcpy(ret->string + ret->bytes, text, bytes);
    ret->bytes += bytes;
}

static void put_replacement(ref_value *ret, const ref_value *by, const char *text,
                            const regmatch_t groups[10])
{
    for (size_t i = 0; i < by->bytes; i++) {
        if (by->string[i] != '\\' || i + 1 == by->bytes || by->string[i + 1] == '\\') {
            i += by->string[i] == '\\' && i + 1 < by->bytes;
            put(ret, by->string + i, 1);
            continue;
        }
        int group = by->string[++i] - '0';
        if (group >= 0 && group <= 9 && groups[group].rm_so >= 0)
            put(ret, text + groups[group].rm_so, (size_t)(groups[group].rm_eo - groups[group].rm_so));
    }
}

static void replace(const expression *e, const char *text, size_t n, const ref_value *by, ref_value *ret)
{
    size_t at = 0, last = SIZE_MAX;
    regmatch_t groups[10];
    while (at <= n && match(e, text, at, groups)) {
        size_t first = at + (size_t)groups[0].rm_so, end = at + (size_t)groups[0].rm_eo;
        put(ret, text + at, first - at);
        if (first == end && first == last) {
            size_t length = first == n ? 0 : hac_utf8_sequence(text + first, n - first);
            length += first < n && length == 0;
            put(ret, text + first, length);
            at = first + length;
            last = SIZE_MAX;
            if (length == 0)
                return;
            continue;
        }
        put_replacement(ret, by, text + at, groups);
        at = last = end;
        if (!e->all)
            break;
    }
    put(ret, text + at, n - at);
}

static void regexps(unsigned op, const char *text, size_t n, const ref_value *a, const ref_value *b,
                    ref_value *ret)
{
    char copy[REFERENCE_STRING_MAX + 1];
    regmatch_t groups[10];
    expression e;
    memcpy(copy, a->string, a->bytes);
    copy[a->bytes] = '\0';
    compile(text, n, &e);
    bool found = match(&e, copy, 0, groups);
    ret->boolean = found;
    if (op == HAC_OP_REGEXP_EXTRACT && found && groups[e.group].rm_so >= 0)
        put(ret, copy + groups[e.group].rm_so, (size_t)(groups[e.group].rm_eo - groups[e.group].rm_so));
    if (op == HAC_OP_REGEXP_REPLACE)
        replace(&e, copy, a->bytes, b, ret);
    regfree(&e.compiled);
    uselocale(LC_GLOBAL_LOCALE);
}

/* ---- times ---- */

#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the formats are what is tested */

static void print(const char *format, size_t n, int64_t microseconds, ref_value *ret)
{
    int64_t rest = microseconds % MICROSECONDS;
    time_t seconds = microseconds / MICROSECONDS - (rest < 0);
    struct tm tm;
    if (gmtime_r(&seconds, &tm) == NULL || tm.tm_year < 1 - 1900 || tm.tm_year > 9999 - 1900) {
        ret->state = HAC_ROW_RANGE;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        char code[] = {format[i], i + 1 < n ? format[i + 1] : '\0', '\0'}, text[64];
        if (format[i] != '%') {
            put(ret, format + i, 1);
            continue;
        }
        i++;
        size_t used = 0;
        if (format[i] == 'Y' || format[i] == 'F')
            used = (size_t)sprintf(text, "%04d", tm.tm_year + 1900);
        if (format[i] != 'Y')
            used += strftime(text + used, sizeof text - used, format[i] == 'F' ? "-%m-%d" : code, &tm);
        put(ret, text, used);
    }
}

static bool blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void parse(const char *format, const ref_value *a, ref_value *ret)
{
    char text[REFERENCE_STRING_MAX + 1];
    struct tm tm = {.tm_mday = 1};
    memcpy(text, a->string, a->bytes);
    text[a->bytes] = '\0';
    const char *from = text;
    while (blank(*from))
        from++;
    const char *end = strptime(from, format, &tm);
    while (end != NULL && blank(*end))
        end++;
    struct tm again = tm;
    int64_t seconds = timegm(&again);
    if (end == NULL || end != text + a->bytes || again.tm_mday != tm.tm_mday || tm.tm_year < 1 - 1900)
        ret->state = HAC_ROW_FORMAT;
    else
        ret->i64 = seconds * MICROSECONDS;
}

/* Zones without a yearly rule, by trying all offsets, the last one first. */
static void convert_zone(unsigned op, const char *text, int64_t microseconds, ref_value *ret)
{
    uint16_t n;
    int32_t offset;
    int64_t change, result;
    memcpy(&n, text, sizeof n);
    for (size_t i = n;; i--) {
        change = INT64_MIN;
        memcpy(&offset, i > 0 ? text + 8 + (i - 1) * 12 + 8 : text + 4, sizeof offset);
        if (i > 0)
            memcpy(&change, text + 8 + (i - 1) * 12, sizeof change);
        int64_t ahead = offset * INT64_C(1000000);
        bool fits = op == HAC_OP_ZONE_LOCAL ? !__builtin_add_overflow(microseconds, ahead, &result)
                                            : !__builtin_sub_overflow(microseconds, ahead, &result);
        int64_t utc = op == HAC_OP_ZONE_LOCAL ? microseconds : result;
        if (i > 0 && fits && utc < change * 1000000)
            continue;
        if (!fits || result < INT64_C(-62135596800000000) || result >= INT64_C(253402300800000000))
            ret->state = HAC_ROW_RANGE;
        else
            ret->i64 = result;
        return;
    }
}

bool reference_texts(const hac_program *program, const hac_instruction *at, const ref_value *a,
                     const ref_value *b, ref_value *ret)
{
    char format[REFERENCE_STRING_MAX];
    if (at->op < HAC_OP_REGEXP_MATCHES || at->op > HAC_OP_ZONE_UTC)
        return false;
    const hac_constant *k = &program->constants[at->k];
    const char *text = (const char *)program->bytes + k->low;
    if (at->op == HAC_OP_ZONE_LOCAL || at->op == HAC_OP_ZONE_UTC) {
        convert_zone(at->op, text, a->i64, ret);
    } else if (at->op == HAC_OP_STRFTIME) {
        print(text, k->high, a->i64, ret);
    } else if (at->op == HAC_OP_STRPTIME) {
        memcpy(format, text, k->high);
        format[k->high] = '\0';
        parse(format, a, ret);
    } else {
        regexps(at->op, text, k->high, a, b, ret);
    }
    return true;
}
