/* SPDX-License-Identifier: Apache-2.0 */
/* op.map.cl, op.reduce.cl, op.combine.cl, op.filter_count.cl, op.filter_copy.cl. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "expr/expr_plan.h"
#include "kernels/expr_device_ops.cl"
#include "op_cl.h"

#define SIMT_GROUPS       16  /* work-groups of a compute unit */
#define BLOCK_INSTRUCTION 300 /* iterations of an instruction for a batch */
#define SCRATCH_SLOT      1

static const char *program_of(hac_device *device)
{
    return hac_op_expr_program(hac_device_get_facts(device), HAC_TYPE_NONE);
}

/* ---- programs ---- */

/* A program over rows, in launches of `rows`. */
typedef struct map_launch {
    hac_expr_plan plan;
    bool used[HAC_OP_OPERANDS_MAX]; /* inputs that the program reads */
    uint64_t groups, rows;
    uint32_t lanes;
    unsigned kind; /* of the results */
    bool null_is_false;
} map_launch;

static hac_status plan_launch(const hac_device_facts *f, uint64_t rows, map_launch *m, hac_error *err)
{
    bool simt = f->style == HAC_STYLE_SIMT;
    uint64_t step = simt ? hac_expr_plan_iterations(&m->plan) + 1
                         : 1 + (uint64_t)m->plan.instructions * BLOCK_INSTRUCTION + HAC_BATCH_ROWS;
    uint64_t unit = simt ? HAC_OP_LANES : HAC_BATCH_ROWS, units = hac_op_blocks(rows, unit);
    uint64_t groups = (uint64_t)f->compute_units * (simt ? SIMT_GROUPS : 1);
    m->lanes = hac_op_lanes(f);
    m->groups = groups < units ? groups : units;
    m->rows = rows;
    if (f->max_loop_iterations == 0)
        return HAC_OK;
    uint64_t steps = hac_op_loops(f) / step, max = steps * m->groups * unit;
    if (steps == 0)
        return hac_fail(err, HAC_UNSUPPORTED, "the program is too long for loops of %u iterations",
                        f->max_loop_iterations);
    m->rows = max < rows ? max : rows;
    return HAC_OK;
}

static hac_status make_plan(hac_device *device, const hac_op_request *r, size_t inputs, map_launch *m,
                            hac_error *err)
{
    hac_table_column columns[HAC_OP_OPERANDS_MAX];
    const hac_program *p = r->program;
    memset(columns, 0, sizeof columns);
    for (size_t i = 0; i < p->n_inputs; i++)
        columns[i] =
            (hac_table_column){.type = p->inputs[i], .validity = HAC_TABLE_NONE, .bytes = HAC_TABLE_NONE};
    for (size_t i = 0; i < p->n_instructions; i++)
        if (p->instructions[i].op == HAC_OP_COLUMN)
            m->used[p->instructions[i].k] = true;
    HAC_OP_TRY(hac_expr_plan_init(&m->plan, (const hac_program *const[]){p}, 1, columns, p->n_inputs,
                                  hac_device_get_facts(device), 0, false, err));
    for (size_t i = 0; i < p->n_inputs; i++) {
        uint64_t *words = m->plan.words + m->plan.words[EXPR_PLAN_COLUMNS] + i * EXPR_COLUMN_WORDS;
        words[EXPR_COLUMN_TABLE] = i;
        if (r->v[inputs + i].kind == HAC_KIND_BOOL)
            words[EXPR_COLUMN_KIND] = KIND_BOOL | EXPR_KIND_BYTES;
    }
    return HAC_OK;
}

static hac_status fail_state(const hac_op_request *r, size_t inputs, uint64_t first, uint32_t failure,
                             hac_error *err)
{
    const hac_op_vector *like = hac_op_program_like(r, inputs);
    uint64_t element = first + failure / 8;
    return hac_fail(err, HAC_FAILED, "row %llu: %s",
                    (unsigned long long)(like->first + element / like->columns),
                    failure % 8 == HAC_ROW_NULL ? "there is no value (a division by zero?)"
                                                : hac_row_state_text(failure % 8));
}

static hac_status launch_map(hac_device *device, const hac_op_request *r, size_t inputs, map_launch *m,
                             uint64_t first, uint64_t n, uint8_t *y, hac_error *err)
{
    hac_op_launch l;
    const hac_expr_plan *plan = &m->plan;
    uint64_t scratch = hac_expr_plan_scratch(plan, hac_device_get_facts(device), m->lanes);
    for (size_t i = 0; i < EXPR_TABLES_MAX && i < r->program->n_inputs; i++) {
        uint64_t *words = plan->words + plan->words[EXPR_PLAN_COLUMNS] + i * EXPR_COLUMN_WORDS;
        const hac_op_vector *v = &r->v[inputs + i];
        words[EXPR_COLUMN_VALUES] = m->used[i] ? (uintptr_t)hac_op_at(v, first) % 64 : 0;
    }
    hac_op_begin(&l, device, program_of(device), "op_map", err);
    hac_op_in_all(&l, plan->words, plan->n_words, 8);
    hac_op_u64(&l, 0);
    hac_op_u64(&l, n);
    hac_op_scratch(&l, SCRATCH_SLOT, scratch * m->groups);
    hac_op_u64(&l, scratch);
    hac_op_out(&l, y, 0, n, hac_op_element_size(m->kind), false);
    hac_op_u32(&l, m->kind);
    hac_op_u32(&l, m->null_is_false);
    hac_op_failures(&l);
    for (size_t i = 0; i < EXPR_TABLES_MAX; i++) {
        if (i >= r->program->n_inputs || !m->used[i]) {
            hac_op_in_all(&l, NULL, 0, 1);
            continue;
        }
        const hac_op_vector *v = &r->v[inputs + i];
        uint64_t before = (uintptr_t)hac_op_at(v, first) % 64;
        hac_op_in_all(&l, hac_op_at(v, first) - before, before + n * v->size, 1);
    }
    HAC_OP_TRY(hac_op_end(&l, m->groups, m->lanes));
    return l.fail[HAC_OP_FAIL_STATE] == HAC_OP_NO_FAILURE
               ? HAC_OK
               : fail_state(r, inputs, first, l.fail[HAC_OP_FAIL_STATE], err);
}

hac_status hac_op_eval_kernel(hac_device *device, const hac_op_request *r, size_t inputs, uint64_t first,
                              uint64_t n, uint8_t *y, unsigned kind, bool null_is_false, hac_error *err)
{
    map_launch m = {.kind = kind, .null_is_false = null_is_false};
    uint64_t size = hac_op_element_size(kind);
    hac_status status = make_plan(device, r, inputs, &m, err);
    if (status == HAC_OK)
        status = plan_launch(hac_device_get_facts(device), n, &m, err);
    for (uint64_t at = 0; status == HAC_OK && at < n; at += m.rows)
        status = launch_map(device, r, inputs, &m, first + at, n - at < m.rows ? n - at : m.rows,
                            y + at * size, err);
    hac_expr_plan_clear(&m.plan);
    return status;
}

hac_status hac_op_kernels_map(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                              hac_error *err)
{
    const hac_op_vector *y = &r->v[0];
    uint64_t at = r->first * y->columns, end = at + r->count * y->columns;
    (void)values;
    (void)n_values;
    HAC_OP_TRY(hac_op_bind_constants(r, err));
    uint64_t step = hac_op_chunk(hac_device_get_facts(device), 8, HAC_OP_BLOCK);
    for (step = step < HAC_OP_EVAL_ROWS ? step : HAC_OP_EVAL_ROWS; at < end; at += step)
        HAC_OP_TRY(hac_op_eval_kernel(device, r, 1, at, end - at < step ? end - at : step, hac_op_at(y, at),
                                      y->kind, false, err));
    return HAC_OK;
}

/* ---- filters ---- */

/* The rows of a chunk, and memory for the program's results. */
typedef struct judged {
    uint8_t *keep;
    uint64_t step;
} judged;

static hac_status judged_new(hac_device *device, hac_op_request *r, uint64_t row_bytes, judged *j,
                             hac_error *err)
{
    uint64_t step = hac_op_chunk(hac_device_get_facts(device), row_bytes < 8 ? 8 : row_bytes, HAC_OP_BLOCK);
    j->step = step < HAC_OP_EVAL_ROWS ? step : HAC_OP_EVAL_ROWS;
    j->keep = hac_op_alloc(j->step < r->count ? j->step : r->count, 1);
    if (j->keep == NULL)
        return hac_fail_no_memory(err);
    return hac_op_bind_constants(r, err);
}

static hac_status count_chunk(hac_device *device, const hac_op_request *r, const judged *j, uint64_t first,
                              uint64_t n, hac_error *err)
{
    hac_op_launch l;
    uint64_t blocks = hac_op_blocks(n, HAC_OP_BLOCK);
    HAC_OP_TRY(hac_op_eval_kernel(device, r, 1, first, n, j->keep, HAC_KIND_BOOL, true, err));
    hac_op_begin(&l, device, program_of(device), "op_filter_count", err);
    hac_op_in_all(&l, j->keep, n, 1);
    hac_op_u64(&l, n);
    hac_op_out(&l, r->v[0].values, first / HAC_OP_BLOCK, blocks, 8, false);
    return hac_op_end(&l, blocks, hac_op_lanes(hac_device_get_facts(device)));
}

hac_status hac_op_kernels_filter_count(hac_device *device, hac_op_request *r, uint64_t *values,
                                       size_t *n_values, hac_error *err)
{
    judged j = {NULL, 0};
    (void)values;
    (void)n_values;
    hac_status status = judged_new(device, r, 8, &j, err);
    for (uint64_t at = 0; status == HAC_OK && at < r->count; at += j.step)
        status =
            count_chunk(device, r, &j, r->first + at, r->count - at < j.step ? r->count - at : j.step, err);
    free(j.keep);
    return status;
}

static hac_status copy_chunk(hac_device *device, const hac_op_request *r, const judged *j,
                             const uint64_t *places, uint64_t first, uint64_t n, hac_error *err)
{
    hac_op_launch l;
    const hac_op_vector *y = &r->v[0], *x = &r->v[1];
    uint64_t blocks = hac_op_blocks(n, HAC_OP_BLOCK), columns = y->columns;
    HAC_OP_TRY(hac_op_eval_kernel(device, r, 3, first, n, j->keep, HAC_KIND_BOOL, true, err));
    if (places[blocks] == places[0]) /* no rows are expected, so there is nothing to write to */
        return HAC_OK;
    hac_autofree uint64_t *own = hac_op_alloc(blocks + 1, 8);
    if (own == NULL)
        return hac_fail_no_memory(err);
    memcpy(own, places, (blocks + 1) * 8);
    hac_op_begin(&l, device, program_of(device), "op_filter_copy", err);
    hac_op_in_all(&l, j->keep, n, 1);
    hac_op_u64(&l, n);
    hac_op_in(&l, x->values, first * columns, n * columns, x->size);
    hac_op_u64(&l, columns);
    hac_op_u32(&l, (uint32_t)x->size);
    hac_op_in_all(&l, own, blocks + 1, 8);
    hac_op_u64(&l, places[0]);
    hac_op_out(&l, y->values, places[0] * columns, (places[blocks] - places[0]) * columns, y->size, true);
    hac_op_failures(&l);
    HAC_OP_TRY(hac_op_end(&l, blocks, hac_op_lanes(hac_device_get_facts(device))));
    if (l.fail[HAC_OP_FAIL_ROW] != HAC_OP_NO_FAILURE)
        return hac_op_fail(err, 2, "block %llu keeps another number of rows",
                           (unsigned long long)(first / HAC_OP_BLOCK + l.fail[HAC_OP_FAIL_ROW]));
    return HAC_OK;
}

hac_status hac_op_kernels_filter_copy(hac_device *device, hac_op_request *r, uint64_t *values,
                                      size_t *n_values, hac_error *err)
{
    hac_autofree uint64_t *places = NULL;
    judged j = {NULL, 0};
    HAC_OP_TRY(hac_op_filter_places(r, &places, err));
    uint64_t blocks = hac_op_blocks(r->count, HAC_OP_BLOCK);
    values[0] = places[blocks] - places[0];
    values[1] = values[0] * r->v[0].columns;
    *n_values = 2;
    if (places[blocks] > r->v[0].rows)
        return HAC_OK;
    hac_status status = judged_new(device, r, r->v[0].columns * r->v[0].size, &j, err);
    for (uint64_t at = 0; status == HAC_OK && at < r->count; at += j.step)
        status = copy_chunk(device, r, &j, places + at / HAC_OP_BLOCK, r->first + at,
                            r->count - at < j.step ? r->count - at : j.step, err);
    free(j.keep);
    return status;
}

/* ---- reductions ---- */

static const char *const reduce_names[] = {"op_reduce_f32", "op_reduce_f64", "op_reduce_i64",
                                           "op_reduce_u64"};
static const char *const arg_names[] = {"op_arg_f32", "op_arg_f64", "op_arg_i64", "op_arg_u64"};

/* What is reduced: elements of `kind` from `from` on. */
typedef struct reduced {
    const void *x, *y;
    uint64_t from, n;
    unsigned kind;
} reduced;

static hac_status launch_reduce(hac_device *device, const reduced *x, unsigned function, hac_op_number number,
                                void *partials, uint64_t first_partial, uint32_t *ret_fail, hac_error *err)
{
    hac_op_launch l;
    uint64_t size = hac_op_element_size(x->kind), blocks = hac_op_blocks(x->n, HAC_OP_BLOCK);
    hac_op_begin(&l, device, program_of(device), reduce_names[number], err);
    hac_op_in(&l, x->x, x->from, x->n, size);
    hac_op_in(&l, x->y, x->from, x->y == NULL ? 0 : x->n, size);
    hac_op_u32(&l, x->kind);
    hac_op_u64(&l, x->n);
    hac_op_u32(&l, function);
    hac_op_out(&l, partials, first_partial, blocks, hac_op_number_size(number), false);
    hac_op_failures(&l);
    hac_status status = hac_op_end(&l, blocks, hac_op_lanes(hac_device_get_facts(device)));
    *ret_fail = l.fail[HAC_OP_FAIL_SUM];
    return status;
}

static hac_status launch_arg(hac_device *device, const reduced *x, unsigned function, hac_op_number number,
                             uint64_t row, void *partials, uint64_t first_partial, hac_error *err)
{
    hac_op_launch l;
    uint64_t blocks = hac_op_blocks(x->n, HAC_OP_BLOCK);
    hac_op_begin(&l, device, program_of(device), arg_names[number], err);
    hac_op_in(&l, x->x, x->from, x->n, hac_op_element_size(x->kind));
    hac_op_u32(&l, x->kind);
    hac_op_u64(&l, x->n);
    hac_op_u32(&l, function);
    hac_op_u64(&l, row);
    hac_op_out(&l, partials, first_partial, blocks, 16, false);
    return hac_op_end(&l, blocks, hac_op_lanes(hac_device_get_facts(device)));
}

static bool is_arg(unsigned function)
{
    return function == HAC_OP_ARGMIN || function == HAC_OP_ARGMAX;
}

/* COUNT of elements that are no bools is the number of rows. */
static void put_counts(const hac_op_request *r, uint64_t first, uint64_t n)
{
    for (uint64_t at = 0; at < n; at += HAC_OP_BLOCK) {
        uint64_t rows = n - at < HAC_OP_BLOCK ? n - at : HAC_OP_BLOCK;
        memcpy(hac_op_at(&r->v[0], (first + at) / HAC_OP_BLOCK), &rows, sizeof rows);
    }
}

static hac_status reduce_chunk(hac_device *device, const hac_op_request *r, uint64_t first, uint64_t n,
                               uint8_t *scratch, hac_error *err)
{
    const hac_op_vector *like = hac_op_program_like(r, 1);
    unsigned function = r->call.function;
    reduced x = {.x = r->v[1].values, .from = first, .n = n, .kind = r->v[1].kind};
    uint32_t failure;
    if (r->program != NULL) {
        x = (reduced){.x = scratch, .n = n, .kind = r->program->outputs[0].type.kind};
        HAC_OP_TRY(hac_op_eval_kernel(device, r, 1, first, n, scratch, x.kind, false, err));
    } else if (function == HAC_OP_PRODUCTS) {
        x.y = r->v[2].values;
    }
    hac_op_number number = hac_op_number_of(r->v[0].kind);
    if (is_arg(function))
        return launch_arg(device, &x, function, number, like->first + first, r->v[0].values,
                          first / HAC_OP_BLOCK, err);
    if (function == HAC_OP_COUNT && x.kind != HAC_KIND_BOOL) {
        put_counts(r, first, n);
        return HAC_OK;
    }
    HAC_OP_TRY(launch_reduce(device, &x, function == HAC_OP_COUNT ? HAC_OP_SUM : function, number,
                             r->v[0].values, first / HAC_OP_BLOCK, &failure, err));
    return failure == HAC_OP_NO_FAILURE ? HAC_OK : hac_op_fail_sum(err, like, "the block", first + failure);
}

hac_status hac_op_kernels_reduce(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                                 hac_error *err)
{
    (void)values;
    (void)n_values;
    uint64_t step = hac_op_chunk(hac_device_get_facts(device), 8, HAC_OP_BLOCK);
    hac_autofree uint8_t *scratch = NULL;
    if (r->program != NULL) {
        step = step < HAC_OP_EVAL_ROWS ? step : HAC_OP_EVAL_ROWS;
        scratch = hac_op_alloc(step < r->count ? step : r->count, 8);
        if (scratch == NULL)
            return hac_fail_no_memory(err);
        HAC_OP_TRY(hac_op_bind_constants(r, err));
    }
    for (uint64_t at = 0; at < r->count; at += step)
        HAC_OP_TRY(reduce_chunk(device, r, r->first + at, r->count - at < step ? r->count - at : step,
                                scratch, err));
    return HAC_OK;
}

/* ARGMIN and ARGMAX: there is little to compare, a partial result for each block. */
hac_status hac_op_kernels_combine(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                                  hac_error *err)
{
    const hac_op_vector *p = &r->v[1];
    unsigned function = r->call.function;
    hac_op_number number = hac_op_number_of(p->kind);
    if (is_arg(function) || p->rows <= 1)
        return hac_op_do_combine(r, values, n_values, err);
    function = function == HAC_OP_LARGEST                         ? HAC_OP_MAX
               : function == HAC_OP_MIN || function == HAC_OP_MAX ? function
                                                                  : HAC_OP_SUM;
    uint64_t n = p->rows, scratch_rows = hac_op_blocks(n, HAC_OP_BLOCK);
    hac_autofree uint8_t *scratch = hac_op_alloc(scratch_rows, p->size),
                         *next = hac_op_alloc(scratch_rows, p->size);
    if (scratch == NULL || next == NULL)
        return hac_fail_no_memory(err);
    reduced x = {.x = p->values, .n = n, .kind = p->kind};
    while (x.n > 1) {
        uint32_t failure;
        HAC_OP_TRY(launch_reduce(device, &x, function, number, next, 0, &failure, err));
        if (failure != HAC_OP_NO_FAILURE)
            return hac_op_fail_sum(err, p, "partials", failure);
        x.n = hac_op_blocks(x.n, HAC_OP_BLOCK);
        memcpy(scratch, next, x.n * p->size);
        x.x = scratch;
    }
    memcpy(r->v[0].values, scratch, p->size);
    return HAC_OK;
}
