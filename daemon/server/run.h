/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The execution of one plan: which of its tasks have ended, which may be handed out, and what of them has to
 * run again because its executor died. It knows no jobs and no executors: the scheduler hands the tasks out.
 *
 * A task is listed as ready when all that it waits for has ended. In a plan whose tasks may be sent ahead
 * (hac_plan.ahead) it is listed as soon as something that it waits for has been handed out: an executor does
 * one task after the other, so a task may be queued on it behind those that it waits for.
 */
#ifndef SERVER_RUN_H
#define SERVER_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "planner/plan.h"
#include "planner/plan_output.h"

struct hac_pool_buffer;

/* A piece of a task. */
typedef struct hac_piece {
    uint64_t first, count;
    uint32_t attempt;
    uint64_t behind; /* it is sent ahead: the first dispatch that has to end well before; 0: it is not */
} hac_piece;

typedef struct hac_task_state {
    uint32_t waiting_for; /* dependencies not done */
    uint32_t in_flight;   /* pieces */
    uint64_t claimed;     /* items of the range handed out so far */
    uint64_t done;        /* items finished */
    hac_piece *lost;      /* pieces to run again */
    size_t n_lost;
    bool listed;      /* in the run's `ready` */
    bool ended;       /* all of it, well, or of a job that goes on without it (hac_job_kind.may_fail) */
    uint32_t by_host; /* bits of plan devices that run its host codelet in place of its kernels */
    uint32_t awaits;  /* bits of plan devices that were asked to build a program for it … */
    uint32_t builds[HAC_PLAN_MAX_DEVICES]; /* … and how many they had then */
    double busy[HAC_PLAN_MAX_DEVICES];     /* seconds, by plan device: for the corrected shares */
    double units[HAC_PLAN_MAX_DEVICES];
} hac_task_state;

typedef struct hac_run {
    hac_task_state *tasks;
    uint32_t *dependents;      /* edges the other way round … */
    uint32_t *first_dependent; /* … from [i] to [i + 1] */
    uint32_t *ready;           /* tasks that may be handed out, in the order in which they came to be so */
    size_t n_ready;
    size_t n_done;
    unsigned n_in_flight;
    struct hac_pool_buffer *buffers[HAC_PLAN_MAX_BUFFERS]; /* held */
    uint64_t offsets[HAC_PLAN_MAX_BUFFERS];                /* of the plan's buffer in it */
    hac_run_record *records;
    size_t n_records;
    double done_seconds; /* predicted seconds of what is done: progress */
    double total_seconds;
    uint64_t started_ns;
    bool
        replan; /* what is left of the plan is void: the job's kind makes another when nothing is in flight */
    bool broken; /* a task that cannot be repeated was lost: start over when nothing is in flight */
    bool failed; /* a piece of input has (hac_run_fail), … */
    uint32_t failed_task;
    uint64_t failed_first; /* … of several the one of the earliest input */
    uint64_t fresh; /* executors that mapped a buffer for this plan: its pages are faulted in as they run */
} hac_run;

/* Readies the first tasks of a plan; `run` is all zero. What it has taken is hac_run_clear's to free, after a
 * failure, too. */
HAC_MUST_USE hac_status hac_run_begin(hac_run *run, const hac_plan *plan, hac_error *err);
/* Frees all but buffers and records. */
void hac_run_clear(hac_run *run, const hac_plan *plan);

/* Lists a task as ready; nothing happens if it is. */
void hac_run_list(hac_run *run, uint32_t task);
/* Lists those that may be sent ahead behind a task that has been handed out. */
void hac_run_list_behind(hac_run *run, const hac_plan *plan, uint32_t task);

/* What a queue (an executor's, that is) has of a task: how many pieces in flight, and the dispatch of the
 * first. */
typedef uint32_t (*hac_run_queued)(const void *queue, uint32_t task, uint64_t *ret_first);
/* Whether a task may go there now: all that it waits for has ended, or is ahead of it in that queue.
 * *ret_behind: hac_piece.behind. */
bool hac_run_may_go(const hac_run *run, const hac_plan *plan, uint32_t task, hac_run_queued queued,
                    const void *queue, uint64_t *ret_behind);

/* Whether nothing of a task is left to be handed out, once some of it was. */
bool hac_run_is_given_out(const hac_run *run, const hac_plan *plan, uint32_t task);
/* Takes a piece that has to run again, if there is one. */
bool hac_run_take_lost(hac_run *run, uint32_t task, hac_piece *ret);
/* The piece has to run again: back to the front of what is left of its task, which is listed. Without memory
 * for that the run is broken. */
void hac_run_give_back(hac_run *run, uint32_t task, const hac_piece *piece);
/* Where tasks and their items are in the order of the input: a piece has failed, and what comes behind it is
 * not handed out any more. */
void hac_run_fail(hac_run *run, const hac_plan *plan, uint32_t task, uint64_t first);
/* Whether a piece comes before all that have failed. */
bool hac_run_comes_first(const hac_run *run, uint32_t task, uint64_t first);
/* Whether something that does is yet to be handed out. */
bool hac_run_has_earlier(const hac_run *run, const hac_plan *plan);
/* All of a task has to run again. */
void hac_run_redo(hac_run *run, uint32_t task);
/* All of a task has ended well: what waits for nothing else now is listed, unless it was sent ahead. */
void hac_run_end_task(hac_run *run, const hac_plan *plan, uint32_t task);

/* A piece begins on the device at `end` seconds: what was recorded there before has ended by then, and its
 * report came late. */
void hac_run_end_earlier(hac_run *run, uint32_t device, double end);

#endif
