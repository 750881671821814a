/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hacd tells the service manager, in the protocol of sd_notify(3): that it is ready, that it reads its
 * configuration again, that it is leaving, what it is doing, and that its loop turns (the watchdog). Without
 * NOTIFY_SOCKET in the environment all of this does nothing.
 *
 * Nothing here waits: what the manager does not take at once is dropped, and a state that it has not taken is
 * told again later. libsystemd's sd_notify() waits for a manager that does not read (docs/decisions/0012).
 */
#ifndef SERVER_NOTIFY_H
#define SERVER_NOTIFY_H

#include <uv.h>

#include "base/error.h"

typedef struct hac_notify hac_notify;

/* Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment, and starts to send the
 * watchdog's pings from a timer of `loop`, four in each WATCHDOG_USEC: a loop that stands still sends none.
 * The timers do not keep the loop alive. */
HAC_MUST_USE hac_status hac_notify_new(uv_loop_t *loop, hac_notify **ret, hac_error *err);

/* After the loop's handles have been closed. NULL is fine. */
void hac_notify_free(hac_notify *notify);

/* Clients are served: at start, and again after hac_notify_reloading. Not while hacd is leaving. */
void hac_notify_ready(hac_notify *notify);

/* A reload has begun; hac_notify_ready ends it, whatever came of it. Before the first hac_notify_ready it is
 * part of the start and nothing is said. */
void hac_notify_reloading(hac_notify *notify);

/* hacd is leaving and will have gone after `seconds`: the manager waits so long before it kills, even where
 * the unit's TimeoutStopSec is less. */
void hac_notify_stopping(hac_notify *notify, double seconds);

/* One line for people (systemctl status); sent when it has changed, at most once a second. */
void hac_notify_status(hac_notify *notify, const char *fmt, ...) HAC_PRINTF(2, 3);

#endif
