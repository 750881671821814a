/* SPDX-License-Identifier: Apache-2.0 */
#include "interval.h"

#include <string.h>
#include <strings.h>

#include "base/value_text.h"

#define TOO_LARGE "the interval is too large"

static const struct {
    const char *name; /* also with an s behind it */
    int64_t months, microseconds;
} units[] = {
    {"year", 12, 0},
    {"quarter", 3, 0},
    {"month", 1, 0},
    {"week", 0, 7 * HAC_US_PER_DAY},
    {"day", 0, HAC_US_PER_DAY},
    {"hour", 0, HAC_US_PER_HOUR},
    {"minute", 0, HAC_US_PER_MINUTE},
    {"min", 0, HAC_US_PER_MINUTE},
    {"second", 0, HAC_US_PER_SECOND},
    {"sec", 0, HAC_US_PER_SECOND},
    {"millisecond", 0, 1000},
    {"ms", 0, 1000},
    {"microsecond", 0, 1},
    {"us", 0, 1},
};

const char *hac_interval_add(hac_interval *interval, int64_t amount, const char *unit, size_t bytes)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i].name);
        bool plural = bytes == n + 1 && (unit[n] == 's' || unit[n] == 'S');
        int64_t months, microseconds;
        if ((bytes != n && !plural) || strncasecmp(unit, units[i].name, n) != 0)
            continue;
        if (__builtin_mul_overflow(amount, units[i].months, &months) ||
            __builtin_mul_overflow(amount, units[i].microseconds, &microseconds) ||
            __builtin_add_overflow(interval->months, months, &interval->months) ||
            __builtin_add_overflow(interval->microseconds, microseconds, &interval->microseconds))
            return TOO_LARGE;
        return NULL;
    }
    return HAC_INTERVAL_EXPECTED;
}

const char *hac_interval_amount(const char *text, size_t bytes, int64_t *ret)
{
    size_t digits = 0;
    for (size_t i = 0; i < bytes; i++)
        digits += text[i] >= '0' && text[i] <= '9';
    size_t sign = bytes > 0 && (text[0] == '-' || text[0] == '+');
    if (digits == 0 || digits + sign != bytes)
        return HAC_INTERVAL_EXPECTED;
    return hac_parse_i64(text, bytes, ret) == HAC_TEXT_OK ? NULL : TOO_LARGE;
}

/* The next word: a number, or letters. 2hours is two words. */
static size_t take_word(const char **at, const char *end, const char **ret)
{
    while (*at < end && **at == ' ')
        ++*at;
    *ret = *at;
    while (*at < end && **at != ' ') {
        char c = **at, before = *at > *ret ? (*at)[-1] : c;
        if (before >= '0' && before <= '9' && !(c >= '0' && c <= '9') && c != '.' && c != ':')
            break;
        ++*at;
    }
    return (size_t)(*at - *ret);
}

const char *hac_interval_parse(const char *text, size_t bytes, hac_interval *ret)
{
    const char *at = text, *end = text + bytes, *number, *unit;
    size_t n = take_word(&at, end, &number), pairs = 0;
    for (; n > 0; pairs++) {
        int64_t amount;
        const char *problem = hac_interval_amount(number, n, &amount);
        n = take_word(&at, end, &unit);
        if (problem == NULL)
            problem = hac_interval_add(ret, amount, unit, n);
        if (problem != NULL)
            return problem;
        n = take_word(&at, end, &number);
    }
    return pairs > 0 ? NULL : HAC_INTERVAL_EXPECTED;
}
