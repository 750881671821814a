/* SPDX-License-Identifier: Apache-2.0 */
/* Closes descriptors that clients passed in. close() may block for as long as its maker wants: a socket may
 * linger, a file server (NFS, FUSE) may not answer, a memfd of gigabytes takes time to free. So descriptors
 * are closed by threads. At most HAC_DEFERRED_CLOSE_PER_USER threads serve one user, so one user's hanging
 * descriptors do not delay the others. */
#ifndef SERVER_DEFERRED_CLOSE_H
#define SERVER_DEFERRED_CLOSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define HAC_DEFERRED_CLOSE_PER_USER 2
#define HAC_DEFERRED_CLOSE_THREADS  64
/* A user with more descriptors than this waiting to be closed may not pass in new ones. */
#define HAC_DEFERRED_CLOSE_MAX 512

typedef struct hac_deferred_close hac_deferred_close;

HAC_MUST_USE hac_status hac_deferred_close_new(hac_deferred_close **ret, hac_error *err);

/* Whose descriptor it is, and what closes it. `closer` NULL: it is closed at once. */
typedef struct hac_fd_owner {
    hac_deferred_close *closer;
    uint64_t user; /* number of the account (hac_user); 0: hacd itself */
} hac_fd_owner;

/* Does not block; -1 is allowed. Small memfds are closed at once. So is everything if memory or threads are
 * lacking. */
void hac_deferred_close_fd(hac_fd_owner owner, int fd);

/* The same for a non-blocking socket. Unread messages and their descriptors are discarded first: the kernel
 * resets a connection that is closed with unread messages, and the peer would see the reset before it reads
 * our last message. */
void hac_deferred_close_socket(hac_fd_owner owner, int fd);

/* Number of the user's descriptors that are not closed yet. */
size_t hac_deferred_close_pending(hac_deferred_close *closer, uint64_t user);

/* Descriptors that hang are left to their threads, which end with the process. NULL is allowed. */
void hac_deferred_close_free(hac_deferred_close *closer);

#endif
