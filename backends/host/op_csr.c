/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.csr: a counting sort distributes the entries to their rows, each thread a part of the entries. Then each
 * row is sorted by column; entries of the same place keep their order. All input is read once into memory of
 * its own, so later changes by others are not seen.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "codelet/threads.h"
#include "host/op_parts.h"

#define SHORT_ROW  128 /* entries of a row that are sorted by insertion; longer rows are sorted by digits */
#define DIGIT_BITS 11
#define STEP       256 /* rows that a thread takes at a time */
#define TOGETHER   64  /* entries that are distributed together */

typedef struct csr_place {
    uint32_t row, column;
} csr_place;

typedef struct csr_matrix {
    /* n places were read; if both directions count, a row's entries are twice as many */
    uint64_t rows, columns, n;
    bool both, add;       /* add: entries of the same place are added, else the first one counts */
    csr_place *places;    /* columns of the places, in input order */
    double *given;        /* their values; NULL: all are 1.0 and stay 1.0 */
    uint64_t parts, part; /* parts of the places: how many, and places of each */
    /* parts × rows: a row's entries in a part, then the position of its next entry */
    uint64_t *next;
    uint64_t *begins; /* rows + 1: where each row begins */
    /* rows + 1: lengths without duplicates, then where each row begins in the output */
    uint64_t *results;
    uint32_t *column, *spare; /* columns row by row; `spare` is for sorting long rows */
    double *value, *spare_value;
} csr_matrix;

static void matrix_clear(csr_matrix *m)
{
    free(m->places);
    free(m->given);
    free(m->next);
    free(m->begins);
    free(m->results);
    free(m->column);
    free(m->spare);
    free(m->value);
    free(m->spare_value);
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

/* For the part that begins with place `first`. */
static uint64_t *next_of(const csr_matrix *m, uint64_t first)
{
    return m->next + first / m->part * m->rows;
}

/* ---- reading ---- */

typedef struct csr_reading {
    const hac_op_request *r;
    csr_matrix *m;
} csr_reading;

static hac_status read_places(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const hac_op_request *r = ((const csr_reading *)context)->r;
    csr_matrix *m = ((const csr_reading *)context)->m;
    const uint64_t *bits = r->n > 3 ? (const uint64_t *)(const void *)r->v[3].values : NULL;
    uint64_t *many = next_of(m, first);
    (void)worker;
    for (uint64_t i = first; i < first + count; i++) {
        uint64_t row = hac_op_index_at(&r->v[1], i), column = hac_op_index_at(&r->v[2], i);
        if (row >= m->rows)
            return hac_op_fail_index(err, r, 1, i, m->rows);
        if (column >= m->columns)
            return hac_op_fail_index(err, r, 2, i, m->columns);
        m->places[i] = (csr_place){(uint32_t)row, (uint32_t)column};
        many[row]++;
        if (m->both && row != column)
            many[column]++;
        if (m->given == NULL)
            continue;
        m->given[i] = 1.0;
        if (bits != NULL)
            memcpy(&m->given[i], &(uint64_t){hac_op_once_u64(bits + i)}, 8);
    }
    return HAC_OK;
}

/* ---- dealing ---- */

/* The positions of each part's entries in each row: earlier parts come first. */
static void place_parts(csr_matrix *m)
{
    uint64_t at = 0;
    for (uint64_t row = 0; row < m->rows; row++) {
        m->begins[row] = at;
        for (uint64_t part = 0; part < m->parts; part++) {
            uint64_t *next = &m->next[part * m->rows + row], many = *next;
            *next = at;
            at += many;
        }
    }
    m->begins[m->rows] = at;
}

/* All positions are known before the first write, so no write waits for the one before. */
static void deal_some(csr_matrix *m, uint64_t *next, uint64_t first, uint64_t count)
{
    uint64_t to[TOGETHER], back[TOGETHER];
    const csr_place *places = m->places + first;
    for (uint64_t i = 0; i < count; i++) {
        csr_place p = places[i];
        to[i] = back[i] = next[p.row]++;
        __builtin_prefetch(m->column + to[i], 1);
        if (!m->both || p.row == p.column)
            continue;
        back[i] = next[p.column]++;
        __builtin_prefetch(m->column + back[i], 1);
    }
    for (uint64_t i = 0; i < count; i++) {
        m->column[back[i]] = places[i].row;
        m->column[to[i]] = places[i].column;
        if (m->value != NULL)
            m->value[back[i]] = m->value[to[i]] = m->given[first + i];
    }
}

static hac_status deal(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    csr_matrix *m = context;
    uint64_t *next = next_of(m, first), end = first + count;
    (void)worker;
    (void)err;
    for (; first < end; first += TOGETHER)
        deal_some(m, next, first, end - first < TOGETHER ? end - first : TOGETHER);
    return HAC_OK;
}

/* ---- rows ---- */

static void sort_short(uint32_t *column, double *value, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        uint32_t c = column[i];
        double v = value != NULL ? value[i] : 0;
        uint64_t at = i;
        for (; at > 0 && column[at - 1] > c; at--) {
            column[at] = column[at - 1];
            if (value != NULL)
                value[at] = value[at - 1];
        }
        column[at] = c;
        if (value != NULL)
            value[at] = v;
    }
}

/* One pass: `to` is `from` in the order of a digit; the pass is stable. */
static void sort_pass(const uint32_t *from, const double *from_value, uint32_t *to, double *to_value,
                      uint64_t n, unsigned shift)
{
    uint64_t places[(1 << DIGIT_BITS) + 1] = {0};
    const uint32_t mask = (1 << DIGIT_BITS) - 1;
    for (uint64_t i = 0; i < n; i++)
        places[(from[i] >> shift & mask) + 1]++;
    for (uint32_t i = 0; i < mask; i++)
        places[i + 1] += places[i];
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = places[from[i] >> shift & mask]++;
        to[at] = from[i];
        if (from_value != NULL)
            to_value[at] = from_value[i];
    }
}

static void sort_long(const csr_matrix *m, uint64_t begin, uint64_t n)
{
    uint32_t *from = m->column + begin, *to = m->spare + begin;
    double *from_value = m->value != NULL ? m->value + begin : NULL,
           *to_value = m->value != NULL ? m->spare_value + begin : NULL;
    unsigned passes = 0;
    for (unsigned shift = 0; shift < 32 && (m->columns - 1) >> shift != 0; shift += DIGIT_BITS, passes++) {
        sort_pass(from, from_value, to, to_value, n, shift);
        uint32_t *columns = from;
        double *values = from_value;
        from = to;
        from_value = to_value;
        to = columns;
        to_value = values;
    }
    if (passes % 2 == 0)
        return;
    memcpy(to, from, n * sizeof *to);
    if (to_value != NULL)
        memcpy(to_value, from_value, n * sizeof *to_value);
}

/* Merges entries of the same place: adds them, or keeps the first. Returns how many are left. */
static uint64_t unite(uint32_t *column, double *value, uint64_t n, bool add)
{
    uint64_t left = 0;
    for (uint64_t i = 0; i < n; i++) {
        bool same = left > 0 && column[left - 1] == column[i];
        if (same && add)
            value[left - 1] += value[i];
        if (same)
            continue;
        column[left] = column[i];
        if (value != NULL)
            value[left] = value[i];
        left++;
    }
    return left;
}

/* Whether the row is in order already, which is common. */
static bool ascends(const uint32_t *column, uint64_t n)
{
    bool ascends = true;
    for (uint64_t i = 1; i < n; i++)
        ascends &= column[i - 1] < column[i];
    return ascends;
}

static hac_status order_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    csr_matrix *m = context;
    (void)worker;
    (void)err;
    for (uint64_t row = first; row < first + count; row++) {
        uint64_t begin = m->begins[row], n = m->begins[row + 1] - begin;
        double *value = m->value != NULL ? m->value + begin : NULL;
        m->results[row] = n;
        if (ascends(m->column + begin, n))
            continue;
        if (n <= SHORT_ROW)
            sort_short(m->column + begin, value, n);
        else
            sort_long(m, begin, n);
        m->results[row] = unite(m->column + begin, value, n, m->add);
    }
    return HAC_OK;
}

/* ---- writing ---- */

/* Turns lengths into offsets. Returns the number of entries. */
static uint64_t place_rows(csr_matrix *m)
{
    uint64_t at = 0;
    for (uint64_t row = 0; row < m->rows; row++) {
        uint64_t n = m->results[row];
        m->results[row] = at;
        at += n;
    }
    m->results[m->rows] = at;
    return at;
}

static void write_row(const hac_op_vector *out, const csr_matrix *m, uint64_t row)
{
    uint64_t begin = m->begins[row], at = m->results[row], n = m->results[row + 1] - at;
    out->offsets[row] = at;
    memcpy((uint32_t *)out->indices + at, m->column + begin, n * sizeof *m->column);
    if (out->ones)
        return;
    double *values = (double *)(void *)out->values + at;
    for (uint64_t i = 0; i < n; i++) {
        double value = m->value != NULL ? m->value[begin + i] : 1.0;
        values[i] = value != value ? __builtin_nan("") : value;
    }
}

typedef struct writing {
    const hac_op_vector *out;
    const csr_matrix *m;
} writing;

static hac_status write_rows(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const writing *w = context;
    (void)worker;
    (void)err;
    for (uint64_t row = first; row < first + count; row++)
        write_row(w->out, w->m, row);
    return HAC_OK;
}

/* One part for each thread, as long as counting takes no more memory than the entries or the rows. */
static uint64_t parts_of(uint64_t entries, uint64_t rows)
{
    uint64_t max = hac_pool_threads(), parts = entries / (rows == 0 ? 1 : rows);
    return parts == 0 ? 1 : parts < max ? parts : max;
}

static hac_status allocate(csr_matrix *m, bool values, hac_error *err)
{
    uint64_t max = m->n * (m->both ? 2 : 1);
    m->parts = parts_of(max, m->rows);
    m->part = m->n / m->parts + 1;
    m->places = hac_op_alloc(m->n, sizeof *m->places);
    m->next = calloc(m->rows == 0 ? 1 : m->rows, m->parts * sizeof *m->next);
    m->begins = hac_op_alloc(m->rows + 1, sizeof *m->begins);
    m->results = hac_op_alloc(m->rows + 1, sizeof *m->results);
    m->column = hac_op_alloc(max, sizeof *m->column);
    m->spare = hac_op_alloc(max, sizeof *m->spare);
    bool allocated = m->places != NULL && m->next != NULL && m->begins != NULL && m->results != NULL &&
                     m->column != NULL && m->spare != NULL;
    if (values) {
        m->given = hac_op_alloc(m->n, sizeof *m->given);
        m->value = hac_op_alloc(max, sizeof *m->value);
        m->spare_value = hac_op_alloc(max, sizeof *m->spare_value);
        allocated = allocated && m->given != NULL && m->value != NULL && m->spare_value != NULL;
    }
    return allocated ? HAC_OK : hac_fail_no_memory(err);
}

hac_status hac_op_do_csr(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    const hac_op_vector *out = &r->v[0];
    bool both = (r->call.flags & HAC_OP_SYMMETRIC) != 0;
    hac_cleanup(matrix_clear) csr_matrix m = {
        .rows = out->rows, .columns = out->columns, .n = r->v[1].rows, .both = both, .add = !both};
    /* without values, equal places add up to values other than 1 */
    HAC_OP_TRY(allocate(&m, r->n > 3 || m.add, err));
    HAC_OP_TRY(hac_op_for_rows(0, m.n, m.part, read_places, &(csr_reading){r, &m}, err));
    place_parts(&m);
    HAC_OP_TRY(hac_op_for_rows(0, m.n, m.part, deal, &m, err));
    HAC_OP_TRY(hac_op_for_rows(0, m.rows, STEP, order_rows, &m, err));
    uint64_t entries = place_rows(&m);
    values[0] = m.rows;
    values[1] = entries;
    *n_values = 2;
    if (entries > out->entries)
        return HAC_OK;
    out->offsets[m.rows] = entries;
    return hac_op_for_rows(0, m.rows, STEP, write_rows, &(writing){out, &m}, err);
}
