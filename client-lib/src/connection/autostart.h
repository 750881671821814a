/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the user's private daemon.
 *
 * The client takes a lock beside the socket, binds and listens itself, and passes the listening socket to a
 * detached hacd as descriptor 3. Clients that connect before hacd accepts wait in the socket's backlog, so no
 * client has to poll: how long libhac waits for the daemon's first answer is HELLO_NS in connect.c. At
 * shutdown, hacd takes the same lock and unlinks the socket.
 *
 *     hacd --private --listen-fd 3 --socket PATH
 *
 * The daemon outlives the process that starts it, for example a shell pipeline or an MPI rank bound to one
 * core. Therefore the daemon inherits only a few environment variables from that process: see autostart.c.
 */
#ifndef CLIENT_AUTOSTART_H
#define CLIENT_AUTOSTART_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct hac_autostart {
    /* set by the caller */
    const char *socket;                                  /* the socket's path */
    void (*starting)(void *context, const char *socket); /* called once before a start; may be NULL */
    void *context;
    /* set by hac_autostart_connect */
    bool started; /* this call started the daemon */
    char program[PATH_MAX];
    char log[PATH_MAX]; /* path of the daemon's log; "": no log could be opened */
    off_t log_start;    /* size of the log before the start */
} hac_autostart;

/* Connects to the daemon at start->socket. Starts the daemon first, unless another client has started it
 * meanwhile. */
HAC_MUST_USE hac_status hac_autostart_connect(hac_autostart *start, int *ret_socket, hac_error *err);

/* Returns HAC_NO_DAEMON for a daemon that was started but did not answer. The message contains the last lines
 * of the daemon's log. */
hac_status hac_autostart_fail(const hac_autostart *start, hac_error *err);

#endif
