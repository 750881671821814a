/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors on their way to clients. A client that does not read leaves them in its socket, where the
 * kernel counts them against hacd: if there are too many (RLIMIT_NOFILE), hacd can send no descriptor to
 * anybody, not even to its executors. They are therefore charged to the client's user until the client has
 * read them, even if the connection ends before that: what was sent then stays in the client's socket until
 * the client closes it. */
#ifndef SERVER_UNREAD_H
#define SERVER_UNREAD_H

#include "session.h"

/* Charges n descriptors that are about to be sent. If the user's clients leave too many unread, the session's
 * client is given up, and the result is false. */
bool hac_unread_charge(hac_session *session, size_t n);

/* The session ends: closes its channel. */
void hac_unread_close_channel(hac_session *session);

/* Releases what clients have read meanwhile. Called a few times a second. */
void hac_unread_settle(hac_sessions *sessions);

/* Closes the sockets of ended sessions, read or not. */
void hac_unread_deinit(hac_sessions *sessions);

#endif
