/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of jobs that read streams (job_splits.c). Their input cannot be read again, and their need grows
 * with it. If several such jobs shared a memory that is too small for all, each would take what the others
 * need in the end, and all would fail. So each job reserves a part of its user's memory before its client
 * fills the first split:
 *
 * - For one split, of the size that the client makes: at most a fifth of what the user can have, so clients
 *   are asked for smaller splits if that is little. More splits come out of unreserved memory, and only while
 *   no job waits.
 * - For its plans: at first four times a split, or what the user has besides it; then what the first plan
 *   is made for, at most half of what is free. Later plans are made to fit the same size. A job that needs
 *   more, because it has more groups, takes free memory and keeps it.
 *
 * A job that cannot reserve anything holds nothing and waits. Jobs of a higher priority, then older jobs, go
 * first. A job that has its part and needs more than is free waits with what it holds, as long as another job
 * can go on. If none can, the youngest of them fails, as it would alone. Every wait ends with its job.
 */
#ifndef SERVER_STREAM_MEMORY_H
#define SERVER_STREAM_MEMORY_H

#include "jobs/job.h"

/* Seconds after which a client asks again for memory. libhac pauses for at most a fifth of a second. */
#define HAC_STREAM_MEMORY_RETRY 0.1

/* How much memory a plan is made for: what the job has, plus half or all of what is free. */
typedef enum hac_stream_memory_step {
    HAC_STREAM_MEMORY_OWN = 0,
    HAC_STREAM_MEMORY_HALF,
    HAC_STREAM_MEMORY_ALL,
    HAC_STREAM_MEMORY_STEPS
} hac_stream_memory_step;

typedef struct hac_stream_memory {
    hac_reservation split, plan;
    bool planned; /* `plan` is what a plan was made for */
    bool stuck;   /* its next plan waits for more than `stuck_at` bytes */
    uint64_t stuck_at;
    /* when its client was refused a buffer that it needs to go on; 0: it waits for nothing */
    uint64_t asked_ns;
    bool told; /* the log says that the job waits */
} hac_stream_memory;

/* The job uses `memory`, which must be zeroed, until hac_stream_memory_end. */
void hac_stream_memory_begin(hacd_job *job, hac_stream_memory *memory);
void hac_stream_memory_end(hacd_job *job);

/* Allocates a buffer for a split. `needed`: the client cannot go on without it. HAC_REFUSED: not now, or
 * never. *ret_retry is when to ask again, in seconds; 0: never, -1: unknown. */
HAC_MUST_USE hac_status hac_stream_memory_split(hacd_job *job, uint64_t bytes, bool needed,
                                                hac_pool_buffer **ret, double *ret_retry, hac_error *err);
/* The client has gone on. The job may have ended. */
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
