/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a job when a device did not do a piece of it: it waits for a program, goes on with the host
 * codelet, goes to other devices, or is given up. The scheduler calls these, and settles the job afterwards.
 */
#ifndef SERVER_FAILURES_H
#define SERVER_FAILURES_H

#include "executor.h"
#include "job.h"

/* The job does not use this device any more; its plan is made anew without it. Without another it has failed.
 */
void hac_failures_leave_device(hac_job *job, uint32_t device, const char *why);

/* The piece is handed out again when its program is built. Those that the job needs later are built beside
 * it. */
void hac_failures_await_programs(hac_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done);

/* The device cannot do the piece, or failed at it. */
void hac_failures_refused(hac_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done);

/* The executor that had the piece was lost. */
void hac_failures_lost(hac_job *job, const hac_dispatch *dispatch, const hac_loss *loss);

/* The kernel has killed an executor that had no task, as memory ran out, or one cannot start: that counts for
 * the job that holds the most of it, of those that were not given up yet. Whether there is one. */
bool hac_failures_starved(struct hac_server *server);

#endif
