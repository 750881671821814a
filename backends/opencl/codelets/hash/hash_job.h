/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash aggregation on a device, behind the codelet hash.aggregate: from chunks of columns in memory to
 * groups. For sources that are no tables the columns come as blocks in WorkingBuffers (backends/splice).
 * hash_block.c and hash_simt.c drive the kernels of the two styles, hash_shape.c describes the kernels'
 * tables, and hash_view.c brings rows to the device.
 */
#ifndef CODELETS_HASH_JOB_H
#define CODELETS_HASH_JOB_H

#include "base/query_layout.h"
#include "base/table.h"
#include "common/windows.h"
#include "expr/expr_plan.h"
#include "expr/group_layout.h"
#include "kernels/hash_layout.cl"
#include "query/partial.h"
#include "splice/working_buffer.h"

/* The words of hash_layout.cl for a query, and what follows from them. */
typedef struct hac_hash_shape {
    uint64_t *words; /* 64-byte aligned, owned */
    size_t n_words;
    uint32_t stride, tail; /* words of a pair, and the offset of its record */
    bool floats;           /* sums, minima or maxima of floats, which are f64 */
    /* of hash_units.c, for each accumulator; owned */
    hac_exact_units *units;
    int32_t *misfits; /* MISFIT_… as kernels have left it; 64-byte aligned */
    int32_t *needed;  /* the same of this chunk's earlier runs */
    cl_mem misfits_window;
    bool wide_extremes; /* shared tables need 64-bit atomics */
    bool strings;       /* among the keys */
} hac_hash_shape;

typedef struct hac_hash_options {
    uint64_t seed;
    bool hot_keys;          /* hac_query_method */
    uint32_t sample;        /* per mille of a chunk's rows for phase 1; 0: HAC_SAMPLE_DEFAULT */
    uint32_t hot_share;     /* per mille of the sample's keys that become hot; 0: HAC_HOT_SHARE_DEFAULT */
    uint32_t groups, items; /* work-groups and work-items; 0: the device's */
    uint64_t memory;        /* maximum bytes of tables; 0: an eighth of the device's memory */
    uint32_t first_pairs;   /* initial pairs of a table; 0: chosen from the number of rows, at most 8192 */
} hac_hash_options;

/* Phase 2 by work-groups. hac_hot_bar gives the bar of a work-group. */
typedef struct hac_hash_work_groups {
    uint64_t n;                                      /* number of work-groups; 0: no figures yet */
    uint64_t rows[HAC_HOT_BARS], hits[HAC_HOT_BARS]; /* rows, and rows with a hot key, for each bar */
    uint64_t min, max;                               /* lowest and highest hit rate, per million */
} hac_hash_work_groups;

/* Figures of a job; each run adds to them. In block style a "work-group" is a chunk; in lock-step style it is
 * a work-group of a launch, with its part of the rows of a chunk. */
typedef struct hac_hash_job_figures {
    uint64_t rows, kept, groups;
    uint64_t sampled, covered; /* rows of phase 1, and those whose key became hot */
    uint64_t hot_keys;         /* number of keys in the largest hot set */
    uint64_t chosen;           /* number of times that a hot set was chosen */
    uint64_t behind, hits;     /* rows of phase 2, and those of them with a hot key */
    uint64_t local_hits;       /* rows of phase 2 that were reduced in local memory, hot or not */
    uint64_t pairs_local,
        pairs_global; /* pairs of phase 2 in local and in global memory, of all work-groups */
    hac_hash_work_groups work_groups;
    uint64_t grown, passes; /* tables that were enlarged; key-range passes beyond the first */
} hac_hash_job_figures;

/* One chunk's groups. */
typedef struct hac_hash_chunk_groups {
    uint64_t chunk;
    uint64_t skipped;       /* unreadable records of a chunk in a WorkingBuffer */
    const uint64_t **pairs; /* ordered by the first row of the group */
    uint64_t n;             /* number of pairs */
    uint64_t first_row;     /* row of the table or of the chunk's block from which PAIR_FIRST counts */
    uint64_t kept;
    bool refused; /* not aggregated: values of float sums fit no common window */
} hac_hash_chunk_groups;

typedef hac_status (*hac_hash_sink)(void *context, const hac_hash_chunk_groups *groups, hac_error *err);

typedef struct hac_hash_job {
    hac_device *device;
    const hac_device_facts *facts;
    hac_hash_options options;
    hac_expr_plan plan;
    hac_hash_shape shape;
    hac_span memory;                           /* borrowed */
    hac_table_column columns[HAC_COLUMNS_MAX]; /* the column of each input of the query */
    size_t n_columns;
    uint64_t rows;                    /* number of rows of the columns */
    uint64_t chunk_rows;              /* rows of a chunk, if the source is a table */
    const hac_working_buffer *loaded; /* the columns are in this buffer; NULL: in a table */
    uint64_t max_rows;                /* rows of the largest chunk */
    uint64_t before, all_chunks;      /* chunks of earlier sources, and of all sources, for the figures */
    uint64_t pairs;  /* number of pairs of a table that was enough for an earlier chunk; 0: no table yet */
    uint32_t passes; /* key-range passes of a chunk, if a table of all its keys does not fit */
    hac_hash_sink sink;
    void *context;
    hac_hash_job_figures figures;
    hac_windows windows;
    cl_mem plan_window, shape_window;
    cl_mem rows_window; /* window over `loaded` */
} hac_hash_job;

/*
 * Prepares a job. HAC_UNSUPPORTED: the device cannot run the query, for the reason in the message. `layout`
 * is that of the query. `table` has the columns of the schema as written; NULL: rows come through
 * hac_hash_job_run_rows. All arguments are borrowed and must outlive the job.
 */
HAC_MUST_USE hac_status hac_hash_job_init(hac_hash_job *job, hac_device *device, const hac_query *query,
                                          const hac_group_layout *layout, const hac_table *table,
                                          const hac_span *memory, const hac_hash_options *options,
                                          hac_error *err);
void hac_hash_job_clear(hac_hash_job *job);

/* Aggregates chunks first … first + n - 1 of chunk_rows rows. Each chunk goes to `sink` once, in order.
 * HAC_FAILED: a row is in error; the message says which. */
HAC_MUST_USE hac_status hac_hash_job_run(hac_hash_job *job, uint64_t chunk_rows, uint64_t first, uint64_t n,
                                         hac_hash_sink sink, void *context, hac_error *err);

/* Aggregates the data sets in a WorkingBuffer; rows are numbered within each block. `rows` is borrowed
 * until the next run. If the device's byte order is only declared (facts.turns_order), the data is
 * converted first. */
HAC_MUST_USE hac_status hac_hash_job_run_rows(hac_hash_job *job, hac_working_buffer *rows, hac_hash_sink sink,
                                              void *context, hac_error *err);

/* ---- hash_shape.c ---- */

HAC_MUST_USE hac_status hac_hash_shape_init(hac_hash_shape *shape, hac_expr_plan *plan,
                                            const hac_query *query, const hac_group_layout *layout,
                                            hac_error *err);
void hac_hash_shape_clear(hac_hash_shape *shape);

/* ---- hash_units.c ---- */

/* HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_hash_units_init(hac_hash_shape *shape);
/* Before the first run of a chunk or wave. */
void hac_hash_units_begin(hac_hash_shape *shape);
/* Before a launch: clears `misfits` and opens its window. */
HAC_MUST_USE hac_status hac_hash_units_open(hac_hash_job *job, hac_error *err);
/* After a run: whether any value fitted no window. */
bool hac_hash_units_misfit(const hac_hash_shape *shape);
/* Moves units so that values fit that did not. False: no units are left that could. */
bool hac_hash_units_move(hac_hash_shape *shape);

/* ---- hash_view.c ---- */

/* A window over rows of the table: over the table's own memory, or over a copy of the columns in use. */
typedef struct hac_hash_view {
    cl_mem mem;
    uint64_t first_row;      /* row of the table at which the window begins */
    uint8_t *copy, *offsets; /* the copy, and the offsets of its strings; owned */
} hac_hash_view;

/* Whether kernels can work on the table's own memory. */
bool hac_hash_view_direct(const hac_hash_job *job);
/* Bytes of a copy of this many rows, strings not counted. */
uint64_t hac_hash_view_bytes(const hac_hash_job *job, uint64_t rows);
/* Sets the plan's columns and opens the window in job->windows. Close the window before the view is freed. */
HAC_MUST_USE hac_status hac_hash_view_open(hac_hash_job *job, uint64_t first, uint64_t rows,
                                           hac_hash_view *ret, hac_error *err);
void hac_hash_view_free(hac_hash_view *view);

/* ---- for hash_block.c and hash_simt.c ---- */

HAC_MUST_USE hac_status hac_hash_run_block(hac_hash_job *job, uint64_t first, uint64_t n, hac_error *err);
HAC_MUST_USE hac_status hac_hash_run_simt(hac_hash_job *job, uint64_t first, uint64_t n, hac_error *err);

/* The number of rows of chunk `chunk`; *ret_first is the first. */
uint64_t hac_hash_chunk_rows(const hac_hash_job *job, uint64_t chunk, uint64_t *ret_first);
/* The columns of a chunk, by input; and the offset in memory where kernels find them, ~0 if they are in the
 * plan. */
const hac_table_column *hac_hash_chunk_columns(const hac_hash_job *job, uint64_t chunk);
uint64_t hac_hash_chunk_index(const hac_hash_job *job, uint64_t chunk);
/* The number of rows of phase 1 for a chunk of this many rows. */
uint64_t hac_hash_sample_rows(const hac_hash_job *job, uint64_t rows);
/* Opens windows over the plan, in its present state, and over the shape. */
HAC_MUST_USE hac_status hac_hash_open_plan(hac_hash_job *job, hac_error *err);
/* "row 17: the result is out of range (overflow)" */
hac_status hac_hash_fail_row(uint64_t row, unsigned state, hac_error *err);
/* The pairs of a chunk while its passes collect them: pools, and the pairs in them that have rows. */
typedef struct hac_hash_pieces {
    uint64_t **pools; /* owned */
    size_t n_pools;
    const uint64_t **pairs;
    uint64_t n, capacity;
} hac_hash_pieces;

void hac_hash_pieces_clear(hac_hash_pieces *pieces);
/* Adds those of the pairs first … first + n - 1 of `pool` that have rows. The pool must outlive the
 * pieces. */
HAC_MUST_USE hac_status hac_hash_pieces_add(hac_hash_job *job, hac_hash_pieces *pieces, const uint64_t *pool,
                                            uint64_t first, uint64_t n, hac_error *err);
/* The pieces take over `pool`. */
HAC_MUST_USE hac_status hac_hash_pieces_keep(hac_hash_pieces *pieces, uint64_t *pool, hac_error *err);

/* Sorts the pairs by their first rows and passes them to the sink. */
HAC_MUST_USE hac_status hac_hash_deliver(hac_hash_job *job, uint64_t chunk, uint64_t first_row, uint64_t kept,
                                         bool refused, hac_hash_pieces *pieces, hac_error *err);
/* Records what work-group `group` of `n` did in phase 2 of a chunk. */
void hac_hash_count_group(hac_hash_job *job, uint64_t group, uint64_t n, uint64_t rows, uint64_t hits);
/* 64-byte aligned memory; NULL: out of memory. */
void *hac_hash_alloc(uint64_t bytes);
uint64_t hac_hash_memory(const hac_hash_job *job);
const char *hac_hash_program(const hac_device_facts *facts);

#endif
