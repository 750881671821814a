/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "failures.h"
#include "plan_buffers.h"
#include "planner/share.h"
#include "server.h"
#include "stream_memory.h"
#include "turns.h"

#define ACTIVE_MAX       64   /* jobs whose tasks are handed out; the others are queued */
#define MEASURED_SECONDS 1e-6 /* of work in a range make a rate */
#define BRIEF_SECONDS    2e-4 /* of work are less than hacd's part in it may take */

/* ---- a plan's execution ----------------------------------------------------------------------------- */

/* Back to the queue, until the user's other jobs have ended: it does not fit beside them. */
static void requeue(hac_job *job, const char *why)
{
    hac_job_clear_run(job);
    hac_list_remove(&job->turn);
    hac_list_append(&job->server->queued, &job->turn);
    job->active = false;
    job->restart = true;
    job->state = HAC_JOB_QUEUED;
    job->user->active_jobs--;
    job->server->n_active--;
    if (job->kind->measures)
        hac_builders_set_quiet(&job->server->builders, false);
    hac_job_note(job, "waits: %s", why);
}

/* Out of all turns until its client sends more, or there is memory for its next plan: it counts as nobody's
 * running job, and holds no plan's memory. */
static void wait_for_client(hac_job *job)
{
    hac_job_clear_run(job);
    hac_list_remove(&job->turn);
    hac_job_set_alone(job, false);
    job->active = false;
    job->waiting = true;
    job->user->active_jobs--;
    job->server->n_active--;
    if (hac_stream_memory_waits(job))
        job->state = HAC_JOB_QUEUED;
}

void hac_scheduler_start_plan(hac_job *job)
{
    hac_error err = HAC_ERROR_NONE;
    memset(&job->run, 0, sizeof job->run);
    hac_status status = hac_run_begin(&job->run, job->plan, &err);
    if (status == HAC_OK)
        status = hac_plan_buffers_attach(job, &err);
    if (status == HAC_REFUSED && job->stream == NULL && job->memory_limit == 0 &&
        job->user->active_jobs > 1) {
        requeue(job, "memory for its buffers is taken by other jobs of this user");
        return;
    }
    if (status == HAC_REFUSED && job->stream != NULL && hac_stream_memory_must_wait(job)) {
        wait_for_client(job);
        return;
    }
    if (status != HAC_OK) {
        hac_job_finish(job, HAC_JOB_FAILED, err.code, err.message);
        return;
    }
    job->run.started_ns = hac_now_ns();
    job->state = HAC_JOB_RUNNING;
    if (job->started_ns == 0)
        job->started_ns = job->run.started_ns;
    hac_server_kick(job->server); /* its first tasks are to be handed out */
}

void hac_scheduler_wake(hac_job *job)
{
    if (!job->waiting)
        return;
    job->waiting = false;
    hac_list_append(&job->server->queued, &job->turn);
    hac_server_kick(job->server);
}

/* The job's current plan has been executed (or, with restart, has to be made anew): what comes next. */
static void advance(hac_job *job)
{
    hac_error err = HAC_ERROR_NONE;
    hac_status status = job->kind->next_plan(job, &err);
    job->restart = false;
    if (status == HAC_OK) {
        job->state = HAC_JOB_PLANNED;
        job->planned_ns = hac_now_ns();
        hac_scheduler_start_plan(job);
    } else if (status == HAC_AGAIN) {
        wait_for_client(job);
    } else if (status == HAC_NOT_FOUND) {
        hac_job_finish(job, HAC_JOB_DONE, HAC_OK, "");
    } else {
        hac_job_finish(job, HAC_JOB_FAILED, err.code, err.message);
    }
}

static void start_over(hac_job *job)
{
    job->restarts++;
    hac_job_note(job, "starts over from its inputs (restart %u)", job->restarts);
    hac_job_clear_run(job);
    job->restart = true;
    advance(job);
}

/* Its plan has ended well: kills before that do not count against those to come. */
static void go_on(hac_job *job)
{
    job->memory_kills = 0;
    advance(job);
}

/* A failure of a piece meanwhile counts no more: all of it is done anew. */
static void start_alone(hac_job *job)
{
    job->crowded = false;
    job->memory_kills = 0;
    job->code = HAC_OK;
    job->message[0] = '\0';
    job->restarts++;
    hac_job_set_alone(job, true);
    requeue(job, "memory ran out beside other jobs of this user");
}

/* Looks whether a job with nothing in flight has ended, in whatever way. */
static void settle(hac_job *job)
{
    hac_run *run = &job->run;
    if (run->n_in_flight > 0 || hac_job_ended(job) || !job->active || hac_job_seeks_failure(job))
        return;
    if (hac_job_time_left(job) <= 0) /* done in the moment before the timer rings is late all the same */
        hac_job_fail_late(job);
    if (job->cancelling)
        hac_job_finish(job, HAC_JOB_CANCELLED, HAC_CANCELLED, job->message[0] ? job->message : "cancelled");
    else if (job->code != HAC_OK && !(job->crowded && run->failed))
        hac_job_finish(job, HAC_JOB_FAILED, job->code, job->message);
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

/* A device whose builder makes a program that this task waits for takes others meanwhile. With every program
 * that is built the task looks again: it may have been its own. */
static bool device_available(const hac_job *job, uint32_t task_index, uint32_t plan_device)
{
    const hac_server_device *device = job->server->devices.items[hac_job_device(job, plan_device)];
    const hac_task_state *state = &job->run.tasks[task_index];
    bool waits = (state->awaits >> plan_device & 1) != 0 && state->builds[plan_device] == device->builds;
    return hac_device_usable(device) && (!waits || device->n_wanted == 0);
}

/* What an executor has of a job: hac_run_queued's queue. */
typedef struct job_queue {
    const hac_executor *executor;
    const hac_job *job;
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

/* The job's user's executor on a device of the plan, if it can take that task, of that length, now.
 * *ret_behind: hac_piece.behind. */
static hac_executor *roomy_executor(hac_job *job, uint32_t task_index, uint32_t plan_device, double predicted,
                                    uint64_t *ret_behind)
{
    hac_executor *executor = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (!device_available(job, task_index, plan_device))
        return NULL;
    hac_executors *executors = &job->server->executors;
    uint32_t device = hac_job_device(job, plan_device);
    hac_status status = HAC_OK;
    if (job->run.tasks[task_index].waiting_for > 0) /* it can only be sent ahead: none is started for that */
        executor = hac_executor_find(executors, device, job->user);
    else
        status = hac_executor_get(executors, device, job->user, &executor, &err);
    if (executor == NULL) {
        if (status != HAC_OK && status != HAC_AGAIN) {
            hac_log_subject about = {job->user->uid, job->id, NULL};
            hac_log_record(HAC_LOG_ERROR, HAC_EVENT_START, &about, "%s", err.message);
        }
        return NULL;
    }
    job_queue queue = {executor, job};
    bool room = hac_run_may_go(&job->run, job->plan, task_index, queued_pieces, &queue, ret_behind) &&
                hac_executor_has_room(executor, predicted);
    return room && hac_turns_may(executors, executor, predicted) ? executor : NULL;
}

static void fill_spans(const hac_job *job, const hac_plan_task *task, Hac__Executor__Span *spans,
                       Hac__Executor__Span **list, hac_executor_input *input)
{
    for (size_t i = 0; i < task->n_spans; i++) {
        const hac_plan_span *from = &task->spans[i];
        hac_pool_buffer *buffer = job->run.buffers[from->buffer];
        hac__executor__span__init(&spans[i]);
        list[i] = &spans[i];
        if (buffer == NULL) /* a late buffer that the task has no use for: an empty span of none */
            continue;
        spans[i].buffer = buffer->id;
        spans[i].offset = job->run.offsets[from->buffer] + from->offset;
        spans[i].bytes = from->bytes;
        input->buffers[input->n_buffers++] = buffer;
    }
}

/* The codelet on that device: CPUs run host codelets, and so does who has no kernels that could. */
static const char *codelet_on(const hac_job *job, const hac_plan_task *task, uint32_t plan_device)
{
    const hac_server_device *device = job->server->devices.items[hac_job_device(job, plan_device)];
    bool host = strcmp(hac_device_kind_name(device->config.kind), "cpu") == 0 ||
                (job->run.tasks[task - job->plan->tasks].by_host >> plan_device & 1) != 0;
    return task->kernels == NULL || host ? task->codelet : task->kernels;
}

/* What an executor runs for the first time (kernels to load, memory to map) says little of later runs. */
static bool is_cold(hac_executor *executor, const hac_plan_task *task)
{
    uint64_t h = 14695981039346656037u ^ task->type; /* FNV-1a; a collision costs one sample */
    for (const char *c = task->codelet; *c != '\0'; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    uint64_t bit = UINT64_C(1) << (h >> 58);
    bool cold = !(executor->warm & bit);
    executor->warm |= bit;
    return cold;
}

/* Whether a buffer is new to the executor: its page faults are no matter of the device. */
static bool maps_buffer(const hac_executor *executor, const hac_executor_input *input)
{
    bool maps = false;
    for (size_t i = 0; i < input->n_buffers; i++)
        maps |= !(input->buffers[i]->executors >> executor->slot & 1);
    return maps;
}

/* Codelets of the plan's later tasks on that device, for an executor that may lack their programs. */
static size_t list_later(const hac_job *job, uint32_t task_index, uint32_t plan_device, char **ret)
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

/* Whether hacd may hear of it late. Should the executor die meanwhile it is not known which of its tasks had
 * ended: they run again, so all of them have to be such that may, and of the same job, which is blamed. */
static bool is_brief(const hac_job *job, const hac_executor *executor, const hac_plan_task *task,
                     const hac_dispatch *dispatch)
{
    const hac_dispatch *last = hac_container_of(executor->in_flight.previous, hac_dispatch, link);
    bool alone = hac_list_empty(&executor->in_flight) || last->job == job;
    return alone && job->plan->ahead && task->repeatable && !dispatch->cold && dispatch->attempt == 0 &&
           dispatch->predicted < BRIEF_SECONDS;
}

static void send_piece(hac_job *job, hac_executor *executor, uint32_t task_index, uint32_t plan_device,
                       const hac_piece *piece, double predicted, bool together)
{
    hac_server *server = job->server;
    const hac_plan_task *task = &job->plan->tasks[task_index];
    hac_dispatch *dispatch = calloc(1, sizeof *dispatch);
    if (dispatch == NULL) {
        job->code = HAC_NO_MEMORY;
        snprintf(job->message, sizeof job->message, "out of memory");
        return;
    }
    job->run.tasks[task_index].awaits &= ~(1u << plan_device);
    dispatch->id = server->next_dispatch++;
    dispatch->job = job;
    dispatch->job_id = job->id;
    dispatch->task = task_index;
    dispatch->first = piece->first;
    dispatch->count = piece->count;
    dispatch->attempt = piece->attempt;
    dispatch->behind = piece->behind;
    dispatch->predicted = predicted;
    dispatch->together = together;
    dispatch->plan_device = plan_device;
    dispatch->cold = is_cold(executor, task);
    dispatch->users_pace = job->kind->user_errors && strncmp(task->codelet, "query.", 6) == 0;
    dispatch->units =
        task->count > 0 ? task->units * ((double)piece->count / (double)task->count) : task->units;

    Hac__Executor__Run run = HAC__EXECUTOR__RUN__INIT;
    Hac__Executor__Span spans[HAC_PLAN_MAX_SPANS], *list[HAC_PLAN_MAX_SPANS];
    char *then[HAC_RUN_THEN_MAX];
    hac_executor_input input = {.run = &run};
    fill_spans(job, task, spans, list, &input);
    const char *codelet = codelet_on(job, task, plan_device);
    dispatch->by_kernels = codelet != task->codelet;
    run.codelet = (char *)(uintptr_t)codelet;
    run.type = task->type;
    run.descending = task->descending;
    run.first = piece->first;
    run.count = piece->count;
    run.behind = piece->behind;
    run.brief = is_brief(job, executor, task, dispatch);
    run.spans = list;
    run.n_spans = task->n_spans;
    run.params = (uint64_t *)(uintptr_t)task->params;
    run.n_params = task->n_params;
    if (dispatch->cold) {
        run.then = then;
        run.n_then = list_later(job, task_index, plan_device, then);
    }
    if (task->uses_descriptor) {
        uint64_t bit = UINT64_C(1) << executor->slot;
        hac_job_descriptor *descriptor = &job->descriptors[task->descriptor];
        run.descriptor = input.descriptor = hac_job_descriptor_id(job, task->descriptor);
        input.descriptor_fd = descriptor->fd;
        input.send_descriptor = !(descriptor->executors & bit);
        descriptor->executors |= bit;
    }
    if (task->data != NULL) {
        run.data.data = (uint8_t *)(uintptr_t)task->data;
        run.data.len = task->data_bytes;
    } else if ((job->spec.inline_data || job->kind->sends_data) && job->data != NULL) {
        run.data.data = job->data;
        run.data.len = job->data_bytes;
    }
    if (maps_buffer(executor, &input))
        job->run.fresh |= UINT64_C(1) << executor->slot;
    dispatch->fresh = job->run.fresh >> executor->slot & 1;
    job->run.tasks[task_index].in_flight++;
    job->run.n_in_flight++;
    hac_executor_run(executor, dispatch, &input);
}

/* The rate of a device in this range, in items a second: as measured here, else as planned. */
static double rate_of(const hac_job *job, uint32_t task_index, uint32_t plan_device)
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

/* Seconds until an executor has ended what it has, as predicted. */
static double busy_for(const hac_executor *executor)
{
    double seconds = executor->in_flight_seconds - hac_seconds_since(executor->busy_since_ns);
    return executor->n_in_flight > 0 && seconds > 0 ? seconds : 0;
}

/* What is known now of the devices that share a range; returns how many they are. */
static unsigned look_at_sharers(hac_job *job, uint32_t task_index, hac_sharer *ret)
{
    const hac_plan_task *task = &job->plan->tasks[task_index];
    unsigned n = 0;
    for (uint32_t d = 0; d < job->plan->n_devices; d++) {
        hac_executor *executor = NULL;
        ret[d] = (hac_sharer){.in = (task->device_mask & (1u << d)) && device_available(job, task_index, d)};
        if (!ret[d].in)
            continue;
        n++;
        ret[d].rate = fmax(rate_of(job, task_index, d), 1e-3);
        ret[d].measured = job->run.tasks[task_index].busy[d] > MEASURED_SECONDS;
        hac_status status =
            hac_executor_get(&job->server->executors, hac_job_device(job, d), job->user, &executor, NULL);
        ret[d].ready = status == HAC_OK && executor->state == HAC_EXECUTOR_READY;
        ret[d].busy = ret[d].ready ? busy_for(executor) : 0;
        ret[d].busy += hac_turns_backlog(&job->server->executors, hac_job_device(job, d), job->user);
    }
    return n;
}

/* Gives out one piece of a range to one device; false when it takes none now. */
static bool hand_out_piece(hac_job *job, uint32_t task_index, uint32_t plan_device)
{
    hac_task_state *state = &job->run.tasks[task_index];
    const hac_plan_task *task = &job->plan->tasks[task_index];
    hac_piece piece = {0, 0, 0, 0};
    uint64_t behind, first_queued;
    if (hac_run_is_given_out(&job->run, job->plan, task_index))
        return false;
    double least =
        state->waiting_for > 0 ? fmin(task->predicted_seconds, HAC_SHARE_LONGEST) : HAC_SHARE_SHORTEST;
    hac_executor *executor = roomy_executor(job, task_index, plan_device, least, &behind);
    if (executor == NULL)
        return false;
    hac_sharer sharers[HAC_PLAN_MAX_DEVICES];
    bool together = look_at_sharers(job, task_index, sharers) > 1;
    bool queued = queued_pieces(&(job_queue){executor, job}, task_index, &first_queued) > 0;
    if (state->n_lost > 0 && queued && together)
        return false; /* a lost piece is for whoever is free first */
    if (!hac_run_take_lost(&job->run, task_index, &piece)) {
        piece.first = task->first + state->claimed;
        piece.count = hac_share_next(sharers, job->plan->n_devices, plan_device, queued,
                                     task->count - state->claimed, task->grain > 0 ? task->grain : 1);
        state->claimed += piece.count;
    }
    if (piece.count == 0)
        return false;
    piece.behind = behind;
    send_piece(job, executor, task_index, plan_device, &piece,
               (double)piece.count / sharers[plan_device].rate, together);
    return true;
}

/* Shares a range out; true when nothing of it is left to hand out. */
static bool hand_out_range(hac_job *job, uint32_t task_index)
{
    uint32_t mask = job->plan->tasks[task_index].device_mask;
    bool waits = job->run.tasks[task_index].waiting_for > 0;
    if (waits && (mask & (mask - 1)) != 0)
        return false; /* several share it: not behind what one of them has */
    for (bool any = true; any && !hac_run_is_given_out(&job->run, job->plan, task_index);) {
        any = false;
        for (uint32_t d = 0; d < job->plan->n_devices; d++)
            if (mask & (1u << d))
                any |= hand_out_piece(job, task_index, d);
    }
    return hac_run_is_given_out(&job->run, job->plan, task_index);
}

/* The device for a task that any of several may run: the one that would be done with it first. */
static int choose_device(const hac_job *job, uint32_t task_index)
{
    const hac_plan_task *task = &job->plan->tasks[task_index];
    int best = -1;
    double best_seconds = INFINITY;
    for (uint32_t d = 0; d < job->plan->n_devices; d++) {
        if (!(task->device_mask & (1u << d)) || !device_available(job, task_index, d))
            continue;
        double seconds = hac_executors_backlog(&job->server->executors, hac_job_device(job, d));
        if (seconds < best_seconds) {
            best = (int)d;
            best_seconds = seconds;
        }
    }
    return best;
}

static bool hand_out_whole(hac_job *job, uint32_t task_index)
{
    const hac_plan_task *task = &job->plan->tasks[task_index];
    hac_task_state *state = &job->run.tasks[task_index];
    int device = task->device >= 0 ? task->device : choose_device(job, task_index);
    if (device < 0)
        return false;
    uint64_t behind;
    hac_executor *executor =
        roomy_executor(job, task_index, (uint32_t)device, task->predicted_seconds, &behind);
    if (executor == NULL)
        return false;
    hac_piece piece = {task->first, task->count, 0, 0};
    (void)hac_run_take_lost(&job->run, task_index, &piece);
    piece.behind = behind;
    state->claimed = task->count;
    send_piece(job, executor, task_index, (uint32_t)device, &piece, task->predicted_seconds,
               task->side_by_side && job->plan->n_devices > 1);
    return true;
}

/* The device of a task that none of its devices can run any more; -1: one of them can. */
static int lost_device(const hac_job *job, uint32_t task_index)
{
    uint32_t mask = job->plan->tasks[task_index].device_mask;
    int lost = -1;
    for (uint32_t d = 0; d < job->plan->n_devices; d++) {
        if ((mask >> d & 1) == 0)
            continue;
        if (hac_device_usable(job->server->devices.items[hac_job_device(job, d)]))
            return -1;
        lost = (int)hac_job_device(job, d);
    }
    return lost;
}

/* A task that is next cannot run on the devices it was planned for. (The plan may list others that none of
 * its tasks uses: those of the rounds before.) */
static bool plan_is_void(hac_job *job)
{
    for (size_t i = 0; i < job->run.n_ready; i++) {
        uint32_t task = job->run.ready[i];
        int index = job->run.tasks[task].waiting_for > 0 ? -1 : lost_device(job, task);
        if (index < 0)
            continue;
        hac_failures_leave_device(job, (uint32_t)index, job->server->devices.items[index]->reason);
        return true;
    }
    return false;
}

static void hand_out(hac_job *job)
{
    hac_run *run = &job->run;
    if (hac_job_is_given_up(job) || run->n_ready == 0 || plan_is_void(job))
        return;
    size_t kept = 0;
    for (size_t i = 0; i < run->n_ready; i++) {
        uint32_t t = run->ready[i];
        bool all = job->plan->tasks[t].range ? hand_out_range(job, t) : hand_out_whole(job, t);
        run->tasks[t].listed = !all;
        if (all)
            hac_run_list_behind(run, job->plan, t);
        else
            run->ready[kept++] = t;
    }
    run->n_ready = kept;
}

/* ---- turns ------------------------------------------------------------------------------------------ */

/* Whether the first one comes before the other: a user who has nothing active, then the one whose turn it is;
 * of a user's own the one with the highest priority, then the oldest. */
static bool comes_before(const hac_job *a, const hac_job *b)
{
    bool none_a = a->user->active_jobs == 0, none_b = b->user->active_jobs == 0;
    if (a->user == b->user)
        return a->priority > b->priority;
    return none_a != none_b ? none_a : a->user->turn < b->user->turn;
}

/* The next queued job. Up to ACTIVE_MAX are active, and one of every user, however many others have. */
static hac_job *next_in_queue(hac_server *server)
{
    hac_job *best = NULL, *job = NULL;
    hac_list_for_each (job, &server->queued, hac_job, turn) {
        if (job->restart && job->user->active_jobs > 0)
            continue; /* waits for memory */
        if (job->user->jobs_alone > 0 && !job->alone)
            continue; /* another one does */
        if (job->kind->measures && hac_builders_urgent(&server->builders))
            continue;
        if (server->n_active >= ACTIVE_MAX && job->user->active_jobs > 0)
            continue;
        if (best == NULL || comes_before(job, best))
            best = job;
    }
    return best;
}

/* Behind the last active job of the same or a higher priority. */
static void take_place(hac_job *job)
{
    hac_list_remove(&job->turn);
    hac_link *at = job->server->active.previous;
    while (at != &job->server->active && hac_container_of(at, hac_job, turn)->priority < job->priority)
        at = at->previous;
    hac_list_append(at->next, &job->turn);
}

static void activate(hac_job *job)
{
    double least = hac_turns_least(&job->server->users);
    take_place(job);
    job->active = true;
    if (job->user->active_jobs++ == 0)
        hac_user_come(job->user, least);
    job->server->n_active++;
    if (job->kind->measures)
        hac_builders_set_quiet(&job->server->builders, true);
    advance(job);
}

static void serve_user(hac_server *server, const hac_user *user)
{
    hac_job *job = NULL;
    hac_list_for_each (job, &server->active, hac_job, turn) {
        if (job->user != user)
            continue;
        unsigned before = job->run.n_in_flight;
        hand_out(job);
        if (job->run.n_in_flight > before)
            take_place(job); /* it has had its turn */
        settle(job);
    }
}

void hac_scheduler_kick(hac_server *server)
{
    if (server->probing)
        return;
    while (!hac_list_empty(&server->queued)) {
        hac_job *job = next_in_queue(server);
        if (job == NULL)
            break;
        activate(job);
    }
    hac_turns_begin(&server->users);
    for (hac_user *user = hac_turns_next(&server->users); user != NULL; user = hac_turns_next(&server->users))
        serve_user(server, user);
    hac_turns_end(&server->users);
    hac_executors_flush(&server->executors);
}

/* ---- what came of it -------------------------------------------------------------------------------- */

static void record(hac_job *job, const hac_dispatch *dispatch, double seconds, bool lost,
                   const Hac__Executor__Done *done)
{
    hac_run *run = &job->run;
    if (run->n_records == HAC_JOB_RECORDS_MAX)
        return;
    if ((run->n_records & (run->n_records - 1)) == 0) { /* full at every power of two */
        size_t room = run->n_records == 0 ? 1 : run->n_records * 2;
        hac_run_record *records = reallocarray(run->records, room, sizeof *records);
        if (records == NULL)
            return;
        run->records = records;
    }
    uint64_t end = hac_now_ns();
    double end_seconds = (double)(end - run->started_ns) * 1e-9;
    double start = end_seconds > seconds ? end_seconds - seconds : 0; /* arrival less duration */
    hac_run_end_earlier(run, dispatch->plan_device, start);
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
    };
    hac_splice_buffers_stages(job->plan, done, &run->records[run->n_records - 1]);
}

/* Page faults, too, are better known than nothing; but not among figures without: a device alone would seem
 * slower than it is beside others. */
static bool may_teach(const hac_job *job, const hac_dispatch *dispatch, const hac_plan_task *task,
                      const char *device_key)
{
    if (job->run.tasks[dispatch->task].by_host >> dispatch->plan_device & 1)
        return false; /* the model is its kernels' */
    if (dispatch->cold || (dispatch->together && (dispatch->fresh || hac_job_is_given_up(job))))
        return false;
    return !dispatch->fresh || hac_model_predict(job->server->models, device_key, hac_task_model(task),
                                                 task->type, dispatch->units, false)
                                       .samples == 0;
}

static void learn(hac_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    hac_server *server = job->server;
    uint32_t device = hac_job_device(job, dispatch->plan_device);
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    const char *key = server->devices.items[device]->key;
    server->device_busy[device] += done->seconds;
    if (!may_teach(job, dispatch, task, key) ||
        (job->kind->did_all != NULL && !job->kind->did_all(job, dispatch->task, done)))
        return;
    hac_model_record(server->models, key, hac_task_model(task), task->type, dispatch->units, done->seconds,
                     dispatch->together);
}

/* Whether what waits for the task may start: the job's kind may want all of it again. */
static bool ended_well(hac_job *job, uint32_t task)
{
    hac_error err = HAC_ERROR_NONE;
    hac_status status = HAC_OK;
    if (job->kind->task_ended != NULL && job->code == HAC_OK)
        status = job->kind->task_ended(job, task, &err);
    if (status == HAC_OK)
        return true;
    if (status == HAC_AGAIN) {
        hac_run_redo(&job->run, task);
        return false;
    }
    job->code = err.code;
    snprintf(job->message, sizeof job->message, "%s", err.message);
    return false;
}

/* With its last piece a task has ended. */
static void end_piece(hac_job *job, const hac_dispatch *dispatch)
{
    hac_task_state *state = &job->run.tasks[dispatch->task];
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    state->done += dispatch->count;
    bool whole = task->range ? state->done >= task->count : true;
    if (whole && ended_well(job, dispatch->task))
        hac_run_end_task(&job->run, job->plan, dispatch->task);
}

static void piece_done(hac_job *job, hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    hac_task_state *state = &job->run.tasks[dispatch->task];
    const hac_plan_task *task = &job->plan->tasks[dispatch->task];
    if (job->build_started_ns != 0) {
        double waited = hac_seconds_since(job->build_started_ns);
        job->build_started_ns = 0;
        job->build_seconds += waited;
        hac_job_note(job, "kernels are built, after %.1f s", waited);
    }
    record(job, dispatch, done->seconds, false, done);
    hac_splice_buffers_add(&job->splice, job->plan->devices[dispatch->plan_device].name, task->codelet, done);
    hac_metrics_task(&job->server->metrics, job->plan->devices[dispatch->plan_device].name,
                     dispatch->predicted, done->seconds, hac_splice_values(task->codelet, done));
    learn(job, dispatch, done);
    state->busy[dispatch->plan_device] += done->seconds;
    state->units[dispatch->plan_device] += (double)dispatch->count;
    if (job->kind->task_done != NULL)
        job->kind->task_done(job, dispatch->task, done);
    end_piece(job, dispatch);
    if (job->progress)
        hac_job_send_event(job, task->stage, job->plan->devices[dispatch->plan_device].name, "");
}

static void piece_failed(hac_job *job, hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    hac_server *server = job->server;
    if (!hac_run_comes_first(&job->run, dispatch->task, dispatch->first))
        return;
    if (done->code == HAC_NOT_FOUND && done->n_needs_programs > 0) {
        hac_failures_await_programs(job, dispatch, done);
        return;
    }
    if (job->run.failed)
        job->code = HAC_OK; /* what comes behind counts no more */
    bool is_first = job->code == HAC_OK;
    if (job->kind->may_fail != NULL && job->kind->may_fail(job, dispatch->task, done)) {
        end_piece(job, dispatch);
    } else if (job->kind->task_failed != NULL && job->kind->task_failed(job, dispatch->task, done)) {
        hac_server_kick(server);
    } else if (done->code == HAC_DEVICE || done->code == HAC_NO_MEMORY || done->code == HAC_UNSUPPORTED) {
        hac_failures_refused(job, dispatch, done);
    } else {
        /* an executor that refuses what it was given was given something wrong by hacd, not by the user */
        bool invalid = done->code == HAC_INVALID && !job->kind->user_errors;
        bool ours = invalid || done->code == HAC_NOT_FOUND || done->code == HAC_PROTOCOL;
        job->code = ours ? HAC_INTERNAL : (hac_status)done->code;
        snprintf(job->message, sizeof job->message, "%s", done->message);
    }
    if (job->kind->in_order && is_first && job->code != HAC_OK)
        hac_run_fail(&job->run, job->plan, dispatch->task, dispatch->first);
}

/* A job that has ended while pieces were still in flight never gets here: jobs end with nothing in flight. */
static hac_job *land(hac_dispatch *dispatch)
{
    hac_job *job = dispatch->job;
    job->run.n_in_flight--;
    job->run.tasks[dispatch->task].in_flight--;
    hac_server_kick(job->server);
    return job;
}

/* The device's time goes to the user's account, by hacd's clock: an executor's own word is not worth much. */
static void spend(const hac_job *job, const hac_dispatch *dispatch)
{
    const hac_server_device *device = job->server->devices.items[hac_job_device(job, dispatch->plan_device)];
    hac_user_spend(job->user, dispatch->held_seconds * (device->weight > 0 ? device->weight : 1));
}

/* Whether it was left out: behind what has failed, which may be a task of another job, too. What it waits for
 * has to have ended for any other answer to count. */
static bool is_left_out(const hac_job *job, const hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    return job->run.tasks[dispatch->task].waiting_for > 0 ||
           (dispatch->behind != 0 && done->code == HAC_CANCELLED);
}

void hac_scheduler_done(void *context, hac_dispatch *dispatch, const Hac__Executor__Done *done)
{
    hac_server *server = context;
    hac_job *job = land(dispatch);
    bool left_out = is_left_out(job, dispatch, done);
    spend(job, dispatch);
    if (!left_out)
        hac_metrics_task_ended(&server->metrics, job->plan->devices[dispatch->plan_device].name, false);
    if (left_out)
        hac_run_give_back(&job->run, dispatch->task,
                          &(hac_piece){dispatch->first, dispatch->count, dispatch->attempt, 0});
    else if (done->code == HAC_OK)
        piece_done(job, dispatch, done);
    else
        piece_failed(job, dispatch, done);
    free(dispatch);
}

void hac_scheduler_lost(void *context, hac_dispatch *dispatch, const hac_loss *loss)
{
    hac_server *server = context;
    hac_job *job = land(dispatch);
    spend(job, dispatch);
    hac_metrics_task_ended(&server->metrics, job->plan->devices[dispatch->plan_device].name, true);
    if (loss->started)
        record(job, dispatch, 0, true, NULL);
    hac_failures_lost(job, dispatch, loss);
    free(dispatch);
}

bool hac_scheduler_starved(void *context)
{
    return hac_failures_starved(context);
}

/* The next executor of that slot has to be given the jobs' descriptors anew. */
void hac_scheduler_gone(void *context, unsigned slot)
{
    hac_server *server = context;
    hac_job *job = NULL;
    hac_list_for_each (job, &server->jobs, hac_job, link)
        for (size_t d = 0; d < job->n_descriptors; d++)
            job->descriptors[d].executors &= ~(UINT64_C(1) << slot);
}

void hac_scheduler_changed(void *context)
{
    hac_server_kick(context);
}
