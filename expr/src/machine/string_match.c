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

/* The number of ASCII characters at the start of the next eight bytes; 0 if there are fewer bytes. */
static inline size_t ascii_ahead(const uint8_t *text, size_t bytes)
{
    uint64_t word;
    if (bytes < sizeof word)
        return 0;
    memcpy(&word, text, sizeof word);
    word &= UINT64_C(0x8080808080808080);
    return word == 0 ? sizeof word : (size_t)__builtin_ctzll(word) / 8;
}

size_t hac_utf8_skip(const uint8_t *text, size_t bytes, size_t count)
{
    size_t at = 0;
    while (at < bytes && count > 0) {
        size_t ahead = ascii_ahead(text + at, bytes - at);
        ahead = ahead < count ? ahead : count;
        at += ahead > 0 ? ahead : character(text + at, bytes - at);
        count -= ahead > 0 ? ahead : 1;
    }
    return at;
}

size_t hac_utf8_length(const uint8_t *text, size_t bytes)
{
    size_t at = 0, count = 0;
    while (at < bytes) {
        size_t ahead = ascii_ahead(text + at, bytes - at);
        at += ahead > 0 ? ahead : character(text + at, bytes - at);
        count += ahead > 0 ? ahead : 1;
    }
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
 * The % of a pattern separate its segments. The first segment is compared at the beginning of the text and
 * the last at its end. Each other segment is searched behind the previous one; its first match is as good as
 * any later one. */

/* The end of the segment at `p`: the next %, or the end of the pattern. */
static size_t segment_end(const uint8_t *pattern, size_t n, size_t p)
{
    while (p < n && pattern[p] != '%')
        p += pattern[p] == HAC_PATTERN_ESCAPE ? 2 : 1;
    return p;
}

/* Whether the segment matches at *t. If so, moves *t behind the match. */
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

/* Counts bytes and characters of the segment; a text that matches a _ may have more bytes. Returns whether
 * the segment is well-formed UTF-8: then a match begins and ends at character boundaries. */
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

/* Tries one character after another. If `last`, a match must end the text. */
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
    size_t min, wanted;
    if (!measure(segment, n, &min, &wanted))
        return try_each(text, bytes, &t, segment, n, true);
    if (min > bytes - t)
        return false;
    if (wanted == n && memchr(segment, '_', n) == NULL)
        return memcmp(text + bytes - n, segment, n) == 0;
    size_t left = hac_utf8_length(text + t, bytes - t);
    if (left < wanted)
        return false;
    t += hac_utf8_skip(text + t, bytes - t, left - wanted);
    return match_here(text, bytes, &t, segment, n) && t == bytes;
}

#define PLACES 64 /* compared at once, with vector instructions */

static bool is_ascii(const uint8_t *text, size_t bytes)
{
    uint8_t any = 0;
    for (size_t i = 0; i < bytes; i++)
        any |= text[i];
    return any < 0x80;
}

/* Finds the first of PLACES places where the segment of `min` bytes matches, and moves *t behind the match.
 * Each byte of the segment is compared at all places at once; behind a _, only if all characters there are
 * single bytes. The text is long enough for the last place. */
static bool search_places(const uint8_t *text, size_t bytes, size_t *t, const uint8_t *segment, size_t n,
                          size_t min)
{
    const uint8_t *at = text + *t;
    uint8_t alive[PLACES];
    bool ascii = false;
    memset(alive, 1, sizeof alive);
    for (size_t p = 0, offset = 0; p < n; p++, offset++) {
        if (segment[p] == '_') {
            if (!ascii && !is_ascii(at, min + PLACES - 1))
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

/* Finds the first match at or behind *t, and moves *t behind it. */
static bool search(const uint8_t *text, size_t bytes, size_t *t, const uint8_t *segment, size_t n)
{
    size_t min, characters;
    if (!measure(segment, n, &min, &characters))
        return try_each(text, bytes, t, segment, n, false);
    if (min == n && memchr(segment, '_', n) == NULL) {
        const uint8_t *found = n == 0 ? text + *t : memmem(text + *t, bytes - *t, segment, n);
        if (found != NULL)
            *t = (size_t)(found - text) + n;
        return found != NULL;
    }
    for (; bytes - *t >= min + PLACES - 1; *t += PLACES)
        if (search_places(text, bytes, t, segment, n, min))
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
        /* "%_" matches the same texts as "_%", so that a search begins with a byte */
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
