/* SPDX-License-Identifier: Apache-2.0 */
/* op.gemv, op.gemm, op.spmv, op.row_reduce, op.arg_rows. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "codelet/threads.h"
#include "host/op_parts.h"
#include "op_spmv_copy.h"

#define STEP_ELEMENTS 16384 /* rows that a thread takes at a time */

static bool is_number(unsigned kind)
{
    return hac_op_is_float(kind) || kind == HAC_KIND_I64;
}

static uint64_t step_of(uint64_t columns)
{
    return columns >= STEP_ELEMENTS ? 1 : STEP_ELEMENTS / columns;
}

/* All operands have y's kind: f32, f64 or i64. */
static hac_status check_kinds(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    if (!is_number(r->v[0].kind))
        return hac_op_fail(err, 0, "products of matrices are of f32, f64 or i64");
    HAC_OP_TRY(hac_op_need_kind(r, 1, r->v[0].kind, err));
    HAC_OP_TRY(hac_op_need_kind(r, 2, r->v[0].kind, err));
    HAC_OP_TRY(hac_op_need_dense(r, 2, err));
    return hac_op_need_rows(r, 1, r->v[0].rows, err);
}

static hac_status fail_product(hac_error *err, const hac_op_vector *a, uint64_t row)
{
    return hac_fail(err, HAC_FAILED, "row %llu: a sum of products does not fit 64 bits",
                    (unsigned long long)(a->first + row));
}

/* ---- op.gemv ---- */

hac_status hac_op_check_of_gemv(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(check_kinds(r, err));
    HAC_OP_TRY(hac_op_need_dense(r, 1, err));
    HAC_OP_TRY(hac_op_need_columns(r, 0, 1, err));
    HAC_OP_TRY(hac_op_need_columns(r, 2, 1, err));
    return hac_op_need_rows(r, 2, r->v[1].columns, err);
}

static hac_status gemv_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const hac_op_request *r = context;
    const hac_op_vector *y = &r->v[0], *a = &r->v[1], *x = &r->v[2];
    const hac_op_kernels *k = hac_op_kernels_best();
    hac_op_number number = hac_op_number_of(y->kind);
    (void)worker;
    for (uint64_t row = first; row < first + count; row++)
        if (!k->reduce[number](HAC_OP_PRODUCTS, hac_op_at(a, row * a->columns), x->values, a->columns,
                               hac_op_at(y, row)))
            return fail_product(err, a, row);
    return HAC_OK;
}

hac_status hac_op_do_gemv(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    (void)values;
    (void)n_values;
    return hac_op_for_rows(r->first, r->count, step_of(r->v[1].columns), gemv_rows, r, err);
}

/* ---- op.gemm ---- */

#define GEMM_ROWS  64  /* rows of C that a thread takes at a time */
#define GEMM_DEPTH 256 /* rows of a panel of B: 16 KiB */

hac_status hac_op_check_of_gemm(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(check_kinds(r, err));
    HAC_OP_TRY(hac_op_need_dense(r, 1, err));
    HAC_OP_TRY(hac_op_need_rows(r, 2, r->v[1].columns, err));
    return hac_op_need_columns(r, 2, r->v[0].columns, err);
}

static hac_status gemm_integers(const hac_op_request *r, uint64_t row, hac_error *err)
{
    const hac_op_vector *c = &r->v[0], *a = &r->v[1], *b = &r->v[2];
    const int64_t *from = (const int64_t *)(const void *)hac_op_at(a, row * a->columns);
    const int64_t *with = (const int64_t *)(const void *)b->values;
    int64_t *to = (int64_t *)(void *)hac_op_at(c, row * c->columns);
    bool bad = false;
    memset(to, 0, c->columns * 8);
    for (uint64_t k = 0; k < a->columns; k++, with += c->columns)
        for (uint64_t j = 0; j < c->columns; j++) {
            int64_t product;
            bad |= __builtin_mul_overflow(from[k], with[j], &product);
            bad |= __builtin_add_overflow(to[j], product, &to[j]);
        }
    return bad ? fail_product(err, a, row) : HAC_OK;
}

/* Rows k … k + depth - 1 of `width` columns of B, padded with zeros. */
static void pack_panel(const hac_op_vector *b, uint64_t k, size_t depth, uint64_t column, size_t width,
                       uint8_t *panel)
{
    size_t bytes = width * b->size;
    for (size_t i = 0; i < depth; i++, panel += HAC_OP_PANEL_BYTES) {
        if (bytes < HAC_OP_PANEL_BYTES)
            memset(panel, 0, HAC_OP_PANEL_BYTES);
        memcpy(panel, hac_op_at(b, (k + i) * b->columns + column), bytes);
    }
}

static void gemm_floats(const hac_op_request *r, uint64_t first, uint64_t count)
{
    const hac_op_vector *c = &r->v[0], *a = &r->v[1], *b = &r->v[2];
    const hac_op_kernels *kernels = hac_op_kernels_best();
    hac_op_number number = hac_op_number_of(c->kind);
    uint64_t width = HAC_OP_PANEL_BYTES / c->size;
    _Alignas(64) uint8_t panel[GEMM_DEPTH * HAC_OP_PANEL_BYTES];
    if (a->columns == 0)
        memset(hac_op_at(c, first * c->columns), 0, count * c->columns * c->size);
    for (uint64_t k = 0; k < a->columns; k += GEMM_DEPTH)
        for (uint64_t j = 0; j < c->columns; j += width) {
            size_t depth = a->columns - k < GEMM_DEPTH ? (size_t)(a->columns - k) : GEMM_DEPTH;
            size_t columns = c->columns - j < width ? (size_t)(c->columns - j) : (size_t)width;
            pack_panel(b, k, depth, j, columns, panel);
            kernels->gemm[number](hac_op_at(a, first * a->columns + k), a->columns, panel, (size_t)count,
                                  depth, hac_op_at(c, first * c->columns + j), c->columns, columns, k > 0);
        }
}

static hac_status gemm_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const hac_op_request *r = context;
    (void)worker;
    if (hac_op_is_float(r->v[0].kind)) {
        gemm_floats(r, first, count);
        return HAC_OK;
    }
    for (uint64_t row = first; row < first + count; row++)
        HAC_OP_TRY(gemm_integers(r, row, err));
    return HAC_OK;
}

hac_status hac_op_do_gemm(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    (void)values;
    (void)n_values;
    return hac_op_for_rows(r->first, r->count, GEMM_ROWS, gemm_rows, r, err);
}

/* ---- op.spmv ---- */

hac_status hac_op_check_of_spmv(const hac_op_request *r, hac_error *err)
{
    if (r->v[1].form != HAC_VECTOR_SPARSE_MATRIX)
        return hac_op_fail(err, 1, "it is no sparse matrix");
    HAC_OP_TRY(check_kinds(r, err));
    HAC_OP_TRY(hac_op_need_columns(r, 0, 1, err));
    HAC_OP_TRY(hac_op_need_columns(r, 2, 1, err));
    return hac_op_need_rows(r, 2, r->v[1].columns, err);
}

static hac_status fail_column(hac_error *err, const hac_op_vector *a, uint64_t row)
{
    return hac_op_fail(err, 1, "row %llu: an index that is not below %llu columns",
                       (unsigned long long)(a->first + row), (unsigned long long)a->columns);
}

/* The loop reads copies of the request's members: as far as the compiler knows, a store might change the
 * request. */
#define SPMV_VARIABLES(T)                                                                                    \
    const hac_op_vector *a = &r->v[1];                                                                       \
    const uint32_t *restrict indices = a->indices;                                                           \
    const T *restrict values = (const T *)(const void *)a->values;                                           \
    const T *restrict x = (const T *)(const void *)r->v[2].values;                                           \
    T *restrict y = (T *)(void *)r->v[0].values;                                                             \
    uint64_t columns = r->v[2].rows, from, to

static inline __attribute__((always_inline)) bool is_outside(uint32_t column, uint64_t columns)
{
    return __builtin_expect(column >= columns, 0);
}

#define SPMV_REST(lane, sum, TERM)                                                                           \
    if (to - from > lane) {                                                                                  \
        uint32_t column = hac_op_once_u32(indices + from + lane);                                            \
        if (is_outside(column, columns))                                                                     \
            return fail_column(err, a, row);                                                                 \
        sum += TERM(from + lane, column);                                                                    \
    }

/* A row's sum has four lanes (hac/op.h), so no addition waits for the one before. */
#define SPMV(name, T, TERM, nan)                                                                             \
    static hac_status name(const hac_op_request *r, uint64_t first, uint64_t count, hac_error *err)          \
    {                                                                                                        \
        SPMV_VARIABLES(T);                                                                                   \
        (void)values;                                                                                        \
        for (uint64_t row = first; row < first + count; row++) {                                             \
            T s0 = 0, s1 = 0, s2 = 0, s3 = 0;                                                                \
            if (!hac_op_row_at(a, row, &from, &to))                                                          \
                return hac_op_fail_offsets(err, 1, a, row);                                                  \
            for (; to - from >= 4; from += 4) {                                                              \
                uint32_t c0 = hac_op_once_u32(indices + from), c1 = hac_op_once_u32(indices + from + 1);     \
                uint32_t c2 = hac_op_once_u32(indices + from + 2), c3 = hac_op_once_u32(indices + from + 3); \
                if (is_outside(c0, columns) || is_outside(c1, columns) || is_outside(c2, columns) ||         \
                    is_outside(c3, columns))                                                                 \
                    return fail_column(err, a, row);                                                         \
                s0 += TERM(from, c0);                                                                        \
                s1 += TERM(from + 1, c1);                                                                    \
                s2 += TERM(from + 2, c2);                                                                    \
                s3 += TERM(from + 3, c3);                                                                    \
            }                                                                                                \
            SPMV_REST(0, s0, TERM);                                                                          \
            SPMV_REST(1, s1, TERM);                                                                          \
            SPMV_REST(2, s2, TERM);                                                                          \
            T sum = (s0 + s2) + (s1 + s3);                                                                   \
            y[row] = sum != sum ? nan : sum;                                                                 \
        }                                                                                                    \
        return HAC_OK;                                                                                       \
    }

#define TERM_PRODUCT(e, column) (values[e] * x[column])
#define TERM_ONE(e, column)     (x[column])

SPMV(spmv_f32, float, TERM_PRODUCT, __builtin_nanf(""))
SPMV(spmv_f64, double, TERM_PRODUCT, __builtin_nan(""))
SPMV(spmv_ones, double, TERM_ONE, __builtin_nan(""))

static hac_status spmv_i64(const hac_op_request *r, uint64_t first, uint64_t count, hac_error *err)
{
    SPMV_VARIABLES(int64_t);
    for (uint64_t row = first; row < first + count; row++) {
        bool bad = false;
        int64_t sum = 0, product;
        if (!hac_op_row_at(a, row, &from, &to))
            return hac_op_fail_offsets(err, 1, a, row);
        for (uint64_t e = from; e < to; e++) {
            uint32_t column = hac_op_once_u32(indices + e);
            if (is_outside(column, columns))
                return fail_column(err, a, row);
            bad |= __builtin_mul_overflow(values[e], x[column], &product);
            bad |= __builtin_add_overflow(sum, product, &sum);
        }
        if (bad)
            return fail_product(err, a, row);
        y[row] = sum;
    }
    return HAC_OK;
}

static hac_status spmv_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const hac_op_request *r = context;
    (void)worker;
    if (r->v[1].ones)
        return spmv_ones(r, first, count, err);
    if (r->v[0].kind == HAC_KIND_F64)
        return spmv_f64(r, first, count, err);
    return r->v[0].kind == HAC_KIND_F32 ? spmv_f32(r, first, count, err) : spmv_i64(r, first, count, err);
}

hac_status hac_op_do_spmv(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    uint64_t rows = r->v[1].rows, mean = rows == 0 ? 1 : r->v[1].entries / rows + 1;
    (void)values;
    (void)n_values;
    if (r->fixed > 0 && r->copy == NULL) {
        r->copy = hac_op_spmv_copy_new(r);
        if (r->copy == NULL)
            r->fixed = 0;
    }
    if (r->copy != NULL)
        return hac_op_spmv_copy_run(r->copy, r, err);
    return hac_op_for_rows(r->first, r->count, step_of(mean), spmv_rows, r, err);
}

/* ---- op.row_reduce ---- */

hac_status hac_op_check_of_row_reduce(const hac_op_request *r, hac_error *err)
{
    const hac_op_vector *y = &r->v[0], *a = &r->v[1];
    bool count = r->call.function == HAC_OP_COUNT;
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    HAC_OP_TRY(hac_op_need_columns(r, 0, 1, err));
    if (!hac_op_is_dense(a) && a->form != HAC_VECTOR_SPARSE_MATRIX && a->form != HAC_VECTOR_VARIABLE_LEN)
        return hac_op_fail(err, 1, "it has no rows of numbers");
    if (count || a->kind != HAC_KIND_F32 || y->kind != HAC_KIND_F64)
        HAC_OP_TRY(hac_op_need_kind(r, 0, count ? HAC_KIND_U64 : hac_op_sum_kind(a->kind), err));
    return hac_op_need_rows(r, 1, y->rows, err);
}

/* For n entries that are all 1.0. */
static double reduce_ones(unsigned function, uint64_t n)
{
    bool sum = function == HAC_OP_SUM || function == HAC_OP_SQUARES || function == HAC_OP_MAGNITUDE;
    return sum || n == 0 ? (double)n : 1.0;
}

typedef struct row_work {
    const hac_op_request *r;
    uint8_t **scratches; /* for each thread: a widened row */
    uint64_t *scratch_elements;
} row_work;

/* Rows from `from` on as numbers, widened into the thread's own memory if necessary. */
static hac_status row_numbers(row_work *w, hac_op_number number, uint64_t from, uint64_t n, unsigned worker,
                              const void **ret, hac_error *err)
{
    const hac_op_vector *a = &w->r->v[1];
    bool as_is = a->size == hac_op_number_size(number) && hac_op_number_of(a->kind) == number;
    if (!as_is && w->scratch_elements[worker] < n) {
        free(w->scratches[worker]);
        w->scratches[worker] = hac_op_alloc(2 * n, 8);
        w->scratch_elements[worker] = w->scratches[worker] == NULL ? 0 : 2 * n;
        if (w->scratches[worker] == NULL)
            return hac_fail_no_memory(err);
    }
    *ret = hac_op_numbers(a, number, from, n, w->scratches[worker]);
    return HAC_OK;
}

static hac_status reduce_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    row_work *w = context;
    const hac_op_vector *y = &w->r->v[0], *a = &w->r->v[1];
    hac_op_number number = hac_op_number_of(y->kind);
    unsigned function = w->r->call.function;
    bool dense = hac_op_is_dense(a), as_is = a->kind == y->kind;
    for (uint64_t row = first; row < first + count; row++) {
        uint64_t from = row * a->columns, to = from + a->columns, n;
        if (!dense && !hac_op_row_at(a, row, &from, &to))
            return hac_op_fail_offsets(err, 1, a, row);
        n = to - from;
        if (function == HAC_OP_COUNT) {
            memcpy(hac_op_at(y, row), &n, sizeof n);
            continue;
        }
        if (a->ones) {
            memcpy(hac_op_at(y, row), &(double){reduce_ones(function, n)}, sizeof(double));
            continue;
        }
        const void *x = hac_op_at(a, from);
        if (!as_is)
            HAC_OP_TRY(row_numbers(w, number, from, n, worker, &x, err));
        if (!hac_op_kernels_best()->in_turn[number](function, x, n, hac_op_at(y, row)))
            return hac_op_fail_sum(err, a, "the row", row);
    }
    return HAC_OK;
}

hac_status hac_op_do_row_reduce(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    const unsigned threads = HAC_POOL_MAX; /* there may be more threads later */
    row_work w = {.r = r,
                  .scratches = calloc(threads, sizeof *w.scratches),
                  .scratch_elements = calloc(threads, sizeof *w.scratch_elements)};
    uint64_t rows = r->v[1].rows, mean = rows == 0 ? 1 : r->v[1].entries / rows + 1;
    hac_status status = HAC_OK;
    (void)values;
    (void)n_values;
    if (w.scratches == NULL || w.scratch_elements == NULL)
        status = hac_fail_no_memory(err);
    if (status == HAC_OK)
        status = hac_op_for_rows(r->first, r->count, step_of(mean), reduce_rows, &w, err);
    for (unsigned i = 0; w.scratches != NULL && i < threads; i++)
        free(w.scratches[i]);
    free(w.scratches);
    free(w.scratch_elements);
    return status;
}

/* ---- op.arg_rows ---- */

hac_status hac_op_check_of_arg_rows(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    HAC_OP_TRY(hac_op_need_dense(r, 1, err));
    HAC_OP_TRY(hac_op_need_kind(r, 0, HAC_KIND_U32, err));
    HAC_OP_TRY(hac_op_need_columns(r, 0, 1, err));
    if (r->v[1].columns > UINT32_MAX)
        return hac_op_fail(err, 1, "more than 2^32 columns");
    if (hac_op_sum_kind(r->v[1].kind) != r->v[1].kind)
        return hac_op_fail(err, 1, "its elements have to be i64, u64, f32 or f64");
    return hac_op_need_rows(r, 1, r->v[0].rows, err);
}

static hac_status arg_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const hac_op_request *r = context;
    const hac_op_vector *a = &r->v[1];
    hac_op_number number = hac_op_number_of(a->kind);
    (void)worker;
    (void)err;
    for (uint64_t row = first; row < first + count; row++) {
        uint64_t value, at;
        hac_op_kernels_best()->arg[number](r->call.function == HAC_OP_ARGMAX, hac_op_at(a, row * a->columns),
                                           (size_t)a->columns, &value, &at);
        uint32_t index = (uint32_t)at;
        memcpy(hac_op_at(&r->v[0], row), &index, sizeof index);
    }
    return HAC_OK;
}

hac_status hac_op_do_arg_rows(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    (void)values;
    (void)n_values;
    return hac_op_for_rows(r->first, r->count, step_of(r->v[1].columns), arg_rows, r, err);
}
