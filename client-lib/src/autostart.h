/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the user's private daemon.
 *
 * Under a lock beside the socket the client binds and listens itself, then hands the listening socket to a
 * detached hacd as descriptor 3. Whoever connects from then on waits in the socket's backlog until hacd
 * accepts: nobody polls. hacd leaves under the same lock, unlinking the socket.
 *
 *     hacd --private --listen-fd 3 --socket PATH
 *
 * The daemon outlives its starter, which may be a shell's pipeline or an MPI rank bound to one core, and so
 * inherits nothing of it but a few environment variables: see autostart.c.
 */
#ifndef CLIENT_AUTOSTART_H
#define CLIENT_AUTOSTART_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct hac_autostart {
    /* set by the caller */
    const char *socket;                                  /* the path */
    void (*starting)(void *context, const char *socket); /* called once before a start; may be NULL */
    void *context;
    /* what was done */
    bool started; /* this call was the one that started it */
    char program[PATH_MAX];
    char log[PATH_MAX]; /* "": none could be opened */
    off_t log_start;    /* what was in it before */
} hac_autostart;

/* Connects to the daemon at start->socket, starting it first if nobody has meanwhile. */
HAC_MUST_USE hac_status hac_autostart_connect(hac_autostart *start, int *ret_socket, hac_error *err);

/* HAC_NO_DAEMON for a daemon that was started but did not answer, with the last lines of its log. */
hac_status hac_autostart_fail(const hac_autostart *start, hac_error *err);

#endif
