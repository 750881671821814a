/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fair queueing of devices among users. Each device works for one user at a time, so that its time can be
 * counted and predicted. Users are served by virtual time (start-time fair queueing): the device time that
 * they have used, weighted by the device's speed and divided by their share. The user with the smallest
 * virtual time goes first. A user who comes, or comes back, starts where the others are. While somebody
 * waits, nothing long is queued, and what was queued before runs beside the waiting user's tasks. Tasks are
 * not interrupted. A task that runs for long does not keep others waiting: on devices that serve several
 * processes in turns by themselves (processors, GPUs) a waiting user's tasks run beside it after 0.2 s, short
 * ones after 10 ms. Both are charged in full, and the models learn nothing from either.
 *
 * Priorities order the jobs of one user only. Short tasks of one job do not wait for long ones of the same
 * user's other jobs (side_executor.h).
 */
#ifndef SERVER_FAIR_SHARE_H
#define SERVER_FAIR_SHARE_H

#include "executors/executor.h"
#include "resources/user.h"

/* One round of handing out tasks: begin, then hac_fair_share_next for each user, then end. */
void hac_fair_share_begin(hac_users *users);
/* The next user with active jobs in this round; NULL: none is left. */
hac_user *hac_fair_share_next(hac_users *users);
void hac_fair_share_end(hac_users *users);

/* Whether the user may give the device another piece of `predicted` seconds now, of a task that takes
 * `task_seconds`. If not, the user counts as waiting for it. `executor` is the user's, and ready to take a
 * task; `executor->goes_beside` says whether tasks of others go on meanwhile. */
bool hac_fair_share_may(hac_executors *executors, hac_executor *executor, double predicted,
                        double task_seconds);

/* The user waits for the device in this round: it has no executor there, as those of others take its
 * place. */
void hac_fair_share_wait(hac_user *user, uint32_t device);

/* The smallest virtual time of users with active jobs; INFINITY: there are none. */
double hac_fair_share_min_time(const hac_users *users);

/* Predicted seconds in flight on a device for other users. */
double hac_fair_share_backlog(const hac_executors *executors, uint32_t device, const hac_user *user);

#endif
