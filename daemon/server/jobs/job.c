/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "executors/start_costs.h"
#include "plan_buffers.h"

/* records of ended jobs that are kept although their clients have heard of the end */
#define ENDED_MAX           512
#define LEFT_MAX            1024 /* records of detached jobs, whose clients may still ask how they ended */
#define UNSAVED_MAX         2048 /* so many records of ended jobs may wait in memory until they are saved */
#define EXPIRE_STEP         128
#define KEPT_PLAN_TASKS_MAX 4096 /* larger plans are dropped when their job has ended */

hac_status hacd_job_new(hac_jobs *jobs, const hacd_job_kind *kind, hac_user *user, hacd_job **ret,
                        hac_error *err)
{
    hac_autofree hacd_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_user_charge(user, HAC_SLOT_JOBS, 1, err);
    if (status != HAC_OK)
        return status;
    job->counted = true;
    job->jobs = jobs;
    job->kind = kind;
    job->flow = kind->flow;
    job->id = jobs->next_id++;
    job->user = user;
    job->log_capacity = HAC_JOB_LOG_MAX;
    job->submitted_ns = hac_now_ns();
    job->submitted_at = time(NULL);
    hac_list_init(&job->waiters);
    hac_list_init(&job->readers);
    hac_list_init(&job->turn);
    hac_list_init(&job->answering);
    hac_user_ref(user);
    hac_list_append(&jobs->list, &job->link);
    jobs->n_jobs++;
    *ret = hac_steal_ptr(job);
    return HAC_OK;
}

static hac_status grow_descriptors(hacd_job *job, size_t n, hac_error *err)
{
    hacd_job_descriptor *grown = reallocarray(job->descriptors, n, sizeof *job->descriptors);
    if (grown == NULL)
        return hac_fail_no_memory(err);
    job->descriptors = grown;
    while (job->n_descriptors < n)
        job->descriptors[job->n_descriptors++] = (hacd_job_descriptor){.fd = -1};
    return HAC_OK;
}

hac_status hacd_job_put_descriptor(hacd_job *job, size_t index, int fd, hac_error *err)
{
    if (index >= HAC_JOB_DESCRIPTORS_MAX)
        return hac_fail(err, HAC_REFUSED, "a job has at most %d files", HAC_JOB_DESCRIPTORS_MAX);
    hac_status status = index < job->n_descriptors ? HAC_OK : grow_descriptors(job, index + 1, err);
    if (status == HAC_OK)
        status = hac_pool_charge(job->user, HAC_SLOT_DESCRIPTORS, 1, err);
    if (status == HAC_OK)
        job->descriptors[index] = (hacd_job_descriptor){.fd = fd};
    return status;
}

hac_status hacd_job_put_path(hacd_job *job, size_t index, const uint8_t *path, size_t bytes, hac_error *err)
{
    if (index >= job->n_paths && bytes == 0)
        return HAC_OK;
    if (index >= job->n_paths) {
        hacd_job_path *grown = reallocarray(job->paths, index + 1, sizeof *grown);
        if (grown == NULL)
            return hac_fail_no_memory(err);
        job->paths = grown;
        while (job->n_paths <= index)
            job->paths[job->n_paths++] = (hacd_job_path){.data = NULL};
    }
    uint8_t *copy = bytes > 0 ? malloc(bytes) : NULL;
    if (copy == NULL && bytes > 0)
        return hac_fail_no_memory(err);
    if (bytes > 0)
        memcpy(copy, path, bytes);
    free(job->paths[index].data);
    job->paths[index] = (hacd_job_path){copy, bytes};
    return HAC_OK;
}

static void free_paths(hacd_job *job)
{
    for (size_t i = 0; i < job->n_paths; i++)
        free(job->paths[i].data);
    free(job->paths);
    job->paths = NULL;
    job->n_paths = 0;
}

uint64_t hacd_job_descriptor_id(const hacd_job *job, size_t index)
{
    return job->id * HAC_JOB_DESCRIPTORS_MAX + index; /* ids begin at 1 */
}

void hacd_job_drop_descriptor(hacd_job *job, size_t index)
{
    hacd_job_descriptor *descriptor = index < job->n_descriptors ? &job->descriptors[index] : NULL;
    if (descriptor == NULL || descriptor->fd < 0)
        return;
    for (unsigned i = 0; i < HAC_EXECUTORS_MAX; i++) {
        hac_executor *executor = job->jobs->executors->slots[i];
        if (executor != NULL && (descriptor->executors & (UINT64_C(1) << i)))
            hac_executor_forget_descriptor(executor, hacd_job_descriptor_id(job, index));
    }
    hac_deferred_close_fd((hac_fd_owner){job->jobs->closer, job->user->number}, descriptor->fd);
    hac_user_release(job->user, HAC_SLOT_DESCRIPTORS, 1);
    *descriptor = (hacd_job_descriptor){.fd = -1};
}

static void close_descriptors(hacd_job *job)
{
    for (size_t d = 0; d < job->n_descriptors; d++)
        hacd_job_drop_descriptor(job, d);
    free(job->descriptors);
    job->descriptors = NULL;
    job->n_descriptors = 0;
}

hac_status hacd_job_charge_inline(hacd_job *job, uint64_t bytes, hac_error *err)
{
    hac_status status = hac_pool_charge(job->user, HAC_SLOT_MEMORY, bytes, err);
    if (status == HAC_OK)
        job->charged_inline += bytes;
    return status;
}

static void release_inline(hacd_job *job)
{
    hac_user_release(job->user, HAC_SLOT_MEMORY, job->charged_inline);
    job->charged_inline = 0;
}

/* A job counts while it waits or runs, and while its client may still fetch the result. */
static void stop_counting(hacd_job *job)
{
    if (job->counted)
        hac_user_release(job->user, HAC_SLOT_JOBS, 1);
    job->counted = false;
    release_inline(job);
}

/* Such a record is kept until it expires or is released. Its memory is charged, so the number of such records
 * is not limited. */
static bool holds_result(const hacd_job *job)
{
    return job->result != NULL || job->result_data != NULL;
}

static void release_inputs(hacd_job *job)
{
    close_descriptors(job);
    free_paths(job);
    hac_pool_clear(&job->input);
    free(job->data);
    job->data = NULL;
}

void hacd_job_clear_run(hacd_job *job)
{
    hacd_plan_run *run = &job->run;
    for (size_t i = 0; i < HAC_PLAN_MAX_BUFFERS; i++)
        hac_pool_clear(&run->buffers[i]);
    hac_plan_run_clear(run, job->plan);
}

/* Seconds from the job's start to the start of its current plan. */
static double plan_start(const hacd_job *job)
{
    return job->run.started_ns > job->started_ns ? (double)(job->run.started_ns - job->started_ns) * 1e-9 : 0;
}

/* Moves the records of the current plan to the history. */
static void archive_records(hacd_job *job)
{
    if (job->plan != NULL)
        hac_plan_history_add(&job->history, job->plan, job->run.records, job->run.n_records, plan_start(job));
    job->run.n_records = 0;
}

hac_status hacd_job_trace(const hacd_job *job, const char *name, char **ret, hac_error *err)
{
    return hac_trace_to_json(&job->history, job->plan, plan_start(job), job->run.records, job->run.n_records,
                             name, ret, err);
}

void hac_device_use_add(hac_device_use *use, const hac_run_record *record)
{
    use->busy += record->seconds;
    use->predicted += record->predicted_seconds;
    use->pieces += !record->lost;
    use->lost += record->lost;
    use->kernel_busy += record->by_kernels ? record->seconds : 0;
    use->kernel_pieces += record->by_kernels;
}

void hacd_job_add_earlier(hacd_job *job, double seconds)
{
    if (job->earlier.uses == NULL)
        job->earlier.uses = calloc(HAC_DEVICE_PLACES, sizeof *job->earlier.uses);
    job->earlier.seconds += seconds;
    job->earlier.predicted += job->plan->predicted_seconds;
    for (size_t i = 0; job->earlier.uses != NULL && i < job->run.n_records; i++) {
        const hac_run_record *r = &job->run.records[i];
        hac_device_use_add(&job->earlier.uses[job->plan->devices[r->device].machine_index], r);
    }
    archive_records(job);
}

void hacd_job_set_plan(hacd_job *job, hac_plan *plan)
{
    hacd_job_clear_run(job);
    archive_records(job);
    free(job->run.records);
    job->run.records = NULL;
    hac_plan_free(job->plan);
    job->plan = plan;
    hac_start_costs_add(job->jobs->executors, job->jobs->models, job->user, plan);
}

static void drop_waiters(hac_link *waiters)
{
    while (!hac_list_empty(waiters)) {
        hac_waiter *waiter = hac_container_of(waiters->next, hac_waiter, link);
        hac_list_remove(&waiter->link);
        free(waiter);
    }
}

void hacd_job_answer_later(hacd_job *job)
{
    hac_list_remove(&job->answering);
    hac_list_append(&job->jobs->answering, &job->answering);
}

void hac_jobs_answer(hac_jobs *jobs)
{
    while (!hac_list_empty(&jobs->answering)) {
        hacd_job *job = hac_container_of(jobs->answering.next, hacd_job, answering);
        hac_list_remove(&job->answering);
        job->kind->answer(job);
    }
}

void hacd_job_free(hacd_job *job)
{
    if (job == NULL)
        return;
    if (hacd_job_ended(job)) {
        job->jobs->n_ended--;
        job->user->ended_jobs--;
    }
    stop_counting(job);
    drop_waiters(&job->waiters);
    drop_waiters(&job->readers);
    release_inputs(job);
    hacd_job_clear_run(job);
    free(job->run.records);
    hac_pool_clear(&job->result);
    if (job->kind->free_state != NULL && job->kind_state != NULL)
        job->kind->free_state(job);
    free(job->kind_state);
    hac_plan_free(job->plan);
    free(job->earlier.uses);
    hac_plan_history_clear(&job->history);
    hac_splice_buffers_clear(&job->splice);
    free(job->result_data);
    free(job->text);
    hac_text_clear(&job->log);
    hac_list_remove(&job->turn);
    hac_list_remove(&job->answering);
    hac_list_remove(&job->link);
    job->jobs->n_jobs--;
    hac_user_unref(job->user);
    free(job);
}

void hac_jobs_end_by_itself(hac_jobs *jobs, const char *why)
{
    hacd_job *job = jobs->by_itself;
    if (job == NULL || job->cancelling)
        return;
    for (size_t i = 0; i < jobs->devices->count; i++)
        if ((job->device_mask >> i & 1) != 0 && jobs->devices->items[i]->calibrations > 0)
            jobs->devices->items[i]->calibrations--;
    hacd_job_cancel(job, why);
}

void hacd_job_submit(hacd_job *job)
{
    hac_jobs *jobs = job->jobs;
    hac_list_append(&jobs->queued, &job->turn);
    if (job->by_itself)
        jobs->by_itself = job;
    else
        hac_jobs_end_by_itself(jobs, "a job came");
    if (job->deadline_seconds > 0)
        job->jobs->deadlines_changed = true;
    hac_jobs_kick(job->jobs);
}

void hacd_job_wake(hacd_job *job)
{
    if (!job->waiting)
        return;
    job->waiting = false;
    hac_list_append(&job->jobs->queued, &job->turn);
    hac_jobs_kick(job->jobs);
}

bool hacd_job_ended(const hacd_job *job)
{
    return job->state >= HAC_JOB_DONE;
}

bool hacd_job_waits_for_memory(const hacd_job *job)
{
    return job->kind->waits_for_memory != NULL && job->kind->waits_for_memory(job);
}

void hacd_job_cancel(hacd_job *job, const char *why)
{
    if (hacd_job_ended(job) || job->cancelling)
        return;
    job->cancelling = true;
    snprintf(job->message, sizeof job->message, "%s", why);
    hacd_job_note(job, "%s; %u tasks are in flight and end first", why, job->run.n_in_flight);
    if (!job->active) {
        hacd_job_finish(job, HAC_JOB_CANCELLED, HAC_CANCELLED, why);
        return;
    }
    hac_executors_abandon(job->jobs->executors, job);
    hac_jobs_kick(job->jobs);
}

void hacd_job_fail(hacd_job *job, const char *why)
{
    if (hacd_job_ended(job) || job->cancelling)
        return;
    if (job->code != HAC_OK) { /* it fails already, and for that reason */
        if (!job->active || !hacd_job_is_given_up(job))
            return;
        hac_executors_abandon(job->jobs->executors, job);
        hac_jobs_kick(job->jobs);
        return;
    }
    hacd_job_note(job, "%s; %u tasks are in flight and end first", why, job->run.n_in_flight);
    if (!job->active) {
        hacd_job_finish(job, HAC_JOB_FAILED, HAC_FAILED, why);
        return;
    }
    job->code = HAC_FAILED;
    snprintf(job->message, sizeof job->message, "%s", why);
    hac_executors_abandon(job->jobs->executors, job);
    hac_jobs_kick(job->jobs);
}

bool hacd_job_seeks_failure(const hacd_job *job)
{
    const hacd_plan_run *run = &job->run;
    return job->code != HAC_OK && run->failed && !job->cancelling && !run->broken && !run->replan &&
           hacd_job_time_left(job) > 0 && hac_plan_run_has_earlier(run, job->plan);
}

bool hacd_job_is_given_up(const hacd_job *job)
{
    return (job->code != HAC_OK && !hacd_job_seeks_failure(job)) || job->cancelling || job->run.broken ||
           job->run.replan;
}

double hacd_job_time_left(const hacd_job *job)
{
    if (hacd_job_ended(job) || job->deadline_seconds <= 0)
        return INFINITY;
    return job->deadline_seconds - hacd_job_seconds(job);
}

void hacd_job_fail_late(hacd_job *job)
{
    char message[96];
    snprintf(message, sizeof message, "its deadline of %g s has passed", job->deadline_seconds);
    hacd_job_fail(job, message);
}

hacd_job *hacd_job_find(hac_jobs *jobs, uint64_t id)
{
    hacd_job *job = NULL;
    hac_list_for_each_back (job, &jobs->list, hacd_job, link) /* usually one of the newest is asked for */
        if (job->id <= id)
            return job->id == id ? job : NULL;
    return NULL;
}

uint64_t hacd_job_memory(const hacd_job *job)
{
    uint64_t bytes = job->result != NULL ? job->result->bytes : 0;
    bytes += job->input != NULL ? job->input->bytes : 0;
    for (size_t i = 0; i < HAC_PLAN_MAX_BUFFERS; i++) {
        const hac_pool_buffer *buffer = job->run.buffers[i];
        bool again = buffer == NULL || buffer == job->input || buffer == job->result;
        for (size_t before = 0; before < i && !again; before++)
            again = job->run.buffers[before] == buffer;
        bytes += again ? 0 : buffer->bytes;
    }
    return bytes;
}

const char *hacd_job_state_name(hac_job_state state)
{
    static const char *const names[] = {"queued", "planned", "running", "done", "failed", "cancelled"};
    return names[state];
}

double hacd_job_fraction(const hacd_job *job)
{
    if (job->state == HAC_JOB_DONE)
        return 1.0;
    if (job->run.total_seconds <= 0 || job->kind->progress != NULL)
        return 0.0;
    double partial = 0;
    for (size_t i = 0; job->run.tasks != NULL && i < job->run.n_ready; i++) {
        uint32_t t = job->run.ready[i];
        if (job->plan->tasks[t].count > 0)
            partial += job->plan->tasks[t].predicted_seconds * (double)job->run.tasks[t].done /
                       (double)job->plan->tasks[t].count;
    }
    double fraction = (job->run.done_seconds + partial) / job->run.total_seconds;
    return fraction > 1.0 ? 1.0 : fraction;
}

uint32_t hacd_job_allowed_devices(const hacd_job *job)
{
    uint32_t all = (uint32_t)((UINT64_C(1) << job->jobs->devices->count) - 1);
    return (job->device_mask != 0 ? job->device_mask : all) & ~job->excluded & ~job->user->resting;
}

hac_status hacd_job_check_devices(const hacd_job *job, hac_error *err)
{
    const hac_devices *devices = job->jobs->devices;
    uint32_t allowed = hacd_job_allowed_devices(job);
    hac_status status = hac_devices_check_any(devices, job->user, err);
    for (size_t i = 0; i < devices->count && status == HAC_OK; i++)
        if ((allowed >> i & 1) != 0 && hac_devices_may_use(devices, i, job->user))
            return HAC_OK;
    for (size_t i = 0; i < devices->count && status == HAC_OK; i++)
        if ((job->device_mask >> i & 1) != 0 && !hac_devices_may_use(devices, i, job->user))
            status = hac_fail(err, HAC_FAILED, "device %.64s cannot be used: %.300s",
                              devices->items[i]->config.name, hac_device_reason(devices, i, job->user));
    return status == HAC_OK ? hac_fail(err, HAC_FAILED, "no device is left that can run this job") : status;
}

double hacd_job_run_seconds(const hacd_job *job)
{
    return job->ended_ns > job->run.started_ns && job->run.started_ns != 0
               ? (double)(job->ended_ns - job->run.started_ns) * 1e-9 + job->earlier.seconds
               : job->earlier.seconds;
}

double hacd_job_seconds(const hacd_job *job)
{
    uint64_t end = hacd_job_ended(job) ? job->ended_ns : hac_now_ns();
    return (double)(end - job->submitted_ns) * 1e-9;
}

void hacd_job_note(hacd_job *job, const char *fmt, ...)
{
    if (job->log.bytes > job->log_capacity)
        return;
    char line[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    hac_utf8_copy_line(line, sizeof line, line); /* names, and lines of clients, go to others' terminals */
    hac_text_addf(&job->log, "%10.3f ms  %s\n", hacd_job_seconds(job) * 1e3, line);
    if (job->log.bytes > job->log_capacity)
        hac_text_add(&job->log, "               (further lines are left out)\n");
}

/* ---- the end ----------------------------------------------------------------------------------------- */

/* Charges an inline result as far as the user's limit goes: the memory is in use already. */
static void charge_inline_result(hacd_job *job)
{
    release_inline(job);
    uint64_t available = hac_user_available(job->user, HAC_SLOT_MEMORY, 0, 0);
    uint64_t bytes = job->result_data_bytes < available ? job->result_data_bytes : available;
    hac_log_subject about = {job->user->uid, job->id, NULL};
    if (hacd_job_charge_inline(job, bytes, NULL) != HAC_OK)
        hac_log_record(HAC_LOG_ERROR, HAC_EVENT_OTHER, &about, "job %llu: its inline result is not counted",
                       (unsigned long long)job->id);
}

static void keep_result(hacd_job *job)
{
    if (job->state != HAC_JOB_DONE || job->plan == NULL || !job->kind->has_result)
        return;
    int index = job->plan->result_buffer;
    if (job->inline_data || index < 0 || job->run.buffers[index] == NULL)
        return;
    job->result = job->run.buffers[index];
    hac_pool_hold(job->result);
    if (!job->kind->sets_result_bytes)
        job->result_bytes = hac_plan_buffers_result_bytes(job);
}

void hacd_job_set_alone(hacd_job *job, bool alone)
{
    if (job->alone == alone)
        return;
    job->alone = alone;
    job->user->jobs_alone = alone ? job->user->jobs_alone + 1 : job->user->jobs_alone - 1;
}

static void count_end(hacd_job *job)
{
    hac_jobs *jobs = job->jobs;
    hacd_job_set_alone(job, false);
    jobs->n_ended++;
    job->user->ended_jobs++;
    if (job->active) {
        job->user->active_jobs--;
        jobs->n_active--;
    }
    job->active = false;
    if (job->kind->measures && !jobs->draining)
        hac_builders_set_quiet(jobs->builders, false);
    if (job->by_itself)
        jobs->by_itself = NULL;
    else
        jobs->idle_since_ns = job->ended_ns;
}

void hacd_job_finish(hacd_job *job, hac_job_state state, hac_status code, const char *message)
{
    assert(!hacd_job_ended(job) && job->run.n_in_flight == 0);
    char text[HAC_ERROR_MESSAGE_SIZE];
    snprintf(text, sizeof text, "%s", message); /* may be job->message itself */
    /* that the output was not written is why the job ends, whatever else it did */
    if (job->unwritten && state != HAC_JOB_FAILED) {
        state = HAC_JOB_FAILED;
        code = job->unwritten_error.code;
        snprintf(text, sizeof text, "%s", job->unwritten_error.message);
    }
    job->state = state;
    job->code = code;
    memcpy(job->message, text, sizeof job->message);
    job->ended_ns = hac_now_ns();
    job->unsaved = !job->by_itself;
    count_end(job);
    keep_result(job);
    hac_list_remove(&job->turn);
    if (job->kind->ended != NULL)
        job->kind->ended(job);
    job->jobs->events.ended(job);
    release_inputs(job);
    hacd_job_clear_run(job);
    if (job->plan != NULL && job->plan->n_tasks > KEPT_PLAN_TASKS_MAX) {
        hac_plan_free(job->plan);
        job->plan = NULL;
    }
    job->jobs->events.over(job);
    bool unwanted = job->owner == NULL && !job->detached;
    if (unwanted || job->quick) /* nobody wants the result, or the client has it already */
        hacd_job_release_result(job);
    else if (!holds_result(job))
        stop_counting(job);
    else
        charge_inline_result(job);
    hac_jobs_kick(job->jobs);
}

bool hacd_job_ended_for_all(const hacd_job *job)
{
    return hacd_job_ended(job) && job->writer == NULL;
}

hac_job_state hacd_job_state_for_all(const hacd_job *job)
{
    return hacd_job_ended(job) && job->writer != NULL ? HAC_JOB_RUNNING : job->state;
}

void hacd_job_release_result(hacd_job *job)
{
    if (job->result_bytes == 0)
        job->result_bytes = job->result_data_bytes; /* says how much is gone */
    free(job->result_data);
    job->result_data = NULL;
    job->result_data_bytes = 0;
    job->released = true;
    job->owner = NULL;
    if (!hac_list_empty(&job->readers)) /* the buffer would be reused while they read it */
        return;
    hac_pool_clear(&job->result);
    stop_counting(job);
}

/* ---- all jobs ---------------------------------------------------------------------------------------- */

unsigned hac_jobs_unfinished(const hac_jobs *jobs)
{
    return jobs->n_jobs - jobs->n_ended;
}

void hac_jobs_count(const hac_jobs *jobs, unsigned *ret_running, unsigned *ret_waiting)
{
    unsigned own = jobs->by_itself != NULL, own_active = own && jobs->by_itself->active;
    *ret_running = jobs->n_active - own_active;
    *ret_waiting = hac_jobs_unfinished(jobs) - own - *ret_running;
}

void hac_jobs_kick(hac_jobs *jobs)
{
    jobs->kick = true;
}

void hac_jobs_check(hac_jobs *jobs)
{
    hacd_job *job = NULL;
    hac_list_for_each (job, &jobs->list, hacd_job, link)
        if (job->kind->check != NULL && !hacd_job_ended(job))
            job->kind->check(job);
}

/* A detached job without a result, because it failed or was cancelled. Its client has yet to ask. */
static bool is_left(const hacd_job *job)
{
    return job->detached && !job->released;
}

/* The number of records without a result beyond the limits, of both kinds. Results do not count, so however
 * many results wait for clients, the end of another job can be asked for. */
static void count_excess(const hac_jobs *jobs, unsigned ret_excess[2])
{
    unsigned count[2] = {0, 0};
    hacd_job *job = NULL;
    hac_list_for_each (job, &jobs->list, hacd_job, link)
        count[is_left(job)] += hacd_job_ended(job) && !holds_result(job);
    ret_excess[0] = count[0] > ENDED_MAX ? count[0] - ENDED_MAX : 0;
    ret_excess[1] = count[1] > LEFT_MAX ? count[1] - LEFT_MAX : 0;
}

void hac_jobs_expire(hac_jobs *jobs)
{
    uint64_t now = hac_now_ns(), n_users = 0;
    hac_user *user = NULL;
    hac_list_for_each (user, &jobs->users->list, hac_user, link)
        n_users += user->ended_jobs > 0;
    unsigned excess[2];
    hacd_job *job = NULL;
    count_excess(jobs, excess);
    hac_list_for_each (job, &jobs->list, hacd_job, link) { /* the oldest first */
        if (!hacd_job_ended_for_all(job))
            continue;
        bool old = job->owner == NULL && (double)(now - job->ended_ns) * 1e-9 > jobs->result_expiry;
        /* one user's many records do not push out another user's */
        bool many = (uint64_t)job->user->ended_jobs * n_users > ENDED_MAX;
        bool spare = many && !holds_result(job) && excess[is_left(job)] > 0 &&
                     ((!job->unsaved && !job->saving) || jobs->n_ended > UNSAVED_MAX);
        if (spare)
            excess[is_left(job)]--;
        if (old || spare)
            hacd_job_free(job);
    }
    /* What is left now will stay for a while: no need to look through it again in every turn of the loop. */
    jobs->expire_above = jobs->n_ended + EXPIRE_STEP;
}
