/* SPDX-License-Identifier: Apache-2.0 */
/* Fails jobs that miss their deadline. */
#ifndef SERVER_DEADLINES_H
#define SERVER_DEADLINES_H

#include <uv.h>

#include "jobs/job.h"

typedef struct hac_deadlines {
    hac_jobs *jobs;
    uv_timer_t timer; /* rings at the first deadline of the jobs that have not ended */
} hac_deadlines;

void hac_deadlines_init(hac_deadlines *deadlines, uv_loop_t *loop, hac_jobs *jobs);

/* Fails the jobs that are late, and sets the timer for the next deadline. */
void hac_deadlines_watch(hac_deadlines *deadlines);

#endif
