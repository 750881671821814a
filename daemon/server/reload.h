/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration, profiles and devices: read at the start, and again by a reload while jobs run.
 *
 * A reload is made beside what is in force: hacd.yaml and all profiles are read and checked, a probe lists
 * the devices anew, and only then all of it takes effect in one turn of the loop. What is wrong anywhere
 * leaves everything as it was. Afterwards
 * - a device of which neither profile nor probe says anything new goes on with its executors, and what had
 * failed on it is tried again;
 * - one that is gone, or has other settings, is retired: its executors end the tasks that they have and
 * leave; jobs that were planned with it are planned anew without it. It keeps its place until no job that has
 * not ended refers to it;
 * - new ones take part in whatever is planned from now on;
 * - limits of hacd.yaml hold for what is asked for from now on.
 */
#ifndef SERVER_RELOAD_H
#define SERVER_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "config/daemon_config.h"
#include "config/profile.h"
#include "device.h"

struct hac_server;
struct hac_session;

typedef struct hac_reload {
    bool pending; /* from the request until all of it is in force, or refused */
    bool again;   /* asked for once more while the probe ran: it may have missed something */
    bool taken;   /* `config` and `profiles` are sound and wait */
    hac_daemon_config config;
    hac_profile_set *profiles;
    bool awaiting;      /* the probe that runs is to report for it */
    uint64_t probed_ns; /* when that one started */
    char problem[512];  /* its last words */
    bool found;         /* `devices` are made, and wait for places */
    hac_devices devices;
    uint64_t found_ns;
    hac_link waiters; /* hac_waiter: who asked, and is answered when it is through */
} hac_reload;

/* At the start: reads configuration and profiles (bad profiles are left out and logged) and puts them in
 * force. */
HAC_MUST_USE hac_status hac_reload_first(struct hac_server *server, hac_error *err);
void hac_reload_deinit(struct hac_server *server);

/* Looks for devices with a child process. At the start requests wait in their sockets meanwhile. */
void hac_reload_probe(struct hac_server *server);

/* Begins a reload. `session` NULL: nobody waits for it (SIGHUP), else its request is answered in the end. The
 * error says why nothing is reloaded. */
HAC_MUST_USE hac_status hac_reload_begin(struct hac_server *server, struct hac_session *session,
                                         uint64_t serial, hac_error *err);

/* A few times a second: a probe that hangs, devices that wait for places. */
void hac_reload_check(struct hac_server *server);

/* The session is going away. */
void hac_reload_forget_session(struct hac_server *server, const struct hac_session *session);

#endif
