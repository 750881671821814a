/* SPDX-License-Identifier: Apache-2.0 */
/* Strings as two words (codelet/hash.h). */
#ifndef QUERY_STRING_WORDS_H
#define QUERY_STRING_WORDS_H

#include <stdbool.h>

#include "codelet/hash.h"

/* minimum or maximum of strings: no value yet */
#define HAC_STRING_NONE UINT64_MAX

static inline uint64_t hac_load_32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Reads exactly the `n` bytes. */
static inline void hac_string_to_words_exactly(const uint8_t *p, uint32_t n, uint64_t *ret_low,
                                               uint64_t *ret_high)
{
    uint64_t head = 0, tail = 0;
    if (n > HAC_STRING_SHORT) {
        head = hac_load_32(p);
        tail = (uint64_t)(uintptr_t)p;
    } else if (n >= 8) {
        head = hac_load_32(p);
        tail = hac_load_32(p + 4) | (hac_load_32(p + n - 4) << (8 * (n - 8)));
    } else if (n >= 4) {
        head = hac_load_32(p);
        tail = hac_load_32(p + n - 4) >> (8 * (8 - n));
    } else if (n > 0) {
        head = p[0];
        head |= n > 1 ? (uint64_t)p[1] << 8 : 0;
        head |= n > 2 ? (uint64_t)p[2] << 16 : 0;
    }
    *ret_low = n | head << 32;
    *ret_high = tail;
}

/* Sanitizers report reads behind a string. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAC_STRING_EXACTLY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HAC_STRING_EXACTLY 1
#endif
#endif

#define HAC_STRING_PAGE 4096u /* the smallest page size: all bytes of a string's page are readable */

/* Lengths vary, and branches on them cost more than loads: short strings are read as 16 bytes, and the bytes
 * behind the string are masked out. Never reads outside the string's page. */
static inline void hac_string_to_words(const uint8_t *p, uint32_t n, uint64_t *ret_low, uint64_t *ret_high)
{
#ifdef HAC_STRING_EXACTLY
    hac_string_to_words_exactly(p, n, ret_low, ret_high);
#else
    static const uint8_t kept[2 * 16] = {255, 255, 255, 255, 255, 255, 255, 255,
                                         255, 255, 255, 255, 255, 255, 255, 255};
    bool page_ends = ((uintptr_t)p & (HAC_STRING_PAGE - 1)) > HAC_STRING_PAGE - 16;
    if (__builtin_expect(n - 1 >= HAC_STRING_SHORT || page_ends, 0)) { /* an empty string may have no page */
        hac_string_to_words_exactly(p, n, ret_low, ret_high);
        return;
    }
    uint64_t head, tail, head_mask, tail_mask;
    memcpy(&head, p, 8);
    memcpy(&tail, p + 4, 8);
    memcpy(&head_mask, kept + 16 - n, 8);
    memcpy(&tail_mask, kept + 20 - n, 8);
    *ret_low = n | (head & head_mask) << 32;
    *ret_high = tail & tail_mask;
#endif
}

/* Returns the characters of a string in two words. */
static inline const uint8_t *hac_words_to_string(const uint64_t words[2], uint32_t *ret_n)
{
    *ret_n = (uint32_t)words[0];
    if (*ret_n > HAC_STRING_SHORT)
        return (const uint8_t *)(uintptr_t)words[1];
    return (const uint8_t *)words + 4;
}

static inline bool hac_string_words_equal(const uint64_t a[2], uint64_t low, uint64_t high)
{
    if (a[0] != low)
        return false;
    if (a[1] == high)
        return true;
    uint32_t n = (uint32_t)low;
    return n > HAC_STRING_SHORT &&
           memcmp((const void *)(uintptr_t)a[1], (const void *)(uintptr_t)high, n) == 0;
}

/* Compares byte by byte, unsigned; a prefix is smaller. */
static inline int hac_string_words_compare(const uint64_t a[2], const uint64_t b[2])
{
    uint32_t na, nb;
    const uint8_t *pa = hac_words_to_string(a, &na), *pb = hac_words_to_string(b, &nb);
    int order = memcmp(pa, pb, na < nb ? na : nb);
    return order != 0 ? order : (na > nb) - (na < nb);
}

#endif
