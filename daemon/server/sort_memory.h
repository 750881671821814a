/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of sorts that a limit of memory holds for: where the fastest one needs more, others are looked at. */
#ifndef SERVER_SORT_MEMORY_H
#define SERVER_SORT_MEMORY_H

#include "planner/sort_plan.h"

/* What all of a plan's buffers take together, the input's included: what a job's limit is held against. */
uint64_t hac_plan_memory(const hac_plan *plan);

/*
 * The fastest plan that needs at most `limit` bytes (0: no limit), within what the specification leaves open:
 * algorithm, scheme, and how many of the devices take part. HAC_REFUSED: none does; the message names the
 * least that works. Else as hac_plan_sort.
 */
HAC_MUST_USE hac_status hac_plan_sort_within(const hac_machine *machine, const hac_sort_spec *spec,
                                             uint64_t limit, hac_plan **ret, hac_error *err);

#endif
