/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "answers.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "channel.h"
#include "child.h"
#include "image.h"
#include "leaving.h"
#include "metrics_http.h"
#include "notify.h"
#include "saved_models.h"
#include "scheduler.h"
#include "scratch.h"
#include "session.h"
#include "stream_memory.h"
#include "tuning.h"
#include "work.h"

#define TICK_MS            250
#define WAITING_SECONDS    0.5
#define SELF_TEST_SECONDS  20.0 /* questions about devices wait this long for their self-tests */
#define SAVE_SECONDS       5.0
#define TRIM_SECONDS       60.0 /* idle pool memory is kept this long */
#define ACCEPTS_PER_WAKEUP 16

/* A question about the devices that waits until their self-tests are through. */
typedef struct deferred_query {
    hac_link link;
    hac_session *session;
    uint64_t serial;
    Hac__Client__Topic topic;
    uint64_t since_ns;
} deferred_query;

/* ---- the listener ------------------------------------------------------------------------------------- */

void hac_server_accept(hac_server *server)
{
    for (int i = 0; i < ACCEPTS_PER_WAKEUP; i++) {
        int fd = HAC_FAILPOINT("server.accept", -1,
                               accept4(server->options.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE) {
                /* Out of descriptors: stop looking until the next tick, or this would spin. */
                server->metrics.refused_connections[HAC_REFUSAL_DESCRIPTORS]++;
                uv_poll_stop(&server->listener);
            }
            return;
        }
        hac_session_accept(server, fd);
    }
}

static void on_connection(uv_poll_t *handle, int status, int events)
{
    (void)events;
    if (status >= 0)
        hac_server_accept(handle->data);
}

void hac_server_listen(hac_server *server)
{
    if (!uv_is_closing((uv_handle_t *)&server->listener) && !hac_leaving_is_deaf(server) && !server->probing)
        uv_poll_start(&server->listener, UV_READABLE, on_connection);
}

/* ---- devices ------------------------------------------------------------------------------------------ */

static void devices_changed(hac_server *server)
{
    server->machine_stale = true;
    hac_server_kick(server);
}

const hac_machine *hac_server_machine(hac_server *server)
{
    if (server->machine_stale) {
        hac_devices_to_machine(&server->devices, server->models, &server->machine);
        server->machine_stale = false;
    }
    for (size_t i = 0; i < server->devices.count; i++) {
        server->machine.devices[i].usable = hac_device_usable(server->devices.items[i]);
        server->machine.devices[i].backlog = hac_executors_backlog(&server->executors, (uint32_t)i);
    }
    return &server->machine;
}

/* ---- questions that wait ------------------------------------------------------------------------------ */

static bool devices_settled(const hac_server *server)
{
    if (server->probing || server->reload.pending)
        return false;
    for (size_t i = 0; i < server->devices.count; i++)
        if (server->devices.items[i]->state == HAC_DEVICE_UNTESTED && !server->devices.items[i]->retired)
            return false;
    return true;
}

bool hac_server_defer(hac_server *server, hac_session *session, const Hac__Client__Request *request)
{
    if (devices_settled(server) || session->pending >= HAC_SESSION_PENDING_MAX)
        return false;
    deferred_query *query = calloc(1, sizeof *query);
    if (query == NULL)
        return false;
    query->session = session;
    query->serial = request->serial;
    query->topic = request->query->topic;
    query->since_ns = hac_now_ns();
    session->pending++;
    hac_list_append(&server->deferred, &query->link);
    return true;
}

void hac_server_forget_session(hac_server *server, const hac_session *session)
{
    deferred_query *query = NULL;
    hac_image_forget_session(server, session);
    hac_reload_forget_session(server, session);
    hac_list_for_each (query, &server->deferred, deferred_query, link) {
        if (query->session != session)
            continue;
        hac_list_remove(&query->link);
        free(query);
    }
}

static void answer_deferred(hac_server *server)
{
    bool settled = devices_settled(server);
    uint64_t now = hac_now_ns();
    deferred_query *query = NULL;
    hac_list_for_each (query, &server->deferred, deferred_query, link) {
        if (!settled && (double)(now - query->since_ns) * 1e-9 < SELF_TEST_SECONDS)
            continue;
        hac_list_remove(&query->link);
        query->session->pending--;
        hac_session_answer_query(query->session, query->serial, query->topic);
        free(query);
    }
}

/* ---- the loop ----------------------------------------------------------------------------------------- */

void hac_server_close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

unsigned hac_server_unfinished(const hac_server *server)
{
    return server->n_jobs - server->n_ended;
}

/* Ends the jobs that are late, and sleeps until the next one would be. */
static void on_deadline(uv_timer_t *timer)
{
    hac_server_watch_deadlines(timer->data);
}

void hac_server_watch_deadlines(hac_server *server)
{
    double next = INFINITY;
    hac_job *job = NULL;
    hac_list_for_each (job, &server->jobs, hac_job, link) {
        double left = hac_job_time_left(job);
        if (left <= 0)
            hac_job_fail_late(job);
        else if (left < next)
            next = left;
    }
    if (isinf(next) || server->stopping)
        uv_timer_stop(&server->deadline);
    else
        uv_timer_start(&server->deadline, on_deadline, (uint64_t)(fmin(next, 1e6) * 1e3) + 1, 0);
}

/* For the service manager: one line on what hacd is doing. */
static void tell_status(hac_server *server)
{
    unsigned users = 0, left = hac_server_unfinished(server);
    hac_user *user = NULL;
    hac_list_for_each (user, &server->users.list, hac_user, link)
        users += user->held[HAC_SLOT_CONNECTIONS] > 0 || user->held[HAC_SLOT_JOBS] > 0;
    if (server->probing)
        hac_notify_status(server->notify, "looking for devices");
    else
        hac_notify_status(server->notify, "%s%u jobs running, %u waiting; %u users; %u of %u devices usable",
                          server->draining ? "leaving: " : "", server->n_active, left - server->n_active,
                          users, hac_devices_usable(&server->devices), hac_devices_in_use(&server->devices));
}

/* By what their models have learnt: a second on a fast device counts for more than one on a slow one. */
static void weigh_devices(hac_server *server)
{
    double rates[HAC_DEVICES_MAX], most = 0;
    for (size_t i = 0; i < server->devices.count; i++) {
        rates[i] = hac_answer_sort_rate(server, server->devices.items[i], HAC_TYPE_U32);
        most = fmax(most, rates[i]);
    }
    for (size_t i = 0; i < server->devices.count; i++)
        server->devices.items[i]->weight = rates[i] > 0 ? rates[i] / most : 1;
}

/* Once, where the client's input is long in coming: what is wrong with its beginning has been said by now. */
static void tell_of_waiting(hac_server *server)
{
    hac_job *job = NULL;
    hac_list_for_each (job, &server->jobs, hac_job, link)
        if (job->waiting && job->last_event_ns == 0 && !hac_job_ended(job) &&
            hac_job_seconds(job) > WAITING_SECONDS)
            hac_job_send_event(job, hac_stream_memory_waits(job) ? "waits for memory" : "waits for input", "",
                               "");
}

static void on_tick(uv_timer_t *timer)
{
    hac_server *server = timer->data;
    uint64_t now = hac_now_ns();
    hac_executors_check(&server->executors);
    hac_builders_check(&server->builders);
    hac_image_check(server);
    hac_jobs_expire(server);
    tell_of_waiting(server);
    hac_stream_memory_check(server);
    hac_reload_check(server);
    if ((double)(now - server->models_saved_ns) * 1e-9 > SAVE_SECONDS) {
        server->models_saved_ns = now;
        weigh_devices(server);
        hac_saved_models_write(server);
        hac_pool_trim(&server->users, TRIM_SECONDS);
        if (hac_server_unfinished(server) == 0)
            malloc_trim(0); /* a crowd's messages and jobs leave holes that malloc would keep */
    }
    if (hac_executors_starve(&server->executors))
        hac_pool_trim(&server->users, 0);
    answer_deferred(server);
    if (!server->probing) /* else greetings wait in their sockets */
        hac_sessions_check(server);
    hac_log_report(false);
    hac_server_listen(server);
    tell_status(server);
    hac_server_kick(server); /* back-offs may have run out */
    hac_leaving_consider(server);
}

static void on_prepare(uv_prepare_t *handle)
{
    hac_server *server = handle->data;
    server->turn++;
    for (int i = 0; server->kick && i < 8; i++) {
        server->kick = false;
        hac_scheduler_kick(server);
    }
    hac_jobs_answer(server);
    answer_deferred(server);
    if (server->n_ended > server->expire_above)
        hac_jobs_expire(server);
    if (hac_leaving_turn(server))
        uv_prepare_stop(handle);
    hac_metrics_turn(&server->metrics, uv_hrtime(), uv_metrics_idle_time(&server->loop));
}

void hac_server_kick(hac_server *server)
{
    server->kick = true;
}

static void on_builder_change(void *context, uint32_t device)
{
    hac_server *server = context;
    const hac_server_device *d = server->devices.items[device];
    hac_job *job = NULL;
    hac_list_for_each (job, &server->active, hac_job, turn) {
        if (!job->progress)
            continue;
        char note[192];
        snprintf(note, sizeof note, "building kernels for %s (%s)", d->config.name, d->build_note);
        hac_job_send_event(job, "build", d->config.name, note);
    }
    devices_changed(server);
}

static void on_forget_buffer(void *context, hac_pool_buffer *buffer)
{
    hac_server *server = context;
    hac_executors_forget_buffer(&server->executors, buffer);
    hac_sessions_forget_buffer(server, buffer);
}

/* ---- memory that goes back to the system -------------------------------------------------------------- */

typedef struct discard_work {
    uv_work_t work;
    int fd;
    uint64_t bytes;
} discard_work;

static void discard_run(uv_work_t *work)
{
    discard_work *d = hac_container_of(work, discard_work, work);
    hac_pool_discard(d->fd, d->bytes);
}

static void discard_done(uv_work_t *work, int status)
{
    (void)status;
    free(hac_container_of(work, discard_work, work));
}

static void on_discard(void *context, int fd, uint64_t bytes)
{
    hac_server *server = context;
    discard_work *d = calloc(1, sizeof *d);
    if (d == NULL || server->stopping) {
        free(d);
        hac_pool_discard(fd, bytes);
        return;
    }
    d->fd = fd;
    d->bytes = bytes;
    if (hac_queue_work(&server->loop, &d->work, discard_run, discard_done) != 0)
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
    if (server->draining) /* the second one means now */
        hac_leaving_now(server);
    else
        hac_leaving_drain(server, number == SIGTERM ? "SIGTERM" : "SIGINT");
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
    e->context = server;
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

static hac_status init_state(hac_server *server, hac_error *err)
{
    static const uint64_t nothing[HAC_SLOTS];
    static const hac_user_limits none;
    hac_list_init(&server->sessions);
    hac_list_init(&server->jobs);
    hac_list_init(&server->queued);
    hac_list_init(&server->active);
    hac_list_init(&server->answering);
    hac_list_init(&server->deferred);
    hac_list_init(&server->reload.waiters);
    hac_users_init(&server->users, nothing, &none, on_forget_buffer, server);
    server->users.discard = on_discard;
    server->next_job = server->next_dispatch = 1;
    server->started_ns = server->idle_since_ns = hac_now_ns();
    struct stat info;
    if (server->options.socket_path[0] != '\0' && stat(server->options.socket_path, &info) == 0)
        server->socket_inode = info.st_ino;
    hac_status status = hac_closer_new(&server->closer, err);
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
    hac_saved_models_read(server);
    return HAC_OK;
}

/* Until the loop has ended, which it does not keep from that: a signal must not end hacd while it leaves. */
static void watch_signal(hac_server *server, uv_signal_t *handle, int number)
{
    handle->data = server;
    uv_signal_init(&server->loop, handle);
    uv_signal_start(handle, on_signal, number);
    uv_unref((uv_handle_t *)handle);
}

static hac_status init_loop(hac_server *server, hac_error *err)
{
    uv_loop_t *loop = &server->loop;
    hac_status status = hac_notify_new(loop, &server->notify, err);
    if (status != HAC_OK)
        return status;
    int r = uv_poll_init(loop, &server->listener, server->options.listener);
    if (r != 0)
        return hac_fail(err, HAC_IO, "cannot listen: %s", uv_strerror(r));
    server->listener.data = server->tick.data = server->deadline.data = server->prepare.data = server;
    uv_timer_init(loop, &server->tick);
    uv_timer_start(&server->tick, on_tick, TICK_MS, TICK_MS);
    uv_timer_init(loop, &server->deadline);
    uv_prepare_init(loop, &server->prepare);
    uv_prepare_start(&server->prepare, on_prepare);
    watch_signal(server, &server->on_term, SIGTERM);
    watch_signal(server, &server->on_int, SIGINT);
    watch_signal(server, &server->on_hup, SIGHUP);
    return HAC_OK;
}

static void deinit(hac_server *server)
{
    hac_saved_models_write_now(server);
    hac_job *job = NULL;
    hac_list_for_each (job, &server->jobs, hac_job, link)
        hac_job_free(job);
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
    hac_notify_free(server->notify);
    hac_closer_free(server->closer);
}

hac_status hac_server_open(const hac_server_options *options, hac_server **ret, hac_error *err)
{
    hac_server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return hac_fail_no_memory(err);
    server->options = *options;
    uv_loop_init(&server->loop);
    uv_loop_configure(&server->loop,
                      UV_METRICS_IDLE_TIME); /* else a turn's work cannot be told from its wait */
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
    uv_walk(&server->loop, hac_server_close_handle, NULL);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    uv_loop_close(&server->loop);
    deinit(server);
    hac_log_report(true);
    hac_close(server->options.listener);
    free(server);
}

/* What is left of hacd's life is short and to be finished: models are written, scratch files removed. */
static void ignore_signals(hac_server *server)
{
    uv_signal_t *const handles[] = {&server->on_term, &server->on_int, &server->on_hup};
    /* This thread alone takes signals (work.h): one that comes meanwhile waits, and is dropped. */
    sigset_t before;
    hac_block_signals(&before);
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        int number = handles[i]->signum;
        uv_signal_stop(handles[i]); /* makes it the default, which kills */
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
