/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of sorts that a limit of memory holds for: where the fastest one needs more, others are looked at. */
#ifndef SERVER_SORT_MEMORY_H
#define SERVER_SORT_MEMORY_H

#include "planner/sort_plan.h"

/*
 * The fastest plan that needs at most `limit` bytes (0: no limit), within what the specification leaves open:
 * algorithm, scheme, and how many of the devices take part. HAC_REFUSED: none does; the message names the
 * least that works. Else as hac_plan_sort_again.
 */
HAC_MUST_USE hac_status hac_plan_sort_within(const hac_machine *machine, const hac_sort_spec *spec,
                                             hac_sort_memo *memo, uint64_t limit, hac_plan **ret,
                                             hac_error *err);

/* The same within `limit` and within what the user's quota leaves, `room`, if there is such a plan; else as
 * if the quota were not: then the pool says what is held, or the job waits for it. */
HAC_MUST_USE hac_status hac_plan_sort_in_room(const hac_machine *machine, const hac_sort_spec *spec,
                                              hac_sort_memo *memo, uint64_t limit, uint64_t room,
                                              hac_plan **ret, hac_error *err);

#endif
