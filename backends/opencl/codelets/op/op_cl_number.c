/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for one type of number: scans, matrices, distances. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "op_cl.h"

#define GEMM_ROWS 16 /* kernels/op_matrix.cl */

static const char *program_of(hac_device *device, hac_op_number number)
{
    static const hac_type types[] = {HAC_TYPE_F32, HAC_TYPE_F64, HAC_TYPE_I64, HAC_TYPE_U64};
    return hac_op_number_program(hac_device_get_facts(device), types[number]);
}

static uint64_t left_of(const hac_op_request *r, uint64_t at, uint64_t step)
{
    return r->count - at < step ? r->count - at : step;
}

/* One work-item for each row or pair: groups of 64. */
static hac_status end_items(hac_op_launch *l, uint64_t items)
{
    const hac_device_facts *f = hac_device_get_facts(l->device);
    uint32_t lanes = f->max_work_group < HAC_OP_LANES ? f->max_work_group : HAC_OP_LANES;
    return hac_op_end(l, hac_op_blocks(items, lanes), lanes);
}

static hac_status judge_rows(const hac_op_request *r, const hac_op_launch *l, uint64_t first, hac_error *err)
{
    const hac_op_vector *a = &r->v[1];
    if (l->fail[HAC_OP_FAIL_ROW] != HAC_OP_NO_FAILURE)
        return hac_op_fail_offsets(err, 1, a, first + l->fail[HAC_OP_FAIL_ROW]);
    if (l->fail[HAC_OP_FAIL_INDEX] != HAC_OP_NO_FAILURE)
        return hac_op_fail(err, 1, "row %llu: an index that is not below %llu columns",
                           (unsigned long long)(a->first + first + l->fail[HAC_OP_FAIL_INDEX]),
                           (unsigned long long)a->columns);
    if (l->fail[HAC_OP_FAIL_SUM] != HAC_OP_NO_FAILURE)
        return hac_op_fail_sum(err, a, "sums", first + l->fail[HAC_OP_FAIL_SUM]);
    return HAC_OK;
}

/* ---- scans ---- */

static hac_status launch_scan(hac_device *device, const hac_op_request *r, uint64_t first, uint64_t n,
                              const uint8_t *carries, hac_error *err)
{
    hac_op_launch l;
    const hac_op_vector *x = &r->v[1], *to = &r->v[0];
    hac_op_number number = hac_op_number_of(to->kind);
    uint64_t blocks = hac_op_blocks(n, HAC_OP_BLOCK), size = hac_op_number_size(number);
    hac_op_begin(&l, device, program_of(device, number), "op_scan", err);
    hac_op_in(&l, x->values, first, n, x->size);
    hac_op_u32(&l, x->kind);
    hac_op_u64(&l, n);
    hac_op_u32(&l, r->call.function);
    hac_op_u32(&l, (r->call.flags & HAC_OP_EXCLUSIVE) != 0);
    hac_op_u32(&l, carries != NULL);
    hac_op_in_all(&l, carries, carries == NULL ? 0 : blocks, size);
    hac_op_out(&l, to->values, first, carries == NULL ? 0 : n, size, false);
    hac_op_out(&l, to->values, first / HAC_OP_BLOCK, carries == NULL ? blocks : 0, size, false);
    hac_op_failures(&l);
    HAC_OP_TRY(hac_op_end(&l, blocks, hac_op_lanes(hac_device_get_facts(device))));
    return l.fail[HAC_OP_FAIL_SUM] == HAC_OP_NO_FAILURE
               ? HAC_OK
               : hac_op_fail_sum(err, x, "the block", first + l.fail[HAC_OP_FAIL_SUM]);
}

static hac_status scan_all(hac_device *device, const hac_op_request *r, const uint8_t *carries,
                           hac_error *err)
{
    uint64_t step = hac_op_chunk(hac_device_get_facts(device), 8, HAC_OP_BLOCK);
    uint64_t size = r->v[0].size;
    for (uint64_t at = 0; at < r->count; at += step) {
        /* carries of the chunk; a copy, as windows begin at multiples of 64 */
        hac_autofree uint8_t *own = NULL;
        uint64_t n = left_of(r, at, step), blocks = hac_op_blocks(n, HAC_OP_BLOCK);
        if (carries != NULL) {
            own = hac_op_alloc(blocks, size);
            if (own == NULL)
                return hac_fail_no_memory(err);
            memcpy(own, carries + at / HAC_OP_BLOCK * size, blocks * size);
        }
        HAC_OP_TRY(launch_scan(device, r, r->first + at, n, own, err));
    }
    return HAC_OK;
}

hac_status hac_op_kernels_scan_sums(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                                    hac_error *err)
{
    (void)values;
    (void)n_values;
    return scan_all(device, r, NULL, err);
}

hac_status hac_op_kernels_scan(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                               hac_error *err)
{
    hac_autofree uint8_t *carries = NULL;
    (void)values;
    (void)n_values;
    HAC_OP_TRY(hac_op_scan_carries(r, &carries, err));
    return scan_all(device, r, carries, err);
}

/* ---- products ---- */

hac_status hac_op_kernels_gemv(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                               hac_error *err)
{
    const hac_op_vector *y = &r->v[0], *a = &r->v[1], *x = &r->v[2];
    uint64_t step = hac_op_chunk(hac_device_get_facts(device), a->columns * a->size, 1);
    (void)values;
    (void)n_values;
    for (uint64_t at = 0; at < r->count; at += step) {
        hac_op_launch l;
        uint64_t first = r->first + at, n = left_of(r, at, step);
        hac_op_begin(&l, device, program_of(device, hac_op_number_of(y->kind)), "op_gemv", err);
        hac_op_in(&l, a->values, first * a->columns, n * a->columns, a->size);
        hac_op_in_all(&l, x->values, x->rows, x->size);
        hac_op_u64(&l, a->columns);
        hac_op_out(&l, y->values, first, n, y->size, false);
        hac_op_failures(&l);
        HAC_OP_TRY(hac_op_end(&l, n, hac_op_lanes(hac_device_get_facts(device))));
        HAC_OP_TRY(judge_rows(r, &l, first, err));
    }
    return HAC_OK;
}

hac_status hac_op_kernels_gemm(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                               hac_error *err)
{
    const hac_op_vector *c = &r->v[0], *a = &r->v[1], *b = &r->v[2];
    uint64_t widest = a->columns > c->columns ? a->columns : c->columns;
    uint64_t step = hac_op_chunk(hac_device_get_facts(device), widest * a->size, 1);
    (void)values;
    (void)n_values;
    for (uint64_t at = 0; at < r->count; at += step) {
        hac_op_launch l;
        uint64_t first = r->first + at, n = left_of(r, at, step);
        hac_op_begin(&l, device, program_of(device, hac_op_number_of(c->kind)), "op_gemm", err);
        hac_op_in(&l, a->values, first * a->columns, n * a->columns, a->size);
        hac_op_in_all(&l, b->values, b->rows * b->columns, b->size);
        hac_op_u64(&l, n);
        hac_op_u64(&l, a->columns);
        hac_op_u64(&l, c->columns);
        hac_op_out(&l, c->values, first * c->columns, n * c->columns, c->size, false);
        hac_op_failures(&l);
        HAC_OP_TRY(hac_op_end(&l, hac_op_blocks(n, GEMM_ROWS) * hac_op_blocks(c->columns, HAC_OP_LANES),
                              hac_op_lanes(hac_device_get_facts(device))));
        HAC_OP_TRY(judge_rows(r, &l, first, err));
    }
    return HAC_OK;
}

/* ---- rows of sparse matrices ---- */

/* The entries of rows first … first + n - 1. No row may be longer than the device's loop limit. */
static hac_status entries_of(const hac_device_facts *f, const hac_op_vector *a, uint64_t first, uint64_t n,
                             uint64_t *ret_from, uint64_t *ret_n, hac_error *err)
{
    uint64_t from = hac_op_once_u64(a->offsets + first), to = hac_op_once_u64(a->offsets + first + n);
    if (from > to || to > a->entries)
        return hac_op_fail_offsets(err, 1, a, first);
    if ((to - from) * 8 > f->max_allocation - 64)
        return hac_fail(err, HAC_UNSUPPORTED, "the entries of %llu rows do not fit a window of %llu bytes",
                        (unsigned long long)n, (unsigned long long)f->max_allocation);
    for (uint64_t row = first; f->max_loop_iterations != 0 && row < first + n; row++) {
        uint64_t begin, end;
        if (!hac_op_row_at(a, row, &begin, &end))
            return hac_op_fail_offsets(err, 1, a, row);
        if (end - begin >= hac_op_loops(f))
            return hac_fail(err, HAC_UNSUPPORTED,
                            "row %llu: its %llu entries are a loop that the device ends early",
                            (unsigned long long)(a->first + row), (unsigned long long)(end - begin));
    }
    *ret_from = from;
    *ret_n = to - from;
    return HAC_OK;
}

static uint64_t sparse_step(const hac_device_facts *f, const hac_op_vector *a)
{
    uint64_t mean = a->rows == 0 ? 1 : a->entries / a->rows + 1;
    return hac_op_chunk(f, 4 * mean * 8, 1);
}

hac_status hac_op_kernels_spmv(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                               hac_error *err)
{
    const hac_op_vector *y = &r->v[0], *a = &r->v[1], *x = &r->v[2];
    const hac_device_facts *f = hac_device_get_facts(device);
    uint64_t step = sparse_step(f, a), from, entries;
    (void)values;
    (void)n_values;
    for (uint64_t at = 0; at < r->count; at += step) {
        hac_op_launch l;
        uint64_t first = r->first + at, n = left_of(r, at, step);
        HAC_OP_TRY(entries_of(f, a, first, n, &from, &entries, err));
        hac_op_begin(&l, device, program_of(device, hac_op_number_of(y->kind)), "op_spmv", err);
        hac_op_in(&l, a->offsets, first, n + 1, 8);
        hac_op_in(&l, a->indices, from, entries, 4);
        hac_op_in(&l, a->values, from, a->ones ? 0 : entries, a->size);
        hac_op_u32(&l, a->ones);
        hac_op_u64(&l, from);
        hac_op_u64(&l, entries);
        hac_op_in_all(&l, x->values, x->rows, x->size);
        hac_op_u64(&l, x->rows);
        hac_op_u64(&l, n);
        hac_op_out(&l, y->values, first, n, y->size, false);
        hac_op_failures(&l);
        HAC_OP_TRY(end_items(&l, n));
        HAC_OP_TRY(judge_rows(r, &l, first, err));
    }
    return HAC_OK;
}

hac_status hac_op_kernels_row_reduce(hac_device *device, hac_op_request *r, uint64_t *values,
                                     size_t *n_values, hac_error *err)
{
    const hac_op_vector *y = &r->v[0], *a = &r->v[1];
    const hac_device_facts *f = hac_device_get_facts(device);
    bool dense = hac_op_is_dense(a);
    uint64_t step = dense ? hac_op_chunk(f, a->columns * a->size, 1) : sparse_step(f, a);
    (void)values;
    (void)n_values;
    for (uint64_t at = 0; at < r->count; at += step) {
        hac_op_launch l;
        uint64_t first = r->first + at, n = left_of(r, at, step);
        uint64_t from = first * a->columns, entries = n * a->columns;
        if (!dense)
            HAC_OP_TRY(entries_of(f, a, first, n, &from, &entries, err));
        hac_op_begin(&l, device, program_of(device, hac_op_number_of(y->kind)), "op_row_reduce", err);
        hac_op_in(&l, a->offsets, first, dense ? 0 : n + 1, 8);
        hac_op_in(&l, a->values, from, a->ones ? 0 : entries, a->size);
        hac_op_u32(&l, a->ones);
        hac_op_u32(&l, a->kind);
        hac_op_u64(&l, from);
        hac_op_u64(&l, entries);
        hac_op_u64(&l, dense ? a->columns : 0);
        hac_op_u64(&l, n);
        hac_op_u32(&l, r->call.function);
        hac_op_u32(&l, r->call.function == HAC_OP_COUNT);
        hac_op_out(&l, y->values, first, n, y->size, false);
        hac_op_failures(&l);
        HAC_OP_TRY(end_items(&l, n));
        HAC_OP_TRY(judge_rows(r, &l, first, err));
    }
    return HAC_OK;
}

hac_status hac_op_kernels_arg_rows(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                                   hac_error *err)
{
    const hac_op_vector *y = &r->v[0], *a = &r->v[1];
    uint64_t step = hac_op_chunk(hac_device_get_facts(device), a->columns * a->size, 1);
    (void)values;
    (void)n_values;
    for (uint64_t at = 0; at < r->count; at += step) {
        hac_op_launch l;
        uint64_t first = r->first + at, n = left_of(r, at, step);
        hac_op_begin(&l, device, program_of(device, hac_op_number_of(a->kind)), "op_arg_rows", err);
        hac_op_in(&l, a->values, first * a->columns, n * a->columns, a->size);
        hac_op_u64(&l, a->columns);
        hac_op_u64(&l, n);
        hac_op_u32(&l, r->call.function);
        hac_op_out(&l, y->values, first, n, 4, false);
        HAC_OP_TRY(end_items(&l, n));
    }
    return HAC_OK;
}

/* ---- distances ---- */

/* The kernels mark rows of a launch whose squares may have left the range of floats; the host codelet does
 * them again. `marked` tells of a row whether it is one. */
static hac_status repair_rows(hac_op_request *r, const hac_op_launch *l, uint64_t first, uint64_t n,
                              bool (*marked)(const hac_op_request *r, uint64_t row),
                              hac_status (*run)(hac_op_request *r, uint64_t *values, size_t *n_values,
                                                hac_error *err),
                              hac_error *err)
{
    hac_status status = HAC_OK;
    uint64_t before_first = r->first, before_count = r->count, values[HAC_TASK_VALUES_MAX], end = first + n;
    size_t n_values = 0;
    if (l->fail[HAC_OP_FAIL_SUM] == HAC_OP_NO_FAILURE)
        return HAC_OK;
    for (uint64_t row = first + l->fail[HAC_OP_FAIL_SUM]; row < end && status == HAC_OK; row++) {
        if (!marked(r, row))
            continue;
        r->first = row;
        while (row + 1 < end && marked(r, row + 1))
            row++;
        r->count = row + 1 - r->first;
        status = run(r, values, &n_values, err);
    }
    r->first = before_first;
    r->count = before_count;
    return status;
}

static bool has_unsafe_distance(const hac_op_request *r, uint64_t row)
{
    const hac_op_vector *y = &r->v[0];
    for (uint64_t c = 0; c < y->columns; c++) {
        uint64_t bits = 0;
        memcpy(&bits, hac_op_at(y, row * y->columns + c), y->size);
        if (bits == (y->size == 4 ? 0x7fc00001u : 0x7ff8000000000001u)) /* kernels/op_distance.cl */
            return true;
    }
    return false;
}

static bool has_no_nearest(const hac_op_request *r, uint64_t row)
{
    uint32_t at;
    memcpy(&at, hac_op_at(&r->v[0], row), sizeof at);
    return at == UINT32_MAX;
}

hac_status hac_op_kernels_distance(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                                   hac_error *err)
{
    const hac_op_vector *y = &r->v[0], *a = &r->v[1], *b = &r->v[2];
    uint64_t widest = a->columns > b->rows ? a->columns : b->rows;
    uint64_t step = hac_op_chunk(hac_device_get_facts(device), widest * a->size, 1);
    (void)values;
    (void)n_values;
    for (uint64_t at = 0; b->rows > 0 && at < r->count; at += step) {
        hac_op_launch l;
        uint64_t first = r->first + at, n = left_of(r, at, step);
        hac_op_begin(&l, device, program_of(device, hac_op_number_of(a->kind)), "op_distance", err);
        hac_op_in(&l, a->values, first * a->columns, n * a->columns, a->size);
        hac_op_in_all(&l, b->values, b->rows * b->columns, b->size);
        hac_op_u64(&l, n);
        hac_op_u64(&l, b->rows);
        hac_op_u64(&l, a->columns);
        hac_op_u32(&l, r->call.function);
        hac_op_out(&l, y->values, first * b->rows, n * b->rows, y->size, false);
        hac_op_failures(&l);
        HAC_OP_TRY(end_items(&l, n * b->rows));
        HAC_OP_TRY(repair_rows(r, &l, first, n, has_unsafe_distance, hac_op_do_distance, err));
    }
    return HAC_OK;
}

hac_status hac_op_kernels_nearest(hac_device *device, hac_op_request *r, uint64_t *values, size_t *n_values,
                                  hac_error *err)
{
    const hac_op_vector *y = &r->v[0], *a = &r->v[1], *b = &r->v[2];
    uint64_t step = hac_op_chunk(hac_device_get_facts(device), a->columns * a->size, HAC_OP_BLOCK);
    (void)values;
    (void)n_values;
    for (uint64_t at = 0; at < r->count; at += step) {
        hac_op_launch l;
        uint64_t first = r->first + at, n = left_of(r, at, step);
        hac_op_begin(&l, device, program_of(device, hac_op_number_of(a->kind)), "op_nearest", err);
        hac_op_in(&l, a->values, first * a->columns, n * a->columns, a->size);
        hac_op_in_all(&l, b->values, b->rows * b->columns, b->size);
        hac_op_u64(&l, n);
        hac_op_u64(&l, b->rows);
        hac_op_u64(&l, a->columns);
        hac_op_u32(&l, r->call.function);
        hac_op_out(&l, y->values, first, n, 4, false);
        hac_op_out(&l, r->n > 3 ? r->v[3].values : NULL, first, r->n > 3 ? n : 0, a->size, false);
        hac_op_u32(&l, r->n > 3);
        hac_op_failures(&l);
        HAC_OP_TRY(end_items(&l, n));
        HAC_OP_TRY(repair_rows(r, &l, first, n, has_no_nearest, hac_op_do_nearest, err));
    }
    return HAC_OK;
}
