/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of jobs that read streams (job_splits.c). Their input cannot be read again, and what they need grows
 * with what comes: of several at once, in a memory that is too small for all, each would take what the others
 * lack in the end, and all would fail. So each has a part of its user's memory to itself, reserved before its
 * client fills the first split:
 *
 *  - of one split, as large as its client makes them, a fifth of what the user can have at most, so that
 * smaller ones are asked for where that is little; more of them are taken of what nobody has reserved, and
 *    only while nobody waits;
 *  - of its plans: at first four times a split, or what the user has beside it, then what its first plan is
 *    made for, at most half of what is free. Later plans are made to fit the same again; a job that needs
 * more (its groups become more) takes of what is free, and keeps that.
 *
 * A job for which nothing can be reserved holds nothing and waits: whoever has the higher priority or is
 * older comes first. One that has its part and needs more than there is waits with what it holds, while
 * another can go on; when none can, the youngest of them fails as it would alone. Every wait ends with its
 * job.
 */
#ifndef SERVER_STREAM_MEMORY_H
#define SERVER_STREAM_MEMORY_H

#include "job.h"

/* Seconds after which a client asks again for memory; the longest pause that libhac makes is a fifth. */
#define HAC_STREAM_MEMORY_RETRY 0.1

/* How much of the memory a plan is made for: what the job has, and of what is free half, or all. */
typedef enum hac_stream_memory_step {
    HAC_STREAM_MEMORY_OWN = 0,
    HAC_STREAM_MEMORY_HALF,
    HAC_STREAM_MEMORY_ALL,
    HAC_STREAM_MEMORY_STEPS
} hac_stream_memory_step;

typedef struct hac_stream_memory {
    hac_reservation split, plan;
    bool planned;      /* `plan` is what a plan was made for */
    bool stuck;        /* its next plan waits … */
    uint64_t stuck_at; /* … for more than so many bytes */
    uint64_t asked_ns; /* when its client was refused what it cannot go on without; 0: it waits for nothing */
    bool told;         /* the log says that it waits */
} hac_stream_memory;

/* From here on job->stream, until the end of the job; `memory` is all zero. */
void hac_stream_memory_begin(hac_job *job, hac_stream_memory *memory);
void hac_stream_memory_end(hac_job *job);

/*
 * A buffer for a split; `needed`: the client cannot go on without. HAC_REFUSED: not now, or never;
 * *ret_retry: when to ask again, in seconds, 0: that would be for nothing, -1: nothing is known.
 */
HAC_MUST_USE hac_status hac_stream_memory_split(hac_job *job, uint64_t bytes, bool needed,
                                                hac_pool_buffer **ret, double *ret_retry, hac_error *err);
/* The client has gone on. The job may have ended. */
void hac_stream_memory_split_came(hac_job *job);

/* Bytes that the next plan's buffers may take, with those of its earlier plans that the job still holds. It
 * would like to have `wanted`. */
uint64_t hac_stream_memory_for_plan(const hac_job *job, hac_stream_memory_step step, uint64_t wanted);
/* job->plan was made for `memory` bytes. */
void hac_stream_memory_planned(hac_job *job, uint64_t memory);
/* Its plan does not fit: whether it is to wait, since memory will come free. hac_stream_memory_check wakes
 * it.
 */
bool hac_stream_memory_must_wait(hac_job *job);

/* Whether it waits for memory, as its state then says. */
bool hac_stream_memory_waits(const hac_job *job);

/* Wakes jobs that there is more memory for. */
void hac_stream_memory_check(struct hac_server *server);

#endif
