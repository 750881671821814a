/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/type.h"
#include "ops.h"

enum {
    SPARE_MAX = 32,   /* freed handles that are kept */
    DEVICES_MAX = 16, /* the protocol's limits */
    PRIORITY_MAX = 100,
    RESULT_ALIGNMENT = 64,
    QUICK_BYTES_MAX = 192 * 1024,
    QUICK_OVERHEAD = 256, /* of a message beside its result */
};

/* ---- life ---- */

hac_status hac_job_new(hac_client *client, const hac_job_options *options, hac_job **ret, hac_error *err)
{
    hac_job *job = TAILQ_FIRST(&client->spare);
    if (job != NULL) {
        TAILQ_REMOVE(&client->spare, job, in_list);
        client->n_spare--;
    } else {
        job = calloc(1, sizeof(*job));
        if (job == NULL)
            return hac_fail_no_memory(err);
    }
    job->client = hac_client_ref(client);
    job->references = 1;
    if (options != NULL) {
        job->detached = options->detach != 0;
        job->progress = options->progress;
        job->done = options->done;
        job->context = options->context;
    }
    *ret = job;
    return HAC_OK;
}

hac_job *hac_job_ref(hac_job *job)
{
    job->references++;
    return job;
}

static void job_delete(hac_job *job)
{
    free(job->own);
    free(job);
}

/* Back to the client's spare handles, with the memory for small results; or freed. */
static void job_recycle(hac_client *client, hac_job *job)
{
    uint8_t *own = job->own;
    size_t own_room = job->own_room;
    memset(job, 0, sizeof(*job));
    job->own = own;
    job->own_room = own_room;
    if (client->n_spare >= SPARE_MAX) {
        job_delete(job);
        return;
    }
    TAILQ_INSERT_HEAD(&client->spare, job, in_list);
    client->n_spare++;
}

static void tell_about(hac_client *client, Hac__Client__Request__WhatCase what, uint64_t id)
{
    Hac__Client__JobRef ref = HAC__CLIENT__JOB_REF__INIT;
    ref.job = id;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = what;
    request.release = &ref; /* the union's members for JobRef are the same */
    hac_client_tell(client, &request);
}

/* Nobody has the handle, and hacd has nothing more to say of the job. */
static void job_finish(hac_job *job)
{
    hac_client *client = job->client;
    hac_mapping *input = job->input, *result = job->result;
    uint64_t id = job->id;
    /* hacd keeps the job and its result until it hears of us. An attached one stays with hacd, for others. */
    bool release = job->kept && !job->attached && !job->released;
    free(job->text);
    hac_mappings_drop(&client->mappings, result);
    job_recycle(client, job);
    /* From here on answers may be taken in, and the handle and the memory used again. */
    hac_buffer_give_back(client, input);
    if (release)
        tell_about(client, HAC__CLIENT__REQUEST__WHAT_RELEASE, id);
}

static void leave_tables(hac_job *job)
{
    hac_client *client = job->client;
    hac_table_remove(&client->jobs_by_serial, &job->by_serial);
    hac_table_remove(&client->jobs_by_id, &job->by_id);
    if (job->flying)
        TAILQ_REMOVE(&client->flying, job, in_list);
    job->flying = false;
    client->quick_bytes -= job->quick_bytes;
    job->quick_bytes = 0;
}

void hac_job_unref(hac_job *job)
{
    if (job == NULL || --job->references > 0)
        return;
    hac_client *client = job->client;
    bool stays = job->detached || job->attached;
    hac_ops_drop(job);
    if (job->flying && job->by_serial.key == 0) /* hacd will say nothing of it unasked */
        leave_tables(job);
    if (!job->flying)
        job_finish(job);
    else if (stays)
        job->attached = true; /* its result is not ours to drop */
    else if (job->id != 0)
        tell_about(client, HAC__CLIENT__REQUEST__WHAT_CANCEL, job->id);
    hac_client_unref(client);
}

void hac_job_free(hac_job *job)
{
    if (job == NULL)
        return;
    job->progress = NULL; /* exported columns may hold the job; its user is gone */
    job->done = NULL;
    hac_job_unref(job);
}

void hac_jobs_clear(hac_client *client)
{
    hac_job *job;
    while ((job = TAILQ_FIRST(&client->spare)) != NULL) {
        TAILQ_REMOVE(&client->spare, job, in_list);
        job_delete(job);
    }
    while ((job = TAILQ_FIRST(&client->flying)) != NULL) {
        TAILQ_REMOVE(&client->flying, job, in_list);
        free(job->text);
        job_delete(job);
    }
    hac_table_clear(&client->jobs_by_serial);
    hac_table_clear(&client->jobs_by_id);
}

/* ---- results ---- */

bool hac_result_layout(const hac_result_shape *shape, uint64_t *ret_payload_at, uint64_t *ret_bytes)
{
    uint64_t item = shape->argsort ? (shape->items >> 32 != 0 ? 8 : 4) : hac_type_size(shape->type);
    uint64_t keys, payload, at = 0, bytes;
    if (__builtin_mul_overflow(item, shape->items, &keys) || keys > INT64_MAX)
        return false;
    bytes = keys;
    if (shape->payload_bytes > 0) {
        at = (keys + RESULT_ALIGNMENT - 1) / RESULT_ALIGNMENT * RESULT_ALIGNMENT;
        if (__builtin_mul_overflow(shape->payload_bytes, shape->items, &payload) ||
            __builtin_add_overflow(at, payload, &bytes) || bytes > INT64_MAX)
            return false;
    }
    *ret_payload_at = at;
    *ret_bytes = bytes;
    return true;
}

/* Keeps a result that came in the message; the job's memory grows to 32 KiB at most. */
static hac_status take_data(hac_job *job, const ProtobufCBinaryData *data, hac_error *err)
{
    if (job->own == NULL || data->len > job->own_room) {
        size_t room = 4096;
        while (room < data->len)
            room *= 2;
        uint8_t *own = aligned_alloc(RESULT_ALIGNMENT, room);
        if (own == NULL)
            return hac_fail_no_memory(err);
        free(job->own);
        job->own = own;
        job->own_room = room;
    }
    if (data->len > 0)
        memcpy(job->own, data->data, data->len);
    job->data = job->own;
    return HAC_OK;
}

static hac_status take_result(hac_job *job, const Hac__Client__JobDone *done, hac_frame *frame,
                              hac_error *err)
{
    uint64_t payload_at, bytes;
    if (job->shape.known &&
        (!hac_result_layout(&job->shape, &payload_at, &bytes) || bytes != done->result_bytes))
        return hac_fail(err, HAC_PROTOCOL,
                        "job %" PRIu64 " has a result of %" PRIu64 " bytes, which is not its size", job->id,
                        done->result_bytes);
    hac_status status = HAC_OK;
    if (done->result_case == HAC__CLIENT__JOB_DONE__RESULT_BUFFER) {
        status = hac_mappings_take(&job->client->mappings, done->buffer, frame, false, &job->result, err);
        if (status == HAC_OK && job->result->bytes < done->result_bytes)
            status = hac_fail(err, HAC_PROTOCOL, "a buffer is smaller than the result that lies in it");
        if (status == HAC_OK)
            job->data = job->result->address;
    } else if (done->result_case == HAC__CLIENT__JOB_DONE__RESULT_DATA) {
        status = take_data(job, &done->data, err);
    } else if (done->result_bytes > 0) {
        return hac_fail(err, HAC_PROTOCOL, "job %" PRIu64 " is done, but its result is missing", job->id);
    } else {
        const ProtobufCBinaryData nothing = {0, NULL};
        status = take_data(job, &nothing, err);
    }
    if (status == HAC_OK)
        job->bytes = done->result_bytes;
    return status;
}

/* ---- what hacd says ---- */

/* The job has ended, all of the message is used up: gives the input back and tells the caller. */
static void job_ended(hac_job *job)
{
    job->kept = job->by_id.key != 0; /* accepted first, not answered by its result */
    leave_tables(job);
    job->answered = true;
    if (job->references == 0) { /* the handle is gone already */
        job_finish(job);
        return;
    }
    hac_job_ref(job);
    hac_buffer_give_back(job->client, hac_steal_ptr(job->input));
    if (job->done != NULL)
        job->done(job->context, job);
    hac_job_unref(job);
}

static void job_failed(hac_job *job, hac_job_state state, const Hac__Client__Failure *failure)
{
    job->state = state;
    if (failure != NULL)
        (void)hac_failure(failure, &job->error);
    else
        (void)hac_fail(&job->error, HAC_CANCELLED, "job %" PRIu64 " was cancelled", job->id);
    if (state == HAC_JOB_CANCELLED)
        job->error.code = HAC_CANCELLED;
    job_ended(job);
}

/* Asks for one of the job's JobRef requests, answered by a JobDone. */
static hac_status ask_about(hac_job *job, Hac__Client__Request__WhatCase what, uint64_t id, hac_error *err)
{
    hac_client *client = job->client;
    Hac__Client__JobRef ref = HAC__CLIENT__JOB_REF__INIT;
    ref.job = id;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.serial = hac_client_next_serial(client);
    request.what_case = what;
    request.wait = &ref;
    hac_table_remove(&client->jobs_by_serial, &job->by_serial);
    hac_status status = hac_table_put(&client->jobs_by_serial, &job->by_serial, request.serial, err);
    return status != HAC_OK ? status : hac_client_send(client, &request, NULL, 0, err);
}

static hac_status take_accepted(hac_job *job, const Hac__Client__JobAccepted *accepted, hac_error *err)
{
    hac_client *client = job->client;
    if (job->answered || accepted->job == 0 || hac_table_find(&client->jobs_by_id, accepted->job) != NULL)
        return hac_fail(err, HAC_PROTOCOL, "hacd accepted job %" PRIu64 " twice", accepted->job);
    hac_status status = hac_table_put(&client->jobs_by_id, &job->by_id, accepted->job, err);
    if (status != HAC_OK)
        return status;
    uint64_t id = job->id = accepted->job;
    job->split_bytes = accepted->split_bytes;
    job->range_bytes = accepted->range_bytes;
    bool orphan = job->references == 0 && !job->detached;
    job->answered = true;
    if (!job->detached || job->wanted)
        status = ask_about(job, HAC__CLIENT__REQUEST__WHAT_WAIT, id, err);
    else /* nobody may ever ask: hac_job_wait does */
        hac_table_remove(&client->jobs_by_serial, &job->by_serial);
    if (status == HAC_OK && orphan)
        tell_about(client, HAC__CLIENT__REQUEST__WHAT_CANCEL, id);
    return status;
}

static hac_status take_done(hac_job *job, const Hac__Client__JobDone *done, hac_frame *frame, hac_error *err)
{
    if (job->id != 0 && done->job != job->id)
        return hac_fail(err, HAC_PROTOCOL, "hacd speaks of job %" PRIu64 " where it was asked about %" PRIu64,
                        done->job, job->id);
    job->id = done->job;
    if (done->state != HAC__CLIENT__JOB_STATE__JOB_DONE) {
        job_failed(job, (hac_job_state)done->state, done->failure);
        return HAC_OK;
    }
    if (done->result_case == HAC__CLIENT__JOB_DONE__RESULT__NOT_SET && done->result_bytes > 0 &&
        !job->fetching) {
        job->fetching = true;
        return ask_about(job, HAC__CLIENT__REQUEST__WHAT_RESULT, job->id, err);
    }
    hac_status status = take_result(job, done, frame, err);
    if (status != HAC_OK)
        return status;
    if (done->text[0] != '\0') {
        job->text = strdup(done->text);
        if (job->text == NULL)
            return hac_fail_no_memory(err);
    }
    job->state = HAC_JOB_DONE;
    job_ended(job);
    return HAC_OK;
}

static hac_status take_event(hac_client *client, const Hac__Client__JobEvent *event)
{
    hac_link *link = hac_table_find(&client->jobs_by_id, event->job);
    if (link == NULL) /* it has ended meanwhile */
        return HAC_OK;
    hac_job *job = HAC_OWNER(link, hac_job, by_id);
    if (event->state < HAC__CLIENT__JOB_STATE__JOB_DONE)
        job->state = (hac_job_state)event->state;
    if (job->progress == NULL || job->references == 0)
        return HAC_OK;
    /* Copies: the callback may receive more, into the memory that the event lies in. */
    char stage[64], device[64], note[256];
    hac_utf8_copy_line(stage, sizeof(stage), event->stage);
    hac_utf8_copy_line(device, sizeof(device), event->device);
    hac_utf8_copy_line(note, sizeof(note), event->note);
    const hac_progress progress = {
        job->state, event->fraction, stage, device, event->items_per_second, event->eta_seconds, note};
    hac_job_ref(job);
    job->progress(job->context, job, &progress);
    hac_job_unref(job);
    return HAC_OK;
}

hac_status hac_jobs_take(hac_client *client, const Hac__Client__Response *response, hac_frame *frame,
                         hac_error *err)
{
    if (response->what_case == HAC__CLIENT__RESPONSE__WHAT_EVENT)
        return take_event(client, response->event);
    hac_link *link = hac_table_find(&client->jobs_by_serial, response->serial);
    if (link == NULL)
        return hac_fail(err, HAC_PROTOCOL, "hacd answered what was not asked");
    hac_job *job = HAC_OWNER(link, hac_job, by_serial);
    switch (response->what_case) {
    case HAC__CLIENT__RESPONSE__WHAT_FAILURE:
        /* the job is done, but its result is gone: hac_job_wait says so */
        job_failed(job, job->fetching ? HAC_JOB_DONE : HAC_JOB_FAILED, response->failure);
        return HAC_OK;
    case HAC__CLIENT__RESPONSE__WHAT_ACCEPTED:
        return take_accepted(job, response->accepted, err);
    case HAC__CLIENT__RESPONSE__WHAT_DONE:
        return take_done(job, response->done, frame, err);
    default:
        return hac_fail(err, HAC_PROTOCOL, "hacd's answer is of another kind than the question");
    }
}

void hac_jobs_fail(hac_client *client, const hac_error *why)
{
    hac_job *job;
    while ((job = TAILQ_FIRST(&client->flying)) != NULL) {
        job->state = HAC_JOB_FAILED;
        job->error = *why;
        job_ended(job);
    }
}

/* ---- submission ---- */

static hac_status check_devices(const hac_job_options *options, hac_error *err)
{
    if (options->n_devices > DEVICES_MAX)
        return hac_fail(err, HAC_INVALID, "%zu devices are named, at most %d can be", options->n_devices,
                        DEVICES_MAX);
    for (size_t i = 0; i < options->n_devices; i++)
        if (options->devices == NULL || !hac_is_name(options->devices[i]))
            return hac_fail(err, HAC_INVALID, "device %zu of the list has no usable name", i + 1);
    return HAC_OK;
}

hac_status hac_job_options_encode(const hac_job_options *options, Hac__Client__JobOptions *ret,
                                  hac_error *err)
{
    hac_status status = check_devices(options, err);
    if (status != HAC_OK)
        return status;
    if (options->priority < -PRIORITY_MAX || options->priority > PRIORITY_MAX)
        return hac_fail(err, HAC_INVALID, "priority %d is not within -%d … %d", options->priority,
                        PRIORITY_MAX, PRIORITY_MAX);
    if (!isfinite(options->deadline_seconds) || options->deadline_seconds < 0)
        return hac_fail(err, HAC_INVALID, "the deadline is not a number of seconds");
    Hac__Client__JobOptions encoded = HAC__CLIENT__JOB_OPTIONS__INIT;
    encoded.n_devices = options->n_devices;
    encoded.devices = (char **)(uintptr_t)options->devices;
    encoded.detach = options->detach != 0;
    encoded.progress = options->progress != NULL;
    encoded.priority = options->priority;
    encoded.deadline_seconds = options->deadline_seconds;
    encoded.memory_limit = options->memory_limit;
    encoded.determinism = options->fast != 0;
    *ret = encoded;
    return HAC_OK;
}

static hac_status enter_tables(hac_job *job, uint64_t serial, hac_error *err)
{
    hac_client *client = job->client;
    hac_status status = hac_table_put(&client->jobs_by_serial, &job->by_serial, serial, err);
    if (status != HAC_OK)
        return status;
    TAILQ_INSERT_TAIL(&client->flying, job, in_list);
    job->flying = true;
    return HAC_OK;
}

/*
 * hacd drops a client that leaves too much unread (256 KiB), and this one may submit for long before it looks
 * at an answer: no more small results are let under way than that.
 */
static hac_status limit_quick(hac_job *job, hac_error *err)
{
    hac_client *client = job->client;
    uint64_t payload_at, bytes = 0;
    hac_status status = HAC_OK;
    if (!hac_result_layout(&job->shape, &payload_at, &bytes))
        bytes = HAC_INLINE_MAX;
    bytes += QUICK_OVERHEAD;
    while (status == HAC_OK && client->quick_bytes > 0 && client->quick_bytes + bytes > QUICK_BYTES_MAX)
        status = hac_client_receive(client, UINT64_MAX, err);
    if (status != HAC_OK)
        return status;
    job->quick_bytes = bytes;
    client->quick_bytes += bytes;
    return HAC_OK;
}

hac_status hac_job_submit(hac_job *job, Hac__Client__Request *request, const int *fds, size_t n_fds,
                          bool await, hac_error *err)
{
    hac_client *client = job->client;
    hac_status status = await ? HAC_OK : limit_quick(job, err);
    request->serial = hac_client_next_serial(client);
    if (status == HAC_OK)
        status = enter_tables(job, request->serial, err);
    if (status != HAC_OK) {
        leave_tables(job);
        return status;
    }
    /* The caller does not know the handle yet, and never will if this fails. */
    void (*done)(void *context, hac_job *job) = hac_steal_ptr(job->done);
    job->wanted = done != NULL || job->progress != NULL;
    status = hac_client_send(client, request, fds, n_fds, err);
    while (status == HAC_OK && await && !job->answered)
        status = hac_client_receive(client, UINT64_MAX, err);
    /* Refused: there is no job. (A connection that broke has failed the job, with the same words.) */
    if (status == HAC_OK && job->answered && job->state == HAC_JOB_FAILED && job->id == 0)
        status = hac_fail(err, job->error.code, "%s", job->error.message);
    if (status != HAC_OK) {
        leave_tables(job);
        return status;
    }
    job->done = done;
    if (!job->flying && done != NULL)
        done(job->context, job);
    return HAC_OK;
}

hac_status hac_job_attach(hac_client *client, uint64_t id, hac_job **ret_job, hac_error *err)
{
    /* `wait` answers a known job only when it has ended: whether it is known is asked for first. */
    hac_autofree char *show = NULL;
    hac_status status = hac_client_query(client, HAC_TOPIC_SHOW, id, HAC_PLAN_JSON, &show, err);
    if (status != HAC_OK)
        return status;
    hac_cleanup(hac_job_unref_cleanup) hac_job *job = NULL;
    status = hac_job_new(client, NULL, &job, err);
    if (status != HAC_OK)
        return status;
    job->id = id;
    job->attached = true;
    job->answered = true;
    TAILQ_INSERT_TAIL(&client->flying, job, in_list);
    job->flying = true;
    status = ask_about(job, HAC__CLIENT__REQUEST__WHAT_WAIT, id, err);
    if (status != HAC_OK) {
        leave_tables(job);
        return status;
    }
    *ret_job = hac_steal_ptr(job);
    return HAC_OK;
}

/* ---- the handle ---- */

uint64_t hac_job_id(const hac_job *job)
{
    return job->id;
}

hac_job_state hac_job_get_state(const hac_job *job)
{
    return job->state;
}

hac_status hac_job_wait(hac_job *job, int timeout_ms, hac_error *err)
{
    uint64_t deadline = UINT64_MAX;
    if (timeout_ms >= 0)
        deadline = timeout_ms == 0 ? 0 : hac_now_ns() + (uint64_t)timeout_ms * UINT64_C(1000000);
    hac_status status = HAC_OK;
    hac_job_ref(job); /* its own callback may free it */
    if (job->flying && job->by_serial.key == 0)
        status = ask_about(job, HAC__CLIENT__REQUEST__WHAT_WAIT, job->id, err);
    while (job->flying && status == HAC_OK)
        status = hac_client_receive(job->client, deadline, err);
    if (!job->flying)
        status =
            job->error.code == HAC_OK ? HAC_OK : hac_fail(err, job->error.code, "%s", job->error.message);
    hac_job_unref(job);
    return status;
}

const void *hac_job_data(const hac_job *job)
{
    return job->data;
}

uint64_t hac_job_bytes(const hac_job *job)
{
    return job->bytes;
}

const char *hac_job_text(const hac_job *job)
{
    return job->text == NULL ? "" : job->text;
}

const void *hac_job_payload(const hac_job *job)
{
    uint64_t payload_at, bytes;
    if (job->data == NULL || !job->shape.known || job->shape.payload_bytes == 0 ||
        !hac_result_layout(&job->shape, &payload_at, &bytes))
        return NULL;
    return job->data + payload_at;
}

hac_status hac_job_cancel(hac_job *job, hac_error *err)
{
    hac_status status = HAC_OK;
    while (!job->answered && status == HAC_OK) /* its id comes with the answer */
        status = hac_client_receive(job->client, UINT64_MAX, err);
    if (!job->flying)
        return HAC_OK;
    if (status != HAC_OK)
        return status;
    Hac__Client__JobRef ref = HAC__CLIENT__JOB_REF__INIT;
    ref.job = job->id;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_CANCEL;
    request.cancel = &ref;
    hac_job_ref(job);
    status = hac_client_call(job->client, &request, HAC__CLIENT__RESPONSE__WHAT_OK, UINT64_MAX, NULL, err);
    if (status != HAC_OK && !job->flying) /* it ended first */
        status = HAC_OK;
    hac_job_unref(job);
    return status;
}

hac_status hac_job_release(hac_job *job, hac_error *err)
{
    if (job->flying)
        return hac_fail(err, HAC_INVALID, "job %" PRIu64 " has not ended", job->id);
    bool held = job->kept || job->attached; /* else hacd has forgotten it with its answer */
    if (!held || job->released)
        return HAC_OK;
    Hac__Client__JobRef ref = HAC__CLIENT__JOB_REF__INIT;
    ref.job = job->id;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_RELEASE;
    request.release = &ref;
    hac_job_ref(job);
    hac_status status =
        hac_client_call(job->client, &request, HAC__CLIENT__RESPONSE__WHAT_OK, UINT64_MAX, NULL, err);
    job->released = status == HAC_OK;
    if (job->released) { /* its memory is another job's next */
        job->data = NULL;
        job->bytes = 0;
    }
    hac_job_unref(job);
    return status;
}
