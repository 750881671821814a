/* SPDX-License-Identifier: Apache-2.0 */
/* What the submission of any job is made of: where its input lies, and the options that all jobs have. */
#ifndef SERVER_JOB_INPUT_H
#define SERVER_JOB_INPUT_H

#include "job.h"
#include "session.h"

/* A new job of the session's user, with `state_bytes` of zeros as its kind's state. HAC_REFUSED: hacd is
 * about to leave, or the user has too many. */
HAC_MUST_USE hac_status hac_job_begin(hac_session *session, const hac_job_kind *kind, size_t state_bytes,
                                      hac_job **ret, hac_error *err);

/* The session's own job of that kind, whose input comes piece by piece: `what`, for messages. */
HAC_MUST_USE hac_status hac_job_of_session(const hac_session *session, uint64_t id, const hac_job_kind *kind,
                                           const char *what, hac_job **ret, hac_error *err);

/* A buffer of the session that holds [offset, offset + bytes), sealed, held for the job. `what` names it. */
HAC_MUST_USE hac_status hac_job_take_buffer(hac_session *session, uint32_t id, uint64_t offset,
                                            uint64_t bytes, const char *what, hac_pool_buffer **ret,
                                            hac_error *err);

/* Type and size of a client's file, without asking whoever serves it; false: not to be had. */
bool hac_foreign_stat(int fd, uint32_t *ret_mode, uint64_t *ret_size);

/* The input's descriptor, out of the frame, as the next of the job's. It is looked at with
 * hac_foreign_stat only: executors read it, hacd never does. `name` is for messages. */
HAC_MUST_USE hac_status hac_job_take_descriptor(hac_job *job, const Hac__Client__Input *input,
                                                const char *name, hac_frame *frame, hac_error *err);

/* The frame's only descriptor, as the `index`th of the job's; likewise. How large the file is shows when it
 * is read. */
HAC_MUST_USE hac_status hac_job_take_file(hac_job *job, size_t index, const char *name, hac_frame *frame,
                                          hac_error *err);

/* NULL: none. */
HAC_MUST_USE hac_status hac_job_take_options(hac_job *job, const Hac__Client__JobOptions *options,
                                             hac_error *err);

/* The last thing before the start: refuses a deadline that cannot be met (admission.h). */
HAC_MUST_USE hac_status hac_job_admit(hac_session *session, const hac_job *job, hac_error *err);

/* Submits a job that is filled in and tells the session so; where the input came in the message and no more
 * than the result is wished for, the result is the answer. `what` it does is noted in its record. */
void hac_job_start(hac_session *session, uint64_t serial, hac_job *job, bool input_in_message,
                   const Hac__Client__JobOptions *options, const char *what);

#endif
