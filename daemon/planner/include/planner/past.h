/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the earlier plans of a job have done, when the plans are gone: a stream runs one plan a round, a loop
 * of operators one a graph. For the trace. Bounded: of a long job the first and the last pieces are kept.
 */
#ifndef PLANNER_PAST_H
#define PLANNER_PAST_H

#include "planner/plan_output.h"

#define HAC_PAST_PIECES 128

/* A piece of a task as it ran, with what is said of its task. */
typedef struct hac_past_piece {
    char label[48], codelet[40];
    uint32_t device; /* index into hac_past.devices */
    bool leads;      /* the first of its task on that device: the prediction is drawn with it */
    hac_run_record
        record; /* task and device are those of the plan that is gone; start: from the job's start */
    double predicted_start, predicted_seconds; /* of the whole task */
} hac_past_piece;

/* All zero: nothing yet. */
typedef struct hac_past {
    hac_past_piece *pieces;      /* owned */
    size_t n_pieces, room, next; /* next: the last one that makes room, when there are too many */
    uint64_t left_out;
    char devices[HAC_PLAN_MAX_DEVICES][HAC_PLAN_NAME_MAX];
    size_t n_devices;
} hac_past;

/* Takes in what ran of a plan that began `start` seconds after the job did. Where there is no memory for it,
 * it is left out. */
void hac_past_add(hac_past *past, const hac_plan *plan, const hac_run_record *records, size_t n_records,
                  double start);
void hac_past_clear(hac_past *past);

/* Chrome/Perfetto trace (JSON): one process a device with a lane "measured" and a lane "predicted",
 * and a lane for each stage of its tasks, so that their overlap is seen. First what ran of earlier plans,
 * then the current one, which began `start` seconds after its job, and its records. `past` may be NULL: there
 * were none. */
HAC_MUST_USE hac_status hac_trace_to_json(const hac_past *past, const hac_plan *plan, double start,
                                          const hac_run_record *records, size_t n_records,
                                          const char *job_name, char **ret, hac_error *err);

#endif
