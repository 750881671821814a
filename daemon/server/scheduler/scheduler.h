/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler decides which job runs next, and hands the tasks of active jobs' plans to executors.
 *
 * A range task is shared by guided self-scheduling: each free device takes half of its share of the rest, but
 * at least a fifth of a millisecond's worth. Shares follow the rates measured in this range once there are
 * any. If an executor is lost with a task, the task runs again if its inputs are intact; else the job starts
 * over once nothing of it is in flight.
 */
#ifndef SERVER_SCHEDULER_H
#define SERVER_SCHEDULER_H

#include "executors/executor.h"
#include "jobs/job.h"

/* Starts the current plan of an active job: provides its buffers and readies its first tasks. */
void hac_scheduler_start_plan(hacd_job *job);

/* Activates queued jobs, and hands out tasks as far as executors take them. */
void hac_scheduler_kick(hac_jobs *jobs);

/* hac_executor_events, with the hac_jobs as their context. */
void hac_scheduler_done(void *jobs, hac_dispatch *dispatch, const Hac__Executor__Done *done);
void hac_scheduler_lost(void *jobs, hac_dispatch *dispatch, const hac_loss *loss);
bool hac_scheduler_starved(void *jobs);
void hac_scheduler_gone(void *jobs, unsigned slot);
void hac_scheduler_changed(void *jobs);

#endif
