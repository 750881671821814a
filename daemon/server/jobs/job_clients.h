/* SPDX-License-Identifier: Apache-2.0 */
/* What a job's clients are told: the owner, those who wait for the job, those who read its result, and the
 * client that writes its output. */
#ifndef SERVER_JOB_CLIENTS_H
#define SERVER_JOB_CLIENTS_H

#include "job.h"
#include "sessions/session.h"

/* Makes the session wait for one more answer. HAC_REFUSED: it waits for too many already. */
HAC_MUST_USE hac_status hac_waiter_add(hac_link *waiters, hac_session *session, uint64_t serial,
                                       hac_error *err);

/* hacd_job_events. */
void hacd_job_clients_ended(hacd_job *job);
void hacd_job_clients_over(hacd_job *job);

/* The session ends: its jobs that are not detached are cancelled, or their results released if they have
 * ended. */
void hacd_job_clients_session_closed(hac_jobs *jobs, hac_session *session);

void hacd_job_send_event(hacd_job *job, const char *stage, const char *device, const char *note);
/* Sends the end of a job, with its result. */
void hacd_job_send_done(hac_session *session, uint64_t serial, hacd_job *job);

/* The session has received the result's buffer, and reads it until it releases the result or ends. */
void hacd_job_add_reader(hacd_job *job, hac_session *session);
void hacd_job_remove_reader(hacd_job *job, const hac_session *session);

/* The session, which owns the job, writes the output itself. Until hacd_job_output_end the job has not ended
 * for others, even if all of its work is done. If the session ends first, the job fails. */
HAC_MUST_USE hac_status hacd_job_output_begin(hacd_job *job, hac_session *session, hac_error *err);
/* `failure` NULL: the output is written. Else the job fails with it, unless it has failed or was cancelled
 * already. */
HAC_MUST_USE hac_status hacd_job_output_end(hacd_job *job, hac_session *session, const hac_error *failure,
                                            hac_error *err);

#endif
