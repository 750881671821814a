/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The execution of one plan: which tasks have ended, which may be handed out, and which pieces have to run
 * again because their executor died. This file knows neither jobs nor executors: the scheduler hands the
 * tasks out.
 *
 * A task is listed as ready when all its predecessors have ended. In a plan whose tasks may be sent ahead
 * (hac_plan.ahead), it is listed as soon as one of its predecessors has been handed out: an executor runs one
 * task after the other, so a task may be queued after its predecessors.
 */
#ifndef SERVER_PLAN_RUN_H
#define SERVER_PLAN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "planner/plan.h"
#include "planner/plan_output.h"

struct hac_pool_buffer;

/* A piece of a task. */
typedef struct hacd_piece {
    uint64_t first, count;
    uint32_t attempt;
    /* for a piece that is sent ahead: the first dispatch that the piece depends on; 0: not sent ahead */
    uint64_t predecessor;
} hacd_piece;

typedef struct hac_task_state {
    uint32_t waiting_for; /* number of predecessors that have not ended */
    uint32_t in_flight;   /* number of pieces in flight */
    uint64_t claimed;     /* number of items of the range that were handed out */
    uint64_t done;        /* number of items that are finished */
    hacd_piece *lost;     /* pieces to run again */
    size_t n_lost;
    uint64_t piece_max; /* items of a piece, after one took too long or failed; 0: no limit */
    uint32_t yields;    /* how often it gave way to other users and could not be cut further */
    bool listed;        /* in hacd_plan_run.ready */
    bool ended; /* the whole task has succeeded, or the job continues without it (hacd_job_kind.may_fail) */
    uint32_t by_host; /* bit mask of the plan's devices that run the host codelet in place of the kernels */
    uint32_t awaits;  /* bit mask of the plan's devices that were asked to build a program for the task */
    uint32_t builds[HAC_DEVICES_MAX]; /* hac_server_device.builds when the program was asked for */
    uint32_t cold; /* bit mask of the plan's devices whose `busy` and `units` are of cold pieces only */
    double busy[HAC_DEVICES_MAX]; /* seconds that each device of the plan has worked on the task */
    double
        units[HAC_DEVICES_MAX]; /* work that each device has done; with `busy` it gives the measured rate */
} hac_task_state;

typedef struct hacd_plan_run {
    hac_task_state *tasks;
    /* The successors of task i are dependents[first_dependent[i] … first_dependent[i + 1]). */
    uint32_t *dependents;
    uint32_t *first_dependent;
    uint32_t *ready; /* tasks that may be handed out, in the order in which they became ready */
    size_t n_ready;
    size_t n_done;
    unsigned n_in_flight;
    struct hac_pool_buffer *buffers[HAC_PLAN_MAX_BUFFERS]; /* held */
    uint64_t offsets[HAC_PLAN_MAX_BUFFERS]; /* where in the pool buffer the plan's buffer begins */
    hac_run_record *records;
    size_t n_records;
    double done_seconds; /* predicted seconds of finished tasks, for the progress */
    double total_seconds;
    uint64_t started_ns;
    bool replan; /* the rest of the plan is void: the kind makes another plan when no task is in flight */
    bool broken; /* a task that cannot be repeated was lost: the job starts over when no task is in flight */
    bool failed; /* a piece has failed (hac_plan_run_fail) */
    /* the earliest piece that failed: its task, and the first item of its range */
    uint32_t failed_task;
    uint64_t failed_first;
    /* bit mask of executors that mapped a buffer for this plan: they fault in its pages as they run */
    uint64_t fresh;
} hacd_plan_run;

/* Lists the tasks of a plan that have no predecessors as ready. `run` must be zeroed. hac_plan_run_clear
 * frees the memory of `run`, also after a failure. */
HAC_MUST_USE hac_status hac_plan_run_begin(hacd_plan_run *run, const hac_plan *plan, hac_error *err);
/* Frees the memory of `run`, except its buffers and records. */
void hac_plan_run_clear(hacd_plan_run *run, const hac_plan *plan);

/* Lists a task as ready, unless it is listed. */
void hac_plan_run_list(hacd_plan_run *run, uint32_t task);
/* Lists the tasks that may be sent ahead now that `task` has been handed out. */
void hac_plan_run_list_successors(hacd_plan_run *run, const hac_plan *plan, uint32_t task);

/* Returns the number of pieces of a task that a queue (an executor) has in flight. *ret_first is the dispatch
 * number of the first of these pieces. */
typedef uint32_t (*hac_plan_run_queued)(const void *queue, uint32_t task, uint64_t *ret_first);
/* Whether a task may be sent to the queue now: each of its predecessors has ended or is in that queue.
 * *ret_predecessor is the value for hacd_piece.predecessor. */
bool hac_plan_run_may_go(const hacd_plan_run *run, const hac_plan *plan, uint32_t task,
                         hac_plan_run_queued queued, const void *queue, uint64_t *ret_predecessor);

/* What was not done of the task need not be done. No piece of the task is in flight. */
void hac_plan_run_leave_rest(hacd_plan_run *run, const hac_plan *plan, uint32_t task);
/* Whether the whole task has been handed out. */
bool hac_plan_run_is_given_out(const hacd_plan_run *run, const hac_plan *plan, uint32_t task);
/* Takes a piece that has to run again, if there is one. */
bool hac_plan_run_take_lost(hacd_plan_run *run, uint32_t task, hacd_piece *ret);
/* A device of the plan has done `units` of the task. A device's first piece is cold: it loads the program.
 * The first piece that is not replaces those before. */
void hac_plan_run_add_rate(hacd_plan_run *run, uint32_t task, uint32_t device, double units, double seconds,
                           bool cold);
/* The piece has to run again: it becomes the next piece of its task that is handed out, and the task is
 * listed. If there is no memory to keep the piece, `run` becomes broken. */
void hac_plan_run_give_back(hacd_plan_run *run, uint32_t task, const hacd_piece *piece);
/* A piece that begins at item `first` has failed, in a job that reports the first error of its input. Pieces
 * that come later in the input are not handed out any more. */
void hac_plan_run_fail(hacd_plan_run *run, const hac_plan *plan, uint32_t task, uint64_t first);
/* Whether a piece comes before all pieces that have failed. */
bool hac_plan_run_comes_first(const hacd_plan_run *run, uint32_t task, uint64_t first);
/* Whether a piece that comes before all failed pieces has not been handed out yet. */
bool hac_plan_run_has_earlier(const hacd_plan_run *run, const hac_plan *plan);
/* The whole task has to run again. */
void hac_plan_run_redo(hacd_plan_run *run, uint32_t task);
/* The whole task has succeeded. Lists the tasks that waited only for it, unless they were sent ahead. */
void hac_plan_run_end_task(hacd_plan_run *run, const hac_plan *plan, uint32_t task);

/* A piece began on the device at `end` seconds. Earlier pieces on the device had therefore ended by then; a
 * record that says otherwise was late, and is corrected. */
void hac_plan_run_end_earlier(hacd_plan_run *run, uint32_t device, double end);

#endif
