/* SPDX-License-Identifier: Apache-2.0 */
/* A dry run: walks the steps once and asks hacd where their tasks would run. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opsplit/run.h"
#include "run/control/steps.h"
#include "run/io/load.h"
#include "run/ops/ops.h"
#include "run/run_state.h"
#include "run/state/graph.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"
#include "run/tasks/partition.h"
#include "run/tasks/scalar.h"

HAC_DEFINE_CLEANUP(hac_placement *, hac_placement_free)

/* ---- what hacd said ---- */

/* Whether a failure ends the dry run. Other failures are those that a run would have. */
static bool is_fatal(hac_status status)
{
    return status == HAC_NO_MEMORY || status == HAC_NO_DAEMON || status == HAC_IO || status == HAC_PROTOCOL ||
           status == HAC_INTERNAL;
}

/* Keeps the first reason. */
static hac_status leave_number_open(hac_logic_run_state *run, size_t piece, hac_error *err,
                                    const char *reason)
{
    hac_piece_placement *to = &run->dry_run->placement->pieces[piece];
    if (to->open == NULL)
        to->open = strdup(reason);
    return to->open != NULL ? HAC_OK : hac_fail_no_memory(err);
}

/* Leaves a piece open. A piece that needs no device has no placement. */
static hac_status leave_open(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err,
                             const char *fmt, ...) HAC_PRINTF(4, 5);
static hac_status leave_open(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err,
                             const char *fmt, ...)
{
    char reason[HAC_ERROR_MESSAGE_SIZE];
    va_list args;
    if (piece->subop->id == HAC_SUBOP_FILL || piece->subop->id == HAC_SUBOP_RANGE)
        return HAC_OK;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    return leave_number_open(run, piece->number, err, reason);
}

static hac_status add_task(hac_piece_placement *to, hac_placed_task *task, hac_error *err)
{
    hac_placed_task *more = realloc(to->tasks, (to->n_tasks + 1) * sizeof *more);
    if (more == NULL)
        return hac_fail_no_memory(err);
    to->tasks = more;
    to->tasks[to->n_tasks++] = *task;
    task->devices = task->reason = NULL; /* they belong to `to` now */
    return HAC_OK;
}

/* Gives the tasks of the plan to their pieces. */
static hac_status take_tasks(hac_logic_run_state *run, const hac_run_planned *tasks, hac_placed_task *placed,
                             size_t n, const char *plan, hac_error *err)
{
    for (size_t i = 0; i < n; i++)
        placed[i] = tasks[i].task;
    hac_status status = run->dry_run->read_plan(plan, placed, n, err);
    for (size_t i = 0; i < n && status == HAC_OK; i++)
        status = add_task(&run->dry_run->placement->pieces[tasks[i].piece], &placed[i], err);
    for (size_t i = 0; i < n; i++) {
        free(placed[i].devices);
        free(placed[i].reason);
    }
    return status;
}

/* hac_dry_run.take_plan */
static hac_status take_plan(hac_logic_run_state *run, const hac_run_planned *tasks, size_t n,
                            hac_status status, const char *plan, const hac_error *why, hac_error *err)
{
    if (is_fatal(status))
        return hac_fail(err, status, "%s", why->message);
    if (status != HAC_OK) {
        char reason[HAC_ERROR_MESSAGE_SIZE + 32];
        snprintf(reason, sizeof reason, "a run would fail: %s", why->message);
        status = HAC_OK;
        for (size_t i = 0; i < n && status == HAC_OK; i++)
            status = leave_number_open(run, tasks[i].piece, err, reason);
        return status;
    }
    hac_autofree hac_placed_task *placed = calloc(n, sizeof *placed);
    return placed != NULL ? take_tasks(run, tasks, placed, n, plan, err) : hac_fail_no_memory(err);
}

/* ---- vectors whose values are not known ---- */

static void forget(hac_logic_run_state *run, int vector)
{
    int rows = run->logic->vectors[vector].rows;
    hac_run_vector_clear(run, &run->vectors[vector]);
    if (rows >= 0)
        run->dimensions[rows] = HAC_RUN_NOT_KNOWN;
}

/* Whether a dimension stays the same in all rounds of a loop that begins now. */
static bool is_fixed(const hac_logic_run_state *run, int dimension)
{
    if (dimension < 0)
        return false;
    hac_dimension_kind kind = run->logic->dimensions[dimension].kind;
    return kind == HAC_DIMENSION_CONSTANT || kind == HAC_DIMENSION_INPUT ||
           (kind == HAC_DIMENSION_DATA && run->dimensions[dimension] != HAC_RUN_NOT_KNOWN);
}

static void enter(hac_logic_run_state *run, int vector)
{
    const hac_logic_vector *v = &run->logic->vectors[vector];
    bool fixed = is_fixed(run, v->rows) && is_fixed(run, v->columns) &&
                 (!hac_op_form_has_entries(v->form) || is_fixed(run, v->entries));
    run->dry_run->loose[vector] |= !fixed;
}

/* Forgets the value of a vector that a round of a loop or one of two branches has written. Its size stays
 * known only where it is always the same. */
static void leave(hac_logic_run_state *run, int vector)
{
    run->vectors[vector].unknown = true;
    if (run->dry_run->loose[vector])
        forget(run, vector);
}

/* Calls `use` for every vector that the steps write. */
static void each_written(hac_logic_run_state *run, const hac_logic_step *steps, size_t n,
                         void (*use)(hac_logic_run_state *, int))
{
    for (size_t i = 0; i < n; i++) {
        const hac_logic_step *step = &steps[i];
        for (size_t p = 0; p < step->n_pieces; p++)
            for (size_t w = 0; w < step->pieces[p].n_writes; w++)
                use(run, step->pieces[p].writes[w]);
        each_written(run, step->body, step->n_body, use);
        each_written(run, step->otherwise, step->n_otherwise, use);
        for (size_t c = 0; c < step->n_collect; c++)
            use(run, step->collect[c].out);
    }
}

/* ---- pieces ---- */

/* A vector that the piece needs and whose size is not known; -1: none. */
static int missing(const hac_logic_run_state *run, const hac_logic_piece *piece)
{
    for (size_t i = 0; i < piece->n_reads; i++)
        if (run->vectors[piece->reads[i]].memory == NULL)
            return piece->reads[i];
    return -1;
}

static hac_status leave_missing(hac_logic_run_state *run, const hac_logic_piece *piece, int vector,
                                hac_error *err)
{
    const hac_logic_vector *named = &run->logic->vectors[vector];
    if (named->input >= 0 && run->logic->inputs[named->input].is_vector)
        return leave_open(run, piece, err, "decided when a program passes in `%s`", named->name);
    if (named->input >= 0)
        return leave_open(run, piece, err, "decided when the rows of `%s` are known: --input %s=FILE",
                          named->name, run->logic->inputs[named->input].name);
    return leave_open(run, piece, err, "decided when the rows of `%s` are known", named->name);
}

static hac_status sorted_vector(hac_logic_run_state *run, const hac_logic_piece *piece, const char *name,
                                hac_kind kind, uint64_t rows, hac_error *err)
{
    hac_run_vector result;
    if (hac_logic_argument_vector(piece, name) < 0)
        return HAC_OK;
    hac_status status = hac_run_dense(run, kind, rows, 1, &result, err);
    if (status != HAC_OK)
        return status;
    result.unknown = true;
    hac_run_publish(run, piece, name, &result);
    return HAC_OK;
}

/* A sort is a job of its own, which `hacctl explain sort` plans. */
static hac_status place_sort(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    const hac_run_vector *in = &run->vectors[hac_logic_argument_vector(piece, "in")];
    hac_kind kind = (hac_kind)in->operand.kind;
    unsigned long long rows = in->operand.rows;
    hac_status status = hac_run_flush(run, err); /* the graph of a run ends here */
    if (status == HAC_OK)
        status = leave_open(run, piece, err,
                            "a sort of %s%llu %s, planned as a job of its own: hacctl explain sort --items "
                            "%llu --type %s",
                            in->at_most ? "at most " : "", rows, hac_element_name(kind), rows,
                            hac_element_name(kind));
    if (status == HAC_OK)
        status = sorted_vector(run, piece, "out", kind, rows, err);
    return status == HAC_OK ? sorted_vector(run, piece, "order", HAC_KIND_U32, rows, err) : status;
}

static hac_status make_tasks(hac_logic_run_state *run, const hac_logic_step *step,
                             const hac_logic_piece *piece, hac_error *err)
{
    run->dry_run->piece = piece->number;
    run->at = piece->at;
    hac_status status = hac_run_choose_cut(run, step, piece, err);
    if (status != HAC_OK)
        return status;
    return piece->subop->id == HAC_SUBOP_SORT ? place_sort(run, piece, err) : hac_run_piece(run, piece, err);
}

/* The number of rows or columns; false: it is not known. */
static bool is_known(const hac_logic_run_state *run, int dimension, uint64_t *ret)
{
    if (dimension < 0 || run->logic->dimensions[dimension].kind == HAC_DIMENSION_JOIN)
        return false;
    const hac_logic_dimension *d = &run->logic->dimensions[dimension];
    *ret = d->kind == HAC_DIMENSION_CONSTANT ? d->value : run->dimensions[dimension];
    return *ret != HAC_RUN_NOT_KNOWN;
}

/* Gives a vector that was not computed the size that the file states. */
static hac_status expect(hac_logic_run_state *run, int vector, hac_error *err)
{
    const hac_logic_vector *named = &run->logic->vectors[vector];
    hac_run_shape shape = {named->form, named->kind, 0, 0, 0};
    hac_run_vector fresh;
    hac_run_vector_clear(run, &run->vectors[vector]);
    if (hac_op_form_has_entries(named->form) || !is_known(run, named->rows, &shape.rows) ||
        !is_known(run, named->columns, &shape.columns))
        return HAC_OK;
    hac_status status = hac_run_vector_new(run, &shape, &fresh, err);
    if (status != HAC_OK)
        return is_fatal(status) ? status : HAC_OK; /* too large: the size stays unknown */
    fresh.unknown = true;
    hac_run_set(run, vector, &fresh);
    return HAC_OK;
}

/* Gives the results of a piece without tasks their sizes, as far as they are known. */
static hac_status expect_results(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < piece->n_writes && status == HAC_OK; i++)
        status = expect(run, piece->writes[i], err);
    return status;
}

/* Says why there are no tasks, or not all. */
static hac_status leave_failed(hac_logic_run_state *run, const hac_logic_piece *piece, hac_status status,
                               const hac_error *why, hac_error *err)
{
    static const char at_most[] = "decided when the rows are known; with the maximum number of rows ";
    if (is_fatal(status))
        return hac_fail(err, status, "%s", why->message);
    if (status == HAC_AGAIN)
        return leave_open(run, piece, err, "%s", why->message);
    return leave_open(run, piece, err, "%sa run would fail: %s", run->dry_run->at_most ? at_most : "",
                      why->message);
}

/* A result is known if it needed no tasks and the operands are known. */
static void mark_written(hac_logic_run_state *run, const hac_logic_piece *piece, bool unknown)
{
    for (size_t i = 0; i < piece->n_writes; i++) {
        hac_run_vector *v = &run->vectors[piece->writes[i]];
        v->unknown |= unknown || run->dry_run->tasks;
        v->at_most |= run->dry_run->at_most;
    }
}

static hac_status make_reducer_tasks(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err)
{
    run->dry_run->piece = piece->number;
    return hac_run_reducer_piece(run, piece, &run->dry_run->ids, err);
}

static hac_status place_piece(hac_logic_run_state *run, const hac_logic_step *step,
                              const hac_logic_piece *piece, hac_error *err)
{
    hac_error why = HAC_ERROR_NONE;
    int needed = missing(run, piece);
    bool unknown = false;
    run->dry_run->at_most = run->dry_run->tasks = false;
    for (size_t i = 0; i < piece->n_reads; i++) {
        unknown |= run->vectors[piece->reads[i]].unknown;
        run->dry_run->at_most |= run->vectors[piece->reads[i]].at_most;
    }
    hac_status made = HAC_AGAIN;
    if (needed < 0)
        made = step->reducer ? make_reducer_tasks(run, piece, &why) : make_tasks(run, step, piece, &why);
    hac_status status = HAC_OK;
    if (needed >= 0)
        status = leave_missing(run, piece, needed, err);
    else if (made != HAC_OK)
        status = leave_failed(run, piece, made, &why, err);
    if (status == HAC_OK && made != HAC_OK)
        status = expect_results(run, piece, err);
    mark_written(run, piece, unknown);
    return status;
}

/* ---- steps ---- */

static hac_status place_steps(hac_logic_run_state *run, const hac_logic_step *steps, size_t n, unsigned loops,
                              hac_error *err);

static hac_status never_run(hac_logic_run_state *run, const hac_logic_step *steps, size_t n, const char *why,
                            hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < n && status == HAC_OK; i++) {
        for (size_t p = 0; p < steps[i].n_pieces && status == HAC_OK; p++)
            status = leave_open(run, &steps[i].pieces[p], err, "not run: %s", why);
        if (status == HAC_OK)
            status = never_run(run, steps[i].body, steps[i].n_body, why, err);
        if (status == HAC_OK)
            status = never_run(run, steps[i].otherwise, steps[i].n_otherwise, why, err);
    }
    return status;
}

/* The value of an expression over Vars; false: it is not known, or computing it would fail. */
static bool look(hac_logic_run_state *run, const hac_logic_expression *expression, int64_t otherwise,
                 int64_t *ret, hac_status *ret_fatal, hac_error *err)
{
    hac_error why = HAC_ERROR_NONE;
    uint64_t bits = (uint64_t)otherwise;
    hac_status status = HAC_OK;
    for (size_t i = 0; expression != NULL && i < expression->n_vectors; i++)
        if (run->vectors[expression->vectors[i]].memory == NULL)
            return false;
    if (expression != NULL)
        status = hac_run_scalar(run, expression, &bits, &why);
    if (is_fatal(status))
        *ret_fatal = hac_fail(err, status, "%s", why.message);
    *ret = (int64_t)bits;
    return status == HAC_OK;
}

/* Makes the vector that `collect` fills: a row for each iteration, as large as that of the first one. */
static hac_status collect(hac_logic_run_state *run, const struct hac_logic_collect *from, uint64_t n,
                          hac_error *err)
{
    const hac_run_vector *in = &run->vectors[from->in];
    hac_run_vector fresh;
    hac_run_vector_clear(run, &run->vectors[from->out]);
    if (in->memory == NULL || n == HAC_RUN_NOT_KNOWN)
        return HAC_OK;
    hac_status status = hac_run_flush(run, err); /* as in a run */
    if (status == HAC_OK)
        status = hac_run_dense(run, (hac_kind)in->operand.kind, n, in->operand.rows * in->operand.columns,
                               &fresh, err);
    if (status != HAC_OK)
        return is_fatal(status) ? status : HAC_OK; /* too large: the size stays unknown */
    fresh.at_most = in->at_most;
    hac_run_set(run, from->out, &fresh);
    return HAC_OK;
}

typedef struct iterations {
    int64_t from, by;
    uint64_t n; /* HAC_RUN_NOT_KNOWN: the data decides the bounds */
} iterations;

/* Walks the first iteration of each sub-loop. A loop within a loop that is split counts as one. */
static hac_status place_iterations(hac_logic_run_state *run, const hac_logic_step *step, const iterations *it,
                                   unsigned loops, hac_error *err)
{
    hac_dry_run *dry_run = run->dry_run;
    bool known = it->n != HAC_RUN_NOT_KNOWN;
    unsigned parts = known && dry_run->sub_loops == 1 ? hac_run_sub_loops(run, step, it->n) : 1;
    hac_status status = HAC_OK;
    for (unsigned s = 0; s < parts && status == HAC_OK; s++) {
        uint64_t first = known ? hac_sub_loop(it->n, parts, s).first : 0;
        if (parts > 1) {
            dry_run->sub_loop = s;
            dry_run->sub_loops = parts;
        }
        status = hac_run_set_index(run, step->index, (int64_t)((uint64_t)it->from + first * (uint64_t)it->by),
                                   err);
        run->vectors[step->index].unknown = !known;
        if (status == HAC_OK)
            status = place_steps(run, step->body, step->n_body, loops + 1, err);
    }
    if (parts > 1) {
        dry_run->sub_loop = 0;
        dry_run->sub_loops = 1;
    }
    return status;
}

static hac_status place_for(hac_logic_run_state *run, const hac_logic_step *step, unsigned loops,
                            hac_error *err)
{
    iterations it = {.from = 0};
    int64_t to = 0;
    hac_status status = HAC_OK;
    bool known = look(run, step->from, 0, &it.from, &status, err);
    known = look(run, step->to, 0, &to, &status, err) && known;
    known = look(run, step->by, 1, &it.by, &status, err) && known && it.by != 0;
    if (status != HAC_OK)
        return status;
    it.n = known ? hac_loop_iterations(it.from, to, it.by) : HAC_RUN_NOT_KNOWN;
    each_written(run, step, 1, enter);
    if (it.n > 0)
        status = place_iterations(run, step, &it, loops, err);
    else if (loops == 0)
        status = never_run(run, step->body, step->n_body, "the loop has no iterations", err);
    for (size_t c = 0; c < step->n_collect && status == HAC_OK; c++)
        status = collect(run, &step->collect[c], loops == 0 ? it.n : HAC_RUN_NOT_KNOWN, err);
    each_written(run, step->body, step->n_body, leave);
    for (size_t c = 0; c < step->n_collect; c++)
        run->vectors[step->collect[c].out].unknown = true;
    run->vectors[step->index].unknown = true;
    return status;
}

static hac_status place_while(hac_logic_run_state *run, const hac_logic_step *step, unsigned loops,
                              hac_error *err)
{
    hac_status status = HAC_OK;
    int64_t on = 1;
    bool known = !step->first && look(run, step->condition, 1, &on, &status, err);
    if (status != HAC_OK)
        return status;
    if (known && (on & 1) == 0 && loops == 0)
        return never_run(run, step->body, step->n_body, "the condition is false from the beginning", err);
    each_written(run, step->body, step->n_body, enter);
    status = place_steps(run, step->body, step->n_body, loops + 1, err);
    if (status == HAC_OK)
        (void)look(run, step->condition, 1, &on, &status, err); /* as a run does after each round */
    each_written(run, step->body, step->n_body, leave);
    return status;
}

/* In a loop, another round may take the other branch. */
static hac_status place_branch(hac_logic_run_state *run, const hac_logic_step *steps, size_t n, bool known,
                               bool taken, unsigned loops, hac_error *err)
{
    if (known && !taken)
        return never_run(run, steps, n, "the condition has the other value", err);
    each_written(run, steps, n, enter);
    hac_status status = place_steps(run, steps, n, loops, err);
    if (!known)
        each_written(run, steps, n, leave);
    return status;
}

static hac_status place_if(hac_logic_run_state *run, const hac_logic_step *step, unsigned loops,
                           hac_error *err)
{
    hac_status status = HAC_OK;
    int64_t on = 1;
    bool known = look(run, step->condition, 1, &on, &status, err) && loops == 0;
    bool taken = (on & 1) != 0;
    if (status == HAC_OK)
        status = place_branch(run, step->body, step->n_body, known, taken, loops, err);
    return status == HAC_OK ? place_branch(run, step->otherwise, step->n_otherwise, known, !taken, loops, err)
                            : status;
}

static hac_status place_op(hac_logic_run_state *run, const hac_logic_step *step, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < step->n_pieces && status == HAC_OK; i++)
        status = place_piece(run, step, &step->pieces[i], err);
    return status;
}

static hac_status place_steps(hac_logic_run_state *run, const hac_logic_step *steps, size_t n, unsigned loops,
                              hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < n && status == HAC_OK; i++) {
        switch (steps[i].kind) {
        case HAC_STEP_OP:
            status = place_op(run, &steps[i], err);
            break;
        case HAC_STEP_FOR:
            status = place_for(run, &steps[i], loops, err);
            break;
        case HAC_STEP_WHILE:
            status = place_while(run, &steps[i], loops, err);
            break;
        case HAC_STEP_IF:
            status = place_if(run, &steps[i], loops, err);
            break;
        }
    }
    return status;
}

/* ---- the file ---- */

static hac_status new_placement(const hac_logic *logic, hac_placement **ret, hac_error *err)
{
    *ret = calloc(1, sizeof **ret);
    if (*ret == NULL)
        return hac_fail_no_memory(err);
    (*ret)->pieces = calloc(logic->n_pieces + 1, sizeof *(*ret)->pieces);
    if ((*ret)->pieces == NULL)
        return hac_fail_no_memory(err);
    (*ret)->n_pieces = logic->n_pieces;
    return HAC_OK;
}

static hac_status place_all(hac_logic_run_state *run, hac_error *err)
{
    for (size_t i = 0; i < run->logic->n_dimensions; i++)
        run->dimensions[i] = HAC_RUN_NOT_KNOWN;
    hac_status status = hac_run_load(run, err);
    if (status == HAC_OK)
        status = place_steps(run, run->logic->steps, run->logic->n_steps, 0, err);
    if (status == HAC_OK && run->logic->reducer != NULL)
        status = place_op(run, run->logic->reducer->step, err);
    return status == HAC_OK ? hac_run_flush(run, err) : status;
}

hac_status hac_run_placement(hac_client *client, const hac_logic *logic, const hac_run_options *options,
                             hac_plan_reader *read_plan, hac_placement **ret, hac_error *err)
{
    hac_cleanup(hac_placement_free_cleanup) hac_placement *placement = NULL;
    hac_autofree bool *loose = calloc(logic->n_vectors + 1, sizeof *loose);
    hac_run_options own = *options;
    hac_run_report report = {0};
    hac_dry_run dry_run = {.read_plan = read_plan, .take_plan = take_plan, .sub_loops = 1, .loose = loose};
    hac_logic_run_state run = {.client = client,
                               .logic = logic,
                               .options = &own,
                               .report = &report,
                               .dry_run = &dry_run,
                               .threads = hac_node_threads()};
    own.ranks = NULL;
    own.log = NULL;
    if (loose == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_run_check_names(logic, options, err);
    if (status == HAC_OK)
        status = new_placement(logic, &placement, err);
    dry_run.placement = placement;
    if (status == HAC_OK)
        status = hac_run_open(&run, err);
    if (status == HAC_OK)
        status = place_all(&run, err);
    if (status == HAC_OK && dry_run.lacking.code != HAC_OK)
        status = hac_fail(err, dry_run.lacking.code, "%s", dry_run.lacking.message);
    hac_run_clear(&run);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(placement);
    return status;
}
