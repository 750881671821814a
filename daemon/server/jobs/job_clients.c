/* SPDX-License-Identifier: Apache-2.0 */
#include "job_clients.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "job_metrics.h"

#define EVENT_INTERVAL_NS UINT64_C(100000000)

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

void hacd_job_send_event(hacd_job *job, const char *stage, const char *device, const char *note)
{
    uint64_t now = hac_now_ns();
    if (job->owner == NULL || !job->progress)
        return;
    if (note[0] == '\0' && now - job->last_event_ns < EVENT_INTERVAL_NS)
        return;
    job->last_event_ns = now;
    double elapsed = job->started_ns != 0 ? (double)(now - job->started_ns) * 1e-9 : 0;
    double fraction = hacd_job_fraction(job);
    Hac__Client__JobEvent event = HAC__CLIENT__JOB_EVENT__INIT;
    event.job = job->id;
    event.state = (Hac__Client__JobState)job->state;
    event.fraction = fraction;
    event.stage = (char *)(uintptr_t)(stage != NULL ? stage : "");
    event.device = (char *)(uintptr_t)(device != NULL ? device : "");
    event.items_per_second = elapsed > 0 ? (double)job->items * fraction / elapsed : 0;
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

static hac_waiter *find_reader(hacd_job *job, const hac_session *session)
{
    hac_waiter *reader = NULL;
    hac_list_for_each (reader, &job->readers, hac_waiter, link)
        if (reader->session == session)
            return reader;
    return NULL;
}

void hacd_job_add_reader(hacd_job *job, hac_session *session)
{
    if (find_reader(job, session) != NULL)
        return;
    hac_waiter *reader = calloc(1, sizeof *reader);
    if (reader == NULL) { /* without a record of the reader, the buffer is kept until the job expires */
        hac_pool_hold(job->result);
        return;
    }
    reader->session = session;
    hac_list_append(&job->readers, &reader->link);
}

void hacd_job_remove_reader(hacd_job *job, const hac_session *session)
{
    hac_waiter *reader = find_reader(job, session);
    if (reader == NULL)
        return;
    hac_list_remove(&reader->link);
    free(reader);
    if (job->released)
        hacd_job_release_result(job);
}

void hacd_job_send_done(hac_session *session, uint64_t serial, hacd_job *job)
{
    Hac__Client__Failure failure = HAC__CLIENT__FAILURE__INIT;
    Hac__Client__Buffer buffer;
    Hac__Client__JobDone done;
    size_t n_fds = 0;
    hac__client__job_done__init(&done);
    done.job = job->id;
    done.state = (Hac__Client__JobState)job->state;
    done.seconds = hacd_job_seconds(job);
    if (job->state != HAC_JOB_DONE) {
        failure.code = (uint32_t)job->code;
        failure.message = job->message;
        done.failure = &failure;
    } else if (job->result != NULL && !job->released) {
        if (session != job->owner)
            hacd_job_add_reader(job, session);
        n_fds = hac_session_describe_buffer(session, job->result, &buffer);
        done.result_case = HAC__CLIENT__JOB_DONE__RESULT_BUFFER;
        done.buffer = &buffer;
        done.result_bytes = job->result_bytes;
    } else if (job->released && job->result_bytes > 0) { /* the result is gone: a request for it says so */
        done.result_bytes = job->result_bytes;
    } else {
        done.result_case = HAC__CLIENT__JOB_DONE__RESULT_DATA;
        done.data.data = job->result_data;
        done.data.len = job->result_data_bytes;
        done.result_bytes = job->result_data_bytes;
    }
    if (job->text != NULL)
        done.text = job->text;
    Hac__Client__Response response = HAC__CLIENT__RESPONSE__INIT;
    response.serial = serial;
    response.what_case = HAC__CLIENT__RESPONSE__WHAT_DONE;
    response.done = &done;
    hac_session_send(session, &response, job->result != NULL ? &job->result->fd : NULL, n_fds);
}

/* Answers all waiters; while the output is being written, only its writer. */
static void answer_waiters(hacd_job *job)
{
    hac_waiter *waiter = NULL;
    hac_list_for_each (waiter, &job->waiters, hac_waiter, link) {
        if (job->writer != NULL && waiter->session != job->writer)
            continue;
        hac_list_remove(&waiter->link);
        waiter->session->pending--;
        hacd_job_send_done(waiter->session, waiter->serial, job);
        free(waiter);
    }
}

static void log_failure(const hacd_job *job)
{
    if (job->state != HAC_JOB_FAILED)
        return;
    hac_log_subject about = {job->user->uid, job->id, NULL};
    /* a message about data shows a part of the data, which is not for everybody who reads the log */
    bool of_data = job->kind->user_errors && (job->code == HAC_FAILED || job->code == HAC_INVALID);
    hac_log_record(HAC_LOG_INFO, HAC_EVENT_JOB_FAILED, &about, "job %llu of uid %u failed: %s",
                   (unsigned long long)job->id, job->user->uid,
                   of_data ? "its data or what it asks for is wrong (hacctl why)" : job->message);
}

/* Counts and logs the end, once, when it is final. */
static void report_end(hacd_job *job)
{
    if (!hacd_job_ended_for_all(job) || job->end_reported)
        return;
    job->end_reported = true;
    hacd_job_metrics_ended_for_all(job);
    log_failure(job);
}

void hacd_job_clients_ended(hacd_job *job)
{
    hacd_job_metrics_ended(job);
    report_end(job);
}

void hacd_job_clients_over(hacd_job *job)
{
    if (job->quick && job->owner != NULL)
        hacd_job_send_done(job->owner, job->serial, job);
    answer_waiters(job);
}

/* ---- an output that the client writes ---- */

hac_status hacd_job_output_begin(hacd_job *job, hac_session *session, hac_error *err)
{
    if (job->owner != session || job->writer != NULL)
        return hac_fail(err, HAC_INVALID, "the output of job %llu is not this connection's to write",
                        (unsigned long long)job->id);
    job->writer = session;
    hacd_job_note(job, "its client writes the output itself");
    return HAC_OK;
}

/* The job was done, or was cancelled because the output failed. A job that was counted before its client
 * began to write stays counted as what it was: no job is counted twice. */
static void become_failed(hacd_job *job, const hac_error *failure)
{
    job->state = HAC_JOB_FAILED;
    job->code = failure->code;
    snprintf(job->message, sizeof job->message, "%s", failure->message);
    if (job->end_reported)
        log_failure(job);
}

static void end_output(hacd_job *job, const hac_error *failure)
{
    job->writer = NULL;
    bool cancelled = failure != NULL && failure->code == HAC_CANCELLED;
    if (failure != NULL)
        hacd_job_note(job, "its output is not written: %s", failure->message);
    if (failure != NULL && !hacd_job_ended(job)) {
        job->unwritten = !cancelled;
        job->unwritten_error = *failure;
        hacd_job_cancel(job, failure->message);
    } else if (failure != NULL && cancelled && job->state == HAC_JOB_DONE) {
        job->state = HAC_JOB_CANCELLED;
        job->code = HAC_CANCELLED;
        snprintf(job->message, sizeof job->message, "%s", failure->message);
    } else if (failure != NULL && !cancelled && job->state != HAC_JOB_FAILED) {
        become_failed(job, failure);
    }
    if (!hacd_job_ended(job))
        return;
    job->unsaved = true;
    report_end(job);
    answer_waiters(job);
}

hac_status hacd_job_output_end(hacd_job *job, hac_session *session, const hac_error *failure, hac_error *err)
{
    if (job->writer != session)
        return hac_fail(err, HAC_INVALID, "the output of job %llu is not this connection's to write",
                        (unsigned long long)job->id);
    end_output(job, failure);
    return HAC_OK;
}

/* A job that has not ended is cancelled like any other whose client is gone. */
static void writer_is_gone(hacd_job *job)
{
    hac_error err = HAC_ERROR_NONE;
    (void)hac_fail(&err, HAC_FAILED, "its client is gone, and had not written all of the output");
    if (hacd_job_ended(job))
        end_output(job, &err);
    job->writer = NULL;
}

void hacd_job_clients_session_closed(hac_jobs *jobs, hac_session *session)
{
    hacd_job *job = NULL;
    hac_list_for_each (job, &jobs->list, hacd_job, link) {
        hac_waiter *waiter = NULL;
        hac_list_for_each (waiter, &job->waiters, hac_waiter, link) {
            if (waiter->session == session) {
                hac_list_remove(&waiter->link);
                free(waiter);
            }
        }
        hacd_job_remove_reader(job, session);
        if (job->writer == session)
            writer_is_gone(job);
        if (job->owner != session)
            continue;
        job->owner = NULL;
        if (job->detached)
            continue;
        if (hacd_job_ended(job))
            hacd_job_release_result(job);
        else
            hacd_job_cancel(job, "its client is gone");
    }
}
