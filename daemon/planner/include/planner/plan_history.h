/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measured pieces of a job's earlier plans, for the job's trace. A stream runs one plan for each round, a
 * loop of sub-operators one plan for each graph. The history is bounded: it keeps the first and the last
 * pieces of a long job.
 */
#ifndef PLANNER_PLAN_HISTORY_H
#define PLANNER_PLAN_HISTORY_H

#include "planner/plan_output.h"

#define HAC_HISTORY_PIECES 128

/* A piece of a task that has run, with the prediction for the task. */
typedef struct hac_measured_piece {
    char label[48], codelet[40];
    uint32_t device; /* index into hac_plan_history.devices */
    bool leads;      /* the first piece of its task on that device; the prediction is drawn with this piece */
    hac_run_record
        record; /* `task` and `device` are indices of the earlier plan; `start` counts from the job's
                              start */
    double predicted_start, predicted_seconds; /* of the whole task, in seconds from the job's start */
} hac_measured_piece;

/* All zero: an empty history. */
typedef struct hac_plan_history {
    hac_measured_piece *pieces; /* owned */
    size_t n_pieces, capacity;
    size_t next;       /* when the history is full: number of pieces that replaced older ones */
    uint64_t left_out; /* number of pieces that are not kept */
    char devices[HAC_DEVICES_MAX][HAC_PLAN_NAME_MAX];
    size_t n_devices;
} hac_plan_history;

/* Adds the records of a plan that began `start` seconds after the job's start. Records are left out if there
 * is no memory for them. */
void hac_plan_history_add(hac_plan_history *history, const hac_plan *plan, const hac_run_record *records,
                          size_t n_records, double start);
void hac_plan_history_clear(hac_plan_history *history);

/* Writes a Chrome/Perfetto trace (JSON). Each device is a process with a lane "measured", a lane "predicted"
 * and a lane for each stage of its tasks. The pieces of earlier plans come first, then the records of the
 * current plan, which began `start` seconds after the job's start. `history` may be NULL: there were no
 * earlier plans.
 */
HAC_MUST_USE hac_status hac_trace_to_json(const hac_plan_history *history, const hac_plan *plan, double start,
                                          const hac_run_record *records, size_t n_records,
                                          const char *job_name, char **ret, hac_error *err);

#endif
