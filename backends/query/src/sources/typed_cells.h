/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the objects of a record of typed bytes to values of columns. */
#ifndef QUERY_TYPED_CELLS_H
#define QUERY_TYPED_CELLS_H

#include "source_parts.h"

/* An object's header. */
typedef struct hac_typed_cell {
    uint8_t code; /* base/typed_bytes.h */
    uint32_t at;  /* offset of its bytes in the window */
    uint32_t n;   /* size of its bytes; vector, map: number of objects */
} hac_typed_cell;

typedef struct hac_typed_record {
    hac_typed_cell *cells; /* `capacity` cells: the key, then the value or its elements */
    size_t capacity;       /* columns of the schema */
    uint64_t elements;     /* elements of the value, 1 unless it is `many`; may exceed `capacity` */
    bool many;             /* the value is a vector or a list of columns */
} hac_typed_record;

/*
 * A string is a ref into the window. A number that becomes a string has no text there: from the first such
 * number on, all strings of the column in this batch are in memory of its own.
 */
typedef struct hac_typed_text {
    uint8_t *data;
    size_t bytes, capacity;
    bool used; /* in this batch */
} hac_typed_text;

/* The state of a source of typed bytes (hac_source_format). */
typedef struct hac_typed_source {
    hac_typed_record record;
    hac_typed_text *texts; /* one for each column of the source */
} hac_typed_source;

HAC_MUST_USE hac_status hac_typed_open(hac_source *source, hac_error *err);
void hac_typed_close(hac_source *source);
/* Begins a batch; returns the record to read into. */
hac_typed_record *hac_typed_begin(hac_source *source);
/* Stores the record, which is complete in the window, as row `row`, and reports values that a column does not
 * take. */
HAC_MUST_USE hac_status hac_typed_put(hac_source *source, size_t row, hac_error *err);

#endif
