/* SPDX-License-Identifier: Apache-2.0 */
/* From a sub-operator to tasks of the graph. */
#include "add_tasks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "expr/program.h"
#include "run/state/exchange.h"
#include "run/state/graph.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"

#define TASK_BYTES 160 /* of a task in the message, beside its call and spans, about */
#define SPAN_BYTES 40

/* Whether the task writes operand i. */
static bool writes(const hac_run_task *task, size_t i)
{
    return i < task->n_written || (task->also_written >> i & 1) != 0;
}

/* Exchanges operands between ranks, so that this rank has all rows or those of its part. All ranks decide
 * alike. */
static hac_status bring_here(hac_logic_run_state *run, const hac_run_task *task, hac_error *err)
{
    bool divided = task->grain > 0 && hac_run_is_divided(run, task->rows, task->grain);
    uint64_t grain = divided ? hac_run_rank_grain(run, task->rows, task->grain) : 0;
    hac_status status = HAC_OK;
    for (size_t i = 0; i < task->n_operands && status == HAC_OK; i++) {
        hac_run_vector *v = task->operands[i];
        if (writes(task, i) || hac_run_is_whole(v))
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

static size_t call_size(const hac_run_task *task, size_t program_bytes)
{
    return sizeof(hac_op_call) + task->n_operands * sizeof(hac_op_operand) + program_bytes;
}

/* Makes the call, which is the same for all components. */
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

/* Whether a task reads all of an operand, so that it depends on all tasks that write it. */
static bool reads_all(const hac_run_task *what, size_t operand)
{
    return (what->whole >> operand & 1) || what->operands[operand]->operand.rows == 1 || what->grain == 0;
}

/* Whether rows [first, end) depend on a task that writes an operand. */
static bool waits_for(const hac_run_task *what, size_t operand, const hac_run_writer *w, uint64_t first,
                      uint64_t end)
{
    return reads_all(what, operand) || (w->first < end && first < w->end);
}

/* Adds the dependencies on the tasks that write the operands. The graph before has ended when this one
 * begins. */
static void find_order(const hac_logic_run_state *run, const hac_run_task *what, hac_run_graph_task *part,
                       hac_op_task *task, uint64_t first, uint64_t end)
{
    for (size_t i = 0; i < what->n_operands; i++) {
        const hac_run_vector *v = what->operands[i];
        if (writes(what, i))
            continue;
        for (unsigned w = 0; hac_run_is_of_graph(run, v) && w < v->n_writers; w++)
            if (waits_for(what, i, &v->writers[w], first, end))
                wait_after(part, task, v->writers[w].task);
    }
}

/* `scale` rows of the task are `each` rows of an operand. */
typedef struct row_map {
    uint64_t scale, each;
} row_map;

static row_map map_rows(const hac_run_task *what, size_t operand)
{
    if (operand > 0 || what->scale <= 1)
        return (row_map){1, 1};
    /* Tables and partials: rows for each block. */
    uint64_t blocks = (what->rows + what->scale - 1) / what->scale;
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

/* Sets the bytes that a component touches of a dense vector which it walks by rows. Otherwise it may touch
 * the whole span. */
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

/* Names the task. The name begins with the position in the file, so that a failure is reported there, not
 * at the piece that waits. */
static void name_task(const hac_logic_run_state *run, const hac_run_task *what, unsigned component,
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
                                       .written = writes(what, i),
                                       .offset = v->memory->offset,
                                       .bytes = (v->bytes + 63) / 64 * 64};
        touch(what, i, first, end, &part->spans[i]);
        task->memory += (uint64_t)((double)v->bytes * share);
    }
    task->spans = part->spans;
    task->n_spans = what->n_operands;
    task->type = hac_op_type(what->codelet, operands, what->n_operands);
}

static void note_planned(const hac_logic_run_state *run, const hac_op_task *task, unsigned component,
                         unsigned components)
{
    hac_run_planned *planned = &run->graph->planned_tasks[run->graph->n_tasks];
    *planned = (hac_run_planned){.piece = run->dry_run->piece,
                                 .task = {.component = component,
                                          .components = components,
                                          .first = task->first,
                                          .count = task->count,
                                          .memory = task->memory,
                                          .sub_loop = run->dry_run->sub_loop,
                                          .sub_loops = run->dry_run->sub_loops,
                                          .at_most = run->dry_run->at_most,
                                          .places = run->graph->parts[run->graph->n_tasks].order != NULL,
                                          .seconds = NAN}};
    snprintf(planned->task.codelet, sizeof planned->task.codelet, "%s", task->codelet);
    run->dry_run->tasks = true;
}

/* Whether kernels can run the program. For exp, sin, pow … they would give other bits; they have no texts. */
static bool suits_kernels(const hac_program *program)
{
    return hac_program_exact(program) && hac_program_fits_device(program);
}

/* Adds one component of a sub-operator. */
static void add_one(hac_logic_run_state *run, const hac_run_task *what, const hac_component_range *range,
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
                          .host = hac_op_is_exact(what->function) ||
                                  (what->program != NULL && !suits_kernels(what->program)),
                          .after = part->after,
                          .first = ranged ? range->first : 0,
                          .count = ranged ? range->count : 0,
                          .grain = ranged && components == 1 ? what->grain : 0,
                          .call = call,
                          .call_bytes = call_bytes,
                          /* A sub-operator without work has no share to split. */
                          .units = what->units > 0 ? what->units * share : 1};
    set_spans(what, range->first, range->first + range->count, share, task, part);
    find_order(run, what, part, task, range->first, range->first + range->count);
    name_task(run, what, component, components, part);
    if (run->dry_run != NULL)
        note_planned(run, task, component, components);
    graph->n_tasks++;
}

/* The maximum size of a task in the job's message. */
static size_t message_bytes(const hac_run_task *what, size_t call_bytes)
{
    return TASK_BYTES + call_bytes + what->n_operands * SPAN_BYTES;
}

/* Whether the graph has room for `components` more tasks. */
static bool has_room(const hac_logic_run_state *run, const hac_run_task *what, unsigned components,
                     size_t call_bytes)
{
    const hac_run_graph *graph = run->graph;
    return graph->planned + components <= HAC_RUN_TASKS_MAX &&
           graph->n_buffers + what->n_operands <= HAC_OPS_BUFFERS_MAX &&
           graph->bytes + components * message_bytes(what, call_bytes) <= hac_run_tasks_bytes_left(run);
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

/* The ranges that become tasks, of this rank's rows [first, end). */
typedef struct cuts {
    hac_component_range ranges[HAC_COMPONENTS_MAX];
    unsigned n, wanted; /* maximum of any rank; equal on all ranks */
    uint64_t first, end;
    /* The order of the partition that the ranges refer to; NULL: they are rows. */
    const hac_run_vector *places;
} cuts;

static void note_writers(const hac_logic_run_state *run, const hac_run_task *what, uint32_t first_task,
                         const cuts *cut)
{
    bool divided = what->grain > 0 && hac_run_is_divided(run, what->rows, what->grain);
    for (size_t i = 0; i < what->n_operands; i++) {
        hac_run_vector *v = what->operands[i];
        if (!writes(what, i))
            continue;
        row_map map = map_rows(what, i);
        v->n_writers = cut->n;
        v->writers_max = cut->wanted;
        v->graph = run->graph->number;
        for (unsigned c = 0; c < cut->n; c++)
            v->writers[c] = (hac_run_writer){first_task + c, mapped_first(map, cut->ranges[c].first),
                                             mapped_end(map, cut->ranges[c].first + cut->ranges[c].count)};
        if (what->scattered || what->grain == 0) /* all rows */
            v->writers[0].end = UINT64_MAX;
        if (!divided || what->scattered)
            continue;
        v->divided = true;
        v->cut = (hac_run_cut){hac_run_rank_grain(run, what->rows, what->grain), what->rows, map.scale,
                               map.each, hac_run_cut_by(run, what->rows)};
        v->first = mapped_first(map, cut->first);
        v->end = cut->end == what->rows ? v->operand.rows : mapped_first(map, cut->end);
    }
}

/* The maximum number of components. Each has the call in the message, which has to hold all of them. */
static unsigned components_wanted(const hac_logic_run_state *run, const hac_run_task *what)
{
    hac_text program = HAC_TEXT_NONE;
    unsigned max = run->components;
    if (what->grain == 0 || what->scattered || max <= 1)
        return 1;
    if (what->program != NULL)
        hac_program_write(what->program, &program);
    size_t fit =
        (HAC_RUN_MESSAGE_MAX - HAC_OPS_LOG_MAX) / message_bytes(what, call_size(what, program.bytes));
    hac_text_clear(&program);
    return fit >= max ? max : fit > 1 ? (unsigned)fit : 1;
}

/* Splits rows [first, end) into ranges, without the empty ones. */
static unsigned cut_components(const hac_logic_run_state *run, const hac_run_task *what, uint64_t first,
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

/* The maximum number of tasks that a task over these rows depends on. Ranks have different dependencies,
 * but all have to get the same number. */
static size_t waits_of(const hac_logic_run_state *run, const hac_run_task *what, uint64_t first, uint64_t end)
{
    size_t n = 0;
    for (size_t i = 0; i < what->n_operands; i++) {
        const hac_run_vector *v = what->operands[i];
        if (writes(what, i) || !hac_run_is_of_graph(run, v))
            continue;
        for (unsigned w = 0; hac_run_is_single_rank(run) && w < v->n_writers; w++)
            n += waits_for(what, i, &v->writers[w], first, end);
        n += hac_run_is_single_rank(run) ? 0 : v->writers_max;
    }
    return n;
}

static bool can_wait(const hac_logic_run_state *run, const hac_run_task *what, const cuts *cut)
{
    if (!hac_run_is_single_rank(run))
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

static hac_status add_ranges(hac_logic_run_state *run, const hac_run_task *what, const cuts *cut,
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

/* Finds this rank's components of single rows: consecutive ones, like the rows of a range. */
static void cut_places(const hac_logic_run_state *run, cuts *ret)
{
    const hac_run_partition *p = run->partition;
    unsigned first = 0, end = p->n_parts;
    if (!hac_run_is_single_rank(run)) {
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

/* Until it is gathered, other ranks have their part of a result. */
static void note_places(const hac_logic_run_state *run, const cuts *cut, hac_run_vector *v)
{
    v->divided = !hac_run_is_single_rank(run);
    v->cut = (hac_run_cut){.grain = 0};
    v->first = v->divided ? cut->first : 0;
    v->end = v->divided ? cut->end : v->operand.rows;
}

static hac_status new_places(hac_logic_run_state *run, const hac_run_vector *like, uint64_t places,
                             hac_run_vector *ret, hac_error *err)
{
    const hac_op_operand *o = &like->operand;
    return hac_run_vector_new(
        run, &(hac_run_shape){HAC_VECTOR_FIX_VALUE, (hac_kind)o->kind, places, o->columns, 0}, ret, err);
}

static hac_status copy_rows(hac_logic_run_state *run, const hac_run_task *what, const cuts *cut,
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

static hac_status put_back(hac_logic_run_state *run, const hac_run_task *what, hac_run_vector *from,
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

/* Copies the rows of each component side by side, runs the sub-operator over the copies, and puts the
 * results back. */
static hac_status add_places(hac_logic_run_state *run, const hac_run_task *what, hac_error *err)
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
        if (status == HAC_OK && !writes(what, i))
            status = copy_rows(run, what, &cut, what->operands[i], &copies[i], err);
    }
    task.rows = places;
    task.units = what->units * (double)places / (double)what->rows;
    if (status == HAC_OK)
        status = add_ranges(run, &task, &cut, NULL, err);
    for (size_t i = 0; i < what->n_operands && status == HAC_OK; i++)
        if (writes(what, i)) {
            note_places(run, &cut, &copies[i]);
            status = put_back(run, what, &copies[i], what->operands[i], err);
        }
    for (size_t i = 0; i < what->n_operands; i++)
        if (copies[i].memory != NULL)
            hac_run_vector_clear(run, &copies[i]);
    return status;
}

static bool takes_single_rows(const hac_logic_run_state *run, const hac_run_task *task)
{
    const hac_run_partition *p = run->partition;
    if (p == NULL || p->parts == NULL || p->rows != task->rows || task->rows <= 1 || task->grain == 0 ||
        task->scattered || task->scale > 1)
        return false;
    for (size_t i = 0; i < task->n_operands; i++) {
        const hac_op_operand *o = &task->operands[i]->operand;
        bool same = (task->whole >> i & 1) != 0 || (o->rows == 1 && !writes(task, i));
        if (!same && (!hac_op_form_is_dense(o->form) || o->rows != task->rows))
            return false;
    }
    return true;
}

hac_status hac_run_add(hac_logic_run_state *run, const hac_run_task *what, uint32_t *ret_first,
                       hac_error *err)
{
    cuts cut = {.n = 0, .wanted = components_wanted(run, what), .end = what->rows};
    if (takes_single_rows(run, what) && run->partition->n_parts <= cut.wanted)
        return add_places(run, what, err);
    if (what->grain > 0)
        (void)hac_run_part(run, what->rows, what->grain, &cut.first, &cut.end);
    hac_status status = bring_here(run, what, err);
    if (status != HAC_OK)
        return status;
    cut.n = cut_components(run, what, cut.first, cut.end, cut.wanted, cut.ranges);
    return add_ranges(run, what, &cut, ret_first, err);
}
