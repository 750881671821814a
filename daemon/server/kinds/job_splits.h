/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries whose input comes in splits (docs/flows/splice.md). The client hands over one split after another.
 * hacd aggregates each split to partials, keeps the partials, and answers the split. When there is no space
 * for more partials, hacd merges them into the running aggregates (the *carry*). The last round merges the
 * carry and the partials into the result. A query without aggregation answers each split with its rows. A job
 * holds the splits in flight, one buffer of partials, and the groups; these do not grow with the input.
 *
 * A split is answered only when its partials are complete. Until then hacd can read the split again, after an
 * executor was lost or if a region was too small.
 */
#ifndef SERVER_JOB_SPLITS_H
#define SERVER_JOB_SPLITS_H

#include "submission.h"

/* hac_submission_submit of a job of this kind. */
HAC_MUST_USE hac_status hacd_job_splits_submit(hac_submission *from, hac_error *err);

/* Returns memory for a split of a job of this session. The first splits get the memory that the job reserved
 * when it began. If the job has ended, the memory comes from the user's pool. HAC_REFUSED: there is no memory
 * now, or there will never be (session->retry_seconds). */
HAC_MUST_USE hac_status hacd_job_splits_buffer(const hac_submission *from, uint64_t job, uint64_t bytes,
                                               hac_pool_buffer **ret, hac_error *err);

/* Takes the next split of a job of this session, and a file's descriptor out of the frame. The split is
 * answered later. HAC_NOT_FOUND: there is no such job. HAC_INVALID: too many splits are unanswered, the split
 * comes after the last one, or there is no such buffer or file. */
HAC_MUST_USE hac_status hacd_job_splits_append(hac_submission *from, hac_error *err);

#endif
