/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/op_layout.h"
#include "connection/options.h"
#include "jobs/buffers.h"
#include "jobs/jobs.h"

struct hac_ops_wire {
    Hac__Client__SubmitOps message;
    Hac__Client__JobOptions options;
    uint32_t buffers[HAC_OPS_BUFFERS_MAX];
    Hac__Client__OpTask *tasks;
    Hac__Client__OpTask **task_list;
    Hac__Client__OpSpan *spans;
    Hac__Client__OpSpan **span_list;
};

void hac_ops_wire_free(hac_ops_wire *wire)
{
    if (wire == NULL)
        return;
    free(wire->tasks);
    free(wire->task_list);
    free(wire->spans);
    free(wire->span_list);
    free(wire);
}

Hac__Client__SubmitOps *hac_ops_wire_message(hac_ops_wire *wire)
{
    return &wire->message;
}

static hac_status check_task(const hac_ops *ops, size_t index, hac_error *err)
{
    const hac_op_task *task = &ops->tasks[index];
    bool graph = task->codelet != NULL && task->call != NULL && task->n_spans <= HAC_SPANS_MAX &&
                 task->call_bytes > 0 && task->call_bytes <= HAC_OP_CALL_MAX &&
                 task->n_after <= HAC_OPS_AFTER_MAX && isfinite(task->units) && task->units >= 0;
    for (size_t i = 0; graph && i < task->n_spans; i++)
        graph = task->spans[i].buffer < ops->n_buffers && task->spans[i].offset % 64 == 0;
    for (size_t i = 0; graph && i < task->n_after; i++)
        graph = task->after[i] < index;
    return graph ? HAC_OK
                 : hac_fail(err, HAC_INVALID,
                            "task %zu (%s) is no sub-operator: its codelet, call, spans, order or units",
                            index, task->name != NULL ? task->name : "without a name");
}

static hac_status check_policy(const hac_ops *ops, hac_error *err)
{
    return (unsigned)ops->policy > HAC_OP_POLICY_RULE
               ? hac_fail(err, HAC_INVALID, "policy %d does not exist", (int)ops->policy)
               : HAC_OK;
}

static hac_status check_ops(hac_client *client, const hac_ops *ops, bool plan, hac_error *err)
{
    if (ops->n_tasks == 0 || ops->n_tasks > HAC_OPS_TASKS_MAX || ops->n_buffers > HAC_OPS_BUFFERS_MAX)
        return hac_fail(err, HAC_INVALID, "a graph has 1 to %d tasks and at most %d buffers, not %zu and %zu",
                        HAC_OPS_TASKS_MAX, HAC_OPS_BUFFERS_MAX, ops->n_tasks, ops->n_buffers);
    if (ops->n_tentative > ops->n_tasks)
        return hac_fail(err, HAC_INVALID, "%zu tasks are tentative, of %zu", ops->n_tentative, ops->n_tasks);
    if (ops->n_buffers > 0 && (plan ? (const void *)ops->sizes : (const void *)ops->buffers) == NULL)
        return hac_fail(err, HAC_INVALID, "the graph's %s are not given", plan ? "sizes" : "buffers");
    for (size_t i = 0; !plan && i < ops->n_buffers; i++)
        if (ops->buffers[i] == NULL || ops->buffers[i]->client != client)
            return hac_fail(err, HAC_INVALID, "buffer %zu is none of this client", i);
    hac_status status = check_policy(ops, err);
    for (size_t i = 0; i < ops->n_tasks && status == HAC_OK; i++)
        status = check_task(ops, i, err);
    return status;
}

static void encode_task(hac_ops_wire *wire, const hac_op_task *from, size_t index, size_t *n_spans)
{
    Hac__Client__OpTask *to = wire->task_list[index] = &wire->tasks[index];
    hac__client__op_task__init(to);
    to->codelet = hac_wire_text(from->codelet);
    to->name = hac_wire_text(from->name);
    to->type = (uint32_t)from->type;
    to->first = from->first;
    to->count = from->count;
    to->grain = from->grain;
    to->call = (ProtobufCBinaryData){from->call_bytes, (uint8_t *)(uintptr_t)from->call};
    to->after = (uint32_t *)(uintptr_t)from->after;
    to->n_after = from->n_after;
    to->units = from->units;
    to->memory = from->memory;
    to->pin = hac_wire_text(from->pin);
    to->host = from->host != 0;
    to->spans = wire->span_list + *n_spans;
    to->n_spans = from->n_spans;
    for (size_t i = 0; i < from->n_spans; i++) {
        Hac__Client__OpSpan *span = wire->span_list[*n_spans] = &wire->spans[*n_spans];
        hac__client__op_span__init(span);
        span->buffer = from->spans[i].buffer;
        span->offset = from->spans[i].offset;
        span->bytes = from->spans[i].bytes;
        span->written = from->spans[i].written != 0;
        span->touch_first = from->spans[i].touch_first;
        span->touch_bytes = from->spans[i].touch_bytes;
        ++*n_spans;
    }
}

static void encode_whole(const hac_ops *ops, Hac__Client__JobOptions *options, Hac__Client__SubmitOps *ret)
{
    hac__client__submit_ops__init(ret);
    ret->name = hac_wire_text(ops->name);
    ret->options = options;
    ret->policy = (Hac__Client__OpPolicy)ops->policy;
    ret->threshold = ops->threshold;
    ret->kernels = ops->kernels != 0;
}

static void encode(hac_ops_wire *wire, const hac_ops *ops, bool plan)
{
    size_t n_spans = 0;
    Hac__Client__SubmitOps *message = &wire->message;
    encode_whole(ops, &wire->options, message);
    message->n_tentative = (uint32_t)ops->n_tentative;
    for (size_t i = 0; i < ops->n_tasks; i++)
        encode_task(wire, &ops->tasks[i], i, &n_spans);
    for (size_t i = 0; !plan && i < ops->n_buffers; i++)
        wire->buffers[i] = hac_mapping_id(ops->buffers[i]->mapping);
    message->buffers = wire->buffers;
    message->n_buffers = plan ? 0 : ops->n_buffers;
    message->tasks = wire->task_list;
    message->n_tasks = ops->n_tasks;
}

hac_status hac_ops_encode(hac_client *client, const hac_ops *ops, bool plan, hac_ops_wire **ret,
                          hac_error *err)
{
    hac_ops known = HAC_OPS_INIT;
    hac_cleanup(hac_ops_wire_free_cleanup) hac_ops_wire *wire = calloc(1, sizeof(*wire));
    size_t n_spans = 1;
    if (wire == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_options_read(ops, "graph", "HAC_OPS_INIT", &known, sizeof(known), err);
    if (status == HAC_OK)
        status = check_ops(client, &known, plan, err);
    if (status == HAC_OK)
        status = hac_job_options_encode(&known.job, &wire->options, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < known.n_tasks; i++)
        n_spans += known.tasks[i].n_spans;
    wire->tasks = calloc(known.n_tasks + 1, sizeof(*wire->tasks));
    wire->task_list = calloc(known.n_tasks + 1, sizeof(*wire->task_list));
    wire->spans = calloc(n_spans, sizeof(*wire->spans));
    wire->span_list = calloc(n_spans, sizeof(*wire->span_list));
    if (wire->tasks == NULL || wire->task_list == NULL || wire->spans == NULL || wire->span_list == NULL)
        return hac_fail_no_memory(err);
    encode(wire, &known, plan);
    *ret = hac_steal_ptr(wire);
    return HAC_OK;
}

static hac_status submit(hac_client *client, const hac_job_options *options, Hac__Client__SubmitOps *message,
                         bool await, hac_job **ret, hac_error *err)
{
    hac_cleanup(hac_job_unref_cleanup) hac_job *job = NULL;
    hac_status status = hac_job_new(client, options, &job, err);
    if (status != HAC_OK)
        return status;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_SUBMIT_OPS;
    request.submit_ops = message;
    status = hac_job_submit(job, &request, NULL, 0, await, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(job);
    return status;
}

hac_status hac_ops_submit(hac_client *client, const hac_ops *ops, hac_job **ret_job, hac_error *err)
{
    hac_cleanup(hac_ops_wire_free_cleanup) hac_ops_wire *wire = NULL;
    hac_status status = hac_ops_encode(client, ops, false, &wire, err);
    return status == HAC_OK ? submit(client, &ops->job, &wire->message, ops->job.detach != 0, ret_job, err)
                            : status;
}

/* ---- one graph after another ---- */

hac_status hac_ops_begin(hac_client *client, const hac_ops *ops, hac_job **ret_job, hac_error *err)
{
    hac_ops known = HAC_OPS_INIT;
    Hac__Client__JobOptions options;
    Hac__Client__SubmitOps message;
    hac_status status = hac_options_read(ops, "graph", "HAC_OPS_INIT", &known, sizeof(known), err);
    if (status == HAC_OK && (known.n_tasks > 0 || known.n_buffers > 0 || known.n_tentative > 0))
        return hac_fail(err, HAC_INVALID, "hac_ops_begin takes no tasks and no buffers: hac_ops_run does");
    if (status == HAC_OK)
        status = check_policy(&known, err);
    if (status == HAC_OK)
        status = hac_job_options_encode(&known.job, &options, err);
    if (status != HAC_OK)
        return status;
    encode_whole(&known, &options, &message);
    message.graphs = 1;
    return submit(client, &known.job, &message, true, ret_job, err);
}

/* A graph or a log that was sent. */
typedef struct hac_graph_call {
    hac_call call;
    hac_error err; /* error of `call` */
} hac_graph_call;

/* Drops the unanswered graphs of the job. */
static void drop_graphs(hac_job *job)
{
    while (job->n_graphs > 0)
        hac_client_drop(job->client, &job->graphs[--job->n_graphs]->call);
}

static hac_status send(hac_job *job, Hac__Client__AppendGraph *message, const char *log, hac_error *err)
{
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    if (log != NULL && strlen(log) > HAC_OPS_LOG_MAX)
        return hac_fail(err, HAC_INVALID, "a log of %zu bytes; at most %d go with a graph", strlen(log),
                        HAC_OPS_LOG_MAX);
    hac_graph_call *sent = calloc(1, sizeof(*sent));
    if (sent == NULL)
        return hac_fail_no_memory(err);
    message->job = job->id;
    message->log = hac_wire_text(log);
    request.what_case = HAC__CLIENT__REQUEST__WHAT_APPEND_GRAPH;
    request.append_graph = message;
    sent->call.expected = HAC__CLIENT__RESPONSE__WHAT_GRAPH_DONE;
    sent->call.err = &sent->err;
    hac_status status = hac_client_ask(job->client, &sent->call, &request, -1, err);
    if (status != HAC_OK) {
        free(sent);
        return status;
    }
    job->graphs[job->n_graphs++] = sent;
    job->free_parts = drop_graphs;
    return HAC_OK;
}

hac_status hac_ops_await(hac_job *job, hac_error *err)
{
    hac_status status = HAC_OK;
    if (job->n_graphs == 0)
        return hac_fail(err, HAC_INVALID, "no graph of the job is on its way");
    hac_graph_call *sent = job->graphs[0];
    while (status == HAC_OK && !sent->call.answered)
        status = hac_client_receive(job->client, UINT64_MAX, err);
    if (!sent->call.answered)
        return status;
    memmove(job->graphs, job->graphs + 1, --job->n_graphs * sizeof(job->graphs[0]));
    status = sent->call.status;
    if (status == HAC_OK) {
        free(job->text); /* result of the previous graph */
        job->text = hac_steal_ptr(sent->call.reply.text);
        job->data = (const uint8_t *)job->text;
        job->bytes = sent->call.reply.bytes;
    } else if (err != NULL) {
        *err = sent->err;
    }
    hac_client_drop(job->client, &sent->call);
    return status;
}

static hac_status check_none_sent(const hac_job *job, hac_error *err)
{
    return job->n_graphs == 0
               ? HAC_OK
               : hac_fail(err, HAC_INVALID, "a graph is on its way: hac_ops_await comes first");
}

hac_status hac_ops_send(hac_job *job, const hac_ops *graph, const char *log, hac_error *err)
{
    hac_cleanup(hac_ops_wire_free_cleanup) hac_ops_wire *wire = NULL;
    Hac__Client__AppendGraph message = HAC__CLIENT__APPEND_GRAPH__INIT;
    if (job->n_graphs == HAC_OPS_UNANSWERED_MAX)
        return hac_fail(err, HAC_INVALID, "%d graphs are on their way: hac_ops_await comes first",
                        HAC_OPS_UNANSWERED_MAX);
    hac_status status = hac_ops_encode(job->client, graph, false, &wire, err);
    if (status != HAC_OK)
        return status;
    message.graph = &wire->message;
    return send(job, &message, log, err);
}

static hac_status send_and_wait(hac_job *job, Hac__Client__AppendGraph *message, const char *log,
                                hac_error *err)
{
    hac_status status = send(job, message, log, err);
    return status == HAC_OK ? hac_ops_await(job, err) : status;
}

hac_status hac_ops_run(hac_job *job, const hac_ops *graph, const char *log, hac_error *err)
{
    Hac__Client__AppendGraph message = HAC__CLIENT__APPEND_GRAPH__INIT;
    hac_status status = check_none_sent(job, err);
    if (status != HAC_OK || (graph == NULL && (log == NULL || log[0] == '\0')))
        return status;
    if (graph == NULL)
        return send_and_wait(job, &message, log, err);
    status = hac_ops_send(job, graph, log, err);
    return status == HAC_OK ? hac_ops_await(job, err) : status;
}

hac_status hac_ops_finish(hac_job *job, const char *log, hac_error *err)
{
    Hac__Client__AppendGraph message = HAC__CLIENT__APPEND_GRAPH__INIT;
    message.last = 1;
    hac_status status = check_none_sent(job, err);
    if (status != HAC_OK)
        return status;
    status = send_and_wait(job, &message, log, err);
    free(hac_steal_ptr(job->text));
    job->data = NULL;
    job->bytes = 0;
    return status == HAC_OK ? hac_job_wait(job, -1, err) : status;
}

hac_status hac_job_op_values(const hac_job *job, size_t task, uint64_t ret_values[HAC_OP_VALUES_MAX],
                             size_t *ret_n, hac_error *err)
{
    const uint8_t *data = hac_job_data(job);
    uint64_t bytes = hac_job_bytes(job), at = 0;
    for (size_t i = 0; data != NULL && at < bytes; i++) {
        bool failed = data[at] == HAC_OPS_VALUES_NONE;
        uint8_t n = failed ? 0 : data[at];
        uint64_t values = n * sizeof(*ret_values);
        at++;
        if (n > HAC_OP_VALUES_MAX || values > bytes - at)
            break;
        if (i == task && failed)
            return hac_fail(err, HAC_FAILED, "task %zu has failed", task);
        if (i == task) {
            memcpy(ret_values, data + at, values);
            *ret_n = n;
            return HAC_OK;
        }
        at += values;
    }
    return hac_fail(err, HAC_NOT_FOUND, "the job has no values of a task %zu", task);
}
