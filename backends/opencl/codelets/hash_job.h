/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow C on a device, behind the codelet hash.aggregate: chunks of columns in memory to groups. Of sources
 * that are no tables such columns come as blocks in WorkingBuffers (backends/splice); hash_block.c and
 * hash_simt.c drive the kernels of the two styles; hash_shape.c says what the kernels' tables look like;
 * hash_view.c brings the rows to the device.
 */
#ifndef CODELETS_HASH_JOB_H
#define CODELETS_HASH_JOB_H

#include "../kernels/hash_layout.cl"
#include "base/query_layout.h"
#include "base/table.h"
#include "expr_plan.h"
#include "query/layout.h"
#include "query/partial.h"
#include "splice/working_buffer.h"
#include "windows.h"

/* The words of hash_layout.cl for a query, and what else follows from them. */
typedef struct hac_hash_shape {
    uint64_t *words; /* 64-byte aligned, owned */
    size_t n_words;
    uint32_t stride, tail; /* words of a pair, and where its record begins */
    bool float_sums;       /* their bits depend on the order of rows */
    bool floats;           /* sums or extremes of them, which are f64 */
    hac_partial_rule rule; /* of query/partial.h */
    bool wide_extremes;    /* 64-bit atomics are needed for shared tables */
    bool strings;          /* among the keys */
} hac_hash_shape;

typedef struct hac_hash_options {
    uint64_t seed;
    bool hot_keys, any_order; /* hac_query_method */
    uint32_t sample;          /* per mille of a chunk's rows for phase 1; 0: 10 */
    uint32_t hot_share;       /* per mille of the sample's keys; 0: 75 */
    uint32_t groups, items;   /* work-groups and work-items; 0: the device's */
    uint64_t memory;          /* bytes that tables may take; 0: an eighth of the device's */
    uint32_t first_pairs;     /* room of a table to begin with; 0: as the rows ask for, at most 8192 */
} hac_hash_options;

/* Rows of phase 2 and hits of the work-groups, by their numbers: bar g · n_bars / n of n work-groups. */
typedef struct hac_hash_work_groups {
    uint64_t n;                                      /* work-groups; 0: none yet */
    uint64_t rows[HAC_HOT_BARS], hits[HAC_HOT_BARS]; /* of a bar */
    uint64_t least, greatest;                        /* hit rate of any, per million */
} hac_hash_work_groups;

/* Figures of a run, added to what is there. A work-group of block style is a chunk, of lock-step style one of
 * a launch, with its rows of a chunk. */
typedef struct hac_hash_figures {
    uint64_t rows, kept, groups;
    uint64_t sampled, covered;          /* rows of phase 1, those of them whose key became hot */
    uint64_t hot_keys;                  /* the largest hot set */
    uint64_t chosen;                    /* how often a hot set was chosen */
    uint64_t behind, hits;              /* rows of phase 2, those of them with a hot key */
    uint64_t local_hits;                /* reductions into fast memory, of other keys, too */
    uint64_t pairs_local, pairs_global; /* of phase 2, where they lie; all work-groups' */
    hac_hash_work_groups work_groups;
    uint64_t grown, passes; /* tables made larger, key-range passes beyond the first */
} hac_hash_figures;

/* One chunk's groups. */
typedef struct hac_hash_groups {
    uint64_t chunk;
    uint64_t skipped;       /* records that could not be read, of a chunk in a WorkingBuffer */
    const uint64_t **pairs; /* in the order of their first rows */
    uint64_t n;
    uint64_t first_row; /* of the table, or of the chunk's block, that PAIR_FIRST counts from */
    uint64_t kept;
    bool refused; /* not aggregated: the rule of partials sends the chunk's rows to windows */
} hac_hash_groups;

typedef hac_status (*hac_hash_sink)(void *context, const hac_hash_groups *groups, hac_error *err);

typedef struct hac_hash_job {
    hac_device *device;
    const hac_device_facts *facts;
    hac_hash_options options;
    hac_expr_plan plan;
    hac_hash_shape shape;
    hac_span memory;                          /* borrowed */
    hac_table_column columns[HAC_FIELDS_MAX]; /* of the query, by input */
    size_t n_columns;
    uint64_t rows;                    /* of the columns */
    uint64_t chunk_rows;              /* of a table's chunks */
    const hac_working_buffer *loaded; /* NULL: the columns are a table's */
    uint64_t most_rows;               /* of a chunk */
    uint64_t before, all_chunks; /* those of other sources in front of these; those of all: for the figures */
    uint64_t pairs;              /* room of a table that did before; 0: none was made yet */
    uint32_t passes; /* key ranges that a chunk is done in: tables of all its keys would not fit */
    hac_hash_sink sink;
    void *context;
    hac_hash_figures figures;
    hac_windows windows;
    cl_mem plan_window, shape_window;
    cl_mem rows_window; /* of `loaded` */
} hac_hash_job;

/*
 * What the device can do of a query: HAC_UNSUPPORTED says why not. `layout` is the query's; `table` has the
 * columns of the schema as written, NULL: rows come by hac_hash_job_run_rows. All are borrowed and must
 * outlive the job.
 */
HAC_MUST_USE hac_status hac_hash_job_init(hac_hash_job *job, hac_device *device, const hac_query *query,
                                          const hac_group_layout *layout, const hac_table *table,
                                          const hac_span *memory, const hac_hash_options *options,
                                          hac_error *err);
void hac_hash_job_clear(hac_hash_job *job);

/* Aggregates chunks first … first + n - 1 of chunk_rows rows; each goes to `sink` once, in order. HAC_FAILED:
 * a row in error; the message says which. */
HAC_MUST_USE hac_status hac_hash_job_run(hac_hash_job *job, uint64_t chunk_rows, uint64_t first, uint64_t n,
                                         hac_hash_sink sink, void *context, hac_error *err);

/* The same of data sets in a WorkingBuffer: rows are numbered in each block. `rows` is borrowed until the
 * next run. Of a device that is only said to have the other byte order it is turned first. */
HAC_MUST_USE hac_status hac_hash_job_run_rows(hac_hash_job *job, hac_working_buffer *rows, hac_hash_sink sink,
                                              void *context, hac_error *err);

/* ---- hash_shape.c ---- */

HAC_MUST_USE hac_status hac_hash_shape_init(hac_hash_shape *shape, hac_expr_plan *plan,
                                            const hac_query *query, const hac_group_layout *layout,
                                            hac_error *err);
void hac_hash_shape_clear(hac_hash_shape *shape);

/* ---- hash_view.c ---- */

/* Rows of the table as a window: the table's own memory, or a copy of the columns that are used. */
typedef struct hac_hash_view {
    cl_mem mem;
    uint64_t first_row;      /* of the window */
    uint8_t *copy, *offsets; /* owned: what the window lies over, and offsets of strings */
} hac_hash_view;

/* Whether kernels can work on the table itself. */
bool hac_hash_view_direct(const hac_hash_job *job);
/* Bytes that a copy of so many rows takes, without strings. */
uint64_t hac_hash_view_bytes(const hac_hash_job *job, uint64_t rows);
/* Sets the plan's columns, and opens the window on job->windows, which is closed before the view is freed. */
HAC_MUST_USE hac_status hac_hash_view_open(hac_hash_job *job, uint64_t first, uint64_t rows,
                                           hac_hash_view *ret, hac_error *err);
void hac_hash_view_free(hac_hash_view *view);

/* ---- for hash_block.c and hash_simt.c ---- */

HAC_MUST_USE hac_status hac_hash_run_block(hac_hash_job *job, uint64_t first, uint64_t n, hac_error *err);
HAC_MUST_USE hac_status hac_hash_run_simt(hac_hash_job *job, uint64_t first, uint64_t n, hac_error *err);

/* Rows of chunk `chunk`: *ret_first and how many. */
uint64_t hac_hash_chunk_rows(const hac_hash_job *job, uint64_t chunk, uint64_t *ret_first);
/* Where its columns are, by input; and the byte of the memory where kernels find that, ~0: in the plan. */
const hac_table_column *hac_hash_chunk_columns(const hac_hash_job *job, uint64_t chunk);
uint64_t hac_hash_chunk_index(const hac_hash_job *job, uint64_t chunk);
/* Rows of phase 1, of a chunk of so many. */
uint64_t hac_hash_sample_rows(const hac_hash_job *job, uint64_t rows);
/* Opens the plan (as it is now) and the shape. */
HAC_MUST_USE hac_status hac_hash_open_plan(hac_hash_job *job, hac_error *err);
/* "row 17: the result is out of range (overflow)" */
hac_status hac_hash_fail_row(uint64_t row, unsigned state, hac_error *err);
/* A chunk's pairs while they are collected, pass by pass: pools and the pairs in them that have rows. */
typedef struct hac_hash_pieces {
    uint64_t **pools; /* owned */
    size_t n_pools;
    const uint64_t **pairs;
    uint64_t n, room;
} hac_hash_pieces;

void hac_hash_pieces_clear(hac_hash_pieces *pieces);
/* Pairs first … first + n - 1 of `pool` that have rows. The pool is somebody's until the pieces are gone. */
HAC_MUST_USE hac_status hac_hash_pieces_add(hac_hash_job *job, hac_hash_pieces *pieces, const uint64_t *pool,
                                            uint64_t first, uint64_t n, hac_error *err);
/* Hands `pool` over. */
HAC_MUST_USE hac_status hac_hash_pieces_keep(hac_hash_pieces *pieces, uint64_t *pool, hac_error *err);

/* Sorts pairs by their first rows and hands them to the sink. */
HAC_MUST_USE hac_status hac_hash_deliver(hac_hash_job *job, uint64_t chunk, uint64_t first_row, uint64_t kept,
                                         bool refused, hac_hash_pieces *pieces, hac_error *err);
/* What work-group `group` of `n` did in phase 2 of a chunk. */
void hac_hash_count_group(hac_hash_job *job, uint64_t group, uint64_t n, uint64_t rows, uint64_t hits);
/* 64-byte aligned; NULL: no memory. */
void *hac_hash_alloc(uint64_t bytes);
uint64_t hac_hash_memory(const hac_hash_job *job);
const char *hac_hash_program(const hac_device_facts *facts);

#endif
