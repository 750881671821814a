/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of tasks that becomes the next job. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "expr/program.h"
#include "run_graph.h"

#define MESSAGE_MOST 57344 /* bytes of calls and what goes with them, and of lines of the log … */
#define LINES_LEAST  8192  /* … which have so many at least: a job is one message of 64 KiB */
#define TASK_BYTES   160   /* of a task in that message beside its call and spans, about */
#define SPAN_BYTES   40

hac_status hac_run_graph_new(hac_logic_run *run, hac_run_graph **ret, hac_error *err)
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

/* Nothing more is added to it: buffers get other numbers in the next one. */
static void close_graph(hac_run_graph *graph)
{
    for (size_t i = 0; i < graph->n_buffers; i++)
        graph->buffers[i]->in_graph = -1;
    graph->n_buffers = 0;
}

static void forget(hac_logic_run *run, hac_run_graph *graph)
{
    free_calls(graph);
    close_graph(graph);
    for (size_t i = 0; i < graph->n_held; i++)
        hac_run_memory_release(run, graph->held[i]);
    graph->n_tasks = graph->n_held = graph->bytes = graph->planned = 0;
    graph->tentative = SIZE_MAX;
    graph->number = ++run->n_graphs;
}

void hac_run_forget_graph(hac_logic_run *run)
{
    forget(run, run->graph);
}

static bool is_of_this_graph(const hac_logic_run *run, const hac_run_vector *vector)
{
    return vector->graph == run->graph->number;
}

bool hac_run_is_pending(const hac_logic_run *run, const hac_run_vector *vector)
{
    bool is_sent = false;
    for (unsigned i = 0; i < run->n_sent; i++)
        is_sent |= vector->graph == run->sent[i]->number;
    return is_sent || is_of_this_graph(run, vector) || vector->of_round_before;
}

/* What all graphs of the run have in common. */
static void set_options(const hac_logic_run *run, hac_ops *ops)
{
    ops->name = run->logic->name;
    ops->policy = run->options->policy;
    ops->threshold = run->options->threshold;
    ops->kernels = run->options->kernels;
    ops->job = run->options->job;
}

hac_status hac_run_begin_job(hac_logic_run *run, hac_error *err)
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

static hac_status take_values(hac_logic_run *run, hac_run_graph *graph, hac_error *err)
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

/* Hands over what was added. */
static hac_status submit(hac_logic_run *run, hac_error *err)
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

/* A row in the message of a task over places is that of the vector. */
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

/* The job runs pieces before the one at work, too: a message that names a task is about that one's place. */
static hac_status blame(hac_logic_run *run, const hac_run_graph *graph, hac_status status, hac_error *err)
{
    for (size_t t = 0; err != NULL && t < graph->n_tasks; t++) {
        size_t n = strlen(graph->parts[t].name);
        if (strncmp(err->message, graph->parts[t].name, n) == 0 && err->message[n] == ':') {
            hac_error about = *err;
            name_row(&graph->parts[t], about.message, sizeof about.message);
            run->where[0] = '\0';
            /* what a codelet finds invalid is the data: the file has been checked */
            return hac_fail(err, status == HAC_INVALID ? HAC_FAILED : status, "%.200s:%s", run->logic->file,
                            about.message);
        }
    }
    return status;
}

/* Of a run that only places: hacd's plan of what was added. */
static hac_status ask_plan(hac_logic_run *run, hac_error *err)
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
    if (status != HAC_OK && o->machine != NULL && run->placing->lacking.code == HAC_OK) {
        run->placing->lacking = why;
        run->placing->lacking.code = status;
    }
    status = hac_run_placed(run, graph->planned_tasks, graph->n_tasks, status, plan, &why, err);
    forget(run, graph);
    return status;
}

/* Of a graph that was handed over. */
static hac_status await(hac_logic_run *run, hac_run_graph *graph, hac_error *err)
{
    hac_status status = hac_ops_await(run->job, err);
    if (status == HAC_OK)
        status = take_values(run, graph, err);
    return status == HAC_OK ? status : blame(run, graph, status, err);
}

hac_status hac_run_flush(hac_logic_run *run, hac_error *err)
{
    hac_status status = HAC_OK;
    if (run->ahead != NULL || run->n_sent > 0)
        return hac_fail(err, HAC_AGAIN, "a round that is added ahead waits for what is before it");
    if (run->placing != NULL)
        return ask_plan(run, err);
    if (run->graph->n_tasks > 0)
        status = submit(run, err);
    if (run->graph->n_tasks > 0 && status == HAC_OK)
        status = await(run, run->graph, err);
    bool any = run->graph->planned > 0;
    forget(run, run->graph);
    /* no rank goes on where another one cannot: it would wait for ever */
    return any ? hac_run_agree(run, status, err) : status;
}

/* ---- graphs that are on their way ---- */

hac_status hac_run_send(hac_logic_run *run, hac_error *err)
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

hac_status hac_run_await(hac_logic_run *run, hac_error *err)
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
static size_t tasks_room(const hac_logic_run *run)
{
    return MESSAGE_MOST - (run->log.bytes > LINES_LEAST ? run->log.bytes : LINES_LEAST);
}

size_t hac_run_lines_room(const hac_logic_run *run)
{
    size_t room = MESSAGE_MOST - run->graph->bytes;
    return room < HAC_OPS_LOG_MAX ? room : HAC_OPS_LOG_MAX;
}

/* ---- tasks that may turn out not to be wanted ---- */

void hac_run_tentative(hac_logic_run *run)
{
    run->graph->tentative = run->graph->n_tasks;
}

size_t hac_run_first_failed(const hac_logic_run *run)
{
    return run->first_failed;
}

bool hac_run_is_of_round_before(const hac_logic_run *run, const hac_run_vector *vector)
{
    if (run->ahead == NULL || !hac_run_is_pending(run, vector))
        return false;
    bool is_added = vector->n_writers > 0 &&
                    (!is_of_this_graph(run, vector) || vector->writers[0].task < run->ahead->first);
    return is_added || vector->of_round_before;
}

hac_run_mark hac_run_mark_graph(const hac_logic_run *run)
{
    return (hac_run_mark){run->graph->n_tasks, run->graph->planned, run->graph->bytes};
}

/* Their calls and what they hold stay until the graph has run. */
void hac_run_take_back(hac_logic_run *run, hac_run_mark mark)
{
    run->graph->n_tasks = mark.tasks;
    run->graph->planned = mark.planned;
    run->graph->bytes = mark.bytes;
}

/* The buffers that tasks write, and the bytes. Those whose slots all rounds share are not counted, what tasks
 * write of them is. */
static unsigned written(const hac_logic_run *run, uint64_t *ret_bytes)
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

unsigned hac_run_graphs_fit(const hac_logic_run *run, uint64_t bytes)
{
    const hac_run_graph *graph = run->graph;
    uint64_t each;
    if (graph->n_tasks == 0)
        return 0;
    size_t fit = HAC_RUN_TASKS_MOST / graph->planned, buffers = written(run, &each);
    size_t more = buffers > 0 ? (HAC_OPS_BUFFERS_MAX - graph->n_buffers) / buffers : HAC_RUN_TASKS_MOST;
    fit = fit < 1 + more ? fit : 1 + more;
    fit = fit < tasks_room(run) / graph->bytes ? fit : tasks_room(run) / graph->bytes;
    return (unsigned)(each > 0 && fit > bytes / each ? bytes / each : fit);
}

hac_status hac_run_sizes(hac_logic_run *run, uint32_t task, uint64_t *sizes, size_t n, hac_error *err)
{
    hac_status status = hac_run_flush(run, err);
    if (run->placing != NULL)
        run->placing->most = true;
    else if (status == HAC_OK)
        memcpy(sizes, run->graph->parts[task].values, n * sizeof *sizes);
    return status;
}

bool hac_run_writes(const hac_run_task *task, size_t i)
{
    return i < task->n_written || (task->also_written >> i & 1) != 0;
}

/* What a task reads has to be here: all rows, or those of this rank's part. Every rank decides alike. */
static hac_status bring_here(hac_logic_run *run, const hac_run_task *task, hac_error *err)
{
    bool divided = task->grain > 0 && hac_run_is_divided(run, task->rows, task->grain);
    uint64_t grain = divided ? hac_run_rank_grain(run, task->rows, task->grain) : 0;
    hac_status status = HAC_OK;
    for (size_t i = 0; i < task->n_operands && status == HAC_OK; i++) {
        hac_run_vector *v = task->operands[i];
        if (hac_run_writes(task, i) || hac_run_is_whole(v))
            continue;
        bool rows = divided && !(task->whole >> i & 1) && v->operand.rows == task->rows && v->cut.grain > 0 &&
                    v->cut.rows == task->rows && v->cut.scale == v->cut.each;
        if (!rows)
            status = hac_run_gather(run, v, err);
        else if (v->cut.grain != grain || v->cut.by != hac_run_cut_by(run, task->rows))
            status = hac_run_recut(run, v, grain, err);
    }
    return status;
}

/* ---- adding ---- */

static size_t call_size(const hac_run_task *task, size_t program_bytes)
{
    return sizeof(hac_op_call) + task->n_operands * sizeof(hac_op_operand) + program_bytes;
}

/* What the codelet is told: the same for each component. */
static hac_status make_call(const hac_run_task *task, uint8_t **ret, size_t *ret_bytes, hac_error *err)
{
    hac_text program = HAC_TEXT_NONE;
    if (task->program != NULL)
        hac_program_write(task->program, &program);
    hac_op_call call = {.magic = HAC_OP_MAGIC,
                        .function = task->function,
                        .n_operands = (uint32_t)task->n_operands,
                        .program_bytes = (uint32_t)program.bytes,
                        .flags = task->flags,
                        .a = task->a,
                        .b = task->b,
                        .n = task->n};
    size_t operands = task->n_operands * sizeof(hac_op_operand);
    *ret_bytes = call_size(task, program.bytes);
    *ret = program.broken ? NULL : malloc(*ret_bytes);
    for (size_t i = 0; *ret != NULL && i < task->n_operands; i++) {
        hac_op_operand operand = task->operands[i]->operand;
        operand.span = (uint8_t)i;
        memcpy(*ret + sizeof call + i * sizeof operand, &operand, sizeof operand);
    }
    if (*ret != NULL)
        memcpy(*ret, &call, sizeof call);
    if (*ret != NULL && program.bytes > 0)
        memcpy(*ret + sizeof call + operands, program.data, program.bytes);
    hac_text_clear(&program);
    return *ret != NULL ? HAC_OK : hac_fail_no_memory(err);
}

static void wait_after(hac_run_graph_task *part, hac_op_task *task, uint32_t other)
{
    for (size_t i = 0; i < task->n_after; i++)
        if (part->after[i] == other)
            return;
    if (task->n_after < HAC_OPS_AFTER_MAX)
        part->after[task->n_after++] = other;
}

/* Whether it reads all of an operand, and so waits for all that write it. */
static bool reads_all(const hac_run_task *what, size_t operand)
{
    return (what->whole >> operand & 1) || what->operands[operand]->operand.rows == 1 || what->grain == 0;
}

/* Whether rows [first, end) of a task wait for a task that writes these rows of an operand. */
static bool waits_for(const hac_run_task *what, size_t operand, const hac_run_writer *w, uint64_t first,
                      uint64_t end)
{
    return reads_all(what, operand) || (w->first < end && first < w->end);
}

/* The tasks that write what this one reads: of components the same rows, or all. A graph before has ended
 * when this one begins. */
static void find_order(const hac_logic_run *run, const hac_run_task *what, hac_run_graph_task *part,
                       hac_op_task *task, uint64_t first, uint64_t end)
{
    for (size_t i = 0; i < what->n_operands; i++) {
        const hac_run_vector *v = what->operands[i];
        if (hac_run_writes(what, i))
            continue;
        for (unsigned w = 0; is_of_this_graph(run, v) && w < v->n_writers; w++)
            if (waits_for(what, i, &v->writers[w], first, end))
                wait_after(part, task, v->writers[w].task);
    }
}

/* How a component's rows are those of an operand: `scale` of the task's rows are `each` rows of it. */
typedef struct row_map {
    uint64_t scale, each;
} row_map;

static row_map map_rows(const hac_run_task *what, size_t operand)
{
    if (operand > 0 || what->scale <= 1)
        return (row_map){1, 1};
    uint64_t blocks = (what->rows + what->scale - 1) / what->scale; /* tables and partials: rows for each */
    return (row_map){what->scale, blocks > 0 ? what->operands[operand]->operand.rows / blocks : 0};
}

static uint64_t mapped_first(row_map map, uint64_t first)
{
    return first / map.scale * map.each;
}

static uint64_t mapped_end(row_map map, uint64_t end)
{
    return (end + map.scale - 1) / map.scale * map.each;
}

/* Bytes that a component touches of a dense vector which it walks by rows; else all of the span. */
static void touch(const hac_run_task *what, size_t operand, uint64_t first, uint64_t end, hac_op_span *span)
{
    const hac_op_operand *v = &what->operands[operand]->operand;
    if (!hac_op_form_is_dense(v->form) || (what->scattered && operand == 0) || v->rows == 1 ||
        (what->whole >> operand & 1) || what->grain == 0)
        return;
    row_map map = map_rows(what, operand);
    uint64_t from = mapped_first(map, first);
    span->touch_bytes = (mapped_end(map, end) - from) * hac_run_row_bytes(v);
    if (span->touch_bytes > 0)
        span->touch_first = span->offset + v->values + from * hac_run_row_bytes(v);
}

/* It begins with its place in the file, by which a failure is told from that of the piece that waits. */
static void name_task(const hac_logic_run *run, const hac_run_task *what, unsigned component,
                      unsigned components, hac_run_graph_task *part)
{
    int n = snprintf(part->name, sizeof part->name, "%u:%u: %.40s", run->at.line, run->at.column, what->name);
    if (components > 1 && n > 0)
        snprintf(part->name + n, sizeof part->name - (size_t)n, " [%u of %u]", component + 1, components);
}

static void set_spans(const hac_run_task *what, uint64_t first, uint64_t end, double share, hac_op_task *task,
                      hac_run_graph_task *part)
{
    hac_op_operand operands[HAC_OP_OPERANDS_MAX];
    for (size_t i = 0; i < what->n_operands; i++) {
        hac_run_vector *v = what->operands[i];
        operands[i] = v->operand;
        part->spans[i] = (hac_op_span){.buffer = (uint32_t)hac_run_pool_buffer(v->memory)->in_graph,
                                       .written = hac_run_writes(what, i),
                                       .offset = v->memory->offset,
                                       .bytes = (v->bytes + 63) / 64 * 64};
        touch(what, i, first, end, &part->spans[i]);
        task->memory += (uint64_t)((double)v->bytes * share);
    }
    task->spans = part->spans;
    task->n_spans = what->n_operands;
    task->type = hac_op_type(what->codelet, operands, what->n_operands);
}

static void note_planned(const hac_logic_run *run, const hac_op_task *task, unsigned component,
                         unsigned components)
{
    hac_run_planned *planned = &run->graph->planned_tasks[run->graph->n_tasks];
    *planned = (hac_run_planned){.piece = run->placing->piece,
                                 .task = {.component = component,
                                          .components = components,
                                          .first = task->first,
                                          .count = task->count,
                                          .memory = task->memory,
                                          .sub_loop = run->placing->sub_loop,
                                          .sub_loops = run->placing->sub_loops,
                                          .most = run->placing->most,
                                          .places = run->graph->parts[run->graph->n_tasks].order != NULL,
                                          .seconds = NAN}};
    snprintf(planned->task.codelet, sizeof planned->task.codelet, "%s", task->codelet);
    run->placing->tasks = true;
}

/* Whether kernels take it: with exp, sin, pow … their bits would be others, with texts it has none of them.
 */
static bool suits_kernels(const hac_program *program)
{
    return hac_program_exact(program) && hac_program_fits_device(program);
}

/* One component of a sub-operator, which calls the codelet with `call`. */
static void add_one(hac_logic_run *run, const hac_run_task *what, const hac_component_range *range,
                    unsigned component, unsigned components, const uint8_t *call, size_t call_bytes)
{
    hac_run_graph *graph = run->graph;
    hac_op_task *task = &graph->tasks[graph->n_tasks];
    hac_run_graph_task *part = &graph->parts[graph->n_tasks];
    bool ranged = what->grain > 0;
    double share = what->rows > 0 && ranged ? (double)range->count / (double)what->rows : 1;
    *task = (hac_op_task){.codelet = what->codelet,
                          .name = part->name,
                          .pin = what->pin,
                          .host = what->program != NULL && !suits_kernels(what->program),
                          .after = part->after,
                          .first = ranged ? range->first : 0,
                          .count = ranged ? range->count : 0,
                          .grain = ranged && components == 1 ? what->grain : 0,
                          .call = call,
                          .call_bytes = call_bytes,
                          /* work of none has no share to be split by */
                          .units = what->units > 0 ? what->units * share : 1};
    set_spans(what, range->first, range->first + range->count, share, task, part);
    find_order(run, what, part, task, range->first, range->first + range->count);
    name_task(run, what, component, components, part);
    if (run->placing != NULL)
        note_planned(run, task, component, components);
    graph->n_tasks++;
}

/* Bytes of a task in the job's message, at most. */
static size_t message_bytes(const hac_run_task *what, size_t call_bytes)
{
    return TASK_BYTES + call_bytes + what->n_operands * SPAN_BYTES;
}

/* Whether a sub-operator of so many tasks still fits the job. */
static bool has_room(const hac_logic_run *run, const hac_run_task *what, unsigned components,
                     size_t call_bytes)
{
    const hac_run_graph *graph = run->graph;
    return graph->planned + components <= HAC_RUN_TASKS_MOST &&
           graph->n_buffers + what->n_operands <= HAC_OPS_BUFFERS_MAX &&
           graph->bytes + components * message_bytes(what, call_bytes) <= tasks_room(run);
}

static void plan(hac_run_graph *graph, const hac_run_task *what, unsigned components, uint8_t *call,
                 size_t call_bytes)
{
    graph->planned += components;
    graph->bytes += components * message_bytes(what, call_bytes);
    graph->calls[graph->n_calls++] = call;
    for (size_t i = 0; i < what->n_operands; i++)
        hac_run_graph_hold(graph, what->operands[i]->memory);
}

/* What is cut into tasks: these ranges, of rows [first, end) that are this rank's. */
typedef struct cuts {
    hac_component_range ranges[HAC_COMPONENTS_MAX];
    unsigned n, wanted; /* of all ranks alike: at most so many */
    uint64_t first, end;
    const hac_run_vector *places; /* of a partition: the ranges are of its order's; NULL: of rows */
} cuts;

static void note_writers(const hac_logic_run *run, const hac_run_task *what, uint32_t first_task,
                         const cuts *cut)
{
    bool divided = what->grain > 0 && hac_run_is_divided(run, what->rows, what->grain);
    for (size_t i = 0; i < what->n_operands; i++) {
        hac_run_vector *v = what->operands[i];
        if (!hac_run_writes(what, i))
            continue;
        row_map map = map_rows(what, i);
        v->n_writers = cut->n;
        v->writers_most = cut->wanted;
        v->graph = run->graph->number;
        for (unsigned c = 0; c < cut->n; c++)
            v->writers[c] = (hac_run_writer){first_task + c, mapped_first(map, cut->ranges[c].first),
                                             mapped_end(map, cut->ranges[c].first + cut->ranges[c].count)};
        if (what->scattered || what->grain == 0) /* all of it */
            v->writers[0].end = UINT64_MAX;
        if (!divided || what->scattered)
            continue;
        v->divided = true;
        v->cut = (struct hac_run_cut){hac_run_rank_grain(run, what->rows, what->grain), what->rows, map.scale,
                                      map.each, hac_run_cut_by(run, what->rows)};
        v->first = mapped_first(map, cut->first);
        v->end = cut->end == what->rows ? v->operand.rows : mapped_first(map, cut->end);
    }
}

/* How many components a sub-operator is made of, at most: each of them is told all of the call, and together
 * they are one message. */
static unsigned components_wanted(const hac_logic_run *run, const hac_run_task *what)
{
    hac_text program = HAC_TEXT_NONE;
    unsigned most = run->components;
    if (what->grain == 0 || what->scattered || most <= 1)
        return 1;
    if (what->program != NULL)
        hac_program_write(what->program, &program);
    size_t fit = (MESSAGE_MOST - HAC_OPS_LOG_MAX) / message_bytes(what, call_size(what, program.bytes));
    hac_text_clear(&program);
    return fit >= most ? most : fit > 1 ? (unsigned)fit : 1;
}

/* Those that have rows, of rows [first, end). */
static unsigned cut_components(const hac_logic_run *run, const hac_run_task *what, uint64_t first,
                               uint64_t end, unsigned wanted, hac_component_range *ret)
{
    const double *sums = hac_run_cuts_ranges(run, what->rows) ? run->partition->sums : NULL;
    uint64_t grain = what->grain > HAC_RUN_CUT_ROWS ? what->grain : HAC_RUN_CUT_ROWS;
    unsigned n = 0;
    if (what->grain == 0) {
        ret[0] = (hac_component_range){0, what->rows};
        return 1;
    }
    for (unsigned c = 0; c < wanted; c++) {
        hac_component_range part = hac_component_of_rows(end - first, wanted, grain, c);
        part.first += first;
        if (sums != NULL)
            part = hac_component_by_weight(sums, first, end, wanted, grain, c);
        if (part.count > 0)
            ret[n++] = part;
    }
    return n;
}

/* Tasks of the graph that a task over these rows waits for, at most. Which they are differs between ranks,
 * which all have to come to the same number. */
static size_t waits_of(const hac_logic_run *run, const hac_run_task *what, uint64_t first, uint64_t end)
{
    size_t n = 0;
    for (size_t i = 0; i < what->n_operands; i++) {
        const hac_run_vector *v = what->operands[i];
        if (hac_run_writes(what, i) || !is_of_this_graph(run, v))
            continue;
        for (unsigned w = 0; hac_run_alone(run) && w < v->n_writers; w++)
            n += waits_for(what, i, &v->writers[w], first, end);
        n += hac_run_alone(run) ? 0 : v->writers_most;
    }
    return n;
}

static bool can_wait(const hac_logic_run *run, const hac_run_task *what, const cuts *cut)
{
    if (!hac_run_alone(run))
        return waits_of(run, what, 0, 0) <= HAC_OPS_AFTER_MAX;
    for (unsigned c = 0; c < cut->n; c++)
        if (waits_of(run, what, cut->ranges[c].first, cut->ranges[c].first + cut->ranges[c].count) >
            HAC_OPS_AFTER_MAX)
            return false;
    return true;
}

static const uint64_t *order_of(const hac_run_vector *places)
{
    return (const uint64_t *)(const void *)(hac_run_data(places) + places->operand.values);
}

static hac_status add_ranges(hac_logic_run *run, const hac_run_task *what, const cuts *cut,
                             uint32_t *ret_first, hac_error *err)
{
    hac_autofree uint8_t *call = NULL;
    size_t call_bytes = 0;
    hac_status status = make_call(what, &call, &call_bytes, err);
    if (status == HAC_OK && !(has_room(run, what, cut->wanted, call_bytes) && can_wait(run, what, cut)))
        status = hac_run_flush(run, err);
    if (status != HAC_OK)
        return status;
    const uint8_t *shared = call;
    plan(run->graph, what, cut->wanted, hac_steal_ptr(call), call_bytes);
    uint32_t first_task = (uint32_t)run->graph->n_tasks;
    for (unsigned c = 0; c < cut->n; c++) {
        hac_run_graph_task *part = &run->graph->parts[run->graph->n_tasks];
        part->order = cut->places != NULL ? order_of(cut->places) : NULL;
        part->n_places = cut->places != NULL ? cut->places->operand.rows : 0;
        add_one(run, what, &cut->ranges[c], c, cut->n, shared, call_bytes);
    }
    note_writers(run, what, first_task, cut);
    if (ret_first != NULL)
        *ret_first = first_task;
    return HAC_OK;
}

/* ---- rows one by one ---- */

/* The components of single rows that are this rank's: a run of them, like the rows of a range. */
static void cut_places(const hac_logic_run *run, cuts *ret)
{
    const hac_run_partition *p = run->partition;
    unsigned first = 0, end = p->n_parts;
    if (!hac_run_alone(run)) {
        const hac_ranks *ranks = run->options->ranks;
        hac_component_range mine = hac_component_of_rows(p->n_parts, ranks->ranks, 1, ranks->rank);
        first = (unsigned)mine.first;
        end = (unsigned)(mine.first + mine.count);
    }
    *ret = (cuts){.n = 0, .wanted = p->n_parts, .places = &p->order};
    ret->first = first < p->n_parts ? p->parts[first].first : p->order.operand.rows;
    ret->end = end < p->n_parts ? p->parts[end].first : p->order.operand.rows;
    for (unsigned c = first; c < end; c++)
        if (p->parts[c].count > 0)
            ret->ranges[ret->n++] = p->parts[c];
}

/* What other ranks have of a result is theirs until it is gathered. */
static void note_places(const hac_logic_run *run, const cuts *cut, hac_run_vector *v)
{
    v->divided = !hac_run_alone(run);
    v->cut = (struct hac_run_cut){.grain = 0};
    v->first = v->divided ? cut->first : 0;
    v->end = v->divided ? cut->end : v->operand.rows;
}

static hac_status new_places(hac_logic_run *run, const hac_run_vector *like, uint64_t places,
                             hac_run_vector *ret, hac_error *err)
{
    const hac_op_operand *o = &like->operand;
    return hac_run_vector_new(
        run, &(hac_run_shape){HAC_VECTOR_FIX_VALUE, (hac_kind)o->kind, places, o->columns, 0}, ret, err);
}

static hac_status copy_rows(hac_logic_run *run, const hac_run_task *what, const cuts *cut,
                            hac_run_vector *from, hac_run_vector *to, hac_error *err)
{
    hac_run_vector *order = &run->partition->order;
    hac_run_task task = {.codelet = "op.gather",
                         .name = what->name,
                         .pin = what->pin,
                         .operands = {to, from, order},
                         .n_operands = 3,
                         .n_written = 1,
                         .whole = 2,
                         .rows = order->operand.rows,
                         .grain = HAC_OP_BLOCK,
                         .units = (double)order->operand.rows * (double)from->operand.columns};
    hac_status status = hac_run_gather(run, from, err);
    if (status == HAC_OK)
        status = add_ranges(run, &task, cut, NULL, err);
    note_places(run, cut, to);
    return status;
}

static hac_status put_back(hac_logic_run *run, const hac_run_task *what, hac_run_vector *from,
                           hac_run_vector *to, hac_error *err)
{
    hac_run_task task = {.codelet = "op.scatter",
                         .name = what->name,
                         .pin = what->pin,
                         .operands = {to, from, &run->partition->order},
                         .n_operands = 3,
                         .n_written = 1,
                         .whole = 6,
                         .units = (double)from->operand.rows * (double)from->operand.columns};
    cuts all = {.ranges = {{0, 0}}, .n = 1, .wanted = 1};
    hac_status status = hac_run_gather(run, from, err);
    return status == HAC_OK ? add_ranges(run, &task, &all, NULL, err) : status;
}

/* Each component's rows side by side, the sub-operator over these, and its results back to their rows. */
static hac_status add_places(hac_logic_run *run, const hac_run_task *what, hac_error *err)
{
    hac_run_vector copies[HAC_OP_OPERANDS_MAX] = {{.memory = NULL}};
    hac_run_task task = *what;
    uint64_t places = run->partition->order.operand.rows;
    cuts cut;
    cut_places(run, &cut);
    hac_status status = HAC_OK;
    for (size_t i = 0; i < what->n_operands && status == HAC_OK; i++) {
        bool rows = (what->whole >> i & 1) == 0 && what->operands[i]->operand.rows == what->rows;
        if (!rows) {
            status = hac_run_gather(run, what->operands[i], err);
            continue;
        }
        status = new_places(run, what->operands[i], places, &copies[i], err);
        task.operands[i] = &copies[i];
        if (status == HAC_OK && !hac_run_writes(what, i))
            status = copy_rows(run, what, &cut, what->operands[i], &copies[i], err);
    }
    task.rows = places;
    task.units = what->units * (double)places / (double)what->rows;
    if (status == HAC_OK)
        status = add_ranges(run, &task, &cut, NULL, err);
    for (size_t i = 0; i < what->n_operands && status == HAC_OK; i++)
        if (hac_run_writes(what, i)) {
            note_places(run, &cut, &copies[i]);
            status = put_back(run, what, &copies[i], what->operands[i], err);
        }
    for (size_t i = 0; i < what->n_operands; i++)
        if (copies[i].memory != NULL)
            hac_run_vector_clear(run, &copies[i]);
    return status;
}

hac_status hac_run_add(hac_logic_run *run, const hac_run_task *what, uint32_t *ret_first, hac_error *err)
{
    cuts cut = {.n = 0, .wanted = components_wanted(run, what), .end = what->rows};
    if (hac_run_takes_single_rows(run, what) && run->partition->n_parts <= cut.wanted)
        return add_places(run, what, err);
    if (what->grain > 0)
        (void)hac_run_part(run, what->rows, what->grain, &cut.first, &cut.end);
    hac_status status = bring_here(run, what, err);
    if (status != HAC_OK)
        return status;
    cut.n = cut_components(run, what, cut.first, cut.end, cut.wanted, cut.ranges);
    return add_ranges(run, what, &cut, ret_first, err);
}
