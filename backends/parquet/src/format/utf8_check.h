/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether text is UTF-8, with a fast path for ASCII. */
#ifndef PARQUET_UTF8_CHECK_H
#define PARQUET_UTF8_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

/* The number of leading ASCII bytes, rounded down to a multiple of 8. */
static inline size_t hac_ascii_bytes(const uint8_t *text, size_t bytes)
{
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        uint64_t word;
        memcpy(&word, text + at, sizeof word);
        if ((word & 0x8080808080808080ull) != 0)
            break;
    }
    return at;
}

static inline bool hac_is_ascii(const uint8_t *text, size_t bytes)
{
    size_t at = hac_ascii_bytes(text, bytes);
    while (at < bytes && text[at] < 0x80)
        at++;
    return at == bytes;
}

static inline bool hac_is_utf8(const uint8_t *text, size_t bytes)
{
    size_t at = hac_ascii_bytes(text, bytes);
    while (at < bytes) {
        size_t length = text[at] < 0x80 ? 1 : hac_utf8_sequence((const char *)text + at, bytes - at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

#endif
