/* SPDX-License-Identifier: Apache-2.0 */
/* Teams: the devices that a way to do a job is priced for; and the list of ways that were priced. */
#ifndef PLANNER_TEAM_H
#define PLANNER_TEAM_H

#include "planner/machine.h"
#include "planner/plan.h"

/* Devices that work on a job together, strongest first; of equal ones the machine's order. */
typedef struct hac_team {
    size_t n;
    uint32_t machine_index[HAC_PLAN_MAX_DEVICES];
    double capability[HAC_PLAN_MAX_DEVICES]; /* of the flow's units a second, for this job */
} hac_team;

/* The team of n (≤ HAC_MACHINE_MAX_DEVICES) devices, given in the machine's order: of a group of devices that
 * share cores only the best. */
void hac_team_form(const hac_machine *machine, const uint32_t *machine_index, const double *capability,
                   size_t n, hac_team *ret);

/* Ends the name of a way, of which `used` bytes are there, with " on cpu.0 + cpu.1", of larger teams with
 * their number. `any`: one of them does it, " on cpu.0 or cpu.1". */
void hac_team_name(const hac_machine *machine, const hac_team *team, bool any, char *name, size_t room,
                   int used);

/* Ways that were priced, in the order in which they were looked at. */
typedef struct hac_candidates {
    hac_plan_candidate *list;
    size_t n;
} hac_candidates;

/* One more, without a price; valid until the next call. NULL: no memory, err says so. */
hac_plan_candidate *hac_candidates_add(hac_candidates *candidates, hac_error *err);

#endif
