/* SPDX-License-Identifier: Apache-2.0 */
/* How long hacd waits before it starts the next executor on a device.
 *
 * Failures count for the (device, user) whose executor failed, so that nobody can take a device from others.
 * After the death of an executor the user's next one waits 0.1 s; each further death in a row doubles the
 * wait, up to 30 s. After five deaths in a row the device rests for the user for 60 s, unless it is the last
 * one that the user may use. A device whose executors never become ready for the user rests even if it is the
 * last one, because the user's jobs would otherwise wait for ever.
 *
 * The device rests for everybody if as many failures come from several users, and no executor of anybody did
 * well meanwhile, or if hacd cannot even start executors there.
 *
 * Executors that lack memory or threads because of others say nothing about their device: the user's next one
 * waits, and nothing is counted.
 *
 * The counters are members of hac_user_failures and hac_server_device. What a job does when it loses an
 * executor is in scheduler/job_failures.h. */
#ifndef SERVER_RESTART_BACKOFF_H
#define SERVER_RESTART_BACKOFF_H

#include <stdbool.h>

#include "base/log.h"
#include "resources/device.h"

/* How the start of an executor failed. */
typedef enum hac_start_failure {
    HAC_START_NOT_CREATED = 0, /* the process could not be created */
    HAC_START_NO_PROCESS,      /* the same, for the limit of processes, of which hacd has no other executor */
    HAC_START_KILLED,          /* a SIGKILL from outside ended it before it was ready */
    HAC_START_DIED,            /* it ended by itself before it was ready */
    HAC_START_HUNG             /* it was not ready in time, and hacd killed it */
} hac_start_failure;

/* A device, and the user whose executors it has. */
typedef struct hac_restart {
    const hac_devices *devices;
    uint32_t device;
    hac_user *user;
} hac_restart;

/* Whether an executor may be started now. */
bool hac_restart_allowed(const hac_restart *at);

/* The user starts no executor there for 0.1 s, while memory is freed. */
void hac_restart_pause(const hac_restart *at);
/* The same for want of processes or threads; each further time in a row doubles the wait, up to 5 s. */
void hac_restart_pause_longer(const hac_restart *at);

/* Executors of others have to end before the user's can start. Returns whether the user goes on waiting, in
 * which case the others' queue stands behind it. After 5 s of that, the user pauses instead. */
bool hac_restart_may_hold_back(const hac_restart *at);

/* An executor died, for a reason that counts. `how` is a predicate: "exited with status 1". `about` is the
 * subject of the log record. */
void hac_restart_after_death(const hac_restart *at, const char *how, const hac_log_subject *about);

/* An executor did not become ready. `how` as above. */
void hac_restart_after_failed_start(const hac_restart *at, hac_start_failure failure, const char *how);

/* An executor has become ready: earlier failed starts no longer count. */
void hac_restart_succeeded(const hac_restart *at);

/* A task has succeeded: earlier deaths no longer count. */
void hac_restart_forget_deaths(const hac_restart *at);

/* Ends the rests whose time is over, also those of single users. One more death or failed start makes the
 * device rest again. */
void hac_restart_end_rests(const hac_devices *devices, hac_users *users);

/* All users' failures on the device are forgotten: it is another one now, or was probed again. */
void hac_restart_forget_device(hac_users *users, uint32_t device);

#endif
