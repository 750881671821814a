/* SPDX-License-Identifier: Apache-2.0 */
/* From an OP to sub-operators × components. */
#include "opsplit/decompose.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/op_layout.h"
#include "check/check.h"

static unsigned wanted(const hac_decompose_options *options)
{
    return options != NULL && options->components > 0 ? options->components : 1;
}

/* ---- components ---- */

static bool is_one_row(const hac_logic_vector *v)
{
    return v->rows == HAC_DIMENSION_ONE && v->columns == HAC_DIMENSION_ONE &&
           v->entries == HAC_DIMENSION_NONE;
}

static bool states_cut(const hac_logic_vector *v)
{
    return v->split > 0 || v->partitioner != HAC_PARTITION_RANGE;
}

/* The vector that states how `vector` is split: itself, or one with as many rows, so that chains over the
 * same rows are split alike; -1: none. */
static int stating(const hac_logic *logic, int vector)
{
    const hac_logic_vector *v = &logic->vectors[vector];
    if (states_cut(v) || v->rows == HAC_DIMENSION_NONE)
        return states_cut(v) ? vector : -1;
    for (size_t i = 0; i < logic->n_vectors; i++)
        if (logic->vectors[i].rows == v->rows && states_cut(&logic->vectors[i]))
            return (int)i;
    return -1;
}

/* The vectors of a piece that have rows: operands first, then results; -1: no more. */
static int walked_vector(const hac_logic *logic, const hac_logic_piece *piece, size_t *at)
{
    while (*at < piece->n_reads + piece->n_writes) {
        size_t i = (*at)++;
        int vector = i < piece->n_reads ? piece->reads[i] : piece->writes[i - piece->n_reads];
        if (!is_one_row(&logic->vectors[vector]))
            return vector;
    }
    return -1;
}

/* Whether components may get single rows. */
static bool takes_single_rows(const hac_logic *logic, const hac_logic_piece *piece)
{
    size_t at = 0;
    if (piece->subop->walk != HAC_WALK_ROWS)
        return false;
    for (int v; (v = walked_vector(logic, piece, &at)) >= 0;)
        if (!hac_op_form_is_dense(logic->vectors[v].form))
            return false;
    return true;
}

hac_piece_cut hac_piece_cut_of(const hac_logic *logic, hac_operation operation, const hac_logic_piece *piece,
                               const hac_decompose_options *options)
{
    hac_piece_cut cut = {.components = 1, .vector = -1, .everywhere = operation == HAC_OPERATION_GLOBAL_MAP};
    bool threads = operation == HAC_OPERATION_TASK_MAP || operation == HAC_OPERATION_DIR_MAP, rows = false;
    int by = -1, files = -1;
    size_t at = 0;
    for (int v; (v = walked_vector(logic, piece, &at)) >= 0; rows = true) {
        int stated = stating(logic, v);
        if (stated >= 0 && (by < 0 || logic->vectors[stated].split > logic->vectors[by].split))
            by = stated;
        if (operation == HAC_OPERATION_DIR_MAP && files < 0)
            files = hac_logic_file_numbers(logic, logic->vectors[v].rows);
    }
    if (!rows || piece->subop->walk == HAC_WALK_SERIAL || cut.everywhere)
        return cut;
    cut.components = wanted(options);
    if (threads && options != NULL && options->components == 0 && options->threads > 0)
        cut.components = options->threads;
    if (by >= 0 && logic->vectors[by].split > 0)
        cut.components = logic->vectors[by].split;
    if (cut.components > HAC_COMPONENTS_MAX)
        cut.components = HAC_COMPONENTS_MAX;
    hac_partitioner partitioner = by >= 0 ? logic->vectors[by].partitioner : HAC_PARTITION_RANGE;
    if (partitioner == HAC_PARTITION_WEIGHT ||
        (partitioner != HAC_PARTITION_RANGE && takes_single_rows(logic, piece))) {
        cut.partitioner = partitioner;
        cut.vector = by;
    } else if (partitioner == HAC_PARTITION_RANGE && files >= 0) {
        cut.files = true;
        cut.vector = files;
    }
    return cut;
}

/* ---- dependencies ---- */

static bool has(const int *vectors, size_t n, int vector)
{
    for (size_t i = 0; i < n; i++)
        if (vectors[i] == vector)
            return true;
    return false;
}

/* Whether a piece reads only its own rows of a vector, wherever it reads the vector. */
static bool reads_by_rows(const hac_logic_piece *piece, int vector)
{
    if (piece->subop->walk == HAC_WALK_SERIAL || !has(piece->reads, piece->n_reads, vector))
        return false;
    for (size_t i = 0; i < piece->n_arguments; i++) {
        const hac_logic_argument *a = &piece->arguments[i];
        bool whole = (a->spec->flags & HAC_ARGUMENT_WHOLE) != 0 || a->spec->kind == HAC_ARGUMENT_EXTENT ||
                     a->spec->kind == HAC_ARGUMENT_SCALAR;
        bool result = a->spec->kind == HAC_ARGUMENT_RESULT || a->spec->kind == HAC_ARGUMENT_RESULTS ||
                      a->spec->kind == HAC_ARGUMENT_ASSIGNMENTS;
        if (whole && !result && has(a->vectors, a->n_vectors, vector))
            return false;
        if (whole && a->n_expressions > 0 &&
            has(a->expressions[0]->vectors, a->expressions[0]->n_vectors, vector))
            return false;
    }
    return true;
}

/* Whether a later piece depends on an earlier one, and on all of its components. */
static bool depends(const hac_logic *logic, const hac_logic_piece *first, const hac_logic_piece *then,
                    bool *ret_whole)
{
    bool waits = false, whole = false;
    for (size_t i = 0; i < first->n_writes; i++) {
        int v = first->writes[i];
        bool read = has(then->reads, then->n_reads, v), written = has(then->writes, then->n_writes, v);
        waits |= read || written;
        whole |= written || (read && (first->subop->walk != HAC_WALK_ROWS || is_one_row(&logic->vectors[v]) ||
                                      !reads_by_rows(then, v)));
    }
    for (size_t i = 0; i < then->n_writes; i++) { /* a vector is read before it is written again */
        int v = then->writes[i];
        bool read = has(first->reads, first->n_reads, v);
        waits |= read;
        whole |= read && (!reads_by_rows(first, v) || then->subop->walk != HAC_WALK_ROWS);
    }
    *ret_whole = whole;
    return waits;
}

/* Whether component c of both pieces has the same rows, and its results are complete when its own task is
 * done. */
static bool cut_alike(const hac_suboperator *a, const hac_suboperator *b)
{
    bool ranges = a->cut.partitioner == HAC_PARTITION_RANGE || a->cut.partitioner == HAC_PARTITION_WEIGHT;
    return ranges && a->components == b->components && a->cut.partitioner == b->cut.partitioner &&
           a->cut.vector == b->cut.vector;
}

static hac_status find_dependencies(const hac_logic *logic, hac_decomposed_step *d, size_t at, hac_error *err)
{
    hac_suboperator *s = &d->suboperators[at];
    s->after = calloc(at + 1, sizeof *s->after);
    if (s->after == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < at; i++) {
        const hac_suboperator *before = &d->suboperators[i];
        bool whole = false;
        if (!depends(logic, before->piece, s->piece, &whole))
            continue;
        s->after[s->n_after++] = (hac_dependency){i, whole || !cut_alike(before, s)};
        s->depth = before->depth + 1 > s->depth ? before->depth + 1 : s->depth;
    }
    for (size_t i = 0; i < at; i++)
        s->lane += d->suboperators[i].depth == s->depth;
    return HAC_OK;
}

/* ---- parts ---- */

typedef struct slots {
    unsigned *last; /* of each sub-operator: the last slot of its parts */
    unsigned *of;   /* by sub-operator and component */
    size_t *offset; /* of each sub-operator in `of` */
} slots;

static void clear_slots(slots *s)
{
    free(s->last);
    free(s->of);
    free(s->offset);
}

/* In round r the sub-operator of lane j begins with component (r + j) mod N. */
static void place(const hac_decomposed_step *d, size_t at, slots *t)
{
    const hac_suboperator *s = &d->suboperators[at];
    for (unsigned c = 0; c < s->components; c++) {
        unsigned round = (c + s->components - s->lane % s->components) % s->components;
        unsigned slot = s->depth + round;
        for (size_t i = 0; i < s->n_after; i++) {
            size_t on = s->after[i].on;
            unsigned ends = s->after[i].whole ? t->last[on] : t->of[t->offset[on] + c];
            slot = ends + 1 > slot ? ends + 1 : slot;
        }
        t->of[t->offset[at] + c] = slot;
        t->last[at] = slot > t->last[at] ? slot : t->last[at];
    }
}

static int by_slot(const void *a, const void *b)
{
    const hac_part *x = a, *y = b;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    if (x->suboperator != y->suboperator)
        return x->suboperator < y->suboperator ? -1 : 1;
    return x->component < y->component ? -1 : x->component > y->component;
}

static hac_status make_parts(hac_decomposed_step *d, hac_error *err)
{
    hac_cleanup(clear_slots) slots t = {NULL, NULL, NULL};
    size_t n = 0;
    t.offset = calloc(d->n_suboperators + 1, sizeof *t.offset);
    t.last = calloc(d->n_suboperators + 1, sizeof *t.last);
    if (t.offset == NULL || t.last == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < d->n_suboperators; i++) {
        t.offset[i] = n;
        n += d->suboperators[i].components;
    }
    t.of = calloc(n + 1, sizeof *t.of);
    d->parts = calloc(n + 1, sizeof *d->parts);
    if (t.of == NULL || d->parts == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < d->n_suboperators; i++) {
        place(d, i, &t);
        for (unsigned c = 0; c < d->suboperators[i].components; c++)
            d->parts[d->n_parts++] = (hac_part){i, c, t.of[t.offset[i] + c]};
        d->slots = t.last[i] + 1 > d->slots ? t.last[i] + 1 : d->slots;
        d->components =
            d->suboperators[i].components > d->components ? d->suboperators[i].components : d->components;
    }
    qsort(d->parts, d->n_parts, sizeof *d->parts, by_slot);
    return HAC_OK;
}

/* ---- steps ---- */

static hac_suboperator_kind kind_of(const hac_logic_piece *piece)
{
    static const hac_suboperator_kind kinds[] = {[HAC_PIECE_LIBRARY] = HAC_SUBOPERATOR_LIBRARY,
                                                 [HAC_PIECE_USER] = HAC_SUBOPERATOR_USER,
                                                 [HAC_PIECE_EXCEPTION] = HAC_SUBOPERATOR_EXCEPTION};
    return kinds[piece->kind];
}

static hac_status decompose_op(const hac_logic *logic, const hac_logic_step *step,
                               const hac_decompose_options *options, hac_decomposed_step *d, hac_error *err)
{
    d->suboperators = calloc(step->n_pieces + 1, sizeof *d->suboperators);
    if (d->suboperators == NULL)
        return hac_fail_no_memory(err);
    if (step->whole) {
        d->suboperators[0] =
            (hac_suboperator){.kind = HAC_SUBOPERATOR_WHOLE, .name = step->name, .components = 1};
        d->n_suboperators = 1;
        return make_parts(d, err);
    }
    hac_status status = HAC_OK;
    for (size_t i = 0; i < step->n_pieces && status == HAC_OK; i++) {
        const hac_logic_piece *piece = &step->pieces[i];
        hac_piece_cut cut = hac_piece_cut_of(logic, step->operation, piece, options);
        d->suboperators[i] = (hac_suboperator){.kind = kind_of(piece),
                                               .name = piece->name,
                                               .piece = piece,
                                               .components = cut.components,
                                               .cut = cut};
        d->n_suboperators++;
        status = find_dependencies(logic, d, i, err);
    }
    return status == HAC_OK ? make_parts(d, err) : status;
}

static bool constant_bounds(const hac_logic_step *step, uint64_t *ret)
{
    int64_t from, to, by = 1;
    if (!hac_expression_constant(step->from, &from) || !hac_expression_constant(step->to, &to) ||
        (step->by != NULL && !hac_expression_constant(step->by, &by)))
        return false;
    *ret = hac_loop_iterations(from, to, by);
    return true;
}

static hac_status decompose_loop(const hac_logic_step *step, const hac_decompose_options *options,
                                 hac_decomposed_step *d, hac_error *err)
{
    uint64_t iterations = 0;
    bool known = step->kind == HAC_STEP_FOR && constant_bounds(step, &iterations);
    unsigned n = step->independent ? (step->split > 0 ? step->split : wanted(options)) : 1;
    if (known && iterations < n)
        n = iterations > 0 ? (unsigned)iterations : 1;
    d->suboperators = calloc(1, sizeof *d->suboperators);
    d->sub_loops = known ? calloc(n, sizeof *d->sub_loops) : NULL;
    if (d->suboperators == NULL || (known && d->sub_loops == NULL))
        return hac_fail_no_memory(err);
    d->suboperators[0] = (hac_suboperator){.kind = HAC_SUBOPERATOR_LOOP, .name = step->name, .components = n};
    d->n_suboperators = 1;
    for (unsigned i = 0; known && i < n; i++)
        d->sub_loops[i] = hac_sub_loop(iterations, n, i);
    hac_status status = make_parts(d, err);
    for (size_t i = 0; status == HAC_OK && step->independent && i < d->n_parts; i++)
        d->parts[i].slot = 0; /* side by side */
    d->slots = step->independent ? 1 : d->slots;
    return status;
}

static hac_status decompose_list(const hac_logic *logic, const hac_logic_step *steps, size_t n,
                                 const hac_decompose_options *options, hac_decomposed_step **ret,
                                 size_t *ret_n, hac_error *err)
{
    hac_status status = HAC_OK;
    *ret = calloc(n + 1, sizeof **ret);
    if (*ret == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n && status == HAC_OK; i++) {
        status = hac_decompose_step(logic, &steps[i], options, &(*ret)[i], err);
        *ret_n += status == HAC_OK;
    }
    return status;
}

static hac_status decompose(const hac_logic *logic, const hac_logic_step *step,
                            const hac_decompose_options *options, hac_decomposed_step *d, hac_error *err)
{
    if (step->kind == HAC_STEP_OP)
        return decompose_op(logic, step, options, d, err);
    hac_status status = HAC_OK;
    if (step->kind != HAC_STEP_IF)
        status = decompose_loop(step, options, d, err);
    if (status == HAC_OK)
        status = decompose_list(logic, step->body, step->n_body, options, &d->body, &d->n_body, err);
    if (status == HAC_OK)
        status = decompose_list(logic, step->otherwise, step->n_otherwise, options, &d->otherwise,
                                &d->n_otherwise, err);
    return status;
}

hac_status hac_decompose_step(const hac_logic *logic, const hac_logic_step *step,
                              const hac_decompose_options *options, hac_decomposed_step *ret, hac_error *err)
{
    hac_decomposed_step d = {.step = step, .components = 1};
    hac_status status = decompose(logic, step, options, &d, err);
    if (status == HAC_OK)
        *ret = d;
    else
        hac_decomposed_step_clear(&d);
    return status;
}

void hac_decomposed_step_clear(hac_decomposed_step *step)
{
    for (size_t i = 0; i < step->n_suboperators; i++)
        free(step->suboperators[i].after);
    for (size_t i = 0; i < step->n_body; i++)
        hac_decomposed_step_clear(&step->body[i]);
    for (size_t i = 0; i < step->n_otherwise; i++)
        hac_decomposed_step_clear(&step->otherwise[i]);
    free(step->suboperators);
    free(step->parts);
    free(step->sub_loops);
    free(step->body);
    free(step->otherwise);
    *step = (hac_decomposed_step){0};
}

hac_status hac_decompose(const hac_logic *logic, const hac_decompose_options *options,
                         hac_decomposition **ret, hac_error *err)
{
    hac_decomposition *made = calloc(1, sizeof *made);
    if (made == NULL)
        return hac_fail_no_memory(err);
    made->logic = logic;
    hac_status status =
        decompose_list(logic, logic->steps, logic->n_steps, options, &made->steps, &made->n_steps, err);
    if (status == HAC_OK && logic->reducer != NULL) { /* decompose_list leaves room for one more */
        status = hac_decompose_step(logic, logic->reducer->step, options, &made->steps[made->n_steps], err);
        made->n_steps += status == HAC_OK;
    }
    if (status == HAC_OK)
        *ret = made;
    else
        hac_decomposition_free(made);
    return status;
}

void hac_decomposition_free(hac_decomposition *decomposition)
{
    if (decomposition == NULL)
        return;
    for (size_t i = 0; i < decomposition->n_steps; i++)
        hac_decomposed_step_clear(&decomposition->steps[i]);
    free(decomposition->steps);
    free(decomposition);
}
