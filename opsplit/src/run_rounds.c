/* SPDX-License-Identifier: Apache-2.0 */
#include "run_rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/op_while.h"
#include "expr/program.h"
#include "run_graph.h"

#define UNITS_MOST                                                                                           \
    5e6 /* of a round's work: a CPU does so much in about five milliseconds, others may be faster */

struct hac_run_rounds {
    hac_logic_run *run;
    const hac_logic_step *step;
    const hac_run_changed *changed;
    uint64_t most;
    uint64_t each; /* what a round counts as: it, and those of the loops in it */
    hac_run_moment before, after;
    hac_run_vector entries[HAC_LOGIC_VECTORS_MAX]; /* of each vector that changes what a round begins with */
    bool is_carried[HAC_LOGIC_VECTORS_MAX];        /* it is read */
    uint32_t n_carries;                            /* so many are */
    hac_run_vector history, state;
    const hac_run_vector *state_before; /* NULL: of none */
    bool is_written[HAC_OPS_SPANS_MAX]; /* by buffer */
    hac_text call;
    uint64_t done;
    bool failed;
};

static hac_status unsupported(hac_error *err)
{
    return hac_fail(err, HAC_UNSUPPORTED, "these rounds cannot be one task");
}

/* ---- the round ---- */

/* Vectors get memory of their own for what a round begins with, which has no value here. */
static hac_status make_entries(hac_run_rounds *r)
{
    for (size_t i = 0; i < r->changed->n; i++) {
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
        hac_run_vector_copy(r->run, entry, &r->run->vectors[r->changed->vectors[i]]);
    }
    return HAC_OK;
}

static hac_status add_round(hac_run_rounds *r)
{
    hac_run_ahead ahead = {.first = 0};
    r->run->ahead = &ahead;
    hac_status status = hac_run_steps(r->run, r->step->body, r->step->n_body, NULL);
    r->run->ahead = NULL;
    hac_text_clear(&ahead.log);
    double units = 0;
    for (size_t t = 0; t < r->run->graph->n_tasks; t++)
        units += r->run->graph->tasks[t].units;
    return status == HAC_OK && r->run->graph->n_tasks > 0 && units <= UNITS_MOST ? HAC_OK : HAC_UNSUPPORTED;
}

/* Whether a task reads it, or a vector has it as its value behind the round. */
static bool is_used(const hac_run_rounds *r, const hac_run_memory *memory)
{
    const hac_run_graph *graph = r->run->graph;
    bool is = false;
    for (size_t i = 0; memory != NULL && i < graph->n_held; i++)
        is |= graph->held[i] == memory;
    for (size_t i = 0; memory != NULL && i < r->changed->n; i++)
        is |= r->run->vectors[r->changed->vectors[i]].memory == memory;
    return is;
}

static bool is_alike(const hac_run_vector *a, const hac_run_vector *b)
{
    return memcmp(&a->operand, &b->operand, sizeof a->operand) == 0 && a->bytes == b->bytes &&
           hac_run_is_whole(b);
}

/* What the round has left has to be like what it began with, where the next one needs it. */
static hac_status find_carried(hac_run_rounds *r)
{
    const hac_logic_run *run = r->run;
    for (size_t i = 0; i < r->changed->n; i++)
        r->is_carried[i] = is_used(r, r->entries[i].memory);
    for (size_t i = 0; i < r->changed->n; i++) {
        const hac_run_vector *entry = &r->entries[i], *left = &run->vectors[r->changed->vectors[i]];
        r->n_carries += r->is_carried[i];
        if (entry->memory == NULL && left->memory == NULL)
            continue;
        if (left->memory == NULL || (r->is_carried[i] && !is_alike(entry, left)))
            return HAC_UNSUPPORTED;
    }
    size_t bytes = run->logic->n_dimensions * sizeof *run->dimensions;
    return memcmp(run->dimensions, r->before.dimensions, bytes) == 0 ? HAC_OK : HAC_UNSUPPORTED;
}

/* The condition's Vars, which the history keeps. */
static hac_status make_history(hac_run_rounds *r)
{
    const hac_logic_expression *condition = r->step->condition;
    if (condition->n_vectors == 0 || condition->n_vectors > HAC_OP_WHILE_VARS_MAX)
        return HAC_UNSUPPORTED;
    for (size_t i = 0; i < condition->n_vectors; i++) {
        const hac_run_vector *v = &r->run->vectors[condition->vectors[i]];
        if (v->memory == NULL || v->operand.rows != 1 || v->operand.columns != 1 || !hac_run_is_whole(v) ||
            !hac_op_form_is_dense(v->operand.form))
            return HAC_UNSUPPORTED;
    }
    hac_run_shape history = {HAC_VECTOR_FIX_VALUE, HAC_KIND_U64, r->most, condition->n_vectors, 0};
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

/* Pool buffers are spans, by their numbers in the graph. */
static hac_op_part part_of(hac_run_rounds *r, const hac_run_vector *v, bool written)
{
    unsigned span = (unsigned)hac_run_pool_buffer(v->memory)->in_graph;
    r->is_written[span] |= written;
    return (hac_op_part){.span = span, .offset = v->memory->offset, .bytes = (v->bytes + 63) / 64 * 64};
}

static hac_op_operand operand_of(hac_run_rounds *r, const hac_run_vector *v, bool written)
{
    hac_op_part part = part_of(r, v, written);
    hac_op_operand operand = v->operand;
    operand.span = (uint8_t)part.span;
    operand.values += part.offset;
    return operand;
}

static void add_condition(hac_run_rounds *r)
{
    const hac_logic_expression *condition = r->step->condition;
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

static void add_carries(hac_run_rounds *r)
{
    for (size_t i = 0; i < r->changed->n; i++) {
        if (!r->is_carried[i])
            continue;
        hac_op_carry carry = {.first = part_of(r, &r->before.vectors[i], false),
                              .from = part_of(r, &r->run->vectors[r->changed->vectors[i]], false),
                              .to = part_of(r, &r->entries[i], true)};
        add(&r->call, &carry, sizeof carry);
    }
}

static hac_status add_task(hac_run_rounds *r, const hac_op_task *task)
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

/* false: the graph has as many buffers as a task can have. */
static bool hold(hac_run_graph *graph, hac_run_memory *memory)
{
    if (graph->n_buffers >= HAC_OPS_SPANS_MAX && hac_run_pool_buffer(memory)->in_graph < 0)
        return false;
    hac_run_graph_hold(graph, memory);
    return true;
}

static bool hold_all(const hac_run_rounds *r)
{
    hac_run_graph *graph = r->run->graph;
    bool all = hold(graph, r->history.memory) && hold(graph, r->state.memory);
    if (r->state_before != NULL)
        all = all && hold(graph, r->state_before->memory);
    for (size_t i = 0; i < r->step->condition->n_vectors; i++)
        all = all && hold(graph, r->run->vectors[r->step->condition->vectors[i]].memory);
    for (size_t i = 0; i < r->changed->n; i++)
        if (r->is_carried[i])
            all = all && hold(graph, r->before.vectors[i].memory) && hold(graph, r->entries[i].memory) &&
                  hold(graph, r->run->vectors[r->changed->vectors[i]].memory);
    return all;
}

static hac_status make_call(hac_run_rounds *r)
{
    const hac_run_graph *graph = r->run->graph;
    if (graph->n_buffers > HAC_OPS_SPANS_MAX || graph->n_tasks > HAC_OP_WHILE_CALLS_MAX ||
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

/* In place of those of the round. */
static hac_status replace_tasks(hac_run_rounds *r, double seconds)
{
    hac_run_graph *graph = r->run->graph;
    hac_op_task *task = &graph->tasks[0];
    hac_run_graph_task *part = &graph->parts[0];
    if (graph->n_calls == HAC_RUN_TASKS_MOST)
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
    snprintf(part->name, sizeof part->name, "%u:%u: %.30s, rounds", r->step->at.line, r->step->at.column,
             r->step->name != NULL ? r->step->name : "while");
    part->order = NULL;
    *task = (hac_op_task){.codelet = "op.while",
                          .name = part->name,
                          .host = 1,
                          .spans = part->spans,
                          .n_spans = graph->n_buffers,
                          .call = call,
                          .call_bytes = r->call.bytes,
                          .units = seconds * (double)r->most * 1e9};
    graph->n_tasks = graph->planned = 1;
    return HAC_OK;
}

static hac_status prepare(hac_run_rounds *r, double seconds)
{
    hac_status status = hac_run_take_moment(r->run, r->changed, &r->before, NULL);
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
    r->run->round = r->before.round + r->most * r->each;
    r->run->report->rounds = r->before.rounds + r->most * r->each;
    return status == HAC_OK ? hac_run_take_moment(r->run, r->changed, &r->after, NULL) : status;
}

void hac_run_rounds_free(hac_run_rounds *r)
{
    if (r == NULL)
        return;
    hac_text_clear(&r->call);
    for (size_t i = 0; i < r->changed->n; i++)
        hac_run_vector_clear(r->run, &r->entries[i]);
    hac_run_vector_clear(r->run, &r->history);
    hac_run_vector_clear(r->run, &r->state);
    hac_run_clear_moment(r->run, r->changed, &r->before);
    hac_run_clear_moment(r->run, r->changed, &r->after);
    free(r);
}

/* Nothing of it is left in the run. */
static void take_back(hac_run_rounds *r)
{
    if (r->before.vectors != NULL && r->before.dimensions != NULL)
        hac_run_go_back(r->run, r->changed, &r->before);
    hac_run_forget_graph(r->run);
}

hac_status hac_run_rounds_send(hac_logic_run *run, const hac_logic_step *step, const hac_run_changed *changed,
                               uint64_t most, double seconds, const hac_run_rounds *behind,
                               hac_run_rounds **ret, hac_error *err)
{
    if (run->graph->n_tasks > 0 || run->ahead != NULL || run->n_sent > (behind != NULL))
        return unsupported(err);
    hac_run_rounds *r = calloc(1, sizeof *r);
    if (r == NULL)
        return unsupported(err);
    *r = (hac_run_rounds){.run = run, .step = step, .changed = changed, .most = most, .call = HAC_TEXT_NONE};
    r->state_before = behind != NULL ? &behind->state : NULL;
    hac_status status = prepare(r, seconds);
    if (status != HAC_OK) {
        take_back(r);
        hac_run_rounds_free(r);
        return unsupported(err);
    }
    status = hac_run_send(run, err);
    if (status != HAC_OK)
        hac_run_rounds_free(r);
    else
        *ret = r;
    return status;
}

hac_status hac_run_rounds_await(hac_run_rounds *r, hac_run_rounds_result *ret, hac_error *err)
{
    hac_status status = hac_run_await(r->run, err);
    if (status != HAC_OK)
        return status;
    const uint64_t *values = r->run->spare_graph->parts[0].values;
    r->done = values[0] < r->most ? values[0] : r->most;
    r->failed = values[1] == HAC_OP_WHILE_FAILED;
    *ret = (hac_run_rounds_result){.first = r->before.round + r->each,
                                   .each = r->each,
                                   .done = r->done,
                                   .on = values[1] == HAC_OP_WHILE_ON,
                                   .failed = r->failed,
                                   .n_vars = r->step->condition->n_vectors};
    ret->bits = (const uint64_t *)(const void *)(hac_run_data(&r->history) + r->history.operand.values);
    return HAC_OK;
}

void hac_run_rounds_settle(hac_run_rounds *r)
{
    hac_logic_run *run = r->run;
    hac_run_go_back(run, r->changed, r->done > 0 ? &r->after : &r->before);
    for (size_t i = 0; i < r->changed->n; i++) {
        hac_run_vector *v = &run->vectors[r->changed->vectors[i]];
        if (r->done > 0 && r->failed && r->is_carried[i]) /* the others a round writes before it reads them */
            hac_run_vector_copy(run, &r->entries[i], v);
        v->of_round_before = false;
    }
    run->round = r->before.round + r->done * r->each;
    run->report->rounds = r->before.rounds + r->done * r->each;
}
