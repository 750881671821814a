/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs of sub-operators (docs/flows/opsplit.md): a graph of sub-operators over vectors in the client's pool
 * buffers (base/op_layout.h). The planner decides where each runs. The values that they report are the job's
 * result.
 *
 * If graphs depend on one another (rounds, conditions), all graphs of a run are one job: it waits for its
 * client between them, and the client may write to its log.
 */
#ifndef SERVER_JOB_OPS_H
#define SERVER_JOB_OPS_H

#include "planner/ops_plan.h"
#include "submission.h"

/* The planner's specification of a request; it borrows from the request. `sizes` are the bytes of the
 * request's buffers. The caller frees ret->tasks. */
HAC_MUST_USE hac_status hac_ops_spec_read(const hac_user *user, const Hac__Client__SubmitOps *ops,
                                          const uint64_t *sizes, size_t n_buffers, hac_ops_spec *ret,
                                          hac_error *err);

/* hac_submission_submit of a job of this kind. */
HAC_MUST_USE hac_status hacd_job_ops_submit(hac_submission *from, hac_error *err);
/* Takes the next graph of a job of this session. The request is answered when the graph has run. */
HAC_MUST_USE hac_status hacd_job_ops_append(hac_submission *from, hac_error *err);

#endif
