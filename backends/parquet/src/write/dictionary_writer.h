/* SPDX-License-Identifier: Apache-2.0 */
/* The dictionary of a column chunk that is being written: distinct values, in order of appearance, stored as
 * PLAIN. It can be cut back to an earlier number of entries. No input makes it slow: when a value collides
 * more than PROBES_MAX times, the dictionary counts as full. */
#ifndef PARQUET_DICTIONARY_WRITER_H
#define PARQUET_DICTIONARY_WRITER_H

#include "format/bytes.h"

typedef struct hac_dictionary_writer {
    unsigned width;  /* size of values: 4, 8 or more; 0: text */
    size_t limit;    /* limit of bytes in `plain` */
    hac_bytes plain; /* the entries */
    hac_bytes texts; /* text: a hac_dictionary_text for each entry */
    uint32_t n;
    uint32_t *slots; /* entry + 1, 0: empty */
    size_t n_slots;  /* a power of two, at least twice n */
    bool broken;     /* out of memory: the dictionary counts as full from now on */
    bool not_utf8;   /* text: an entry is not UTF-8; never reset */
} hac_dictionary_writer;

typedef struct hac_dictionary_text {
    uint32_t start, bytes; /* in `plain`, after its length */
    uint32_t hash;
    uint32_t seen; /* mark of the last page that used it */
} hac_dictionary_text;

void hac_dictionary_clear(hac_dictionary_writer *dictionary);

/* Finds the codes of values and adds new ones, up to a value that cannot be added; returns how many have
 * one. */
size_t hac_dictionary_codes(hac_dictionary_writer *dictionary, const void *values, size_t n,
                            uint32_t *ret_codes);
/* The same for texts: text i is bytes ends[i] … ends[i + 1] of `bytes`. */
size_t hac_dictionary_text_codes(hac_dictionary_writer *dictionary, const uint32_t *ends,
                                 const uint8_t *bytes, size_t n, uint32_t *ret_codes);

static inline hac_dictionary_text *hac_dictionary_texts(const hac_dictionary_writer *dictionary)
{
    return (hac_dictionary_text *)(void *)dictionary->texts.data;
}

/* Keeps the first n entries. */
void hac_dictionary_cut(hac_dictionary_writer *dictionary, uint32_t n);

#endif
