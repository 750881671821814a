/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a logic file's plan: its tasks, their devices, and the predicted time. It covers one walk
 * through the file: each loop counts once, and sub-operators that cannot be placed yet are left out.
 */
#ifndef HACCTL_OPSPLIT_PLAN_H
#define HACCTL_OPSPLIT_PLAN_H

#include "base/text.h"
#include "opsplit/logic.h"
#include "opsplit/placement.h"

/* Adds the fields k, k_source (null: no single figure compares the devices), shares, predicted_seconds,
 * devices and tasks to an open object. All are null if `placement` is NULL. */
void hac_opsplit_plan_json(const hac_logic *logic, const hac_placement *placement, hac_text *ret);
/* Adds a line with the predicted time and each device's share. Adds nothing if no task was placed. */
void hac_opsplit_plan_print(const hac_placement *placement, hac_text *ret);

#endif
