/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of jobs that read streams (job_splits.c). The input of such a job cannot be read again, and the job
 * needs more memory as it reads on. If several jobs simply took memory while there is some, each could hold
 * what the others need to finish, and all would fail. So each job makes two reservations of its user's memory
 * before its client fills the first split:
 *
 * - For one split, of the client's split size, but at most a fifth of the user's memory. If a fifth is less,
 *   hacd asks the client for smaller splits. Further splits are allocated from unreserved memory, and only
 *   while no job waits.
 * - For its plans. At first this is four times the split, or the rest of the user's memory if that is less.
 *   The first plan sets the reservation to what the plan is made for, at most half of the free memory. Later
 *   plans are made to fit this size. A job that needs more, because it has more groups, takes free memory
 *   and keeps it.
 *
 * A job that cannot make its reservations holds no memory and waits. Jobs with a higher priority, then older
 * jobs, are served first. A job that has its reservations and needs more than is free keeps them and waits,
 * as long as another job can go on. If no job can go on, the youngest one fails. A job that ends stops
 * waiting.
 */
#ifndef SERVER_STREAM_MEMORY_H
#define SERVER_STREAM_MEMORY_H

#include "jobs/job.h"

/* Seconds after which a client asks again for memory. libhac pauses for at most a fifth of a second. */
#define HAC_STREAM_MEMORY_RETRY 0.1

/* How much memory a plan is made for: what the job holds, plus none, half or all of the free memory. */
typedef enum hac_stream_memory_step {
    HAC_STREAM_MEMORY_OWN = 0,
    HAC_STREAM_MEMORY_HALF,
    HAC_STREAM_MEMORY_ALL,
    HAC_STREAM_MEMORY_STEPS
} hac_stream_memory_step;

typedef struct hac_stream_memory {
    hac_reservation split, plan;
    bool planned; /* `plan` is what a plan was made for */
    bool stuck;   /* the next plan waits until it can have more than `stuck_at` bytes */
    uint64_t stuck_at;
    /* when the client was refused a buffer that it needs to go on; 0: the client does not wait */
    uint64_t asked_ns;
    bool told; /* the wait was logged */
} hac_stream_memory;

/* The job uses `memory`, which must be zeroed, until hac_stream_memory_end. */
void hac_stream_memory_begin(hacd_job *job, hac_stream_memory *memory);
void hac_stream_memory_end(hacd_job *job);

/* Allocates a buffer for a split. `needed`: the client cannot go on without it. HAC_REFUSED: there is no
 * memory for it. *ret_retry is the time in seconds after which to ask again; 0: never, -1: unknown. */
HAC_MUST_USE hac_status hac_stream_memory_split(hacd_job *job, uint64_t bytes, bool needed,
                                                hac_pool_buffer **ret, double *ret_retry, hac_error *err);
/* Called when the client has sent a split: it no longer waits. The job may have ended. */
void hac_stream_memory_split_came(hacd_job *job);

/* Bytes that the next plan's buffers may take, including those of earlier plans that the job still holds.
 * `wanted` is its preferred size. */
uint64_t hac_stream_memory_for_plan(const hacd_job *job, hac_stream_memory_step step, uint64_t wanted);
/* job->plan was made for `memory` bytes. */
void hac_stream_memory_planned(hacd_job *job, uint64_t memory);
/* Whether a job whose plan does not fit should wait, because memory will be freed. hac_stream_memory_check
 * wakes it. */
bool hac_stream_memory_must_wait(hacd_job *job);

/* Whether the job waits for memory. */
bool hac_stream_memory_waits(const hacd_job *job);

/* Wakes the job if there is more memory for it. */
void hac_stream_memory_check(hacd_job *job);

#endif
