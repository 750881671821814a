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

/* ---- like ----
 *
 * A pattern's % cut it into segments. The first is compared at the text's beginning, the last at its end, and
 * each other one is searched for behind the one before; the first place is as good as any later one. */

/* How far the segment at `p` goes: to the next %, or to the end. */
static size_t segment_end(const uint8_t *pattern, size_t n, size_t p)
{
    while (p < n && pattern[p] != '%')
        p += pattern[p] == HAC_PATTERN_ESCAPE ? 2 : 1;
    return p;
}

/* Whether the segment matches at *t, which is then moved behind it. */
static bool match_here(const uint8_t *text, size_t bytes, size_t *t, const uint8_t *segment, size_t n)
{
    size_t at = *t;
    for (size_t p = 0; p < n; p++) {
        if (at == bytes)
            return false;
        if (segment[p] == '_') {
            at += character(text + at, bytes - at);
            continue;
        }
        p += segment[p] == HAC_PATTERN_ESCAPE;
        if (text[at++] != segment[p])
            return false;
    }
    *t = at;
    return true;
}

/* Bytes and characters of any text that the segment matches; with a _, there may be more bytes. Returns
 * whether the segment is well-formed UTF-8: where such a one matches, characters begin and end. */
static bool measure(const uint8_t *segment, size_t n, size_t *ret_bytes, size_t *ret_characters)
{
    bool whole = true;
    *ret_bytes = *ret_characters = 0;
    for (size_t p = 0; p < n; ++*ret_characters) {
        p += segment[p] == HAC_PATTERN_ESCAPE;
        size_t length = hac_utf8_sequence((const char *)segment + p, n - p);
        whole &= length > 0;
        length += length == 0;
        p += length;
        *ret_bytes += length;
    }
    return whole;
}

/* Tries one character after the other; what matches has to end the text if `last`. */
static bool try_each(const uint8_t *text, size_t bytes, size_t *t, const uint8_t *segment, size_t n,
                     bool last)
{
    for (size_t at = *t;; at += character(text + at, bytes - at)) {
        *t = at;
        if (match_here(text, bytes, t, segment, n) && (!last || *t == bytes))
            return true;
        if (at == bytes)
            return false;
    }
}

static bool ends_with(const uint8_t *text, size_t bytes, size_t t, const uint8_t *segment, size_t n)
{
    size_t least, wanted;
    if (!measure(segment, n, &least, &wanted))
        return try_each(text, bytes, &t, segment, n, true);
    if (least > bytes - t)
        return false;
    if (wanted == n && memchr(segment, '_', n) == NULL)
        return memcmp(text + bytes - n, segment, n) == 0;
    size_t left = hac_utf8_length(text + t, bytes - t);
    if (left < wanted)
        return false;
    t += hac_utf8_skip(text + t, bytes - t, left - wanted);
    return match_here(text, bytes, &t, segment, n) && t == bytes;
}

#define PLACES 64 /* that are compared at once, with vector instructions */

static bool is_ascii(const uint8_t *text, size_t bytes)
{
    uint8_t any = 0;
    for (size_t i = 0; i < bytes; i++)
        any |= text[i];
    return any < 0x80;
}

/* The first of PLACES where the segment of `least` bytes matches: *t is moved behind it. All are compared
 * with one byte of the segment after the other, behind a _ if characters are bytes there. The text is no
 * shorter than the last place needs. */
static bool search_places(const uint8_t *text, size_t bytes, size_t *t, const uint8_t *segment, size_t n,
                          size_t least)
{
    const uint8_t *at = text + *t;
    uint8_t alive[PLACES];
    bool ascii = false;
    memset(alive, 1, sizeof alive);
    for (size_t p = 0, offset = 0; p < n; p++, offset++) {
        if (segment[p] == '_') {
            if (!ascii && !is_ascii(at, least + PLACES - 1))
                break;
            ascii = true;
            continue;
        }
        p += segment[p] == HAC_PATTERN_ESCAPE;
        uint8_t any = 0;
        for (size_t i = 0; i < PLACES; i++) {
            alive[i] &= at[offset + i] == segment[p];
            any |= alive[i];
        }
        if (any == 0)
            return false;
    }
    for (size_t i = 0; i < PLACES; i++) {
        size_t end = *t + i;
        if (alive[i] && match_here(text, bytes, &end, segment, n)) {
            *t = end;
            return true;
        }
    }
    return false;
}

/* The first match from *t on, which is moved behind it. */
static bool search(const uint8_t *text, size_t bytes, size_t *t, const uint8_t *segment, size_t n)
{
    size_t least, characters;
    if (!measure(segment, n, &least, &characters))
        return try_each(text, bytes, t, segment, n, false);
    if (least == n && memchr(segment, '_', n) == NULL) {
        const uint8_t *found = n == 0 ? text + *t : memmem(text + *t, bytes - *t, segment, n);
        if (found != NULL)
            *t = (size_t)(found - text) + n;
        return found != NULL;
    }
    for (; bytes - *t >= least + PLACES - 1; *t += PLACES)
        if (search_places(text, bytes, t, segment, n, least))
            return true;
    return try_each(text, bytes, t, segment, n, false);
}

bool hac_like(const uint8_t *text, size_t bytes, const uint8_t *pattern, size_t n)
{
    size_t t = 0, p = 0, end = segment_end(pattern, n, 0);
    if (!match_here(text, bytes, &t, pattern, end))
        return false;
    if (end == n)
        return t == bytes;
    for (;;) {
        /* any text, then a character, is a character, then any text: so a search begins with a byte */
        for (p = end + 1; p < n && pattern[p] == '_'; p++) {
            if (t == bytes)
                return false;
            t += character(text + t, bytes - t);
        }
        end = segment_end(pattern, n, p);
        if (end == n)
            return ends_with(text, bytes, t, pattern + p, n - p);
        if (!search(text, bytes, &t, pattern + p, end - p))
            return false;
    }
}
