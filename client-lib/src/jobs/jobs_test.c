/* SPDX-License-Identifier: Apache-2.0 */
/* Tests jobs with a scripted daemon: results, callbacks, waiting, the event loop, freed handles. */
#include "fake_daemon.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"

#define FDS(test) cmocka_unit_test_setup_teardown(test, hac_test_fds_setup, hac_test_fds_teardown)

static void fill(uint32_t *keys, size_t n)
{
    uint32_t x = 12345;
    for (size_t i = 0; i < n; i++)
        keys[i] = x = x * 1664525 + 1013904223;
}

static void assert_sorted(const uint32_t *keys, size_t n)
{
    for (size_t i = 1; i < n; i++)
        assert_true(keys[i - 1] <= keys[i]);
}

static hac_sort_options options_u32(void)
{
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    return options;
}

static hac_job *submit(hac_client *client, size_t n, const hac_sort_options *options)
{
    uint32_t *keys = malloc(n * sizeof(*keys) + 1);
    hac_job *job = NULL;
    fill(keys, n);
    assert_int_equal(hac_sort_memory(client, keys, n, options, &job, NULL), HAC_OK);
    free(keys);
    return job;
}

/* Sizes around the inline limit, and size 0. */
static void test_memory_sizes(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 8191, 8192, 8193, 100000};
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    const hac_sort_options options = options_u32();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        hac_job *job = submit(client, sizes[i], &options);
        assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
        assert_int_equal(hac_job_get_state(job), HAC_JOB_DONE);
        assert_int_equal(hac_job_bytes(job), sizes[i] * 4);
        assert_non_null(hac_job_data(job));
        assert_int_equal((uintptr_t)hac_job_data(job) % 64, 0);
        assert_sorted(hac_job_data(job), sizes[i]);
        assert_true(hac_job_id(job) > 0);
        assert_string_equal(hac_job_text(job), "");
        assert_null(hac_job_payload(job));
        hac_job_free(job);
    }
    /* two jobs were too large for a message: the client gave their inputs and results back */
    char *text = NULL;
    assert_int_equal(hac_client_query(client, HAC_TOPIC_STATUS, 0, 0, &text, NULL), HAC_OK); /* in order */
    free(text);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_RELEASE), 2);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_RELEASE), 2);
    hac_client_free(client);
    fake_stop(daemon);
}

/* A small job takes one frame in each direction. */
static void test_small_jobs_cost_one_message(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    const hac_sort_options options = options_u32();
    for (int i = 0; i < 100; i++) {
        hac_job *job = submit(client, 1000, &options);
        assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
        hac_job_free(job);
    }
    unsigned all = 0;
    for (unsigned what = 0; what < FAKE_REQUESTS; what++)
        all += fake_count(daemon, (Hac__Client__Request__WhatCase)what);
    assert_int_equal(all, 101); /* 100 jobs and the Hello */
    assert_int_equal(client->n_spare, 1);
    hac_client_free(client);
    fake_stop(daemon);
}

/* Many jobs at once, which end in another order than the test waits for. The unread bytes stay within hacd's
 * limit. */
static void test_many_at_once(void **state)
{
    (void)state;
    enum { N = 300 };
    hac_job *jobs[N];
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    const hac_sort_options options = options_u32();
    for (size_t i = 0; i < N; i++) {
        jobs[i] = submit(client, 1 + i * 27, &options);
        assert_true(client->quick_bytes <= 192 * 1024);
    }
    for (size_t i = N; i-- > 0;) {
        assert_int_equal(hac_job_wait(jobs[i], -1, NULL), HAC_OK);
        assert_int_equal(hac_job_bytes(jobs[i]), (1 + i * 27) * 4);
        assert_sorted(hac_job_data(jobs[i]), 1 + i * 27);
    }
    for (size_t i = 0; i < N; i++)
        hac_job_free(jobs[i]);
    assert_int_equal(client->quick_bytes, 0);
    assert_int_equal(client->jobs_by_serial.count, 0);
    hac_client_free(client);
    fake_stop(daemon);
}

typedef struct seen {
    int progress, done;
    double fraction;
    char stage[32];
    hac_job *freed; /* freed in the callback */
} seen;

static void on_progress(void *context, hac_job *job, const hac_progress *progress)
{
    seen *s = context;
    assert_true(hac_job_id(job) > 0);
    s->progress++;
    s->fraction = progress->fraction;
    snprintf(s->stage, sizeof(s->stage), "%s", progress->stage);
}

static void on_done(void *context, hac_job *job)
{
    seen *s = context;
    s->done++;
    assert_int_equal(hac_job_get_state(job), HAC_JOB_DONE);
}

static void test_callbacks_while_waiting(void **state)
{
    (void)state;
    seen s = {0};
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    hac_sort_options options = options_u32();
    options.job.progress = on_progress;
    options.job.done = on_done;
    options.job.context = &s;
    hac_job *job = submit(client, 100, &options);
    assert_int_equal(hac_job_wait(job, 10000, NULL), HAC_OK);
    assert_int_equal(s.progress, 1);
    assert_int_equal(s.done, 1);
    assert_true(s.fraction == 0.5);
    assert_string_equal(s.stage, "merge 1");
    hac_job_free(job);
    hac_client_free(client);
    fake_stop(daemon);
}

/* The event loop: no call blocks, and callbacks report all events. */
static void test_event_loop(void **state)
{
    (void)state;
    seen s = {0};
    hac_job *jobs[10];
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    hac_sort_options options = options_u32();
    options.job.done = on_done;
    options.job.context = &s;
    for (size_t i = 0; i < 10; i++)
        jobs[i] = submit(client, i % 2 ? 100 : 20000, &options);
    while (s.done < 10) {
        struct pollfd p = {hac_client_fd(client), POLLIN, 0};
        assert_int_equal(poll(&p, 1, 10000), 1);
        assert_int_equal(hac_client_dispatch(client, NULL), HAC_OK);
    }
    for (size_t i = 0; i < 10; i++) {
        assert_sorted(hac_job_data(jobs[i]), i % 2 ? 100 : 20000);
        hac_job_free(jobs[i]);
    }
    assert_int_equal(hac_client_dispatch(client, NULL), HAC_OK); /* no response: no error */
    hac_client_free(client);
    fake_stop(daemon);
}

/* A callback may free its own job and call the library. */
static void on_done_use_library(void *context, hac_job *job)
{
    seen *s = context;
    hac_client *client = job->client;
    s->done++;
    hac_job_free(job);
    hac_buffer *buffer = NULL;
    assert_int_equal(hac_buffer_alloc(client, 100, &buffer, NULL), HAC_OK);
    hac_buffer_free(buffer);
    if (s->done < 50) {
        hac_sort_options options = options_u32();
        options.job.done = on_done_use_library;
        options.job.context = s;
        (void)submit(client, 10, &options); /* the callback frees the job */
    }
}

static void test_library_used_in_callback(void **state)
{
    (void)state;
    seen s = {0};
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    hac_sort_options options = options_u32();
    options.job.done = on_done_use_library;
    options.job.context = &s;
    hac_job *job = submit(client, 10, &options);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    while (s.done < 50)
        assert_int_equal(hac_client_receive(client, UINT64_MAX, NULL), HAC_OK);
    hac_client_free(client);
    fake_stop(daemon);
}

static bool refuse_jobs(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT)
        return false;
    fake_send_failure(session, request->serial, HAC_REFUSED, "too many jobs");
    return true;
}

static void on_done_never(void *context, hac_job *job)
{
    (void)context;
    (void)job;
    fail_msg("a job that there is not has ended");
}

static void test_refused(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    fake_daemon *daemon = fake_start(refuse_jobs, NULL);
    hac_client *client = fake_connect(daemon);
    hac_sort_options options = options_u32();
    uint32_t *keys = calloc(20000, 4);
    hac_job *job = NULL;
    /* hac_job_wait reports the refusal of a small job */
    assert_int_equal(hac_sort_memory(client, keys, 10, &options, &job, &err), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, &err), HAC_REFUSED);
    assert_string_equal(err.message, "too many jobs");
    assert_null(hac_job_data(job));
    hac_job_free(job);
    /* the submission reports the refusal of a large job, and gives its memory back */
    job = NULL;
    options.job.done = on_done_never;
    assert_int_equal(hac_sort_memory(client, keys, 20000, &options, &job, &err), HAC_REFUSED);
    assert_null(job);
    assert_int_equal(client->mappings.n_idle, 1);
    free(keys);
    hac_client_free(client);
    fake_stop(daemon);
}

/* A daemon that accepts jobs, and ends a job only on a cancel. */
typedef struct slow {
    uint64_t waiting; /* serial of the `wait` */
} slow;

static bool slow_jobs(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    slow *s = fake_context(session->daemon);
    (void)frame;
    switch (request->what_case) {
    case HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT:
        fake_send_accepted(session, request->serial, 7);
        return true;
    case HAC__CLIENT__REQUEST__WHAT_WAIT:
        s->waiting = request->serial;
        return true;
    case HAC__CLIENT__REQUEST__WHAT_RELEASE:
        fake_send_ok(session, request->serial);
        return true;
    case HAC__CLIENT__REQUEST__WHAT_CANCEL: {
        fake_send_ok(session, request->serial);
        Hac__Client__JobDone done;
        hac__client__job_done__init(&done);
        done.job = 7;
        done.state = HAC__CLIENT__JOB_STATE__JOB_CANCELLED;
        fake_send_done(session, s->waiting, &done, -1);
        return true;
    }
    default:
        return false;
    }
}

static void test_timeout_and_cancel(void **state)
{
    (void)state;
    slow s = {0};
    hac_error err = HAC_ERROR_NONE;
    fake_daemon *daemon = fake_start(slow_jobs, &s);
    hac_client *client = fake_connect(daemon);
    const hac_sort_options options = options_u32();
    hac_job *job = submit(client, 20000, &options);
    assert_int_equal(hac_job_id(job), 7);
    assert_int_equal(hac_job_wait(job, 0, &err), HAC_AGAIN);
    assert_int_equal(hac_job_wait(job, 30, &err), HAC_AGAIN);
    assert_int_equal(hac_job_get_state(job), HAC_JOB_QUEUED);
    assert_int_equal(hac_job_cancel(job, &err), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, &err), HAC_CANCELLED);
    assert_string_equal(err.message, "job 7 was cancelled");
    assert_int_equal(hac_job_cancel(job, &err), HAC_OK); /* no effect on a job that has ended */
    hac_job_free(job);
    char *text = NULL;
    assert_int_equal(hac_client_query(client, HAC_TOPIC_STATUS, 0, 0, &text, NULL), HAC_OK); /* in order */
    free(text);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_CANCEL), 1);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_RELEASE), 1); /* the record */
    hac_client_free(client);
    fake_stop(daemon);
}

/* Freeing a handle early cancels the job. The client gives the job's memory back at the end of the job. */
static void test_freed_early(void **state)
{
    (void)state;
    slow s = {0};
    fake_daemon *daemon = fake_start(slow_jobs, &s);
    hac_client *client = fake_connect(daemon);
    const hac_sort_options options = options_u32();
    hac_job_free(submit(client, 20000, &options));
    assert_int_equal(client->mappings.n_idle, 0); /* the input is still in use */
    while (!TAILQ_EMPTY(&client->flying))
        assert_int_equal(hac_client_receive(client, UINT64_MAX, NULL), HAC_OK);
    assert_int_equal(client->mappings.n_idle, 1);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_CANCEL), 1);
    /* a small job is not accepted yet: the client cancels the job on the JobAccepted */
    hac_job_free(submit(client, 10, &options));
    while (!TAILQ_EMPTY(&client->flying))
        assert_int_equal(hac_client_receive(client, UINT64_MAX, NULL), HAC_OK);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_CANCEL), 2);
    /* a detached job is not cancelled, and the client sends no request about it */
    hac_sort_options detached = options;
    detached.job.detach = 1;
    hac_job_free(submit(client, 10, &detached));
    assert_true(TAILQ_EMPTY(&client->flying));
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_CANCEL), 2);
    hac_client_free(client);
    fake_stop(daemon);
}

static void test_detach_and_attach(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    hac_sort_options options = options_u32();
    options.job.detach = 1;
    hac_job *job = submit(client, 50, &options);
    uint64_t id = hac_job_id(job);
    hac_job_free(job);
    for (int i = 0; i < 2; i++) { /* attached handles do not release the result */
        assert_int_equal(hac_job_attach(client, id, &job, NULL), HAC_OK);
        assert_int_equal(hac_job_id(job), id);
        assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
        assert_int_equal(hac_job_bytes(job), 200);
        assert_sorted(hac_job_data(job), 50);
        hac_job_free(job);
    }
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_RELEASE), 0);
    /* until one handle releases the job, once */
    assert_int_equal(hac_job_attach(client, id, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_release(job, NULL), HAC_INVALID);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_release(job, NULL), HAC_OK);
    assert_int_equal(hac_job_release(job, NULL), HAC_OK);
    assert_null(hac_job_data(job));
    assert_int_equal(hac_job_bytes(job), 0);
    hac_job_free(job);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_RELEASE), 1);
    hac_client_free(client);
    fake_stop(daemon);
}

typedef struct held {
    int times;
    uint32_t buffer;
} held;

/* A daemon that lets its client hold the result in a buffer. */
static bool holds(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    held *h = fake_context(session->daemon);
    (void)frame;
    if (request->what_case == HAC__CLIENT__REQUEST__WHAT_HOLD)
        h->times++;
    else if (request->what_case == HAC__CLIENT__REQUEST__WHAT_BUFFER_RELEASE && h->times > 0 &&
             request->buffer_release->buffer == h->buffer)
        h->times--;
    else
        return false;
    fake_send_ok(session, request->serial);
    return true;
}

/* A result is a buffer where it lies; one that came in a message is copied. */
static void test_result_as_input(void **state)
{
    (void)state;
    held h = {0};
    fake_daemon *daemon = fake_start(holds, &h);
    hac_client *client = fake_connect(daemon);
    const hac_sort_options options = options_u32();
    hac_buffer *buffer = NULL, *again = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = submit(client, 20000, &options);
    if (hac_job_get_state(job) != HAC_JOB_DONE)
        assert_int_equal(hac_job_as_input(job, &buffer, &err), HAC_AGAIN);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    int allocated = (int)fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC);
    assert_int_equal(hac_job_as_input(job, &buffer, NULL), HAC_OK);
    assert_int_equal(hac_job_as_input(job, &again, NULL), HAC_OK);
    h.buffer = hac_mapping_id(buffer->mapping);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_HOLD), 2);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC), allocated);
    assert_ptr_equal(hac_buffer_data(buffer), hac_job_data(job));
    hac_job_free(job);
    hac_buffer_free(again);
    assert_sorted(hac_buffer_data(buffer), 20000); /* still mapped */
    hac_buffer_free(buffer);
    char *text = NULL;
    assert_int_equal(hac_client_query(client, HAC_TOPIC_STATUS, 0, 0, &text, NULL), HAC_OK); /* in order */
    free(text);
    assert_int_equal(h.times, 0);
    job = submit(client, 10, &options);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_as_input(job, &buffer, NULL), HAC_OK);
    assert_ptr_not_equal(hac_buffer_data(buffer), hac_job_data(job));
    assert_memory_equal(hac_buffer_data(buffer), hac_job_data(job), 40);
    hac_buffer_free(buffer);
    hac_job_free(job);
    job = submit(client, 0, &options);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_as_input(job, &buffer, &err), HAC_INVALID);
    hac_job_free(job);
    hac_client_free(client);
    fake_stop(daemon);
}

/* Handles a client's report about an output that the client writes itself. */
static bool output_told(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_OUTPUT)
        return false;
    const Hac__Client__Output *output = request->output;
    bool ok = output->job == 17
                  ? output->ended && output->failure != NULL && output->failure->code == HAC_IO &&
                        strcmp(output->failure->message, "no space") == 0
                  : output->failure == NULL && output->ended == (output->job == 16);
    fake_send_failure(session, request->serial, ok ? HAC_NOT_FOUND : HAC_INTERNAL, "there is no such job");
    return true;
}

static void test_output(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(output_told, NULL);
    hac_client *client = fake_connect(daemon);
    assert_int_equal(hac_output_begin(client, 15, NULL), HAC_NOT_FOUND);
    assert_int_equal(hac_output_end(client, 16, HAC_OK, NULL, NULL), HAC_NOT_FOUND);
    assert_int_equal(hac_output_end(client, 17, HAC_IO, "no space", NULL), HAC_NOT_FOUND);
    assert_int_equal(hac_output_begin(client, 0, NULL), HAC_INVALID);
    assert_int_equal(hac_output_end(client, 0, HAC_OK, NULL, NULL), HAC_INVALID);
    assert_int_equal(hac_output_end(client, 17, (hac_status)99, "x", NULL), HAC_INVALID);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_OUTPUT), 3);
    hac_client_free(client);
    fake_stop(daemon);
}

/* Answers `wait` without the result, so that the client fetches the result. */
static bool result_apart(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_WAIT)
        return false;
    Hac__Client__JobDone done;
    hac__client__job_done__init(&done);
    done.job = request->wait->job;
    done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
    done.result_bytes = 200;
    fake_send_done(session, request->serial, &done, -1);
    return true;
}

static void test_result_fetched(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(result_apart, NULL);
    hac_client *client = fake_connect(daemon);
    hac_sort_options options = options_u32();
    options.job.detach = 1;
    hac_job *job = submit(client, 50, &options);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_sorted(hac_job_data(job), 50);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_RESULT), 1);
    hac_job_free(job);
    hac_client_free(client);
    fake_stop(daemon);
}

static bool no_such_job(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_QUERY)
        return false;
    fake_send_failure(session, request->serial, HAC_NOT_FOUND, "there is no job 99");
    return true;
}

static void test_attach_unknown(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    fake_daemon *daemon = fake_start(no_such_job, NULL);
    hac_client *client = fake_connect(daemon);
    hac_job *job = NULL;
    assert_int_equal(hac_job_attach(client, 99, &job, &err), HAC_NOT_FOUND);
    assert_string_equal(err.message, "there is no job 99");
    hac_client_free(client);
    fake_stop(daemon);
}

static void test_options_checked(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    const char *names[20] = {""};
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    assert_int_equal(hac_sort_memory(client, "", 0, &options, &job, &err), HAC_INVALID); /* no type */
    options.type = HAC_TYPE_U32;
    options.job.priority = 101;
    assert_int_equal(hac_sort_memory(client, "", 0, &options, &job, &err), HAC_INVALID);
    options.job.priority = 0;
    options.job.deadline_seconds = -1;
    assert_int_equal(hac_sort_memory(client, "", 0, &options, &job, &err), HAC_INVALID);
    options.job.deadline_seconds = 0;
    options.job.devices = names;
    options.job.n_devices = 1;
    assert_int_equal(hac_sort_memory(client, "", 0, &options, &job, &err), HAC_INVALID);
    names[0] = "caf\xe9"; /* not UTF-8 */
    assert_int_equal(hac_sort_memory(client, "", 0, &options, &job, &err), HAC_INVALID);
    options.job.devices = NULL;
    assert_int_equal(hac_sort_memory(client, "", 0, &options, &job, &err), HAC_INVALID);
    options.job.devices = names;
    options.job.n_devices = 17;
    assert_int_equal(hac_sort_memory(client, "", 0, &options, &job, &err), HAC_INVALID);
    options.job.n_devices = 0;
    options.n_fold_steps = 65;
    assert_int_equal(hac_sort_memory(client, "", 0, &options, &job, &err), HAC_INVALID);
    options.n_fold_steps = 0;
    options.fold = HAC_FOLD_STEPS;
    assert_int_equal(hac_sort_memory(client, "", 0, &options, &job, &err), HAC_INVALID);
    options.fold = HAC_FOLD_AUTO;
    options.size = 0;
    assert_int_equal(hac_sort_memory(client, "", 0, &options, &job, &err), HAC_INVALID);
    options.size = sizeof(options);
    assert_int_equal(hac_sort_memory(client, NULL, UINT64_MAX / 2, &options, &job, &err), HAC_INVALID);
    assert_null(job);
    assert_int_equal(fake_count(daemon, HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT), 0);
    hac_client_free(client);
    fake_stop(daemon);
}

/* Options of an older header (shorter), and of a newer header (longer, with the new members 0). */
static void test_options_of_other_versions(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(NULL, NULL);
    hac_client *client = fake_connect(daemon);
    struct {
        hac_sort_options known;
        uint64_t later;
    } newer = {options_u32(), 0};
    newer.known.size = sizeof(newer);
    hac_job *job = NULL;
    uint32_t keys[2] = {2, 1};
    assert_int_equal(hac_sort_memory(client, keys, 2, &newer.known, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    hac_job_free(job);
    newer.later = 1;
    assert_int_equal(hac_sort_memory(client, keys, 2, &newer.known, &job, NULL), HAC_UNSUPPORTED);
    newer.known.size = offsetof(hac_sort_options, job);
    assert_int_equal(hac_sort_memory(client, keys, 2, &newer.known, &job, NULL), HAC_OK);
    hac_job_free(job);
    hac_client_free(client);
    fake_stop(daemon);
}

static bool report_jobs(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case == HAC__CLIENT__REQUEST__WHAT_SUBMIT_CALIBRATE) {
        fake_send_accepted(session, request->serial, 3);
        return true;
    }
    if (request->what_case == HAC__CLIENT__REQUEST__WHAT_RELEASE) {
        fake_send_ok(session, request->serial);
        return true;
    }
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_WAIT)
        return false;
    Hac__Client__JobDone done;
    hac__client__job_done__init(&done);
    done.job = 3;
    done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
    done.text = (char *)(uintptr_t) "{\"report\": 1}";
    fake_send_done(session, request->serial, &done, -1);
    return true;
}

static void test_calibrate(void **state)
{
    (void)state;
    fake_daemon *daemon = fake_start(report_jobs, NULL);
    hac_client *client = fake_connect(daemon);
    hac_job *job = NULL;
    assert_int_equal(hac_calibrate(client, 0, NULL, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_string_equal(hac_job_text(job), "{\"report\": 1}");
    assert_int_equal(hac_job_bytes(job), 0);
    hac_job_free(job);
    hac_client_free(client);
    fake_stop(daemon);
}

/* Handles may be freed after their client. */
static void test_client_freed_first(void **state)
{
    (void)state;
    slow s = {0};
    fake_daemon *daemon = fake_start(slow_jobs, &s);
    hac_client *client = fake_connect(daemon);
    hac_sort_options options = options_u32();
    options.job.done = on_done_never;
    hac_buffer *buffer = NULL;
    assert_int_equal(hac_buffer_alloc(client, 4096, &buffer, NULL), HAC_OK);
    hac_job *job = submit(client, 20000, &options);
    hac_client_free(client);
    memset(hac_buffer_data(buffer), 1, 4096);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_NO_DAEMON);
    hac_buffer_free(buffer);
    hac_job_free(job);
    hac_job_free(NULL);
    hac_buffer_free(NULL);
    hac_client_free(NULL);
    fake_stop(daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FDS(test_memory_sizes),    FDS(test_small_jobs_cost_one_message),
        FDS(test_many_at_once),    FDS(test_callbacks_while_waiting),
        FDS(test_event_loop),      FDS(test_library_used_in_callback),
        FDS(test_refused),         FDS(test_timeout_and_cancel),
        FDS(test_freed_early),     FDS(test_detach_and_attach),
        FDS(test_result_as_input), FDS(test_output),
        FDS(test_result_fetched),  FDS(test_attach_unknown),
        FDS(test_options_checked), FDS(test_options_of_other_versions),
        FDS(test_calibrate),       FDS(test_client_freed_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
