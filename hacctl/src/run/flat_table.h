/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the flatbuffers of Arrow's metadata (https://flatbuffers.dev/internals/): as much as a schema and a
 * record batch need. A flatbuffer is built from its end to its beginning, so what a table refers to is
 * written before the table. Places count bytes from the end.
 *
 *     hac_flat flat = HAC_FLAT_NONE;
 *     size_t name = hac_flat_string(&flat, "x");
 *     hac_flat_begin(&flat);
 *     hac_flat_ref(&flat, 0, name);
 *     hac_flat_number(&flat, 1, 8, 42);
 *     hac_flat_finish(&flat, hac_flat_end(&flat));
 *
 * No memory is remembered in `broken`.
 */
#ifndef HACCTL_FLAT_TABLE_H
#define HACCTL_FLAT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HAC_FLAT_SLOTS = 8 }; /* fields of a table */

typedef struct hac_flat {
    uint8_t *data;         /* owned; the bytes in use are the last `used` ones of `capacity` */
    size_t capacity, used; /* after hac_flat_finish a multiple of 8 */
    bool broken;
    size_t table;                 /* where the open table began */
    size_t slots[HAC_FLAT_SLOTS]; /* where its fields are; 0: not there */
} hac_flat;

#define HAC_FLAT_NONE                                                                                        \
    {                                                                                                        \
        NULL, 0, 0, false, 0,                                                                                \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }

/* These return the place of what they have written. */
size_t hac_flat_string(hac_flat *flat, const char *text);
size_t hac_flat_refs(hac_flat *flat, const size_t *places, size_t n);
/* A vector of n structures of 64-bit numbers, of which there are `words`. */
size_t hac_flat_structs(hac_flat *flat, const int64_t *numbers, size_t words, size_t n);

void hac_flat_begin(hac_flat *flat);
void hac_flat_number(hac_flat *flat, unsigned slot, size_t bytes, int64_t value);
void hac_flat_ref(hac_flat *flat, unsigned slot, size_t place);
size_t hac_flat_end(hac_flat *flat);

void hac_flat_finish(hac_flat *flat, size_t root);
const uint8_t *hac_flat_bytes(const hac_flat *flat); /* `used` bytes */
void hac_flat_clear(hac_flat *flat);

#endif
