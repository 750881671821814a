/* SPDX-License-Identifier: Apache-2.0 */
/* Tests graphs of sub-operators: the requests that libhac sends, and the graphs that libhac refuses itself.
 * */
#include "fake_daemon.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hac/op.h>

#include "base/op_layout.h"

enum { TASKS_MAX = 512, BUFFERS_MAX = 32, AFTER_MAX = 64, LOG_MAX = 16384, JOB = 9 };

static fake_daemon *the_daemon;
static hac_client *client;

/* The last task of the last graph as the daemon received it, and the daemon's response. */
static struct {
    size_t n_tasks, n_buffers, n_spans, n_after, call_bytes, n_tentative;
    uint32_t buffer, span_buffer, after, type, policy;
    uint64_t offset, bytes, touch_first, touch_bytes, first, count, grain, memory, threshold;
    bool written, kernels, last, host;
    double units;
    char codelet[32], name[32], pin[32], log[32];
    uint8_t call[64];
    const uint8_t *answer;
    size_t answer_bytes;
    uint8_t number; /* result of the next graph's task, unless 0; the third task fails */
    bool late;      /* the daemon answers graphs only on a cancel of the job */
    unsigned n_late;
    uint64_t serials[4]; /* the unanswered graphs */
} seen;

static void look_at(const Hac__Client__SubmitOps *ops)
{
    seen.n_tasks = ops->n_tasks;
    seen.n_buffers = ops->n_buffers;
    seen.policy = (uint32_t)ops->policy;
    seen.threshold = ops->threshold;
    seen.kernels = ops->kernels;
    seen.n_tentative = ops->n_tentative;
    if (ops->n_buffers > 0)
        seen.buffer = ops->buffers[0];
    if (ops->n_tasks == 0)
        return;
    const Hac__Client__OpTask *task = ops->tasks[ops->n_tasks - 1];
    snprintf(seen.codelet, sizeof(seen.codelet), "%s", task->codelet);
    snprintf(seen.name, sizeof(seen.name), "%s", task->name);
    snprintf(seen.pin, sizeof(seen.pin), "%s", task->pin);
    seen.type = task->type;
    seen.first = task->first;
    seen.count = task->count;
    seen.grain = task->grain;
    seen.units = task->units;
    seen.memory = task->memory;
    seen.host = task->host;
    seen.call_bytes = task->call.len;
    memcpy(seen.call, task->call.data,
           task->call.len < sizeof(seen.call) ? task->call.len : sizeof(seen.call));
    seen.n_after = task->n_after;
    seen.after = task->n_after > 0 ? task->after[task->n_after - 1] : 0;
    seen.n_spans = task->n_spans;
    if (task->n_spans == 0)
        return;
    const Hac__Client__OpSpan *span = task->spans[task->n_spans - 1];
    seen.span_buffer = span->buffer;
    seen.offset = span->offset;
    seen.bytes = span->bytes;
    seen.touch_first = span->touch_first;
    seen.touch_bytes = span->touch_bytes;
    seen.written = span->written;
}

static void send_done(fake_session *session, uint64_t serial)
{
    Hac__Client__JobDone done = HAC__CLIENT__JOB_DONE__INIT;
    done.job = JOB;
    done.state = HAC__CLIENT__JOB_STATE__JOB_DONE;
    done.text = (char *)(uintptr_t) "";
    fake_send_done(session, serial, &done, -1);
}

static void answer_number(fake_session *session, uint64_t serial)
{
    const uint8_t value[] = {1, seen.number, 0, 0, 0, 0, 0, 0, 0};
    if (seen.number++ < 3)
        fake_send_graph_done(session, serial, JOB, value, sizeof(value));
    else
        fake_send_failure(session, serial, HAC_FAILED, "y: it has failed");
}

static bool answer(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    switch (request->what_case) {
    case HAC__CLIENT__REQUEST__WHAT_SUBMIT_OPS:
        look_at(request->submit_ops);
        fake_send_accepted(session, request->serial, JOB);
        return true;
    case HAC__CLIENT__REQUEST__WHAT_APPEND_GRAPH:
        if (request->append_graph->graph != NULL)
            look_at(request->append_graph->graph);
        snprintf(seen.log, sizeof(seen.log), "%s", request->append_graph->log);
        seen.last = request->append_graph->last;
        if (seen.late)
            seen.serials[seen.n_late++] = request->serial;
        else if (seen.number > 0)
            answer_number(session, request->serial);
        else
            fake_send_graph_done(session, request->serial, JOB, seen.answer, seen.answer_bytes);
        return true;
    case HAC__CLIENT__REQUEST__WHAT_WAIT:
        send_done(session, request->serial);
        return true;
    case HAC__CLIENT__REQUEST__WHAT_PLAN_OPS:
        look_at(request->plan_ops->ops);
        fake_send_text(session, request->serial, "a plan");
        return true;
    case HAC__CLIENT__REQUEST__WHAT_RELEASE:
    case HAC__CLIENT__REQUEST__WHAT_CANCEL:
        fake_send_ok(session, request->serial);
        for (unsigned i = 0; i < seen.n_late; i++)
            fake_send_graph_done(session, seen.serials[i], JOB, seen.answer, seen.answer_bytes);
        seen.n_late = 0;
        return true;
    default:
        return false;
    }
}

static int start(void **state)
{
    memset(&seen, 0, sizeof(seen));
    return fake_setup(state, answer, &the_daemon, &client);
}

static int stop(void **state)
{
    return fake_teardown(state, the_daemon, client);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

/* A valid graph of two tasks on one buffer. Each test then makes one member invalid. */
typedef struct graph {
    hac_buffer *buffer, *list[BUFFERS_MAX + 1];
    hac_op_span spans[HAC_SPANS_MAX + 1];
    uint32_t after[AFTER_MAX + 1];
    uint8_t call[HAC_OP_CALL_MAX + 1];
    hac_op_task tasks[TASKS_MAX + 1];
    hac_ops ops;
} graph;

static void make(graph *g)
{
    static const hac_ops init = HAC_OPS_INIT;
    hac_buffer *buffer = g->buffer;
    memset(g, 0, sizeof(*g));
    g->buffer = buffer;
    for (size_t i = 0; i <= BUFFERS_MAX; i++)
        g->list[i] = buffer;
    for (size_t i = 0; i <= HAC_SPANS_MAX; i++)
        g->spans[i] = (hac_op_span){0, 1, 128, 256, 192, 64};
    for (size_t i = 0; i < sizeof(g->call); i++)
        g->call[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i <= TASKS_MAX; i++)
        g->tasks[i] = (hac_op_task){.codelet = "op.map",
                                    .name = "y",
                                    .type = HAC_TYPE_F64,
                                    .first = 4096,
                                    .count = 8192,
                                    .grain = 4096,
                                    .spans = g->spans,
                                    .n_spans = 1,
                                    .call = g->call,
                                    .call_bytes = 48,
                                    .after = g->after,
                                    .n_after = i > 0,
                                    .units = 1.5,
                                    .memory = 12345,
                                    .pin = "cpu",
                                    .host = 2};
    g->ops = init;
    g->ops.name = "a graph";
    g->ops.buffers = g->list;
    g->ops.n_buffers = 1;
    g->ops.tasks = g->tasks;
    g->ops.n_tasks = 2;
}

static graph *new_graph(void)
{
    graph *g = calloc(1, sizeof(*g));
    assert_non_null(g);
    assert_int_equal(hac_buffer_alloc(client, 4096, &g->buffer, NULL), HAC_OK);
    make(g);
    return g;
}

static void free_graph(graph *g)
{
    hac_buffer_free(g->buffer);
    free(g);
}

static void assert_accepted(const graph *g)
{
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    if (hac_ops_submit(client, &g->ops, &job, &err) != HAC_OK || hac_job_wait(job, -1, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_job_free(job);
}

/* Asserts that libhac refuses the graph with `words` and sends no request. Makes the graph valid again. */
static void assert_refused(graph *g, const char *words)
{
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    unsigned before = fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_SUBMIT_OPS);
    assert_int_equal(hac_ops_submit(client, &g->ops, &job, &err), HAC_INVALID);
    hac_test_assert_says(err.message, words);
    assert_null(job);
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_SUBMIT_OPS), before);
    make(g);
}

/* hacd receives all members of a task. */
static void test_said(void **state)
{
    (void)state;
    graph *g = new_graph();
    g->ops.policy = HAC_OP_POLICY_RULE;
    g->ops.threshold = 77;
    g->ops.kernels = 3;
    g->ops.n_tentative = 2;
    assert_accepted(g);
    assert_int_equal(seen.n_tentative, 2);
    assert_int_equal(seen.n_tasks, 2);
    assert_int_equal(seen.n_buffers, 1);
    assert_true(seen.buffer > 0);
    assert_int_equal(seen.policy, HAC_OP_POLICY_RULE);
    assert_int_equal(seen.threshold, 77);
    assert_true(seen.kernels);
    assert_string_equal(seen.codelet, "op.map");
    assert_string_equal(seen.name, "y");
    assert_string_equal(seen.pin, "cpu");
    assert_int_equal(seen.type, HAC_TYPE_F64);
    assert_int_equal(seen.first, 4096);
    assert_int_equal(seen.count, 8192);
    assert_int_equal(seen.grain, 4096);
    assert_true(seen.units == 1.5);
    assert_int_equal(seen.memory, 12345);
    assert_true(seen.host);
    assert_int_equal(seen.call_bytes, 48);
    assert_memory_equal(seen.call, g->call, 48);
    assert_int_equal(seen.n_after, 1);
    assert_int_equal(seen.after, 0);
    assert_int_equal(seen.n_spans, 1);
    assert_int_equal(seen.span_buffer, 0);
    assert_int_equal(seen.offset, 128);
    assert_int_equal(seen.bytes, 256);
    assert_int_equal(seen.touch_first, 192);
    assert_int_equal(seen.touch_bytes, 64);
    assert_true(seen.written);
    make(g);
    g->tasks[1].name = g->tasks[1].pin = NULL;
    g->tasks[1].n_after = g->tasks[1].n_spans = 0;
    g->tasks[1].host = 0;
    g->ops.n_buffers = 0;
    g->tasks[0].n_spans = 0;
    assert_accepted(g);
    assert_int_equal(seen.n_buffers, 0);
    assert_false(seen.host);
    assert_string_equal(seen.name, "");
    assert_string_equal(seen.pin, "");
    free_graph(g);
}

/* The maximum number, and one more. */
static void test_limits(void **state)
{
    (void)state;
    graph *g = new_graph();
    g->tasks[1].n_spans = HAC_SPANS_MAX;
    g->tasks[1].n_after = AFTER_MAX;
    g->tasks[1].call_bytes = HAC_OP_CALL_MAX;
    g->ops.n_buffers = BUFFERS_MAX;
    g->spans[0].buffer = BUFFERS_MAX - 1;
    g->tasks[1].units = 0;
    assert_accepted(g);
    assert_int_equal(seen.n_spans, HAC_SPANS_MAX);
    assert_int_equal(seen.n_after, AFTER_MAX);
    assert_int_equal(seen.call_bytes, HAC_OP_CALL_MAX);
    assert_int_equal(seen.n_buffers, BUFFERS_MAX);
    make(g);
    g->tasks[1].n_spans = HAC_SPANS_MAX + 1;
    assert_refused(g, "task 1 (y) is no sub-operator");
    g->tasks[1].n_after = AFTER_MAX + 1;
    assert_refused(g, "task 1 (y) is no sub-operator");
    g->tasks[1].call_bytes = HAC_OP_CALL_MAX + 1;
    assert_refused(g, "task 1 (y) is no sub-operator");
    g->tasks[1].call_bytes = 0;
    assert_refused(g, "task 1 (y) is no sub-operator");
    g->ops.n_buffers = BUFFERS_MAX + 1;
    assert_refused(g, "at most 32 buffers, not 2 and 33");
    g->ops.n_tasks = TASKS_MAX + 1;
    assert_refused(g, "1 to 512 tasks");
    g->ops.n_tasks = 0;
    assert_refused(g, "1 to 512 tasks");
    free_graph(g);
}

static void test_refused(void **state)
{
    (void)state;
    graph *g = new_graph();
    hac_client *other = fake_connect(the_daemon);
    hac_buffer *foreign = NULL;
    assert_int_equal(hac_buffer_alloc(other, 4096, &foreign, NULL), HAC_OK);
    g->tasks[0].codelet = NULL;
    assert_refused(g, "task 0 (y) is no sub-operator");
    g->tasks[1].call = NULL;
    g->tasks[1].name = NULL;
    assert_refused(g, "task 1 (without a name) is no sub-operator");
    g->spans[0].buffer = 1;
    assert_refused(g, "task 0 (y) is no sub-operator");
    g->spans[0].offset = 96;
    assert_refused(g, "task 0 (y) is no sub-operator");
    g->after[0] = 1; /* depends on itself */
    assert_refused(g, "task 1 (y) is no sub-operator");
    static const double units[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        g->tasks[1].units = units[i];
        assert_refused(g, "task 1 (y) is no sub-operator");
    }
    g->ops.policy = (hac_op_policy)2;
    assert_refused(g, "policy 2 does not exist");
    g->ops.policy = (hac_op_policy)-1;
    assert_refused(g, "policy -1 does not exist");
    g->ops.buffers = NULL;
    assert_refused(g, "the graph's buffers are not given");
    g->list[0] = NULL;
    assert_refused(g, "buffer 0 is none of this client");
    g->ops.n_buffers = 2;
    g->list[1] = foreign;
    assert_refused(g, "buffer 1 is none of this client");
    g->ops.job.priority = 101;
    assert_refused(g, "priority 101");
    g->ops.size = 3;
    assert_refused(g, "HAC_OPS_INIT");
    assert_accepted(g);
    hac_buffer_free(foreign);
    hac_client_free(other);
    free_graph(g);
}

/* A plan needs sizes, not buffers. */
static void test_plans(void **state)
{
    (void)state;
    graph *g = new_graph();
    uint64_t size = 4096;
    hac_error err = HAC_ERROR_NONE;
    char *text = NULL;
    g->ops.buffers = NULL;
    assert_int_equal(hac_explain_ops(client, &g->ops, HAC_PLAN_JSON, &text, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "the graph's sizes are not given");
    g->ops.sizes = &size;
    assert_int_equal(hac_explain_ops(client, &g->ops, HAC_PLAN_JSON, &text, &err), HAC_OK);
    assert_string_equal(text, "a plan");
    assert_int_equal(seen.n_tasks, 2);
    assert_int_equal(seen.n_buffers, 0);
    free(text);
    assert_int_equal(hac_explain_ops(client, &g->ops, (hac_plan_format)3, &text, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "plan format 3");
    free_graph(g);
}

/* ---- one graph after another ---- */

static hac_job *begin(void)
{
    hac_ops ops = HAC_OPS_INIT;
    hac_job *job = NULL;
    ops.name = "a run";
    assert_int_equal(hac_ops_begin(client, &ops, &job, NULL), HAC_OK);
    return job;
}

static void test_begin(void **state)
{
    (void)state;
    graph *g = new_graph();
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    g->ops.n_buffers = 0;
    assert_int_equal(hac_ops_begin(client, &g->ops, &job, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "takes no tasks and no buffers");
    make(g);
    g->ops.n_tasks = 0;
    assert_int_equal(hac_ops_begin(client, &g->ops, &job, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "takes no tasks and no buffers");
    g->ops.n_buffers = 0;
    g->ops.policy = (hac_op_policy)7;
    assert_int_equal(hac_ops_begin(client, &g->ops, &job, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "policy 7 does not exist");
    assert_null(job);
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_SUBMIT_OPS), 0);
    free_graph(g);
}

static void test_graphs(void **state)
{
    (void)state;
    static const uint8_t answers[] = {
        0,   2,   7,   0,   0, 0, 0, 0, 0, 0, 255, 255, 255, 255,
        255, 255, 255, 255, 1, 5, 0, 0, 0, 0, 0,   0,   0x80}; /* three tasks with 0, 2 and 1 values */
    graph *g = new_graph();
    hac_job *job = begin();
    uint64_t values[HAC_OP_VALUES_MAX];
    size_t n = 99;
    assert_int_equal(hac_ops_run(job, NULL, NULL, NULL), HAC_OK); /* no work and no log: no request */
    assert_int_equal(hac_ops_run(job, NULL, "", NULL), HAC_OK);
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_APPEND_GRAPH), 0);
    seen.answer = answers;
    seen.answer_bytes = sizeof(answers);
    assert_int_equal(hac_ops_run(job, &g->ops, "a line", NULL), HAC_OK);
    assert_string_equal(seen.log, "a line");
    assert_int_equal(seen.n_tasks, 2);
    assert_int_equal(hac_job_op_values(job, 0, values, &n, NULL), HAC_OK);
    assert_int_equal(n, 0);
    assert_int_equal(hac_job_op_values(job, 1, values, &n, NULL), HAC_OK);
    assert_int_equal(n, 2);
    assert_true(values[0] == 7 && values[1] == UINT64_MAX);
    assert_int_equal(hac_job_op_values(job, 2, values, &n, NULL), HAC_OK);
    assert_int_equal(n, 1);
    assert_true(values[0] == UINT64_C(0x8000000000000005));
    assert_int_not_equal(hac_job_op_values(job, 3, values, &n, NULL), HAC_OK);
    hac_error err = HAC_ERROR_NONE;
    g->tasks[1].codelet = NULL;
    assert_int_equal(hac_ops_run(job, &g->ops, NULL, &err), HAC_INVALID); /* the run continues */
    hac_test_assert_says(err.message, "task 1 (y)");
    assert_int_equal(hac_ops_finish(job, "the end", NULL), HAC_OK);
    assert_true(seen.last);
    assert_string_equal(seen.log, "the end");
    assert_null(hac_job_data(job));
    hac_job_free(job);
    free_graph(g);
}

static uint64_t value_of_graph(const hac_job *job)
{
    uint64_t values[HAC_OP_VALUES_MAX] = {0};
    size_t n = 0;
    assert_int_equal(hac_job_op_values(job, 0, values, &n, NULL), HAC_OK);
    assert_int_equal(n, 1);
    return values[0];
}

/* Two graphs are in flight. The daemon answers them one after the other, and each has its own error. */
static void test_two_graphs(void **state)
{
    (void)state;
    graph *g = new_graph();
    hac_job *job = begin();
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_ops_await(job, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "no graph of the job is on its way");
    seen.number = 1;
    assert_int_equal(hac_ops_send(job, &g->ops, "a line", NULL), HAC_OK);
    assert_int_equal(hac_ops_send(job, &g->ops, NULL, NULL), HAC_OK);
    assert_int_equal(hac_ops_send(job, &g->ops, NULL, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "2 graphs are on their way");
    assert_int_equal(hac_ops_run(job, &g->ops, NULL, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "a graph is on its way");
    assert_int_equal(hac_ops_finish(job, NULL, &err), HAC_INVALID);
    assert_int_equal(hac_ops_await(job, NULL), HAC_OK);
    assert_int_equal(value_of_graph(job), 1);
    assert_int_equal(hac_ops_send(job, &g->ops, NULL, NULL), HAC_OK);
    assert_int_equal(hac_ops_await(job, NULL), HAC_OK);
    assert_int_equal(value_of_graph(job), 2);
    assert_int_equal(hac_ops_await(job, &err), HAC_FAILED);
    assert_string_equal(err.message, "y: it has failed");
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_APPEND_GRAPH), 3);
    hac_job_free(job);
    free_graph(g);
}

/* Frees the handle while two graphs are in flight. The client drops their responses, and keeps the
 * connection. */
static void leave_two_graphs(void)
{
    graph *g = new_graph();
    hac_job *job = begin();
    seen.late = true;
    assert_int_equal(hac_ops_send(job, &g->ops, NULL, NULL), HAC_OK);
    assert_int_equal(hac_ops_send(job, &g->ops, NULL, NULL), HAC_OK);
    hac_job_free(job);
    free_graph(g);
}

static void test_two_graphs_left(void **state)
{
    (void)state;
    leave_two_graphs();
    for (int i = 0; i < 3; i++)
        free_graph(new_graph());      /* allocates a buffer, so earlier responses are processed */
    assert_int_equal(seen.n_late, 0); /* all have been answered */
}

static void test_two_graphs_lost(void **state)
{
    (void)state;
    leave_two_graphs(); /* stop() then ends the connection */
}

/* A task that may fail, and the tasks that depend on it. */
static void test_failed_values(void **state)
{
    (void)state;
    static const uint8_t answers[] = {1, 7, 0, 0, 0, 0, 0, 0, 0, 255, 1, 8, 0, 0, 0, 0, 0, 0, 0, 255};
    graph *g = new_graph();
    hac_job *job = begin();
    uint64_t values[HAC_OP_VALUES_MAX];
    size_t n = 99;
    seen.answer = answers;
    seen.answer_bytes = sizeof(answers);
    g->ops.n_tentative = 1;
    assert_int_equal(hac_ops_run(job, &g->ops, NULL, NULL), HAC_OK);
    for (size_t t = 0; t < 4; t++) {
        hac_error err = HAC_ERROR_NONE;
        n = 99;
        assert_int_equal(hac_job_op_values(job, t, values, &n, &err), t % 2 == 0 ? HAC_OK : HAC_FAILED);
        assert_int_equal(n, t % 2 == 0 ? 1 : 99);
        assert_true(t % 2 == 1 || values[0] == 7 + t / 2);
        if (t % 2 == 1)
            hac_test_assert_says(err.message, t == 1 ? "task 1 has failed" : "task 3 has failed");
    }
    assert_int_equal(hac_job_op_values(job, 4, values, &n, NULL), HAC_NOT_FOUND);
    hac_job_free(job);
    free_graph(g);
}

/* The values from hacd may be truncated. libhac must not read beyond their end. */
static void test_values_cut_off(void **state)
{
    (void)state;
    static const uint8_t good[] = {1, 1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t many[1 + 8 * (HAC_OP_VALUES_MAX + 1)] = {HAC_OP_VALUES_MAX + 1};
    hac_job *job = begin();
    uint64_t values[HAC_OP_VALUES_MAX];
    size_t n = 99;
    seen.answer = good;
    for (seen.answer_bytes = 0; seen.answer_bytes < sizeof(good); seen.answer_bytes++) {
        assert_int_equal(hac_ops_run(job, NULL, "more", NULL), HAC_OK);
        assert_int_not_equal(hac_job_op_values(job, 0, values, &n, NULL), HAC_OK);
    }
    seen.answer = many;
    seen.answer_bytes = sizeof(many);
    assert_int_equal(hac_ops_run(job, NULL, "more", NULL), HAC_OK);
    assert_int_not_equal(hac_job_op_values(job, 0, values, &n, NULL), HAC_OK);
    assert_int_equal(n, 99);
    hac_job_free(job);
}

static void test_long_log(void **state)
{
    (void)state;
    hac_job *job = begin();
    hac_error err = HAC_ERROR_NONE;
    char *log = malloc(LOG_MAX + 2);
    assert_non_null(log);
    memset(log, 'x', LOG_MAX + 1);
    log[LOG_MAX + 1] = '\0';
    unsigned before = fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_APPEND_GRAPH);
    assert_int_equal(hac_ops_run(job, NULL, log, &err), HAC_INVALID);
    hac_test_assert_says(err.message, "a log of 16385 bytes");
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_APPEND_GRAPH), before);
    log[LOG_MAX] = '\0';
    assert_int_equal(hac_ops_run(job, NULL, log, &err), HAC_OK);
    assert_int_equal(fake_count(the_daemon, HAC__CLIENT__REQUEST__WHAT_APPEND_GRAPH), before + 1);
    free(log);
    hac_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_said),          TEST(test_limits),          TEST(test_refused),
        TEST(test_plans),         TEST(test_begin),           TEST(test_graphs),
        TEST(test_two_graphs),    TEST(test_two_graphs_left), TEST(test_two_graphs_lost),
        TEST(test_failed_values), TEST(test_values_cut_off),  TEST(test_long_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
