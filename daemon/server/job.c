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
#include "scheduler.h"
#include "server.h"
#include "session.h"

#define ENDED_MAX           512 /* records of ended jobs that are kept although nobody need ask for them … */
#define LEFT_MAX            1024 /* … and of detached ones, whose client may come to see how they ended */
#define EXPIRE_STEP         128
#define KEPT_PLAN_TASKS_MAX 4096 /* larger plans are dropped when their job has ended */
#define EVENT_INTERVAL_NS   UINT64_C(100000000)

hac_status hac_job_new(hac_server *server, const hac_job_kind *kind, hac_user *user, hac_job **ret,
                       hac_error *err)
{
    hac_autofree hac_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_user_charge(user, HAC_SLOT_JOBS, 1, err);
    if (status != HAC_OK)
        return status;
    job->counted = true;
    job->server = server;
    job->kind = kind;
    job->id = server->next_job++;
    job->user = user;
    job->log_room = HAC_JOB_LOG_MAX;
    job->submitted_ns = hac_now_ns();
    job->submitted_at = time(NULL);
    hac_list_init(&job->waiters);
    hac_list_init(&job->readers);
    hac_list_init(&job->turn);
    hac_list_init(&job->answering);
    hac_user_ref(user);
    hac_list_append(&server->jobs, &job->link);
    server->n_jobs++;
    *ret = hac_steal_ptr(job);
    return HAC_OK;
}

static hac_status grow_descriptors(hac_job *job, size_t n, hac_error *err)
{
    hac_job_descriptor *grown = reallocarray(job->descriptors, n, sizeof *job->descriptors);
    if (grown == NULL)
        return hac_fail_no_memory(err);
    job->descriptors = grown;
    while (job->n_descriptors < n)
        job->descriptors[job->n_descriptors++] = (hac_job_descriptor){.fd = -1};
    return HAC_OK;
}

hac_status hac_job_put_descriptor(hac_job *job, size_t index, int fd, hac_error *err)
{
    if (index >= HAC_JOB_DESCRIPTORS_MAX)
        return hac_fail(err, HAC_REFUSED, "a job has at most %d files", HAC_JOB_DESCRIPTORS_MAX);
    hac_status status = index < job->n_descriptors ? HAC_OK : grow_descriptors(job, index + 1, err);
    if (status == HAC_OK)
        status = hac_pool_charge(job->user, HAC_SLOT_DESCRIPTORS, 1, err);
    if (status == HAC_OK)
        job->descriptors[index] = (hac_job_descriptor){.fd = fd};
    return status;
}

uint64_t hac_job_descriptor_id(const hac_job *job, size_t index)
{
    return job->id * HAC_JOB_DESCRIPTORS_MAX + index; /* ids begin at 1 */
}

void hac_job_drop_descriptor(hac_job *job, size_t index)
{
    hac_job_descriptor *descriptor = index < job->n_descriptors ? &job->descriptors[index] : NULL;
    if (descriptor == NULL || descriptor->fd < 0)
        return;
    for (unsigned i = 0; i < HAC_EXECUTORS_MAX; i++) {
        hac_executor *executor = job->server->executors.slots[i];
        if (executor != NULL && (descriptor->executors & (UINT64_C(1) << i)))
            hac_executor_forget_descriptor(executor, hac_job_descriptor_id(job, index));
    }
    hac_closing_close((hac_closing){job->server->closer, job->user->uid}, descriptor->fd);
    hac_user_release(job->user, HAC_SLOT_DESCRIPTORS, 1);
    *descriptor = (hac_job_descriptor){.fd = -1};
}

static void close_descriptors(hac_job *job)
{
    for (size_t d = 0; d < job->n_descriptors; d++)
        hac_job_drop_descriptor(job, d);
    free(job->descriptors);
    job->descriptors = NULL;
    job->n_descriptors = 0;
}

hac_status hac_job_charge_inline(hac_job *job, uint64_t bytes, hac_error *err)
{
    hac_status status = hac_pool_charge(job->user, HAC_SLOT_MEMORY, bytes, err);
    if (status == HAC_OK)
        job->charged_inline += bytes;
    return status;
}

static void release_inline(hac_job *job)
{
    hac_user_release(job->user, HAC_SLOT_MEMORY, job->charged_inline);
    job->charged_inline = 0;
}

/* Counted until released: a job that waits or runs, and one whose result its client may still fetch. */
static void stop_counting(hac_job *job)
{
    if (job->counted)
        hac_user_release(job->user, HAC_SLOT_JOBS, 1);
    job->counted = false;
    release_inline(job);
}

/* Kept until it is old or released, however many there are: of these the memory is counted. */
static bool holds_result(const hac_job *job)
{
    return job->result != NULL || job->result_data != NULL;
}

void hac_job_release_shared(hac_job *job)
{
    for (size_t i = 0; i < HAC_PLAN_MAX_BUFFERS; i++)
        hac_pool_clear(&job->shared[i]);
}

static void release_inputs(hac_job *job)
{
    close_descriptors(job);
    hac_pool_clear(&job->input);
    hac_pool_clear(&job->payload);
    hac_job_release_shared(job);
    free(job->data);
    job->data = NULL;
}

void hac_job_clear_run(hac_job *job)
{
    hac_run *run = &job->run;
    for (size_t i = 0; i < HAC_PLAN_MAX_BUFFERS; i++)
        hac_pool_clear(&run->buffers[i]);
    hac_run_clear(run, job->plan);
}

/* Seconds from the job's start to that of its current plan. */
static double plan_start(const hac_job *job)
{
    return job->run.started_ns > job->started_ns ? (double)(job->run.started_ns - job->started_ns) * 1e-9 : 0;
}

/* What was recorded of the current plan is its past now. */
static void pass_by(hac_job *job)
{
    if (job->plan != NULL)
        hac_past_add(&job->past, job->plan, job->run.records, job->run.n_records, plan_start(job));
    job->run.n_records = 0;
}

hac_status hac_job_trace(const hac_job *job, const char *name, char **ret, hac_error *err)
{
    return hac_trace_to_json(&job->past, job->plan, plan_start(job), job->run.records, job->run.n_records,
                             name, ret, err);
}

void hac_job_add_earlier(hac_job *job, double seconds)
{
    if (job->earlier == NULL)
        job->earlier = calloc(HAC_DEVICE_PLACES, sizeof *job->earlier);
    job->earlier_seconds += seconds;
    job->earlier_predicted += job->plan->predicted_seconds;
    for (size_t i = 0; job->earlier != NULL && i < job->run.n_records; i++) {
        const hac_run_record *r = &job->run.records[i];
        hac_device_use *use = &job->earlier[job->plan->devices[r->device].machine_index];
        use->busy += r->seconds;
        use->predicted += r->predicted_seconds;
        use->pieces += !r->lost;
        use->lost += r->lost;
    }
    pass_by(job);
}

void hac_job_set_plan(hac_job *job, hac_plan *plan)
{
    hac_job_clear_run(job);
    pass_by(job);
    free(job->run.records);
    job->run.records = NULL;
    hac_plan_free(job->plan);
    job->plan = plan;
}

static void drop_waiters(hac_link *waiters)
{
    while (!hac_list_empty(waiters)) {
        hac_waiter *waiter = hac_container_of(waiters->next, hac_waiter, link);
        hac_list_remove(&waiter->link);
        free(waiter);
    }
}

void hac_job_answer_later(hac_job *job)
{
    hac_list_remove(&job->answering);
    hac_list_append(&job->server->answering, &job->answering);
}

void hac_jobs_answer(hac_server *server)
{
    while (!hac_list_empty(&server->answering)) {
        hac_job *job = hac_container_of(server->answering.next, hac_job, answering);
        hac_list_remove(&job->answering);
        job->kind->answer(job);
    }
}

void hac_job_free(hac_job *job)
{
    if (job == NULL)
        return;
    if (hac_job_ended(job)) {
        job->server->n_ended--;
        job->user->ended_jobs--;
    }
    stop_counting(job);
    drop_waiters(&job->waiters);
    drop_waiters(&job->readers);
    release_inputs(job);
    hac_job_clear_run(job);
    free(job->run.records);
    hac_pool_clear(&job->result);
    if (job->kind->free_state != NULL)
        job->kind->free_state(job);
    hac_plan_free(job->plan);
    free(job->earlier);
    hac_past_clear(&job->past);
    hac_splice_buffers_clear(&job->splice);
    free(job->result_data);
    free(job->text);
    hac_text_clear(&job->log);
    hac_list_remove(&job->turn);
    hac_list_remove(&job->answering);
    hac_list_remove(&job->link);
    job->server->n_jobs--;
    hac_user_unref(job->user);
    free(job);
}

void hac_job_submit(hac_job *job)
{
    hac_list_append(&job->server->queued, &job->turn);
    if (job->deadline_seconds > 0)
        hac_server_watch_deadlines(job->server);
    hac_server_kick(job->server);
}

bool hac_job_ended(const hac_job *job)
{
    return job->state >= HAC_JOB_DONE;
}

hac_status hac_waiter_add(hac_link *waiters, hac_session *session, uint64_t serial, hac_error *err)
{
    if (session->pending >= HAC_SESSION_PENDING_MAX)
        return hac_fail(err, HAC_REFUSED, "this connection already waits for %u answers", session->pending);
    hac_waiter *waiter = calloc(1, sizeof *waiter);
    if (waiter == NULL)
        return hac_fail_no_memory(err);
    session->pending++;
    waiter->session = session;
    waiter->serial = serial;
    hac_list_append(waiters, &waiter->link);
    return HAC_OK;
}

void hac_job_cancel(hac_job *job, const char *why)
{
    if (hac_job_ended(job) || job->cancelling)
        return;
    job->cancelling = true;
    snprintf(job->message, sizeof job->message, "%s", why);
    hac_job_note(job, "%s; %u tasks are in flight and end first", why, job->run.n_in_flight);
    if (!job->active)
        hac_job_finish(job, HAC_JOB_CANCELLED, HAC_CANCELLED, why);
    else
        hac_server_kick(job->server);
}

void hac_job_fail(hac_job *job, const char *why)
{
    if (hac_job_ended(job) || job->cancelling || job->code != HAC_OK)
        return;
    hac_job_note(job, "%s; %u tasks are in flight and end first", why, job->run.n_in_flight);
    if (!job->active) {
        hac_job_finish(job, HAC_JOB_FAILED, HAC_FAILED, why);
        return;
    }
    job->code = HAC_FAILED;
    snprintf(job->message, sizeof job->message, "%s", why);
    hac_server_kick(job->server);
}

bool hac_job_seeks_failure(const hac_job *job)
{
    const hac_run *run = &job->run;
    return job->code != HAC_OK && run->failed && !job->cancelling && !run->broken && !run->replan &&
           hac_job_time_left(job) > 0 && hac_run_has_earlier(run, job->plan);
}

bool hac_job_is_given_up(const hac_job *job)
{
    return (job->code != HAC_OK && !hac_job_seeks_failure(job)) || job->cancelling || job->run.broken ||
           job->run.replan;
}

double hac_job_time_left(const hac_job *job)
{
    if (hac_job_ended(job) || job->deadline_seconds <= 0)
        return INFINITY;
    return job->deadline_seconds - hac_job_seconds(job);
}

void hac_job_fail_late(hac_job *job)
{
    char message[96];
    snprintf(message, sizeof message, "its deadline of %g s has passed", job->deadline_seconds);
    hac_job_fail(job, message);
}

hac_job *hac_job_find(hac_server *server, uint64_t id)
{
    hac_job *job = NULL;
    hac_list_for_each_back (job, &server->jobs, hac_job, link) /* mostly one of the newest is meant */
        if (job->id <= id)
            return job->id == id ? job : NULL;
    return NULL;
}

uint64_t hac_job_memory(const hac_job *job)
{
    uint64_t bytes = job->result != NULL ? job->result->bytes : 0;
    bytes += job->input != NULL ? job->input->bytes : 0;
    bytes += job->payload != NULL ? job->payload->bytes : 0;
    for (size_t i = 0; i < HAC_PLAN_MAX_BUFFERS; i++) {
        const hac_pool_buffer *buffer = job->run.buffers[i];
        bool again =
            buffer == NULL || buffer == job->input || buffer == job->payload || buffer == job->result;
        for (size_t before = 0; before < i && !again; before++)
            again = job->run.buffers[before] == buffer;
        bytes += again ? 0 : buffer->bytes;
    }
    return bytes;
}

const char *hac_job_flow(const hac_job *job)
{
    return job->sorts_rows ? "sort" : job->kind->flow;
}

const char *hac_job_state_name(hac_job_state state)
{
    static const char *const names[] = {"queued", "planned", "running", "done", "failed", "cancelled"};
    return names[state];
}

double hac_job_fraction(const hac_job *job)
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

uint32_t hac_job_allowed_devices(const hac_job *job)
{
    uint32_t all = (uint32_t)((UINT64_C(1) << job->server->devices.count) - 1);
    return (job->device_mask != 0 ? job->device_mask : all) & ~job->excluded;
}

double hac_job_seconds(const hac_job *job)
{
    uint64_t end = hac_job_ended(job) ? job->ended_ns : hac_now_ns();
    return (double)(end - job->submitted_ns) * 1e-9;
}

void hac_job_note(hac_job *job, const char *fmt, ...)
{
    if (job->log.bytes > job->log_room)
        return;
    char line[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    hac_text_addf(&job->log, "%10.3f ms  %s\n", hac_job_seconds(job) * 1e3, line);
    if (job->log.bytes > job->log_room)
        hac_text_add(&job->log, "               (further lines are left out)\n");
}

/* ---- telling the client ------------------------------------------------------------------------------ */

void hac_job_send_event(hac_job *job, const char *stage, const char *device, const char *note)
{
    uint64_t now = hac_now_ns();
    if (job->owner == NULL || !job->progress)
        return;
    if (note[0] == '\0' && now - job->last_event_ns < EVENT_INTERVAL_NS)
        return;
    job->last_event_ns = now;
    double elapsed = job->started_ns != 0 ? (double)(now - job->started_ns) * 1e-9 : 0;
    double fraction = hac_job_fraction(job);
    Hac__Client__JobEvent event = HAC__CLIENT__JOB_EVENT__INIT;
    event.job = job->id;
    event.state = (Hac__Client__JobState)job->state;
    event.fraction = fraction;
    event.stage = (char *)(uintptr_t)(stage != NULL ? stage : "");
    event.device = (char *)(uintptr_t)(device != NULL ? device : "");
    event.items_per_second = elapsed > 0 ? (double)job->spec.items * fraction / elapsed : 0;
    event.eta_seconds = fraction > 0.02 ? elapsed * (1 - fraction) / fraction
                                        : (job->plan != NULL ? job->plan->predicted_seconds : -1);
    char so_far[128] = "";
    if (job->kind->progress != NULL) {
        event.eta_seconds = -1;
        job->kind->progress(job, elapsed, &event.items_per_second, so_far, sizeof so_far);
    }
    event.note = (char *)(uintptr_t)(note[0] != '\0' ? note : so_far);
    Hac__Client__Response response = HAC__CLIENT__RESPONSE__INIT;
    response.what_case = HAC__CLIENT__RESPONSE__WHAT_EVENT;
    response.event = &event;
    hac_session_send(job->owner, &response, NULL, 0);
}

/* All of them; while the output is being written, its writer. */
static void answer_waiters(hac_job *job)
{
    hac_waiter *waiter = NULL;
    hac_list_for_each (waiter, &job->waiters, hac_waiter, link) {
        if (job->writer != NULL && waiter->session != job->writer)
            continue;
        hac_list_remove(&waiter->link);
        waiter->session->pending--;
        hac_session_send_done(waiter->session, waiter->serial, job);
        free(waiter);
    }
}

/* ---- the end ----------------------------------------------------------------------------------------- */

/* What is kept inline is charged as far as the user's limit goes: it is there already. */
static void charge_inline_result(hac_job *job)
{
    release_inline(job);
    uint64_t room = hac_user_room(job->user, HAC_SLOT_MEMORY, 0, 0);
    uint64_t bytes = job->result_data_bytes < room ? job->result_data_bytes : room;
    hac_log_subject about = {job->user->uid, job->id, NULL};
    if (hac_job_charge_inline(job, bytes, NULL) != HAC_OK)
        hac_log_record(HAC_LOG_ERROR, HAC_EVENT_OTHER, &about, "job %llu: its inline result is not counted",
                       (unsigned long long)job->id);
}

static void keep_result(hac_job *job)
{
    if (job->state != HAC_JOB_DONE || job->plan == NULL || !job->kind->has_result)
        return;
    int index = job->plan->result_buffer;
    if (job->spec.inline_data || index < 0 || job->run.buffers[index] == NULL)
        return;
    job->result = job->run.buffers[index];
    hac_pool_hold(job->result);
    if (!job->kind->sets_result_bytes)
        job->result_bytes = hac_scheduler_result_bytes(job);
}

void hac_job_set_alone(hac_job *job, bool alone)
{
    if (job->alone == alone)
        return;
    job->alone = alone;
    job->user->jobs_alone = alone ? job->user->jobs_alone + 1 : job->user->jobs_alone - 1;
}

static void count_end(hac_job *job)
{
    hac_server *server = job->server;
    hac_job_set_alone(job, false);
    server->n_ended++;
    job->user->ended_jobs++;
    if (job->active) {
        job->user->active_jobs--;
        server->n_active--;
    }
    job->active = false;
    if (job->kind->measures && !server->draining)
        hac_builders_set_quiet(&server->builders, false);
    server->idle_since_ns = job->ended_ns;
}

static void log_failure(const hac_job *job)
{
    if (job->state != HAC_JOB_FAILED)
        return;
    hac_log_subject about = {job->user->uid, job->id, NULL};
    hac_log_record(HAC_LOG_INFO, HAC_EVENT_JOB_FAILED, &about, "job %llu of uid %u failed: %s",
                   (unsigned long long)job->id, job->user->uid, job->message);
}

/* Counts and logs the end, once, when it is known for good. */
static void say_end(hac_job *job)
{
    if (!hac_job_ended_for_all(job) || job->ended_said)
        return;
    job->ended_said = true;
    hac_metrics_job_ended(&job->server->metrics, job);
    log_failure(job);
}

void hac_job_finish(hac_job *job, hac_job_state state, hac_status code, const char *message)
{
    assert(!hac_job_ended(job) && job->run.n_in_flight == 0);
    char text[HAC_ERROR_MESSAGE_SIZE];
    snprintf(text, sizeof text, "%s", message);      /* may be job->message itself */
    if (job->unwritten && state != HAC_JOB_FAILED) { /* whatever it then did: that is why it ends */
        state = HAC_JOB_FAILED;
        code = job->unwritten_error.code;
        snprintf(text, sizeof text, "%s", job->unwritten_error.message);
    }
    job->state = state;
    job->code = code;
    memcpy(job->message, text, sizeof job->message);
    job->ended_ns = hac_now_ns();
    count_end(job);
    keep_result(job);
    hac_list_remove(&job->turn);
    if (job->kind->ended != NULL)
        job->kind->ended(job);
    hac_metrics_job(&job->server->metrics, job);
    say_end(job);
    release_inputs(job);
    hac_job_clear_run(job);
    if (job->plan != NULL && job->plan->n_tasks > KEPT_PLAN_TASKS_MAX) {
        hac_plan_free(job->plan);
        job->plan = NULL;
    }
    if (job->quick && job->owner != NULL)
        hac_session_send_done(job->owner, job->serial, job);
    answer_waiters(job);
    bool unwanted = job->owner == NULL && !job->detached;
    if (unwanted || job->quick) /* nobody is there, or has it already */
        hac_job_release_result(job);
    else if (!holds_result(job))
        stop_counting(job);
    else
        charge_inline_result(job);
    hac_server_kick(job->server);
}

/* ---- an output that the client writes -------------------------------------------------------------------
 */

bool hac_job_ended_for_all(const hac_job *job)
{
    return hac_job_ended(job) && job->writer == NULL;
}

hac_job_state hac_job_state_for_all(const hac_job *job)
{
    return hac_job_ended(job) && job->writer != NULL ? HAC_JOB_RUNNING : job->state;
}

hac_status hac_job_output_begin(hac_job *job, hac_session *session, hac_error *err)
{
    if (job->owner != session || job->writer != NULL)
        return hac_fail(err, HAC_INVALID, "the output of job %llu is not this connection's to write",
                        (unsigned long long)job->id);
    job->writer = session;
    hac_job_note(job, "its client writes the output itself");
    return HAC_OK;
}

/* It was done, or was cancelled because of this. A job that was counted before its client began to write
 * stays counted as what it was then: no job is counted twice. */
static void become_failed(hac_job *job, const hac_error *failure)
{
    job->state = HAC_JOB_FAILED;
    job->code = failure->code;
    snprintf(job->message, sizeof job->message, "%s", failure->message);
    if (job->ended_said)
        log_failure(job);
}

static void end_output(hac_job *job, const hac_error *failure)
{
    job->writer = NULL;
    bool cancelled = failure != NULL && failure->code == HAC_CANCELLED;
    if (failure != NULL)
        hac_job_note(job, "its output is not written: %s", failure->message);
    if (failure != NULL && !hac_job_ended(job)) {
        job->unwritten = !cancelled;
        job->unwritten_error = *failure;
        hac_job_cancel(job, failure->message);
    } else if (failure != NULL && cancelled && job->state == HAC_JOB_DONE) {
        job->state = HAC_JOB_CANCELLED;
        job->code = HAC_CANCELLED;
        snprintf(job->message, sizeof job->message, "%s", failure->message);
    } else if (failure != NULL && !cancelled && job->state != HAC_JOB_FAILED) {
        become_failed(job, failure);
    }
    if (!hac_job_ended(job))
        return;
    say_end(job);
    answer_waiters(job);
}

hac_status hac_job_output_end(hac_job *job, hac_session *session, const hac_error *failure, hac_error *err)
{
    if (job->writer != session)
        return hac_fail(err, HAC_INVALID, "the output of job %llu is not this connection's to write",
                        (unsigned long long)job->id);
    end_output(job, failure);
    return HAC_OK;
}

/* A job that has not ended is cancelled as any other whose client is gone. */
static void writer_is_gone(hac_job *job)
{
    hac_error err = HAC_ERROR_NONE;
    (void)hac_fail(&err, HAC_FAILED, "its client is gone, and had not written all of the output");
    if (hac_job_ended(job))
        end_output(job, &err);
    job->writer = NULL;
}

void hac_jobs_session_closed(hac_server *server, hac_session *session)
{
    hac_job *job = NULL;
    hac_list_for_each (job, &server->jobs, hac_job, link) {
        hac_waiter *waiter = NULL;
        hac_list_for_each (waiter, &job->waiters, hac_waiter, link) {
            if (waiter->session == session) {
                hac_list_remove(&waiter->link);
                free(waiter);
            }
        }
        hac_job_remove_reader(job, session);
        if (job->writer == session)
            writer_is_gone(job);
        if (job->owner != session)
            continue;
        job->owner = NULL;
        if (job->detached)
            continue;
        if (hac_job_ended(job))
            hac_job_release_result(job);
        else
            hac_job_cancel(job, "its client is gone");
    }
}

void hac_job_release_result(hac_job *job)
{
    if (job->result_bytes == 0)
        job->result_bytes = job->result_data_bytes; /* how much is gone */
    free(job->result_data);
    job->result_data = NULL;
    job->result_data_bytes = 0;
    job->released = true;
    job->owner = NULL;
    if (!hac_list_empty(&job->readers)) /* the buffer would be another job's under their eyes */
        return;
    hac_pool_clear(&job->result);
    stop_counting(job);
}

static hac_waiter *find_reader(hac_job *job, const hac_session *session)
{
    hac_waiter *reader = NULL;
    hac_list_for_each (reader, &job->readers, hac_waiter, link)
        if (reader->session == session)
            return reader;
    return NULL;
}

void hac_job_add_reader(hac_job *job, hac_session *session)
{
    if (find_reader(job, session) != NULL)
        return;
    hac_waiter *reader = calloc(1, sizeof *reader);
    if (reader == NULL) { /* nobody knows when it has read it: it stays until it expires */
        hac_pool_hold(job->result);
        return;
    }
    reader->session = session;
    hac_list_append(&job->readers, &reader->link);
}

void hac_job_remove_reader(hac_job *job, const hac_session *session)
{
    hac_waiter *reader = find_reader(job, session);
    if (reader == NULL)
        return;
    hac_list_remove(&reader->link);
    free(reader);
    if (job->released)
        hac_job_release_result(job);
}

/* A detached job that has no result, because it failed or was cancelled: its client is still to be told. */
static bool is_left(const hac_job *job)
{
    return job->detached && !job->released;
}

/* Records without a result that are too many, of both kinds. Results do not count: however many wait for
 * their clients, how another job ended can be asked. */
static void count_excess(const hac_server *server, unsigned ret_excess[2])
{
    unsigned count[2] = {0, 0};
    hac_job *job = NULL;
    hac_list_for_each (job, &server->jobs, hac_job, link)
        count[is_left(job)] += hac_job_ended(job) && !holds_result(job);
    ret_excess[0] = count[0] > ENDED_MAX ? count[0] - ENDED_MAX : 0;
    ret_excess[1] = count[1] > LEFT_MAX ? count[1] - LEFT_MAX : 0;
}

void hac_jobs_expire(hac_server *server)
{
    uint64_t now = hac_now_ns(), n_users = 0;
    hac_user *user = NULL;
    hac_list_for_each (user, &server->users.list, hac_user, link)
        n_users += user->ended_jobs > 0;
    unsigned excess[2];
    hac_job *job = NULL;
    count_excess(server, excess);
    hac_list_for_each (job, &server->jobs, hac_job, link) { /* the oldest first */
        if (!hac_job_ended_for_all(job))
            continue;
        bool old = job->owner == NULL && (double)(now - job->ended_ns) * 1e-9 > server->config.result_expiry;
        /* nobody's records go because another user has many */
        bool many = (uint64_t)job->user->ended_jobs * n_users > ENDED_MAX;
        bool spare = many && !holds_result(job) && excess[is_left(job)] > 0;
        if (spare)
            excess[is_left(job)]--;
        if (old || spare)
            hac_job_free(job);
    }
    /* What is left now stays for a while: not looked through again with every turn of the loop. */
    server->expire_above = server->n_ended + EXPIRE_STEP;
}
