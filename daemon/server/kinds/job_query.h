/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Query jobs: from a request to plans. The client has compiled the query; its bytes travel with every task,
 * and the figures that came with it are what plans are made by. hacd does not look into the bytes.
 */
#ifndef SERVER_JOB_QUERY_H
#define SERVER_JOB_QUERY_H

#include "planner/query_plan.h"
#include "submission.h"

/* The planner's specification of a query that is not run. `sources` are bytes. */
HAC_MUST_USE hac_status hac_query_plan_read(const Hac__Client__PlanQuery *request, hac_query_spec *ret,
                                            hac_error *err);

/* hac_submission_submit of a job of this kind. */
HAC_MUST_USE hac_status hacd_job_query_submit(hac_submission *from, hac_error *err);

#endif
