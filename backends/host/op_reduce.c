/* SPDX-License-Identifier: Apache-2.0 */
/* op.reduce, op.combine, op.scan_sums, op.scan. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "op_eval.h"
#include "op_exact.h"

HAC_DEFINE_CLEANUP(hac_op_eval *, hac_op_eval_free)

#define STEP (16 * (uint64_t)HAC_OP_BLOCK) /* rows that a thread takes at a time */

static uint64_t blocks_of(uint64_t rows)
{
    return rows / HAC_OP_BLOCK + (rows % HAC_OP_BLOCK != 0);
}

static bool is_arg(unsigned function)
{
    return function == HAC_OP_ARGMIN || function == HAC_OP_ARGMAX;
}

/* ---- op.reduce ---- */

/* The kind of the result of a reduction of `kind`, if the partial results are to be `wanted`. */
static bool fits_kind(unsigned function, unsigned kind, unsigned wanted)
{
    if (function == HAC_OP_COUNT)
        return wanted == HAC_KIND_U64;
    if (hac_op_is_exact(function))
        return wanted == HAC_KIND_F64 && (kind == HAC_KIND_F32 || kind == HAC_KIND_F64);
    return wanted == hac_op_sum_kind(kind) || (kind == HAC_KIND_F32 && wanted == HAC_KIND_F64);
}

/* The columns of partial results. */
static uint64_t columns_of(unsigned function, const hac_op_vector *partials)
{
    if (hac_op_is_exact(function))
        return partials->columns == 1 ? 1 : HAC_OP_EXACT_COLUMNS;
    return is_arg(function) ? 16 / partials->size : 1;
}

static bool is_product(unsigned function)
{
    return function == HAC_OP_PRODUCTS || function == HAC_OP_EXACT_PRODUCTS;
}

static hac_status check_partials(const hac_op_request *r, uint64_t rows, unsigned kind, hac_error *err)
{
    const hac_op_vector *w = &r->v[0];
    unsigned function = r->call.function;
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    if (!fits_kind(function, kind, w->kind))
        return hac_op_fail(err, 0, "the function gives no values of its kind");
    HAC_OP_TRY(hac_op_need_columns(r, 0, columns_of(function, w), err));
    if (w->rows < blocks_of(rows))
        return hac_op_fail(err, 0, "%llu partials for %llu blocks", (unsigned long long)w->rows,
                           (unsigned long long)blocks_of(rows));
    return HAC_OK;
}

hac_status hac_op_check_of_reduce(const hac_op_request *r, hac_error *err)
{
    const hac_op_vector *x = hac_op_program_like(r, 1);
    unsigned kind = r->program == NULL ? x->kind : r->program->outputs[0].type.kind;
    if (hac_op_element_size(kind) == 0)
        return hac_fail(err, HAC_INVALID, "the program does not give numbers");
    HAC_OP_TRY(check_partials(r, x->rows, kind, err));
    if (r->program != NULL && !is_product(r->call.function))
        return hac_op_check_inputs(r, 1, x->rows, 1, err);
    size_t n = is_product(r->call.function) ? 3 : 2;
    if (r->program != NULL || r->n != n)
        return hac_fail(err, HAC_INVALID, "this function needs %zu operands and no program", n);
    for (size_t i = 1; i < n; i++) {
        HAC_OP_TRY(hac_op_need_dense(r, i, err));
        HAC_OP_TRY(hac_op_need_kind(r, i, kind, err));
        HAC_OP_TRY(hac_op_need_columns(r, i, 1, err));
        HAC_OP_TRY(hac_op_need_rows(r, i, r->v[1].rows, err));
    }
    return HAC_OK;
}

typedef struct reduce_work {
    const hac_op_request *r;
    hac_op_eval *eval; /* NULL: no program */
    const hac_op_kernels *kernels;
    hac_op_number number;
    unsigned function;
    bool exclusive;
    uint8_t *carries; /* op.scan: the carry into each block of the range */
} reduce_work;

/* Memory for a block of numbers. */
typedef union numbers {
    _Alignas(64) uint64_t x[HAC_OP_BLOCK];
    uint8_t bytes[8 * HAC_OP_BLOCK];
} numbers;

static uint64_t count_true(const uint8_t *x, size_t n)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += x[i] != 0;
    return count;
}

/* The program's values for a block, as numbers. For COUNT of bools, room->x[0] is how many are true. */
static hac_status evaluate(const reduce_work *w, uint64_t first, size_t n, unsigned worker, numbers *scratch,
                           uint64_t *ret_count, hac_error *err)
{
    uint64_t count = 0;
    for (size_t at = 0; at < n; at += HAC_BATCH_ROWS) {
        size_t rows = n - at < HAC_BATCH_ROWS ? n - at : HAC_BATCH_ROWS;
        hac_column v;
        HAC_OP_TRY(hac_op_eval_batch(w->eval, worker, first + at, rows, &v, err));
        HAC_OP_TRY(hac_op_eval_states(w->eval, &v, first + at, rows, false, err));
        unsigned kind = hac_op_eval_kind(&v);
        if (w->function == HAC_OP_COUNT)
            count += kind == HAC_KIND_BOOL ? count_true(v.values, rows) : rows;
        else
            w->kernels->widen(kind, w->number, v.values, rows,
                              scratch->bytes + at * hac_op_number_size(w->number));
    }
    *ret_count = count;
    return HAC_OK;
}

static void put_arg(const reduce_work *w, const void *x, size_t n, uint64_t row, uint8_t *to)
{
    uint64_t partial[2] = {0, 0};
    w->kernels->arg[w->number](w->function == HAC_OP_ARGMAX, x, n, &partial[0], &partial[1]);
    partial[1] += row;
    memcpy(to, partial, sizeof partial);
}

static void put_exact(const reduce_work *w, const double *x, const double *y, size_t n, uint8_t *to)
{
    hac_op_exact sum = {0};
    hac_op_exact_add(w->function, x, y, n, &sum);
    if (w->r->v[0].columns == 1) {
        double value = hac_op_exact_result(w->function, &sum);
        memcpy(to, &value, sizeof value);
    } else {
        hac_op_exact_carry(&sum);
        memcpy(to, &sum, sizeof sum);
    }
}

static hac_status reduce_block(const reduce_work *w, uint64_t first, size_t n, unsigned worker,
                               hac_error *err)
{
    const hac_op_vector *x = w->eval == NULL ? &w->r->v[1] : hac_op_program_like(w->r, 1);
    numbers scratch, scratch_y;
    const void *values = scratch.x, *others = NULL;
    uint64_t count = x->kind == HAC_KIND_BOOL ? 0 : n;
    uint8_t *to = w->r->v[0].values + first / HAC_OP_BLOCK * w->r->v[0].size * w->r->v[0].columns;
    if (w->eval != NULL)
        HAC_OP_TRY(evaluate(w, first, n, worker, &scratch, &count, err));
    else if (w->function == HAC_OP_COUNT && x->kind == HAC_KIND_BOOL)
        count = count_true(hac_op_at(x, first), n);
    else if (w->function != HAC_OP_COUNT)
        values = hac_op_numbers(x, w->number, first, n, scratch.x);
    if (is_product(w->function))
        others = hac_op_numbers(&w->r->v[2], w->number, first, n, scratch_y.x);
    if (w->function == HAC_OP_COUNT)
        memcpy(to, &count, sizeof count);
    else if (is_arg(w->function))
        put_arg(w, values, n, x->first + first, to);
    else if (hac_op_is_exact(w->function))
        put_exact(w, values, others, n, to);
    else if (!w->kernels->reduce[w->number](w->function, values, others, n, to))
        return hac_op_fail_sum(err, x, "the block", first);
    return HAC_OK;
}

static hac_status reduce_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    for (uint64_t at = 0; at < count; at += HAC_OP_BLOCK)
        HAC_OP_TRY(reduce_block(context, first + at,
                                count - at < HAC_OP_BLOCK ? (size_t)(count - at) : HAC_OP_BLOCK, worker,
                                err));
    return HAC_OK;
}

hac_status hac_op_do_reduce(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    hac_cleanup(hac_op_eval_free_cleanup) hac_op_eval *eval = NULL;
    (void)values;
    (void)n_values;
    if (r->program != NULL)
        HAC_OP_TRY(hac_op_eval_new(r, &eval, err));
    reduce_work w = {.r = r,
                     .eval = eval,
                     .kernels = hac_op_kernels_best(),
                     .number = hac_op_number_of(r->v[0].kind),
                     .function = r->call.function};
    return hac_op_for_rows(r->first, r->count, STEP, reduce_rows, &w, err);
}

/* ---- op.combine ---- */

hac_status hac_op_check_of_combine(const hac_op_request *r, hac_error *err)
{
    const hac_op_vector *p = &r->v[1];
    bool arg = is_arg(r->call.function);
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    HAC_OP_TRY(hac_op_need_dense(r, 1, err));
    HAC_OP_TRY(hac_op_need_rows(r, 0, 1, err));
    if (hac_op_is_exact(r->call.function)) {
        HAC_OP_TRY(hac_op_need_kind(r, 1, HAC_KIND_F64, err));
        HAC_OP_TRY(hac_op_need_columns(r, 1, HAC_OP_EXACT_COLUMNS, err));
        HAC_OP_TRY(hac_op_need_kind(r, 0, HAC_KIND_F64, err));
        return hac_op_need_columns(r, 0, 1, err);
    }
    if (hac_op_sum_kind(p->kind) != p->kind)
        return hac_op_fail(err, 1, "partials are of i64, u64, f32 or f64");
    HAC_OP_TRY(hac_op_need_kind(r, 0, arg ? HAC_KIND_U64 : p->kind, err));
    HAC_OP_TRY(hac_op_need_columns(r, 0, arg ? 2 : 1, err));
    return hac_op_need_columns(r, 1, arg ? 16 / p->size : 1, err);
}

/* The function that combines partial results. */
static unsigned combination(unsigned function)
{
    switch (function) {
    case HAC_OP_MIN:
    case HAC_OP_MAX:
        return function;
    case HAC_OP_LARGEST:
        return HAC_OP_MAX;
    default:
        return HAC_OP_SUM;
    }
}

static hac_status combine_args(const hac_op_request *r, hac_error *err)
{
    const hac_op_kernels *k = hac_op_kernels_best();
    const hac_op_vector *p = &r->v[1];
    hac_op_number number = hac_op_number_of(p->kind);
    uint64_t best[2] = {0}, candidate[2], pair[2] = {0}, value = 0, at = 0;
    size_t size = hac_op_number_size(number);
    for (uint64_t i = 0; i < p->rows; i++) {
        memcpy(candidate, p->values + i * 16, sizeof candidate);
        memcpy(pair, &best[0], size);
        memcpy((uint8_t *)pair + size, &candidate[0], size);
        k->arg[number](r->call.function == HAC_OP_ARGMAX, pair, 2, &value, &at);
        if (i == 0 || at == 1)
            memcpy(best, candidate, sizeof best);
    }
    uint64_t ret[2] = {best[1], best[0]};
    if (p->rows == 0)
        return hac_fail(err, HAC_FAILED, "there are no rows, so there is no minimum or maximum");
    memcpy(r->v[0].values, ret, sizeof ret);
    return HAC_OK;
}

static void combine_exact(const hac_op_request *r)
{
    const hac_op_vector *p = &r->v[1];
    hac_op_exact sum = {0}, other;
    for (uint64_t i = 0; i < p->rows; i++) {
        memcpy(&other, p->values + i * sizeof other, sizeof other);
        hac_op_exact_join(&sum, &other);
        if (i % 65536 == 65535)
            hac_op_exact_carry(&sum);
    }
    double value = hac_op_exact_result(r->call.function, &sum);
    memcpy(r->v[0].values, &value, sizeof value);
}

hac_status hac_op_do_combine(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    const hac_op_vector *p = &r->v[1];
    const hac_op_kernels *k = hac_op_kernels_best();
    hac_op_number number = hac_op_number_of(p->kind);
    unsigned function = combination(r->call.function);
    uint64_t n = p->rows;
    (void)values;
    (void)n_values;
    if (is_arg(r->call.function))
        return combine_args(r, err);
    if (hac_op_is_exact(r->call.function)) {
        combine_exact(r);
        return HAC_OK;
    }
    if (n == 0 && (r->call.function == HAC_OP_MIN || r->call.function == HAC_OP_MAX))
        return hac_fail(err, HAC_FAILED, "there are no rows, so there is no minimum or maximum");
    hac_autofree uint8_t *scratch = hac_op_alloc(blocks_of(n), p->size);
    if (scratch == NULL)
        return hac_fail_no_memory(err);
    memset(scratch, 0, p->size);
    const uint8_t *from = p->values;
    if (n == 1)
        memcpy(scratch, from, p->size);
    for (; n > 1; n = blocks_of(n), from = scratch)
        for (uint64_t b = 0; b < blocks_of(n); b++) {
            uint64_t at = b * HAC_OP_BLOCK, rows = n - at < HAC_OP_BLOCK ? n - at : HAC_OP_BLOCK;
            if (!k->reduce[number](function, from + at * p->size, NULL, rows, scratch + b * p->size))
                return hac_op_fail_sum(err, p, "partials", at);
        }
    memcpy(r->v[0].values, scratch, p->size);
    return HAC_OK;
}

/* ---- scans ---- */

static hac_status check_scan(const hac_op_request *r, size_t partials, size_t x, hac_error *err)
{
    bool widens = r->v[x].kind == HAC_KIND_F32 && r->v[partials].kind == HAC_KIND_F64;
    HAC_OP_TRY(hac_op_need_dense(r, partials, err));
    HAC_OP_TRY(hac_op_need_dense(r, x, err));
    if (!widens)
        HAC_OP_TRY(hac_op_need_kind(r, partials, hac_op_sum_kind(r->v[x].kind), err));
    HAC_OP_TRY(hac_op_need_columns(r, x, 1, err));
    HAC_OP_TRY(hac_op_need_columns(r, partials, 1, err));
    if (r->v[partials].rows < blocks_of(r->v[x].rows))
        return hac_op_fail(err, partials, "%llu partials for %llu blocks",
                           (unsigned long long)r->v[partials].rows,
                           (unsigned long long)blocks_of(r->v[x].rows));
    if ((r->call.flags & HAC_OP_EXCLUSIVE) && r->call.function != HAC_OP_SUM)
        return hac_fail(err, HAC_INVALID, "only sums can leave their own row out");
    return HAC_OK;
}

hac_status hac_op_check_of_scan_sums(const hac_op_request *r, hac_error *err)
{
    return check_scan(r, 0, 1, err);
}

hac_status hac_op_check_of_scan(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(check_scan(r, 2, 1, err));
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    HAC_OP_TRY(hac_op_need_kind(r, 0, r->v[2].kind, err));
    HAC_OP_TRY(hac_op_need_columns(r, 0, 1, err));
    return hac_op_need_rows(r, 1, r->v[0].rows, err);
}

static hac_status scan_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const reduce_work *w = context;
    const hac_op_vector *x = &w->r->v[1];
    (void)worker;
    for (uint64_t at = 0; at < count; at += HAC_OP_BLOCK) {
        numbers scratch;
        uint64_t zero = 0, total = 0, block = (first + at) / HAC_OP_BLOCK;
        size_t n = count - at < HAC_OP_BLOCK ? (size_t)(count - at) : HAC_OP_BLOCK;
        size_t size = hac_op_number_size(w->number);
        const void *values = hac_op_numbers(x, w->number, first + at, n, scratch.x), *carry = &zero;
        uint8_t *y = NULL;
        if (w->carries != NULL) {
            carry = w->carries + (block - w->r->first / HAC_OP_BLOCK) * size;
            y = hac_op_at(&w->r->v[0], first + at);
        }
        if (!w->kernels->scan[w->number](w->function, w->exclusive, values, n, carry, y, &total))
            return hac_op_fail_sum(err, x, "the block", first + at);
        if (y == NULL)
            memcpy(hac_op_at(&w->r->v[0], block), &total, size);
    }
    return HAC_OK;
}

static reduce_work scan_work(const hac_op_request *r)
{
    return (reduce_work){.r = r,
                         .kernels = hac_op_kernels_best(),
                         .number = hac_op_number_of(r->v[0].kind),
                         .function = r->call.function,
                         .exclusive = (r->call.flags & HAC_OP_EXCLUSIVE) != 0};
}

hac_status hac_op_do_scan_sums(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    reduce_work w = scan_work(r);
    (void)values;
    (void)n_values;
    return hac_op_for_rows(r->first, r->count, STEP, scan_rows, &w, err);
}

/* The initial value of a running function. */
static void identity(unsigned function, hac_op_number number, uint64_t *ret)
{
    double d = function == HAC_OP_MIN ? (double)NAN : function == HAC_OP_MAX ? (double)-INFINITY : 0;
    float f = (float)d;
    int64_t i = function == HAC_OP_MIN ? INT64_MAX : function == HAC_OP_MAX ? INT64_MIN : 0;
    *ret = 0;
    if (number == HAC_OP_F32)
        memcpy(ret, &f, sizeof f);
    else if (number == HAC_OP_F64)
        memcpy(ret, &d, sizeof d);
    else if (number == HAC_OP_I64)
        memcpy(ret, &i, sizeof i);
    else if (function == HAC_OP_MIN)
        *ret = UINT64_MAX;
}

/* A scan of one value combines this value and the carry. */
hac_status hac_op_scan_carries(const hac_op_request *r, uint8_t **ret, hac_error *err)
{
    const hac_op_kernels *k = hac_op_kernels_best();
    const hac_op_vector *p = &r->v[2];
    hac_op_number number = hac_op_number_of(p->kind);
    uint64_t before = r->first / HAC_OP_BLOCK, blocks = blocks_of(r->count), value = 0, next = 0, total = 0;
    unsigned function = r->call.function;
    hac_autofree uint8_t *carries = hac_op_alloc(blocks, p->size);
    if (carries == NULL)
        return hac_fail_no_memory(err);
    identity(function, number, &value);
    for (uint64_t b = 0; b < before + blocks; b++) {
        if (b >= before)
            memcpy(carries + (b - before) * p->size, &value, p->size);
        if (!k->scan[number](function, false, p->values + b * p->size, 1, &value, &next, &total))
            return hac_op_fail_sum(err, p, "partials", b);
        value = next;
    }
    *ret = hac_steal_ptr(carries);
    return HAC_OK;
}

hac_status hac_op_do_scan(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    reduce_work w = scan_work(r);
    (void)values;
    (void)n_values;
    HAC_OP_TRY(hac_op_scan_carries(r, &w.carries, err));
    hac_status status = hac_op_for_rows(r->first, r->count, STEP, scan_rows, &w, err);
    free(w.carries);
    return status;
}
