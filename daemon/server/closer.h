/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes descriptors that clients gave. How long that takes is up to whoever made them: a socket may linger,
 * the server of a file system (NFS, FUSE) may not answer, a memfd of gigabytes has to be freed. So it is done
 * in threads, as many as hang and HAC_CLOSER_PER_USER of a user at most: what others gave does not wait for
 * it.
 */
#ifndef SERVER_CLOSER_H
#define SERVER_CLOSER_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

#define HAC_CLOSER_PER_USER 2
#define HAC_CLOSER_THREADS  64
/* A user with so many that wait to be closed is to give no more. */
#define HAC_CLOSER_MOST 512

typedef struct hac_closer hac_closer;

HAC_MUST_USE hac_status hac_closer_new(hac_closer **ret, hac_error *err);

/* Whose a descriptor is, for whoever has to close it. `closer` NULL: it is closed at once. */
typedef struct hac_closing {
    hac_closer *closer;
    uid_t uid;
} hac_closing;

/* Waits for nothing; -1 is allowed. Small memory is closed at once, and so is anything where there is no
 * memory or thread. */
void hac_closing_close(hac_closing closing, int fd);

/* Likewise, of a socket that does not block. What came through it and was not read is thrown away before,
 * with its descriptors: the kernel resets a connection that is closed with messages unread, and the peer
 * would learn of that before it sees our last words. */
void hac_closing_close_socket(hac_closing closing, int fd);

/* How many of a user's are not closed yet. */
size_t hac_closer_pending(hac_closer *closer, uid_t uid);

/* What hangs is left to its thread, which ends with the process. NULL is allowed. */
void hac_closer_free(hac_closer *closer);

#endif
