/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of devices that candidate plans are priced for, and the list of candidates. */
#ifndef PLANNER_DEVICE_SET_H
#define PLANNER_DEVICE_SET_H

#include "planner/machine.h"
#include "planner/plan.h"

/* Devices that work on a job together, strongest first; of equal ones the machine's order. */
typedef struct hac_device_set {
    size_t n;
    uint32_t machine_index[HAC_DEVICES_MAX];
    double capability[HAC_DEVICES_MAX]; /* of the flow's units a second, for this job */
    /* Devices at machine_index[n …] that are measured with a piece of the job (hac_plan_task.explored). */
    size_t n_explored;
} hac_device_set;

/* The usable devices that a job may use, as a mask of machine devices: of `device_mask`, or of all devices if
 * it is 0. HAC_FAILED: there is none; the message names the job ("this sort"). */
HAC_MUST_USE hac_status hac_device_set_eligible(const hac_machine *machine, uint32_t device_mask,
                                                const char *job, uint32_t *ret, hac_error *err);

/* Makes a set of n (≤ HAC_MACHINE_MAX_DEVICES) devices, given in the machine's order. Of devices that share
 * cores (a group) only the best joins. */
void hac_device_set_form(const hac_machine *machine, const uint32_t *machine_index, const double *capability,
                         size_t n, hac_device_set *ret);

/* Appends " on cpu.0 + cpu.1", or the number of devices of larger sets, to a candidate's name of `used`
 * bytes. `any`: one device of the set does the work (" on cpu.0 or cpu.1"). */
void hac_device_set_name(const hac_machine *machine, const hac_device_set *set, bool any, char *name,
                         size_t capacity, int used);

/* Candidates, in the order in which they were priced. */
typedef struct hac_candidates {
    hac_plan_candidate *list;
    size_t n;
} hac_candidates;

/* Adds a candidate without a price; valid until the next call. NULL: no memory (`err`). */
hac_plan_candidate *hac_candidates_add(hac_candidates *candidates, hac_error *err);

#endif
