/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of tasks that is being built, and the graphs in flight. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "run_base.h"
#include "vectors.h"

#define LINES_MIN 8192 /* bytes of a message that are kept free for lines of the log */

hac_status hac_run_graph_new(hac_logic_run_state *run, hac_run_graph **ret, hac_error *err)
{
    *ret = calloc(1, sizeof **ret);
    if (*ret == NULL)
        return hac_fail_no_memory(err);
    (*ret)->tentative = SIZE_MAX;
    (*ret)->number = ++run->n_graphs;
    return HAC_OK;
}

static void free_calls(hac_run_graph *graph)
{
    for (size_t i = 0; i < graph->n_calls; i++)
        free(graph->calls[i]);
    graph->n_calls = 0;
}

void hac_run_graph_free(hac_run_graph *graph)
{
    if (graph != NULL)
        free_calls(graph);
    free(graph);
}

/* ---- buffers ---- */

void hac_run_graph_hold(hac_run_graph *graph, hac_run_memory *memory)
{
    hac_run_memory *buffer = hac_run_pool_buffer(memory);
    if (buffer->in_graph < 0) {
        buffer->in_graph = (int)graph->n_buffers;
        graph->buffers[graph->n_buffers++] = buffer;
    }
    memory->users++;
    graph->held[graph->n_held++] = memory;
}

/* ---- running ---- */

/* Closes the graph. Buffers get other numbers in the next graph. */
static void close_graph(hac_run_graph *graph)
{
    for (size_t i = 0; i < graph->n_buffers; i++)
        graph->buffers[i]->in_graph = -1;
    graph->n_buffers = 0;
}

static void forget(hac_logic_run_state *run, hac_run_graph *graph)
{
    free_calls(graph);
    close_graph(graph);
    for (size_t i = 0; i < graph->n_held; i++)
        hac_run_memory_release(run, graph->held[i]);
    graph->n_tasks = graph->n_held = graph->bytes = graph->planned = 0;
    graph->tentative = SIZE_MAX;
    graph->number = ++run->n_graphs;
}

void hac_run_forget_graph(hac_logic_run_state *run)
{
    forget(run, run->graph);
}

bool hac_run_is_pending(const hac_logic_run_state *run, const hac_run_vector *vector)
{
    bool is_sent = false;
    for (unsigned i = 0; i < run->n_sent; i++)
        is_sent |= vector->graph == run->sent[i]->number;
    return is_sent || hac_run_is_of_graph(run, vector) || vector->of_round_before;
}

/* Sets the options that all graphs of the run share. */
static void set_options(const hac_logic_run_state *run, hac_ops *ops)
{
    ops->name = run->logic->name;
    ops->policy = run->options->policy;
    ops->threshold = run->options->threshold;
    ops->kernels = run->options->kernels;
    ops->job = run->options->job;
}

hac_status hac_run_begin_job(hac_logic_run_state *run, hac_error *err)
{
    hac_ops ops = HAC_OPS_INIT;
    if (run->job != NULL)
        return HAC_OK;
    set_options(run, &ops);
    hac_status status = hac_ops_begin(run->client, &ops, &run->job, err);
    if (status != HAC_OK)
        return status;
    run->report->job = hac_job_id(run->job);
    if (run->options->begun != NULL)
        run->options->begun(run->options->context, run->report->job);
    return HAC_OK;
}

static hac_status take_values(hac_logic_run_state *run, hac_run_graph *graph, hac_error *err)
{
    hac_status status = HAC_OK;
    run->first_failed = SIZE_MAX;
    for (size_t t = 0; status == HAC_OK && t < graph->n_tasks; t++) {
        size_t n = 0;
        status = hac_job_op_values(run->job, t, graph->parts[t].values, &n, err);
        if (status == HAC_FAILED && t >= graph->tentative) {
            run->first_failed = t < run->first_failed ? t : run->first_failed;
            status = HAC_OK;
        }
    }
    return status;
}

/* Sends the graph that is being built. */
static hac_status submit(hac_logic_run_state *run, hac_error *err)
{
    hac_run_graph *graph = run->graph;
    hac_buffer *buffers[HAC_OPS_BUFFERS_MAX];
    hac_ops ops = HAC_OPS_INIT;
    for (size_t i = 0; i < graph->n_buffers; i++)
        buffers[i] = graph->buffers[i]->buffer;
    ops.buffers = buffers;
    ops.n_buffers = graph->n_buffers;
    ops.tasks = graph->tasks;
    ops.n_tasks = graph->n_tasks;
    ops.n_tentative = graph->tentative < graph->n_tasks ? graph->n_tasks - graph->tentative : 0;
    run->report->graphs++;
    run->report->tasks += graph->n_tasks;
    hac_status status = hac_run_begin_job(run, err);
    if (status == HAC_OK)
        status = hac_ops_send(run->job, &ops, hac_run_log_text(run), err);
    hac_text_clear(&run->log);
    return status;
}

/* Puts the number of the vector's row in place of the number of the task's row in a message. */
static void name_row(const hac_run_graph_task *part, char *message, size_t size)
{
    char *at = strstr(message, ": row "), *end;
    char rest[HAC_ERROR_MESSAGE_SIZE];
    if (part->order == NULL || at == NULL)
        return;
    unsigned long long place = strtoull(at + 6, &end, 10);
    if (end == at + 6 || place >= part->n_places)
        return;
    snprintf(rest, sizeof rest, "%s", end);
    snprintf(at, size - (size_t)(at - message), ": row %llu%s", (unsigned long long)part->order[place], rest);
}

/* Finds the task that a message is about. A graph also runs pieces before the current one, so the message
 * gets the position of that task's piece. */
static hac_status blame(hac_logic_run_state *run, const hac_run_graph *graph, hac_status status,
                        hac_error *err)
{
    for (size_t t = 0; err != NULL && t < graph->n_tasks; t++) {
        size_t n = strlen(graph->parts[t].name);
        if (strncmp(err->message, graph->parts[t].name, n) == 0 && err->message[n] == ':') {
            hac_error about = *err;
            name_row(&graph->parts[t], about.message, sizeof about.message);
            run->where[0] = '\0';
            /* The file is checked, so what a codelet finds invalid is the data. */
            return hac_fail(err, status == HAC_INVALID ? HAC_FAILED : status, "%.200s:%s", run->logic->file,
                            about.message);
        }
    }
    return status;
}

/* Asks hacd for the plan of the graph, in a dry run. */
static hac_status ask_plan(hac_logic_run_state *run, hac_error *err)
{
    hac_run_graph *graph = run->graph;
    uint64_t sizes[HAC_OPS_BUFFERS_MAX];
    hac_autofree char *plan = NULL;
    hac_ops ops = HAC_OPS_INIT;
    hac_error why = HAC_ERROR_NONE;
    if (graph->n_tasks == 0)
        return HAC_OK;
    for (size_t i = 0; i < graph->n_buffers; i++)
        sizes[i] = graph->buffers[i]->bytes;
    set_options(run, &ops);
    ops.sizes = sizes;
    ops.n_buffers = graph->n_buffers;
    ops.tasks = graph->tasks;
    ops.n_tasks = graph->n_tasks;
    const hac_run_options *o = run->options;
    hac_status status = o->machine == NULL ? hac_explain_ops(run->client, &ops, HAC_PLAN_JSON, &plan, &why)
                                           : hac_simulate_ops(run->client, o->machine, o->n_machine, &ops,
                                                              HAC_PLAN_JSON, &plan, &why);
    if (status != HAC_OK && o->machine != NULL && run->dry_run->lacking.code == HAC_OK) {
        run->dry_run->lacking = why;
        run->dry_run->lacking.code = status;
    }
    status = run->dry_run->take_plan(run, graph->planned_tasks, graph->n_tasks, status, plan, &why, err);
    forget(run, graph);
    return status;
}

/* Waits for a graph that was sent. */
static hac_status await(hac_logic_run_state *run, hac_run_graph *graph, hac_error *err)
{
    hac_status status = hac_ops_await(run->job, err);
    if (status == HAC_OK)
        status = take_values(run, graph, err);
    return status == HAC_OK ? status : blame(run, graph, status, err);
}

hac_status hac_run_flush(hac_logic_run_state *run, hac_error *err)
{
    hac_status status = HAC_OK;
    if (run->ahead != NULL || run->n_sent > 0)
        return hac_fail(err, HAC_AGAIN, "a round that is added ahead waits for what is before it");
    if (run->dry_run != NULL)
        return ask_plan(run, err);
    if (run->graph->n_tasks > 0)
        status = submit(run, err);
    if (run->graph->n_tasks > 0 && status == HAC_OK)
        status = await(run, run->graph, err);
    bool any = run->graph->planned > 0;
    forget(run, run->graph);
    /* A rank that went on without the others would wait for ever. */
    return any ? hac_run_agree(run, status, err) : status;
}

/* ---- graphs that are on their way ---- */

hac_status hac_run_send(hac_logic_run_state *run, hac_error *err)
{
    hac_run_graph *next = hac_steal_ptr(run->spare_graph);
    hac_status status = next != NULL ? HAC_OK : hac_run_graph_new(run, &next, err);
    if (status == HAC_OK)
        status = submit(run, err);
    if (status != HAC_OK) {
        run->spare_graph = next;
        forget(run, run->graph);
        return status;
    }
    close_graph(run->graph);
    run->sent[run->n_sent++] = run->graph;
    run->graph = next;
    return HAC_OK;
}

hac_status hac_run_await(hac_logic_run_state *run, hac_error *err)
{
    hac_run_graph *graph = run->sent[0];
    hac_status status = await(run, graph, err);
    run->sent[0] = run->sent[1];
    run->n_sent--;
    forget(run, graph);
    hac_run_graph_free(run->spare_graph);
    run->spare_graph = graph;
    return status;
}

/* ---- what a message has room for ---- */

/* Bytes of all of a graph's tasks, beside the lines that there are. */
size_t hac_run_tasks_bytes_left(const hac_logic_run_state *run)
{
    return HAC_RUN_MESSAGE_MAX - (run->log.bytes > LINES_MIN ? run->log.bytes : LINES_MIN);
}

/* ---- tasks that may turn out not to be wanted ---- */

void hac_run_tentative(hac_logic_run_state *run)
{
    run->graph->tentative = run->graph->n_tasks;
}

size_t hac_run_first_failed(const hac_logic_run_state *run)
{
    return run->first_failed;
}

bool hac_run_is_of_round_before(const hac_logic_run_state *run, const hac_run_vector *vector)
{
    if (run->ahead == NULL || !hac_run_is_pending(run, vector))
        return false;
    bool is_added = vector->n_writers > 0 &&
                    (!hac_run_is_of_graph(run, vector) || vector->writers[0].task < run->ahead->first);
    return is_added || vector->of_round_before;
}

hac_run_mark hac_run_mark_graph(const hac_logic_run_state *run)
{
    return (hac_run_mark){run->graph->n_tasks, run->graph->planned, run->graph->bytes};
}

/* The calls of these tasks, and what they hold, stay until the graph has run. */
void hac_run_take_back(hac_logic_run_state *run, hac_run_mark mark)
{
    run->graph->n_tasks = mark.tasks;
    run->graph->planned = mark.planned;
    run->graph->bytes = mark.bytes;
}

/* Counts the buffers and bytes that the tasks write. A buffer whose slots all rounds share is not counted,
 * but the bytes that tasks write of it are. */
static unsigned written(const hac_logic_run_state *run, uint64_t *ret_bytes)
{
    const hac_run_graph *graph = run->graph;
    bool is_written[HAC_OPS_BUFFERS_MAX] = {false};
    unsigned n = 0;
    *ret_bytes = 0;
    for (size_t t = 0; t < graph->n_tasks; t++)
        for (size_t s = 0; s < graph->tasks[t].n_spans; s++) {
            const hac_op_span *span = &graph->parts[t].spans[s];
            const hac_run_memory *buffer = graph->buffers[span->buffer];
            if (!span->written || is_written[span->buffer])
                continue;
            is_written[span->buffer] = buffer->slots == NULL;
            *ret_bytes += buffer->slots != NULL ? span->bytes : buffer->bytes;
            n += buffer->slots == NULL;
        }
    return n;
}

unsigned hac_run_graphs_fit(const hac_logic_run_state *run, uint64_t bytes)
{
    const hac_run_graph *graph = run->graph;
    uint64_t each;
    if (graph->n_tasks == 0)
        return 0;
    size_t fit = HAC_RUN_TASKS_MAX / graph->planned, buffers = written(run, &each);
    size_t more = buffers > 0 ? (HAC_OPS_BUFFERS_MAX - graph->n_buffers) / buffers : HAC_RUN_TASKS_MAX;
    fit = fit < 1 + more ? fit : 1 + more;
    fit = fit < hac_run_tasks_bytes_left(run) / graph->bytes ? fit
                                                             : hac_run_tasks_bytes_left(run) / graph->bytes;
    return (unsigned)(each > 0 && fit > bytes / each ? bytes / each : fit);
}

hac_status hac_run_sizes(hac_logic_run_state *run, uint32_t task, uint64_t *sizes, size_t n, hac_error *err)
{
    hac_status status = hac_run_flush(run, err);
    if (run->dry_run != NULL)
        run->dry_run->at_most = true;
    else if (status == HAC_OK)
        memcpy(sizes, run->graph->parts[task].values, n * sizeof *sizes);
    return status;
}
