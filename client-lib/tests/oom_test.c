/* SPDX-License-Identifier: Apache-2.0 */
/* Out-of-memory tests of requests and responses. Each allocation of libhac fails, once alone and once
 * together with all later allocations. Each run has its own daemon process. */
#include "fake_daemon.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/test_oom.h"
#include "base/value.h"
#include "connection/socket.h"
#include "input/stream.h"

HAC_DEFINE_CLEANUP(hac_job *, hac_job_free)

enum { KEYS = 16, LONG_TEXT = HAC_INLINE_MAX + 1000, ROW_BYTES = 50000 };

static char directory[64], path[96];
static uint32_t keys[KEYS];
static char long_text[LONG_TEXT + 1], rows[ROW_BYTES + 1];
static int rows_file;

/* The daemon's mode. The child process inherits the value at the fork. */
static enum { AS_EVER, RESULT_APART, GRAPHS } manner;

/* ---- the daemon, in its own process ---- */

static void send_done(fake_session *session, uint64_t serial, uint64_t job, uint64_t bytes, const char *text)
{
    Hac__Client__JobDone done;
    hac__client__job_done__init(&done);
    done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
    done.job = job;
    done.result_bytes = bytes;
    done.text = (char *)(uintptr_t)text;
    fake_send_done(session, serial, &done, -1);
}

/* Sends a GraphDone in which the graph's task returns one number. */
static void send_graph_done(fake_session *session, const Hac__Client__Request *request)
{
    const uint8_t values[9] = {1, 77};
    fake_send_graph_done(session, request->serial, request->append_graph->job, values, sizeof values);
}

static bool answer_graphs(fake_session *session, const Hac__Client__Request *request)
{
    static uint64_t waiting;
    switch (request->what_case) {
    case HAC__CLIENT__REQUEST__WHAT_SUBMIT_OPS:
        fake_send_accepted(session, request->serial, 9);
        return true;
    case HAC__CLIENT__REQUEST__WHAT_WAIT:
        waiting = request->serial;
        return true;
    case HAC__CLIENT__REQUEST__WHAT_APPEND_GRAPH:
        send_graph_done(session, request);
        if (request->append_graph->last)
            send_done(session, waiting, 9, 0, "");
        return true;
    case HAC__CLIENT__REQUEST__WHAT_RELEASE:
        fake_send_ok(session, request->serial);
        return true;
    default:
        return false;
    }
}

static bool answer(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case == HAC__CLIENT__REQUEST__WHAT_QUERY)
        fake_send_text(session, request->serial, request->query->job != 0 ? long_text : "{}");
    else if (request->what_case == HAC__CLIENT__REQUEST__WHAT_SUBMIT_CALIBRATE)
        send_done(session, request->serial, 1, 0, "measured");
    else if (request->what_case == HAC__CLIENT__REQUEST__WHAT_WAIT && manner == RESULT_APART)
        send_done(session, request->serial, request->wait->job, sizeof(keys), "");
    else
        return manner == GRAPHS && answer_graphs(session, request);
    return true;
}

/* ---- one run ---- */

typedef hac_status use_client(hac_client *client, hac_error *err);

static pid_t serve(int listener)
{
    pid_t child = fork();
    if (child == 0) {
        hac_test_oom_disarm();
        fake_serve_one(listener, answer);
        _exit(0);
    }
    assert_true(child > 0);
    return child;
}

static hac_status run(void *context, hac_error *err)
{
    use_client *const *use = context;
    hac_client *client = NULL;
    hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
    options.socket = path;
    int listener = -1, how;
    unlink(path);
    assert_int_equal(hac_socket_listen(path, &listener, NULL), HAC_OK);
    pid_t child = serve(listener);
    hac_close(listener);
    hac_status status = hac_client_connect(&options, &client, err);
    if (status == HAC_OK)
        status = (*use)(client, err);
    hac_client_free(client);
    /* ends the child's wait for a connection, if it still waits */
    if (hac_socket_connect(path, false, &listener, NULL) == HAC_OK)
        hac_close(listener);
    assert_int_equal(waitpid(child, &how, 0), child);
    if (how != 0) /* libhac broke the protocol */
        fail_msg("the daemon ended with status 0x%x", (unsigned)how);
    return status;
}

static void exhaust(use_client *use, long min_allocations)
{
    hac_test_exhaust(run, &use, min_allocations);
}

/* ---- requests ---- */

static hac_status ask_texts(hac_client *client, hac_error *err)
{
    hac_autofree char *text = NULL, *in_memory = NULL;
    hac_status status = hac_client_query(client, HAC_TOPIC_STATUS, 0, HAC_PLAN_TEXT, &text, err);
    if (status == HAC_OK)
        status = hac_client_query(client, HAC_TOPIC_LOG, 1, HAC_PLAN_TEXT, &in_memory, err);
    if (status == HAC_OK) {
        assert_string_equal(text, "{}");
        assert_string_equal(in_memory, long_text);
    }
    return status;
}

static hac_status use_buffers(hac_client *client, hac_error *err)
{
    hac_buffer *growing = NULL, *plain = NULL;
    hac_status status = hac_buffer_alloc_growable(client, 5000, &growing, err);
    if (status == HAC_OK)
        status = hac_buffer_grow(growing, 100000, err);
    for (int i = 0; i < 2 && status == HAC_OK; i++) { /* a new mapping, then a reused one */
        status = hac_buffer_alloc(client, 64, &plain, err);
        if (status == HAC_OK)
            memset(hac_buffer_data(plain), 1, 64);
        hac_buffer_free(hac_steal_ptr(plain));
    }
    if (status == HAC_OK)
        memset(hac_buffer_data(growing), 1, 100000);
    hac_buffer_free(growing);
    return status;
}

/* Waits for a sort, and exports its result as columns. */
static hac_status take_sorted(hac_job *job, hac_error *err)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    hac_status status = hac_job_wait(job, -1, err);
    if (status != HAC_OK)
        return status;
    const uint32_t *sorted = hac_job_data(job);
    assert_int_equal(hac_job_bytes(job), sizeof(keys));
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(sorted[i], i);
    status = hac_job_export_arrow(job, &schema, &array, err);
    if (status == HAC_OK) {
        schema.release(&schema);
        array.release(&array);
    }
    return status;
}

static void count(void *context, hac_job *job)
{
    (void)job;
    ++*(int *)context;
}

static void count_progress(void *context, hac_job *job, const hac_progress *progress)
{
    (void)progress;
    count(context, job);
}

static hac_sort_options sort_options(void)
{
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    return options;
}

/* Sorts. A small job is answered with one message. A job with callbacks is answered with three messages, and
 * its result is in pool memory. */
static hac_status sort(hac_client *client, hac_error *err)
{
    int calls = 0;
    hac_cleanup(hac_job_free_cleanup) hac_job *small = NULL, *told = NULL;
    hac_sort_options options = sort_options();
    hac_status status = hac_sort_memory(client, keys, KEYS, &options, &small, err);
    options.job.done = count;
    options.job.progress = count_progress;
    options.job.context = &calls;
    if (status == HAC_OK)
        status = hac_sort_memory(client, keys, KEYS, &options, &told, err);
    if (status == HAC_OK)
        status = take_sorted(small, err);
    if (status == HAC_OK)
        status = take_sorted(told, err);
    if (status == HAC_OK)
        assert_int_equal(calls, 2);
    return status;
}

/* Detaches a job and attaches to it. A separate request fetches the result. */
static hac_status attach(hac_client *client, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL, *attached = NULL;
    hac_sort_options options = sort_options();
    options.job.detach = 1;
    hac_status status = hac_sort_memory(client, keys, KEYS, &options, &job, err);
    if (status == HAC_OK)
        status = hac_job_attach(client, hac_job_id(job), &attached, err);
    if (status == HAC_OK)
        status = hac_job_wait(attached, -1, err);
    if (status == HAC_OK)
        assert_int_equal(hac_job_bytes(attached), sizeof(keys));
    return status;
}

static hac_status calibrate(hac_client *client, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_status status = hac_calibrate(client, 0, NULL, &job, err);
    if (status == HAC_OK)
        status = hac_job_wait(job, -1, err);
    if (status == HAC_OK)
        assert_string_equal(hac_job_text(job), "measured");
    return status;
}

static void keep_schema(struct ArrowSchema *schema)
{
    (void)schema;
}

static void keep_array(struct ArrowArray *array)
{
    (void)array;
}

/* Sends a result on as a stream, and exports what comes back, which is the same. */
static hac_status stream_columns(hac_client *client, hac_job *result, const hac_query_options *options,
                                 struct ArrowSchema *schema, struct ArrowArray *array, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    struct ArrowArrayStream stream;
    hac_status status = hac_job_export_arrow_stream(result, &stream, err);
    if (status != HAC_OK)
        return status;
    status = hac_query_arrow_stream(client, &stream, options, &job, err);
    assert_null(stream.release);
    if (status == HAC_OK)
        status = hac_job_wait(job, -1, err);
    return status == HAC_OK ? hac_job_export_arrow(job, schema, array, err) : status;
}

/* Sends columns and receives the same columns. The client narrows a decimal in the request and widens it in
 * the result. */
static hac_status query_columns(hac_client *client, hac_error *err)
{
    static const int64_t decimals[4][2] = {{1, 0}, {-2, -1}, {3, 0}, {4, 0}};
    static const int32_t offsets[5] = {0, 1, 3, 6, 6};
    const void *wide[2] = {NULL, decimals}, *texts[3] = {NULL, offsets, "abbccc"}, *top[1] = {NULL};
    struct ArrowSchema fields[2] = {{.format = "d:10,2", .name = "d", .release = keep_schema},
                                    {.format = "u", .name = "t", .release = keep_schema}};
    struct ArrowArray columns[2] = {{.length = 4, .n_buffers = 2, .buffers = wide, .release = keep_array},
                                    {.length = 4, .n_buffers = 3, .buffers = texts, .release = keep_array}};
    struct ArrowSchema *field_list[] = {&fields[0], &fields[1]};
    struct ArrowArray *column_list[] = {&columns[0], &columns[1]};
    struct ArrowSchema schema = {
        .format = "+s", .name = "", .n_children = 2, .children = field_list, .release = keep_schema};
    struct ArrowArray array = {.length = 4,
                               .n_buffers = 1,
                               .buffers = top,
                               .n_children = 2,
                               .children = column_list,
                               .release = keep_array};
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.result_format = HAC_RESULT_TABLE;
    hac_status status = hac_query_arrow(client, &schema, &array, &options, &job, err);
    if (status == HAC_OK)
        status = hac_job_wait(job, -1, err);
    if (status == HAC_OK)
        status = stream_columns(client, job, &options, &schema, &array, err);
    if (status == HAC_OK) {
        assert_memory_equal(array.children[0]->buffers[1], decimals, sizeof(decimals));
        schema.release(&schema);
        array.release(&array);
    }
    return status;
}

static hac_status open_rows(void *context, size_t index, int *ret_fd, const char **ret_name, hac_error *err)
{
    char name[32];
    (void)context;
    (void)index;
    (void)err;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", rows_file); /* with its own file offset */
    *ret_fd = open(name, O_RDONLY | O_CLOEXEC);
    *ret_name = "rows";
    return *ret_fd >= 0 ? HAC_OK : HAC_IO;
}

static hac_status take_rows(void *context, const void *bytes, size_t n, hac_error *err)
{
    (void)bytes;
    (void)err;
    *(size_t *)context += n;
    return HAC_OK;
}

/* Queries splits. Rows come with each split, in a message or in pool memory. Rows of groups come at the end.
 * */
static hac_status query_splits(hac_client *client, hac_error *err)
{
    hac_status status = HAC_OK;
    for (int grouped = 0; grouped < 2 && status == HAC_OK; grouped++) {
        hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
        size_t written = 0;
        hac_query_options options = HAC_QUERY_OPTIONS_INIT;
        options.input_format = HAC_INPUT_LINES;
        options.group_by = grouped ? "line" : NULL;
        hac_splits splits = HAC_SPLITS_INIT;
        splits.n_inputs = 2;
        splits.open = open_rows;
        splits.write = take_rows;
        splits.context = &written;
        status = hac_query_splits(client, &splits, &options, &job, err);
        if (status == HAC_OK)
            assert_int_equal(grouped ? hac_job_bytes(job) : written, 2 * ROW_BYTES);
    }
    return status;
}

static hac_status run_graphs(hac_client *client, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_cleanup(hac_buffer_free_cleanup) hac_buffer *buffer = NULL;
    hac_ops ops = HAC_OPS_INIT;
    uint64_t values[HAC_OP_VALUES_MAX];
    size_t n = 0;
    hac_status status = hac_buffer_alloc(client, 4096, &buffer, err);
    if (status == HAC_OK)
        status = hac_ops_begin(client, &ops, &job, err);
    if (status != HAC_OK)
        return status;
    const hac_op_span span = {.written = 1, .bytes = 4096};
    const hac_op_task task = {
        .codelet = "op.fill", .count = 1, .spans = &span, .n_spans = 1, .call = "call", .call_bytes = 4};
    ops.buffers = &buffer;
    ops.n_buffers = 1;
    ops.tasks = &task;
    ops.n_tasks = 1;
    for (int i = 0; i < 2 && status == HAC_OK; i++)
        status = hac_ops_run(job, &ops, "a round", err);
    if (status == HAC_OK)
        status = hac_job_op_values(job, 0, values, &n, err);
    if (status == HAC_OK)
        assert_int_equal(values[0], 77);
    return status == HAC_OK ? hac_ops_finish(job, "the end", err) : status;
}

/* ---- tests ---- */

static void test_texts(void **state)
{
    (void)state;
    exhaust(ask_texts, 6);
}

static void test_buffers(void **state)
{
    (void)state;
    exhaust(use_buffers, 8);
}

static void test_jobs(void **state)
{
    (void)state;
    exhaust(sort, 12);
    manner = RESULT_APART;
    exhaust(attach, 8);
    manner = AS_EVER;
    exhaust(calibrate, 6);
}

static void test_queries(void **state)
{
    (void)state;
    exhaust(query_columns, 20);
    exhaust(query_splits, 20);
}

static void test_graphs(void **state)
{
    (void)state;
    manner = GRAPHS;
    exhaust(run_graphs, 15);
    manner = AS_EVER;
}

static int setup(void **state)
{
    strcpy(directory, "/tmp/hac-test-XXXXXX");
    if (mkdtemp(directory) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/hacd.sock", directory);
    for (uint32_t i = 0; i < KEYS; i++)
        keys[i] = KEYS - 1 - i;
    memset(long_text, 'x', LONG_TEXT);
    for (int i = 0; i < ROW_BYTES; i++)
        rows[i] = i % 10 == 9 ? '\n' : 'r';
    if (hac_test_fds_setup(state) != 0)
        return -1;
    rows_file = hac_test_file(rows, ROW_BYTES);
    return rows_file < 0;
}

static int teardown(void **state)
{
    close(rows_file);
    unlink(path);
    rmdir(directory);
    return hac_test_fds_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_buffers),
                                       cmocka_unit_test(test_jobs), cmocka_unit_test(test_queries),
                                       cmocka_unit_test(test_graphs)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
