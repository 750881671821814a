/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: one connected client each. Identity is what the kernel says of the peer at accept, for the life
 * of the connection; nothing a client writes about itself counts.
 */
#ifndef SERVER_SESSION_H
#define SERVER_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"
#include "job.h"
#include "pool.h"
#include "proto/frame.h"
#include "proto/messages.h"

/* Their answers may come all at once, and have to fit into what a client may leave unread. */
#define HAC_SESSION_PENDING_MAX 1024

struct hac_server;
typedef struct hac_session hac_session;

struct hac_session {
    hac_link link;
    struct hac_server *server;
    struct hac_channel *channel;
    hac_user *user;
    pid_t pid; /* for the log */
    bool greeted;
    uint64_t served_turn;  /* of the loop */
    unsigned silent_ticks; /* without a greeting, while hacd listened */
    bool closing;
    bool counted;         /* among its user's connections */
    double retry_seconds; /* what is to be said of a refusal just made; 0: it would be for nothing, -1: by the
                             queue (admission.h) */
    unsigned pending;     /* requests whose answer has to wait: for a job's end, or for self-tests */
    uint32_t *known;      /* ids of buffers the client has mapped, sorted */
    size_t n_known, known_room;
    hac_pool_buffer **handles; /* buffers it holds through hac_buffer_alloc */
    size_t n_handles, handles_room;
};

/* Takes a just accepted socket over. Refuses peers over their limit with a message. */
void hac_session_accept(struct hac_server *server, int socket);

/* Ends the connection: its jobs are cancelled unless detached, its buffers go back to the pool. */
void hac_session_close(hac_session *session, const char *why);

/* Ends connections that do not greet. Called a few times a second, while requests are read. */
void hac_sessions_check(struct hac_server *server);

void hac_session_send(hac_session *session, const Hac__Client__Response *response, const int *fds,
                      size_t n_fds);
void hac_session_send_ok(hac_session *session, uint64_t serial);
void hac_session_send_failure(hac_session *session, uint64_t serial, const hac_error *err,
                              double retry_after);
/* A text of any length up to HAC_TEXT_MAX: inside the message, or as a sealed memfd. */
void hac_session_send_text(hac_session *session, uint64_t serial, const char *text, size_t bytes);
void hac_session_send_buffer(hac_session *session, uint64_t serial, hac_pool_buffer *buffer);
void hac_session_send_accepted(hac_session *session, uint64_t serial, const hac_job *job);
/* A job that has ended, with its result. */
/* `buffer`, if there is one, holds result_bytes of rows, and is the session's. */
void hac_session_send_split_done(hac_session *session, uint64_t serial, const Hac__Client__SplitDone *done,
                                 hac_pool_buffer *buffer);
void hac_session_send_graph_done(hac_session *session, uint64_t serial, uint64_t job, uint64_t graph,
                                 uint8_t *values, size_t bytes);
void hac_session_send_done(hac_session *session, uint64_t serial, hac_job *job);

/* Client-side knowledge of a buffer ends with the buffer. */
void hac_sessions_forget_buffer(struct hac_server *server, const hac_pool_buffer *buffer);

/* The buffer of that id if this session holds it. */
hac_pool_buffer *hac_session_buffer(const hac_session *session, uint32_t id);
HAC_MUST_USE hac_status hac_session_hold(hac_session *session, hac_pool_buffer *buffer, hac_error *err);
bool hac_session_drop(hac_session *session, uint32_t id);

/* requests.c: what a decoded request does. */
/* Answers a question that had been put off (server.h). */
void hac_session_answer_query(hac_session *session, uint64_t serial, Hac__Client__Topic topic);
void hac_session_handle(hac_session *session, const Hac__Client__Request *request, hac_frame *frame);

#endif
