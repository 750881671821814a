/* SPDX-License-Identifier: Apache-2.0 */
/* Sort jobs: from a request to plans. */
#ifndef SERVER_JOB_SORT_H
#define SERVER_JOB_SORT_H

#include "job.h"
#include "session.h"

/* Fills the planner's specification from a request's; HAC_INVALID says what cannot be. */
HAC_MUST_USE hac_status hac_sort_spec_read(const Hac__Client__SortSpec *from, hac_sort_spec *ret,
                                           hac_error *err);

/* A task of a sort's plan is done. The scan knows how many buckets there are in truth; empty ones at the end
 * would spoil the leaves' shares, and what is learnt of them. */
void hac_job_sort_trim(hac_job *job, uint32_t task, const Hac__Executor__Done *done);

/* Makes a job, submits it and answers the session, if it is well. Takes descriptors out of the frame. */
HAC_MUST_USE hac_status hac_job_sort_submit(hac_session *session, uint64_t serial,
                                            const Hac__Client__SubmitSort *request, hac_frame *frame,
                                            hac_error *err);

#endif
