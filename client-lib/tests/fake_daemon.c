/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_daemon.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memfd.h"
#include "base/query_layout.h"
#include "base/type.h"
#include "base/value.h"
#include "expr/query_blob.h"

enum { MAX_SESSIONS = 64 };

struct fake_daemon {
    char directory[64], path[96];
    int listener;
    fake_hook *hook;
    void *context;
    pthread_t acceptor, threads[MAX_SESSIONS];
    int sockets[MAX_SESSIONS];
    size_t n_threads;
    atomic_uint counts[FAKE_REQUESTS];
    _Atomic uint64_t split_bytes; /* preferred split size that jobs report */
    pthread_mutex_t lock;         /* protects the members below */
    fake_buffer buffers[FAKE_BUFFERS];
    fake_job jobs[FAKE_JOBS];
    uint64_t n_jobs;
};

static void must(bool ok, const char *what)
{
    if (!ok) { /* cmocka's assertions work only in the test's own thread */
        fprintf(stderr, "fake daemon: %s: %s\n", what, strerror(errno));
        abort();
    }
}

/* ---- responses ---- */

void fake_send(fake_session *session, const Hac__Client__Response *response, const int *fds, size_t n_fds)
{
    size_t bytes = protobuf_c_message_pack(&response->base, hac_frame_body(session->send_frame));
    must(bytes <= HAC_FRAME_BODY_MAX, "answer too large");
    hac_status status = hac_frame_send(session->socket, session->send_frame, bytes, fds, n_fds, NULL);
    must(status == HAC_OK || status == HAC_NOT_FOUND, "send");
}

void fake_send_ok(fake_session *session, uint64_t serial)
{
    Hac__Client__Empty empty = HAC__CLIENT__EMPTY__INIT;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_OK;
    r.ok = &empty;
    fake_send(session, &r, NULL, 0);
}

void fake_send_graph_done(fake_session *session, uint64_t serial, uint64_t job, const void *values,
                          size_t bytes)
{
    Hac__Client__GraphDone done = HAC__CLIENT__GRAPH_DONE__INIT;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    done.job = job;
    done.values = (ProtobufCBinaryData){bytes, (uint8_t *)(uintptr_t)values};
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_GRAPH_DONE;
    r.graph_done = &done;
    fake_send(session, &r, NULL, 0);
}

void fake_send_failure(fake_session *session, uint64_t serial, hac_status code, const char *message)
{
    fake_send_refusal(session, serial, code, message, 0);
}

void fake_send_refusal(fake_session *session, uint64_t serial, hac_status code, const char *message,
                       double retry_after)
{
    Hac__Client__Failure failure;
    hac__client__failure__init(&failure);
    failure.code = (uint32_t)code;
    failure.message = (char *)(uintptr_t)message;
    failure.retry_after_seconds = retry_after;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_FAILURE;
    r.failure = &failure;
    fake_send(session, &r, NULL, 0);
}

static void send_text_piece(fake_session *session, uint64_t serial, const char *text, size_t offset)
{
    Hac__Client__Text body = HAC__CLIENT__TEXT__INIT;
    body.bytes = strlen(text);
    body.text.data = (uint8_t *)(uintptr_t)text + offset;
    body.text.len = body.bytes - offset < HAC_INLINE_MAX ? (size_t)body.bytes - offset : HAC_INLINE_MAX;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_TEXT;
    r.text = &body;
    fake_send(session, &r, NULL, 0);
}

void fake_send_text(fake_session *session, uint64_t serial, const char *text)
{
    free(session->text);
    session->text = strdup(text);
    session->text_serial = serial;
    must(session->text != NULL, "strdup");
    send_text_piece(session, serial, text, 0);
}

static void send_more_text(fake_session *session, const Hac__Client__Request *request)
{
    must(request->more_text->text == session->text_serial, "the text that was asked for");
    send_text_piece(session, request->serial, session->text, (size_t)request->more_text->offset);
}

void fake_send_buffer(fake_session *session, uint64_t serial, uint32_t id, uint64_t bytes, int fd)
{
    Hac__Client__Buffer body = HAC__CLIENT__BUFFER__INIT;
    body.buffer = id;
    body.bytes = bytes;
    body.attached = fd >= 0;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_BUFFER;
    r.buffer = &body;
    fake_send(session, &r, &fd, fd >= 0);
}

void fake_send_accepted(fake_session *session, uint64_t serial, uint64_t job)
{
    Hac__Client__JobAccepted body = HAC__CLIENT__JOB_ACCEPTED__INIT;
    body.job = job;
    body.split_bytes = atomic_load(&session->daemon->split_bytes);
    body.range_bytes = 4 * body.split_bytes;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_ACCEPTED;
    r.accepted = &body;
    fake_send(session, &r, NULL, 0);
}

void fake_send_event(fake_session *session, uint64_t job, double fraction, const char *stage)
{
    Hac__Client__JobEvent body;
    hac__client__job_event__init(&body);
    body.job = job;
    body.state = HAC__CLIENT__JOB_STATE__JOB_RUNNING;
    body.fraction = fraction;
    body.stage = (char *)(uintptr_t)stage;
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_EVENT;
    r.event = &body;
    fake_send(session, &r, NULL, 0);
}

void fake_send_done(fake_session *session, uint64_t serial, Hac__Client__JobDone *done, int fd)
{
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_DONE;
    r.done = done;
    fake_send(session, &r, &fd, fd >= 0);
}

void fake_send_data(fake_session *session, uint64_t serial, uint64_t job, const void *data, size_t bytes)
{
    Hac__Client__JobDone done;
    hac__client__job_done__init(&done);
    done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
    done.job = job;
    done.result_case = HAC__CLIENT__JOB_DONE__RESULT_DATA;
    done.data.data = (uint8_t *)(uintptr_t)data;
    done.data.len = bytes;
    done.result_bytes = bytes;
    fake_send_done(session, serial, &done, -1);
}

/* ---- the pool ---- */

static uint32_t pool_alloc(fake_daemon *daemon, uint64_t bytes, bool growable)
{
    uint32_t id = FAKE_BUFFERS;
    pthread_mutex_lock(&daemon->lock);
    for (uint32_t i = 1; i < FAKE_BUFFERS && id == FAKE_BUFFERS; i++)
        if (daemon->buffers[i].fd >= 0 && !daemon->buffers[i].in_use && daemon->buffers[i].bytes >= bytes)
            id = i;
    for (uint32_t i = 1; i < FAKE_BUFFERS && id == FAKE_BUFFERS; i++)
        if (daemon->buffers[i].fd < 0)
            id = i;
    must(id < FAKE_BUFFERS, "no buffer left");
    fake_buffer *buffer = &daemon->buffers[id];
    if (buffer->fd < 0) {
        must(hac_memfd_create("fake", bytes, growable, &buffer->fd, NULL) == HAC_OK, "memfd");
        buffer->bytes = bytes;
    }
    buffer->in_use = true;
    pthread_mutex_unlock(&daemon->lock);
    return id;
}

static void pool_release(fake_daemon *daemon, uint32_t id)
{
    pthread_mutex_lock(&daemon->lock);
    must(id < FAKE_BUFFERS && daemon->buffers[id].in_use, "release of a buffer that is not in use");
    daemon->buffers[id].in_use = false;
    pthread_mutex_unlock(&daemon->lock);
}

/* Returns the descriptor to send with a buffer, or -1 if the client already has it. */
static int fd_for(fake_session *session, uint32_t id)
{
    if (session->known[id])
        return -1;
    session->known[id] = true;
    return session->daemon->buffers[id].fd;
}

/* ---- jobs ---- */

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_keys(const Hac__Client__SortSpec *spec, void *keys, size_t bytes)
{
    if (spec->type == HAC_TYPE_U32)
        qsort(keys, bytes / 4, 4, compare_u32);
    else if (spec->type == HAC_TYPE_I64)
        qsort(keys, bytes / 8, 8, compare_i64);
}

static uint64_t new_job(fake_daemon *daemon, uint32_t result, uint64_t bytes)
{
    pthread_mutex_lock(&daemon->lock);
    uint64_t id = ++daemon->n_jobs;
    must(id < FAKE_JOBS || result == FAKE_BUFFERS, "too many jobs");
    if (id < FAKE_JOBS)
        daemon->jobs[id] = (fake_job){.result = result, .bytes = bytes};
    pthread_mutex_unlock(&daemon->lock);
    return id;
}

/* Reads `bytes` of an input into `at`. */
static void read_input(fake_daemon *daemon, const Hac__Client__Input *input, hac_frame *frame, uint8_t *at)
{
    int fd = -1;
    if (input->where_case == HAC__CLIENT__INPUT__WHERE_BUFFER)
        fd = daemon->buffers[input->buffer].fd;
    else if (input->where_case == HAC__CLIENT__INPUT__WHERE_DESCRIPTOR)
        fd = frame->fds[input->descriptor];
    if (input->where_case == HAC__CLIENT__INPUT__WHERE_DATA) {
        if (input->data.len > 0)
            memcpy(at, input->data.data, input->data.len);
    } else if (input->bytes > 0) {
        must(pread(fd, at, input->bytes, (off_t)input->offset) == (ssize_t)input->bytes, "read an input");
    }
}

static void submit_sort(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    fake_daemon *daemon = session->daemon;
    const Hac__Client__SubmitSort *sort = request->submit_sort;
    uint64_t key_bytes = sort->input->bytes, payload_at = (key_bytes + 63) / 64 * 64;
    uint64_t bytes = sort->payload == NULL ? key_bytes : payload_at + sort->payload->bytes;
    uint64_t items = key_bytes / hac_type_size((hac_type)sort->spec->type);
    bool quick = sort->input->where_case == HAC__CLIENT__INPUT__WHERE_DATA && !sort->options->detach &&
                 !sort->options->progress && !sort->options->acknowledge;
    uint8_t *result = malloc(bytes + 1);
    must(result != NULL, "malloc");
    read_input(daemon, sort->input, frame, result);
    sort_keys(sort->spec, result, key_bytes);
    if (sort->spec->argsort) { /* the result is not sorted, either */
        bytes = items * sizeof(uint32_t);
        for (uint32_t i = 0; i < items; i++)
            memcpy(result + i * sizeof(i), &i, sizeof(i));
    }
    if (sort->payload != NULL) /* not in the keys' order: tests check only the protocol */
        read_input(daemon, sort->payload, frame, result + payload_at);
    if (quick) {
        fake_send_data(session, request->serial, new_job(daemon, FAKE_BUFFERS, bytes), result, bytes);
    } else {
        uint32_t id = pool_alloc(daemon, bytes > 0 ? bytes : 1, false);
        must(pwrite(daemon->buffers[id].fd, result, bytes, 0) == (ssize_t)bytes, "write a result");
        uint64_t job = new_job(daemon, id, bytes);
        fake_send_accepted(session, request->serial, job);
        if (sort->options->progress)
            fake_send_event(session, job, 0.5, "merge 1");
    }
    free(result);
}

/* ---- queries: the result is the input ---- */

/* Returns a table as the result: a head, the columns, and the memory of the columns. */
static uint8_t *echo_table(fake_session *session, const Hac__Client__SubmitQuery *query, hac_frame *frame,
                           uint64_t *ret_bytes)
{
    const ProtobufCBinaryData *blob = &query->spec->compiled->query;
    hac_query *compiled = NULL;
    hac_table table = {0};
    must(hac_query_blob_read(blob->data, blob->len, &compiled, &table, NULL) == HAC_OK, "read a query");
    uint64_t at = sizeof(hac_result_table) + table.n_columns * sizeof(hac_result_column);
    at = (at + 63) / 64 * 64;
    uint64_t bytes = at + query->inputs[0]->bytes;
    uint8_t *result = calloc(1, bytes + 1);
    must(result != NULL, "calloc");
    hac_result_table head = {HAC_RESULT_TABLE_MAGIC, query->spec->rows, table.n_columns, bytes};
    memcpy(result, &head, sizeof(head));
    for (size_t i = 0; i < table.n_columns; i++) {
        const hac_table_column *from = &table.columns[i];
        hac_result_column to = {.kind = from->type.kind,
                                .precision = from->type.precision,
                                .scale = from->type.scale,
                                .large = from->large,
                                .validity = from->validity == UINT64_MAX ? UINT64_MAX : at + from->validity,
                                .values = at + from->values,
                                .bytes = from->bytes == UINT64_MAX ? UINT64_MAX : at + from->bytes,
                                .n_bytes = from->n_bytes};
        for (size_t c = 0; c < compiled->columns.n_fields; c++)
            if (compiled->positions[c] == i)
                snprintf(to.name, sizeof(to.name), "%s", compiled->columns.fields[c].name);
        memcpy(result + sizeof(head) + i * sizeof(to), &to, sizeof(to));
    }
    free(table.columns);
    hac_query_free(compiled);
    read_input(session->daemon, query->inputs[0], frame, result + at);
    *ret_bytes = bytes;
    return result;
}

static uint8_t *echo_text(fake_session *session, const Hac__Client__SubmitQuery *query, hac_frame *frame,
                          uint64_t *ret_bytes)
{
    uint64_t bytes = 0, at = 0;
    for (size_t i = 0; i < query->n_inputs; i++)
        bytes += query->inputs[i]->bytes;
    uint8_t *result = malloc(bytes + 1);
    must(result != NULL, "malloc");
    for (size_t i = 0; i < query->n_inputs; i++) {
        read_input(session->daemon, query->inputs[i], frame, result + at);
        at += query->inputs[i]->bytes;
    }
    *ret_bytes = bytes;
    return result;
}

static void submit_splits(fake_session *session, const Hac__Client__Request *request)
{
    const Hac__Client__QuerySpec *spec = request->submit_query->spec;
    uint64_t id = new_job(session->daemon, FAKE_BUFFERS - 1, 0);
    fake_job *job = &session->daemon->jobs[id];
    job->splits = true;
    job->rows = (spec->compiled->flags & HAC_COMPILED_AGGREGATES) == 0;
    fake_send_accepted(session, request->serial, id);
}

/* The columns of an input that is a result table; any other input has one column of strings, "line". */
static void describe(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    hac_described_column columns[16] = {{.name = "line", .kind = HAC_KIND_STRING}};
    hac_result_table head = {0};
    size_t n = 1;
    uint64_t bytes;
    uint8_t *input = echo_text(session, request->submit_query, frame, &bytes);
    if (bytes >= sizeof head)
        memcpy(&head, input, sizeof head);
    if (head.magic == HAC_RESULT_TABLE_MAGIC) {
        n = (size_t)head.n_columns;
        must(n <= 16 && bytes >= sizeof head + n * sizeof(hac_result_column), "describe a table");
    }
    for (size_t c = 0; c < n && head.magic == HAC_RESULT_TABLE_MAGIC; c++) {
        hac_result_column column;
        memcpy(&column, input + sizeof head + c * sizeof column, sizeof column);
        columns[c] = (hac_described_column){.kind = column.kind};
        memcpy(columns[c].name, column.name, sizeof columns[c].name);
    }
    free(input);
    fake_send_data(session, request->serial, new_job(session->daemon, FAKE_BUFFERS, n * sizeof *columns),
                   (const uint8_t *)columns, n * sizeof *columns);
}

static void submit_query(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    const Hac__Client__SubmitQuery *query = request->submit_query;
    uint64_t bytes = 0;
    if (query->splits) {
        submit_splits(session, request);
        return;
    }
    if (query->spec->describe == HAC__CLIENT__DESCRIPTION__DESCRIBE_COLUMNS) {
        describe(session, request, frame);
        return;
    }
    uint8_t *result = query->spec->source->format == 1 ? echo_table(session, query, frame, &bytes)
                                                       : echo_text(session, query, frame, &bytes);
    uint32_t id = pool_alloc(session->daemon, bytes > 0 ? bytes : 1, false);
    must(pwrite(session->daemon->buffers[id].fd, result, bytes, 0) == (ssize_t)bytes, "write a result");
    free(result);
    fake_send_accepted(session, request->serial, new_job(session->daemon, id, bytes));
}

static void send_result(fake_session *session, uint64_t serial, uint64_t id)
{
    fake_job job = session->daemon->jobs[id];
    Hac__Client__Buffer buffer = HAC__CLIENT__BUFFER__INIT;
    buffer.buffer = job.result;
    buffer.bytes = session->daemon->buffers[job.result].bytes;
    int fd = fd_for(session, job.result);
    buffer.attached = fd >= 0;
    Hac__Client__JobDone done;
    hac__client__job_done__init(&done);
    done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
    done.job = id;
    done.result_case = HAC__CLIENT__JOB_DONE__RESULT_BUFFER;
    done.buffer = &buffer;
    done.result_bytes = job.bytes;
    fake_send_done(session, serial, &done, fd);
}

/* ---- splits ---- */

void fake_send_split_done(fake_session *session, uint64_t serial, uint64_t job, uint64_t split,
                          const void *rows, size_t bytes, bool enough)
{
    fake_daemon *daemon = session->daemon;
    Hac__Client__Buffer buffer = HAC__CLIENT__BUFFER__INIT;
    Hac__Client__SplitDone done;
    int fd = -1;
    hac__client__split_done__init(&done);
    done.job = job;
    done.split = split;
    done.enough = enough;
    done.result_bytes = bytes;
    if (bytes > HAC_INLINE_MAX) {
        uint32_t id = pool_alloc(daemon, bytes, false);
        must(pwrite(daemon->buffers[id].fd, rows, bytes, 0) == (ssize_t)bytes, "write rows");
        buffer.buffer = id;
        buffer.bytes = daemon->buffers[id].bytes;
        fd = fd_for(session, id);
        buffer.attached = fd >= 0;
        done.result_case = HAC__CLIENT__SPLIT_DONE__RESULT_BUFFER;
        done.buffer = &buffer;
    } else if (bytes > 0) {
        done.result_case = HAC__CLIENT__SPLIT_DONE__RESULT_DATA;
        done.data = (ProtobufCBinaryData){bytes, (uint8_t *)(uintptr_t)rows};
    }
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_SPLIT_DONE;
    r.split_done = &done;
    fake_send(session, &r, &fd, fd >= 0);
}

fake_split fake_read_split(fake_daemon *daemon, const Hac__Client__AppendSplit *ask)
{
    fake_split split = {.memory = malloc(ask->bytes)};
    must(ask->buffer < FAKE_BUFFERS && daemon->buffers[ask->buffer].in_use, "a split in no buffer");
    must(split.memory != NULL &&
             pread(daemon->buffers[ask->buffer].fd, split.memory, ask->bytes, 0) == (ssize_t)ask->bytes,
         "read a split");
    memcpy(&split.header, split.memory, sizeof(split.header));
    const hac_split_header *h = &split.header;
    split.starts = (const uint64_t *)(void *)(split.memory + sizeof(*h));
    split.text = split.memory + h->text_offset;
    must(h->magic == HAC_SPLIT_MAGIC && h->text_offset % 64 == 0 &&
             h->text_offset >= sizeof(*h) + (h->n_sets + 1) * sizeof(uint64_t) && h->n_sets == ask->sets &&
             h->text_offset + h->text_bytes == ask->bytes,
         "a split's header");
    uint64_t largest = 0;
    for (uint32_t i = 0; i < h->n_sets; i++) {
        must(split.starts[i] < split.starts[i + 1], "a split's starts");
        if (split.starts[i + 1] - split.starts[i] > largest)
            largest = split.starts[i + 1] - split.starts[i];
    }
    must(split.starts[0] == h->header_bytes && split.starts[h->n_sets] == h->text_bytes &&
             largest == ask->set_bytes,
         "a split's sets");
    return split;
}

fake_job *fake_find_job(fake_daemon *daemon, uint64_t id)
{
    must(id < FAKE_JOBS, "no such job");
    return &daemon->jobs[id];
}

void fake_end_job(fake_session *session, uint64_t id, const char *failure)
{
    fake_daemon *daemon = session->daemon;
    fake_job *job = fake_find_job(daemon, id);
    job->last = true;
    if (job->waiting == 0)
        return;
    Hac__Client__Failure why;
    Hac__Client__JobDone done;
    hac__client__job_done__init(&done);
    hac__client__failure__init(&why);
    done.job = id;
    done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
    if (failure != NULL) {
        done.state = HAC__CLIENT__JOB_STATE__JOB_FAILED;
        why.code = HAC_FAILED;
        why.message = (char *)(uintptr_t)failure;
        done.failure = &why;
    }
    Hac__Client__Buffer buffer = HAC__CLIENT__BUFFER__INIT;
    int fd = -1;
    if (failure == NULL && !job->rows && job->bytes > 0) {
        uint32_t result = pool_alloc(daemon, job->bytes, false);
        job->result = result;
        must(pwrite(daemon->buffers[result].fd, job->text, job->bytes, 0) == (ssize_t)job->bytes, "write");
        buffer.buffer = result;
        buffer.bytes = daemon->buffers[result].bytes;
        fd = fd_for(session, result);
        buffer.attached = fd >= 0;
        done.result_case = HAC__CLIENT__JOB_DONE__RESULT_BUFFER;
        done.buffer = &buffer;
        done.result_bytes = job->bytes;
    }
    fake_send_done(session, job->waiting, &done, fd);
    job->waiting = 0;
}

void fake_write(fake_daemon *daemon, uint32_t buffer, uint64_t offset, const void *data, size_t bytes)
{
    must(buffer < FAKE_BUFFERS && daemon->buffers[buffer].in_use, "a buffer that is not in use is written");
    must(pwrite(daemon->buffers[buffer].fd, data, bytes, (off_t)offset) == (ssize_t)bytes, "write");
}

unsigned fake_in_use(fake_daemon *daemon)
{
    unsigned count = 0;
    pthread_mutex_lock(&daemon->lock);
    for (uint32_t i = 0; i < FAKE_BUFFERS; i++)
        count += daemon->buffers[i].in_use;
    pthread_mutex_unlock(&daemon->lock);
    return count;
}

uint8_t *fake_read_range(const Hac__Client__AppendSplit *ask, const hac_frame *frame)
{
    uint8_t *bytes = malloc(ask->bytes);
    must(bytes != NULL && ask->sets == (ask->bytes - 1) / ask->set_bytes + 1, "a range's sets");
    must(pread(hac_frame_fd(frame, 0), bytes, ask->bytes, (off_t)ask->offset) == (ssize_t)ask->bytes,
         "read a range");
    return bytes;
}

/* Returns the bytes of the sets as rows, with each split or at the end of the job. */
static void append_split(fake_session *session, const Hac__Client__Request *request, const hac_frame *frame)
{
    const Hac__Client__AppendSplit *ask = request->append_split;
    fake_job *job = fake_find_job(session->daemon, ask->job);
    must(job->splits && !job->last, "a split that no job takes");
    fake_split split = {0};
    const uint8_t *rows = NULL;
    size_t bytes = 0;
    if (ask->buffer != 0) {
        split = fake_read_split(session->daemon, ask);
        rows = split.text + split.header.header_bytes;
        bytes = split.header.text_bytes - split.header.header_bytes;
    } else if (ask->in_file) {
        rows = split.memory = fake_read_range(ask, frame);
        bytes = ask->bytes;
    }
    if (!job->rows && bytes > 0) {
        job->text = realloc(job->text, job->bytes + bytes);
        must(job->text != NULL, "realloc");
        memcpy(job->text + job->bytes, rows, bytes);
        job->bytes += bytes;
    }
    fake_send_split_done(session, request->serial, ask->job, job->n_splits++, rows, job->rows ? bytes : 0,
                         false);
    free(split.memory);
    if (ask->last)
        fake_end_job(session, ask->job, NULL);
}

static void cancel_job(fake_session *session, const Hac__Client__Request *request)
{
    fake_job *job = fake_find_job(session->daemon, request->cancel->job);
    if (job->splits && job->waiting != 0) {
        Hac__Client__JobDone done;
        hac__client__job_done__init(&done);
        done.job = request->cancel->job;
        done.state = HAC__CLIENT__JOB_STATE__JOB_CANCELLED;
        fake_send_done(session, job->waiting, &done, -1);
        job->waiting = 0;
    }
    fake_send_ok(session, request->serial);
}

static void wait_for_job(fake_session *session, const Hac__Client__Request *request)
{
    fake_job *job = fake_find_job(session->daemon, request->wait->job);
    if (!job->splits) {
        send_result(session, request->serial, request->wait->job);
        return;
    }
    job->waiting = request->serial;
    if (job->last)
        fake_end_job(session, request->wait->job, NULL);
}

static void release_job(fake_session *session, const Hac__Client__Request *request)
{
    const fake_job *job = fake_find_job(session->daemon, request->release->job);
    if (!job->splits || job->result != FAKE_BUFFERS - 1)
        pool_release(session->daemon, job->result);
    fake_send_ok(session, request->serial);
}

/* ---- requests ---- */

static void send_hello(fake_session *session, uint64_t serial)
{
    Hac__Client__Hello hello;
    hac__client__hello__init(&hello);
    hello.version = HAC_CLIENT_PROTOCOL_VERSION;
    hello.software = (char *)(uintptr_t) "fake";
    Hac__Client__Response r = HAC__CLIENT__RESPONSE__INIT;
    r.serial = serial;
    r.what_case = HAC__CLIENT__RESPONSE__WHAT_HELLO;
    r.hello = &hello;
    fake_send(session, &r, NULL, 0);
}

static void alloc_or_grow(fake_session *session, const Hac__Client__Request *request)
{
    fake_daemon *daemon = session->daemon;
    uint32_t id;
    if (request->what_case == HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC) {
        id = pool_alloc(daemon, request->buffer_alloc->bytes, request->buffer_alloc->growable);
    } else {
        id = request->buffer_grow->buffer;
        must(hac_memfd_grow(daemon->buffers[id].fd, request->buffer_grow->bytes, NULL) == HAC_OK, "grow");
        daemon->buffers[id].bytes = request->buffer_grow->bytes;
    }
    fake_send_buffer(session, request->serial, id, daemon->buffers[id].bytes, fd_for(session, id));
}

void fake_default(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    switch (request->what_case) {
    case HAC__CLIENT__REQUEST__WHAT_HELLO:
        send_hello(session, request->serial);
        break;
    case HAC__CLIENT__REQUEST__WHAT_BUFFER_ALLOC:
    case HAC__CLIENT__REQUEST__WHAT_BUFFER_GROW:
        alloc_or_grow(session, request);
        break;
    case HAC__CLIENT__REQUEST__WHAT_BUFFER_RELEASE:
        pool_release(session->daemon, request->buffer_release->buffer);
        fake_send_ok(session, request->serial);
        break;
    case HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT:
        submit_sort(session, request, frame);
        break;
    case HAC__CLIENT__REQUEST__WHAT_SUBMIT_QUERY:
        submit_query(session, request, frame);
        break;
    case HAC__CLIENT__REQUEST__WHAT_APPEND_SPLIT:
        append_split(session, request, frame);
        break;
    case HAC__CLIENT__REQUEST__WHAT_WAIT:
        wait_for_job(session, request);
        break;
    case HAC__CLIENT__REQUEST__WHAT_RESULT:
        send_result(session, request->serial, request->wait->job);
        break;
    case HAC__CLIENT__REQUEST__WHAT_CANCEL:
        cancel_job(session, request);
        break;
    case HAC__CLIENT__REQUEST__WHAT_RELEASE:
        release_job(session, request);
        break;
    case HAC__CLIENT__REQUEST__WHAT_QUERY:
    case HAC__CLIENT__REQUEST__WHAT_PLAN_SORT:
    case HAC__CLIENT__REQUEST__WHAT_PLAN_QUERY:
        fake_send_text(session, request->serial, "{}");
        break;
    case HAC__CLIENT__REQUEST__WHAT_MORE_TEXT:
        send_more_text(session, request);
        break;
    default:
        fake_send_ok(session, request->serial);
    }
}

/* ---- connections ---- */

static void serve(fake_session *session, hac_decoder *decoder, uint8_t *buffer)
{
    fake_daemon *daemon = session->daemon;
    hac_frame frame = {0};
    hac_error err = HAC_ERROR_NONE;
    while (!session->hang_up && hac_frame_receive(session->socket, buffer, &frame, NULL) == HAC_OK) {
        Hac__Client__Request *request = NULL;
        hac_status status =
            hac_decode_request(decoder, frame.body, frame.body_bytes, frame.n_fds, &request, &err);
        if (status != HAC_OK)
            fprintf(stderr, "fake daemon: %s\n", err.message);
        must(status == HAC_OK, "libhac broke the protocol");
        atomic_fetch_add(&daemon->counts[request->what_case], 1);
        if (daemon->hook == NULL || !daemon->hook(session, request, &frame))
            fake_default(session, request, &frame);
        hac_frame_clear(&frame);
    }
}

typedef struct start {
    fake_daemon *daemon;
    int socket;
} start;

static void *run_session(void *context)
{
    start *s = context;
    fake_session *session = calloc(1, sizeof(*session));
    uint8_t *buffer = malloc(HAC_FRAME_MAX);
    hac_decoder *decoder = NULL;
    must(session != NULL && buffer != NULL && hac_decoder_new(&decoder, NULL) == HAC_OK, "session");
    session->daemon = s->daemon;
    session->socket = s->socket;
    serve(session, decoder, buffer);
    shutdown(s->socket, SHUT_RDWR); /* fake_stop closes it, so that the number is not reused */
    hac_decoder_free(decoder);
    free(buffer);
    free(session->text);
    free(session);
    free(s);
    return NULL;
}

static void *run_acceptor(void *context)
{
    fake_daemon *daemon = context;
    int socket;
    while ((socket = accept4(daemon->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        start *s = malloc(sizeof(*s));
        must(s != NULL && daemon->n_threads < MAX_SESSIONS, "session");
        *s = (start){daemon, socket};
        daemon->sockets[daemon->n_threads] = socket;
        must(pthread_create(&daemon->threads[daemon->n_threads++], NULL, run_session, s) == 0, "thread");
    }
    return NULL;
}

static fake_daemon *new_daemon(fake_hook *hook, void *context)
{
    fake_daemon *daemon = calloc(1, sizeof(*daemon));
    must(daemon != NULL, "malloc");
    daemon->hook = hook;
    daemon->context = context;
    for (size_t i = 0; i < FAKE_BUFFERS; i++)
        daemon->buffers[i].fd = -1;
    pthread_mutex_init(&daemon->lock, NULL);
    return daemon;
}

void fake_serve_one(int listener, fake_hook *hook)
{
    struct pollfd p = {listener, POLLIN, 0}; /* the listener may be non-blocking */
    start *s = malloc(sizeof(*s));
    must(s != NULL && poll(&p, 1, -1) == 1, "poll");
    *s = (start){new_daemon(hook, NULL), accept4(listener, NULL, NULL, SOCK_CLOEXEC)};
    must(s->socket >= 0, "accept");
    run_session(s);
}

fake_daemon *fake_start(fake_hook *hook, void *context)
{
    fake_daemon *daemon = new_daemon(hook, context);
    strcpy(daemon->directory, "/tmp/hac-test-XXXXXX");
    must(mkdtemp(daemon->directory) != NULL, "mkdtemp");
    snprintf(daemon->path, sizeof(daemon->path), "%s/hacd.sock", daemon->directory);
    daemon->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", daemon->path);
    must(bind(daemon->listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
             listen(daemon->listener, 64) == 0,
         "listen");
    must(pthread_create(&daemon->acceptor, NULL, run_acceptor, daemon) == 0, "thread");
    return daemon;
}

void fake_stop(fake_daemon *daemon)
{
    shutdown(daemon->listener, SHUT_RDWR);
    pthread_join(daemon->acceptor, NULL);
    for (size_t i = 0; i < daemon->n_threads; i++) {
        shutdown(daemon->sockets[i], SHUT_RDWR);
        pthread_join(daemon->threads[i], NULL);
        hac_close(daemon->sockets[i]);
    }
    hac_close(daemon->listener);
    for (size_t i = 0; i < FAKE_BUFFERS; i++)
        hac_close(daemon->buffers[i].fd);
    for (size_t i = 0; i < FAKE_JOBS; i++)
        free(daemon->jobs[i].text);
    unlink(daemon->path);
    rmdir(daemon->directory);
    free(daemon);
}

const char *fake_path(const fake_daemon *daemon)
{
    return daemon->path;
}

void *fake_context(const fake_daemon *daemon)
{
    return daemon->context;
}

void fake_advise(fake_daemon *daemon, uint64_t split_bytes)
{
    atomic_store(&daemon->split_bytes, split_bytes);
}

hac_client *fake_connect(const fake_daemon *daemon)
{
    hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
    options.socket = daemon->path;
    hac_client *client = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_client_connect(&options, &client, &err);
    if (status != HAC_OK)
        fprintf(stderr, "%s\n", err.message);
    assert_int_equal(status, HAC_OK);
    return client;
}

int fake_setup(void **state, fake_hook *hook, fake_daemon **ret_daemon, hac_client **ret_client)
{
    if (hac_test_fds_setup(state) != 0)
        return -1;
    *ret_daemon = fake_start(hook, NULL);
    *ret_client = fake_connect(*ret_daemon);
    return 0;
}

int fake_teardown(void **state, fake_daemon *daemon, hac_client *client)
{
    hac_client_free(client);
    fake_stop(daemon);
    return hac_test_fds_teardown(state);
}

unsigned fake_count(fake_daemon *daemon, Hac__Client__Request__WhatCase what)
{
    return atomic_load(&daemon->counts[what]);
}
