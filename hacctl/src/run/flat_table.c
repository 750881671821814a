/* SPDX-License-Identifier: Apache-2.0 */
#include "flat_table.h"

#include <stdlib.h>
#include <string.h>

enum { REF = 4, ALIGNMENT = 8 };

/* Makes room for `bytes` more in front. */
static bool grow(hac_flat *flat, size_t bytes)
{
    if (!flat->broken && flat->capacity - flat->used < bytes) {
        size_t capacity = 2 * (flat->used + bytes) + 256;
        uint8_t *data = malloc(capacity);
        if (data != NULL && flat->used > 0)
            memcpy(data + capacity - flat->used, flat->data + flat->capacity - flat->used, flat->used);
        if (data != NULL) {
            free(flat->data);
            flat->data = data;
            flat->capacity = capacity;
        }
        flat->broken = data == NULL;
    }
    return !flat->broken;
}

static void put(hac_flat *flat, const void *data, size_t bytes)
{
    if (!grow(flat, bytes))
        return;
    flat->used += bytes;
    if (bytes > 0)
        memcpy(flat->data + flat->capacity - flat->used, data, bytes);
}

/* Writes zeros so that what begins `bytes` further in front is aligned. */
static void align(hac_flat *flat, size_t alignment, size_t bytes)
{
    static const uint8_t zeros[ALIGNMENT];
    put(flat, zeros, (alignment - (flat->used + bytes) % alignment) % alignment);
}

static void put_number(hac_flat *flat, int64_t value, size_t bytes)
{
    uint8_t little[8];
    for (size_t i = 0; i < bytes; i++)
        little[i] = (uint8_t)((uint64_t)value >> (8 * i));
    align(flat, bytes, bytes);
    put(flat, little, bytes);
}

static void put_ref(hac_flat *flat, size_t place)
{
    align(flat, REF, REF);
    put_number(flat, (int64_t)(flat->used + REF - place), REF);
}

size_t hac_flat_string(hac_flat *flat, const char *text)
{
    size_t bytes = strlen(text);
    align(flat, REF, bytes + 1);
    put(flat, text, bytes + 1);
    put_number(flat, (int64_t)bytes, REF);
    return flat->used;
}

size_t hac_flat_refs(hac_flat *flat, const size_t *places, size_t n)
{
    align(flat, REF, 0);
    for (size_t i = n; i-- > 0;)
        put_ref(flat, places[i]);
    put_number(flat, (int64_t)n, REF);
    return flat->used;
}

size_t hac_flat_structs(hac_flat *flat, const int64_t *numbers, size_t words, size_t n)
{
    align(flat, ALIGNMENT, 0);
    for (size_t i = words * n; i-- > 0;)
        put_number(flat, numbers[i], sizeof numbers[i]);
    put_number(flat, (int64_t)n, REF);
    return flat->used;
}

void hac_flat_begin(hac_flat *flat)
{
    flat->table = flat->used;
    memset(flat->slots, 0, sizeof flat->slots);
}

void hac_flat_number(hac_flat *flat, unsigned slot, size_t bytes, int64_t value)
{
    put_number(flat, value, bytes);
    flat->slots[slot] = flat->used;
}

void hac_flat_ref(hac_flat *flat, unsigned slot, size_t place)
{
    put_ref(flat, place);
    flat->slots[slot] = flat->used;
}

/* In front of the fields is the distance of the table's vtable, and in front of that the vtable: its bytes,
 * the table's bytes, and where each field is. */
size_t hac_flat_end(hac_flat *flat)
{
    put_number(flat, 0, REF);
    size_t table = flat->used;
    for (unsigned i = HAC_FLAT_SLOTS; i-- > 0;)
        put_number(flat, flat->slots[i] != 0 ? (int64_t)(table - flat->slots[i]) : 0, 2);
    put_number(flat, (int64_t)(table - flat->table), 2);
    put_number(flat, (HAC_FLAT_SLOTS + 2) * 2, 2);
    uint32_t distance = (uint32_t)(flat->used - table);
    const uint8_t little[REF] = {(uint8_t)distance, (uint8_t)(distance >> 8), (uint8_t)(distance >> 16),
                                 (uint8_t)(distance >> 24)};
    if (!flat->broken)
        memcpy(flat->data + flat->capacity - table, little, sizeof little);
    return table;
}

void hac_flat_finish(hac_flat *flat, size_t root)
{
    align(flat, ALIGNMENT, REF);
    put_ref(flat, root);
}

const uint8_t *hac_flat_bytes(const hac_flat *flat)
{
    return flat->data + flat->capacity - flat->used;
}

void hac_flat_clear(hac_flat *flat)
{
    free(flat->data);
    *flat = (hac_flat)HAC_FLAT_NONE;
}
