/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of short tasks. Tasks of a graph of sub-operators can be shorter than hacd's own work for a task.
 * Such tasks are sent to an executor together (executors/executor.c holds them back until the end of the turn
 * of hacd's loop), and the executor reports their ends together (backends/executor).
 *
 * The limits on what waits at an executor are hac_executor_has_room's.
 */
#ifndef SERVER_TASK_BATCHING_H
#define SERVER_TASK_BATCHING_H

#include <stdbool.h>

#include "executors/executor.h"
#include "jobs/job.h"

/* Whether the task of `dispatch` may be sent, and its end reported, together with others. If the executor
 * dies meanwhile, hacd does not know which tasks had ended, and runs all of them again. So all must be
 * repeatable, and of one job, which is blamed. */
bool hac_task_may_be_batched(const hacd_job *job, const hac_executor *executor, const hac_plan_task *task,
                             const hac_dispatch *dispatch);

#endif
