/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of sorts within a limit of memory: if the fastest plan needs more, other candidates are tried. */
#ifndef SERVER_SORT_MEMORY_H
#define SERVER_SORT_MEMORY_H

#include "jobs/job.h"
#include "planner/sort_plan.h"

/* The fastest plan that needs at most `limit` bytes (0: no limit), within what the specification leaves open:
 * algorithm, scheme, and which devices take part. HAC_REFUSED: there is none; the message names the smallest
 * limit that works. Otherwise as hac_plan_sort_again. */
HAC_MUST_USE hac_status hac_sort_plan_within(const hac_machine *machine, const hac_sort_spec *spec,
                                             hac_sort_memo *memo, uint64_t limit, hac_plan **ret,
                                             hac_error *err);

/* As above, within `limit` and within `available`, what the user's quota leaves, if there is such a plan. If
 * not, the quota is ignored: then the pool refuses with a message, or the job waits. */
HAC_MUST_USE hac_status hac_sort_plan_in_quota(const hac_machine *machine, const hac_sort_spec *spec,
                                               hac_sort_memo *memo, uint64_t limit, uint64_t available,
                                               hac_plan **ret, hac_error *err);

/* A task of a sort's plan is done. If it is the scan, the true number of buckets is known: the leaf tasks
 * leave out empty buckets at the end, which would spoil their shares and what the models learn. */
void hac_sort_trim(hacd_job *job, uint32_t task, const Hac__Executor__Done *done);

#endif
