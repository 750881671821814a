/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds hacd's socket and connects to it. The client tries, in this order: the path from the caller,
 * $HAC_SOCKET, the system daemon if it accepts connections, the user's private daemon.
 *
 * Set-user-ID programs ignore the environment.
 */
#ifndef CLIENT_SOCKET_H
#define CLIENT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/error.h"
#include "base/paths.h"

/* A socket's path with its NUL, as large as in sockaddr_un. */
typedef char hac_socket_path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];

/* Copies `path`. Fails if the path is too long for a socket. */
HAC_MUST_USE hac_status hac_socket_path_set(hac_socket_path ret, const char *path, hac_error *err);

/*
 * Returns the path of the private daemon's socket. Its directory is `runtime`/hac if this user owns the
 * directory `runtime`, else `temporary`/hac-<uid>. `runtime` is the value of XDG_RUNTIME_DIR, or NULL if that
 * is not set. The function creates the directory if it is missing. The directory must have mode 0700 and
 * belong to this user. HAC_REFUSED: the directory exists and is not safe; the message says why.
 */
HAC_MUST_USE hac_status hac_private_socket(const char *runtime, const char *temporary, hac_socket_path ret,
                                           hac_error *err);

/*
 * Connects to the daemon at `path`, and waits up to 10 s while the daemon's backlog is full. The returned
 * socket is non-blocking. The listening process must belong to this user or to root. With `any_owner` it may
 * also belong to the owner of the socket file.
 *
 * HAC_NO_DAEMON: no process listens at `path`. With `any_owner` also: the socket has another type.
 * HAC_REFUSED: the listening process belongs to another user, this user may not connect, or the backlog stays
 * full. Without `any_owner` also: the socket has another type. A process may be listening in all these cases,
 * so the caller must not start another daemon.
 */
HAC_MUST_USE hac_status hac_socket_connect(const char *path, bool any_owner, int *ret_socket, hac_error *err);

/* Creates a listening socket of mode 0600 at a path where no file exists. */
HAC_MUST_USE hac_status hac_socket_listen(const char *path, int *ret_socket, hac_error *err);

#endif
