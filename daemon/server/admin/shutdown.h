/* SPDX-License-Identifier: Apache-2.0 */
/* How hacd shuts down. *Draining*: it takes nothing new, and exits when the jobs that run are done and
 * fetched, or after `drain_deadline`. *Now*: it cancels what runs. A private daemon also exits by itself if
 * it has been idle for long enough, or its socket's path is gone. */
#ifndef SERVER_SHUTDOWN_H
#define SERVER_SHUTDOWN_H

#include <stdbool.h>

struct hac_server;

/* Starts draining. `why` is for the log. At a socket that the service manager keeps, new clients wait for the
 * next hacd. At hacd's own socket they would wait in vain, so they are accepted and refused. */
void hac_shutdown_drain(struct hac_server *server, const char *why);

/* Shuts down now. Every unfinished job, detached or not, ends as cancelled once its executors are reaped, and
 * its client is told. Then the sessions end (hac_shutdown_turn). */
void hac_shutdown_now(struct hac_server *server);

/* Seconds until a private daemon exits if nothing is asked of it; INFINITY: it stays. */
double hac_shutdown_idle_left(const struct hac_server *server);

/* Decides whether to shut down. Called a few times a second. */
void hac_shutdown_consider(struct hac_server *server);

/* Does the next step of a shutdown, if any. Called in every turn of the loop. Returns true if only children
 * remain to be reaped. */
bool hac_shutdown_turn(struct hac_server *server);

#endif
