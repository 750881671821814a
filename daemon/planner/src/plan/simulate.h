/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts a plan's run: list scheduling of its task graph on the machine. A task starts when the tasks it
 * waits for are done and its device is free, in the order in which tasks become ready; a range task is shared
 * by its devices so that they end together, in whole grains. Every task costs HAC_DISPATCH_SECONDS on top of
 * its price.
 */
#ifndef PLANNER_SIMULATE_H
#define PLANNER_SIMULATE_H

#include "price.h"

typedef struct hac_simulation {
    double seconds; /* end of the last task */
    double busy[HAC_DEVICES_MAX];
    double learnt_seconds;  /* of the priced time, what came from models … */
    double unsure_seconds;  /* … of these from models that are not sure (price.h) */
    double profile_seconds; /* … and from profiles; the rest is assumed */
    double priced_seconds;
} hac_simulation;

/* Fills predicted_start and predicted_seconds of every task and `ret`. The devices' machine_index must be
 * set. Fails only for lack of memory. */
HAC_MUST_USE hac_status hac_plan_simulate(hac_plan *plan, const hac_machine *machine, hac_simulation *ret,
                                          hac_error *err);

#endif
