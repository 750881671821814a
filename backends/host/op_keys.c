/* SPDX-License-Identifier: Apache-2.0 */
/* op.keys, op.keys_combine, op.histogram. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "host/op_parts.h"

#define PIECE 512 /* rows that are converted to numbers at a time */

static uint64_t key_blocks(uint64_t rows)
{
    return rows / HAC_OP_KEY_BLOCK + (rows % HAC_OP_KEY_BLOCK != 0);
}

/* Memory for a table of each block of `rows`. */
static hac_status check_tables(const hac_op_request *r, uint64_t rows, uint64_t columns, hac_error *err)
{
    uint64_t needed;
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    HAC_OP_TRY(hac_op_need_columns(r, 0, columns, err));
    if (r->call.n == 0)
        return hac_fail(err, HAC_INVALID, "n is 0");
    if (__builtin_mul_overflow(key_blocks(rows), r->call.n, &needed) || r->v[0].rows < needed)
        return hac_op_fail(err, 0, "%llu rows for %llu tables of %llu", (unsigned long long)r->v[0].rows,
                           (unsigned long long)key_blocks(rows), (unsigned long long)r->call.n);
    return HAC_OK;
}

/* ---- op.keys ---- */

hac_status hac_op_check_of_keys(const hac_op_request *r, hac_error *err)
{
    const hac_op_vector *x = r->n > 2 ? &r->v[2] : NULL;
    unsigned kind = r->v[0].kind;
    if (!hac_op_is_index(&r->v[1]))
        return hac_op_fail(err, 1, "keys are a column of u32, u64, i32 or i64");
    if (kind != HAC_KIND_F64 && kind != HAC_KIND_I64)
        return hac_op_fail(err, 0, "tables are of f64 or i64");
    if (x != NULL) {
        HAC_OP_TRY(hac_op_need_dense(r, 2, err));
        HAC_OP_TRY(hac_op_need_rows(r, 2, r->v[1].rows, err));
        if (hac_op_is_float(x->kind) != (kind == HAC_KIND_F64) || x->kind == HAC_KIND_U64)
            return hac_op_fail(err, 2, "floats have tables of f64, i32, i64, u32 and bool of i64");
        if (x->columns == UINT64_MAX)
            return hac_op_fail(err, 2, "too many columns");
    }
    return check_tables(r, r->v[1].rows, x == NULL ? 1 : x->columns + 1, err);
}

typedef struct key_scratch {
    uint64_t keys[PIECE];
    uint8_t *numbers; /* PIECE rows of x, widened; NULL: x is read in place */
} key_scratch;

static hac_status add_piece(const hac_op_request *r, uint64_t first, size_t n, key_scratch *scratch,
                            uint8_t *table, hac_error *err)
{
    const hac_op_vector *x = r->n > 2 ? &r->v[2] : NULL;
    hac_op_number number = hac_op_number_of(r->v[0].kind);
    size_t columns = x == NULL ? 0 : (size_t)x->columns;
    for (size_t i = 0; i < n; i++) {
        scratch->keys[i] = hac_op_index_at(&r->v[1], first + i);
        if (scratch->keys[i] >= r->call.n)
            return hac_op_fail_index(err, r, 1, first + i, r->call.n);
    }
    const void *values = NULL;
    if (x != NULL)
        values = scratch->numbers == NULL
                     ? hac_op_at(x, first * columns)
                     : hac_op_numbers(x, number, first * columns, n * columns, scratch->numbers);
    if (!hac_op_kernels_best()->add_keys[number](r->call.function, scratch->keys, values, n, columns, table))
        return hac_op_fail_sum(err, &r->v[1], "keys", first);
    return HAC_OK;
}

static hac_status key_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const hac_op_request *r = context;
    const hac_op_vector *tables = &r->v[0], *x = r->n > 2 ? &r->v[2] : NULL;
    uint64_t table_bytes = r->call.n * tables->columns * tables->size;
    uint8_t *table = tables->values + first / HAC_OP_KEY_BLOCK * table_bytes;
    key_scratch scratch = {.numbers = NULL};
    hac_status status = HAC_OK;
    (void)worker;
    if (x != NULL && hac_op_number_of(x->kind) == hac_op_number_of(tables->kind) && x->size == 8)
        scratch.numbers = NULL;
    else if (x != NULL) {
        scratch.numbers = hac_op_alloc(PIECE * x->columns, 8);
        if (scratch.numbers == NULL)
            return hac_fail_no_memory(err);
    }
    memset(table, 0, table_bytes);
    for (uint64_t at = 0; status == HAC_OK && at < count; at += PIECE)
        status =
            add_piece(r, first + at, count - at < PIECE ? (size_t)(count - at) : PIECE, &scratch, table, err);
    free(scratch.numbers);
    if (tables->kind == HAC_KIND_F64) /* all NaNs become one */
        hac_op_kernels_best()->tidy64((double *)(void *)table, table_bytes / 8, (double *)(void *)table);
    return status;
}

hac_status hac_op_do_keys(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    (void)values;
    (void)n_values;
    return hac_op_for_rows(r->first, r->count, HAC_OP_KEY_BLOCK, key_rows, r, err);
}

/* ---- op.keys_combine ---- */

hac_status hac_op_check_of_keys_combine(const hac_op_request *r, hac_error *err)
{
    const hac_op_vector *y = &r->v[0], *tables = &r->v[1];
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    HAC_OP_TRY(hac_op_need_dense(r, 1, err));
    if (y->kind != HAC_KIND_F64 && y->kind != HAC_KIND_I64 && y->kind != HAC_KIND_U64)
        return hac_op_fail(err, 0, "tables are of f64, i64 or u64");
    HAC_OP_TRY(hac_op_need_kind(r, 1, y->kind, err));
    HAC_OP_TRY(hac_op_need_columns(r, 1, y->columns, err));
    if (y->rows != 0 && tables->rows % y->rows != 0)
        return hac_op_fail(err, 1, "%llu rows are no whole tables of %llu", (unsigned long long)tables->rows,
                           (unsigned long long)y->rows);
    return HAC_OK;
}

static hac_status combine_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const hac_op_request *r = context;
    const hac_op_vector *y = &r->v[0], *tables = &r->v[1];
    hac_op_number number = hac_op_number_of(y->kind);
    uint8_t *to = hac_op_at(y, first * y->columns);
    (void)worker;
    memset(to, 0, count * y->columns * y->size);
    for (uint64_t row = first; row < tables->rows; row += y->rows)
        if (!hac_op_kernels_best()->add_table[number](r->call.function, hac_op_at(tables, row * y->columns),
                                                      (size_t)count, (size_t)y->columns, to))
            return hac_op_fail_sum(err, y, "keys", first);
    if (number == HAC_OP_F64) /* all NaNs become one */
        hac_op_kernels_best()->tidy64((double *)(void *)to, count * y->columns, (double *)(void *)to);
    return HAC_OK;
}

hac_status hac_op_do_keys_combine(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    (void)values;
    (void)n_values;
    return hac_op_for_rows(r->first, r->count, HAC_OP_BLOCK, combine_rows, r, err);
}

/* ---- op.histogram ---- */

hac_status hac_op_check_of_histogram(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(hac_op_need_kind(r, 0, HAC_KIND_U64, err));
    HAC_OP_TRY(hac_op_need_dense(r, 1, err));
    HAC_OP_TRY(hac_op_need_columns(r, 1, 1, err));
    if (r->v[1].kind == HAC_KIND_BOOL)
        return hac_op_fail(err, 1, "bools have no histogram");
    if (!isfinite(r->call.a) || !isfinite(r->call.b) || !(r->call.a < r->call.b))
        return hac_fail(err, HAC_INVALID, "bins from %g to %g", r->call.a, r->call.b);
    if (r->call.n > UINT32_MAX)
        return hac_fail(err, HAC_INVALID, "%llu bins", (unsigned long long)r->call.n);
    return check_tables(r, r->v[1].rows, 1, err);
}

bool hac_op_histogram_buckets(const hac_op_request *r, hac_buckets *ret)
{
    hac_constant_number low = hac_constant_real(r->call.a), high = hac_constant_real(r->call.b);
    return hac_buckets_init(&low, &high, (uint32_t)r->call.n, (hac_value_type){.kind = r->v[1].kind}, ret);
}

typedef struct histogram_work {
    const hac_op_request *r;
    hac_buckets buckets;
} histogram_work;

static hac_status histogram_rows(void *context, uint64_t first, uint64_t count, unsigned worker,
                                 hac_error *err)
{
    const histogram_work *w = context;
    const hac_op_vector *x = &w->r->v[1];
    uint64_t bins = w->r->call.n;
    uint64_t *table = (uint64_t *)(void *)w->r->v[0].values + first / HAC_OP_KEY_BLOCK * bins;
    bool real = hac_op_is_float(x->kind), is_signed = x->kind == HAC_KIND_I64 || x->kind == HAC_KIND_I32;
    (void)worker;
    (void)err;
    memset(table, 0, bins * sizeof *table);
    for (uint64_t at = 0; at < count; at += PIECE) {
        size_t n = count - at < PIECE ? (size_t)(count - at) : PIECE;
        double numbers[PIECE];
        const double *about = hac_op_numbers(x, HAC_OP_F64, first + at, n, numbers);
        for (size_t i = 0; i < n; i++) {
            int64_t key =
                real ? hac_bucket_key_of_f64(about[i]) : (int64_t)hac_op_index_at(x, first + at + i);
            if (!real && !is_signed)
                key = hac_bucket_key_of_u64((uint64_t)key);
            uint64_t bin = hac_bucket_of(&w->buckets, key, about[i]);
            if (bin != HAC_NO_BUCKET)
                table[bin]++;
        }
    }
    return HAC_OK;
}

hac_status hac_op_do_histogram(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    histogram_work w = {.r = r};
    (void)values;
    (void)n_values;
    if (!hac_op_histogram_buckets(r, &w.buckets))
        return hac_fail_no_memory(err);
    hac_status status = hac_op_for_rows(r->first, r->count, HAC_OP_KEY_BLOCK, histogram_rows, &w, err);
    hac_buckets_clear(&w.buckets);
    return status;
}
