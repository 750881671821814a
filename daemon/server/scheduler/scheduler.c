/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "executors/start_costs.h"
#include "fair_share.h"
#include "job_failures.h"
#include "jobs/job_clients.h"
#include "jobs/plan_buffers.h"
#include "planner/range_share.h"
#include "side_executor.h"
#include "task_batching.h"

#define ACTIVE_MAX       64   /* jobs whose tasks are handed out; all others are queued */
#define MEASURED_SECONDS 1e-6 /* seconds of work in a range that are enough for a rate */

/* ---- a plan's execution ----------------------------------------------------------------------------- */

/* Back to the queue until the user's other jobs have ended: the job does not fit beside them. */
static void requeue(hacd_job *job, const char *why)
{
    hacd_job_clear_run(job);
    hac_list_remove(&job->turn);
    hac_list_append(&job->jobs->queued, &job->turn);
    job->active = false;
    job->restart = true;
    job->state = HAC_JOB_QUEUED;
    job->user->active_jobs--;
    job->jobs->n_active--;
    if (job->kind->measures)
        hac_builders_set_quiet(job->jobs->builders, false);
    hacd_job_note(job, "waits: %s", why);
}

/* Takes the job out of the queue until its client sends more, or there is memory for its next plan. It does
 * not count as running and holds no memory for a plan. */
static void wait_for_client(hacd_job *job)
{
    hacd_job_clear_run(job);
    hac_list_remove(&job->turn);
    hacd_job_set_alone(job, false);
    job->active = false;
    job->waiting = true;
    job->user->active_jobs--;
    job->jobs->n_active--;
    if (hacd_job_waits_for_memory(job))
        job->state = HAC_JOB_QUEUED;
}

void hac_scheduler_start_plan(hacd_job *job)
{
    hac_error err = HAC_ERROR_NONE;
    memset(&job->run, 0, sizeof job->run);
    hac_status status = hac_plan_run_begin(&job->run, job->plan, &err);
    if (status == HAC_OK)
        status = hac_plan_buffers_attach(job, &err);
    if (status == HAC_REFUSED && job->kind->must_wait == NULL && job->memory_limit == 0 &&
        job->user->active_jobs > 1) {
        requeue(job, "memory for its buffers is taken by other jobs of this user");
        return;
    }
    if (status == HAC_REFUSED && job->kind->must_wait != NULL && job->kind->must_wait(job)) {
        wait_for_client(job);
        return;
    }
    if (status != HAC_OK) {
        hacd_job_finish(job, HAC_JOB_FAILED, err.code, err.message);
        return;
    }
    job->run.started_ns = hac_now_ns();
    job->state = HAC_JOB_RUNNING;
    if (job->started_ns == 0)
        job->started_ns = job->run.started_ns;
    hac_jobs_kick(job->jobs); /* to hand out its first tasks */
}

/* The job's current plan has been executed, or has to be replaced (`restart`): starts the next one. */
static void advance(hacd_job *job)
{
    hac_error err = HAC_ERROR_NONE;
    uint64_t began = hac_now_ns();
    hac_status status = job->kind->next_plan(job, &err);
    hac_user_spend(job->user, hac_seconds_since(began)); /* nobody else was served meanwhile */
    job->restart = false;
    if (status == HAC_OK) {
        job->state = HAC_JOB_PLANNED;
        job->planned_ns = hac_now_ns();
        hac_scheduler_start_plan(job);
    } else if (status == HAC_AGAIN) {
        wait_for_client(job);
    } else if (status == HAC_NOT_FOUND) {
        hacd_job_finish(job, HAC_JOB_DONE, HAC_OK, "");
    } else {
        hacd_job_finish(job, HAC_JOB_FAILED, err.code, err.message);
    }
}

static void start_over(hacd_job *job)
{
    job->restarts++;
    hacd_job_note(job, "starts over from its inputs (restart %u)", job->restarts);
    hacd_job_clear_run(job);
    job->restart = true;
    advance(job);
}

/* The plan has succeeded: earlier kills do not count any more. */
static void go_on(hacd_job *job)
{
    job->memory_kills = 0;
    advance(job);
}

/* A piece that failed meanwhile does not count: the job is done again. */
static void start_alone(hacd_job *job)
{
    job->crowded = false;
    job->memory_kills = 0;
    job->code = HAC_OK;
    job->message[0] = '\0';
    job->restarts++;
    hacd_job_set_alone(job, true);
    requeue(job, "memory ran out beside other jobs of this user");
}

/* Decides whether a job with nothing in flight has ended, and how. */
static void settle(hacd_job *job)
{
    hacd_plan_run *run = &job->run;
    if (run->n_in_flight > 0 || hacd_job_ended(job) || !job->active || hacd_job_seeks_failure(job))
        return;
    /* a job that is done just before the timer rings is late all the same */
    if (hacd_job_time_left(job) <= 0)
        hacd_job_fail_late(job);
    if (job->cancelling)
        hacd_job_finish(job, HAC_JOB_CANCELLED, HAC_CANCELLED, job->message[0] ? job->message : "cancelled");
    else if (job->code != HAC_OK && !(job->crowded && run->failed))
        hacd_job_finish(job, HAC_JOB_FAILED, job->code, job->message);
    else if (job->crowded)
        start_alone(job);
    else if (run->broken)
        start_over(job);
    else if (run->replan)
        advance(job);
    else if (job->plan != NULL && run->n_done == job->plan->n_tasks)
        go_on(job);
}

/* ---- handing out ------------------------------------------------------------------------------------ */

/* While a builder makes a program that this task waits for, the device takes other tasks. The task looks
 * again whenever a program is built, as it may have been its own. */
static bool device_available(const hacd_job *job, uint32_t task_index, uint32_t plan_device)
{
    const hac_server_device *device = job->jobs->devices->items[hacd_job_device(job, plan_device)];
    const hac_task_state *state = &job->run.tasks[task_index];
    bool waits = (state->awaits >> plan_device & 1) != 0 && state->builds[plan_device] == device->builds;
    bool excluded = (job->excluded >> hacd_job_device(job, plan_device) & 1) != 0;
    return hac_devices_may_use(job->jobs->devices, hacd_job_device(job, plan_device), job->user) &&
           !excluded && (!waits || device->n_wanted == 0);
}

/* The tasks of a job on an executor: the queue of hac_plan_run_queued. */
typedef struct job_queue {
    const hac_executor *executor;
    const hacd_job *job;
} job_queue;

static uint32_t queued_pieces(const void *context, uint32_t task_index, uint64_t *ret_first)
{
    const job_queue *queue = context;
    uint32_t n = 0;
    hac_dispatch *dispatch = NULL;
    hac_list_for_each (dispatch, &queue->executor->in_flight, hac_dispatch, link) {
        if (dispatch->job != queue->job || dispatch->task != task_index)
            continue;
        if (n++ == 0)
            *ret_first = dispatch->id;
    }
    return n;
}

/* The executor of the job's user on a device of the plan, if it can take the task, of `predicted` seconds,
 * now; else NULL. *ret_predecessor: hacd_piece.predecessor. */
static hac_executor *find_executor(hacd_job *job, uint32_t task_index, uint32_t plan_device, double predicted,
                                   uint64_t *ret_predecessor)
{
    hac_executor *executor = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (!device_available(job, task_index, plan_device))
        return NULL;
    hac_executors *executors = job->jobs->executors;
    uint32_t device = hacd_job_device(job, plan_device);
    double task_seconds = fmax(predicted, job->plan->tasks[task_index].predicted_seconds);
    hac_status status = HAC_OK;
    /* it can only be sent ahead: no executor is started for that */
    if (job->run.tasks[task_index].waiting_for > 0)
        executor = hac_executor_find(executors, device, job->user);
    else
        status = hac_side_executor_choose(job, device, task_seconds, &executor, &err);
    if (executor == NULL) {
        if (status == HAC_REFUSED)
            hac_fair_share_wait(job->user, device);
        if (status != HAC_OK && status != HAC_AGAIN && status != HAC_REFUSED) {
            hac_log_subject about = {job->user->uid, job->id, NULL};
            hac_log_record(HAC_LOG_ERROR, HAC_EVENT_START, &about, "%s", err.message);
        }
        return NULL;
    }
    job_queue queue = {executor, job};
    bool fits =
        hac_plan_run_may_go(&job->run, job->plan, task_index, queued_pieces, &queue, ret_predecessor) &&
        hac_executor_has_room(executor, predicted);
    return fits && hac_fair_share_may(executors, executor, predicted, task_seconds) ? executor : NULL;
}

/* The codelet for that device. CPUs run host codelets, and so do devices whose kernels failed. */
static const char *codelet_on(const hacd_job *job, const hac_plan_task *task, uint32_t plan_device)
{
    const hac_server_device *device = job->jobs->devices->items[hacd_job_device(job, plan_device)];
    bool host = device->config.kind == HAC_DEVICE_KIND_CPU ||
                (job->run.tasks[task - job->plan->tasks].by_host >> plan_device & 1) != 0;
    return task->kernels == NULL || host ? task->codelet : task->kernels;
}

/* Whether a buffer is new to the executor. Its page faults say nothing about the device. */
static bool maps_buffer(const hac_executor *executor, const hac_task_message *message)
{
    bool maps = false;
    for (size_t i = 0; i < message->n_buffers; i++)
        maps |= !(message->buffers[i]->executors >> executor->slot & 1);
    return maps;
}

/* Codelets of later tasks of the plan on that device, so that an executor can name all programs that it
 * lacks. */
static size_t list_later(const hacd_job *job, uint32_t task_index, uint32_t plan_device, char **ret)
{
    const hac_plan_task *from = &job->plan->tasks[task_index];
    const char *own = codelet_on(job, from, plan_device);
    size_t n = 0;
    for (size_t t = task_index + 1; t < job->plan->n_tasks && n < HAC_RUN_THEN_MAX; t++) {
        const hac_plan_task *task = &job->plan->tasks[t];
        const char *codelet = codelet_on(job, task, plan_device);
        bool here = task->device >= 0 ? task->device == (int)plan_device
                                      : (task->device_mask >> plan_device & 1) != 0;
        bool listed = strcmp(codelet, own) == 0;
        for (size_t i = 0; i < n && !listed; i++)
            listed = strcmp(codelet, ret[i]) == 0;
        if (here && !listed && task->type == from->type)
            ret[n++] = (char *)(uintptr_t)codelet;
    }
    return n;
}

static void add_descriptor(hacd_job *job, const hac_executor *executor, const hac_plan_task *task,
                           hac_task_message *message)
{
    uint64_t bit = UINT64_C(1) << executor->slot;
    hacd_job_descriptor *descriptor = &job->descriptors[task->descriptor];
    message->run.descriptor = hacd_job_descriptor_id(job, task->descriptor);
    message->descriptor_fd = descriptor->fd;
    message->send_descriptor = !(descriptor->executors & bit);
    descriptor->executors |= bit;
}

static void send_piece(hacd_job *job, hac_executor *executor, uint32_t task_index, uint32_t plan_device,
                       const hacd_piece *piece, double predicted, bool together)
{
    const hac_plan_task *task = &job->plan->tasks[task_index];
    hac_dispatch *dispatch = calloc(1, sizeof *dispatch);
    if (dispatch == NULL) {
        job->code = HAC_NO_MEMORY;
        snprintf(job->message, sizeof job->message, "out of memory");
        return;
    }
    job->run.tasks[task_index].awaits &= ~(1u << plan_device);
    dispatch->job = job;
    dispatch->job_id = job->id;
    dispatch->task = task_index;
    dispatch->first = piece->first;
    dispatch->count = piece->count;
    dispatch->attempt = piece->attempt;
    dispatch->predecessor = piece->predecessor;
    dispatch->predicted = predicted;
    dispatch->together = together;
    dispatch->plan_device = plan_device;
    dispatch->cold = hac_executor_is_cold(executor, task);
    dispatch->beside = executor->goes_beside || executor->is_side;
    dispatch->yields = hac_job_failures_yields(job, task_index);
    dispatch->users_pace = job->kind->user_errors && strncmp(task->codelet, "query.", 6) == 0;
    dispatch->units =
        task->count > 0 ? task->units * ((double)piece->count / (double)task->count) : task->units;

    hac_task_message message;
    char *then[HAC_RUN_THEN_MAX];
    hac_task_message_encode(&message, task, job->run.buffers, job->run.offsets);
    Hac__Executor__Run *run = &message.run;
    const char *codelet = codelet_on(job, task, plan_device);
    dispatch->by_kernels = codelet != task->codelet;
    /* a pattern may take quadratic time in the length of a text */
    dispatch->claimed = job->kind->claims || (dispatch->users_pace && task->range && !dispatch->by_kernels);
    run->codelet = (char *)(uintptr_t)codelet;
    run->first = piece->first;
    run->count = piece->count;
    run->predecessor = piece->predecessor;
    run->batched = hac_task_may_be_batched(job, executor, task, dispatch);
    if (dispatch->cold) {
        run->then = then;
        run->n_then = list_later(job, task_index, plan_device, then);
    }
    if (task->uses_descriptor)
        add_descriptor(job, executor, task, &message);
    if (task->descriptor < job->n_paths) {
        run->path.data = job->paths[task->descriptor].data;
        run->path.len = job->paths[task->descriptor].bytes;
    }
    if (task->data == NULL && job->data != NULL) {
        run->data.data = job->data;
        run->data.len = job->data_bytes;
    }
    if (maps_buffer(executor, &message))
        job->run.fresh |= UINT64_C(1) << executor->slot;
    dispatch->fresh = job->run.fresh >> executor->slot & 1;
    job->run.tasks[task_index].in_flight++;
    job->run.n_in_flight++;
    job->held_since_ns[executor->device] = 0;
    hac_executor_run(executor, dispatch, &message);
}

/* The device's rate in this range, in items per second: measured, or else planned. */
static double rate_of(const hacd_job *job, uint32_t task_index, uint32_t plan_device)
{
    const hac_task_state *state = &job->run.tasks[task_index];
    const hac_plan_task *task = &job->plan->tasks[task_index];
    if (state->busy[plan_device] > MEASURED_SECONDS)
        return state->units[plan_device] / state->busy[plan_device];
    double seconds = task->whole_seconds[plan_device];
    if (!(seconds > 0)) /* a plan that was not simulated */
        seconds = fmax(task->predicted_seconds, 1e-6) / fmax(job->plan->devices[plan_device].share, 1e-3);
    return (double)task->count / seconds;
}

/* Predicted seconds until the executor has ended its tasks. */
static double busy_for(const hac_executor *executor)
{
    double seconds = executor->in_flight_seconds - hac_seconds_since(executor->busy_since_ns);
    return executor->n_in_flight > 0 && seconds > 0 ? seconds : 0;
}

/* What is known now of the devices that share a range, of which one is going to take a piece by its executor
 * `taken`. Returns the number of devices. */
static unsigned look_at_sharers(hacd_job *job, uint32_t task_index, uint32_t plan_device, hac_executor *taken,
                                hac_range_sharer *ret)
{
    const hac_plan_task *task = &job->plan->tasks[task_index];
    unsigned n = 0;
    hac_error err = HAC_ERROR_NONE; /* find_executor logs it, when it tries again */
    for (uint32_t d = 0; d < job->plan->n_devices; d++) {
        hac_executor *executor = NULL;
        ret[d] =
            (hac_range_sharer){.in = (task->device_mask & (1u << d)) && device_available(job, task_index, d)};
        if (!ret[d].in)
            continue;
        n++;
        ret[d].rate = fmax(rate_of(job, task_index, d), 1e-3);
        const hac_task_state *state = &job->run.tasks[task_index];
        ret[d].measured = state->busy[d] > MEASURED_SECONDS && (state->cold >> d & 1) == 0;
        ret[d].guessed = (task->guessed >> d & 1) != 0;
        ret[d].explored = !ret[d].measured && (task->explored >> d & 1) != 0;
        hac_status status = HAC_OK;
        if (d == plan_device)
            executor = taken;
        else
            status =
                hac_executor_get(job->jobs->executors, hacd_job_device(job, d), job->user, &executor, &err);
        ret[d].ready = status == HAC_OK && executor->state == HAC_EXECUTOR_READY;
        ret[d].busy = ret[d].ready ? busy_for(executor) : 0;
        ret[d].busy += hac_fair_share_backlog(job->jobs->executors, hacd_job_device(job, d), job->user);
    }
    return n;
}

/* Takes the next piece of a range for a device. */
static hacd_piece take_piece(hacd_job *job, uint32_t task_index, uint32_t plan_device,
                             const hac_range_sharer *sharers, bool queued)
{
    hac_task_state *state = &job->run.tasks[task_index];
    const hac_plan_task *task = &job->plan->tasks[task_index];
    hacd_piece piece = {0, 0, 0, 0};
    bool lost = hac_plan_run_take_lost(&job->run, task_index, &piece);
    if (!lost) {
        piece.first = task->first + state->claimed;
        piece.count = hac_range_share_next(sharers, job->plan->n_devices, plan_device, queued,
                                           task->count - state->claimed, task->grain > 0 ? task->grain : 1);
    }
    uint64_t wanted = job->kind->piece_max != NULL ? job->kind->piece_max(job, task_index) : 0;
    uint64_t max = state->piece_max > 0 && state->piece_max < piece.count ? state->piece_max : piece.count;
    max = wanted > 0 && wanted < max ? wanted : max;
    if (lost && max < piece.count)
        hac_plan_run_give_back(&job->run, task_index,
                               &(hacd_piece){piece.first + max, piece.count - max, piece.attempt, 0});
    piece.count = max;
    state->claimed += lost ? 0 : max;
    return piece;
}

static hacd_more wants_more(const hacd_job *job, uint32_t task_index)
{
    return job->kind->wants_more != NULL ? job->kind->wants_more(job, task_index) : HACD_MORE_NOW;
}

/* Sends one piece of a range to a device. Returns false if the device takes none now. */
static bool hand_out_piece(hacd_job *job, uint32_t task_index, uint32_t plan_device)
{
    hac_task_state *state = &job->run.tasks[task_index];
    const hac_plan_task *task = &job->plan->tasks[task_index];
    uint64_t predecessor, first_queued;
    if (hac_plan_run_is_given_out(&job->run, job->plan, task_index) ||
        wants_more(job, task_index) != HACD_MORE_NOW)
        return false;
    double seconds =
        state->waiting_for > 0 ? fmin(task->predicted_seconds, HAC_SHARE_LONGEST) : HAC_SHARE_SHORTEST;
    hac_executor *executor = find_executor(job, task_index, plan_device, seconds, &predecessor);
    if (executor == NULL)
        return false;
    hac_range_sharer sharers[HAC_DEVICES_MAX];
    bool together = look_at_sharers(job, task_index, plan_device, executor, sharers) > 1;
    bool queued = queued_pieces(&(job_queue){executor, job}, task_index, &first_queued) > 0;
    if (state->n_lost > 0 && queued && together)
        return false; /* a lost piece goes to whoever is free first */
    hacd_piece piece = take_piece(job, task_index, plan_device, sharers, queued);
    if (piece.count == 0)
        return false;
    piece.predecessor = predecessor;
    send_piece(job, executor, task_index, plan_device, &piece,
               (double)piece.count / sharers[plan_device].rate, together);
    return true;
}

/* Whether the dependents of the task may start: the job's kind may ask for all of the task again. */
static bool ended_well(hacd_job *job, uint32_t task)
{
    hac_error err = HAC_ERROR_NONE;
    hac_status status = HAC_OK;
    if (job->kind->task_ended != NULL && job->code == HAC_OK)
        status = job->kind->task_ended(job, task, &err);
    if (status == HAC_OK)
        return true;
    if (status == HAC_AGAIN) {
        hac_plan_run_redo(&job->run, task);
        return false;
    }
    job->code = err.code;
    snprintf(job->message, sizeof job->message, "%s", err.message);
    return false;
}

static void end_task(hacd_job *job, uint32_t task)
{
    if (ended_well(job, task))
        hac_plan_run_end_task(&job->run, job->plan, task);
}

/* Shares a range among devices. Returns whether all of it has been handed out. */
static bool hand_out_range(hacd_job *job, uint32_t task_index)
{
    uint32_t mask = job->plan->tasks[task_index].device_mask;
    bool waits = job->run.tasks[task_index].waiting_for > 0;
    if (waits && (mask & (mask - 1)) != 0)
        return false; /* several devices share it, so it cannot follow what one of them has */
    if (!waits && wants_more(job, task_index) == HACD_MORE_NEVER) {
        hac_plan_run_leave_rest(&job->run, job->plan, task_index);
        end_task(job, task_index);
    }
    for (bool any = true; any && !hac_plan_run_is_given_out(&job->run, job->plan, task_index);) {
        any = false;
        for (uint32_t d = 0; d < job->plan->n_devices; d++)
            if (mask & (1u << d))
                any |= hand_out_piece(job, task_index, d);
    }
    return hac_plan_run_is_given_out(&job->run, job->plan, task_index);
}

/* For a task that any of several devices may run: the device that would finish it first. */
static int choose_device(const hacd_job *job, uint32_t task_index)
{
    const hac_plan_task *task = &job->plan->tasks[task_index];
    int best = -1;
    double best_seconds = INFINITY;
    for (uint32_t d = 0; d < job->plan->n_devices; d++) {
        if (!(task->device_mask & (1u << d)) || !device_available(job, task_index, d))
            continue;
        double seconds = hac_executors_backlog(job->jobs->executors, hacd_job_device(job, d));
        if (seconds < best_seconds) {
            best = (int)d;
            best_seconds = seconds;
        }
    }
    return best;
}

static bool hand_out_whole(hacd_job *job, uint32_t task_index)
{
    const hac_plan_task *task = &job->plan->tasks[task_index];
    hac_task_state *state = &job->run.tasks[task_index];
    int device = task->device >= 0 ? task->device : choose_device(job, task_index);
    if (device < 0)
        return false;
    uint64_t predecessor;
    hac_executor *executor =
        find_executor(job, task_index, (uint32_t)device, task->predicted_seconds, &predecessor);
    if (executor == NULL)
        return false;
    hacd_piece piece = {task->first, task->count, 0, 0};
    (void)hac_plan_run_take_lost(&job->run, task_index, &piece);
    piece.predecessor = predecessor;
    state->claimed = task->count;
    send_piece(job, executor, task_index, (uint32_t)device, &piece, task->predicted_seconds,
               task->side_by_side && job->plan->n_devices > 1);
    return true;
}

/* The device of a task that none of its devices can run any more; -1: one of them can. */
static int lost_device(const hacd_job *job, uint32_t task_index)
{
    uint32_t mask = job->plan->tasks[task_index].device_mask;
    int lost = -1;
    for (uint32_t d = 0; d < job->plan->n_devices; d++) {
        if ((mask >> d & 1) == 0)
            continue;
        uint32_t index = hacd_job_device(job, d);
        bool excluded = (job->excluded >> index & 1) != 0;
        if (hac_devices_may_use(job->jobs->devices, index, job->user) && !excluded)
            return -1;
        lost = (int)index;
    }
    return lost;
}

/* A ready task cannot run on the devices it was planned for. (The plan may list devices that none of its
 * tasks use: those of earlier rounds.) */
static bool plan_is_void(hacd_job *job)
{
    for (size_t i = 0; i < job->run.n_ready; i++) {
        uint32_t task = job->run.ready[i];
        int index = job->run.tasks[task].waiting_for > 0 ? -1 : lost_device(job, task);
        if (index < 0)
            continue;
        hac_job_failures_leave_device(job, (uint32_t)index,
                                      hac_device_reason(job->jobs->devices, (size_t)index, job->user));
        return true;
    }
    return false;
}

static void hand_out(hacd_job *job)
{
    hacd_plan_run *run = &job->run;
    if (hacd_job_is_given_up(job) || run->n_ready == 0 || plan_is_void(job))
        return;
    size_t kept = 0;
    for (size_t i = 0; i < run->n_ready; i++) {
        uint32_t t = run->ready[i];
        /* a task that ends here may make the plan void */
        bool all = !hacd_job_is_given_up(job) &&
                   (job->plan->tasks[t].range ? hand_out_range(job, t) : hand_out_whole(job, t));
        run->tasks[t].listed = !all;
        if (all)
            hac_plan_run_list_successors(run, job->plan, t);
        else
            run->ready[kept++] = t;
    }
    run->n_ready = kept;
}

/* ---- the queue ----------------------------------------------------------------------------------- */

/* Whether job `a` goes before job `b`: first users without active jobs, then by virtual time; among one
 * user's jobs by priority, then by age. */
static bool comes_before(const hacd_job *a, const hacd_job *b)
{
    bool none_a = a->user->active_jobs == 0, none_b = b->user->active_jobs == 0;
    if (a->user == b->user)
        return a->priority > b->priority;
    return none_a != none_b ? none_a : a->user->virtual_time < b->user->virtual_time;
}

/* The next queued job to activate. At most ACTIVE_MAX jobs are active, but at least one of every user. */
static hacd_job *next_in_queue(hac_jobs *jobs)
{
    hacd_job *best = NULL, *job = NULL;
    hac_list_for_each (job, &jobs->queued, hacd_job, turn) {
        if (job->restart && job->user->active_jobs > 0)
            continue; /* waits for memory */
        if (job->user->jobs_alone > 0 && !job->alone)
            continue; /* another job must be alone */
        if (job->kind->measures && hac_builders_urgent(jobs->builders))
            continue;
        if (jobs->n_active >= ACTIVE_MAX && job->user->active_jobs > 0)
            continue;
        if (best == NULL || comes_before(job, best))
            best = job;
    }
    return best;
}

/* Moves the job after the last active job of the same or a higher priority. */
static void take_place(hacd_job *job)
{
    hac_list_remove(&job->turn);
    hac_link *at = job->jobs->active.previous;
    while (at != &job->jobs->active && hac_container_of(at, hacd_job, turn)->priority < job->priority)
        at = at->previous;
    hac_list_append(at->next, &job->turn);
}

static void activate(hacd_job *job)
{
    double min_time = hac_fair_share_min_time(job->jobs->users);
    take_place(job);
    job->active = true;
    if (job->user->active_jobs++ == 0)
        hac_user_activate(job->user, min_time);
    job->jobs->n_active++;
    if (job->kind->measures)
        hac_builders_set_quiet(job->jobs->builders, true);
    advance(job);
}

static void serve_user(hac_jobs *jobs, const hac_user *user)
{
    hacd_job *job = NULL;
    hac_list_for_each (job, &jobs->active, hacd_job, turn) {
        if (job->user != user)
            continue;
        unsigned before = job->run.n_in_flight;
        hand_out(job);
        if (job->run.n_in_flight > before)
            take_place(job); /* others of the same priority go next */
        settle(job);
    }
}

void hac_scheduler_kick(hac_jobs *jobs)
{
    while (!hac_list_empty(&jobs->queued)) {
        hacd_job *job = next_in_queue(jobs);
        if (job == NULL)
            break;
        activate(job);
    }
    hac_fair_share_begin(jobs->users);
    for (hac_user *user = hac_fair_share_next(jobs->users); user != NULL;
         user = hac_fair_share_next(jobs->users))
        serve_user(jobs, user);
    hac_fair_share_end(jobs->users);
    hac_executors_flush(jobs->executors);
}

/* ---- results ------------------------------------------------------------------------------------- */

static void record(hacd_job *job, const hac_dispatch *dispatch, double seconds, bool lost,
                   const Hac__Executor__Done *done)
{
    hacd_plan_run *run = &job->run;
    if (run->n_records == HAC_JOB_RECORDS_MAX)
        return;
    if ((run->n_records & (run->n_records - 1)) == 0) { /* full at every power of two */
        size_t capacity = run->n_records == 0 ? 1 : run->n_records * 2;
        hac_run_record *records = reallocarray(run->records, capacity, sizeof *records);
        if (records == NULL)
            return;
        run->records = records;
    }
    uint64_t end = hac_now_ns();
    double end_seconds = (double)(end - run->started_ns) * 1e-9;
    double start = end_seconds > seconds ? end_seconds - seconds : 0; /* arrival less duration */
    hac_plan_run_end_earlier(run, dispatch->plan_device, start);
    run->records[run->n_records++] = (hac_run_record){
        .task = dispatch->task,
        .device = dispatch->plan_device,
        .first = dispatch->first,
        .count = dispatch->count,
        .start = start,
        .seconds = seconds,
        .predicted_seconds = dispatch->predicted,
        .attempt = dispatch->attempt,
        .lost = lost,
        .by_kernels = done != NULL && done->kernels > 0,
    };
    hac_splice_buffers_stages(job->plan, done, &run->records[run->n_records - 1]);
}

/* Whether the piece's time says something about the device at that codelet. Beside others, the pieces of a
 * job that is given up are not what a device does otherwise. */
static bool is_sample(const hacd_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    if (job->kind->did_all != NULL && !job->kind->did_all(job, dispatch->task, done))
        return false;
    if (dispatch->beside)
        return false;
    return !dispatch->together || !hacd_job_is_given_up(job);
}

static hac_disturbance disturbance_of(const hac_dispatch *dispatch)
{
    return dispatch->cold ? HAC_COLD : dispatch->fresh ? HAC_FRESH_PAGES : HAC_UNDISTURBED;
}

static void learn_model(hac_model_set *models, const char *key, const char *model, hac_type type,
                        const hac_dispatch *dispatch, const Hac__Executor__Done *done, bool sample)
{
    if (sample)
        hac_model_record_disturbed(models, key, model, type, dispatch->units, done->seconds,
                                   dispatch->together, disturbance_of(dispatch));
    else
        hac_model_note_attempt(models, key, model, type, dispatch->units);
}

static void learn(hacd_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    hac_jobs *jobs = job->jobs;
    uint32_t device = hacd_job_device(job, dispatch->plan_device);
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    const char *key = jobs->devices->items[device]->key;
    jobs->devices->items[device]->busy_seconds += done->seconds;
    hac_model_set_job(jobs->models, job->kind->measures ? 0 : job->id);
    if (dispatch->cold && !dispatch->beside)
        hac_start_costs_note_cold(jobs->models, jobs->devices->items[device], task,
                                  done->seconds - dispatch->predicted);
    if (job->run.tasks[dispatch->task].by_host >> dispatch->plan_device & 1)
        return; /* the model describes its kernels */
    bool sample = is_sample(job, dispatch, done);
    learn_model(jobs->models, key, hac_task_model(task, dispatch->by_kernels), task->type, dispatch, done,
                sample);
    char name[HAC_MODEL_NAME_MAX];
    for (size_t i = 0; i < HAC_NARROWER_MODELS; i++)
        if (hac_task_narrower_model(task, dispatch->by_kernels, i, name))
            learn_model(jobs->models, key, name, task->type, dispatch, done, sample);
}

/* When its last piece has ended, a task has ended. */
static void end_piece(hacd_job *job, const hac_dispatch *dispatch)
{
    hac_task_state *state = &job->run.tasks[dispatch->task];
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    state->done += dispatch->count;
    bool whole = task->range ? state->done >= task->count : true;
    if (whole)
        end_task(job, dispatch->task);
}

static void piece_done(hacd_job *job, hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    if (job->build_started_ns != 0) {
        double waited = hac_seconds_since(job->build_started_ns);
        job->build_started_ns = 0;
        job->build_seconds += waited;
        hacd_job_note(job, "kernels are built, after %.1f s", waited);
    }
    record(job, dispatch, done->seconds, false, done);
    hac_splice_buffers_add(&job->splice, job->plan->devices[dispatch->plan_device].name, task->codelet, done);
    hac_metrics_task(job->jobs->metrics, job->plan->devices[dispatch->plan_device].name, dispatch->predicted,
                     done->seconds, hac_splice_values(task->codelet, done));
    learn(job, dispatch, done);
    hac_plan_run_add_rate(&job->run, dispatch->task, dispatch->plan_device, (double)dispatch->count,
                          done->seconds, dispatch->cold);
    if (job->kind->task_done != NULL)
        job->kind->task_done(job, dispatch->task, done);
    end_piece(job, dispatch);
    if (job->progress)
        hacd_job_send_event(job, task->stage, job->plan->devices[dispatch->plan_device].name, "");
}

static void piece_failed(hacd_job *job, hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    hac_jobs *jobs = job->jobs;
    if (!hac_plan_run_comes_first(&job->run, dispatch->task, dispatch->first))
        return;
    if (done->code == HAC_NOT_FOUND && done->n_needs_programs > 0) {
        hac_job_failures_await_programs(job, dispatch, done);
        return;
    }
    if (job->run.failed)
        job->code = HAC_OK; /* later failures do not count any more */
    bool is_first = job->code == HAC_OK;
    if (dispatch->count > 1 && job->kind->cuts_failed != NULL &&
        job->kind->cuts_failed(job, dispatch->task, done)) {
        job->run.tasks[dispatch->task].piece_max = dispatch->count / 2;
        hac_plan_run_give_back(&job->run, dispatch->task,
                               &(hacd_piece){dispatch->first, dispatch->count, dispatch->attempt, 0});
    } else if (job->kind->may_fail != NULL && job->kind->may_fail(job, dispatch->task, done)) {
        end_piece(job, dispatch);
    } else if (hac_job_failures_go_without(job, dispatch, done)) {
        hac_jobs_kick(jobs);
    } else if (job->kind->task_failed != NULL && job->kind->task_failed(job, dispatch->task, done)) {
        hac_jobs_kick(jobs);
    } else if (done->code == HAC_DEVICE || done->code == HAC_NO_MEMORY || done->code == HAC_UNSUPPORTED) {
        hac_job_failures_refused(job, dispatch, done);
    } else {
        /* If an executor refuses its input as invalid, hacd is at fault, not the user. */
        bool invalid = done->code == HAC_INVALID && !job->kind->user_errors;
        bool ours = invalid || done->code == HAC_NOT_FOUND || done->code == HAC_PROTOCOL;
        job->code = ours ? HAC_INTERNAL : (hac_status)done->code;
        snprintf(job->message, sizeof job->message, "%s", done->message);
    }
    if (job->kind->in_order && is_first && job->code != HAC_OK)
        hac_plan_run_fail(&job->run, job->plan, dispatch->task, dispatch->first);
}

/* Jobs end only when nothing is in flight, so the job has not ended here. */
static hacd_job *land(hac_dispatch *dispatch)
{
    hacd_job *job = dispatch->job;
    job->run.n_in_flight--;
    job->run.tasks[dispatch->task].in_flight--;
    hac_jobs_kick(job->jobs);
    return job;
}

/* Charges the device's time to the user, by hacd's clock: an executor's own word is not reliable. */
static void spend(const hacd_job *job, const hac_dispatch *dispatch)
{
    const hac_server_device *device = job->jobs->devices->items[hacd_job_device(job, dispatch->plan_device)];
    hac_user_spend(job->user, dispatch->held_seconds * (device->weight > 0 ? device->weight : 1));
}

/* Whether the executor skipped the task, because a predecessor failed that may even belong to another job.
 * Any other report counts only if all predecessors have ended. */
static bool was_skipped(const hacd_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    return job->run.tasks[dispatch->task].waiting_for > 0 ||
           (dispatch->predecessor != 0 && done->code == HAC_CANCELLED);
}

void hac_scheduler_done(void *context, hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    hac_jobs *jobs = context;
    hacd_job *job = land(dispatch);
    bool skipped = was_skipped(job, dispatch, done);
    spend(job, dispatch);
    if (!skipped)
        hac_metrics_task_ended(jobs->metrics, job->plan->devices[dispatch->plan_device].name, false);
    if (skipped)
        hac_plan_run_give_back(&job->run, dispatch->task,
                               &(hacd_piece){dispatch->first, dispatch->count, dispatch->attempt, 0});
    else if (done->code == HAC_OK)
        piece_done(job, dispatch, done);
    else
        piece_failed(job, dispatch, done);
    free(dispatch);
}

void hac_scheduler_lost(void *context, hac_dispatch *dispatch, const hac_loss *loss)
{
    hac_jobs *jobs = context;
    hacd_job *job = land(dispatch);
    spend(job, dispatch);
    hac_metrics_task_ended(jobs->metrics, job->plan->devices[dispatch->plan_device].name, true);
    if (loss->started)
        record(job, dispatch, 0, true, NULL);
    hac_job_failures_lost(job, dispatch, loss);
    free(dispatch);
}

bool hac_scheduler_starved(void *context)
{
    return hac_job_failures_starved(context);
}

/* The next executor in that slot needs the jobs' descriptors again. */
void hac_scheduler_gone(void *context, unsigned slot)
{
    hac_jobs *jobs = context;
    hacd_job *job = NULL;
    hac_list_for_each (job, &jobs->list, hacd_job, link)
        for (size_t d = 0; d < job->n_descriptors; d++)
            job->descriptors[d].executors &= ~(UINT64_C(1) << slot);
}

void hac_scheduler_changed(void *context)
{
    hac_jobs_kick(context);
}
