/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at the other end of a client's socket, as the kernel reports it for the moment of connect(2). */
#ifndef SERVER_PEER_H
#define SERVER_PEER_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/error.h"

HAC_MUST_USE hac_status hac_peer_identify(int socket, struct ucred *ret, hac_error *err);

/* The peer's groups, the primary one first: looking names up may block. A kernel that does not report them
 * leaves only the primary group. Returns a malloc'ed array; NULL: out of memory. */
gid_t *hac_peer_groups(int socket, gid_t primary, size_t *ret);

/* In a user namespace the kernel reports all users that have no uid there as one, the overflow uid. Returns
 * that uid; (uid_t)-1, which is nobody's, if every uid has its own. */
uid_t hac_peer_foreign_uid(void);

#endif
