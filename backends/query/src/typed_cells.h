/* SPDX-License-Identifier: Apache-2.0 */
/* From the objects of a record of typed bytes to the values of columns. */
#ifndef QUERY_TYPED_CELLS_H
#define QUERY_TYPED_CELLS_H

#include "source_parts.h"

/* An object's head. */
typedef struct hac_typed_cell {
    uint8_t code; /* typed_codes.h */
    uint32_t at;  /* of its bytes, in the window */
    uint32_t n;   /* of its bytes; vector, map: the count */
} hac_typed_cell;

typedef struct hac_typed_record {
    hac_typed_cell *cells; /* `room` of them: the key, then the value or its elements */
    size_t room;           /* columns of the schema */
    uint64_t elements;     /* of the value; 1 unless it is `many`. There may be more than there is room for */
    bool many;             /* the value is a vector or a list of columns */
} hac_typed_record;

/* What a source of typed bytes has besides; freed with it (hac_typed_free). */
HAC_MUST_USE hac_status hac_typed_new(hac_source *source, hac_error *err);
/* Begins a batch; the record to read into. */
hac_typed_record *hac_typed_begin(hac_source *source);
/* The record, which is whole in the window, as row `row`. What a column does not take is an error of it. */
HAC_MUST_USE hac_status hac_typed_put(hac_source *source, size_t row, hac_error *err);

#endif
