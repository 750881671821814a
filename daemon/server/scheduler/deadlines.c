/* SPDX-License-Identifier: Apache-2.0 */
#include "deadlines.h"

#include <math.h>

static void on_deadline(uv_timer_t *timer)
{
    hac_deadlines_watch(timer->data);
}

void hac_deadlines_init(hac_deadlines *deadlines, uv_loop_t *loop, hac_jobs *jobs)
{
    deadlines->jobs = jobs;
    uv_timer_init(loop, &deadlines->timer);
    deadlines->timer.data = deadlines;
}

void hac_deadlines_watch(hac_deadlines *deadlines)
{
    double next = INFINITY;
    hacd_job *job = NULL;
    deadlines->jobs->deadlines_changed = false;
    hac_list_for_each (job, &deadlines->jobs->list, hacd_job, link) {
        double left = hacd_job_time_left(job);
        if (left <= 0)
            hacd_job_fail_late(job);
        else if (left < next)
            next = left;
    }
    if (uv_is_closing((uv_handle_t *)&deadlines->timer))
        return;
    if (isinf(next))
        uv_timer_stop(&deadlines->timer);
    else
        uv_timer_start(&deadlines->timer, on_deadline, (uint64_t)(fmin(next, 1e6) * 1e3) + 1, 0);
}
