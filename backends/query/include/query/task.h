/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task of a query as codelets see it (base/query_layout.h), read from what an executor received and
 * checked: nothing in that is trusted.
 *
 * What query.compile gives back, and all other tasks have as inline data: a hac_query_blob, the compiled
 * query (hac_query_write) padded to 8 bytes, then of a table source its columns.
 */
#ifndef QUERY_TASK_H
#define QUERY_TASK_H

#include "base/query_layout.h"
#include "base/table.h"
#include "opencl/codelet.h"
#include "query/source.h"

#define HAC_QUERY_BLOB_MAGIC UINT64_C(0x3159525551434148) /* "HACQURY1" */

typedef struct hac_query_blob {
    uint64_t magic;
    uint32_t query_bytes;
    uint32_t n_columns; /* hac_query_blob_column behind the query; 0: no table */
} hac_query_blob;

typedef struct hac_query_blob_column {
    uint8_t kind, precision, scale, large;
    uint32_t unused;
    uint64_t validity, values, bytes, n_bytes;
} hac_query_blob_column;

typedef struct hac_query_task {
    hac_query *query;          /* owned */
    hac_source_place place;    /* of the source */
    hac_table table;           /* its columns are owned; n_columns 0: the source is no table */
    hac_parquet_file *parquet; /* owned; place has it, too */
    uint64_t source_bytes;     /* rows of a table, of parquet */
    uint64_t chunk_bytes;      /* likewise */
    uint64_t *starts;          /* owned: of the data sets of a split, and its end; NULL: it is none */
    uint64_t sets;             /* of the split */
    uint32_t generation;       /* of the partials of a job with splits: carries before, and 1; 0: no splits */
    uint64_t carry;            /* bytes of a region of the carry, or rows of earlier rounds */
    uint64_t first_chunk, chunks, region, group_region, seed;
    uint32_t partitions, pass, passes;
    bool describe; /* a Parquet file, instead of a query */
} hac_query_task;

/* Reads inline data and parameters; `table_span` is the span "table", -1: the task has no source.
 * HAC_INVALID. */
HAC_MUST_USE hac_status hac_query_task_read(const hac_task *task, int table_span, hac_query_task *ret,
                                            hac_error *err);
void hac_query_task_clear(hac_query_task *task);

/* Reads the footer of a parquet source; place->parquet is *ret, and place->stamp is set. */
HAC_MUST_USE hac_status hac_query_open_parquet(hac_source_place *place, hac_parquet_file **ret,
                                               hac_error *err);

/* What became of a task that has read its source. A Parquet file that was written to meanwhile gives rows of
 * two files: that is the error then, whatever `status` is but HAC_CANCELLED. */
HAC_MUST_USE hac_status hac_query_source_read(const hac_query_task *task, hac_status status, hac_error *err);

/* The source of a task whose parameters say that it is a split: checks its header and keeps a copy of its
 * starts. Nothing in it is trusted, and it may change. `span` may be NULL. HAC_INVALID. */
HAC_MUST_USE hac_status hac_query_open_split(const hac_task *task, const hac_span *span, hac_query_task *t,
                                             hac_error *err);

/* Bytes (rows) of chunk `chunk` of the source. */
void hac_query_task_chunk(const hac_query_task *task, uint64_t chunk, uint64_t *ret_first, uint64_t *ret_end);

/* Bytes that a table may take whose groups are written to a region of that size, or come from one. A table
 * that needs more would not fit the memory that the job has: fewer keys at a time do. */
uint64_t hac_query_table_memory(uint64_t region);

/* The blob's bytes from its front; the rest of `data` is a source. */
HAC_MUST_USE hac_status hac_query_blob_read(const uint8_t *data, size_t bytes, hac_query **ret_query,
                                            hac_table *ret_table, hac_error *err);
/* `table` may be NULL. At most `room` bytes. */
HAC_MUST_USE hac_status hac_query_blob_write(const hac_query *query, const hac_table *table, uint8_t *ret,
                                             size_t room, size_t *ret_bytes, hac_error *err);

/* Compiles a packed hac.client.QuerySpec. task->place is its source, for names and types of columns; sets
 * query, of a table its columns, of a parquet source its file. A specification that asks what a Parquet file
 * is sets `describe` and no query. HAC_INVALID; what is set is cleared by hac_query_task_clear. */
HAC_MUST_USE hac_status hac_query_compile_spec(const uint8_t *spec, size_t bytes, hac_query_task *task,
                                               hac_error *err);

/* Whether a parquet source (other sources: always) has the query's columns, and row groups. HAC_INVALID. */
HAC_MUST_USE hac_status hac_query_check_source(const hac_query_task *task, hac_error *err);

/* For codelets' `check`: the parameters are in range, and the task's chunks or partitions lie within `span`'s
 * regions of `region` bytes each. */
HAC_MUST_USE hac_status hac_query_check_params(const hac_task *task, hac_error *err);
HAC_MUST_USE hac_status hac_query_check_chunks(const hac_task *task, hac_error *err);
HAC_MUST_USE hac_status hac_query_check_regions(const hac_task *task, size_t span, uint64_t regions,
                                                uint64_t bytes, hac_error *err);

#endif
