/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where hacd listens, and connecting to it. In this order: what the caller names, $HAC_SOCKET, the system
 * daemon if it takes connections, the user's private daemon.
 *
 * The environment is not looked at in set-user-ID programs.
 */
#ifndef CLIENT_SOCKET_H
#define CLIENT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/error.h"

#define HAC_SYSTEM_SOCKET "/run/hac/hacd.sock"

/* A socket's path, with its NUL: what sockaddr_un holds. */
typedef char hac_socket_path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];

/* Copies a path that is short enough for a socket. */
HAC_MUST_USE hac_status hac_socket_path_set(hac_socket_path ret, const char *path, hac_error *err);

/*
 * The private daemon's socket, in a directory of mode 0700 that belongs to this user and is made if need be:
 * `runtime`/hac if `runtime` (XDG_RUNTIME_DIR; NULL: not set) is a directory of this user's, else
 * `temporary`/hac-<uid>. HAC_REFUSED, with what is wrong: a directory of that name that is not safe.
 */
HAC_MUST_USE hac_status hac_private_socket(const char *runtime, const char *temporary, hac_socket_path ret,
                                           hac_error *err);

/*
 * Connects, waiting while the daemon's backlog is full (at most 10 s); the socket is non-blocking then.
 * Checks who listens: this user, root, or, `any_owner`, whom the socket file belongs to; HAC_REFUSED
 * otherwise. HAC_NO_DAEMON: nobody listens there; with `any_owner` also another kind of socket. HAC_REFUSED
 * also: this user may not connect, the backlog stays full, or, without `any_owner`, it is another kind of
 * socket; somebody may well listen, whom no other daemon may replace.
 */
HAC_MUST_USE hac_status hac_socket_connect(const char *path, bool any_owner, int *ret_socket, hac_error *err);

/* A listening socket at a path where nothing is; mode 0600. */
HAC_MUST_USE hac_status hac_socket_listen(const char *path, int *ret_socket, hac_error *err);

#endif
