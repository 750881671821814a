/* SPDX-License-Identifier: Apache-2.0 */
/* What a job waits for beside its work: executors that start, and programs that they load with their first
 * task of a kind. It is part of a plan's predicted time, but not of the choice between plans: a device whose
 * executor is not running would never be chosen for short jobs, however many of them come. */
#ifndef SERVER_START_COSTS_H
#define SERVER_START_COSTS_H

#include "executor.h"
#include "planner/model.h"

/* Whether the executor has not run a task of this kind yet. Marks the kind as run. */
bool hac_executor_is_cold(hac_executor *executor, const hac_plan_task *task);

/* Records by how much a task that an executor ran cold took longer than predicted. What depends on a client's
 * figures is not recorded. */
void hac_start_costs_note_cold(hac_model_set *models, const hac_server_device *device,
                               const hac_plan_task *task, double seconds);

/* Seconds until an executor of the device would be ready for the user. */
double hac_start_costs_of_executor(const hac_executors *executors, uint32_t device, const hac_user *user);

/* Adds to the plan's prediction what it takes until the first of its devices is at work for the user. */
void hac_start_costs_add(const hac_executors *executors, const hac_model_set *models, const hac_user *user,
                         hac_plan *plan);

#endif
