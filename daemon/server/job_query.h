/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Query jobs (flow C, and what flows B and E run their queries with): from a request to plans. An executor
 * compiles the query first, and what it gives back travels with every later task; a query of little is
 * compiled by the one task that runs it. hacd looks at neither form.
 */
#ifndef SERVER_JOB_QUERY_H
#define SERVER_JOB_QUERY_H

#include "job.h"
#include "planner/query_plan.h"
#include "session.h"

/* The planner's specification of a query that has not been compiled: what its text lets one guess. `sources`
 * are bytes, or the rows of a table. */
HAC_MUST_USE hac_status hac_query_spec_guess(const Hac__Client__PlanQuery *request, hac_query_spec *ret,
                                             hac_error *err);

/* Makes a job, submits it and answers the session, if it is well. Takes descriptors out of the frame. */
HAC_MUST_USE hac_status hac_job_query_submit(hac_session *session, uint64_t serial,
                                             const Hac__Client__SubmitQuery *request, hac_frame *frame,
                                             hac_error *err);

#endif
