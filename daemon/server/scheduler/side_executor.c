/* SPDX-License-Identifier: Apache-2.0 */
#include "side_executor.h"

#include "base/clock.h"

/* Longer tasks never go to a side executor, so that it is soon free again. */
#define SHORT_SECONDS 25e-3
/* How long a short task waits for the user's executor before it goes to the side executor, … */
#define WAIT_NS UINT64_C(10000000)
/* … for the task that runs on the side executor, and for a side executor to start. */
#define SIDE_WAIT_NS  UINT64_C(100000000)
#define SIDE_START_NS UINT64_C(500000000)
/* What other jobs have queued on an executor for less than this keeps nobody waiting. */
#define ALMOST_ENDED_SECONDS 1e-3

hac_hold hac_side_executor_hold(const hac_executor *executor, const hacd_job *job, uint64_t now,
                                uint64_t until)
{
    double seconds = 0;
    const hac_dispatch *dispatch = NULL, *running = NULL;
    hac_list_for_each (dispatch, &executor->in_flight, hac_dispatch, link) {
        running = running == NULL ? dispatch : running;
        seconds += dispatch->job != job ? dispatch->predicted : 0;
    }
    if (running == NULL || running->job == job)
        return HAC_HOLD_NONE;
    double ran = (double)(now - executor->busy_since_ns) * 1e-9;
    if (now >= until || seconds - ran > (double)(until - now) * 1e-9)
        return HAC_HOLD_LONG;
    return seconds < ALMOST_ENDED_SECONDS && ran < ALMOST_ENDED_SECONDS ? HAC_HOLD_NONE : HAC_HOLD_SHORT;
}

/* Whether the job measures a device, or tasks of a job that does are in flight on the executor. */
static bool measures(const hacd_job *job, const hac_executor *executor)
{
    bool any = job->kind->measures;
    const hac_dispatch *dispatch = NULL;
    hac_list_for_each (dispatch, &executor->in_flight, hac_dispatch, link)
        any |= ((const hacd_job *)dispatch->job)->kind->measures;
    return any;
}

static hac_status wait_until(const hacd_job *job, uint64_t until, hac_executor **ret)
{
    *ret = NULL;
    hac_executors_ask_again(job->jobs->executors, until);
    return HAC_AGAIN;
}

/* A short task that the user's executor, *ret, keeps waiting: on the side executor, or in the queue after
 * all. */
static hac_status go_aside(const hacd_job *job, hac_executor *side, uint64_t now, hac_executor **ret)
{
    if (side->state != HAC_EXECUTOR_READY) {
        uint64_t until = side->begun_ns + SIDE_START_NS;
        return now < until ? wait_until(job, until, ret) : HAC_OK;
    }
    uint64_t until = side->busy_since_ns + SIDE_WAIT_NS;
    hac_hold hold = hac_side_executor_hold(side, job, now, until);
    if (hold == HAC_HOLD_SHORT)
        return wait_until(job, until, ret);
    if (hold == HAC_HOLD_NONE)
        *ret = side;
    return HAC_OK;
}

hac_status hac_side_executor_choose(hacd_job *job, uint32_t device, double task_seconds, hac_executor **ret,
                                    hac_error *err)
{
    hac_executors *executors = job->jobs->executors;
    bool is_cpu = executors->devices->items[device]->config.kind == HAC_DEVICE_KIND_CPU;
    hac_status status = hac_executor_get(executors, device, job->user, ret, err);
    if (status != HAC_OK || !is_cpu || task_seconds > SHORT_SECONDS || measures(job, *ret))
        return status;
    uint64_t now = hac_now_ns(), *held = &job->held_since_ns[device], since = *held != 0 ? *held : now;
    hac_hold hold = hac_side_executor_hold(*ret, job, now, since + WAIT_NS);
    *held = hold != HAC_HOLD_NONE ? since : 0;
    if (hold == HAC_HOLD_SHORT)
        return wait_until(job, since + WAIT_NS, ret);
    hac_executor *side = hold == HAC_HOLD_LONG ? hac_executor_get_side(executors, device, job->user) : NULL;
    return side != NULL ? go_aside(job, side, now, ret) : HAC_OK;
}
