/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query's task as codelets see it (base/query_layout.h), read from the task that the executor received and
 * checked: nothing in it is trusted. Its inline data begins with the compiled query (expr/query_blob.h).
 */
#ifndef QUERY_TASK_H
#define QUERY_TASK_H

#include "base/query_layout.h"
#include "base/table.h"
#include "codelet/codelet.h"
#include "expr/distinct_query.h"
#include "query/source.h"

typedef struct hac_query_task {
    hac_query *query; /* owned */
    /* Its two steps if it counts distinct values, else NULL; owned. */
    hac_distinct_query *distinct;
    const hac_query *grouped;  /* the query of groups in partials: distinct->pairs or `query` */
    hac_source_place place;    /* where the source is */
    hac_table table;           /* columns are owned; n_columns is 0 if the source is no table */
    hac_parquet_file *parquet; /* owned; place.parquet points to it */
    uint64_t source_bytes;     /* size of the source; in rows for a table or parquet */
    uint64_t chunk_bytes;      /* size of a chunk; in rows for a table or parquet */
    /* Bytes at which the data sets of a split begin, then the end of the split; owned. NULL: the source is no
     * split. */
    uint64_t *starts;
    uint64_t sets; /* number of data sets of the split */
    /* These are the members of hac_query_params. */
    uint32_t generation;
    uint64_t carry;
    uint64_t first_chunk, chunks, region, group_region, seed, part_rows;
    uint32_t partitions, pass, passes;
} hac_query_task;

/* Reads the inline data and the parameters of a task. `table_span` is the index of the span "table"; -1: the
 * task has no source. HAC_INVALID: they are wrong. */
HAC_MUST_USE hac_status hac_query_task_read(const hac_task *task, int table_span, hac_query_task *ret,
                                            hac_error *err);
void hac_query_task_clear(hac_query_task *task);

/* Reads the footer of a parquet source. Sets place->parquet to *ret, and place->stamp. */
HAC_MUST_USE hac_status hac_query_open_parquet(hac_source_place *place, hac_parquet_file **ret,
                                               hac_error *err);

/* The status of a task after it has read its source. If a Parquet file was written to meanwhile, its rows
 * come from two versions: that is the error then, unless `status` is HAC_CANCELLED. */
HAC_MUST_USE hac_status hac_query_source_read(const hac_query_task *task, hac_status status, hac_error *err);

/* Opens the source of a task whose parameters say that it is a split: checks the header and copies its
 * starts. The split is not trusted and may change. `span` may be NULL. HAC_INVALID. */
HAC_MUST_USE hac_status hac_query_open_split(const hac_task *task, const hac_span *span, hac_query_task *t,
                                             hac_error *err);

/* Bytes (or rows) of chunk `chunk` of the source. */
void hac_query_task_chunk(const hac_query_task *task, uint64_t chunk, uint64_t *ret_first, uint64_t *ret_end);

/* Limit of memory for a table whose groups come from, or go to, a region of that size. A table that needs
 * more would not fit the job's memory; the job then runs in several passes. */
uint64_t hac_query_table_memory(uint64_t region);

/* Checks that a parquet source has the query's columns and row groups; other sources always pass.
 * HAC_INVALID. */
HAC_MUST_USE hac_status hac_query_check_source(const hac_query_task *task, hac_error *err);

/* Whether chunk `chunk` of the task's source begins inside a quoted field, according to the span "quotes"
 * (length 0: no). */
bool hac_query_inside_quotes(const hac_span *quotes, uint64_t first_chunk, uint64_t chunk);

/* For codelets' `check`: the parameters are in range, and the task's chunks or partitions fit `span`, which
 * has regions of `bytes` bytes. */
HAC_MUST_USE hac_status hac_query_check_inline(const hac_task *task, hac_error *err);
HAC_MUST_USE hac_status hac_query_check_params(const hac_task *task, hac_error *err);
HAC_MUST_USE hac_status hac_query_check_chunks(const hac_task *task, hac_error *err);
HAC_MUST_USE hac_status hac_query_check_regions(const hac_task *task, size_t span, uint64_t regions,
                                                uint64_t bytes, hac_error *err);

#endif
