/* SPDX-License-Identifier: Apache-2.0 */
/* How long hacd waits before it starts the next executor on a device.
 *
 * After the death of an executor the device waits 0.1 s; each further death in a row doubles the wait, up to
 * 30 s. After five deaths in a row the device is quarantined for 60 s, unless it is the last usable one. A
 * device whose executors never become ready is quarantined even if it is the last one, because its jobs would
 * otherwise wait for ever.
 *
 * The counters are members of hac_server_device: `deaths`, `start_cost`, `retry_at_ns`. What a job does when
 * it loses an executor is in scheduler/job_failures.h. */
#ifndef SERVER_RESTART_BACKOFF_H
#define SERVER_RESTART_BACKOFF_H

#include <stdbool.h>

#include "base/log.h"
#include "resources/device.h"

/* How the start of an executor failed. */
typedef enum hac_start_failure {
    HAC_START_NOT_CREATED = 0, /* the process could not be created */
    HAC_START_KILLED,          /* a SIGKILL from outside ended it before it was ready */
    HAC_START_DIED,            /* it ended by itself before it was ready */
    HAC_START_HUNG             /* it was not ready in time, and hacd killed it */
} hac_start_failure;

/* Whether an executor may be started on the device now. */
bool hac_restart_allowed(const hac_server_device *device);

/* The device starts no executor for 0.1 s, while memory is freed. */
void hac_restart_pause(hac_server_device *device);

/* An executor of the device died, for a reason that counts against the device. `how` is a predicate: "exited
 * with status 1". `about` is the subject of the log record. */
void hac_restart_after_death(const hac_devices *devices, uint32_t device, const char *how,
                             const hac_log_subject *about);

/* An executor of the device did not become ready. `how` as above. */
void hac_restart_after_failed_start(hac_server_device *device, hac_start_failure failure, const char *how);

/* An executor has become ready: earlier failed starts no longer count. */
void hac_restart_succeeded(hac_server_device *device);

/* A task has succeeded: earlier deaths no longer count. */
void hac_restart_forget_deaths(hac_server_device *device);

/* Ends the device's quarantine if its time is over. One more death or failed start quarantines it again. */
void hac_restart_end_quarantine(hac_server_device *device);

#endif
