/* SPDX-License-Identifier: Apache-2.0 */
/* What sub-operators share: arguments, operands, results, and maps (also those of users' sub-operators). */
#include "task_parts.h"

#include <math.h>
#include <string.h>

#include "run/state/exchange.h"
#include "run/state/graph.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"
#include "scalar.h"

/* ---- arguments ---- */

hac_run_vector *hac_run_argument(hac_logic_run_state *run, const hac_logic_piece *piece, const char *name,
                                 hac_error *err)
{
    int index = hac_logic_argument_vector(piece, name);
    if (index < 0)
        return NULL;
    if (run->vectors[index].memory == NULL) {
        (void)hac_fail(err, HAC_FAILED, "vector %s has no value yet", run->logic->vectors[index].name);
        return NULL;
    }
    return &run->vectors[index];
}

void hac_run_set(hac_logic_run_state *run, int vector, hac_run_vector *value)
{
    const hac_logic_vector *named = &run->logic->vectors[vector];
    bool one = value->operand.rows == 1 && value->operand.columns == 1 &&
               value->operand.form == HAC_VECTOR_FIX_VALUE;
    if (one && (hac_op_form_is_dense(named->form)))
        value->operand.form = (uint8_t)named->form;
    hac_run_vector_clear(run, &run->vectors[vector]);
    run->vectors[vector] = *value;
    if (named->rows >= 0)
        run->dimensions[named->rows] = value->operand.rows;
    if (named->columns >= 0)
        run->dimensions[named->columns] = value->operand.columns;
}

void hac_run_publish(hac_logic_run_state *run, const hac_logic_piece *piece, const char *name,
                     hac_run_vector *value)
{
    int index = hac_logic_argument_vector(piece, name);
    if (index < 0)
        hac_run_vector_clear(run, value);
    else
        hac_run_set(run, index, value);
}

hac_status hac_run_give(hac_logic_run_state *run, const hac_logic_piece *piece, const char *name,
                        hac_run_vector *value, hac_status status)
{
    if (status == HAC_OK)
        hac_run_publish(run, piece, name, value);
    else
        hac_run_vector_clear(run, value);
    return status;
}

static hac_status value_of(hac_logic_run_state *run, hac_run_vector *v, uint64_t *ret, hac_error *err)
{
    hac_status status = hac_run_is_pending(run, v) ? hac_run_flush(run, err) : HAC_OK;
    if (status == HAC_OK)
        status = v->unknown ? hac_run_wait(err) : hac_run_gather(run, v, err);
    if (status != HAC_OK)
        return status;
    const uint8_t *at = hac_run_data(v) + v->operand.values;
    double number = 0;
    *ret = 0;
    if (v->operand.kind == HAC_KIND_F64) {
        memcpy(&number, at, sizeof number);
        if (!(number >= 0 && number < 0x1p53))
            return hac_fail(err, HAC_FAILED, "%g is no number of rows", number);
        *ret = (uint64_t)number;
        return HAC_OK;
    }
    memcpy(ret, at, hac_op_element_size(v->operand.kind));
    bool negative = v->operand.kind == HAC_KIND_I32 ? (int32_t)*ret < 0
                                                    : v->operand.kind == HAC_KIND_I64 && (int64_t)*ret < 0;
    return negative ? hac_fail(err, HAC_FAILED, "a number of rows is negative") : HAC_OK;
}

hac_status hac_run_extent(hac_logic_run_state *run, const hac_logic_piece *piece, const char *name,
                          const char *of, uint64_t *ret, hac_error *err)
{
    const hac_logic_argument *a = hac_logic_argument_get(piece, name);
    if (a == NULL) {
        int vector = of != NULL ? hac_logic_argument_vector(piece, of) : -1;
        int below = vector >= 0 ? run->logic->vectors[vector].below : -1;
        if (below < 0)
            return hac_fail(err, HAC_INVALID, "the number of `%s` is not known", name);
        const hac_logic_dimension *dimension = &run->logic->dimensions[below];
        *ret = dimension->kind == HAC_DIMENSION_CONSTANT ? dimension->value : run->dimensions[below];
        if (run->dry_run != NULL && *ret == HAC_RUN_NOT_KNOWN)
            return hac_fail(err, HAC_AGAIN, "decided when the number of `%s` is known", name);
        return HAC_OK;
    }
    if (a->n_vectors == 0) {
        *ret = a->integer;
        return HAC_OK;
    }
    hac_run_vector *v = &run->vectors[a->vectors[0]];
    if (v->memory == NULL)
        return hac_fail(err, HAC_FAILED, "vector %s has no value yet",
                        run->logic->vectors[a->vectors[0]].name);
    if (run->logic->vectors[a->vectors[0]].form == HAC_VECTOR_VAR)
        return value_of(run, v, ret, err);
    *ret = v->operand.rows;
    return HAC_OK;
}

hac_status hac_run_number(hac_logic_run_state *run, const hac_logic_piece *piece, const char *name,
                          double otherwise, double *ret, hac_error *err)
{
    const hac_logic_expression *expression = hac_logic_argument_expression(piece, name);
    uint64_t bits;
    float narrow;
    *ret = otherwise;
    if (expression == NULL)
        return HAC_OK;
    hac_status status = hac_run_scalar(run, expression, &bits, err);
    if (status != HAC_OK)
        return status;
    if (expression->kind == HAC_KIND_F64)
        memcpy(ret, &bits, sizeof *ret);
    else if (expression->kind == HAC_KIND_F32)
        *ret = (double)*(float *)memcpy(&narrow, &bits, sizeof narrow);
    else if (expression->kind == HAC_KIND_U64 || expression->kind == HAC_KIND_U32)
        *ret = (double)bits;
    else
        *ret = (double)(int64_t)bits;
    return HAC_OK;
}

/* ---- tasks ---- */

hac_run_task hac_run_task_of(const hac_logic_run_state *run, const hac_logic_piece *piece,
                             const char *codelet)
{
    (void)run;
    return (hac_run_task){.codelet = codelet, .name = piece->name, .pin = piece->device};
}

void hac_run_output(hac_run_task *task, hac_run_vector *vector)
{
    task->operands[task->n_operands++] = vector;
    task->n_written = task->n_operands;
}

void hac_run_operand(hac_run_task *task, hac_run_vector *vector, bool whole)
{
    task->whole |= whole ? UINT32_C(1) << task->n_operands : 0;
    task->operands[task->n_operands++] = vector;
}

hac_status hac_run_dense(hac_logic_run_state *run, hac_kind kind, uint64_t rows, uint64_t columns,
                         hac_run_vector *ret, hac_error *err)
{
    return hac_run_vector_new(run, &(hac_run_shape){HAC_VECTOR_FIX_VALUE, kind, rows, columns, 0}, ret, err);
}

hac_run_vector hac_run_flat(const hac_run_vector *vector)
{
    hac_run_vector flat = *vector;
    hac_op_operand *o = &flat.operand;
    bool entries = hac_op_form_has_entries(o->form) && !hac_op_layout_of(o->form)->text;
    if (entries || o->columns != 1) { /* the rows of the vector are not those of the view */
        o->rows = entries ? o->entries : o->rows * o->columns;
        for (unsigned w = 0; w < flat.n_writers; w++) {
            flat.writers[w].first = 0;
            flat.writers[w].end = o->rows;
        }
        flat.first = 0;
        flat.end = o->rows;
    }
    o->form = HAC_VECTOR_FIX_VALUE;
    o->columns = 1;
    return flat;
}

uint64_t hac_run_blocks(uint64_t rows, uint64_t block)
{
    return rows / block + (rows % block != 0);
}

hac_kind hac_run_total_kind(hac_op_function function, hac_kind kind)
{
    bool sums = function == HAC_OP_SUM || function == HAC_OP_SQUARES || function == HAC_OP_MAGNITUDE ||
                function == HAC_OP_PRODUCTS;
    if (function == HAC_OP_COUNT)
        return HAC_KIND_U64;
    switch (kind) {
    case HAC_KIND_F64:
        return HAC_KIND_F64;
    case HAC_KIND_F32:
        return sums ? HAC_KIND_F64 : HAC_KIND_F32;
    case HAC_KIND_I32:
    case HAC_KIND_I64:
        return HAC_KIND_I64;
    default:
        return HAC_KIND_U64;
    }
}

/* ---- expressions over rows ---- */

static hac_status check_alike(const hac_logic_run_state *run, const hac_logic_expression *expression,
                              size_t like, size_t other, hac_error *err)
{
    const hac_run_vector *a = &run->vectors[expression->vectors[like]];
    const hac_run_vector *b = &run->vectors[expression->vectors[other]];
    if (a->operand.rows == b->operand.rows && a->operand.columns == b->operand.columns)
        return HAC_OK;
    return hac_fail(err, HAC_FAILED, "%s has %llu rows of %llu, %s has %llu of %llu",
                    run->logic->vectors[expression->vectors[like]].name, (unsigned long long)a->operand.rows,
                    (unsigned long long)a->operand.columns,
                    run->logic->vectors[expression->vectors[other]].name, (unsigned long long)b->operand.rows,
                    (unsigned long long)b->operand.columns);
}

hac_status hac_run_expression(hac_logic_run_state *run, const hac_logic_expression *expression,
                              hac_run_task *task, hac_run_vector **ret_like, hac_error *err)
{
    size_t like = SIZE_MAX;
    *ret_like = NULL;
    if (task->n_operands + expression->n_vectors > HAC_OP_OPERANDS_MAX)
        return hac_fail(err, HAC_INVALID, "'%s' reads %zu vectors; fewer are possible here", expression->text,
                        expression->n_vectors);
    for (size_t i = 0; i < expression->n_vectors; i++) {
        hac_run_vector *v = &run->vectors[expression->vectors[i]];
        if (v->memory == NULL)
            return hac_fail(err, HAC_FAILED, "vector %s has no value yet",
                            run->logic->vectors[expression->vectors[i]].name);
        bool one = (expression->ones >> i & 1) != 0;
        hac_status status = one || like == SIZE_MAX ? HAC_OK : check_alike(run, expression, like, i, err);
        if (status != HAC_OK)
            return status;
        like = !one && like == SIZE_MAX ? i : like;
        hac_run_operand(task, v, one);
    }
    if (like != SIZE_MAX)
        *ret_like = &run->vectors[expression->vectors[like]];
    task->program = expression->program;
    return HAC_OK;
}

/* ---- maps ---- */

/* Whether the client computes an expression over single values. It does if it has the values, or would
 * have them if rounds ran one by one (hac_run_scalar fails with HAC_AGAIN then): a device might give other
 * last bits. Fused rounds are an exception, because op.while runs the same C code on this machine. */
static bool is_here(const hac_logic_run_state *run, const hac_logic_expression *expression)
{
    for (size_t i = 0; i < expression->n_vectors; i++) {
        const hac_run_vector *v = &run->vectors[expression->vectors[i]];
        if (v->of_round_before || !hac_run_is_whole(v) ||
            (hac_run_is_pending(run, v) && !hac_run_is_of_round_before(run, v)))
            return false;
    }
    return true;
}

/* A computed NaN is the positive quiet one, as in op.map. */
static void tidy(hac_kind kind, uint64_t *bits)
{
    double wide;
    float narrow;
    memcpy(&wide, bits, sizeof wide);
    memcpy(&narrow, bits, sizeof narrow);
    if (kind == HAC_KIND_F64 && isnan(wide))
        *bits = UINT64_C(0x7ff8000000000000);
    if (kind == HAC_KIND_F32 && isnan(narrow))
        *bits = 0x7fc00000;
}

static hac_status map_one(hac_logic_run_state *run, const hac_logic_expression *expression,
                          hac_run_vector *ret, hac_error *err)
{
    uint64_t bits;
    hac_status status = hac_run_scalar(run, expression, &bits, err);
    if (status == HAC_OK)
        tidy(expression->kind, &bits);
    if (status == HAC_OK)
        status = hac_run_dense(run, expression->kind, 1, 1, ret, err);
    if (status == HAC_OK)
        memcpy(hac_run_data(ret) + ret->operand.values, &bits, hac_op_element_size(expression->kind));
    return status;
}

/* Maps the entries of a sparse vector or of rows of varying length. The result has entries at the same
 * places. */
static hac_status map_entries(hac_logic_run_state *run, const hac_logic_piece *piece,
                              const hac_logic_expression *expression, const hac_run_vector *like, int out,
                              hac_error *err)
{
    hac_run_vector fresh, views[HAC_OP_OPERANDS_MAX], result;
    hac_run_task task = hac_run_task_of(run, piece, "op.map");
    hac_run_shape shape = {(hac_vector_template)like->operand.form, expression->kind, like->operand.rows,
                           like->operand.columns, like->operand.entries};
    hac_status status =
        hac_run_is_pending(run, like) ? hac_run_flush(run, err) : HAC_OK; /* its places are copied here */
    if (status == HAC_OK)
        status = hac_run_vector_new(run, &shape, &fresh, err);
    if (status != HAC_OK)
        return status;
    const hac_op_operand *from = &like->operand, *to = &fresh.operand;
    hac_op_parts parts = {0};
    (void)hac_op_part_bytes(from, &parts); /* a vector in memory is not too large */
    if (parts.offsets > 0)
        memcpy(hac_run_data(&fresh) + to->offsets, hac_run_data(like) + from->offsets, parts.offsets);
    if (parts.indices > 0)
        memcpy(hac_run_data(&fresh) + to->indices, hac_run_data(like) + from->indices, parts.indices);
    result = hac_run_flat(&fresh);
    hac_run_output(&task, &result);
    for (size_t i = 0; i < expression->n_vectors && i + 1 < HAC_OP_OPERANDS_MAX; i++) {
        views[i] = hac_run_flat(&run->vectors[expression->vectors[i]]);
        hac_run_operand(&task, &views[i], (expression->ones >> i & 1) != 0);
    }
    task.program = expression->program;
    task.rows = result.operand.rows;
    task.units = (double)task.rows;
    status = hac_run_add(run, &task, NULL, err);
    if (status == HAC_OK)
        status = hac_run_gather(run, &result, err); /* ranks do not divide entries */
    if (status == HAC_OK) {
        memcpy(fresh.writers, result.writers, sizeof fresh.writers);
        fresh.n_writers = result.n_writers;
        fresh.writers_max = result.writers_max;
        fresh.graph = result.graph;
        hac_run_set(run, out, &fresh);
    } else {
        hac_run_vector_clear(run, &fresh);
    }
    return status;
}

static bool is_sparse(const hac_run_vector *like)
{
    return like != NULL && !hac_op_form_is_dense(like->operand.form);
}

static hac_status copy_of(hac_logic_run_state *run, int vector, hac_run_vector *ret, hac_error *err)
{
    if (run->vectors[vector].memory == NULL)
        return hac_fail(err, HAC_FAILED, "vector %s has no value yet", run->logic->vectors[vector].name);
    *ret = (hac_run_vector){.memory = NULL};
    hac_run_vector_copy(run, &run->vectors[vector], ret);
    return HAC_OK;
}

/* Begins the task of an expression. The output is still to be made. *ret_like: see hac_run_expression. */
static hac_status begin_map(hac_logic_run_state *run, const hac_logic_piece *piece,
                            const hac_logic_expression *expression, hac_run_task *ret,
                            hac_run_vector **ret_like, hac_error *err)
{
    *ret = hac_run_task_of(run, piece, "op.map");
    hac_run_output(ret, NULL);
    return hac_run_expression(run, expression, ret, ret_like, err);
}

static hac_status map_dense(hac_logic_run_state *run, const hac_logic_expression *expression,
                            hac_run_task *task, const hac_run_vector *like, hac_run_vector *ret,
                            hac_error *err)
{
    if (like == NULL && is_here(run, expression))
        return map_one(run, expression, ret, err);
    uint64_t rows = like != NULL ? like->operand.rows : 1, columns = like != NULL ? like->operand.columns : 1;
    hac_status status = hac_run_dense(run, expression->kind, rows, columns, ret, err);
    if (status != HAC_OK)
        return status;
    task->operands[0] = ret;
    task->rows = rows;
    task->grain = HAC_OP_BLOCK;
    task->units = (double)rows * (double)columns * (double)expression->program->n_instructions;
    status = hac_run_add(run, task, NULL, err);
    if (status != HAC_OK)
        hac_run_vector_clear(run, ret);
    return status;
}

hac_status hac_run_map_rows(hac_logic_run_state *run, const hac_logic_piece *piece,
                            const hac_logic_expression *expression, hac_run_vector *ret, hac_error *err)
{
    hac_run_vector *like;
    hac_run_task task;
    if (expression->copy >= 0)
        return copy_of(run, expression->copy, ret, err);
    hac_status status = begin_map(run, piece, expression, &task, &like, err);
    if (status == HAC_OK && is_sparse(like))
        status = hac_fail(err, HAC_INVALID, "'%s' reads a vector without dense rows", expression->text);
    return status == HAC_OK ? map_dense(run, expression, &task, like, ret, err) : status;
}

hac_status hac_run_map(hac_logic_run_state *run, const hac_logic_piece *piece,
                       const hac_logic_expression *expression, int out, hac_error *err)
{
    hac_run_vector fresh, *like;
    hac_run_task task;
    hac_status status;
    if (expression->copy >= 0) {
        status = copy_of(run, expression->copy, &fresh, err);
    } else {
        status = begin_map(run, piece, expression, &task, &like, err);
        if (status == HAC_OK && is_sparse(like))
            return map_entries(run, piece, expression, like, out, err);
        if (status == HAC_OK)
            status = map_dense(run, expression, &task, like, &fresh, err);
    }
    if (status == HAC_OK)
        hac_run_set(run, out, &fresh);
    return status;
}
