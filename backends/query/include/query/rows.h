/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of output columns (visible ones, then hidden ones to order by) as bytes in a region: what query.merge
 * and query.rows write and query.finish and query.gather read.
 *
 *     header
 *     blocks     up to HAC_BATCH_ROWS rows each: header; then of each column values of the representation's
 *                size (strings: hac_string_ref into the block's characters), then, when its bit in `nullable`
 * is set, a byte a row, 1 for null; characters last. Each part begins at a multiple of 8.
 */
#ifndef QUERY_ROWS_H
#define QUERY_ROWS_H

#include "expr/query.h"

#define HAC_ROWS_MAGIC UINT64_C(0x3153574f52434148) /* "HACROWS1" */

typedef struct hac_rows_header {
    uint64_t magic; /* written last */
    uint64_t bytes;
    uint64_t seed;   /* of the job: what lies in a region from another one is not taken for this one's */
    uint64_t number; /* of the region */
    uint64_t rows, blocks;
    uint64_t unused[2];
} hac_rows_header;

typedef struct hac_rows_block {
    uint64_t bytes; /* where the next block begins */
    uint32_t rows;
    uint32_t strings_bytes;
    uint64_t strings_offset; /* from the block's header */
    uint64_t nullable[4];
} hac_rows_block;

/* Writing: what does not fit is counted, not written. */
typedef struct hac_rows_writer {
    uint8_t *region;
    uint64_t room, bytes; /* bytes > room: that many were wanted */
    uint64_t rows, blocks;
    uint64_t seed, number;
} hac_rows_writer;

void hac_rows_begin(hac_rows_writer *writer, uint8_t *region, uint64_t room, uint64_t seed, uint64_t number);
/* Appends rows whose states are HAC_ROW_OK or HAC_ROW_NULL. */
void hac_rows_add(hac_rows_writer *writer, const hac_vector *columns, size_t n_columns, size_t rows);
/* True when all of it was written. */
bool hac_rows_end(hac_rows_writer *writer);

/* Reading a region that another process has written: nothing in it is trusted, and it may change under one.
 */
typedef struct hac_rows_column_place {
    uint64_t values, states; /* offsets in the region; states 0: no nulls */
} hac_rows_column_place;

typedef struct hac_rows_place {
    const uint8_t *region;
    uint32_t rows;
    uint64_t strings, strings_bytes;
    hac_rows_column_place *columns; /* borrowed from the reader */
} hac_rows_place;

typedef struct hac_rows_reader {
    size_t n_columns;
    uint8_t repr[HAC_PROGRAM_OUTPUTS_MAX];
    hac_rows_place *blocks; /* owned */
    hac_rows_column_place *places;
    size_t n_blocks, room;
    uint64_t rows;
} hac_rows_reader;

/* For the columns of query->outputs. */
void hac_rows_reader_init(hac_rows_reader *reader, const hac_query *query);
void hac_rows_reader_clear(hac_rows_reader *reader);
/* Adds the blocks of a region behind those that are there. HAC_INVALID: it is damaged, or another one. */
HAC_MUST_USE hac_status hac_rows_reader_add(hac_rows_reader *reader, const uint8_t *region, uint64_t room,
                                            uint64_t seed, uint64_t number, hac_error *err);

/* One value: its state (0 or 1); its words at ret[2]: a value of the representation at ret, of a string its
 * address and length. */
uint8_t hac_rows_value(const hac_rows_reader *reader, size_t block, uint32_t row, size_t column,
                       uint64_t ret[2]);

#endif
