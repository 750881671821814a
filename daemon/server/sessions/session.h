/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: one per connected client. The kernel identifies the user at connect time (SO_PEERCRED), for the
 * life of the connection; nothing a client writes about itself counts. */
#ifndef SERVER_SESSION_H
#define SERVER_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "base/list.h"
#include "config/daemon_config.h"
#include "loop/deferred_close.h"
#include "peer_place.h"
#include "proto/frame.h"
#include "proto/messages.h"
#include "resources/metrics.h"
#include "resources/pool.h"

/* The answers may come all at once, and must fit into what a client may leave unread. */
#define HAC_SESSION_PENDING_MAX 1024

typedef struct hac_session hac_session;

typedef struct hac_sessions {
    hac_link list;
    hac_link lingering; /* closed ones whose peers keep descriptors unread (unread.c) */
    unsigned count;
    uint64_t turn;          /* number of the loop's current turn */
    uint64_t idle_since_ns; /* when the last session ended, or hacd started */
    uv_loop_t *loop;
    hac_users *users;
    const hac_daemon_config *config; /* the limits of users */
    hac_decoder *decoder;
    hac_deferred_close *closer;
    hac_metrics *metrics;
    hac_place_roots places; /* proc NULL: users are uids, wherever they run */
    uid_t foreign_uid;      /* hac_peer_foreign_uid(): nobody connects as this one */
    bool has_landlock;   /* without it, one user at a time is served unless the configuration allows more */
    uint64_t n_accepted; /* connections so far */
    /* A request has arrived. `frame` holds its descriptors; the callee takes those that it keeps. */
    void (*handle)(hac_session *session, const Hac__Client__Request *request, hac_frame *frame);
    /* The session ends: nothing may refer to it any more. It still holds its buffers. */
    void (*closed)(hac_session *session);
    void *context; /* for the callbacks */
} hac_sessions;

/* A buffer that a session holds, and how often. The pool counts it once. */
typedef struct hac_session_handle {
    hac_pool_buffer *buffer;
    uint64_t times;
} hac_session_handle;

struct hac_session {
    hac_link link;
    hac_sessions *sessions;
    struct hac_channel *channel;
    hac_user *user;
    pid_t pid;       /* for the log */
    uint64_t number; /* of the connection, from 1 */
    bool greeted;
    uint64_t served_turn;  /* turn of the loop in which it was last served */
    unsigned silent_ticks; /* ticks without a hello, while hacd read requests */
    bool closing;
    bool counted; /* among its user's connections */
    /* for the refusal that was just made: when to retry; 0: retrying is pointless, -1: the queue tells
     * (admission.h) */
    double retry_seconds;
    unsigned pending; /* requests whose answers have to wait for a job's end, or for self-tests */
    size_t unread;    /* descriptors on their way to the client, charged to the user */
    uint32_t *known;  /* sorted ids of the buffers that the client has mapped */
    size_t n_known, known_capacity;
    hac_link texts; /* that the client has not asked for to the end; the oldest first */
    unsigned n_texts;
    hac_session_handle *handles; /* what it holds through hac_buffer_alloc and hac_job_as_input */
    size_t n_handles, handles_capacity;
};

/* Takes ownership of an accepted socket. Refuses a peer over its limit with a message. `administers`: the
 * peer came through the socket for administrators. */
void hac_session_accept(hac_sessions *sessions, int socket, bool administers);

/* Ends the connection. Its jobs are cancelled unless detached; its buffers go back to the pool. */
void hac_session_close(hac_session *session, const char *why);

/* Ends connections that do not send a hello. Called a few times a second while requests are read. */
void hac_sessions_check(hac_sessions *sessions);

void hac_session_send(hac_session *session, const Hac__Client__Response *response, const int *fds,
                      size_t n_fds);
void hac_session_send_ok(hac_session *session, uint64_t serial);
void hac_session_send_failure(hac_session *session, uint64_t serial, const hac_error *err,
                              double retry_after);
/* Sends a text of up to HAC_TEXT_MAX bytes. What does not fit into the message is kept, charged to the
 * user, until the client has asked for all of it. */
void hac_session_send_text(hac_session *session, uint64_t serial, const char *text, size_t bytes);
/* Sends the rest of the text that answered request `text`, or the next piece of it. */
HAC_MUST_USE hac_status hac_session_send_more_text(hac_session *session, uint64_t serial, uint64_t text,
                                                   uint64_t offset, hac_error *err);
void hac_session_send_buffer(hac_session *session, uint64_t serial, hac_pool_buffer *buffer);
/* `buffer`, if not NULL, holds result_bytes of rows, and belongs to the session. */
void hac_session_send_split_done(hac_session *session, uint64_t serial, const Hac__Client__SplitDone *done,
                                 hac_pool_buffer *buffer);
void hac_session_send_graph_done(hac_session *session, uint64_t serial, uint64_t job, uint64_t graph,
                                 uint8_t *values, size_t bytes);

/* Describes a buffer to the client. Returns the number of descriptors to send: 1, the buffer's memfd, if the
 * client does not have it yet. */
size_t hac_session_describe_buffer(hac_session *session, hac_pool_buffer *buffer, Hac__Client__Buffer *ret);

/* A freed buffer is no longer known to any client. */
void hac_sessions_forget_buffer(hac_sessions *sessions, const hac_pool_buffer *buffer);

/* The buffer with that id if the session holds it, or NULL. */
hac_pool_buffer *hac_session_buffer(const hac_session *session, uint32_t id);
/* Takes over one hold of the caller (hac_pool_hold); if it fails, the caller keeps it. */
HAC_MUST_USE hac_status hac_session_hold(hac_session *session, hac_pool_buffer *buffer, hac_error *err);
/* Undoes one hac_session_hold. Returns whether the session held the buffer. */
bool hac_session_drop(hac_session *session, uint32_t id);

#endif
