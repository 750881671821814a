/* SPDX-License-Identifier: Apache-2.0 */
/* Sort jobs, from a request to plans. */
#ifndef SERVER_JOB_SORT_H
#define SERVER_JOB_SORT_H

#include "submission.h"

/* Fills the planner's specification from a request. HAC_INVALID: the message names the fault. */
HAC_MUST_USE hac_status hac_sort_spec_read(const Hac__Client__SortSpec *from, hac_sort_spec *ret,
                                           hac_error *err);

/* hac_submission_submit of a job of this kind. */
HAC_MUST_USE hac_status hacd_job_sort_submit(hac_submission *from, hac_error *err);

#endif
