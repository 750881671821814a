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
    bool answers;  /* hac_chunk_rows_answer may have some */
    bool numbered; /* set by the caller: behind the outputs, columns[] has the rows' hac_source_numbers */
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

/* Takes all rows of the source's chunk at once and returns how many they are, if all that the query wants of
 * them is their number. False: read them. */
bool hac_chunk_rows_all(hac_chunk_rows *rows, uint64_t *ret_n);

/* Lets the source leave out rows of which it knows what the query wants (hac_source_answer). The caller then
 * takes these answers after the last rows of each chunk. Call it before the first rows. */
HAC_MUST_USE hac_status hac_chunk_rows_let_answer(hac_chunk_rows *rows, hac_error *err);
/* An answer: HAC_ANSWER_ROWS rows in rows->columns, with the smallest and the largest values of rows that
 * were left out. *ret_rows and ret_nulls (for each output) are what the numbers of rows and of nulls then
 * lack, modulo 2^64. HAC_NOT_FOUND: there are no more. */
#define HAC_ANSWER_ROWS 2
HAC_MUST_USE hac_status hac_chunk_rows_answer(hac_chunk_rows *rows, uint64_t *ret_rows, uint64_t *ret_nulls);

/* Begins chunk `chunk` of the task's source; `quotes` is the span of that name. */
HAC_MUST_USE hac_status hac_chunk_rows_begin(hac_chunk_rows *rows, const hac_query_task *task,
                                             const hac_span *quotes, uint64_t chunk, hac_error *err);
/* Ends the map's time: the chunk's result is written. */
void hac_chunk_rows_end(hac_chunk_rows *rows);
/* Adds the counters of stages and buffers for a map that runs in C. */
void hac_chunk_rows_count(const hac_chunk_rows *rows, hac_splice_counters *counters);

/* Whether rows [first, end) of a table need no machine: there is no filter, and the outputs of query->rows
 * are columns of the table without nulls. Then values[] are the addresses of these rows, and they count as
 * read. */
bool hac_chunk_rows_fixed(hac_chunk_rows *rows, const hac_query_task *task, uint64_t first, uint64_t end,
                          const uint8_t **values, size_t n_columns);

#endif
