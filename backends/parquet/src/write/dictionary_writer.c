/* SPDX-License-Identifier: Apache-2.0 */
#include "dictionary_writer.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "format/utf8_check.h"

enum { FIRST_SLOTS = 1024, PROBES_MAX = 128 };

void hac_dictionary_clear(hac_dictionary_writer *dictionary)
{
    hac_bytes_clear(&dictionary->plain);
    hac_bytes_clear(&dictionary->texts);
    free(dictionary->slots);
    dictionary->slots = NULL;
    dictionary->n_slots = 0;
    dictionary->n = 0;
}

static inline uint32_t hash_word(uint64_t value)
{
    value ^= value >> 32;
    value *= 0x9e3779b97f4a7c15ull;
    return (uint32_t)(value >> 32);
}

static inline uint32_t hash_bytes(const uint8_t *data, size_t n)
{
    return (uint32_t)XXH3_64bits(data, n);
}

static uint32_t hash_of_entry(const hac_dictionary_writer *d, uint32_t entry)
{
    const uint8_t *at = d->plain.data + (size_t)entry * d->width;
    uint64_t word = 0;
    if (d->width == 0)
        return hac_dictionary_texts(d)[entry].hash;
    if (d->width > 8)
        return hash_bytes(at, d->width);
    memcpy(&word, at, d->width);
    return hash_word(word);
}

static void put(hac_dictionary_writer *d, uint32_t entry)
{
    size_t slot = hash_of_entry(d, entry) & (d->n_slots - 1);
    while (d->slots[slot] != 0)
        slot = (slot + 1) & (d->n_slots - 1);
    d->slots[slot] = entry + 1;
}

/* Entries are inserted again in their order, so that the last one can always be removed
 * (hac_dictionary_cut). */
static bool grow(hac_dictionary_writer *d)
{
    size_t n_slots = d->n_slots == 0 ? FIRST_SLOTS : d->n_slots * 4;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (slots == NULL) {
        d->broken = true;
        return false;
    }
    free(d->slots);
    d->slots = slots;
    d->n_slots = n_slots;
    for (uint32_t entry = 0; entry < d->n; entry++)
        put(d, entry);
    return true;
}

static bool add_value(hac_dictionary_writer *d, size_t slot, const void *value)
{
    if (d->plain.n + d->width > d->limit)
        return false;
    if (!hac_bytes_add(&d->plain, value, d->width)) {
        d->broken = true;
        return false;
    }
    d->slots[slot] = ++d->n;
    return true;
}

/* One loop for each method to hash and compare values. `same` and `hash` are expressions of `at`. */
#define CODES(name, type, load, hash, same)                                                                  \
    static size_t name(hac_dictionary_writer *d, const uint8_t *values, size_t n, uint32_t *ret_codes)       \
    {                                                                                                        \
        const size_t width = d->width;                                                                       \
        for (size_t i = 0; i < n; i++) {                                                                     \
            const uint8_t *at = values + i * width;                                                          \
            load;                                                                                            \
            if ((size_t)d->n * 2 >= d->n_slots && !grow(d))                                                  \
                return i;                                                                                    \
            size_t mask = d->n_slots - 1, slot = (hash)&mask;                                                \
            unsigned probes = 0;                                                                             \
            for (;; slot = (slot + 1) & mask) {                                                              \
                uint32_t found = d->slots[slot];                                                             \
                if (found == 0) {                                                                            \
                    if (!add_value(d, slot, at))                                                             \
                        return i;                                                                            \
                    ret_codes[i] = d->n - 1;                                                                 \
                    break;                                                                                   \
                }                                                                                            \
                const uint8_t *entry = d->plain.data + (found - 1) * width;                                  \
                if (same) {                                                                                  \
                    ret_codes[i] = found - 1;                                                                \
                    break;                                                                                   \
                }                                                                                            \
                if (++probes > PROBES_MAX)                                                                   \
                    return i;                                                                                \
            }                                                                                                \
        }                                                                                                    \
        return n;                                                                                            \
    }
#define LOAD(type)                                                                                           \
    type value;                                                                                              \
    memcpy(&value, at, sizeof value)
#define SAME_WORD (memcmp(entry, &value, sizeof value) == 0)
CODES(codes32, uint32_t, LOAD(uint32_t), hash_word(value), SAME_WORD)
CODES(codes64, uint64_t, LOAD(uint64_t), hash_word(value), SAME_WORD)
CODES(codes_wide, void, , hash_bytes(at, width), memcmp(entry, at, width) == 0)

size_t hac_dictionary_codes(hac_dictionary_writer *dictionary, const void *values, size_t n,
                            uint32_t *ret_codes)
{
    if (dictionary->broken)
        return 0;
    if (dictionary->width == 4)
        return codes32(dictionary, values, n, ret_codes);
    return (dictionary->width == 8 ? codes64 : codes_wide)(dictionary, values, n, ret_codes);
}

static bool add_text(hac_dictionary_writer *d, size_t slot, uint32_t hash, const uint8_t *text,
                     uint32_t bytes)
{
    if (d->plain.n + 4 + bytes > d->limit)
        return false;
    hac_dictionary_text entry = {.start = (uint32_t)d->plain.n + 4, .bytes = bytes, .hash = hash};
    if (!hac_bytes_reserve(&d->plain, 4 + (size_t)bytes) || !hac_bytes_add(&d->texts, &entry, sizeof entry)) {
        d->broken = true;
        return false;
    }
    hac_bytes_add(&d->plain, &bytes, 4);
    hac_bytes_add(&d->plain, text, bytes);
    d->not_utf8 = d->not_utf8 || !hac_is_utf8(text, bytes);
    d->slots[slot] = ++d->n;
    return true;
}

/* The code of a text; UINT32_MAX: it has none. */
static uint32_t text_code(hac_dictionary_writer *d, const uint8_t *text, uint32_t bytes)
{
    uint32_t hash = hash_bytes(text, bytes);
    size_t mask = d->n_slots - 1, slot = hash & mask;
    for (unsigned probes = 0; probes <= PROBES_MAX; probes++, slot = (slot + 1) & mask) {
        uint32_t found = d->slots[slot];
        if (found == 0)
            return add_text(d, slot, hash, text, bytes) ? d->n - 1 : UINT32_MAX;
        const hac_dictionary_text *entry = &hac_dictionary_texts(d)[found - 1];
        if (entry->hash == hash && entry->bytes == bytes &&
            memcmp(d->plain.data + entry->start, text, bytes) == 0)
            return found - 1;
    }
    return UINT32_MAX;
}

size_t hac_dictionary_text_codes(hac_dictionary_writer *dictionary, const uint32_t *ends,
                                 const uint8_t *bytes, size_t n, uint32_t *ret_codes)
{
    if (dictionary->broken)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if ((size_t)dictionary->n * 2 >= dictionary->n_slots && !grow(dictionary))
            return i;
        ret_codes[i] = text_code(dictionary, bytes + ends[i], ends[i + 1] - ends[i]);
        if (ret_codes[i] == UINT32_MAX)
            return i;
    }
    return n;
}

static void take_out(hac_dictionary_writer *d, uint32_t entry)
{
    size_t slot = hash_of_entry(d, entry) & (d->n_slots - 1);
    while (d->slots[slot] != entry + 1)
        slot = (slot + 1) & (d->n_slots - 1);
    d->slots[slot] = 0;
}

void hac_dictionary_cut(hac_dictionary_writer *dictionary, uint32_t n)
{
    if (n >= dictionary->n)
        return;
    if (n == 0 && dictionary->n > dictionary->n_slots / 32) {
        memset(dictionary->slots, 0, dictionary->n_slots * sizeof *dictionary->slots);
    } else { /* from the last one on: earlier entries do not depend on later ones */
        for (uint32_t entry = dictionary->n; entry-- > n;)
            take_out(dictionary, entry);
    }
    if (dictionary->width > 0) {
        dictionary->plain.n = (size_t)n * dictionary->width;
    } else {
        dictionary->plain.n = hac_dictionary_texts(dictionary)[n].start - 4;
        dictionary->texts.n = n * sizeof(hac_dictionary_text);
    }
    dictionary->n = n;
}
