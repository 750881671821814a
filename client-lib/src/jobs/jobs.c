/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/type.h"
#include "connection/questions.h"

enum {
    SPARE_MAX = 32,   /* max number of freed handles to keep */
    DEVICES_MAX = 16, /* limit of the protocol */
    RESULT_ALIGNMENT = 64,
    QUICK_BYTES_MAX = 192 * 1024,
    QUICK_OVERHEAD = 256, /* bytes of a message without its result */
};

/* ---- life ---- */

hac_status hac_job_new(hac_client *client, const hac_job_options *options, hac_job **ret, hac_error *err)
{
    hac_client_end_released(client);
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

/* Puts the handle into the client's spare list together with its memory for small results, or frees it. */
static void job_recycle(hac_client *client, hac_job *job)
{
    uint8_t *own = job->own;
    size_t own_capacity = job->own_capacity;
    memset(job, 0, sizeof(*job));
    job->own = own;
    job->own_capacity = own_capacity;
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
    request.release = &ref; /* all JobRef members of the union have the same type */
    hac_client_tell(client, &request);
}

/* Calls the function of the columns' owner, which may free a buffer. */
static void release_columns(struct ArrowArray *columns)
{
    struct ArrowArray own = *columns;
    columns->release = NULL;
    if (own.release != NULL)
        own.release(&own);
}

/* Ends a job whose handle is freed and about which hacd sends no more responses. */
static void job_finish(hac_job *job)
{
    hac_client *client = job->client;
    hac_mapping *input = job->input, *result = job->result;
    struct ArrowArray columns_in = job->columns_in;
    uint64_t id = job->id;
    /* hacd keeps the job and its result until the client releases it. hacd keeps an attached job for other
     * clients. */
    bool release = job->kept && !job->attached && !job->released;
    free(job->text);
    free(job->assumed);
    free(job->columns);
    hac_mappings_drop(&client->mappings, result);
    job_recycle(client, job);
    /* The calls below may process responses, which may reuse the handle and the memory. */
    hac_client_give_back(client, input);
    release_columns(&columns_in);
    if (release)
        tell_about(client, HAC__CLIENT__REQUEST__WHAT_RELEASE, id);
}

static void leave_tables(hac_job *job)
{
    hac_client *client = job->client;
    hac_id_table_remove(&client->jobs_by_serial, &job->by_serial);
    hac_id_table_remove(&client->jobs_by_id, &job->by_id);
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
    if (job->free_parts != NULL)
        job->free_parts(job);
    if (job->flying && job->by_serial.key == 0) /* no request is outstanding, so hacd sends no response */
        leave_tables(job);
    if (!job->flying)
        job_finish(job);
    else if (stays)
        job->attached = true; /* so that this client does not release the result */
    else if (job->id != 0)
        tell_about(client, HAC__CLIENT__REQUEST__WHAT_CANCEL, job->id);
    hac_client_unref(client);
}

/* ---- exports ---- */

static void end_export(hac_release *release)
{
    hac_export *export = HAC_OWNER(release, hac_export, release);
    hac_job_unref(export->job);
    free(export);
}

void hac_export_begin(hac_export *export, hac_job *job)
{
    export->release.run = end_export;
    export->job = hac_job_ref(job);
    hac_client_begin_export(job->client);
}

void hac_export_end(hac_export *export)
{
    if (!hac_client_end_export(export->job->client, &export->release))
        free(export);
}

static void end_handle(hac_release *release)
{
    hac_job *job = HAC_OWNER(release, hac_job, release);
    job->progress = NULL; /* exported columns may keep the job, but its user is gone */
    job->done = NULL;
    hac_job_unref(job);
}

void hac_job_free(hac_job *job)
{
    if (job == NULL)
        return;
    job->release.run = end_handle;
    hac_client_end_handle(job->client, &job->release);
}

static void clear_jobs(hac_client *client)
{
    hac_job *job;
    while ((job = TAILQ_FIRST(&client->spare)) != NULL) {
        TAILQ_REMOVE(&client->spare, job, in_list);
        job_delete(job);
    }
    while ((job = TAILQ_FIRST(&client->flying)) != NULL) {
        TAILQ_REMOVE(&client->flying, job, in_list);
        free(job->text);
        release_columns(&job->columns_in);
        job_delete(job);
    }
    hac_id_table_clear(&client->jobs_by_serial);
    hac_id_table_clear(&client->jobs_by_id);
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

/* Copies a result from the message into the job's memory, which grows to at most 32 KiB. */
static hac_status take_data(hac_job *job, const ProtobufCBinaryData *data, hac_error *err)
{
    if (job->own == NULL || data->len > job->own_capacity) {
        size_t capacity = 4096;
        while (capacity < data->len)
            capacity *= 2;
        uint8_t *own = aligned_alloc(RESULT_ALIGNMENT, capacity);
        if (own == NULL)
            return hac_fail_no_memory(err);
        free(job->own);
        job->own = own;
        job->own_capacity = capacity;
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

/* ---- responses of hacd ---- */

/* Gives the input back and calls the caller's callback, because the job has ended. The message must be fully
 * processed. */
static void job_ended(hac_job *job)
{
    /* hacd keeps a job that it has accepted. A job whose first response is its result has no id. */
    job->kept = job->by_id.key != 0;
    leave_tables(job);
    job->answered = true;
    if (job->references == 0) { /* the caller has already freed the handle */
        job_finish(job);
        return;
    }
    hac_job_ref(job);
    hac_client_give_back(job->client, hac_steal_ptr(job->input));
    release_columns(&job->columns_in);
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

/* Sends one of the JobRef requests of the job. The response is a JobDone. */
static hac_status ask_about(hac_job *job, Hac__Client__Request__WhatCase what, uint64_t id, hac_error *err)
{
    hac_client *client = job->client;
    Hac__Client__JobRef ref = HAC__CLIENT__JOB_REF__INIT;
    ref.job = id;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.serial = hac_client_next_serial(client);
    request.what_case = what;
    request.wait = &ref;
    hac_id_table_remove(&client->jobs_by_serial, &job->by_serial);
    hac_status status = hac_id_table_put(&client->jobs_by_serial, &job->by_serial, request.serial, err);
    return status != HAC_OK ? status : hac_client_send(client, &request, NULL, 0, err);
}

static hac_status take_accepted(hac_job *job, const Hac__Client__JobAccepted *accepted, hac_error *err)
{
    hac_client *client = job->client;
    if (job->answered || accepted->job == 0 || hac_id_table_find(&client->jobs_by_id, accepted->job) != NULL)
        return hac_fail(err, HAC_PROTOCOL, "hacd accepted job %" PRIu64 " twice", accepted->job);
    hac_status status = hac_id_table_put(&client->jobs_by_id, &job->by_id, accepted->job, err);
    if (status != HAC_OK)
        return status;
    uint64_t id = job->id = accepted->job;
    job->split_bytes = accepted->split_bytes;
    job->range_bytes = accepted->range_bytes;
    bool orphan = job->references == 0 && !job->detached;
    job->answered = true;
    if (!job->detached || job->wanted)
        status = ask_about(job, HAC__CLIENT__REQUEST__WHAT_WAIT, id, err);
    else /* hac_job_wait asks later, if the caller waits at all */
        hac_id_table_remove(&client->jobs_by_serial, &job->by_serial);
    if (status == HAC_OK && orphan)
        tell_about(client, HAC__CLIENT__REQUEST__WHAT_CANCEL, id);
    return status;
}

/* Appends to what the client itself has to say about the job. */
static bool add_text(hac_job *job, const char *text)
{
    char *all = NULL;
    if (job->text == NULL)
        return (job->text = strdup(text)) != NULL;
    if (asprintf(&all, "%s; %s", job->text, text) < 0)
        return false;
    free(job->text);
    job->text = all;
    return true;
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
    if (done->text[0] != '\0' && !add_text(job, done->text))
        return hac_fail_no_memory(err);
    job->state = HAC_JOB_DONE;
    job_ended(job);
    return HAC_OK;
}

static hac_status take_event(hac_client *client, const Hac__Client__JobEvent *event)
{
    hac_id_link *link = hac_id_table_find(&client->jobs_by_id, event->job);
    if (link == NULL) /* the job has ended meanwhile */
        return HAC_OK;
    hac_job *job = HAC_OWNER(link, hac_job, by_id);
    if (event->state < HAC__CLIENT__JOB_STATE__JOB_DONE)
        job->state = (hac_job_state)event->state;
    if (job->progress == NULL || job->references == 0)
        return HAC_OK;
    /* Copy the strings, because the callback may receive a frame into the memory that contains the event. */
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

static hac_status take_response(hac_client *client, const Hac__Client__Response *response, hac_frame *frame,
                                hac_error *err)
{
    if (response->what_case == HAC__CLIENT__RESPONSE__WHAT_EVENT)
        return take_event(client, response->event);
    hac_id_link *link = hac_id_table_find(&client->jobs_by_serial, response->serial);
    if (link == NULL)
        return hac_fail(err, HAC_PROTOCOL, "hacd answered what was not asked");
    hac_job *job = HAC_OWNER(link, hac_job, by_serial);
    switch (response->what_case) {
    case HAC__CLIENT__RESPONSE__WHAT_FAILURE:
        /* If the client was fetching, the job is done but its result is gone. hac_job_wait reports the error.
         * */
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

static void fail_jobs(hac_client *client, const hac_error *why)
{
    hac_job *job;
    while ((job = TAILQ_FIRST(&client->flying)) != NULL) {
        job->state = HAC_JOB_FAILED;
        job->error = *why;
        job_ended(job);
    }
}

const hac_client_handler hac_jobs_handler = {take_response, fail_jobs, clear_jobs};

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
    if (options->priority < -HAC_PRIORITY_MAX || options->priority > HAC_PRIORITY_MAX)
        return hac_fail(err, HAC_INVALID, "priority %d is not within -%d … %d", options->priority,
                        HAC_PRIORITY_MAX, HAC_PRIORITY_MAX);
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
    hac_status status = hac_id_table_put(&client->jobs_by_serial, &job->by_serial, serial, err);
    if (status != HAC_OK)
        return status;
    TAILQ_INSERT_TAIL(&client->flying, job, in_list);
    job->flying = true;
    return HAC_OK;
}

/*
 * Limits the total size of outstanding small results. hacd drops a client that leaves more than 256 KiB
 * unread, and a caller may submit many jobs before it reads a response.
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
    /* The caller does not have the handle yet, and never gets it if this function fails. */
    void (*done)(void *context, hac_job *job) = hac_steal_ptr(job->done);
    job->wanted = done != NULL || job->progress != NULL;
    status = hac_client_send(client, request, fds, n_fds, err);
    while (status == HAC_OK && await && !job->answered)
        status = hac_client_receive(client, UINT64_MAX, err);
    /* If hacd refused the submission, there is no job. A broken connection fails the job with the same
     * message. */
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
    /* hacd answers `wait` for a known job only at the end of the job. Ask first whether hacd knows the job.
     * */
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
    hac_job_ref(job); /* the job's callback may free the job */
    hac_client_end_released(job->client);
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

const char *hac_job_assumed(const hac_job *job)
{
    return job->assumed != NULL ? job->assumed : "";
}

int hac_job_column(const hac_job *job, size_t index, const char **ret_name, const char **ret_type)
{
    if (index >= job->n_columns)
        return 0;
    *ret_name = job->columns[index].name;
    *ret_type = job->columns[index].type;
    return 1;
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
    while (!job->answered && status == HAC_OK) /* the response contains the id */
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
    if (status != HAC_OK && !job->flying) /* the job ended before the request */
        status = HAC_OK;
    hac_job_unref(job);
    return status;
}

hac_status hac_job_release(hac_job *job, hac_error *err)
{
    if (job->flying)
        return hac_fail(err, HAC_INVALID, "job %" PRIu64 " has not ended", job->id);
    bool held = job->kept || job->attached; /* otherwise hacd dropped the job after its response */
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
    if (job->released) { /* another job may use the memory next */
        job->data = NULL;
        job->bytes = 0;
    }
    hac_job_unref(job);
    return status;
}
