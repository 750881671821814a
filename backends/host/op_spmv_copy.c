/* SPDX-License-Identifier: Apache-2.0 */
#include "op_spmv_copy.h"

#include <stdlib.h>
#include <string.h>

#include "host/op_parts.h"

#define PART_ENTRIES 8192 /* entries that a thread takes at a time, in whole rows */
#define PART_ROWS    4096 /* maximum rows of these */
#define LENGTHS      256  /* rows with at least this many entries are in no order */

/* Consecutive rows of one length. */
typedef struct copy_group {
    uint32_t length, rows;
} copy_group;

/* Rows that are consecutive in the matrix. */
typedef struct copy_part {
    uint32_t first, rows; /* in `rows`; their groups begin there, too, in `groups` */
    uint32_t entry;       /* in `columns` and `values` */
    uint32_t n_groups;
} copy_part;

struct hac_op_spmv_copy {
    uint32_t n_parts;
    copy_part *parts;
    copy_group *groups;
    uint32_t *rows;    /* rows of the range: part by part, ordered by length */
    uint32_t *columns; /* of the entries of these rows; all are below the matrix's columns */
    double *values;    /* of the entries; NULL: all are 1.0 */
};

void hac_op_spmv_copy_free(hac_op_spmv_copy *copy)
{
    if (copy == NULL)
        return;
    free(copy->parts);
    free(copy->groups);
    free(copy->rows);
    free(copy->columns);
    free(copy->values);
    free(copy);
}

/* ---- making it ---- */

/* Bytes for a row besides its entries: at most a part, its group, where it begins, and its number. */
#define ROW_BYTES (sizeof(copy_part) + sizeof(copy_group) + 2 * sizeof(uint32_t))

typedef struct copy_maker {
    const hac_op_request *request;
    hac_op_spmv_copy *copy;
    uint64_t first, end; /* entries of the matrix in the range */
    /* where each row's entries begin, relative to `first`, and the end of the last row */
    uint32_t *begins;
} copy_maker;

/* Where rows begin, and how they form parts. Offsets are read once. */
static bool cut_parts(copy_maker *m)
{
    const hac_op_vector *a = &m->request->v[1];
    hac_op_spmv_copy *c = m->copy;
    uint64_t before = m->first;
    copy_part *p = &c->parts[0];
    for (uint32_t row = 0; row < m->request->count; row++) {
        uint64_t next = hac_op_once_u64(a->offsets + m->request->first + row + 1);
        if (next < before || next > m->end)
            return false;
        if (p->rows == PART_ROWS || (p->rows > 0 && next - m->first - p->entry > PART_ENTRIES))
            *++p = (copy_part){.first = row, .entry = m->begins[row]};
        p->rows++;
        before = next;
        m->begins[row + 1] = (uint32_t)(next - m->first);
    }
    c->n_parts = (uint32_t)(p - c->parts) + (p->rows > 0);
    return true;
}

static uint32_t length_of(const copy_maker *m, uint32_t row)
{
    return m->begins[row + 1] - m->begins[row];
}

/* Checks the columns after copying them, when nobody else can change them. false: a column does not exist. */
static bool copy_row(const copy_maker *m, uint32_t row, uint32_t to)
{
    const hac_op_vector *a = &m->request->v[1];
    const uint64_t from = m->first + m->begins[row], n = length_of(m, row);
    uint32_t *columns = m->copy->columns + to, max = 0;
    memcpy(columns, (const uint32_t *)a->indices + from, n * sizeof *columns);
    if (m->copy->values != NULL)
        memcpy(m->copy->values + to, (const double *)(const void *)a->values + from, n * sizeof(double));
    for (uint64_t e = 0; e < n; e++)
        max = columns[e] > max ? columns[e] : max;
    return n == 0 || max < a->columns;
}

/* Rows of a part by length: the position of the next row, and of its entries. */
typedef struct places {
    uint32_t rows[LENGTHS + 1], entries[LENGTHS + 1];
} places;

static uint32_t bucket_of(const copy_maker *m, uint32_t row)
{
    uint32_t length = length_of(m, row);
    return length < LENGTHS ? length : LENGTHS;
}

/* Each long row is a group. */
static void find_groups(const copy_maker *m, copy_part *p, places *ret)
{
    uint32_t counts[LENGTHS + 1] = {0}, row_at = p->first, entry_at = p->entry;
    copy_group *g = &m->copy->groups[p->first];
    for (uint32_t row = p->first; row < p->first + p->rows; row++)
        counts[bucket_of(m, row)]++;
    for (uint32_t length = 0; length <= LENGTHS; length++) {
        ret->rows[length] = row_at;
        ret->entries[length] = entry_at;
        row_at += counts[length];
        entry_at += counts[length] * length;
        if (counts[length] > 0 && length < LENGTHS)
            g[p->n_groups++] = (copy_group){.length = length, .rows = counts[length]};
    }
    for (uint32_t row = p->first; row < p->first + p->rows && counts[LENGTHS] > 0; row++)
        if (bucket_of(m, row) == LENGTHS)
            g[p->n_groups++] = (copy_group){.length = length_of(m, row), .rows = 1};
}

/* Reads the matrix in its own order, which suits caches. */
static hac_status fill_parts(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    const copy_maker *m = context;
    hac_op_spmv_copy *c = m->copy;
    places at;
    (void)worker;
    for (uint64_t i = first; i < first + count; i++) {
        copy_part *p = &c->parts[i];
        find_groups(m, p, &at);
        for (uint32_t row = p->first; row < p->first + p->rows; row++) {
            uint32_t bucket = bucket_of(m, row);
            if (!copy_row(m, row, at.entries[bucket]))
                return hac_fail(err, HAC_INVALID, "a column does not exist");
            c->rows[at.rows[bucket]++] = row;
            at.entries[bucket] += length_of(m, row);
        }
    }
    return HAC_OK;
}

/* Whether its memory was allocated. */
static bool allocate(copy_maker *m, uint64_t entries, bool values)
{
    hac_op_spmv_copy *c = m->copy;
    uint64_t rows = m->request->count;
    uint64_t parts = 1 + rows / PART_ROWS + 2 * (entries / PART_ENTRIES + 1);
    parts = parts < rows + 1 ? parts : rows + 1;
    c->parts = calloc(parts, sizeof *c->parts);
    c->groups = hac_op_alloc(rows, sizeof *c->groups);
    m->begins = calloc(rows + 1, sizeof *m->begins);
    c->rows = hac_op_alloc(rows, sizeof *c->rows);
    c->columns = hac_op_alloc(entries, sizeof *c->columns);
    c->values = values ? hac_op_alloc(entries, sizeof *c->values) : NULL;
    return c->parts != NULL && c->groups != NULL && m->begins != NULL && c->rows != NULL &&
           c->columns != NULL && (c->values != NULL || !values);
}

static bool make(copy_maker *m, hac_error *err)
{
    const hac_op_request *r = m->request;
    const hac_op_vector *a = &r->v[1];
    m->first = hac_op_once_u64(a->offsets + r->first);
    m->end = hac_op_once_u64(a->offsets + r->first + r->count);
    if (m->first > m->end || m->end > a->entries)
        return false;
    uint64_t entries = m->end - m->first, each = sizeof(uint32_t) + (a->ones ? 0 : sizeof(double)),
             max = r->fixed < HAC_OP_SPMV_COPY_BYTES ? r->fixed : HAC_OP_SPMV_COPY_BYTES;
    if (r->count > max / ROW_BYTES || entries > (max - r->count * ROW_BYTES) / each)
        return false;
    return allocate(m, entries, !a->ones) && cut_parts(m) &&
           hac_op_for_rows(0, m->copy->n_parts, 1, fill_parts, m, err) == HAC_OK;
}

hac_op_spmv_copy *hac_op_spmv_copy_new(const hac_op_request *r)
{
    if (r->v[0].kind != HAC_KIND_F64)
        return NULL;
    hac_error ignored;
    copy_maker m = {.request = r, .copy = calloc(1, sizeof *m.copy)};
    bool made = m.copy != NULL && make(&m, &ignored);
    free(m.begins);
    if (made)
        return m.copy;
    hac_op_spmv_copy_free(m.copy);
    return NULL;
}

/* ---- products ---- */

/* For the rows of a group: four lanes, and `REST` entries after them. */
#define ROWS(TERM, REST)                                                                                     \
    for (uint32_t i = 0; i < g->rows; i++) {                                                                 \
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;                                                               \
        for (uint32_t k = 0; k < g->length / 4; k++, e += 4) {                                               \
            s0 += TERM(e);                                                                                   \
            s1 += TERM(e + 1);                                                                               \
            s2 += TERM(e + 2);                                                                               \
            s3 += TERM(e + 3);                                                                               \
        }                                                                                                    \
        if (REST > 0)                                                                                        \
            s0 += TERM(e);                                                                                   \
        if (REST > 1)                                                                                        \
            s1 += TERM(e + 1);                                                                               \
        if (REST > 2)                                                                                        \
            s2 += TERM(e + 2);                                                                               \
        e += REST;                                                                                           \
        double sum = (s0 + s2) + (s1 + s3);                                                                  \
        y[*row++] = sum != sum ? __builtin_nan("") : sum;                                                    \
    }

#define PRODUCT(name, TERM)                                                                                  \
    static void name(const hac_op_spmv_copy *c, const copy_part *p, const double *restrict x,                \
                     double *restrict y)                                                                     \
    {                                                                                                        \
        const uint32_t *row = c->rows + p->first;                                                            \
        const uint32_t *restrict columns = c->columns + p->entry;                                            \
        const double *restrict values = c->values != NULL ? c->values + p->entry : NULL;                     \
        uint64_t e = 0;                                                                                      \
        (void)values;                                                                                        \
        for (const copy_group *g = c->groups + p->first; g < c->groups + p->first + p->n_groups; g++) {      \
            switch (g->length % 4) {                                                                         \
            case 0:                                                                                          \
                ROWS(TERM, 0)                                                                                \
                break;                                                                                       \
            case 1:                                                                                          \
                ROWS(TERM, 1)                                                                                \
                break;                                                                                       \
            case 2:                                                                                          \
                ROWS(TERM, 2)                                                                                \
                break;                                                                                       \
            default:                                                                                         \
                ROWS(TERM, 3)                                                                                \
                break;                                                                                       \
            }                                                                                                \
        }                                                                                                    \
    }

#define TERM_PRODUCT(e) (values[e] * x[columns[e]])
#define TERM_ONE(e)     (x[columns[e]])

PRODUCT(product_f64, TERM_PRODUCT)
PRODUCT(product_ones, TERM_ONE)

typedef struct copy_work {
    const hac_op_spmv_copy *copy;
    const double *x;
    double *y;
} copy_work;

static hac_status multiply_parts(void *context, uint64_t first, uint64_t count, unsigned worker,
                                 hac_error *err)
{
    const copy_work *w = context;
    (void)worker;
    (void)err;
    for (uint64_t i = first; i < first + count; i++) {
        if (w->copy->values != NULL)
            product_f64(w->copy, &w->copy->parts[i], w->x, w->y);
        else
            product_ones(w->copy, &w->copy->parts[i], w->x, w->y);
    }
    return HAC_OK;
}

hac_status hac_op_spmv_copy_run(const hac_op_spmv_copy *copy, hac_op_request *r, hac_error *err)
{
    copy_work w = {.copy = copy,
                   .x = (const double *)(const void *)r->v[2].values,
                   .y = (double *)(void *)r->v[0].values + r->first};
    return hac_op_for_rows(0, copy->n_parts, 1, multiply_parts, &w, err);
}
