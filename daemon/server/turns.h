/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose turn it is. Each device works for one user at a time, so that its time can be counted, and predicted.
 * Users get it by virtual time (start-time fair queueing): what they have spent of the devices, weighted by
 * capability, over their share. Who has spent least goes first; who comes, or comes back, begins where the
 * others are. Tasks are not interrupted, but nobody waits for more than the one that runs: while somebody
 * waits, nothing long is queued behind it, and what was queued before runs beside the waiting user's.
 *
 * Priorities order the jobs of one user and do not matter here.
 */
#ifndef SERVER_TURNS_H
#define SERVER_TURNS_H

#include "executor.h"
#include "user.h"

/* A round of handing out tasks: begin, then the users in their order, then end. */
void hac_turns_begin(hac_users *users);
/* The next of the users with active jobs in this round; NULL: that was all. */
hac_user *hac_turns_next(hac_users *users);
void hac_turns_end(hac_users *users);

/* Whether the user may give the device another task of `predicted` seconds now; one who may not is taken to
 * wait for it. `executor`: the user's own, ready and with room. */
bool hac_turns_may(const hac_executors *executors, hac_executor *executor, double predicted);

/* The smallest virtual time of users with active jobs; INFINITY: there are none. */
double hac_turns_least(const hac_users *users);

/* Predicted seconds of work in flight on a device for other users. */
double hac_turns_backlog(const hac_executors *executors, uint32_t device, const hac_user *user);

#endif
