/* SPDX-License-Identifier: Apache-2.0 */
#include "task_batching.h"

#define BATCHED_SECONDS_MAX 2e-4 /* tasks shorter than hacd's own work for a task */

bool hac_task_may_be_batched(const hacd_job *job, const hac_executor *executor, const hac_plan_task *task,
                             const hac_dispatch *dispatch)
{
    const hac_dispatch *last = hac_container_of(executor->in_flight.previous, hac_dispatch, link);
    bool alone = hac_list_empty(&executor->in_flight) || last->job == job;
    return alone && job->plan->ahead && task->repeatable && !dispatch->cold && dispatch->attempt == 0 &&
           dispatch->predicted < BATCHED_SECONDS_MAX;
}
