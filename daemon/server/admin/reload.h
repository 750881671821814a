/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration, profiles and devices: read at the start, and again by a reload while jobs run.
 *
 * A reload is prepared aside: hacd reads and checks hacd.yaml and all profiles, and a probe lists the
 * devices. Only then everything takes effect, in one turn of the loop. An error anywhere leaves everything as
 * it was. Afterwards:
 *
 * - A device that neither profile nor probe has changed goes on with its executors. What had failed on it
 *   is tried again.
 * - A device that is gone or has other settings is retired: its executors finish their tasks and exit, and
 *   jobs that were planned with it are planned again without it. It keeps its place until no unfinished job
 *   refers to it.
 * - New devices take part in whatever is planned from now on.
 * - Limits of hacd.yaml hold for new requests.
 */
#ifndef SERVER_RELOAD_H
#define SERVER_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "config/daemon_config.h"
#include "config/profile.h"
#include "loop/scratch.h"
#include "resources/device.h"
#include "sessions/peer_place.h"

struct hac_server;
struct hac_session;

/* What tells the places of clients apart; roots.proc NULL, own anywhere: nothing does. */
typedef struct hac_reload_places {
    hac_place_roots roots;
    hac_user_place own; /* where hacd runs */
} hac_reload_places;

typedef struct hac_reload {
    bool pending; /* from the request until the reload is in force or refused */
    bool again;   /* requested again while the probe ran, which may have missed something */
    bool taken;   /* `config`, `places` and `profiles` are valid and wait */
    hac_daemon_config config;
    hac_reload_places places;
    hac_profile_set *profiles;
    bool awaiting;            /* the running probe is for this reload */
    uint64_t probed_ns;       /* when the probe started */
    hac_scratch_path scratch; /* the probe's */
    char problem[512];        /* what the probe reported before it failed */
    bool found;               /* `devices` are complete, and wait for places */
    hac_devices devices;
    uint64_t found_ns;
    hac_link waiters; /* hac_waiter: the requests that are answered at the end */
} hac_reload;

/* At the start: reads configuration and profiles and puts them in force. Bad profiles are skipped and logged.
 */
HAC_MUST_USE hac_status hac_reload_first(struct hac_server *server, hac_error *err);
void hac_reload_deinit(struct hac_server *server);

/* Looks for devices with a child process, at the start. Requests wait in their sockets meanwhile. */
void hac_reload_probe(struct hac_server *server);

/* Begins a reload. The session's request is answered at its end; `session` NULL: nobody waits for it
 * (SIGHUP). The error says why nothing is reloaded. */
HAC_MUST_USE hac_status hac_reload_begin(struct hac_server *server, struct hac_session *session,
                                         uint64_t serial, hac_error *err);

/* Kills a probe that hangs, and retries devices that wait for places. Called a few times a second. */
void hac_reload_check(struct hac_server *server);

/* The session ends. */
void hac_reload_forget_session(struct hac_server *server, const struct hac_session *session);

#endif
