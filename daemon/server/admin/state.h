/* SPDX-License-Identifier: Apache-2.0 */
/* hacd's state: its parts, and what belongs to none of them. Everything runs on one libuv loop and one
 * thread; blocking file work runs on libuv's pool. */
#ifndef SERVER_STATE_H
#define SERVER_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <uv.h>

#include "config/daemon_config.h"
#include "executors/builder.h"
#include "executors/device_tuning.h"
#include "executors/executor.h"
#include "executors/machine_view.h"
#include "jobs/job.h"
#include "kernel_image.h"
#include "planner/model.h"
#include "planner/sort_plan.h"
#include "proto/messages.h"
#include "reload.h"
#include "resources/device.h"
#include "resources/metrics.h"
#include "resources/pool.h"
#include "scheduler/deadlines.h"
#include "sessions/listener.h"
#include "sessions/plan_queue.h"
#include "sessions/session.h"

typedef struct hac_server hac_server;
struct hac_child;
struct hac_service_manager;

typedef struct hac_server_options {
    bool private_daemon; /* exits when idle, or when its socket path is gone */
    bool activated;      /* the service manager owns the socket: its path is never unlinked */
    int listener;        /* listening socket; owned by the server */
    int admin_listener;  /* the one for administrators, or -1; owned by the server */
    bool admin_apart;    /* that socket was handed in or named, for hacd's own uid, too */
    int scratch_lock;    /* of the scratch directory; owned by the server */
    char socket_path[PATH_MAX], admin_path[PATH_MAX];
    char state_directory[PATH_MAX], cache_directory[PATH_MAX], scratch_directory[PATH_MAX];
    char executor_program[PATH_MAX];
    char config_path[PATH_MAX]; /* hacd.yaml; "": none */
    const char *profile_directories[4];
    size_t n_profile_directories;
} hac_server_options;

struct hac_server {
    uv_loop_t loop;
    hac_server_options options;
    hac_daemon_config config;
    hac_profile_set *profiles;
    char *profile_problems; /* bad profile files, one per line; NULL: none */

    hac_users users;
    hac_devices devices;
    hac_machine_view machine;
    hac_tuning tuning;
    hac_model_set *models;
    hac_sort_memo *sorts;
    hac_executors executors;
    hac_builders builders;
    hac_decoder *client_decoder, *child_decoder;
    hac_deferred_close *closer;

    hac_listener listener, admin_listener;
    ino_t socket_inode, admin_inode; /* of the paths, so that hacd does not unlink another daemon's sockets */
    uv_timer_t tick;                 /* four times a second */
    hac_deadlines deadlines;
    uv_signal_t on_term, on_int, on_hup;
    struct hac_service_manager *notify; /* receives notifications */
    uv_prepare_t prepare;               /* runs the scheduler once per turn, however much has changed */
    hac_sessions sessions;
    hac_plan_queue plans;
    hac_jobs jobs;
    struct hac_child *probe;
    bool probing; /* for the first devices */
    hac_reload reload;
    struct hac_kernel_image_build *image; /* NULL: none is being built */
    hac_kernel_image_turn image_turn;
    hac_link deferred;                /* questions that wait for the devices' self-tests */
    struct hac_job_store *remembered; /* history/job_store.h; NULL: no memory for it */
    hac_link history;                 /* questions about remembered jobs (history/job_history.h) */

    bool stopping, unlinked;
    uint64_t drain_deadline_ns, started_ns, models_saved_ns, trimmed_ns;
    bool saving_models;
    bool models_unsaved; /* the last write failed */

    hac_metrics metrics;
    struct hac_metrics_http *http; /* metrics_http.h; NULL: not configured */
};

#endif
