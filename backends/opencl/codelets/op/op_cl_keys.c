/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for keys and bins, and for moving rows. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "op_cl.h"

#define WINNERS_SLOT 2

static const char *program_of(hac_device *device, unsigned kind)
{
    static const hac_type types[] = {HAC_TYPE_F32, HAC_TYPE_F64, HAC_TYPE_I64, HAC_TYPE_U64};
    return hac_op_number_program(hac_device_get_facts(device), types[hac_op_number_of(kind)]);
}

static hac_status end_items(hac_op_launch *l, uint64_t items)
{
    const hac_device_facts *f = hac_device_get_facts(l->device);
    uint32_t lanes = f->max_work_group < HAC_OP_LANES ? f->max_work_group : HAC_OP_LANES;
    return hac_op_end(l, hac_op_blocks(items, lanes), lanes);
}

/* The rows of each block that a launch may take if loops are limited: a row costs `cost` iterations, a launch
 * `once`. The check has ensured that 64 rows are possible. */
static uint32_t piece_rows(const hac_device_facts *f, uint64_t cost, uint64_t once)
{
    if (f->max_loop_iterations == 0)
        return HAC_OP_KEY_BLOCK;
    if (f->style != HAC_STYLE_SIMT) {
        cost *= HAC_OP_LANES;
        once *= HAC_OP_LANES;
    }
    uint64_t max = hac_op_loops(f), rows = once >= max ? 0 : (max - once) / cost;
    rows = rows / HAC_OP_LANES * HAC_OP_LANES;
    return rows < HAC_OP_LANES ? HAC_OP_LANES : rows > HAC_OP_KEY_BLOCK ? HAC_OP_KEY_BLOCK : (uint32_t)rows;
}

/* A piece ends with its block; what follows belongs to the next block. */
static uint32_t end_of(uint32_t from, uint32_t piece)
{
    return from + piece < HAC_OP_KEY_BLOCK ? from + piece : HAC_OP_KEY_BLOCK;
}

/* ---- op.keys ---- */

static hac_status launch_keys(hac_device *device, const hac_op_request *r, uint64_t first, uint64_t n,
                              uint32_t from, uint32_t to, hac_error *err)
{
    hac_op_launch l;
    const hac_op_vector *tables = &r->v[0], *keys = &r->v[1], *x = r->n > 2 ? &r->v[2] : NULL;
    uint64_t columns = x == NULL ? 0 : x->columns, blocks = hac_op_blocks(n, HAC_OP_KEY_BLOCK);
    uint64_t cells = r->call.n * tables->columns;
    hac_op_begin(&l, device, program_of(device, tables->kind), "op_keys", err);
    hac_op_in(&l, keys->values, first, n, keys->size);
    hac_op_u32(&l, keys->kind);
    hac_op_in(&l, x == NULL ? NULL : x->values, first * columns, n * columns, x == NULL ? 1 : x->size);
    hac_op_u32(&l, x == NULL ? 0 : x->kind);
    hac_op_u64(&l, columns);
    hac_op_u64(&l, n);
    hac_op_u32(&l, from);
    hac_op_u32(&l, to);
    hac_op_u64(&l, r->call.n);
    hac_op_u32(&l, r->call.function);
    hac_op_out(&l, tables->values, first / HAC_OP_KEY_BLOCK * cells, blocks * cells, 8, from != 0);
    hac_op_failures(&l);
    HAC_OP_TRY(hac_op_end(&l, blocks, hac_op_lanes(hac_device_get_facts(device))));
    if (l.fail[HAC_OP_FAIL_INDEX] != HAC_OP_NO_FAILURE)
        return hac_op_fail_index(err, r, 1, first + l.fail[HAC_OP_FAIL_INDEX], r->call.n);
    return l.fail[HAC_OP_FAIL_SUM] == HAC_OP_NO_FAILURE
               ? HAC_OK
               : hac_op_fail_sum(err, keys, "keys", first + l.fail[HAC_OP_FAIL_SUM]);
}

static hac_status tidy_tables(hac_device *device, const hac_op_request *r, uint64_t first, uint64_t n,
                              hac_error *err)
{
    hac_op_launch l;
    const hac_op_vector *tables = &r->v[0];
    uint64_t rows = hac_op_blocks(n, HAC_OP_KEY_BLOCK) * r->call.n, cells = tables->columns;
    hac_op_begin(&l, device, program_of(device, tables->kind), "op_keys_tidy", err);
    hac_op_out(&l, tables->values, first / HAC_OP_KEY_BLOCK * r->call.n * cells, rows * cells, 8, true);
    hac_op_u64(&l, rows);
    hac_op_u64(&l, cells);
    return end_items(&l, rows);
}

hac_status hac_op_kernels_keys(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                               hac_error *err)
{
    const hac_device_facts *f = hac_device_get_facts(device);
    uint64_t cells = r->v[0].columns, table = r->call.n * cells * 8;
    uint64_t row = r->n > 2 ? r->v[2].columns * r->v[2].size : 8, own = table / HAC_OP_KEY_BLOCK + 1;
    uint64_t step = hac_op_chunk(f, row > own ? row : own, HAC_OP_KEY_BLOCK);
    /* a row: its own iteration, one for each 64 cells and a part of these, and one that ends the loop */
    uint32_t piece = piece_rows(f, cells / HAC_OP_LANES + 3, table / 8 / HAC_OP_LANES + 2);
    (void)values;
    (void)n_values;
    for (uint64_t at = 0; at < r->count; at += step) {
        uint64_t n = r->count - at < step ? r->count - at : step;
        for (uint32_t from = 0; from < HAC_OP_KEY_BLOCK && from < n; from += piece)
            HAC_OP_TRY(launch_keys(device, r, r->first + at, n, from, end_of(from, piece), err));
        HAC_OP_TRY(tidy_tables(device, r, r->first + at, n, err));
    }
    return HAC_OK;
}

/* ---- op.keys_combine ---- */

hac_status hac_op_kernels_keys_combine(hac_device *device, hac_op_request *r, uint64_t *values,
                                       size_t *n_values, hac_error *err)
{
    hac_op_launch l;
    const hac_op_vector *y = &r->v[0], *tables = &r->v[1];
    uint64_t cells = y->columns, count = r->count * cells;
    (void)values;
    (void)n_values;
    if (count == 0)
        return HAC_OK;
    hac_op_begin(&l, device, program_of(device, y->kind), "op_keys_combine", err);
    hac_op_in_all(&l, tables->values, tables->rows * cells, 8);
    hac_op_u64(&l, y->rows);
    hac_op_u64(&l, cells);
    hac_op_u64(&l, tables->rows / y->rows);
    hac_op_u64(&l, r->first * cells);
    hac_op_u64(&l, count);
    hac_op_u32(&l, r->call.function);
    hac_op_out(&l, y->values, r->first * cells, count, 8, false);
    hac_op_failures(&l);
    HAC_OP_TRY(end_items(&l, count));
    return l.fail[HAC_OP_FAIL_SUM] == HAC_OP_NO_FAILURE
               ? HAC_OK
               : hac_op_fail_sum(err, y, "keys", l.fail[HAC_OP_FAIL_SUM]);
}

/* ---- op.histogram ---- */

static hac_status launch_histogram(hac_device *device, const hac_op_request *r, const hac_buckets *buckets,
                                   uint64_t first, uint64_t n, uint32_t from, uint32_t to, hac_error *err)
{
    hac_op_launch l;
    const hac_op_vector *tables = &r->v[0], *x = &r->v[1];
    uint64_t blocks = hac_op_blocks(n, HAC_OP_KEY_BLOCK);
    hac_op_begin(&l, device, program_of(device, HAC_KIND_F64), "op_histogram", err);
    hac_op_in(&l, x->values, first, n, x->size);
    hac_op_u32(&l, x->kind);
    hac_op_u64(&l, n);
    hac_op_u32(&l, from);
    hac_op_u32(&l, to);
    hac_op_u64(&l, r->call.n);
    hac_op_in_all(&l, buckets->border, r->call.n, 8);
    hac_op_u64(&l, buckets->n);
    hac_op_u64(&l, (uint64_t)buckets->first);
    hac_op_u64(&l, (uint64_t)buckets->last);
    hac_op_f64(&l, buckets->half_low);
    hac_op_f64(&l, buckets->per_width);
    hac_op_out(&l, tables->values, first / HAC_OP_KEY_BLOCK * r->call.n, blocks * r->call.n, 8, from != 0);
    return hac_op_end(&l, blocks, hac_op_lanes(hac_device_get_facts(device)));
}

hac_status hac_op_kernels_histogram(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                                    hac_error *err)
{
    const hac_device_facts *f = hac_device_get_facts(device);
    uint64_t own = r->call.n * 8 / HAC_OP_KEY_BLOCK + 8, step = hac_op_chunk(f, own, HAC_OP_KEY_BLOCK);
    uint32_t piece = piece_rows(f, 2, r->call.n / HAC_OP_LANES + 2);
    hac_buckets buckets;
    (void)values;
    (void)n_values;
    if (!hac_op_histogram_buckets(r, &buckets))
        return hac_fail_no_memory(err);
    hac_status status = HAC_OK;
    for (uint64_t at = 0; at < r->count && status == HAC_OK; at += step) {
        uint64_t n = r->count - at < step ? r->count - at : step;
        for (uint32_t from = 0; from < HAC_OP_KEY_BLOCK && from < n; from += piece)
            if (status == HAC_OK)
                status =
                    launch_histogram(device, r, &buckets, r->first + at, n, from, end_of(from, piece), err);
    }
    hac_buckets_clear(&buckets);
    return status;
}

/* ---- op.gather, op.scatter ---- */

hac_status hac_op_kernels_gather(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                                 hac_error *err)
{
    const hac_op_vector *y = &r->v[0], *x = &r->v[1], *index = &r->v[2];
    uint64_t step = hac_op_chunk(hac_device_get_facts(device), y->columns * y->size, HAC_OP_BLOCK);
    (void)values;
    (void)n_values;
    for (uint64_t at = 0; at < r->count; at += step) {
        hac_op_launch l;
        uint64_t first = r->first + at, n = r->count - at < step ? r->count - at : step;
        hac_op_begin(&l, device, "op.move", "op_gather", err);
        hac_op_in_all(&l, x->values, x->rows * x->columns, x->size);
        hac_op_u64(&l, x->rows);
        hac_op_in(&l, index->values, first, n, index->size);
        hac_op_u32(&l, index->kind);
        hac_op_u64(&l, n);
        hac_op_u64(&l, y->columns);
        hac_op_u32(&l, (uint32_t)y->size);
        hac_op_out(&l, y->values, first * y->columns, n * y->columns, y->size, false);
        hac_op_failures(&l);
        HAC_OP_TRY(end_items(&l, n * y->columns));
        if (l.fail[HAC_OP_FAIL_INDEX] != HAC_OP_NO_FAILURE)
            return hac_op_fail_index(err, r, 2, first + l.fail[HAC_OP_FAIL_INDEX], x->rows);
    }
    return HAC_OK;
}

static hac_status find_winners(hac_device *device, const hac_op_request *r, hac_error *err)
{
    hac_op_launch l;
    const hac_op_vector *y = &r->v[0], *x = &r->v[1], *index = &r->v[2];
    hac_op_begin(&l, device, "op.move", "op_winners_clear", err);
    hac_op_scratch(&l, WINNERS_SLOT, y->rows * 4);
    hac_op_u64(&l, y->rows);
    if (y->rows > 0)
        HAC_OP_TRY(end_items(&l, y->rows));
    if (x->rows == 0)
        return HAC_OK;
    hac_op_begin(&l, device, "op.move", "op_winners", err);
    hac_op_in_all(&l, index->values, x->rows, index->size);
    hac_op_u32(&l, index->kind);
    hac_op_u64(&l, x->rows);
    hac_op_u64(&l, y->rows);
    hac_op_scratch(&l, WINNERS_SLOT, y->rows * 4);
    hac_op_failures(&l);
    HAC_OP_TRY(end_items(&l, x->rows));
    return l.fail[HAC_OP_FAIL_INDEX] == HAC_OP_NO_FAILURE
               ? HAC_OK
               : hac_op_fail_index(err, r, 2, l.fail[HAC_OP_FAIL_INDEX], y->rows);
}

hac_status hac_op_kernels_scatter(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                                  hac_error *err)
{
    hac_op_launch l;
    const hac_op_vector *y = &r->v[0], *x = &r->v[1];
    (void)values;
    (void)n_values;
    if (x->rows >= UINT32_MAX || y->rows * 4 > hac_device_get_facts(device)->max_allocation)
        return hac_fail(err, HAC_UNSUPPORTED, "%llu rows are too many for a device",
                        (unsigned long long)x->rows);
    HAC_OP_TRY(find_winners(device, r, err));
    if (y->rows == 0)
        return HAC_OK;
    hac_op_begin(&l, device, "op.move", "op_scatter", err);
    hac_op_in_all(&l, x->values, x->rows * x->columns, x->size);
    hac_op_scratch(&l, WINNERS_SLOT, y->rows * 4);
    hac_op_u64(&l, y->rows);
    hac_op_u64(&l, y->columns);
    hac_op_u32(&l, (uint32_t)y->size);
    hac_op_out(&l, y->values, 0, y->rows * y->columns, y->size, false);
    return end_items(&l, y->rows * y->columns);
}
