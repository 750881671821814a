/* SPDX-License-Identifier: Apache-2.0 */
/* op.gather, op.scatter, op.transpose. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "host/op_parts.h"

#define STEP (16 * (uint64_t)HAC_OP_BLOCK) /* rows that a thread takes at a time */
#define TILE 32                            /* rows and columns that are transposed together */

/* ---- op.gather, op.scatter ---- */

static hac_status check_move(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(hac_op_need_dense(r, 0, err));
    HAC_OP_TRY(hac_op_need_dense(r, 1, err));
    HAC_OP_TRY(hac_op_need_kind(r, 1, r->v[0].kind, err));
    HAC_OP_TRY(hac_op_need_columns(r, 1, r->v[0].columns, err));
    if (!hac_op_is_index(&r->v[2]))
        return hac_op_fail(err, 2, "an index is a column of u32, u64, i32 or i64");
    return HAC_OK;
}

hac_status hac_op_check_of_gather(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(check_move(r, err));
    return hac_op_need_rows(r, 2, r->v[0].rows, err);
}

hac_status hac_op_check_of_scatter(const hac_op_request *r, hac_error *err)
{
    HAC_OP_TRY(check_move(r, err));
    return hac_op_need_rows(r, 2, r->v[1].rows, err);
}

/* `to` is y + i, `from` is x + i. Common sizes are copied without a call. */
static inline void copy_row(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
}

/* Copies of members: as far as the compiler knows, a store might change the request. */
static inline __attribute__((always_inline)) hac_status gather_of(const hac_op_request *r, uint64_t first,
                                                                  uint64_t count, uint64_t bytes, bool narrow,
                                                                  hac_error *err)
{
    const uint8_t *restrict x = r->v[1].values, *restrict index = r->v[2].values;
    uint8_t *restrict y = r->v[0].values;
    uint64_t rows = r->v[1].rows;
    for (uint64_t row = first; row < first + count; row++) {
        uint64_t from = narrow ? hac_op_once_u32((const uint32_t *)(const void *)index + row)
                               : hac_op_index_at(&r->v[2], row);
        if (__builtin_expect(from >= rows, 0))
            return hac_op_fail_index(err, r, 2, row, rows);
        memcpy(y + row * bytes, x + from * bytes, bytes);
    }
    return HAC_OK;
}

static hac_status gather_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const hac_op_request *r = context;
    uint64_t bytes = r->v[0].size * r->v[0].columns;
    bool narrow = r->v[2].kind == HAC_KIND_U32;
    (void)worker;
    if (narrow && bytes == 8)
        return gather_of(r, first, count, 8, true, err);
    if (narrow && bytes == 4)
        return gather_of(r, first, count, 4, true, err);
    if (bytes == 8)
        return gather_of(r, first, count, 8, false, err);
    return gather_of(r, first, count, bytes, narrow, err);
}

hac_status hac_op_do_gather(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    (void)values;
    (void)n_values;
    return hac_op_for_rows(r->first, r->count, STEP, gather_rows, r, err);
}

hac_status hac_op_do_scatter(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    const hac_op_vector *y = &r->v[0], *x = &r->v[1];
    uint64_t bytes = y->size * y->columns;
    (void)values;
    (void)n_values;
    if (y->rows != 0)
        memset(y->values, 0, y->rows * bytes);
    for (uint64_t row = 0; row < x->rows; row++) {
        uint64_t to = hac_op_index_at(&r->v[2], row);
        if (to >= y->rows)
            return hac_op_fail_index(err, r, 2, row, y->rows);
        copy_row(y->values + to * bytes, x->values + row * bytes, bytes);
    }
    return HAC_OK;
}

/* ---- op.transpose ---- */

hac_status hac_op_check_of_transpose(const hac_op_request *r, hac_error *err)
{
    const hac_op_vector *y = &r->v[0], *x = &r->v[1];
    bool sparse = x->form == HAC_VECTOR_SPARSE_MATRIX;
    if (sparse ? y->form != HAC_VECTOR_SPARSE_MATRIX : !hac_op_is_dense(x) || !hac_op_is_dense(y))
        return hac_fail(err, HAC_INVALID, "both matrices are dense, or both are sparse");
    HAC_OP_TRY(hac_op_need_kind(r, 0, x->kind, err));
    HAC_OP_TRY(hac_op_need_rows(r, 0, x->columns, err));
    HAC_OP_TRY(hac_op_need_columns(r, 0, x->rows, err));
    if (sparse && x->rows > UINT32_MAX)
        return hac_op_fail(err, 1, "more than 2^32 rows");
    if (sparse && y->entries < x->entries)
        return hac_op_fail(err, 0, "room for %llu of %llu entries", (unsigned long long)y->entries,
                           (unsigned long long)x->entries);
    return HAC_OK;
}

static void transpose_tile(const hac_op_vector *y, const hac_op_vector *x, uint64_t row, uint64_t column)
{
    uint64_t rows = x->rows - row < TILE ? x->rows : row + TILE;
    uint64_t columns = x->columns - column < TILE ? x->columns : column + TILE;
    for (uint64_t c = column; c < columns; c++)
        for (uint64_t i = row; i < rows; i++)
            copy_row(hac_op_at(y, c * x->rows + i), hac_op_at(x, i * x->columns + c), x->size);
}

/* Rows of y are columns of x. */
static hac_status transpose_dense(void *context, uint64_t first, uint64_t count, unsigned worker,
                                  hac_error *err)
{
    const hac_op_request *r = context;
    (void)worker;
    (void)err;
    for (uint64_t c = first; c < first + count; c += TILE)
        for (uint64_t row = 0; row < r->v[1].rows; row += TILE)
            transpose_tile(&r->v[0], &r->v[1], row, c);
    return HAC_OK;
}

/* Counts the entries of each column into places[column + 1], then turns counts into positions. */
static hac_status count_columns(const hac_op_vector *x, uint64_t entries, uint64_t *places, hac_error *err)
{
    const uint32_t *indices = x->indices;
    for (uint64_t e = 0; e < entries; e++) {
        uint32_t column = hac_op_once_u32(indices + e);
        if (column >= x->columns)
            return hac_op_fail(err, 1, "entry %llu: an index that is not below %llu columns",
                               (unsigned long long)e, (unsigned long long)x->columns);
        places[column + 1]++;
    }
    for (uint64_t c = 0; c < x->columns; c++)
        places[c + 1] += places[c];
    return HAC_OK;
}

static hac_status transpose_sparse(const hac_op_vector *y, const hac_op_vector *x, hac_error *err)
{
    const uint32_t *indices = x->indices;
    uint32_t *rows = y->indices;
    uint64_t expected = 0, entries = hac_op_once_u64(x->offsets + x->rows);
    hac_autofree uint64_t *places = calloc(x->columns + 1, sizeof *places);
    if (places == NULL)
        return hac_fail_no_memory(err);
    if (entries > x->entries)
        return hac_op_fail_offsets(err, 1, x, x->rows);
    HAC_OP_TRY(count_columns(x, entries, places, err));
    memcpy(y->offsets, places, (x->columns + 1) * sizeof *places);
    for (uint64_t row = 0; row < x->rows; row++) {
        uint64_t from, to;
        if (!hac_op_row_at(x, row, &from, &to) || from != expected)
            return hac_op_fail_offsets(err, 1, x, row);
        expected = to;
        for (uint64_t e = from; e < to; e++) {
            uint32_t column = hac_op_once_u32(indices + e);
            uint64_t place = column < x->columns ? places[column]++ : UINT64_MAX;
            if (place >= entries) /* they have changed since they were counted */
                return hac_op_fail(err, 1, "entry %llu: its index changes", (unsigned long long)e);
            rows[place] = (uint32_t)row;
            copy_row(hac_op_at(y, place), hac_op_at(x, e), x->size);
        }
    }
    return expected == entries ? HAC_OK : hac_op_fail_offsets(err, 1, x, x->rows);
}

hac_status hac_op_do_transpose(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    (void)values;
    (void)n_values;
    if (r->v[1].form == HAC_VECTOR_SPARSE_MATRIX)
        return transpose_sparse(&r->v[0], &r->v[1], err);
    return hac_op_for_rows(0, r->v[0].rows, TILE, transpose_dense, r, err);
}
