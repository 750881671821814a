/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: OPs in order, for, while, if. */
#include "steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/ops/ops.h"
#include "run/state/exchange.h"
#include "run/state/graph.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"
#include "run/tasks/partition.h"
#include "run/tasks/scalar.h"
#include "while.h"

static hac_status run_pieces(hac_logic_run_state *run, const hac_logic_step *step, hac_error *err)
{
    hac_status status = hac_run_check_stop(run, err);
    uint64_t before = hac_now_ns();
    for (size_t i = 0; i < step->n_pieces && status == HAC_OK; i++) {
        hac_run_set_where(run, step->pieces[i].at, step->pieces[i].name);
        status = hac_run_choose_cut(run, step, &step->pieces[i], err);
        if (status == HAC_OK)
            status = hac_run_piece(run, &step->pieces[i], err);
        if (status != HAC_OK)
            (void)hac_run_failed(run, status, err);
    }
    run->where[0] = '\0';
    hac_run_clear_cut(run);
    if (status == HAC_OK && run->options->log != NULL)
        hac_run_log(run, "round %" PRIu64 ": %s: %zu sub-operators, %.3f ms to hand over", run->round,
                    step->name, step->n_pieces, hac_seconds_since(before) * 1e3);
    return status;
}

/* ---- for ---- */

typedef struct for_loop {
    int64_t from, by;
    uint64_t iterations;
    unsigned sub_loops;
    hac_run_vector *left; /* what the last iteration of each sub-loop left, for `collect` */
    /* The collected vectors; the body reads their old values until the loop ends. */
    hac_run_vector *collected;
} for_loop;

static hac_status bound(hac_logic_run_state *run, const hac_logic_expression *expression, int64_t otherwise,
                        int64_t *ret, hac_error *err)
{
    uint64_t bits = (uint64_t)otherwise;
    hac_status status = expression != NULL ? hac_run_scalar(run, expression, &bits, err) : HAC_OK;
    *ret = (int64_t)bits;
    return status;
}

hac_status hac_run_set_index(hac_logic_run_state *run, int vector, int64_t value, hac_error *err)
{
    hac_run_vector fresh;
    hac_run_shape shape = {HAC_VECTOR_VAR, HAC_KIND_I64, 1, 1, 0};
    hac_status status = hac_run_vector_new(run, &shape, &fresh, err);
    if (status != HAC_OK)
        return status;
    memcpy(hac_run_data(&fresh) + fresh.operand.values, &value, sizeof value);
    hac_run_vector_clear(run, &run->vectors[vector]);
    run->vectors[vector] = fresh;
    return HAC_OK;
}

/* Copies what the iteration left in `in`, which the file calls `name`, to row `row` of `out`. */
static hac_status collect(hac_logic_run_state *run, const char *name, hac_run_vector *in, hac_run_vector *out,
                          uint64_t row, uint64_t rows, hac_error *err)
{
    hac_status status = hac_run_is_pending(run, in) ? hac_run_flush(run, err) : HAC_OK;
    if (status == HAC_OK && row == 0) {
        hac_run_shape shape = {HAC_VECTOR_FIX_VALUE, (hac_kind)in->operand.kind, rows,
                               in->operand.rows * in->operand.columns, 0};
        status = hac_run_vector_new(run, &shape, out, err);
    }
    if (status != HAC_OK)
        return status;
    uint64_t bytes = in->operand.rows * in->operand.columns * hac_op_element_size(in->operand.kind);
    uint64_t capacity = out->operand.columns * hac_op_element_size(out->operand.kind);
    if (bytes != capacity || in->operand.kind != out->operand.kind)
        return hac_fail(err, HAC_FAILED, "iteration %" PRIu64 " left %s with another size than the first",
                        row, name);
    status = hac_run_gather(run, in, err);
    if (status == HAC_OK)
        memcpy(hac_run_data(out) + out->operand.values + row * capacity,
               hac_run_data(in) + in->operand.values, bytes);
    return status;
}

/* Collects what the iterations of a round have left. */
static hac_status collect_round(hac_logic_run_state *run, const hac_logic_step *step, const for_loop *l,
                                uint64_t round, hac_error *err)
{
    hac_status status = HAC_OK;
    for (unsigned s = 0; s < l->sub_loops; s++) {
        hac_component_range part = hac_sub_loop(l->iterations, l->sub_loops, s);
        for (size_t c = 0; c < step->n_collect && round < part.count && status == HAC_OK; c++)
            status =
                collect(run, run->logic->vectors[step->collect[c].in].name, &l->left[s * step->n_collect + c],
                        &l->collected[c], part.first + round, l->iterations, err);
    }
    return status;
}

/* As in hac_decompose (opsplit/decompose.h). */
unsigned hac_run_sub_loops(const hac_logic_run_state *run, const hac_logic_step *step, uint64_t iterations)
{
    uint64_t n = step->split > 0 ? step->split : run->options->components;
    n = n < iterations ? n : iterations;
    return step->independent && n > 1 ? (unsigned)n : 1;
}

static hac_status iterate(hac_logic_run_state *run, const hac_logic_step *step, int64_t index, hac_error *err)
{
    run->report->rounds++;
    run->round++;
    hac_status status = hac_run_set_index(run, step->index, index, err);
    return status == HAC_OK ? hac_run_steps(run, step->body, step->n_body, err) : status;
}

/* Runs the next iteration of each sub-loop, then collects. As long as no value is read in between, the
 * tasks of all sub-loops are one graph, in which they do not depend on each other. The last iteration of
 * the loop is added last, because the last sub-loop is the longest. */
static hac_status run_round(hac_logic_run_state *run, const hac_logic_step *step, const for_loop *l,
                            uint64_t round, hac_error *err)
{
    hac_status status = HAC_OK;
    for (unsigned s = 0; s < l->sub_loops && status == HAC_OK; s++) {
        hac_component_range part = hac_sub_loop(l->iterations, l->sub_loops, s);
        if (round >= part.count)
            continue;
        status =
            iterate(run, step, (int64_t)((uint64_t)l->from + (part.first + round) * (uint64_t)l->by), err);
        for (size_t c = 0; c < step->n_collect && status == HAC_OK; c++)
            hac_run_vector_copy(run, &run->vectors[step->collect[c].in], &l->left[s * step->n_collect + c]);
    }
    if (status != HAC_OK || step->n_collect == 0)
        return status;
    hac_run_set_where(run, step->at, step->name);
    status = collect_round(run, step, l, round, err);
    if (status != HAC_OK)
        (void)hac_run_failed(run, status, err);
    run->where[0] = '\0';
    return status;
}

static hac_status read_bounds(hac_logic_run_state *run, const hac_logic_step *step, for_loop *l,
                              hac_error *err)
{
    int64_t to = 0;
    hac_run_set_where(run, step->at, step->name);
    hac_status status = bound(run, step->from, 0, &l->from, err);
    if (status == HAC_OK)
        status = bound(run, step->to, 0, &to, err);
    if (status == HAC_OK)
        status = bound(run, step->by, 1, &l->by, err);
    if (status == HAC_OK && l->by == 0)
        status = hac_fail(err, HAC_INVALID, "the loop's step is 0");
    if (status == HAC_OK)
        l->iterations = hac_loop_iterations(l->from, to, l->by);
    else
        (void)hac_run_failed(run, status, err);
    run->where[0] = '\0';
    return status;
}

/* Gives the collected vectors their names. A loop without iterations leaves them without rows. */
static hac_status publish(hac_logic_run_state *run, const hac_logic_step *step, const for_loop *l,
                          hac_error *err)
{
    for (size_t c = 0; c < step->n_collect; c++) {
        int out = step->collect[c].out;
        hac_run_shape none = {HAC_VECTOR_FIX_VALUE, run->logic->vectors[out].kind, 0, 1, 0};
        hac_status status =
            l->iterations == 0 ? hac_run_vector_new(run, &none, &l->collected[c], err) : HAC_OK;
        if (status != HAC_OK)
            return status;
        hac_run_set(run, out, &l->collected[c]);
        l->collected[c] = (hac_run_vector){.memory = NULL};
    }
    return HAC_OK;
}

static hac_status run_for(hac_logic_run_state *run, const hac_logic_step *step, hac_error *err)
{
    for_loop l = {.sub_loops = 0};
    hac_status status = read_bounds(run, step, &l, err);
    if (status != HAC_OK)
        return status;
    l.sub_loops = hac_run_sub_loops(run, step, l.iterations);
    size_t n_left = l.sub_loops * step->n_collect, n = n_left + step->n_collect;
    l.left = calloc(n + 1, sizeof *l.left);
    if (l.left == NULL)
        return hac_fail_no_memory(err);
    l.collected = l.left + n_left;
    uint64_t rounds = hac_sub_loop(l.iterations, l.sub_loops, l.sub_loops - 1).count;
    for (uint64_t round = 0; round < rounds && status == HAC_OK; round++)
        status = run_round(run, step, &l, round, err);
    if (status == HAC_OK)
        status = publish(run, step, &l, err);
    for (size_t i = 0; i < n; i++)
        hac_run_vector_clear(run, &l.left[i]);
    free(l.left);
    return status;
}

/* ---- if ---- */

static hac_status run_if(hac_logic_run_state *run, const hac_logic_step *step, hac_error *err)
{
    bool on = false;
    hac_status status = hac_run_look(run, step, &on, err);
    if (status != HAC_OK)
        return status;
    hac_run_log(run, "round %" PRIu64 ": if %s: %s", run->round, step->condition->text, on ? "then" : "else");
    return on ? hac_run_steps(run, step->body, step->n_body, err)
              : hac_run_steps(run, step->otherwise, step->n_otherwise, err);
}

hac_status hac_run_steps(hac_logic_run_state *run, const hac_logic_step *steps, size_t n, hac_error *err)
{
    hac_status status = hac_run_check_stop(run, err); /* once in each round, which may have nothing to do */
    for (size_t i = 0; i < n && status == HAC_OK; i++) {
        const hac_logic_step *step = &steps[i];
        switch (step->kind) {
        case HAC_STEP_OP:
            status = run_pieces(run, step, err);
            break;
        case HAC_STEP_FOR:
            status = run_for(run, step, err);
            break;
        case HAC_STEP_WHILE:
            status = hac_run_while(run, step, hac_run_steps, err);
            break;
        case HAC_STEP_IF:
            status = run_if(run, step, err);
            break;
        }
    }
    return status;
}
