/* SPDX-License-Identifier: Apache-2.0 */
#include "executor.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/memory_cgroup.h"
#include "base/processors.h"
#include "child_setup.h"
#include "loop/child.h"
#include "restart_backoff.h"
#include "task_watch.h"

#define LEAVE_SECONDS   2.0 /* and to clean up */
#define WINDOW_SMALL    32  /* most tasks that are queued on one executor */
#define WINDOW_SECONDS  1e-3
#define REAPED_SECONDS  0.2 /* hacd hears of a child's end before that */
#define START_CAPACITY  (UINT64_C(24) << 20)
#define SIDE_REST_NS    UINT64_C(60000000000) /* after a side executor that did not start, or died */
#define STARVED_SECONDS 60.0
#define OTHER_THREADS   4 /* of an executor, besides those of its driver that compute */
/* How long a task whose work the client claims may keep other users waiting, the first time. */
#define GIVE_WAY_SECONDS 2.0
/* How long a running task of a job that was given up may go on: many end by then, and a killed executor has
 * to start again. */
#define ABANDONED_NS UINT64_C(100000000)

static hac_server_device *device_of(const hac_executor *executor)
{
    return executor->executors->devices->items[executor->device];
}

static hac_restart place_of(const hac_executor *executor)
{
    return (hac_restart){executor->executors->devices, executor->device, executor->user};
}

/* The executor's user, and the job that it worked on. */
static hac_log_subject subject_of(const hac_executor *executor)
{
    hac_log_subject about = {executor->user->uid, 0, device_of(executor)->config.name};
    if (executor->n_in_flight > 0)
        about.job = hac_container_of(executor->in_flight.next, hac_dispatch, link)->job_id;
    return about;
}

static void ask_to_leave(hac_executor *executor)
{
    executor->state = HAC_EXECUTOR_ENDING;
    executor->busy_since_ns = hac_now_ns();
    hac_child_leave(executor->child);
}

/* Whether the idle executor should leave before the other one: side executors first, then who was idle for
 * longer. */
static bool leaves_before(const hac_executor *executor, const hac_executor *other)
{
    if (executor->is_side != other->is_side)
        return executor->is_side;
    return executor->used_ns < other->used_ns;
}

/* Asks an idle executor to exit. */
static void evict_idle(const hac_executors *executors)
{
    hac_executor *idle = NULL;
    bool leaving = false;
    for (int i = 0; i < HAC_EXECUTORS_MAX; i++) {
        hac_executor *executor = executors->slots[i];
        if (executor == NULL)
            continue;
        leaving |= executor->state == HAC_EXECUTOR_ENDING;
        if (executor->n_in_flight == 0 && executor->state == HAC_EXECUTOR_READY &&
            (idle == NULL || leaves_before(executor, idle)))
            idle = executor;
    }
    if (idle != NULL && !leaving) /* one at a time, or many users would drive out each other's executors */
        ask_to_leave(idle);
}

/* ---- death ----------------------------------------------------------------------------------------- */

static int64_t kernels_kills(void)
{
    return hac_memory_cgroup_kills(HAC_MEMORY_CGROUP_SELF, HAC_MEMORY_CGROUP_ROOT);
}

/* Kernel kills that were counted a while ago, and do not belong to an executor that was reaped since, were of
 * other processes. */
static void forget_others_kills(hac_executors *executors, uint64_t now)
{
    if (hac_list_empty(&executors->list) || (double)(now - executors->oom_seen_ns) * 1e-9 < REAPED_SECONDS)
        return;
    if (executors->oom_seen > executors->oom_kills)
        executors->oom_kills = executors->oom_seen;
    executors->oom_seen = kernels_kills();
    executors->oom_seen_ns = now;
}

/* Whether the kernel sent this SIGKILL because memory ran out: it has counted one kill more than are known.
 */
static bool killed_for_memory(hac_executors *executors, int signal, bool asked)
{
    int64_t kills = signal == SIGKILL && !asked ? kernels_kills() : -1;
    if (kills < 0 || executors->oom_kills < 0 || kills <= executors->oom_kills)
        return false;
    executors->oom_kills++;
    return true;
}

/* Whether there are other executors. */
static bool has_others(const hac_executor *executor)
{
    const hac_link *list = &executor->executors->list;
    return list->next != &executor->link || executor->link.next != list;
}

/* Whether the limit of processes and threads may have ended the executor, while others held the rest of it.
 * The pids cgroup counts that. A limit of the user (RLIMIT_NPROC) leaves no trace but what the driver said.
 */
static bool died_for_tasks(hac_executors *executors, const hac_executor *executor, int signal, bool asked)
{
    int64_t refusals = asked ? -1 : hac_pids_cgroup_refusals(HAC_MEMORY_CGROUP_SELF, HAC_MEMORY_CGROUP_ROOT);
    bool more = refusals > executors->task_refusals;
    if (more)
        executors->task_refusals = refusals;
    more |= !asked && signal != SIGKILL &&
            strstr(hac_child_last_words(executor->child, executor->fatal), strerror(EAGAIN)) != NULL;
    return more && has_others(executor);
}

static void describe_death(const hac_executor *executor, int64_t status, int signal, bool for_memory,
                           char *ret, size_t capacity)
{
    const char *words = hac_child_last_words(executor->child, executor->fatal),
               *colon = words[0] != '\0' ? ": " : "";
    if (executor->abandoned)
        snprintf(ret, capacity, "was killed, as the job was given up");
    else if (executor->gave_way)
        snprintf(ret, capacity, "was killed, as other users waited");
    else if (executor->hung)
        snprintf(ret, capacity, "did not answer in time and was killed");
    else if (for_memory)
        snprintf(ret, capacity, "was killed by the kernel, as memory ran out");
    else if (signal != 0)
        snprintf(ret, capacity, "was ended by signal %d (%s)%s%.200s", signal, strsignal(signal), colon,
                 words);
    else
        snprintf(ret, capacity, "exited with status %d%s%.200s", (int)status, colon, words);
}

static void executor_free(hac_executor *executor)
{
    hac_executors *executors = executor->executors;
    hac_user *user = NULL;
    uint64_t mask = ~(UINT64_C(1) << executor->slot);
    hac_list_for_each (user, &executors->users->list, hac_user, link) {
        hac_pool_buffer *buffer = NULL;
        hac_list_for_each (buffer, &user->buffers, hac_pool_buffer, link)
            buffer->executors &= mask;
        hac_list_for_each (buffer, &user->idle, hac_pool_buffer, link)
            buffer->executors &= mask;
    }
    executors->events.gone(executors->context, executor->slot);
    hac_scratch_remove(executors->loop, executor->scratch);
    executors->slots[executor->slot] = NULL;
    hac_list_remove(&executor->link);
    hac_user_unref(executor->user);
    hac_task_watch_deinit(executor);
    free(executor);
}

/* Only the first task in the queue was running; the others have not been touched. */
static void lose_in_flight(hac_executor *executor, hac_loss loss)
{
    hac_executors *executors = executor->executors;
    loss.started = true;
    while (!hac_list_empty(&executor->in_flight)) {
        hac_dispatch *dispatch = hac_container_of(executor->in_flight.next, hac_dispatch, link);
        hac_list_remove(&dispatch->link);
        dispatch->held_seconds = loss.started ? hac_seconds_since(executor->busy_since_ns) : 0;
        dispatch->executor = NULL;
        executors->events.lost(executors->context, dispatch, &loss);
        loss = (hac_loss){.how = loss.how};
    }
    executor->n_in_flight = 0;
}

/* Whether the executor was killed while it did work that may take as long as its user likes. Such work must
 * not make others wait. */
static bool hung_at_users_pace(const hac_executor *executor)
{
    if (!executor->hung || hac_list_empty(&executor->in_flight))
        return false;
    return hac_container_of(executor->in_flight.next, hac_dispatch, link)->users_pace;
}

/* The user has no side executor on the device for a while. */
static void rest_side(const hac_executor *executor, const char *how)
{
    const hac_log_subject about = subject_of(executor);
    executor->user->failures[executor->device].side_rests_until_ns = hac_now_ns() + SIDE_REST_NS;
    hac_log_record(HAC_LOG_WARNING, HAC_EVENT_EXECUTOR_DIED, &about,
                   "side executor of %s %s; for a minute, short tasks of the user wait for long ones",
                   device_of(executor)->config.name, how);
}

static void on_gone(void *context, int64_t status, int signal, bool asked)
{
    hac_executor *executor = context;
    hac_executors *executors = executor->executors;
    char how[320];
    /* a SIGKILL from outside (from the OOM killer, an administrator, a test) says nothing about the device */
    hac_loss loss = {.counts = executor->hung || (!asked && signal != SIGKILL),
                     .gave_way = executor->gave_way,
                     .abandoned = executor->abandoned,
                     .for_memory = !executor->hung && killed_for_memory(executors, signal, asked),
                     .how = how};
    bool for_tasks = !executor->hung && died_for_tasks(executors, executor, signal, asked);
    const hac_restart at = place_of(executor);
    describe_death(executor, status, signal, loss.for_memory, how, sizeof how);
    loss.counts = loss.counts && !for_tasks;
    if (executor->is_side && (loss.counts || !executor->started)) {
        rest_side(executor, how);
    } else if (loss.counts && !hung_at_users_pace(executor)) {
        const hac_log_subject about = subject_of(executor);
        hac_restart_after_death(&at, how, &about);
    }
    if (!asked || executor->hung)
        executors->restarts++;
    hac_metrics_executor_ended(executors->metrics, device_of(executor)->config.name,
                               executor->hung      ? HAC_END_HUNG
                               : asked             ? HAC_END_ASKED
                               : signal == SIGKILL ? HAC_END_SIGKILL
                               : signal != 0       ? HAC_END_SIGNAL
                                                   : HAC_END_EXIT);
    bool answered =
        loss.for_memory && executor->n_in_flight == 0 && executors->events.starved(executors->context);
    if (for_tasks) {
        evict_idle(executors);
        hac_restart_pause_longer(&at);
    } else if (loss.for_memory) { /* until then its memory, and what is trimmed, has been freed */
        hac_restart_pause(&at);
    }
    bool failed_to_start = !answered && !for_tasks && !executor->started && (!asked || executor->hung);
    if (failed_to_start && !executor->is_side)
        hac_restart_after_failed_start(&at,
                                       executor->hung      ? HAC_START_HUNG
                                       : signal == SIGKILL ? HAC_START_KILLED
                                                           : HAC_START_DIED,
                                       how);
    executor->child = NULL;
    hac_log_subject about = subject_of(executor);
    hac_log_record(loss.for_memory ? HAC_LOG_WARNING : HAC_LOG_DEBUG,
                   loss.for_memory ? HAC_EVENT_EXECUTOR_DIED : HAC_EVENT_EXECUTOR_ENDED, &about,
                   "executor of %s %s", device_of(executor)->config.name, how);
    lose_in_flight(executor, loss);
    executor_free(executor);
    if (loss.for_memory) {
        executors->starved_ns = hac_now_ns();
        (void)hac_pool_trim(executors->users, 0);
    }
    executors->events.changed(executors->context);
}

/* ---- the timer -------------------------------------------------------------------------------------- */

static void on_watch(uv_timer_t *timer);

/* When the running task, whose job was given up, is killed; UINT64_MAX: it is wanted. */
static uint64_t abandoned_until(const hac_executor *executor)
{
    if (executor->state != HAC_EXECUTOR_READY || executor->n_in_flight == 0)
        return UINT64_MAX;
    const hac_dispatch *running = hac_container_of(executor->in_flight.next, hac_dispatch, link);
    if (running->abandoned_ns == 0)
        return UINT64_MAX;
    uint64_t since =
        running->abandoned_ns > executor->busy_since_ns ? running->abandoned_ns : executor->busy_since_ns;
    return since + ABANDONED_NS;
}

/* The timer is set for the first task to expire, or to be killed because its job was given up. If that task
 * ends in time, the timer finds out when it rings: tasks come and go far more often than the timer rings. */
static void watch(hac_executors *executors, uint64_t at)
{
    uint64_t now = hac_now_ns();
    if (at == UINT64_MAX || (executors->watch_ns != 0 && executors->watch_ns <= at) ||
        uv_is_closing((uv_handle_t *)&executors->watch))
        return;
    executors->watch_ns = at;
    uv_timer_start(&executors->watch, on_watch, at > now ? (at - now) / 1000000 + 1 : 1, 0);
}

static void on_watch(uv_timer_t *timer)
{
    hac_executors *executors = timer->data;
    hac_executor *executor = NULL;
    uint64_t again = executors->again_ns;
    executors->watch_ns = 0;
    hac_executors_check(executors);
    hac_list_for_each (executor, &executors->list, hac_executor, link) {
        watch(executors, hac_task_watch_end(executor));
        watch(executors, abandoned_until(executor));
    }
    if (again != 0 && again <= hac_now_ns()) {
        executors->again_ns = 0;
        executors->events.changed(executors->context);
    } else if (again != 0) {
        watch(executors, again);
    }
}

void hac_executors_ask_again(hac_executors *executors, uint64_t at)
{
    if (executors->again_ns != 0 && executors->again_ns <= at)
        return;
    executors->again_ns = at;
    watch(executors, at);
}

void hac_executors_abandon(hac_executors *executors, const void *job)
{
    uint64_t now = hac_now_ns();
    hac_executor *executor = NULL;
    hac_list_for_each (executor, &executors->list, hac_executor, link) {
        hac_dispatch *dispatch = NULL;
        hac_list_for_each (dispatch, &executor->in_flight, hac_dispatch, link)
            if (dispatch->job == job && dispatch->abandoned_ns == 0)
                dispatch->abandoned_ns = now;
        watch(executors, abandoned_until(executor));
    }
}

void hac_executors_init_watch(hac_executors *executors)
{
    uv_timer_init(executors->loop, &executors->watch);
    executors->watch.data = executors;
}

/* ---- reports --------------------------------------------------------------------------------------- */

static void on_ready(hac_executor *executor, const Hac__Executor__DeviceFacts *facts)
{
    hac_server_device *device = device_of(executor);
    if (facts != NULL)
        hac_device_set_block_items(device, facts->block_items);
    const hac_restart at = place_of(executor);
    hac_restart_succeeded(&at);
    hac_device_note_start(device, hac_seconds_since(executor->begun_ns));
    executor->started = true;
    executor->state = HAC_EXECUTOR_READY;
    executor->executors->events.changed(executor->executors->context);
}

/* The device lacks a program for a task, and the program cannot be built. */
static bool lacks_program(const hac_executor *executor, const Hac__Executor__Done *done, char *ret,
                          size_t capacity)
{
    const char *why = NULL;
    if (done->code == HAC_NOT_FOUND && done->n_needs_programs > 0)
        why = hac_device_program_failure(device_of(executor), done->needs_programs[0]);
    if (why != NULL)
        snprintf(ret, capacity, "program %.64s cannot be built: %s", done->needs_programs[0], why);
    return why != NULL;
}

/* Reports the end of a task. The dispatch is no longer in flight. */
static void pass_on(hac_executor *executor, hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    char why[HAC_ERROR_MESSAGE_SIZE];
    Hac__Executor__Done refused = *done;
    if (lacks_program(executor, done, why, sizeof why)) {
        refused.code = HAC_UNSUPPORTED;
        refused.message = why;
    }
    executor->executors->events.done(executor->executors->context, dispatch, &refused);
}

/* An executor runs one task after the other, so the first one in flight is the one that ends. */
static void on_done(hac_executor *executor, const Hac__Executor__Done *done)
{
    hac_dispatch *dispatch = NULL;
    if (!hac_list_empty(&executor->in_flight))
        dispatch = hac_container_of(executor->in_flight.next, hac_dispatch, link);
    if (dispatch == NULL || dispatch->id != done->task) {
        hac_log_subject about = subject_of(executor);
        hac_log_record(HAC_LOG_ERROR, HAC_EVENT_NONSENSE, &about,
                       "executor of %s reported a task it was not given, or not yet to do",
                       device_of(executor)->config.name);
        hac_child_kill(executor->child);
        executor->state = HAC_EXECUTOR_ENDING;
        return;
    }
    uint64_t now = hac_now_ns();
    hac_list_remove(&dispatch->link);
    executor->n_in_flight--;
    executor->in_flight_seconds -= dispatch->predicted;
    if (executor->n_in_flight == 0)
        executor->in_flight_seconds = 0;
    dispatch->held_seconds = (double)(now - executor->busy_since_ns) * 1e-9;
    dispatch->beside |= executor->overlapped;
    executor->used_ns = now;
    hac_task_watch_begin(executor, now, false);
    executor->was_queued = executor->n_in_flight > 0;
    watch(executor->executors, abandoned_until(executor));
    const hac_restart at = place_of(executor);
    if (done->code == HAC_OK)
        hac_restart_forget_deaths(&at);
    pass_on(executor, dispatch, done);
}

static void on_report(void *context, const Hac__Executor__Report *report)
{
    hac_executor *executor = context;
    if (executor->state == HAC_EXECUTOR_ENDING)
        return;
    hac_log_subject about = subject_of(executor);
    for (size_t i = 0; i < report->n_dones && executor->state != HAC_EXECUTOR_ENDING; i++)
        on_done(executor, report->dones[i]);
    switch (report->what_case) {
    case HAC__EXECUTOR__REPORT__WHAT_READY:
        on_ready(executor, report->ready->facts);
        break;
    case HAC__EXECUTOR__REPORT__WHAT_DONE:
        on_done(executor, report->done);
        break;
    case HAC__EXECUTOR__REPORT__WHAT_FATAL:
        hac_log_record(HAC_LOG_ERROR, HAC_EVENT_NONSENSE, &about, "executor of %s: %s",
                       device_of(executor)->config.name, report->fatal);
        hac_utf8_copy_line(executor->fatal, sizeof executor->fatal, report->fatal);
        break;
    default:
        break;
    }
}

/* ---- start ----------------------------------------------------------------------------------------- */

static hac_executor *find(const hac_executors *executors, uint32_t device, const hac_user *user, bool is_side)
{
    for (unsigned i = 0; i < HAC_EXECUTORS_MAX; i++) {
        hac_executor *executor = executors->slots[i];
        if (executor != NULL && executor->device == device && executor->user == user &&
            executor->is_side == is_side)
            return executor;
    }
    return NULL;
}

static bool takes_tasks(const hac_executor *executor)
{
    return executor->state != HAC_EXECUTOR_ENDING && !executor->has_old_settings;
}

hac_executor *hac_executor_find(const hac_executors *executors, uint32_t device, const hac_user *user)
{
    hac_executor *executor = find(executors, device, user, false);
    return executor != NULL && takes_tasks(executor) ? executor : NULL;
}

/* A free slot. If there is none, the executor that has been idle longest is asked to exit, which frees its
 * slot soon. */
static int find_slot(const hac_executors *executors)
{
    for (int i = 0; i < HAC_EXECUTORS_MAX; i++)
        if (executors->slots[i] == NULL)
            return i;
    evict_idle(executors);
    return -1;
}

static hac_status send_setup(hac_executor *executor, hac_error *err)
{
    const hac_executors *executors = executor->executors;
    hac_status status = hac_scratch_make(executors->scratch_directory, executor->scratch, err);
    if (status != HAC_OK)
        return status;
    hac_child_setup_send(executor->child, device_of(executor), executors->program_directory,
                         executor->scratch, executor->steps_fd);
    return HAC_OK;
}

static hac_status start(hac_executors *executors, unsigned slot, uint32_t device, hac_user *user,
                        bool is_side, hac_executor **ret, hac_error *err)
{
    static const hac_child_events events = {on_report, on_gone};
    const hac_device_config *config = &executors->devices->items[device]->config;
    hac_autofree char **environment = NULL;
    hac_status status = hac_child_setup_environment(config, &environment, err);
    if (status != HAC_OK)
        return status;
    hac_executor *executor = calloc(1, sizeof *executor);
    if (executor == NULL)
        return hac_fail_no_memory(err);
    executor->executors = executors;
    executor->slot = slot;
    executor->device = device;
    executor->user = user;
    executor->is_side = is_side;
    executor->begun_ns = executor->used_ns = executor->busy_since_ns = executor->moved_ns = hac_now_ns();
    hac_task_watch_init(executor);
    hac_list_init(&executor->in_flight);
    /* else some of the kills may be of an executor that is not reaped yet */
    if (hac_list_empty(&executors->list))
        executors->oom_kills = executors->oom_seen = kernels_kills();
    if (hac_list_empty(&executors->list))
        executors->task_refusals = hac_pids_cgroup_refusals(HAC_MEMORY_CGROUP_SELF, HAC_MEMORY_CGROUP_ROOT);
    hac_child_options options = {executors->program, NULL,        config->name,
                                 user->uid,          environment, {executors->closer, user->number}};
    status = hac_child_start(executors->loop, &options, executors->decoder, &events, executor,
                             &executor->child, err);
    if (status != HAC_OK) {
        hac_task_watch_deinit(executor);
        free(executor);
        return status;
    }
    hac_metrics_executor_started(executors->metrics, config->name);
    hac_user_ref(user);
    hac_list_append(&executors->list, &executor->link);
    executors->slots[slot] = executor;
    status = send_setup(executor, err);
    if (status != HAC_OK) {
        executor->state = HAC_EXECUTOR_ENDING;
        hac_child_kill(executor->child);
        return status;
    }
    *ret = executor;
    return HAC_OK;
}

/* If memory has run out, starting a process without room for it causes a kill, and the kernel may kill hacd
 * itself as it forks. */
static bool lacks_room(const hac_executors *executors)
{
    return hac_executors_starve(executors) &&
           hac_memory_cgroup_available(HAC_MEMORY_CGROUP_SELF, HAC_MEMORY_CGROUP_ROOT) < START_CAPACITY;
}

/* Whether the limit of processes and threads (TasksMax=) is too near for `n` more executors: the driver makes
 * a thread for each processor, and aborts if it cannot. Without other executors it is worth trying. */
static bool lacks_tasks(const hac_executors *executors, const hac_server_device *device, unsigned n)
{
    uint64_t threads = device->config.threads > 0 ? device->config.threads : hac_processors(NULL);
    return !hac_list_empty(&executors->list) &&
           hac_pids_cgroup_available(HAC_MEMORY_CGROUP_SELF, HAC_MEMORY_CGROUP_ROOT) <
               n * (threads + OTHER_THREADS);
}

static hac_status wait_for_others(const hac_restart *at, const char *why, hac_error *err)
{
    return hac_restart_may_hold_back(at) ? hac_fail(err, HAC_REFUSED, "%s", why) : HAC_AGAIN;
}

hac_status hac_executor_get(hac_executors *executors, uint32_t device, hac_user *user, hac_executor **ret,
                            hac_error *err)
{
    hac_executor *executor = find(executors, device, user, false);
    if (executor != NULL) {
        if (executor->has_old_settings && executor->n_in_flight == 0 &&
            executor->state != HAC_EXECUTOR_ENDING)
            ask_to_leave(executor);
        if (executor->state == HAC_EXECUTOR_ENDING || executor->has_old_settings)
            return HAC_AGAIN;
        *ret = executor;
        return HAC_OK;
    }
    const hac_restart at = {executors->devices, device, user};
    if (executors->devices->items[device]->retired || !hac_restart_allowed(&at))
        return HAC_AGAIN;
    int slot = find_slot(executors);
    if (slot < 0)
        return wait_for_others(&at, "all slots of executors are taken", err);
    if (lacks_tasks(executors, executors->devices->items[device], 1)) {
        evict_idle(executors);
        return wait_for_others(&at, "the limit of processes and threads is near", err);
    }
    if (lacks_room(executors) && executors->events.starved(executors->context)) {
        hac_restart_pause(&at);
        return HAC_AGAIN;
    }
    hac_status status = start(executors, (unsigned)slot, device, user, false, ret, err);
    if (status == HAC_AGAIN && !hac_list_empty(&executors->list)) {
        evict_idle(executors);
        hac_restart_pause_longer(&at);
    } else if (status != HAC_OK) {
        hac_restart_after_failed_start(
            &at, status == HAC_AGAIN ? HAC_START_NO_PROCESS : HAC_START_NOT_CREATED, err->message);
    }
    return status == HAC_AGAIN && hac_list_empty(&executors->list) ? HAC_FAILED : status;
}

/* A slot for a side executor, which leaves half of them to users without any executor; -1: there is none. */
static int find_side_slot(const hac_executors *executors)
{
    int slot = -1;
    unsigned taken = 0;
    for (int i = 0; i < HAC_EXECUTORS_MAX; i++) {
        taken += executors->slots[i] != NULL;
        if (executors->slots[i] == NULL && slot < 0)
            slot = i;
    }
    return taken < HAC_EXECUTORS_MAX / 2 ? slot : -1;
}

hac_executor *hac_executor_get_side(hac_executors *executors, uint32_t device, hac_user *user)
{
    hac_executor *executor = find(executors, device, user, true);
    if (executor != NULL)
        return takes_tasks(executor) ? executor : NULL;
    const hac_server_device *at = executors->devices->items[device];
    const hac_restart restart = {executors->devices, device, user};
    int slot = find_side_slot(executors);
    uint64_t now = hac_now_ns(), *rests_until = &user->failures[device].side_rests_until_ns;
    if (slot < 0 || at->retired || now < *rests_until || !hac_restart_allowed(&restart) ||
        lacks_tasks(executors, at, 3) || hac_executors_starve(executors))
        return NULL;
    hac_error err = HAC_ERROR_NONE;
    if (start(executors, (unsigned)slot, device, user, true, &executor, &err) == HAC_OK)
        return executor;
    *rests_until = now + SIDE_REST_NS;
    return NULL;
}

/* ---- work ------------------------------------------------------------------------------------------ */

bool hac_executor_has_room(const hac_executor *executor, double predicted)
{
    if (executor->state != HAC_EXECUTOR_READY)
        return false;
    if (executor->n_in_flight < 2)
        return true;
    return executor->n_in_flight < WINDOW_SMALL && executor->in_flight_seconds + predicted < WINDOW_SECONDS;
}

static void add_buffer(hac_executor *executor, hac_pool_buffer *buffer)
{
    uint64_t bit = UINT64_C(1) << executor->slot;
    if (buffer->executors & bit)
        return;
    Hac__Executor__BufferAdd add = HAC__EXECUTOR__BUFFER_ADD__INIT;
    add.buffer = buffer->id;
    add.bytes = buffer->bytes;
    add.whole = buffer->whole;
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_BUFFER_ADD;
    command.buffer_add = &add;
    hac_child_send(executor->child, &command, &buffer->fd, 1);
    buffer->executors |= bit;
}

static void add_descriptor(hac_executor *executor, uint64_t descriptor, int fd)
{
    Hac__Executor__DescriptorAdd add = HAC__EXECUTOR__DESCRIPTOR_ADD__INIT;
    add.descriptor = descriptor;
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_DESCRIPTOR_ADD;
    command.descriptor_add = &add;
    hac_child_send(executor->child, &command, &fd, 1);
}

/* An idle executor starts at once. Batched tasks that queue up are sent together. */
static void send_run(hac_executor *executor, Hac__Executor__Run *run)
{
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    if (run->batched && executor->n_in_flight > 1) {
        command.runs = &run;
        command.n_runs = 1;
        hac_child_send_later(executor->child, &command);
        return;
    }
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_RUN;
    command.run = run;
    hac_child_send(executor->child, &command, NULL, 0);
}

void hac_executor_run(hac_executor *executor, hac_dispatch *dispatch, hac_task_message *message)
{
    for (size_t i = 0; i < message->n_buffers; i++)
        add_buffer(executor, message->buffers[i]);
    if (message->send_descriptor)
        add_descriptor(executor, message->run.descriptor, message->descriptor_fd);
    message->run.task = dispatch->id = ++executor->executors->n_dispatches;
    dispatch->executor = executor;
    dispatch->sent_ns = hac_now_ns();
    if (executor->n_in_flight == 0)
        hac_task_watch_begin(executor, dispatch->sent_ns, true);
    hac_list_append(&executor->in_flight, &dispatch->link);
    executor->was_queued = executor->was_queued && executor->n_in_flight > 0;
    executor->n_in_flight++;
    executor->in_flight_seconds += dispatch->predicted;
    send_run(executor, &message->run);
    watch(executor->executors, hac_task_watch_end(executor));
}

void hac_executors_flush(hac_executors *executors)
{
    hac_executor *executor = NULL;
    hac_list_for_each (executor, &executors->list, hac_executor, link)
        if (executor->child != NULL)
            hac_child_flush(executor->child);
}

void hac_executor_forget_descriptor(hac_executor *executor, uint64_t descriptor)
{
    if (executor->state == HAC_EXECUTOR_ENDING)
        return;
    Hac__Executor__DescriptorRemove remove = HAC__EXECUTOR__DESCRIPTOR_REMOVE__INIT;
    remove.descriptor = descriptor;
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_DESCRIPTOR_REMOVE;
    command.descriptor_remove = &remove;
    hac_child_send(executor->child, &command, NULL, 0);
}

void hac_executors_forget_buffer(hac_executors *executors, hac_pool_buffer *buffer)
{
    Hac__Executor__BufferRemove remove = HAC__EXECUTOR__BUFFER_REMOVE__INIT;
    remove.buffer = buffer->id;
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_BUFFER_REMOVE;
    command.buffer_remove = &remove;
    for (unsigned i = 0; i < HAC_EXECUTORS_MAX; i++) {
        hac_executor *executor = executors->slots[i];
        if (executor != NULL && (buffer->executors & (UINT64_C(1) << i)) && executor->child != NULL)
            hac_child_send(executor->child, &command, NULL, 0);
    }
    buffer->executors = 0;
}

/* ---- supervision ------------------------------------------------------------------------------------ */

/* How long a task may keep others waiting, in seconds. A task that cannot be cut into smaller pieces gets
 * more time when it runs again, or it would never end. Of some tasks the client chose how long they take, and
 * hacd cannot predict it, so the limit of hung tasks says nothing there. Other tasks have that limit here as
 * well, since an executor may count steps for ever. Devices with time slices serve the others meanwhile. */
static double give_way_seconds(const hac_executor *executor, const hac_dispatch *running)
{
    double seconds = running->claimed                                  ? GIVE_WAY_SECONDS
                     : hac_device_has_time_slices(device_of(executor)) ? INFINITY
                                                                       : hac_task_watch_limit(executor);
    return seconds * (double)(1u << (running->yields < 8 ? running->yields : 8));
}

/* Whether another user has waited for that long. */
static bool keeps_others_waiting(const hac_executor *executor, uint64_t now)
{
    const hac_dispatch *running = hac_container_of(executor->in_flight.next, hac_dispatch, link);
    const double limit = give_way_seconds(executor, running);
    const hac_user *other = NULL;
    if ((double)(now - executor->busy_since_ns) * 1e-9 < limit)
        return false;
    hac_list_for_each (other, &executor->executors->users->list, hac_user, link)
        if (other != executor->user && other->active_jobs > 0 &&
            (other->waits >> executor->device & 1) != 0 &&
            (double)(now - other->waits_since_ns[executor->device]) * 1e-9 >= limit)
            return true;
    return false;
}

/* Whether nobody is likely to use the idle executor again. Those of hacd's own account end with its job: they
 * would take memory, and with some drivers the device, from users. */
static bool is_spare(const hac_executor *executor, uint64_t now)
{
    return (executor->user->of_daemon && executor->user->active_jobs == 0) ||
           (double)(now - executor->used_ns) * 1e-9 > executor->executors->idle_seconds;
}

/* Looks at an executor that starts or works. Returns false, having noted why, if it has to be killed. */
static bool may_go_on(hac_executor *executor, uint64_t now)
{
    hac_task_watch_look(executor, now);
    if (now >= abandoned_until(executor)) {
        executor->abandoned = true;
    } else if (hac_task_watch_is_over(executor, now)) {
        if (executor->state != HAC_EXECUTOR_STARTING)
            hac_container_of(executor->in_flight.next, hac_dispatch, link)->limit =
                hac_task_watch_limit(executor);
        executor->hung = true;
    } else if (executor->n_in_flight > 0 && keeps_others_waiting(executor, now)) {
        executor->gave_way = true;
    }
    return !executor->abandoned && !executor->hung && !executor->gave_way;
}

static void check_one(hac_executor *executor, uint64_t now)
{
    if (executor->state == HAC_EXECUTOR_ENDING) {
        /* A stopped process, or a driver that hangs while it cleans up, would keep the user from the device.
         */
        if ((double)(now - executor->busy_since_ns) * 1e-9 > LEAVE_SECONDS)
            hac_child_kill(executor->child);
        return;
    }
    if (executor->n_in_flight == 0 && (device_of(executor)->retired || executor->has_old_settings)) {
        ask_to_leave(executor);
    } else if (executor->state == HAC_EXECUTOR_STARTING || executor->n_in_flight > 0) {
        if (may_go_on(executor, now))
            return;
        executor->state = HAC_EXECUTOR_ENDING;
        hac_child_kill(executor->child);
    } else if (is_spare(executor, now)) {
        ask_to_leave(executor);
    }
}

void hac_executors_check(hac_executors *executors)
{
    uint64_t now = hac_now_ns();
    hac_executor *executor = NULL;
    hac_list_for_each (executor, &executors->list, hac_executor, link)
        check_one(executor, now);
    forget_others_kills(executors, now);
    hac_restart_end_rests(executors->devices, executors->users);
}

void hac_executors_kill_all(hac_executors *executors)
{
    hac_executor *executor = NULL;
    hac_list_for_each (executor, &executors->list, hac_executor, link) {
        executor->state = HAC_EXECUTOR_ENDING;
        hac_child_kill(executor->child);
    }
}

void hac_executors_leave_device(hac_executors *executors, uint32_t device)
{
    hac_executor *executor = NULL;
    hac_list_for_each (executor, &executors->list, hac_executor, link) {
        if (executor->device != device || executor->state == HAC_EXECUTOR_ENDING)
            continue;
        executor->has_old_settings = true;
        if (executor->n_in_flight == 0)
            ask_to_leave(executor);
    }
}

bool hac_executors_starve(const hac_executors *executors)
{
    return executors->starved_ns != 0 && hac_seconds_since(executors->starved_ns) < STARVED_SECONDS;
}

bool hac_executors_at(const hac_executors *executors, uint32_t device)
{
    for (unsigned i = 0; i < HAC_EXECUTORS_MAX; i++)
        if (executors->slots[i] != NULL && executors->slots[i]->device == device)
            return true;
    return false;
}

double hac_executors_backlog(const hac_executors *executors, uint32_t device)
{
    double seconds = 0;
    for (unsigned i = 0; i < HAC_EXECUTORS_MAX; i++) {
        const hac_executor *executor = executors->slots[i];
        if (executor != NULL && executor->device == device)
            seconds += executor->in_flight_seconds;
    }
    return seconds;
}
