/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about jobs that hacd no longer has in memory. Their files are read on the thread pool, one
 * question after another, and of several users in turns; the answer follows when they have been read. A user
 * is told of jobs of their own account only; administrators of all.
 */
#ifndef SERVER_JOB_HISTORY_H
#define SERVER_JOB_HISTORY_H

#include "sessions/session.h"

struct hac_server;

/* Answers a question about job query->job, or the account's newest job if that is 0; or TOPIC_ALL_JOBS.
 * HAC_REFUSED: the session waits for too many answers. */
HAC_MUST_USE hac_status hac_job_history_ask(struct hac_server *server, hac_session *session, uint64_t serial,
                                            const Hac__Client__Query *query, hac_error *err);

/* The session ends. */
void hac_job_history_forget_session(struct hac_server *server, const hac_session *session);

#endif
