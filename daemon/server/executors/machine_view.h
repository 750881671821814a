/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as the planner sees it: devices, what is known of their speed, and how busy they are. */
#ifndef SERVER_MACHINE_VIEW_H
#define SERVER_MACHINE_VIEW_H

#include <stdbool.h>

#include "executor.h"
#include "planner/machine.h"
#include "planner/model.h"
#include "resources/device.h"

typedef struct hac_machine_view {
    const hac_devices *devices;
    const hac_model_set *models;
    const hac_executors *executors;
    bool stale;         /* devices or their settings have changed since `machine` was filled */
    uint64_t learnt_ns; /* when the machine last learnt from the models (planner/experience.h) */
    hac_machine machine;
} hac_machine_view;

/* The machine as it is now. */
const hac_machine *hac_machine_view_now(hac_machine_view *view);

#endif
