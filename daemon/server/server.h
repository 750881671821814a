/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the daemon: start, serve, drain, exit. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "admin/state.h"

/* Call this before hacd listens: SIGTERM, SIGINT and SIGHUP then wait for the loop, which takes them from
 * hac_server_open on. */
void hac_server_hold_signals(void);

/* Runs until hacd is told to exit. Returns the exit status of the process. Consumes options->listener. */
int hac_server_run(const hac_server_options *options);

/* The same in steps. hac_server_open does everything up to the loop's first turn. The caller then runs
 * server->loop until it has nothing left to do (hac_shutdown_now), and calls hac_server_close. */
HAC_MUST_USE hac_status hac_server_open(const hac_server_options *options, hac_server **ret, hac_error *err);
void hac_server_close(hac_server *server);

#endif
