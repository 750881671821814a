/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to a job when a device failed to run a piece of it: it waits for a program, goes on with the
 * host codelet, goes to other devices, or is given up. The scheduler calls these functions and settles the
 * job afterwards. How long the device waits for its next executor is in executors/restart_backoff.h. */
#ifndef SERVER_JOB_FAILURES_H
#define SERVER_JOB_FAILURES_H

#include "executors/executor.h"
#include "jobs/job.h"

/* The job no longer uses the device, and gets a new plan without it. If no other device is left, the job
 * fails. */
void hac_job_failures_leave_device(hacd_job *job, uint32_t device, const char *why);

/* The piece is handed out again when its program is built. Programs that the job needs later are built as
 * well. */
void hac_job_failures_await_programs(hacd_job *job, const hac_dispatch *dispatch,
                                     const Hac__Executor__Done *done);

/* Whether the job goes on without the device: its kernels failed, and the other devices of the range do the
 * same with a codelet of their own. */
bool hac_job_failures_go_without(hacd_job *job, const hac_dispatch *dispatch,
                                 const Hac__Executor__Done *done);

/* The device cannot run the piece, or failed while running it. */
void hac_job_failures_refused(hacd_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done);

/* The executor that had the piece was lost. */
void hac_job_failures_lost(hacd_job *job, const hac_dispatch *dispatch, const hac_loss *loss);

/* How often the task gave way to other users, or made the job start over for that. Each time doubles how long
 * it may keep them waiting. */
uint32_t hac_job_failures_yields(const hacd_job *job, uint32_t task);

/* Memory ran out: the kernel killed an executor that had no task, or one cannot start. This counts against
 * the job that holds the most memory, among those that are not given up yet. Returns whether there is one. */
bool hac_job_failures_starved(hac_jobs *jobs);

#endif
