/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How hacd leaves. *Draining*: it takes nothing new, and leaves when the jobs that run are done and fetched,
 * or after `drain_deadline`. *Now*: what runs is cancelled. A private daemon also leaves by itself, when it
 * has been idle for long enough or its socket's path is gone.
 */
#ifndef SERVER_LEAVING_H
#define SERVER_LEAVING_H

#include <stdbool.h>

struct hac_server;

/* Finish what runs, take nothing new, leave. `why` is for the log. */
void hac_leaving_drain(struct hac_server *server, const char *why);

/* Whether new clients are left to wait at a socket that somebody else keeps, for the next hacd. At a socket
 * of its own they would wait for nothing: they are let in, and refused. */
bool hac_leaving_is_deaf(const struct hac_server *server);

/* Leave now: every job that has not ended, detached or not, ends as cancelled as soon as its executors are
 * reaped, and its client is told; then the sessions go (hac_leaving_turn). */
void hac_leaving_now(struct hac_server *server);

/* Looks a few times a second whether it is time to leave. */
void hac_leaving_consider(struct hac_server *server);

/* Every turn of the loop: the next step of leaving, if any. True when only children have still to be reaped.
 */
bool hac_leaving_turn(struct hac_server *server);

#endif
