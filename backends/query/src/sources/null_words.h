/* SPDX-License-Identifier: Apache-2.0 */
/* The texts that stand for null: the words of the option null_text, between commas. */
#ifndef QUERY_NULL_WORDS_H
#define QUERY_NULL_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "expr/column.h"

typedef struct hac_null_words {
    const char *text; /* borrowed */
    hac_string_ref list[HAC_NULL_BYTES_MAX / 2 + 1];
    size_t n;
    uint64_t lengths; /* bit n: a word has n bytes; bit 63: 63 or more */
} hac_null_words;

static inline uint64_t hac_null_words_length_bit(size_t bytes)
{
    return UINT64_C(1) << (bytes < 63 ? bytes : 63);
}

/* `text` has at most HAC_NULL_BYTES_MAX bytes and stays with the caller. Empty words do not count. */
static inline hac_null_words hac_null_words_of(const char *text)
{
    hac_null_words words = {.text = text};
    size_t bytes = strnlen(text, HAC_NULL_BYTES_MAX);
    for (size_t begin = 0, at = 0; at <= bytes; at++) {
        if (at < bytes && text[at] != ',')
            continue;
        if (at > begin) {
            words.list[words.n++] = (hac_string_ref){(uint32_t)begin, (uint32_t)(at - begin)};
            words.lengths |= hac_null_words_length_bit(at - begin);
        }
        begin = at + 1;
    }
    return words;
}

static inline bool hac_null_words_have(const hac_null_words *words, const void *field, size_t bytes)
{
    if ((words->lengths & hac_null_words_length_bit(bytes)) == 0)
        return false;
    for (size_t i = 0; i < words->n; i++)
        if (words->list[i].length == bytes && memcmp(words->text + words->list[i].offset, field, bytes) == 0)
            return true;
    return false;
}

#endif
