/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan and its run as text and JSON. All pure: a plan in, a malloc'ed string out (caller frees).
 */
#ifndef PLANNER_PLAN_OUTPUT_H
#define PLANNER_PLAN_OUTPUT_H

#include "planner/plan.h"

#define HAC_RECORD_STAGES 4

/* A stage of a task whose codelet runs several stages at the same time. Times are in seconds from the task's
 * start. */
typedef struct hac_run_stage {
    const char *name;  /* NULL: no stage */
    double start, end; /* start of the first work, end of the last work */
    double busy;       /* work time, summed over all threads */
} hac_run_stage;

/* One piece of a task that was executed. Times are in seconds from the job's start. */
typedef struct hac_run_record {
    uint32_t task;   /* index into plan->tasks */
    uint32_t device; /* index into plan->devices */
    uint64_t first, count;
    double start, seconds; /* as measured by the executor */
    double predicted_seconds;
    uint32_t attempt; /* 0 the first time */
    bool lost;        /* the executor died before the piece was done */
    bool by_kernels;  /* it launched OpenCL kernels; else all of it ran in C */
    hac_run_stage stages[HAC_RECORD_STAGES];
} hac_run_record;

/* Members: flow, k, k_source, shares, predicted_seconds, devices, tasks, and the sort's fields;
 * null where a field does not apply. Candidates with their prices as "candidates". */
HAC_MUST_USE hac_status hac_plan_to_json(const hac_plan *plan, char **ret, hac_error *err);

/* The plan as text for people: tasks in order with their devices and predicted times, and all candidates. */
HAC_MUST_USE hac_status hac_plan_to_text(const hac_plan *plan, char **ret, hac_error *err);

#endif
