/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler: decides which job runs next and hands the tasks of running jobs' plans to executors.
 *
 * A range task is shared out by guided self-scheduling: each free device takes half of its share of what is
 * left, never less than a fifth of a millisecond's worth, by the rates measured in this very range once there
 * are any. A task that is lost with its executor runs again if its inputs are intact, else its job starts
 * over once nothing of it is in flight.
 */
#ifndef SERVER_SCHEDULER_H
#define SERVER_SCHEDULER_H

#include "executor.h"
#include "job.h"

struct hac_server;

/* Starts the next plan of a job that is active: allocates its buffers and readies its first tasks. */
void hac_scheduler_start_plan(hac_job *job);

/* Bytes of the result of the job's plan: the keys or indices, and the payload behind them if there is one. */
uint64_t hac_scheduler_result_bytes(const hac_job *job);

/* HAC_REFUSED: the job needs that much memory, more than its limit. */
hac_status hac_scheduler_over_limit(const hac_job *job, uint64_t needed, hac_error *err);

/* Takes memory for a late buffer of the running plan, of the size it has there now; what it had is given
 * back. */
HAC_MUST_USE hac_status hac_scheduler_attach(hac_job *job, int buffer, hac_error *err);

/* The client of a job that waited for more (hac_job_kind.next_plan) has sent it. */
void hac_scheduler_wake(hac_job *job);

/* Something has changed: activates queued jobs and hands out tasks as far as executors have room. */
void hac_scheduler_kick(struct hac_server *server);

/* The events of hac_executor_events, with the server as their context. */
void hac_scheduler_done(void *server, hac_dispatch *dispatch, const Hac__Executor__Done *done);
void hac_scheduler_lost(void *server, hac_dispatch *dispatch, const hac_loss *loss);
bool hac_scheduler_starved(void *server);
void hac_scheduler_gone(void *server, unsigned slot);
void hac_scheduler_changed(void *server);

#endif
