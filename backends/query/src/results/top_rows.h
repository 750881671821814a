/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first rows of a chunk in the order of the query, for a small limit. Rows come in batches. Those that
 * cannot be among the first are dropped at once, by the first item of order by; the others are collected, and
 * whenever there are more than twice the limit, all but the first are dropped.
 */
#ifndef QUERY_TOP_ROWS_H
#define QUERY_TOP_ROWS_H

#include "row_keys.h"

#define HAC_TOP_TEXT_MAX 64

/* The value that the first item of order by has in the last of the first rows of a chunk: no row behind the
 * value is in the result. */
typedef struct hac_top_end {
    bool known;
    uint64_t chunk;    /* UINT64_MAX: it comes from no chunk */
    uint64_t words[2]; /* as of hac_rows_value; of a string, words[1] is its length, and it is in `text` */
    uint8_t text[HAC_TOP_TEXT_MAX];
} hac_top_end;

/* Zero-initialised but for `query`. */
typedef struct hac_top_rows {
    const hac_query *query;
    hac_query all; /* the query with its hidden columns visible; borrowed */
    hac_row_keys keys;
    uint8_t *region, *spare; /* the rows; where the first of them are moved to */
    uint64_t capacity, spare_capacity;
    uint8_t *batch; /* rows of a batch that are kept */
    hac_rows_writer writer;
    hac_row_entry last; /* of the first rows, if there are as many as the limit */
    hac_top_end end;
} hac_top_rows;

/* Begins a chunk: its number among all chunks. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_top_rows_begin(hac_top_rows *top, uint64_t chunk, hac_error *err);
/* Adds rows of the query's output columns. top->end may change. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_top_rows_add(hac_top_rows *top, const hac_column *columns, size_t rows,
                                         hac_error *err);
/* Writes the first rows, in their order. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_top_rows_end(hac_top_rows *top, hac_rows_writer *writer, hac_error *err);
void hac_top_rows_clear(hac_top_rows *top);

/* Whether `a` is before `b`, so that it leaves fewer rows. An end that is not known is behind all others; of
 * equal ones that of the first chunk is before the others. */
bool hac_top_end_before(const hac_query *query, const hac_top_end *a, const hac_top_end *b);

#endif
