/* SPDX-License-Identifier: Apache-2.0 */
/* Handles requests: decides which kind or which part of admin/ a request is for. */
#ifndef SERVER_REQUESTS_H
#define SERVER_REQUESTS_H

#include "sessions/session.h"

/* hac_sessions.handle. */
void hac_requests_handle(hac_session *session, const Hac__Client__Request *request, hac_frame *frame);

/* hac_plan_queue.answer. */
void hac_requests_plan(hac_session *session, const Hac__Client__Request *request, hac_frame *frame);

/* Answers a deferred question (admin/deferred_questions.h). */
void hac_requests_answer_query(hac_session *session, uint64_t serial, Hac__Client__Topic topic);

#endif
