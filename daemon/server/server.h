/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hacd's state, and the life of the daemon: start, serve, drain, leave. Everything runs on one libuv loop and
 * one thread; blocking file work goes to libuv's pool.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <limits.h>
#include <stdbool.h>
#include <uv.h>

#include "builder.h"
#include "config/daemon_config.h"
#include "device.h"
#include "executor.h"
#include "job.h"
#include "metrics.h"
#include "planner/model.h"
#include "planner/sort_plan.h"
#include "pool.h"
#include "proto/messages.h"
#include "reload.h"

typedef struct hac_server hac_server;
struct hac_child;
struct hac_notify;

typedef struct hac_server_options {
    bool private_daemon; /* leaves when idle, or when its socket path is gone */
    bool activated;      /* the socket is somebody else's: its path is never unlinked */
    int listener;        /* listening socket; owned by the server */
    int scratch_lock;    /* of the scratch directory; owned by the server */
    char socket_path[PATH_MAX];
    char state_directory[PATH_MAX], cache_directory[PATH_MAX], scratch_directory[PATH_MAX];
    char executor_program[PATH_MAX];
    char config_path[PATH_MAX]; /* hacd.yaml; "" none */
    const char *profile_directories[4];
    size_t n_profile_directories;
} hac_server_options;

struct hac_server {
    uv_loop_t loop;
    hac_server_options options;
    hac_daemon_config config;
    hac_profile_set *profiles;
    char *profile_problems; /* bad profile files, one a line; NULL none */

    hac_users users;
    hac_devices devices;
    hac_machine machine;
    bool machine_stale;
    hac_model_set *models;
    hac_sort_memo *sorts;
    hac_executors executors;
    hac_builders builders;
    hac_decoder *client_decoder, *child_decoder;
    hac_closer *closer;

    uv_poll_t listener;
    ino_t socket_inode;  /* of the socket's path, so as not to unlink another daemon's */
    uv_timer_t tick;     /* four times a second */
    uv_timer_t deadline; /* the first of the unfinished jobs' */
    uv_signal_t on_term, on_int, on_hup;
    struct hac_notify *notify; /* the service manager is told */
    uv_prepare_t prepare;      /* runs the scheduler once a turn, however many things changed */
    bool kick;
    uint64_t turn; /* of the loop */
    hac_link sessions;
    unsigned n_sessions;
    hac_link jobs, queued, active;
    hac_link answering; /* jobs that have put answers off */
    unsigned n_jobs, n_ended, n_active;
    unsigned expire_above; /* n_ended from which on records are looked through before the next tick */
    uint64_t next_job, next_dispatch;
    struct hac_child *probe;
    bool probing; /* for the first devices */
    hac_reload reload;
    struct hac_image_build *image; /* NULL: none is being built */
    hac_link deferred;             /* sessions' questions that wait for the devices' self-tests */

    bool draining, stopping, unlinked;
    uint64_t drain_deadline_ns, idle_since_ns, started_ns, models_saved_ns, trimmed_ns;
    bool saving_models;
    bool models_unsaved; /* the last write of them has failed */

    hac_metrics metrics;
    struct hac_metrics_http *http; /* metrics_http.h; NULL: none is wanted */
    double device_busy[HAC_DEVICE_PLACES];
};

/* Runs until it is told to leave; returns the process's exit status. Consumes options->listener. */
int hac_server_run(const hac_server_options *options);

/* The same in three steps, the second being the caller's: everything up to the loop's first turn; turns of
 * server->loop until it has nothing left to do (hac_leaving_now); the end. */
HAC_MUST_USE hac_status hac_server_open(const hac_server_options *options, hac_server **ret, hac_error *err);
void hac_server_close(hac_server *server);

/* The machine as it is now, for the planner. */
const hac_machine *hac_server_machine(hac_server *server);

/* Puts a question about the devices off until their self-tests are through; false: nothing to wait for. */
bool hac_server_defer(hac_server *server, struct hac_session *session, const Hac__Client__Request *request);
/* The session is going away: nothing may refer to it any more. */
void hac_server_forget_session(hac_server *server, const struct hac_session *session);

/* A job with a deadline has come: fails the jobs that are late, and sets the timer for the next one. */
void hac_server_watch_deadlines(hac_server *server);

/* Asks for a run of the scheduler before the loop waits again. */
void hac_server_kick(hac_server *server);

/* Jobs that wait or run. */
unsigned hac_server_unfinished(const hac_server *server);

/* Takes in the clients that are waiting at the socket. */
void hac_server_accept(hac_server *server);
/* Looks for clients at the socket (again), unless hacd takes none now. */
void hac_server_listen(hac_server *server);

/* Closes a handle that is not closing already; a uv_walk_cb. */
void hac_server_close_handle(uv_handle_t *handle, void *context);

#endif
