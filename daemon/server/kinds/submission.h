/* SPDX-License-Identifier: Apache-2.0 */
/* Submission, which all kinds of jobs share: options, input, admission and start. */
#ifndef SERVER_SUBMISSION_H
#define SERVER_SUBMISSION_H

#include "jobs/job.h"
#include "sessions/session.h"

/* A request that submits a job, or brings more of a job's input. */
typedef struct hac_submission {
    hac_jobs *jobs;
    hac_session *session;
    const Hac__Client__Request *request;
    hac_frame *frame; /* holds the request's descriptors */
    /* Set by hacd_job_kind.fill. */
    bool inline_input;    /* all of the input came in the message */
    char what[64];        /* what the job does, for its record */
    uint64_t split_bytes; /* recommended size of a split; 0: the job takes no splits */
    uint64_t range_bytes; /* recommended size of a split that stays in its file */
} hac_submission;

/* Makes a job of that kind, has the kind fill it in from the request, submits it, and answers the session. A
 * job whose input came in the message, and of which the client wants no more than the result, is answered by
 * its result. HAC_REFUSED: hacd is shutting down, the user has too many jobs, or the job's deadline cannot be
 * met (admission.h). `options` may be NULL. */
HAC_MUST_USE hac_status hac_submission_submit(hac_submission *from, const hacd_job_kind *kind,
                                              const Hac__Client__JobOptions *options, hac_error *err);

/* The session's own job of that kind, whose input comes in pieces. `what` names the pieces in messages. */
HAC_MUST_USE hac_status hac_submission_find_job(const hac_submission *from, uint64_t id,
                                                const hacd_job_kind *kind, const char *what, hacd_job **ret,
                                                hac_error *err);

/* A buffer of the session that contains [offset, offset + bytes), sealed, and held for the job. `what` names
 * it in messages. */
HAC_MUST_USE hac_status hac_submission_take_buffer(hac_session *session, uint32_t id, uint64_t offset,
                                                   uint64_t bytes, const char *what, hac_pool_buffer **ret,
                                                   hac_error *err);

/* Takes the input's descriptor out of the frame, as the job's next one. It is only looked at with
 * hac_foreign_stat: executors read it, hacd never does. `name` is for messages. */
HAC_MUST_USE hac_status hac_submission_take_descriptor(hacd_job *job, const Hac__Client__Input *input,
                                                       const char *name, hac_frame *frame, hac_error *err);

/* Takes the frame's only descriptor as the job's `index`th. The size of the file shows when it is read. */
HAC_MUST_USE hac_status hac_submission_take_file(hacd_job *job, size_t index, const char *name,
                                                 hac_frame *frame, hac_error *err);

#endif
