/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of output columns (the visible ones, then hidden ones to order by) as bytes in a region. query.merge
 * and query.rows write them; query.finish and query.gather read them.
 *
 *     header
 *     blocks     up to HAC_BATCH_ROWS rows each: header, then for each column its values (strings:
 *                hac_string_ref into the block's characters) and, if its bit in `nullable` is set, one byte a
 *                row that is 1 for null; characters last. Each part begins at a multiple of 8.
 *     run        if the rows are to be given in an order: the run of the region (results/row_runs.h)
 */
#ifndef QUERY_ROWS_H
#define QUERY_ROWS_H

#include "expr/query.h"

#define HAC_ROWS_MAGIC UINT64_C(0x3153574f52434148) /* "HACROWS1" */

typedef struct hac_rows_header {
    uint64_t magic; /* written last */
    uint64_t bytes;
    uint64_t seed;   /* the job's: tells this job's rows from what an earlier job left in the region */
    uint64_t number; /* the number of the region */
    uint64_t rows, blocks;
    uint64_t run_offset, run_rows; /* from the region's start; 0: there is no run */
} hac_rows_header;

typedef struct hac_rows_block {
    uint64_t bytes; /* where the next block begins */
    uint32_t rows;
    uint32_t strings_bytes;
    uint64_t strings_offset; /* from the block's header */
    uint64_t nullable[4];
} hac_rows_block;

/* Writes rows. Bytes that do not fit are counted and not written. */
typedef struct hac_rows_writer {
    uint8_t *region;
    uint64_t capacity, bytes; /* bytes > capacity: that many are needed */
    uint64_t rows, blocks;
    uint64_t seed, number;
    uint64_t run_offset, run_rows;
} hac_rows_writer;

void hac_rows_begin(hac_rows_writer *writer, uint8_t *region, uint64_t capacity, uint64_t seed,
                    uint64_t number);
/* Appends rows whose states are HAC_ROW_OK or HAC_ROW_NULL. */
void hac_rows_add(hac_rows_writer *writer, const hac_column *columns, size_t n_columns, size_t rows);
/* Appends a run of n entries of HAC_ROWS_ENTRY_BYTES; NULL: only counts its bytes. Nothing may follow it. */
#define HAC_ROWS_ENTRY_BYTES 24
void hac_rows_add_run(hac_rows_writer *writer, const void *entries, uint64_t n);
/* True if everything was written. May be called again after more was added. */
bool hac_rows_end(hac_rows_writer *writer);

/* Reads regions that another process has written: nothing in them is trusted, and they may change while they
 * are read. */
typedef struct hac_rows_column_place {
    uint64_t values, states; /* offsets in the region; states is 0 if no value is null */
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
    size_t n_blocks, capacity;
    uint64_t rows;
    /* of the region that was added last */
    const uint8_t *run; /* NULL: there is none */
    uint64_t run_rows;
} hac_rows_reader;

/* The rows have the columns of query->outputs. */
void hac_rows_reader_init(hac_rows_reader *reader, const hac_query *query);
void hac_rows_reader_clear(hac_rows_reader *reader);
/* Appends the blocks of a region. HAC_INVALID: the region is damaged, or belongs to another job. */
HAC_MUST_USE hac_status hac_rows_reader_add(hac_rows_reader *reader, const uint8_t *region, uint64_t capacity,
                                            uint64_t seed, uint64_t number, hac_error *err);

/* Reads one value and returns its state (0 or 1). ret[] gets the value in its representation; for a string,
 * its address and length. */
uint8_t hac_rows_value(const hac_rows_reader *reader, size_t block, uint32_t row, size_t column,
                       uint64_t ret[2]);

#endif
