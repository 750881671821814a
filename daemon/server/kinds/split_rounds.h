/* SPDX-License-Identifier: Apache-2.0 */
/* The rounds of a query whose input comes in splits (job_splits.h): which splits a round takes, and its plan.
 */
#ifndef SERVER_SPLIT_ROUNDS_H
#define SERVER_SPLIT_ROUNDS_H

#include "base/split_layout.h"
#include "query_run.h"
#include "stream_memory.h"
#include "waiting_split.h"

typedef struct hacd_splits {
    hac_query_holder query;
    hac_waiting_split queue[HAC_SPLITS_IN_FLIGHT_MAX]; /* unanswered splits, the oldest first */
    size_t n_queued;
    size_t n_taken; /* number of splits at the front of `queue` that the running plan takes */
    uint32_t part;  /* number of data sets to take from the first split; 0: all */
    hac_waiting_split
        through[HAC_SPLITS_IN_FLIGHT_MAX]; /* finished splits, answered when the next round runs */
    size_t n_through;
    bool last;         /* no more splits will come */
    bool any;          /* the client has sent a split */
    bool fixed;        /* the records have a fixed width */
    bool ordered;      /* the query has an order-by */
    uint32_t output;   /* hac_result_format */
    uint64_t limit;    /* maximum number of rows of the result; UINT64_MAX: no limit */
    bool all_memory;   /* the next plan may take all free memory */
    bool in_parts;     /* all free memory was too little for all data sets of a split in a file */
    bool single;       /* the rows of several splits do not fit into memory together: one split a round */
    bool tight;        /* the partials and the result do not fit into memory together */
    uint64_t passed;   /* rows that were given, and those that an offset leaves out */
    bool enough;       /* the limit of rows is reached */
    bool ended;        /* the result is complete */
    uint64_t given;    /* number of splits that the client has sent */
    uint64_t answered; /* number of splits that were answered */
    hac_query_totals before;          /* the query's totals before this round */
    hac_splice_buffers splice_before; /* job->splice before this round */

    hac_stream_memory stream;
    bool lacking; /* memory ran out in the middle of a round */
    hac_round_memory memory;
    hac_pool_buffer *partials, *carry; /* held by the job; NULL: none yet */
    uint64_t carry_region;             /* bytes of a partition's region in the carry; 0: there is no carry */
    uint64_t carried;                  /* used bytes of the largest partition in the carry */
    uint64_t rounds, carries;          /* number of rounds, and of carries written, so far */
    uint64_t bytes;                    /* bytes of all inputs so far */
    uint64_t round_ns;                 /* when the current round began */
    hac_splice_client client;
} hacd_splits;

/* Bytes that partials, carry, groups and result may take together: the job's memory limit, or the memory that
 * its user may have, without the bytes of the splits. */
uint64_t hac_split_rounds_memory(const hacd_job *job, hac_stream_memory_step step);
/* Bytes of the splits that may exist at once. */
uint64_t hac_split_rounds_splits_bytes(const hacd_splits *splits);

/* hacd_job_kind.over_limit. */
hac_status hac_split_rounds_over_limit(hacd_job *job, uint64_t needed, hac_error *err);

/* Whether the query has no aggregation, and so answers each split with its rows. */
bool hac_split_rounds_gives_rows(const hacd_job *job);
/* HAC_INVALID: the query needs all of its input before it can give a row. */
HAC_MUST_USE hac_status hac_split_rounds_check_rows(const hacd_splits *splits, hac_error *err);

/* Plans the next round, or the end. HAC_AGAIN: the job waits for its client, or for memory. HAC_NOT_FOUND: no
 * round is left. */
HAC_MUST_USE hac_status hac_split_rounds_plan(hacd_job *job, hac_error *err);

/* Gives the plan of the current round the sizes of the job's whole input. */
void hac_split_rounds_describe_all(hacd_job *job);

#endif
