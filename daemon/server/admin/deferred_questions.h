/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about the devices that wait until the devices' self-tests are done. */
#ifndef SERVER_DEFERRED_QUESTIONS_H
#define SERVER_DEFERRED_QUESTIONS_H

#include "sessions/session.h"

struct hac_server;

/* Answers a question about `topic`, which request `serial` of the session asked. */
typedef void hac_question_answerer(hac_session *session, uint64_t serial, Hac__Client__Topic topic);

/* Defers a question. Returns false if there is nothing to wait for: it can be answered now. */
bool hac_deferred_questions_add(struct hac_server *server, hac_session *session,
                                const Hac__Client__Request *request);
/* The session ends. */
void hac_deferred_questions_forget_session(struct hac_server *server, const hac_session *session);
/* Answers the questions that need not wait any longer. */
void hac_deferred_questions_answer(struct hac_server *server, hac_question_answerer *answer);

#endif
