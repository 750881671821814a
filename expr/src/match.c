/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/text.h"
#include "machine_strings.h"

static size_t character(const uint8_t *text, size_t bytes)
{
    if (*text < 0x80)
        return 1;
    size_t length = hac_utf8_sequence((const char *)text, bytes);
    return length == 0 ? 1 : length;
}

size_t hac_utf8_skip(const uint8_t *text, size_t bytes, size_t count)
{
    size_t at = 0;
    for (; at < bytes && count > 0; count--)
        at += character(text + at, bytes - at);
    return at;
}

size_t hac_utf8_length(const uint8_t *text, size_t bytes)
{
    size_t at = 0, count = 0;
    for (; at < bytes; count++)
        at += character(text + at, bytes - at);
    return count;
}

bool hac_string_in(const uint8_t *text, size_t bytes, const hac_argument *list)
{
    const hac_constant wanted = {HAC_REPR_STRING, 0, bytes};
    const hac_constant *elements = list->list;
    size_t low = 0, high = list->n_list;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const hac_constant *element = &elements[middle];
        size_t common = element->high < wanted.high ? element->high : wanted.high;
        int order = common == 0 ? 0 : memcmp(text, list->bytes + element->low, common);
        if (order == 0)
            order = (bytes > element->high) - (bytes < element->high);
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* Bytes of a pattern's front that stand for themselves. */
static size_t literal_run(const uint8_t *pattern, size_t n)
{
    size_t run = 0;
    while (run < n && pattern[run] != '%' && pattern[run] != '_' && pattern[run] != HAC_PATTERN_ESCAPE)
        run++;
    return run;
}

/* Whether `run` bytes of a pattern are all that there is between a % and the next one, or the end. Then they
 * are searched for, which takes no longer however often their beginnings come. (Such bytes have to begin a
 * character: then wherever they are found is the beginning of one.) */
static bool is_searched(const uint8_t *pattern, size_t n, size_t run)
{
    return (run == n || pattern[run] == '%') && (run == 0 || (pattern[0] & 0xc0) != 0x80);
}

static bool ends_with(const uint8_t *text, size_t bytes, const uint8_t *end, size_t n)
{
    return bytes >= n && memcmp(text + bytes - n, end, n) == 0;
}

/* The classic walk: on a mismatch the last % takes one character more; those before it need not be tried
 * again. */
bool hac_like(const uint8_t *text, size_t bytes, const uint8_t *pattern, size_t n)
{
    size_t t = 0, p = 0, retry_t = 0, retry_p = SIZE_MAX;
    while (t < bytes || p < n) {
        if (p < n && pattern[p] == '%') {
            retry_p = ++p;
            retry_t = t;
            size_t run = literal_run(pattern + p, n - p);
            if (!is_searched(pattern + p, n - p, run))
                continue;
            if (p + run == n)
                return ends_with(text + t, bytes - t, pattern + p, run);
            const uint8_t *found = memmem(text + t, bytes - t, pattern + p, run);
            if (found == NULL)
                return false;
            t = (size_t)(found - text) + run;
            p += run;
            continue;
        }
        if (p < n && t < bytes && pattern[p] == '_') {
            p++;
            t += character(text + t, bytes - t);
            continue;
        }
        size_t literal = p + (p < n && pattern[p] == HAC_PATTERN_ESCAPE);
        if (literal < n && t < bytes && pattern[p] != '_' && pattern[literal] == text[t]) {
            p = literal + 1;
            t++;
            continue;
        }
        if (retry_p == SIZE_MAX || retry_t >= bytes)
            return false;
        retry_t += character(text + retry_t, bytes - retry_t);
        t = retry_t;
        p = retry_p;
    }
    return true;
}
