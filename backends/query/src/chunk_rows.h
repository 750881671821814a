/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of chunks: source, filter and the query's `rows` program, for one thread. */
#ifndef QUERY_CHUNK_ROWS_H
#define QUERY_CHUNK_ROWS_H

#include "expr/machine.h"
#include "query/stages.h"
#include "query/task.h"

typedef struct hac_chunk_rows {
    const hac_query *query; /* borrowed */
    hac_source *source;
    hac_machine_c *filter, *rows;
    hac_vector *columns;
    uint64_t read, kept;
    hac_stage preprocess, map;
    uint64_t since; /* when the map began of what the source gave last; 0: it is not at work */
    uint64_t row_bytes, batches, largest; /* of a row; batches, and rows of the largest */
} hac_chunk_rows;

HAC_MUST_USE hac_status hac_chunk_rows_init(const hac_query_task *task, hac_chunk_rows *ret, hac_error *err);
void hac_chunk_rows_clear(hac_chunk_rows *rows);

/* The next rows that count of the chunk that the source has begun: outputs of query->rows, at rows->columns.
 * HAC_NOT_FOUND: the chunk is through. HAC_FAILED: a row that counts is in error ("line 17, --select: …"). */
HAC_MUST_USE hac_status hac_chunk_rows_next(hac_chunk_rows *rows, size_t *ret_n, hac_error *err);

/* Begins chunk `chunk` of the task's source; `quotes` is the span. */
HAC_MUST_USE hac_status hac_chunk_rows_begin(hac_chunk_rows *rows, const hac_query_task *task,
                                             const hac_span *quotes, uint64_t chunk, hac_error *err);
/* What was made of the chunk's rows is written: the map's time ends here. */
void hac_chunk_rows_end(hac_chunk_rows *rows);
/* Adds stages and buffers, as where the map runs in C. */
void hac_chunk_rows_count(const hac_chunk_rows *rows, hac_splice_counters *counters);

/* Whether rows [first, end) of a table need no machine: nothing is filtered, and the outputs of query->rows
 * are columns as they are there, without nulls. Then `values` is where those rows lie, of each, and they
 * count as read. */
bool hac_chunk_rows_plain(hac_chunk_rows *rows, const hac_query_task *task, uint64_t first, uint64_t end,
                          const uint8_t **values, size_t n_columns);

/* A machine with room for the strings of any program. */
HAC_MUST_USE hac_status hac_query_machine(const hac_program *program, hac_machine_c **ret, hac_error *err);
/* The first row with an error state, SIZE_MAX: none. */
size_t hac_query_bad_row(const hac_vector *v, size_t rows);

#endif
