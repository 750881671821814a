/* SPDX-License-Identifier: Apache-2.0 */
/* A socket that clients connect to: the one for everybody, or the one for administrators. Whether a client
 * is let in (access, the user's limit of connections) is decided by hac_session_accept (session.c). */
#ifndef SERVER_LISTENER_H
#define SERVER_LISTENER_H

#include <stdbool.h>
#include <uv.h>

#include "session.h"

typedef struct hac_listener {
    uv_poll_t poll;
    int fd;           /* borrowed; -1: there is no such socket, and no function does anything */
    bool administers; /* its clients are administrators */
    hac_sessions *sessions;
    bool paused; /* clients wait at the socket while this is set */
    bool closed; /* hacd accepts no more clients */
} hac_listener;

HAC_MUST_USE hac_status hac_listener_init(hac_listener *listener, uv_loop_t *loop, int fd, bool administers,
                                          hac_sessions *sessions, hac_error *err);

/* Accepts the clients that wait at the socket. */
void hac_listener_accept(hac_listener *listener);

/* Starts polling the socket, or starts again, unless the listener is paused or closed. */
void hac_listener_start(hac_listener *listener);
void hac_listener_pause(hac_listener *listener);
void hac_listener_resume(hac_listener *listener);
/* Stops for good. Clients that come wait at the socket for the next hacd. */
void hac_listener_close(hac_listener *listener);
/* Stops for good, and closes the handle. */
void hac_listener_deinit(hac_listener *listener);

#endif
