/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rows of chunks for one thread: source, filter and the query's `rows` program. */
#ifndef QUERY_CHUNK_ROWS_H
#define QUERY_CHUNK_ROWS_H

#include "expr/machine.h"
#include "query/stage_counters.h"
#include "query/task.h"

typedef struct hac_chunk_rows {
    const hac_query *query; /* borrowed */
    hac_source *source;
    hac_machine_c *filter, *rows;
    hac_column *columns;
    bool answers;  /* hac_chunk_rows_answer may return statistics rows */
    bool numbered; /* set by the caller: columns[] has the hac_source_numbers of the rows after the outputs */
    uint64_t read, kept;
    hac_stage preprocess, map;
    uint64_t since;                       /* when the map of the last batch began; 0: no map is running */
    uint64_t row_bytes, batches, largest; /* bytes of a row; number of batches; rows of the largest one */
} hac_chunk_rows;

HAC_MUST_USE hac_status hac_chunk_rows_init(const hac_query_task *task, hac_chunk_rows *ret, hac_error *err);
void hac_chunk_rows_clear(hac_chunk_rows *rows);

/* Returns the next rows of the source's chunk that pass the filter: outputs of query->rows, in rows->columns.
 * HAC_NOT_FOUND: the chunk has no more rows. HAC_FAILED: a row that counts is in error ("line 17, --select:
 * …"). */
HAC_MUST_USE hac_status hac_chunk_rows_next(hac_chunk_rows *rows, size_t *ret_n, hac_error *err);

/* Skips all rows of the source's chunk and returns their number, if the query only counts them. False: they
 * must be read. */
bool hac_chunk_rows_all(hac_chunk_rows *rows, uint64_t *ret_n);

/* Lets the source leave out rows and return statistics rows instead (hac_source_answer). After the last rows
 * of each chunk, the caller must take them with hac_chunk_rows_answer. Call it before the first rows. */
HAC_MUST_USE hac_status hac_chunk_rows_let_answer(hac_chunk_rows *rows, hac_error *err);
/* The next statistics rows: HAC_ANSWER_ROWS rows in rows->columns, with the minima and maxima of rows that
 * were left out. The caller aggregates them like other rows, and then adds *ret_rows to the number of rows
 * and ret_nulls[i] to the number of nulls of output i, modulo 2^64, to make the counts right. HAC_NOT_FOUND:
 * there are no more. */
#define HAC_ANSWER_ROWS 2
HAC_MUST_USE hac_status hac_chunk_rows_answer(hac_chunk_rows *rows, uint64_t *ret_rows, uint64_t *ret_nulls);

/* Begins chunk `chunk` of the task's source; `quotes` is the span of that name. */
HAC_MUST_USE hac_status hac_chunk_rows_begin(hac_chunk_rows *rows, const hac_query_task *task,
                                             const hac_span *quotes, uint64_t chunk, hac_error *err);
/* Ends the map's time: the chunk's result is written. */
void hac_chunk_rows_end(hac_chunk_rows *rows);
/* Adds the counters of stages and buffers for a map that runs in C. */
void hac_chunk_rows_count(const hac_chunk_rows *rows, hac_splice_counters *counters);

/* Whether the rows [first, end) of a table can be used in place: there is no filter, and the outputs of
 * query->rows are columns of the table without nulls. Then values[] points to the values of these rows, and
 * the rows count as read. */
bool hac_chunk_rows_fixed(hac_chunk_rows *rows, const hac_query_task *task, uint64_t first, uint64_t end,
                          const uint8_t **values, size_t n_columns);

#endif
