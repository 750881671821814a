/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries whose input comes in splits (flow B): the client hands over one after another, each is aggregated
 * to partials beside those that are there, and answered. When there is no room for more partials they are
 * merged to the carry, the groups so far; the last round merges all to the result. Queries that only give
 * rows answer each split with its rows. What a job holds does not grow with its input: splits in flight, one
 * buffer of partials, the groups.
 *
 * A split is answered when its partials are there for good: until then a lost executor or a region that was
 * too small lets it be read again.
 */
#ifndef SERVER_JOB_SPLITS_H
#define SERVER_JOB_SPLITS_H

#include "job.h"
#include "session.h"

/* Makes a job, submits it and answers the session, if it is well. */
HAC_MUST_USE hac_status hac_job_splits_submit(hac_session *session, uint64_t serial,
                                              const Hac__Client__SubmitQuery *request, hac_error *err);

/* Memory for a split of a job of this session, at first what the job begins with; any memory for one that has
 * ended. HAC_REFUSED: now, or for ever (session->retry_seconds). */
HAC_MUST_USE hac_status hac_job_splits_buffer(hac_session *session, uint64_t job, uint64_t bytes,
                                              hac_pool_buffer **ret, hac_error *err);

/* The next split of a job of this session; it is answered later. A file's descriptor is taken out of the
 * frame. HAC_NOT_FOUND: there is no such job. HAC_INVALID: too many are unanswered, it comes behind the last
 * one, no such buffer, or no such file. */
HAC_MUST_USE hac_status hac_job_splits_append(hac_session *session, uint64_t serial,
                                              const Hac__Client__AppendSplit *split, hac_frame *frame,
                                              hac_error *err);

#endif
