/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs of sub-operators (flow D): a graph of them over vectors in the client's pool buffers
 * (base/op_layout.h). The planner says where each runs; what they give back is the job's result.
 *
 * Of a run whose graphs follow from one another (rounds, conditions) all are one job: it waits for its client
 * between them, and its log is the client's to write in.
 */
#ifndef SERVER_JOB_OPS_H
#define SERVER_JOB_OPS_H

#include "job.h"
#include "planner/ops_plan.h"
#include "session.h"

/* The planner's specification of a request, which borrows from it. `sizes` are bytes of its buffers. The
 * tasks are malloc'ed: the caller's to free (ret->tasks). */
HAC_MUST_USE hac_status hac_ops_spec_read(const hac_user *user, const Hac__Client__SubmitOps *ops,
                                          const uint64_t *sizes, size_t n_buffers, hac_ops_spec *ret,
                                          hac_error *err);

/* Makes a job, submits it and answers the session, if it is well. */
HAC_MUST_USE hac_status hac_job_ops_submit(hac_session *session, uint64_t serial,
                                           const Hac__Client__SubmitOps *request, hac_error *err);
/* The next graph of a job of this session; it is answered when it has run. */
HAC_MUST_USE hac_status hac_job_ops_append(hac_session *session, uint64_t serial,
                                           const Hac__Client__AppendGraph *request, hac_error *err);

#endif
