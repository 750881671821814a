/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan and its run as text, JSON and SVG. All pure: a plan in, a malloc'ed string out (caller frees).
 */
#ifndef PLANNER_PLAN_OUTPUT_H
#define PLANNER_PLAN_OUTPUT_H

#include "planner/plan.h"

#define HAC_RECORD_STAGES 4

/* A stage within a task, where its codelet has several at a time; times in seconds from the task's start. */
typedef struct hac_run_stage {
    const char *name;  /* NULL: none */
    double start, end; /* its first work, the end of its last */
    double busy;       /* of all its threads together */
} hac_run_stage;

/* What one executed (sub-)task did; times in seconds from the job's start. */
typedef struct hac_run_record {
    uint32_t task;   /* index into plan->tasks */
    uint32_t device; /* index into plan->devices */
    uint64_t first, count;
    double start, seconds; /* as measured by the executor */
    double predicted_seconds;
    uint32_t attempt; /* 0 the first time */
    bool lost;        /* its executor died before it was done */
    hac_run_stage stages[HAC_RECORD_STAGES];
} hac_run_record;

/* CONTRACT, "Plans": flow, k, k_source, shares, predicted_seconds, devices, tasks, and the sort's fields;
 * null where a field does not apply. Candidates with their prices as "candidates". */
HAC_MUST_USE hac_status hac_plan_to_json(const hac_plan *plan, char **ret, hac_error *err);

/* For people: what runs where, in which order, what it costs, and what else was considered. */
HAC_MUST_USE hac_status hac_plan_to_text(const hac_plan *plan, char **ret, hac_error *err);

/* A small bitonic plan (≤ 64 items, ≤ 8 parts) as its network: items as lines, comparators as arrows, devices
 * by colour, side-by-side stretches framed, step numbers above. Any other plan as a time line. */
HAC_MUST_USE hac_status hac_plan_to_svg(const hac_plan *plan, char **ret, hac_error *err);

#endif
