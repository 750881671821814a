/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an executor counts as hung. A running task has a time limit (task_deadline_minimum, or
 * task_deadline_factor times its predicted time). The limit is one of silence: it begins again whenever the
 * executor counts steps of work (codelet/progress.h), so that work which goes on is never killed, however
 * wrong its prediction is. The executor counts in a memfd that hacd reads and does not map.
 *
 * An executor decides what it counts, so one that was taken over may run for ever. It keeps the device from
 * nobody: others run beside it (scheduler/fair_share.h), or, on devices without time slices, it gives way to
 * a user who has waited for its whole limit. A cancel ends it.
 */
#ifndef SERVER_TASK_WATCH_H
#define SERVER_TASK_WATCH_H

#include "executor.h"

/* Makes the memfd for the executor's steps. Without one, every task counts as silent. */
void hac_task_watch_init(hac_executor *executor);
void hac_task_watch_deinit(hac_executor *executor);

/* The oldest task in flight begins to run. `idle`: nothing ran before it. */
void hac_task_watch_begin(hac_executor *executor, uint64_t now, bool idle);

/* Looks whether the executor has counted steps since the last look. Called a few times a second while a task
 * runs, and before hac_task_watch_is_over. */
void hac_task_watch_look(hac_executor *executor, uint64_t now);

/* The time limit of what the executor does now, in seconds. */
double hac_task_watch_limit(const hac_executor *executor);

/* Whether the limit is over. A process that had no processor, because other processes had it, gets the time
 * again. */
bool hac_task_watch_is_over(hac_executor *executor, uint64_t now);

/* When it will be over, as far as is known; UINT64_MAX: nothing is running. */
uint64_t hac_task_watch_end(const hac_executor *executor);

#endif
