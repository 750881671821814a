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

/*
 * A job's query while it runs (job->query): a query job's only one, or the one that calibrate measures. The
 * functions are those of hac_job_kind.
 *
 * hac_query_run_begin: in place of the one before; with flow C's kernels, or with host codelets alone.
 */
typedef struct hac_query_over {
    const Hac__Client__QueryTable *table; /* in job->input … */
    uint64_t bytes;                       /* … which are its first so many bytes */
    uint64_t groups;                      /* at most */
    const char *group_by, *select;
} hac_query_over;
HAC_MUST_USE hac_status hac_query_run_begin(hac_job *job, const hac_query_over *query, bool kernels,
                                            hac_error *err);
HAC_MUST_USE hac_status hac_query_run_next_plan(hac_job *job, uint32_t device_mask, hac_error *err);
void hac_query_run_task_done(hac_job *job, uint32_t index, const Hac__Executor__Done *done);
bool hac_query_run_did_all(const hac_job *job, uint32_t index, const Hac__Executor__Done *done);
HAC_MUST_USE hac_status hac_query_run_task_ended(hac_job *job, uint32_t index, hac_error *err);
bool hac_query_run_task_failed(hac_job *job, uint32_t index, const Hac__Executor__Done *done);
/* Frees it, and the data that went with its tasks. */
void hac_query_run_end(hac_job *job);

/* Makes a job, submits it and answers the session, if it is well. Takes descriptors out of the frame. */
HAC_MUST_USE hac_status hac_job_query_submit(hac_session *session, uint64_t serial,
                                             const Hac__Client__SubmitQuery *request, hac_frame *frame,
                                             hac_error *err);

#endif
