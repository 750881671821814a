/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every flow's plan says of the whole of it, for a logic file: its tasks, the devices that they go to,
 * and for how long. It is one walk through the file: each loop once, sub-operators that cannot be placed yet
 * left out.
 */
#ifndef HACCTL_OPSPLIT_PLAN_H
#define HACCTL_OPSPLIT_PLAN_H

#include "base/text.h"
#include "opsplit/logic.h"
#include "opsplit/placement.h"

/* The fields k, k_source (null: devices are not compared by one figure), shares, predicted_seconds, devices
 * and tasks of an open object. `placement` NULL: all are null. */
void hac_opsplit_plan_json(const hac_logic *logic, const hac_placement *placement, hac_text *ret);
/* A line: the predicted time, and which device has how much of it. Nothing where nothing was placed. */
void hac_opsplit_plan_print(const hac_placement *placement, hac_text *ret);

#endif
