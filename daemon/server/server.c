/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "admin/deferred_questions.h"
#include "admin/idle_calibration.h"
#include "admin/kernel_image.h"
#include "admin/metrics_http.h"
#include "admin/model_store.h"
#include "admin/shutdown.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/landlock.h"
#include "base/log.h"
#include "history/job_history.h"
#include "history/job_store.h"
#include "jobs/job_clients.h"
#include "kinds/job_calibrate.h"
#include "loop/blocking_work.h"
#include "loop/channel.h"
#include "loop/child.h"
#include "loop/scratch.h"
#include "loop/service_manager.h"
#include "requests.h"
#include "scheduler/rates.h"
#include "scheduler/scheduler.h"
#include "sessions/peer.h"
#include "sessions/unread.h"

#define TICK_MS         250
#define WAITING_SECONDS 0.5

/* ---- the loop ---- */

static void devices_changed(hac_server *server)
{
    server->machine.stale = true;
    hac_jobs_kick(&server->jobs);
}

/* One line for the service manager on what hacd is doing. */
static void tell_status(hac_server *server)
{
    unsigned users = 0, running, waiting;
    hac_user *user = NULL;
    hac_list_for_each (user, &server->users.list, hac_user, link)
        users += user->held[HAC_SLOT_CONNECTIONS] > 0 || (user->held[HAC_SLOT_JOBS] > 0 && !user->of_daemon);
    hac_jobs_count(&server->jobs, &running, &waiting);
    if (server->probing)
        hac_service_manager_status(server->notify, "looking for devices");
    else
        hac_service_manager_status(
            server->notify, "%s%u jobs running, %u waiting; %u users; %u of %u devices usable",
            server->jobs.draining ? "leaving: " : "", running, waiting, users,
            hac_devices_usable(&server->devices), hac_devices_in_use(&server->devices));
}

/* Weighs the devices by what their models have learnt: a second on a fast device counts for more than one on
 * a slow one. */
static void weigh_devices(hac_server *server)
{
    double rates[HAC_DEVICES_MAX], max = 0;
    for (size_t i = 0; i < server->devices.count; i++) {
        rates[i] = hac_rate_sort(server->models, server->devices.items[i], HAC_TYPE_U32);
        max = fmax(max, rates[i]);
    }
    for (size_t i = 0; i < server->devices.count; i++)
        server->devices.items[i]->weight = rates[i] > 0 ? rates[i] / max : 1;
}

/* Tells the client once that its job waits, if the input is long in coming. By then, errors in its beginning
 * have been reported. */
static void tell_of_waiting(hac_server *server)
{
    hacd_job *job = NULL;
    hac_list_for_each (job, &server->jobs.list, hacd_job, link)
        if (job->waiting && job->last_event_ns == 0 && !hacd_job_ended(job) &&
            hacd_job_seconds(job) > WAITING_SECONDS)
            hacd_job_send_event(job, hacd_job_waits_for_memory(job) ? "waits for memory" : "waits for input",
                                "", "");
}

/* Measures a device whose speed is not known, while nothing else is to do. hacd's own account does it: what
 * its jobs learn counts for everybody, and no user's limits are in the way. */
static void measure_by_itself(hac_server *server)
{
    hac_error err = HAC_ERROR_NONE;
    hac_user *user = NULL;
    int device = hac_idle_calibration_next(server);
    if (device < 0)
        return;
    hac_status status = hac_user_get_daemon(&server->users, geteuid(), &user, &err);
    if (status != HAC_OK)
        return;
    status = hacd_job_calibrate_by_itself(&server->jobs, user, (uint32_t)device, &err);
    hac_user_unref(user);
    if (status == HAC_OK)
        server->devices.items[device]->calibrations++;
    const hac_log_subject about = hac_log_device(server->devices.items[device]->config.name);
    hac_log_record(HAC_LOG_DEBUG, HAC_EVENT_OTHER, &about, "%s",
                   status == HAC_OK ? "the device is measured while hacd is idle" : err.message);
}

static void on_tick(uv_timer_t *timer)
{
    hac_server *server = timer->data;
    uint64_t now = hac_now_ns();
    hac_executors_check(&server->executors);
    hac_builders_check(&server->builders);
    hac_kernel_image_check(server);
    hac_jobs_expire(&server->jobs);
    tell_of_waiting(server);
    hac_jobs_check(&server->jobs);
    hac_reload_check(server);
    measure_by_itself(server);
    if ((double)(now - server->models_saved_ns) * 1e-9 > HAC_MODEL_STORE_SECONDS) {
        server->models_saved_ns = now;
        weigh_devices(server);
        hac_model_store_write(server);
        hac_pool_trim(&server->users, HAC_POOL_IDLE_SECONDS);
        if (hac_jobs_unfinished(&server->jobs) == 0)
            malloc_trim(0); /* many messages and jobs leave holes that malloc would keep */
    }
    hac_job_store_save(server);
    if (hac_executors_starve(&server->executors))
        hac_pool_trim(&server->users, 0);
    hac_deferred_questions_answer(server, hac_requests_answer_query);
    if (!server->probing) /* while probing, hellos wait in their sockets */
        hac_sessions_check(&server->sessions);
    hac_log_report(false);
    hac_listener_start(&server->listener);
    hac_listener_start(&server->admin_listener);
    tell_status(server);
    hac_jobs_kick(&server->jobs); /* back-offs may have ended */
    hac_shutdown_consider(server);
}

static void on_prepare(uv_prepare_t *handle)
{
    hac_server *server = handle->data;
    server->sessions.turn++;
    if (server->jobs.deadlines_changed)
        hac_deadlines_watch(&server->deadlines);
    for (int i = 0; server->jobs.kick && i < 8; i++) {
        server->jobs.kick = false;
        if (!server->probing)
            hac_scheduler_kick(&server->jobs);
    }
    hac_jobs_answer(&server->jobs);
    hac_deferred_questions_answer(server, hac_requests_answer_query);
    if (server->jobs.n_ended > server->jobs.expire_above)
        hac_jobs_expire(&server->jobs);
    hac_plan_queue_turn(&server->plans);
    if (hac_shutdown_turn(server))
        uv_prepare_stop(handle);
    hac_metrics_turn(&server->metrics, uv_hrtime(), uv_metrics_idle_time(&server->loop));
}

static void on_builder_change(void *context, uint32_t device)
{
    hac_server *server = context;
    const hac_server_device *d = server->devices.items[device];
    hacd_job *job = NULL;
    hac_list_for_each (job, &server->jobs.active, hacd_job, turn) {
        if (!job->progress)
            continue;
        char note[192];
        snprintf(note, sizeof note, "building kernels for %s (%s)", d->config.name, d->build_note);
        hacd_job_send_event(job, "build", d->config.name, note);
    }
    devices_changed(server);
}

static void on_forget_buffer(void *context, hac_pool_buffer *buffer)
{
    hac_server *server = context;
    hac_executors_forget_buffer(&server->executors, buffer);
    hac_sessions_forget_buffer(&server->sessions, buffer);
}

/* ---- memory that goes back to the system -------------------------------------------------------------- */

typedef struct discard_work {
    uv_work_t work;
    int fd;
} discard_work;

static void discard_run(uv_work_t *work)
{
    discard_work *d = hac_container_of(work, discard_work, work);
    hac_pool_discard(d->fd);
}

static void discard_done(uv_work_t *work, int status)
{
    (void)status;
    free(hac_container_of(work, discard_work, work));
}

static void on_discard(void *context, int fd)
{
    hac_server *server = context;
    if (server->stopping) {
        /* No other user needs the pages any more. Clients keep what they have mapped: a program that goes on
         * after hacd must not find zeros in place of a result. */
        hac_close(fd);
        return;
    }
    discard_work *d = calloc(1, sizeof *d);
    if (d == NULL) {
        hac_pool_discard(fd);
        return;
    }
    d->fd = fd;
    if (hac_blocking_work_queue(&server->loop, &d->work, discard_run, discard_done) != 0)
        discard_run(&d->work);
}

static void on_signal(uv_signal_t *handle, int number)
{
    hac_server *server = handle->data;
    hac_error err = HAC_ERROR_NONE;
    if (server->stopping)
        return;
    if (number == SIGHUP) {
        if (hac_reload_begin(server, NULL, 0, &err) != HAC_OK)
            hac_log_record(HAC_LOG_ERROR, HAC_EVENT_RELOAD_REFUSED, NULL,
                           "reload: %s; the old configuration stays", err.message);
        return;
    }
    if (server->jobs.draining) /* the second signal means now */
        hac_shutdown_now(server);
    else
        hac_shutdown_drain(server, number == SIGTERM ? "SIGTERM" : "SIGINT");
}

/* ---- life --------------------------------------------------------------------------------------------- */

static void init_executors(hac_server *server)
{
    hac_executors *e = &server->executors;
    e->loop = &server->loop;
    e->devices = &server->devices;
    e->users = &server->users;
    e->decoder = server->child_decoder;
    e->closer = server->closer;
    hac_list_init(&e->list);
    hac_executors_init_watch(e);
    e->program = server->options.executor_program;
    e->program_directory = server->options.cache_directory;
    e->scratch_directory = server->options.scratch_directory;
    e->events = (hac_executor_events){hac_scheduler_done, hac_scheduler_lost, hac_scheduler_starved,
                                      hac_scheduler_gone, hac_scheduler_changed};
    e->context = &server->jobs;
    e->metrics = &server->metrics;

    hac_builders *b = &server->builders;
    b->loop = &server->loop;
    b->devices = &server->devices;
    b->decoder = server->child_decoder;
    b->closer = server->closer;
    b->program = server->options.executor_program;
    b->program_directory = server->options.cache_directory;
    b->scratch_directory = server->options.scratch_directory;
    b->state_directory = server->options.state_directory;
    b->changed = on_builder_change;
    b->context = server;
    hac_builders_init(b);
}

static void on_session_closed(hac_session *session)
{
    hac_server *server = session->sessions->context;
    hacd_job_clients_session_closed(&server->jobs, session);
    hac_kernel_image_forget_session(server, session);
    hac_reload_forget_session(server, session);
    hac_deferred_questions_forget_session(server, session);
    hac_plan_queue_forget_session(&server->plans, session);
    hac_job_history_forget_session(server, session);
}

/* Gives each part what it needs of the others. */
static void init_books(hac_server *server)
{
    uint64_t now = hac_now_ns();
    server->machine.devices = &server->devices;
    server->machine.models = server->models;
    server->machine.executors = &server->executors;

    server->tuning = (hac_tuning){server->options.state_directory, &server->executors, &server->machine};

    hac_sessions *s = &server->sessions;
    s->idle_since_ns = now;
    s->loop = &server->loop;
    s->users = &server->users;
    s->config = &server->config;
    s->decoder = server->client_decoder;
    s->closer = server->closer;
    s->metrics = &server->metrics;
    s->foreign_uid = hac_peer_foreign_uid();
    s->has_landlock = hac_landlock_version() > 0;
    s->handle = hac_requests_handle;
    s->closed = on_session_closed;
    s->context = server;

    hac_jobs *j = &server->jobs;
    j->next_id = 1;
    j->idle_since_ns = now;
    j->events = (hacd_job_events){hacd_job_clients_ended, hacd_job_clients_over};
    j->devices = &server->devices;
    j->users = &server->users;
    j->executors = &server->executors;
    j->builders = &server->builders;
    j->machine = &server->machine;
    j->tuning = &server->tuning;
    j->models = server->models;
    j->sorts = server->sorts;
    j->metrics = &server->metrics;
    j->closer = server->closer;
}

/* 0: there is no file. */
static ino_t inode_at(const char *path)
{
    struct stat info;
    return path[0] != '\0' && stat(path, &info) == 0 ? info.st_ino : 0;
}

static hac_status init_state(hac_server *server, hac_error *err)
{
    static const uint64_t nothing[HAC_SLOTS];
    static const hac_user_limits none;
    hac_list_init(&server->sessions.list);
    hac_list_init(&server->sessions.lingering);
    hac_list_init(&server->jobs.list);
    hac_list_init(&server->jobs.queued);
    hac_list_init(&server->jobs.active);
    hac_list_init(&server->jobs.answering);
    hac_list_init(&server->deferred);
    hac_list_init(&server->history);
    hac_list_init(&server->reload.waiters);
    hac_users_init(&server->users, nothing, &none, on_forget_buffer, server);
    server->users.discard = on_discard;
    server->users.own_is_ordinary = server->options.admin_apart;
    server->started_ns = hac_now_ns();
    server->socket_inode = inode_at(server->options.socket_path);
    server->admin_inode = inode_at(server->options.admin_path);
    hac_status status = hac_deferred_close_new(&server->closer, err);
    if (status == HAC_OK)
        status = hac_decoder_new(&server->client_decoder, err);
    if (status == HAC_OK)
        status = hac_decoder_new(&server->child_decoder, err);
    if (status == HAC_OK)
        status = hac_model_set_new(&server->models, err);
    if (status == HAC_OK)
        status = hac_sort_memo_new(&server->sorts, err);
    if (status == HAC_OK)
        status = hac_reload_first(server, err);
    if (status != HAC_OK)
        return status;
    init_executors(server);
    init_books(server);
    hac_model_store_read(server);
    hac_job_store_open(server);
    return HAC_OK;
}

/* The handles do not keep the loop alive, but signals are handled until it ends: a signal must not kill hacd
 * while it shuts down. */
static void watch_signal(hac_server *server, uv_signal_t *handle, int number)
{
    handle->data = server;
    uv_signal_init(&server->loop, handle);
    uv_signal_start(handle, on_signal, number);
    uv_unref((uv_handle_t *)handle);
}

/* Signals that end hacd or make it read its configuration. */
static sigset_t own_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    return set;
}

void hac_server_hold_signals(void)
{
    const sigset_t own = own_signals();
    pthread_sigmask(SIG_BLOCK, &own, NULL);
}

static hac_status init_loop(hac_server *server, hac_error *err)
{
    uv_loop_t *loop = &server->loop;
    hac_status status = hac_service_manager_new(loop, &server->notify, err);
    if (status != HAC_OK)
        return status;
    status =
        hac_listener_init(&server->listener, loop, server->options.listener, false, &server->sessions, err);
    if (status == HAC_OK)
        status = hac_listener_init(&server->admin_listener, loop, server->options.admin_listener, true,
                                   &server->sessions, err);
    if (status != HAC_OK)
        return status;
    server->tick.data = server->prepare.data = server;
    uv_timer_init(loop, &server->tick);
    uv_timer_start(&server->tick, on_tick, TICK_MS, TICK_MS);
    hac_deadlines_init(&server->deadlines, loop, &server->jobs);
    hac_plan_queue_init(&server->plans, loop);
    server->plans.answer = hac_requests_plan;
    uv_prepare_init(loop, &server->prepare);
    uv_prepare_start(&server->prepare, on_prepare);
    watch_signal(server, &server->on_term, SIGTERM);
    watch_signal(server, &server->on_int, SIGINT);
    watch_signal(server, &server->on_hup, SIGHUP);
    const sigset_t own = own_signals();
    pthread_sigmask(SIG_UNBLOCK, &own, NULL); /* also what a parent blocked */
    return HAC_OK;
}

static void deinit(hac_server *server)
{
    hac_model_store_write_now(server);
    hac_job_store_close(server);
    hacd_job *job = NULL;
    hac_list_for_each (job, &server->jobs.list, hacd_job, link)
        hacd_job_free(job);
    hac_unread_deinit(&server->sessions);
    hac_pool_trim(&server->users, 0);
    hac_users_deinit(&server->users);
    hac_builders_deinit(&server->builders);
    hac_devices_clear(&server->devices);
    hac_reload_deinit(server);
    hac_model_set_free(server->models);
    hac_sort_memo_free(server->sorts);
    hac_profile_set_free(server->profiles);
    hac_daemon_config_clear(&server->config);
    hac_decoder_free(server->client_decoder);
    hac_decoder_free(server->child_decoder);
    free(server->profile_problems);
    hac_scratch_remove_now(server->options.scratch_directory);
    hac_close(server->options.scratch_lock);
    hac_service_manager_free(server->notify);
    hac_deferred_close_free(server->closer);
}

hac_status hac_server_open(const hac_server_options *options, hac_server **ret, hac_error *err)
{
    hac_server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return hac_fail_no_memory(err);
    server->options = *options;
    uv_loop_init(&server->loop);
    uv_loop_configure(&server->loop, UV_METRICS_IDLE_TIME); /* tells the work of a turn from its wait */
    hac_status status = init_state(server, err);
    if (status == HAC_OK)
        status = init_loop(server, err);
    if (status != HAC_OK) {
        hac_server_close(server);
        return status;
    }
    hac_reload_probe(server);
    hac_scratch_sweep(&server->loop, server->options.scratch_directory);
    *ret = server;
    return HAC_OK;
}

void hac_server_close(hac_server *server)
{
    hac_metrics_http_stop(server);
    uv_walk(&server->loop, hac_close_handle, NULL);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    uv_loop_close(&server->loop);
    deinit(server);
    hac_log_report(true);
    hac_close(server->options.listener);
    hac_close(server->options.admin_listener);
    free(server);
}

/* The rest of hacd's life is short and must be completed: it writes the models and removes scratch files. */
static void ignore_signals(hac_server *server)
{
    uv_signal_t *const handles[] = {&server->on_term, &server->on_int, &server->on_hup};
    /* Only this thread takes signals (blocking_work.h). A signal that comes meanwhile is blocked, then
     * dropped. */
    sigset_t before;
    hac_block_signals(&before);
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        int number = handles[i]->signum;
        uv_signal_stop(handles[i]); /* restores the default action, which kills */
        (void)signal(number, SIG_IGN);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int hac_server_run(const hac_server_options *options)
{
    hac_error err = HAC_ERROR_NONE;
    hac_server *server = NULL;
    hac_status status = hac_server_open(options, &server, &err);
    if (status != HAC_OK) {
        hac_log_record(HAC_LOG_ERROR, HAC_EVENT_FAILED, NULL, "%s", err.message);
        return hac_status_exit_code(status);
    }
    uv_run(&server->loop, UV_RUN_DEFAULT);
    ignore_signals(server);
    hac_server_close(server);
    return 0;
}
