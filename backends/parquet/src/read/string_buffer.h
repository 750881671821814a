/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that one column's string refs point into: first the dictionary's, then pages and assembled
 * strings of the current batch and of the page that is not read completely. Unused space is reused, so that
 * there are at most about three pages. Places are offsets, because memory moves when it grows. */
#ifndef PARQUET_STRING_BUFFER_H
#define PARQUET_STRING_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct hac_string_buffer {
    uint8_t *data;
    size_t max;     /* maximum size; 0: as far as refs reach */
    size_t size;    /* allocated; HAC_PARQUET_SLACK more are readable */
    size_t kept;    /* the dictionary's bytes */
    size_t low;     /* in use up to here, … */
    size_t gap_end; /* … free up to here, in use up to `high`; SIZE_MAX: all above `low` is free */
    size_t high;
} hac_string_buffer;

void hac_string_buffer_clear(hac_string_buffer *buffer);

/* Begins another chunk: nothing is kept. */
void hac_string_buffer_empty(hac_string_buffer *buffer);

/* Keeps everything so far: it is a dictionary. */
void hac_string_buffer_keep(hac_string_buffer *buffer);

/* Begins a batch: besides the dictionary, only [first, end) is still needed (first == end: nothing). */
void hac_string_buffer_begin(hac_string_buffer *buffer, size_t first, size_t end);

/* Finds a place for that many bytes. HAC_FAILED: more than `max`, or than refs can address; HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_string_buffer_place(hac_string_buffer *buffer, size_t bytes, size_t *ret,
                                                hac_error *err);

/* Frees everything that was placed since `before`, an earlier copy of the buffer. */
void hac_string_buffer_forget(hac_string_buffer *buffer, const hac_string_buffer *before);

#endif
