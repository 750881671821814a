/* SPDX-License-Identifier: Apache-2.0 */
/* For and while: what holds at the begin of each round, and whether iterations are independent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* ---- independence ---- */

typedef struct flow {
    const bool *writes; /* by the whole body */
    bool *written;      /* for certain, so far in this iteration */
    bool carried;       /* the body reads a value that an earlier iteration may have left */
} flow;

void hac_logic_mark_writes(const hac_logic_step *steps, size_t n, bool *ret)
{
    for (size_t i = 0; i < n; i++) {
        const hac_logic_step *step = &steps[i];
        for (size_t j = 0; j < step->n_pieces; j++)
            for (size_t k = 0; k < step->pieces[j].n_writes; k++)
                ret[step->pieces[j].writes[k]] = true;
        if (step->kind == HAC_STEP_FOR && step->index >= 0)
            ret[step->index] = true;
        for (size_t j = 0; j < step->n_collect; j++)
            ret[step->collect[j].out] = true;
        hac_logic_mark_writes(step->body, step->n_body, ret);
        hac_logic_mark_writes(step->otherwise, step->n_otherwise, ret);
    }
}

static void read_vector(flow *f, int vector)
{
    f->carried |= f->writes[vector] && !f->written[vector];
}

static void read_expression(flow *f, const hac_logic_expression *e)
{
    for (size_t i = 0; e != NULL && i < e->n_vectors; i++)
        read_vector(f, e->vectors[i]);
}

static void follow(flow *f, const hac_logic_step *steps, size_t n);

static void follow_pieces(flow *f, const hac_logic_step *step)
{
    for (size_t i = 0; i < step->n_pieces; i++) {
        const hac_logic_piece *piece = &step->pieces[i];
        for (size_t j = 0; j < piece->n_reads; j++)
            read_vector(f, piece->reads[j]);
        for (size_t j = 0; j < piece->n_writes; j++)
            f->written[piece->writes[j]] = true;
    }
}

/* A vector is written for certain only if both branches write it; a loop may run no round. */
static void follow_branches(flow *f, const hac_logic_step *step)
{
    bool before[HAC_LOGIC_VECTORS_MAX], first[HAC_LOGIC_VECTORS_MAX];
    memcpy(before, f->written, sizeof before);
    if (step->kind == HAC_STEP_FOR)
        f->written[step->index] = true;
    follow(f, step->body, step->n_body);
    memcpy(first, f->written, sizeof first);
    memcpy(f->written, before, sizeof before);
    if (step->kind == HAC_STEP_IF)
        follow(f, step->otherwise, step->n_otherwise);
    for (size_t i = 0; i < HAC_LOGIC_VECTORS_MAX; i++)
        f->written[i] = step->kind == HAC_STEP_WHILE && step->first ? first[i] : f->written[i] && first[i];
}

static void follow(flow *f, const hac_logic_step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const hac_logic_step *step = &steps[i];
        read_expression(f, step->from);
        read_expression(f, step->to);
        read_expression(f, step->by);
        if (step->kind != HAC_STEP_WHILE || !step->first)
            read_expression(f, step->condition);
        if (step->kind == HAC_STEP_OP)
            follow_pieces(f, step);
        else
            follow_branches(f, step);
        for (size_t j = 0; j < step->n_collect; j++)
            f->written[step->collect[j].out] = true;
    }
}

bool hac_body_is_independent(const hac_logic *logic, const hac_logic_step *steps, size_t n, int index,
                             bool *ret_written)
{
    bool written[HAC_LOGIC_VECTORS_MAX] = {false};
    (void)logic;
    memset(ret_written, 0, HAC_LOGIC_VECTORS_MAX * sizeof *ret_written);
    hac_logic_mark_writes(steps, n, ret_written);
    if (index >= 0 && ret_written[index])
        return false; /* the body steers the loop itself */
    flow f = {.writes = ret_written, .written = written};
    follow(&f, steps, n);
    return !f.carried;
}

/* ---- rounds ---- */

typedef struct checked_loop {
    const hac_yaml_node *head, *body;
    hac_vector_state *entry; /* what holds when a round begins */
    hac_vector_state *before, *exit;
    int index; /* -1: while */
    hac_body_checker *check_body;
} checked_loop;

static hac_status walk_body(hac_logic_checker *c, const checked_loop *l, hac_logic_step *step)
{
    memcpy(c->state, l->entry, sizeof c->state);
    if (l->index >= 0)
        c->state[l->index] = (hac_vector_state){
            true, 0, HAC_DIMENSION_ONE, HAC_DIMENSION_ONE, HAC_DIMENSION_NONE, HAC_DIMENSION_NONE};
    hac_grow steps = {NULL, 0, 0};
    hac_status status = l->check_body(c, l->body, &steps);
    step->body = steps.data;
    step->n_body = steps.n;
    memcpy(l->exit, c->state, sizeof c->state);
    return status;
}

/* Walks rounds until what holds when one begins is what holds before the loop and after every round. */
static hac_status settle(hac_logic_checker *c, checked_loop *l, hac_logic_step *step)
{
    enum { ROUNDS_MAX = 64 };
    size_t bytes = sizeof c->state;
    l->entry = hac_logic_alloc(c, bytes);
    l->before = hac_logic_alloc(c, bytes);
    l->exit = hac_logic_alloc(c, bytes);
    hac_vector_state *merged = hac_logic_alloc(c, bytes);
    if (l->entry == NULL || l->before == NULL || l->exit == NULL || merged == NULL)
        return HAC_NO_MEMORY;
    memcpy(l->before, c->state, bytes);
    memcpy(l->entry, c->state, bytes);
    size_t pieces = c->n_pieces;
    for (unsigned i = 0; i < ROUNDS_MAX; i++) {
        c->quiet++;
        hac_status status = walk_body(c, l, step);
        c->quiet--;
        c->n_pieces = pieces;
        if (!hac_logic_goes_on(status))
            return status;
        hac_states_merge(c, l->before, l->exit, l->head->key_line, merged);
        bool settled = hac_states_equal(c, merged, l->entry);
        memcpy(l->entry, merged, bytes);
        if (settled)
            break;
    }
    return walk_body(c, l, step);
}

/* ---- while ---- */

/* Checks the condition, which is evaluated before every round. If it reads vectors that only the body
 * writes, it is not evaluated before the first round. */
static hac_status check_condition(hac_logic_checker *c, const checked_loop *l, const hac_yaml_node *node,
                                  hac_logic_step *step)
{
    bool missing[HAC_LOGIC_VECTORS_MAX] = {false};
    for (size_t i = 0; i < c->logic->n_vectors; i++) {
        c->state[i] = l->before[i].defined ? l->entry[i] : l->exit[i];
        missing[i] = !l->before[i].defined;
    }
    hac_status status = hac_check_scalar(c, node, HAC_KIND_NONE, &step->condition);
    if (status != HAC_OK)
        return status;
    if (step->condition->kind != HAC_KIND_BOOL)
        return hac_logic_problem(c, node, "a condition has to be bool, and this is %s",
                                 hac_element_name(step->condition->kind));
    bool written = false;
    for (size_t i = 0; i < step->condition->n_vectors; i++)
        step->first |= missing[step->condition->vectors[i]];
    bool changes[HAC_LOGIC_VECTORS_MAX] = {false};
    hac_logic_mark_writes(step->body, step->n_body, changes);
    for (size_t i = 0; i < step->condition->n_vectors; i++)
        written |= changes[step->condition->vectors[i]];
    if (!written && step->n_body > 0)
        hac_logic_note(c, node, "no round writes what the condition reads; it stays as it is");
    return HAC_OK;
}

static hac_status check_while(hac_logic_checker *c, const hac_yaml_node *item, checked_loop *l,
                              hac_logic_step *step)
{
    const hac_yaml_node *condition = NULL, *rounds = NULL;
    hac_status status = hac_logic_fields(c, item, "while do"), first = status;
    if (status == HAC_OK)
        status = hac_logic_need(c, l->head, HAC_YAML_MAP);
    if (status == HAC_OK)
        status = hac_logic_fields(c, l->head, "condition rounds");
    if (status == HAC_OK) {
        condition = hac_logic_field(l->head, "condition");
        rounds = hac_logic_field(l->head, "rounds");
    }
    if (status == HAC_OK && condition == NULL)
        status = hac_logic_problem_key(c, l->head,
                                       "`condition` is missing; as in {condition: \"residual > 1e-6\", "
                                       "rounds: 100}");
    if (status == HAC_OK && rounds == NULL)
        status = hac_logic_problem_key(c, l->head,
                                       "`rounds` is missing: the most rounds that are run, as in "
                                       "rounds: 100");
    if (status == HAC_OK)
        status = hac_logic_whole(c, rounds, 1, 1000000000, &step->rounds);
    first = first != HAC_OK ? first : status;
    status = settle(c, l, step);
    if (!hac_logic_goes_on(status))
        return status;
    hac_status second = condition != NULL ? check_condition(c, l, condition, step) : HAC_OK;
    if (!hac_logic_goes_on(second))
        return second;
    if (step->first)
        memcpy(c->state, l->exit, sizeof c->state);
    else
        hac_states_merge(c, l->before, l->exit, l->head->key_line, c->state);
    return first != HAC_OK ? first : status != HAC_OK ? status : second;
}

/* ---- for ---- */

static hac_status check_bounds(hac_logic_checker *c, const hac_yaml_node *head, hac_logic_step *step)
{
    const hac_yaml_node *from = hac_logic_field(head, "from"), *to = hac_logic_field(head, "to");
    const hac_yaml_node *by = hac_logic_field(head, "by"), *split = hac_logic_field(head, "split");
    uint64_t n = 0;
    int64_t step_size = 0;
    if (from == NULL || to == NULL || hac_logic_field(head, "index") == NULL)
        return hac_logic_problem_key(c, head, "`%s` is missing; as in {index: i, from: 0, to: 10}",
                                     from == NULL ? "from"
                                     : to == NULL ? "to"
                                                  : "index");
    hac_status status = hac_check_scalar(c, from, HAC_KIND_I64, &step->from);
    if (status == HAC_OK)
        status = hac_check_scalar(c, to, HAC_KIND_I64, &step->to);
    if (status == HAC_OK && by != NULL)
        status = hac_check_scalar(c, by, HAC_KIND_I64, &step->by);
    if (status == HAC_OK && by != NULL && hac_expression_constant(step->by, &step_size) && step_size == 0)
        return hac_logic_problem(c, by, "a step of 0 never ends; leave `by` out for 1");
    if (status == HAC_OK && split != NULL) {
        status = hac_logic_whole(c, split, 1, HAC_LOGIC_SPLIT_MAX, &n);
        step->split = (unsigned)n;
    }
    return status;
}

/* The number of iterations: a constant, or a dimension that the data decides. */
static int iterations_of(hac_logic_checker *c, const checked_loop *l, const hac_logic_step *step,
                         bool *ret_some)
{
    int64_t from = 0, to = 0, by = 1;
    bool known = step->from != NULL && step->to != NULL && hac_expression_constant(step->from, &from) &&
                 hac_expression_constant(step->to, &to) &&
                 (step->by == NULL || hac_expression_constant(step->by, &by));
    *ret_some = false;
    if (!known || by == 0)
        return hac_dimension_data(c, l->head, 0, "iterations of `for`");
    uint64_t n = 0;
    if (by > 0 && to > from)
        n = ((uint64_t)to - (uint64_t)from - 1) / (uint64_t)by + 1;
    else if (by < 0 && to < from)
        n = ((uint64_t)from - (uint64_t)to - 1) / (0 - (uint64_t)by) + 1;
    *ret_some = n > 0;
    return hac_dimension_constant(c, n);
}

static hac_status collect_one(hac_logic_checker *c, const hac_yaml_node *node, int iterations,
                              struct hac_logic_collect *ret)
{
    const char *name = NULL;
    hac_yaml_node key = hac_logic_key_node(node);
    hac_status status = hac_logic_text(c, node, &name);
    if (status == HAC_OK)
        status = hac_vector_read(c, &key, node->key, &ret->in);
    if (status != HAC_OK)
        return status;
    const hac_logic_vector *v = &c->logic->vectors[ret->in];
    const hac_vector_state *state = &c->state[ret->in];
    bool plain = hac_op_form_is_dense(v->form);
    if (v->kind == HAC_KIND_NONE)
        return HAC_INVALID;
    if (!plain || state->columns != HAC_DIMENSION_ONE)
        return hac_logic_problem(
            c, &key, "`%s` is a %s%s; `collect` takes a Var, or a vector, which becomes a row", node->key,
            hac_vector_template_get(v->form)->name, plain ? " with columns" : "");
    ret->out = hac_vector_lookup_or_add(c, node, name);
    if (ret->out < 0)
        return HAC_INVALID;
    hac_written w = {HAC_VECTOR_FIX_VALUE, v->kind,      iterations, state->rows,
                     HAC_DIMENSION_NONE,   state->below, false,      "`collect`"};
    return hac_vector_write(c, node, ret->out, &w);
}

static hac_status check_collect(hac_logic_checker *c, const hac_yaml_node *map, int iterations,
                                hac_logic_step *step)
{
    hac_status status = hac_logic_need(c, map, HAC_YAML_MAP), first = status;
    step->collect = status == HAC_OK ? hac_logic_alloc(c, map->count * sizeof *step->collect) : NULL;
    if (step->collect == NULL)
        return status != HAC_OK ? status : HAC_NO_MEMORY;
    for (const hac_yaml_node *node = map->first; node != NULL; node = node->next) {
        status = collect_one(c, node, iterations, &step->collect[step->n_collect]);
        if (!hac_logic_goes_on(status))
            return status;
        step->n_collect += status == HAC_OK;
        first = first != HAC_OK ? first : status;
    }
    return first;
}

static void mark_independent(hac_logic_checker *c, hac_logic_step *step)
{
    bool written[HAC_LOGIC_VECTORS_MAX];
    step->independent = hac_body_is_independent(c->logic, step->body, step->n_body, step->index, written);
    for (size_t i = 0; step->independent && i < c->logic->n_vectors; i++)
        c->logic->vectors[i].local |= written[i];
}

static hac_status begin_for(hac_logic_checker *c, const hac_yaml_node *head, hac_logic_step *step)
{
    const char *index = NULL;
    hac_status status = hac_logic_need(c, head, HAC_YAML_MAP);
    if (status == HAC_OK)
        status = hac_logic_fields(c, head, "index from to by split collect");
    if (status == HAC_OK)
        status = check_bounds(c, head, step);
    if (status != HAC_OK)
        return status;
    const hac_yaml_node *node = hac_logic_field(head, "index");
    status = hac_logic_text(c, node, &index);
    step->index = status == HAC_OK ? hac_vector_lookup_or_add(c, node, index) : -1;
    if (step->index < 0)
        return HAC_INVALID;
    hac_written w = {HAC_VECTOR_VAR,
                     HAC_KIND_I64,
                     HAC_DIMENSION_ONE,
                     HAC_DIMENSION_ONE,
                     HAC_DIMENSION_NONE,
                     HAC_DIMENSION_NONE,
                     false,
                     "`for`"};
    hac_vector_state before = c->state[step->index];
    status = hac_vector_write(c, node, step->index, &w);
    c->state[step->index] = before;
    return status;
}

static hac_status check_for(hac_logic_checker *c, const hac_yaml_node *item, checked_loop *l,
                            hac_logic_step *step)
{
    bool some = false;
    hac_status status = hac_logic_fields(c, item, "for do"), first = status;
    if (status == HAC_OK)
        first = status = begin_for(c, l->head, step);
    if (!hac_logic_goes_on(status))
        return status;
    int iterations = iterations_of(c, l, step, &some);
    l->index = step->index;
    status = settle(c, l, step);
    if (!hac_logic_goes_on(status))
        return status;
    first = first != HAC_OK ? first : status;
    const hac_yaml_node *collect = l->head->kind == HAC_YAML_MAP ? hac_logic_field(l->head, "collect") : NULL;
    if (!some)
        hac_states_merge(c, l->before, l->exit, l->head->key_line, l->exit);
    if (step->index >= 0)
        c->state[step->index] = (hac_vector_state){true, 0, 0, 0, HAC_DIMENSION_NONE, HAC_DIMENSION_NONE};
    if (first == HAC_OK && collect != NULL) { /* `collect` reads what an iteration leaves */
        first = check_collect(c, collect, iterations, step);
        if (!hac_logic_goes_on(first))
            return first;
    }
    if (first == HAC_OK)
        mark_independent(c, step);
    for (size_t i = 0; i < c->logic->n_vectors; i++) {
        bool collected = false;
        for (size_t j = 0; j < step->n_collect; j++)
            collected |= step->collect[j].out == (int)i;
        if (!collected)
            c->state[i] = l->exit[i];
    }
    if (step->index >= 0)
        c->state[step->index] = l->before[step->index];
    return first;
}

hac_status hac_check_loop(hac_logic_checker *c, const hac_yaml_node *item, hac_body_checker *check_body,
                          hac_logic_step *ret)
{
    bool count = ret->kind == HAC_STEP_FOR;
    checked_loop l = {.head = hac_logic_field(item, count ? "for" : "while"),
                      .body = hac_logic_field(item, "do"),
                      .index = -1,
                      .check_body = check_body};
    if (l.body == NULL)
        return hac_logic_problem_key(c, l.head, "`do` is missing: a list of steps");
    if (c->loops == HAC_LOGIC_LOOPS_MAX)
        return hac_logic_problem_key(c, l.head, "more than %d loops within each other", HAC_LOGIC_LOOPS_MAX);
    c->loops++;
    hac_status status = count ? check_for(c, item, &l, ret) : check_while(c, item, &l, ret);
    c->loops--;
    if (!hac_logic_goes_on(status))
        return status;
    ret->name = count && ret->index >= 0 ? hac_logic_print(c, "for %s", hac_vector_name(c, ret->index))
                                         : hac_logic_copy(c, count ? "for" : "while");
    return ret->name != NULL ? status : HAC_NO_MEMORY;
}
