/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which executor of its user runs a task. On processors, short tasks do not wait for long ones of the same
 * user's other jobs: after 10 ms, or at once if these are predicted to take longer, they run on the user's
 * side executor, beside the long ones. If that one is held as well, or it takes too long to start, they wait
 * in the queue of the first one. docs/decisions/0031-a-second-executor-for-short-tasks.md says why.
 */
#ifndef SERVER_SIDE_EXECUTOR_H
#define SERVER_SIDE_EXECUTOR_H

#include "executors/executor.h"
#include "jobs/job.h"

/* The executor on the device (an index of hac_devices) for a task of the job that is predicted to take
 * `task_seconds`; it is started if need be. HAC_AGAIN, beside the reasons of hac_executor_get: the task
 * waits, *ret is NULL, and hac_executors_ask_again has been called for the time when it need not. */
HAC_MUST_USE hac_status hac_side_executor_choose(hacd_job *job, uint32_t device, double task_seconds,
                                                 hac_executor **ret, hac_error *err);

/* Whether tasks of other jobs keep a job from an executor. Exposed for tests. */
typedef enum hac_hold {
    HAC_HOLD_NONE = 0, /* no: none runs, or they have almost ended */
    HAC_HOLD_SHORT,    /* until `until`, or a task ends */
    HAC_HOLD_LONG      /* for longer: `until` has passed, or they are predicted to end after it */
} hac_hold;
hac_hold hac_side_executor_hold(const hac_executor *executor, const hacd_job *job, uint64_t now,
                                uint64_t until);

#endif
