/* SPDX-License-Identifier: Apache-2.0 */
#include "fused_rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/op_while.h"
#include "expr/program.h"
#include "run/state/graph.h"
#include "run/state/vectors.h"
#include "run/tasks/scalar.h"

/* Work of a round, in units: a CPU does so much in about five milliseconds, a device may be faster. */
#define UNITS_MAX 5e6

/* A task that is in flight, or has ended. */
typedef struct fused_task {
    hac_logic_run_state *run;
    const hac_run_loop *loop;
    uint64_t rounds_max;
    uint64_t each; /* rounds that a round counts as: itself and those of the loops in it */
    hac_run_snapshot before, after;
    hac_run_vector
        entries[HAC_LOGIC_VECTORS_MAX];     /* of each changed vector the value that a round begins with */
    bool is_carried[HAC_LOGIC_VECTORS_MAX]; /* the next round reads it */
    uint32_t n_carries;
    hac_run_vector history, state;
    const hac_run_vector *state_before; /* of the task before; NULL: there is none */
    bool is_written[HAC_SPANS_MAX];     /* by buffer */
    hac_text call;
    uint64_t done;
    bool failed;
} fused_task;

/* What came of a task. */
typedef struct fused_result {
    uint64_t first,
        each;      /* the run's number of the first round after it ran; the number grows by `each` a round */
    uint64_t done; /* rounds that ran */
    bool on;       /* the condition is true after the last one */
    bool failed;   /* the next round fails; the client runs it by itself, which says why */
    size_t n_vars; /* Vars that the condition reads */
    const uint64_t *bits; /* their bits after each round; valid as long as the task */
} fused_result;

static hac_status unsupported(hac_error *err)
{
    return hac_fail(err, HAC_UNSUPPORTED, "these rounds cannot be one task");
}

/* ---- one round ---- */

/* Gives each changed vector memory for the value that a round begins with. The client does not have this
 * value. */
static hac_status make_entries(fused_task *r)
{
    for (size_t i = 0; i < r->loop->changed.n; i++) {
        const hac_run_vector *before = &r->before.vectors[i];
        const hac_op_operand *o = &before->operand;
        hac_run_shape shape = {(hac_vector_template)o->form, (hac_kind)o->kind, o->rows, o->columns,
                               o->entries};
        hac_run_vector *entry = &r->entries[i];
        if (before->memory == NULL)
            continue;
        hac_status status = hac_run_vector_new(r->run, &shape, entry, NULL);
        if (status != HAC_OK || !hac_run_is_whole(before) || before->unknown ||
            memcmp(&entry->operand, o, sizeof *o) != 0 || entry->bytes != before->bytes)
            return HAC_UNSUPPORTED;
        entry->of_round_before = true;
        hac_run_vector_copy(r->run, entry, &r->run->vectors[r->loop->changed.vectors[i]]);
    }
    return HAC_OK;
}

static hac_status add_round(fused_task *r)
{
    hac_run_ahead ahead = {.first = 0};
    r->run->ahead = &ahead;
    hac_status status = r->loop->run_body(r->run, r->loop->step->body, r->loop->step->n_body, NULL);
    r->run->ahead = NULL;
    hac_text_clear(&ahead.log);
    double units = 0;
    for (size_t t = 0; t < r->run->graph->n_tasks; t++)
        units += r->run->graph->tasks[t].units;
    return status == HAC_OK && r->run->graph->n_tasks > 0 && units <= UNITS_MAX ? HAC_OK : HAC_UNSUPPORTED;
}

/* Whether a task reads the memory, or a vector has it as its value after the round. */
static bool is_used(const fused_task *r, const hac_run_memory *memory)
{
    const hac_run_graph *graph = r->run->graph;
    bool is = false;
    for (size_t i = 0; memory != NULL && i < graph->n_held; i++)
        is |= graph->held[i] == memory;
    for (size_t i = 0; memory != NULL && i < r->loop->changed.n; i++)
        is |= r->run->vectors[r->loop->changed.vectors[i]].memory == memory;
    return is;
}

static bool is_alike(const hac_run_vector *a, const hac_run_vector *b)
{
    return memcmp(&a->operand, &b->operand, sizeof a->operand) == 0 && a->bytes == b->bytes &&
           hac_run_is_whole(b);
}

/* Where the next round reads a vector, its shape after the round has to be the one before. */
static hac_status find_carried(fused_task *r)
{
    const hac_logic_run_state *run = r->run;
    for (size_t i = 0; i < r->loop->changed.n; i++)
        r->is_carried[i] = is_used(r, r->entries[i].memory);
    for (size_t i = 0; i < r->loop->changed.n; i++) {
        const hac_run_vector *entry = &r->entries[i], *left = &run->vectors[r->loop->changed.vectors[i]];
        r->n_carries += r->is_carried[i];
        if (entry->memory == NULL && left->memory == NULL)
            continue;
        if (left->memory == NULL || (r->is_carried[i] && !is_alike(entry, left)))
            return HAC_UNSUPPORTED;
    }
    size_t bytes = run->logic->n_dimensions * sizeof *run->dimensions;
    return memcmp(run->dimensions, r->before.dimensions, bytes) == 0 ? HAC_OK : HAC_UNSUPPORTED;
}

/* Makes the history: the Vars of the condition after each round. */
static hac_status make_history(fused_task *r)
{
    const hac_logic_expression *condition = r->loop->step->condition;
    if (condition->n_vectors == 0 || condition->n_vectors > HAC_OP_WHILE_VARS_MAX)
        return HAC_UNSUPPORTED;
    for (size_t i = 0; i < condition->n_vectors; i++) {
        const hac_run_vector *v = &r->run->vectors[condition->vectors[i]];
        if (v->memory == NULL || v->operand.rows != 1 || v->operand.columns != 1 || !hac_run_is_whole(v) ||
            !hac_op_form_is_dense(v->operand.form))
            return HAC_UNSUPPORTED;
    }
    hac_run_shape history = {HAC_VECTOR_FIX_VALUE, HAC_KIND_U64, r->rounds_max, condition->n_vectors, 0};
    hac_run_shape state = {HAC_VECTOR_FIX_VALUE, HAC_KIND_U64, 2, 1, 0};
    hac_status status = hac_run_vector_new(r->run, &history, &r->history, NULL);
    return status == HAC_OK ? hac_run_vector_new(r->run, &state, &r->state, NULL) : status;
}

/* ---- the call ---- */

static void add(hac_text *to, const void *data, size_t bytes)
{
    static const uint8_t zeros[8];
    hac_text_add_bytes(to, data, bytes);
    hac_text_add_bytes(to, (const char *)zeros, (size_t)(hac_op_while_up(bytes) - bytes));
}

/* The spans of the task are the pool buffers of the graph, in its order. */
static hac_op_part part_of(fused_task *r, const hac_run_vector *v, bool written)
{
    unsigned span = (unsigned)hac_run_pool_buffer(v->memory)->in_graph;
    r->is_written[span] |= written;
    return (hac_op_part){.span = span, .offset = v->memory->offset, .bytes = (v->bytes + 63) / 64 * 64};
}

static hac_op_operand operand_of(fused_task *r, const hac_run_vector *v, bool written)
{
    hac_op_part part = part_of(r, v, written);
    hac_op_operand operand = v->operand;
    operand.span = (uint8_t)part.span;
    operand.values += part.offset;
    return operand;
}

static void add_condition(fused_task *r)
{
    const hac_logic_expression *condition = r->loop->step->condition;
    hac_text program = HAC_TEXT_NONE, text = HAC_TEXT_NONE;
    hac_program_write(condition->program, &program);
    hac_op_call call = {.magic = HAC_OP_MAGIC,
                        .n_operands = (uint32_t)(condition->n_vectors + 1),
                        .program_bytes = (uint32_t)program.bytes};
    hac_text_add_bytes(&text, (const char *)&call, sizeof call);
    hac_op_operand operand = operand_of(r, &r->history, true);
    hac_text_add_bytes(&text, (const char *)&operand, sizeof operand);
    for (size_t i = 0; i < condition->n_vectors; i++) {
        operand = operand_of(r, &r->run->vectors[condition->vectors[i]], false);
        hac_text_add_bytes(&text, (const char *)&operand, sizeof operand);
    }
    hac_text_add_bytes(&text, program.data, program.bytes);
    add(&r->call, text.data, text.bytes);
    r->call.broken |= program.broken || text.broken;
    hac_text_clear(&program);
    hac_text_clear(&text);
}

static void add_carries(fused_task *r)
{
    for (size_t i = 0; i < r->loop->changed.n; i++) {
        if (!r->is_carried[i])
            continue;
        hac_op_carry carry = {.first = part_of(r, &r->before.vectors[i], false),
                              .from = part_of(r, &r->run->vectors[r->loop->changed.vectors[i]], false),
                              .to = part_of(r, &r->entries[i], true)};
        add(&r->call, &carry, sizeof carry);
    }
}

static hac_status add_task(fused_task *r, const hac_op_task *task)
{
    hac_op_while_call call = {.first = task->first,
                              .count = task->count,
                              .n_spans = (uint32_t)task->n_spans,
                              .call_bytes = (uint32_t)task->call_bytes};
    if (strlen(task->codelet) >= sizeof call.codelet || (task->pin != NULL && task->pin[0] != '\0'))
        return HAC_UNSUPPORTED;
    snprintf(call.codelet, sizeof call.codelet, "%s", task->codelet);
    add(&r->call, &call, sizeof call);
    for (size_t s = 0; s < task->n_spans; s++) {
        const hac_op_span *span = &task->spans[s];
        hac_op_part part = {.span = span->buffer, .offset = span->offset, .bytes = span->bytes};
        r->is_written[span->buffer] |= span->written;
        add(&r->call, &part, sizeof part);
    }
    add(&r->call, task->call, task->call_bytes);
    return HAC_OK;
}

/* False: the graph has as many buffers as a task can have spans. */
static bool hold(hac_run_graph *graph, hac_run_memory *memory)
{
    if (graph->n_buffers >= HAC_SPANS_MAX && hac_run_pool_buffer(memory)->in_graph < 0)
        return false;
    hac_run_graph_hold(graph, memory);
    return true;
}

static bool hold_all(const fused_task *r)
{
    hac_run_graph *graph = r->run->graph;
    bool all = hold(graph, r->history.memory) && hold(graph, r->state.memory);
    if (r->state_before != NULL)
        all = all && hold(graph, r->state_before->memory);
    for (size_t i = 0; i < r->loop->step->condition->n_vectors; i++)
        all = all && hold(graph, r->run->vectors[r->loop->step->condition->vectors[i]].memory);
    for (size_t i = 0; i < r->loop->changed.n; i++)
        if (r->is_carried[i])
            all = all && hold(graph, r->before.vectors[i].memory) && hold(graph, r->entries[i].memory) &&
                  hold(graph, r->run->vectors[r->loop->changed.vectors[i]].memory);
    return all;
}

static hac_status make_call(fused_task *r)
{
    const hac_run_graph *graph = r->run->graph;
    if (graph->n_buffers > HAC_SPANS_MAX || graph->n_tasks > HAC_OP_WHILE_CALLS_MAX ||
        r->n_carries > HAC_OP_WHILE_CARRIES_MAX || !hold_all(r))
        return HAC_UNSUPPORTED;
    add_condition(r);
    hac_op_while_head head = {.n_carries = r->n_carries, .n_calls = (uint32_t)graph->n_tasks};
    head.state = part_of(r, &r->state, true);
    head.state.bytes = 2 * sizeof(uint64_t);
    if (r->state_before != NULL) {
        head.before = part_of(r, r->state_before, false);
        head.before.bytes = head.state.bytes;
    }
    add(&r->call, &head, sizeof head);
    add_carries(r);
    for (size_t t = 0; t < graph->n_tasks; t++)
        if (add_task(r, &graph->tasks[t]) != HAC_OK)
            return HAC_UNSUPPORTED;
    return !r->call.broken && r->call.bytes <= HAC_OP_CALL_MAX ? HAC_OK : HAC_UNSUPPORTED;
}

/* ---- the task ---- */

/* Puts the one task in the place of the tasks of the round. */
static hac_status replace_tasks(fused_task *r, double seconds)
{
    hac_run_graph *graph = r->run->graph;
    hac_op_task *task = &graph->tasks[0];
    hac_run_graph_task *part = &graph->parts[0];
    if (graph->n_calls == HAC_RUN_TASKS_MAX)
        return HAC_UNSUPPORTED;
    uint8_t *call = malloc(r->call.bytes);
    if (call == NULL)
        return HAC_UNSUPPORTED;
    memcpy(call, r->call.data, r->call.bytes);
    graph->calls[graph->n_calls++] = call;
    for (size_t i = 0; i < graph->n_buffers; i++)
        part->spans[i] = (hac_op_span){.buffer = (uint32_t)i,
                                       .written = r->is_written[i],
                                       .bytes = (graph->buffers[i]->bytes + 63) / 64 * 64};
    snprintf(part->name, sizeof part->name, "%u:%u: %.30s, rounds", r->loop->step->at.line,
             r->loop->step->at.column, r->loop->step->name != NULL ? r->loop->step->name : "while");
    part->order = NULL;
    *task = (hac_op_task){.codelet = "op.while",
                          .name = part->name,
                          .host = 1,
                          .spans = part->spans,
                          .n_spans = graph->n_buffers,
                          .call = call,
                          .call_bytes = r->call.bytes,
                          .units = seconds * (double)r->rounds_max * 1e9};
    graph->n_tasks = graph->planned = 1;
    return HAC_OK;
}

static hac_status prepare(fused_task *r, double seconds)
{
    hac_status status = hac_run_snapshot_take(r->run, &r->loop->changed, &r->before, NULL);
    if (status == HAC_OK)
        status = make_entries(r);
    if (status == HAC_OK)
        status = add_round(r);
    if (status == HAC_OK)
        status = find_carried(r);
    if (status == HAC_OK)
        status = make_history(r);
    if (status == HAC_OK)
        status = make_call(r);
    if (status == HAC_OK)
        status = replace_tasks(r, seconds);
    r->each = 1 + (r->run->round - r->before.round);
    r->run->round = r->before.round + r->rounds_max * r->each;
    r->run->report->rounds = r->before.rounds + r->rounds_max * r->each;
    return status == HAC_OK ? hac_run_snapshot_take(r->run, &r->loop->changed, &r->after, NULL) : status;
}

static void task_free(fused_task *r)
{
    if (r == NULL)
        return;
    hac_text_clear(&r->call);
    for (size_t i = 0; i < r->loop->changed.n; i++)
        hac_run_vector_clear(r->run, &r->entries[i]);
    hac_run_vector_clear(r->run, &r->history);
    hac_run_vector_clear(r->run, &r->state);
    hac_run_snapshot_clear(r->run, &r->loop->changed, &r->before);
    hac_run_snapshot_clear(r->run, &r->loop->changed, &r->after);
    free(r);
}

/* Removes all of the task from the run. */
static void take_back(fused_task *r)
{
    if (r->before.vectors != NULL && r->before.dimensions != NULL)
        hac_run_snapshot_restore(r->run, &r->loop->changed, &r->before);
    hac_run_forget_graph(r->run);
}

/*
 * Sends at most `rounds` rounds, as long as the condition is true after each, and after all rounds of
 * `before` (NULL: nothing is in flight). The graph must be empty. HAC_UNSUPPORTED: the rounds cannot be one
 * task, because they read a value between their tasks, change shapes, or are too large; nothing has changed
 * then.
 */
static hac_status task_send(hac_logic_run_state *run, const hac_run_loop *loop, uint64_t rounds,
                            const fused_task *before, fused_task **ret, hac_error *err)
{
    if (run->graph->n_tasks > 0 || run->ahead != NULL || run->n_sent > (before != NULL))
        return unsupported(err);
    fused_task *r = calloc(1, sizeof *r);
    if (r == NULL)
        return unsupported(err);
    *r = (fused_task){.run = run, .loop = loop, .rounds_max = rounds, .call = HAC_TEXT_NONE};
    r->state_before = before != NULL ? &before->state : NULL;
    hac_status status = prepare(r, loop->measured.round_seconds);
    if (status != HAC_OK) {
        take_back(r);
        task_free(r);
        return unsupported(err);
    }
    status = hac_run_send(run, err);
    if (status != HAC_OK)
        task_free(r);
    else
        *ret = r;
    return status;
}

/* Waits for the task that was sent first. */
static hac_status task_await(fused_task *r, fused_result *ret, hac_error *err)
{
    hac_status status = hac_run_await(r->run, err);
    if (status != HAC_OK)
        return status;
    const uint64_t *values = r->run->spare_graph->parts[0].values;
    r->done = values[0] < r->rounds_max ? values[0] : r->rounds_max;
    r->failed = values[1] == HAC_OP_WHILE_FAILED;
    *ret = (fused_result){.first = r->before.round + r->each,
                          .each = r->each,
                          .done = r->done,
                          .on = values[1] == HAC_OP_WHILE_ON,
                          .failed = r->failed,
                          .n_vars = r->loop->step->condition->n_vectors};
    ret->bits = (const uint64_t *)(const void *)(hac_run_data(&r->history) + r->history.operand.values);
    return HAC_OK;
}

/* Makes the run as the rounds that ran have left it. Nothing may be in flight. */
static void task_settle(fused_task *r)
{
    hac_logic_run_state *run = r->run;
    hac_run_snapshot_restore(run, &r->loop->changed, r->done > 0 ? &r->after : &r->before);
    for (size_t i = 0; i < r->loop->changed.n; i++) {
        hac_run_vector *v = &run->vectors[r->loop->changed.vectors[i]];
        if (r->done > 0 && r->failed && r->is_carried[i]) /* a round writes the others before it reads them */
            hac_run_vector_copy(run, &r->entries[i], v);
        v->of_round_before = false;
    }
    run->round = r->before.round + r->done * r->each;
    run->report->rounds = r->before.rounds + r->done * r->each;
}

/* ---- the engine ---- */

typedef struct fused_state {
    fused_task *task, *next;
    fused_result result; /* of `task` or the one before */
} fused_state;

static bool can(const hac_logic_run_state *run, const hac_run_loop *loop)
{
    return hac_loop_task_rounds(run, loop) > 0;
}

/* Sends a task after the one that is in flight, as if all rounds of that one counted. *ret is NULL if there
 * is none. */
static hac_status send_next(hac_logic_run_state *run, hac_run_loop *loop, const fused_task *before,
                            fused_task **ret, hac_error *err)
{
    uint64_t rounds = hac_loop_task_rounds(run, loop);
    *ret = NULL;
    if (rounds == 0)
        return HAC_OK;
    hac_status status = task_send(run, loop, rounds, before, ret, err);
    loop->measured.never_fused |= status == HAC_UNSUPPORTED;
    loop->sent += *ret != NULL ? rounds : 0;
    return status == HAC_UNSUPPORTED ? HAC_OK : status;
}

static hac_status begin(hac_logic_run_state *run, hac_run_loop *loop, hac_error *err)
{
    fused_state *f = calloc(1, sizeof *f);
    if (f == NULL)
        return hac_fail_no_memory(err);
    loop->engine = f;
    f->result.on = true;
    hac_status status = send_next(run, loop, NULL, &f->task, err);
    loop->in_flight = status == HAC_OK && f->task != NULL;
    return status;
}

static void accept(hac_logic_run_state *run, hac_run_loop *loop, const fused_result *result)
{
    uint64_t now = hac_now_ns();
    for (uint64_t i = 0; i < result->done && run->options->log != NULL; i++)
        hac_loop_log_round(run, loop, result->first + i * result->each, result->bits + i * result->n_vars);
    loop->done += result->done;
    loop->added += result->done;
    loop->measured.never_fused |= result->failed;
    hac_loop_measure_task(loop, result->done, now);
}

static hac_status fused_round(hac_logic_run_state *run, hac_run_loop *loop, bool *on, hac_error *err)
{
    fused_state *f = loop->engine;
    (void)on;
    hac_status status = send_next(run, loop, f->task, &f->next, err);
    if (status == HAC_OK)
        status = task_await(f->task, &f->result, err);
    if (status != HAC_OK)
        return status;
    accept(run, loop, &f->result);
    loop->in_flight = f->next != NULL && f->result.on;
    if (loop->in_flight) {
        task_free(f->task);
        f->task = hac_steal_ptr(f->next);
    }
    return HAC_OK;
}

static hac_status settle(hac_logic_run_state *run, hac_run_loop *loop, hac_status status, bool *on,
                         hac_error *err)
{
    fused_state *f = loop->engine;
    if (f == NULL)
        return status;
    if (f->task != NULL) { /* otherwise what is in flight is of an outer loop */
        /* A task after one that ended the loop does nothing. */
        status = hac_loop_land(run, status, err);
        if (status == HAC_OK)
            task_settle(f->task);
        if (status == HAC_OK && !f->result.on && !f->result.failed && loop->done < loop->step->rounds)
            status = hac_run_look(run, loop->step, on, err);
    }
    task_free(f->task);
    task_free(f->next);
    free(f);
    loop->engine = NULL;
    return status;
}

const hac_loop_engine hac_fused_rounds = {can, begin, fused_round, settle};
