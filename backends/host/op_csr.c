/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.csr: entries are put in order of their column, then of their row, a digit at a time by counting, which
 * keeps the order of equal places. All is read once, into memory of its own: what others change in the
 * meantime is not seen.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "op_parts.h"

typedef struct entry {
    uint32_t row, column;
} entry;

typedef struct entries {
    uint64_t n;
    entry *places;
    double *values; /* NULL: all are 1.0 */
} entries;

static void entries_clear(entries *e)
{
    free(e->places);
    free(e->values);
}

static hac_status entries_new(entries *e, uint64_t n, bool values, hac_error *err)
{
    *e = (entries){.n = n, .places = hac_op_alloc(n, sizeof *e->places)};
    if (values)
        e->values = hac_op_alloc(n, sizeof *e->values);
    if (e->places == NULL || (values && e->values == NULL))
        return hac_fail_no_memory(err);
    return HAC_OK;
}

hac_status hac_op_check_of_csr(const hac_op_request *r, hac_error *err)
{
    const hac_op_vector *m = &r->v[0];
    if (m->form != HAC_VECTOR_SPARSE_MATRIX)
        return hac_op_fail(err, 0, "it is no sparse matrix");
    HAC_OP_TRY(hac_op_need_kind(r, 0, HAC_KIND_F64, err));
    if (m->rows > UINT32_MAX || m->columns > UINT32_MAX)
        return hac_op_fail(err, 0, "more than 2^32 - 1 rows or columns");
    if ((r->call.flags & HAC_OP_SYMMETRIC) && m->rows != m->columns)
        return hac_op_fail(err, 0, "a symmetric matrix is square");
    for (size_t i = 1; i < 3; i++)
        if (!hac_op_is_index(&r->v[i]))
            return hac_op_fail(err, i, "an index is a column of u32, u64, i32 or i64");
    if (m->ones && (r->n > 3 || (r->call.flags & HAC_OP_SYMMETRIC) == 0))
        return hac_op_fail(err, 0, "its values are not all 1.0");
    if (r->v[1].rows > UINT64_MAX / 64)
        return hac_op_fail(err, 1, "too many rows");
    HAC_OP_TRY(hac_op_need_rows(r, 2, r->v[1].rows, err));
    if (r->n < 4)
        return HAC_OK;
    HAC_OP_TRY(hac_op_need_dense(r, 3, err));
    HAC_OP_TRY(hac_op_need_kind(r, 3, HAC_KIND_F64, err));
    HAC_OP_TRY(hac_op_need_columns(r, 3, 1, err));
    return hac_op_need_rows(r, 3, r->v[1].rows, err);
}

static hac_status read_entries(const hac_op_request *r, entries *e, hac_error *err)
{
    const hac_op_vector *m = &r->v[0];
    bool both = (r->call.flags & HAC_OP_SYMMETRIC) != 0;
    const uint64_t *bits = r->n > 3 ? (const uint64_t *)(const void *)r->v[3].values : NULL;
    uint64_t at = 0;
    for (uint64_t i = 0; i < r->v[1].rows; i++) {
        uint64_t row = hac_op_index_at(&r->v[1], i), column = hac_op_index_at(&r->v[2], i);
        if (row >= m->rows)
            return hac_op_fail_index(err, r, 1, i, m->rows);
        if (column >= m->columns)
            return hac_op_fail_index(err, r, 2, i, m->columns);
        for (unsigned turn = 0; turn < 1u + (both && row != column); turn++, at++) {
            e->places[at] = turn == 0 ? (entry){(uint32_t)row, (uint32_t)column}
                                      : (entry){(uint32_t)column, (uint32_t)row};
            if (bits != NULL)
                memcpy(&e->values[at], &(uint64_t){hac_op_once_u64(bits + i)}, 8);
        }
    }
    e->n = at;
    return HAC_OK;
}

#define DIGIT_BITS 11

/* One pass: `to` is `from` in order of a digit of the rows or columns; equal ones keep their order. */
static void sort_pass(const entries *from, bool by_row, unsigned shift, entries *to)
{
    uint64_t places[(1 << DIGIT_BITS) + 1] = {0};
    const uint32_t mask = (1 << DIGIT_BITS) - 1;
    to->n = from->n;
    for (uint64_t i = 0; i < from->n; i++)
        places[((by_row ? from->places[i].row : from->places[i].column) >> shift & mask) + 1]++;
    for (uint32_t i = 0; i < mask; i++)
        places[i + 1] += places[i];
    for (uint64_t i = 0; i < from->n; i++) {
        uint64_t place = places[(by_row ? from->places[i].row : from->places[i].column) >> shift & mask]++;
        to->places[place] = from->places[i];
        if (from->values != NULL)
            to->values[place] = from->values[i];
    }
}

/* By rows or columns, all below `limit`; *e and *spare change places as often as needed. */
static void sort_by(entries *e, bool by_row, uint64_t limit, entries *spare)
{
    for (unsigned shift = 0; shift < 32 && (limit - 1) >> shift != 0; shift += DIGIT_BITS) {
        sort_pass(e, by_row, shift, spare);
        entries swapped = *e;
        *e = *spare;
        *spare = swapped;
    }
}

static bool same_place(const entry *a, const entry *b)
{
    return a->row == b->row && a->column == b->column;
}

/* Puts entries of one place together, in place: added up, or the first one. */
static void unite(entries *e, bool add)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < e->n; i++) {
        double value = e->values == NULL ? 1.0 : e->values[i];
        if (n > 0 && same_place(&e->places[n - 1], &e->places[i])) {
            if (add)
                e->values[n - 1] += value;
            continue;
        }
        e->places[n] = e->places[i];
        if (e->values != NULL)
            e->values[n] = value;
        n++;
    }
    e->n = n;
}

static void write_matrix(const hac_op_vector *m, const entries *e)
{
    uint32_t *indices = m->indices;
    double *values = (double *)(void *)m->values;
    uint64_t row = 0;
    for (uint64_t i = 0; i < e->n; i++) {
        for (; row <= e->places[i].row; row++)
            m->offsets[row] = i;
        indices[i] = e->places[i].column;
        if (m->ones)
            continue;
        values[i] = e->values == NULL ? 1.0 : e->values[i];
        if (values[i] != values[i])
            values[i] = __builtin_nan("");
    }
    for (; row <= m->rows; row++)
        m->offsets[row] = e->n;
}

hac_status hac_op_do_csr(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    const hac_op_vector *m = &r->v[0];
    bool both = (r->call.flags & HAC_OP_SYMMETRIC) != 0;
    bool with_values = r->n > 3 || !both; /* equal places add up: that gives other values than 1 */
    uint64_t most = r->v[1].rows * (both ? 2 : 1);
    entries a = {0}, b = {0};
    hac_status status = entries_new(&a, most, with_values, err);
    if (status == HAC_OK)
        status = entries_new(&b, most, with_values, err);
    if (status == HAC_OK && r->n < 4 && with_values)
        for (uint64_t i = 0; i < most; i++)
            a.values[i] = 1.0;
    if (status == HAC_OK)
        status = read_entries(r, &a, err);
    if (status == HAC_OK) {
        sort_by(&a, false, m->columns, &b);
        sort_by(&a, true, m->rows == 0 ? 1 : m->rows, &b);
        unite(&a, !both);
        values[0] = m->rows;
        values[1] = a.n;
        *n_values = 2;
        if (a.n <= m->entries)
            write_matrix(m, &a);
    }
    entries_clear(&a);
    entries_clear(&b);
    return status;
}
