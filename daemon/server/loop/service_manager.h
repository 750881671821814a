/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifications to the service manager, in the protocol of sd_notify(3): ready, reloading, stopping, a status
 * line, and watchdog pings. Without NOTIFY_SOCKET in the environment these functions do nothing.
 *
 * Nothing here blocks: a message that the manager does not accept at once is dropped, and a state that it has
 * not accepted is sent again later. libsystemd's sd_notify() blocks if the manager does not read
 * (docs/decisions/0012).
 */
#ifndef SERVER_SERVICE_MANAGER_H
#define SERVER_SERVICE_MANAGER_H

#include <uv.h>

#include "base/error.h"

typedef struct hac_service_manager hac_service_manager;

/* Removes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment. Sends watchdog pings from a
 * timer of `loop`, four in each WATCHDOG_USEC: a loop that hangs sends none. The timers do not keep the loop
 * alive. */
HAC_MUST_USE hac_status hac_service_manager_new(uv_loop_t *loop, hac_service_manager **ret, hac_error *err);

/* Call it after the loop's handles have been closed. NULL is allowed. */
void hac_service_manager_free(hac_service_manager *notify);

/* hacd serves clients: at the start, and again after hac_service_manager_reloading. Ignored while hacd is
 * stopping. */
void hac_service_manager_ready(hac_service_manager *notify);

/* A reload has begun. hac_service_manager_ready ends it, whether it succeeded or not. Before the first
 * hac_service_manager_ready the reload is part of the start, and nothing is sent. */
void hac_service_manager_reloading(hac_service_manager *notify);

/* hacd is stopping and will exit within `seconds`. The manager waits that long before it kills hacd, even if
 * the unit's TimeoutStopSec is shorter. */
void hac_service_manager_stopping(hac_service_manager *notify, double seconds);

/* One line for `systemctl status`, sent when it has changed, at most once a second. */
void hac_service_manager_status(hac_service_manager *notify, const char *fmt, ...) HAC_PRINTF(2, 3);

#endif
