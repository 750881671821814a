/* SPDX-License-Identifier: Apache-2.0 */
/* Adds rows to accumulators once each row's record is known: one loop for each accumulator. */
#include "accumulator.h"

static void count_rows(const hac_accumulate_batch *b, uint32_t offset)
{
    if (b->one) {
        *PLACE(uint64_t, b, offset, 0) += b->rows;
        return;
    }
    if (b->few->groups > 0) {
        uint64_t counts[HAC_FEW_GROUPS];
        hac_few_count(b->few, counts);
        for (size_t g = 0; g < b->few->groups; g++)
            *RECORD(uint64_t, b, offset, g) += counts[g];
        return;
    }
    for (size_t i = 0; i < b->rows; i++)
        ++*PLACE(uint64_t, b, offset, i);
}

static void count_nulls(const hac_accumulate_batch *b, uint32_t offset, const uint8_t *states)
{
    for (size_t i = 0; i < b->rows; i++)
        if (states[i] != 0)
            ++*PLACE(uint64_t, b, offset, i);
}

static hac_status add(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                      hac_error *err)
{
    return hac_accumulator_ops_of(a)->add(t, b, a, &b->columns[a->column], err);
}

static void add_nulls(const hac_group_layout *l, const hac_accumulate_batch *b)
{
    for (size_t i = 0; i < l->n_arguments; i++)
        if (b->columns[l->arguments[i]].states != NULL)
            count_nulls(b, l->rows_offset + 8 + 8 * (uint32_t)i, b->columns[l->arguments[i]].states);
}

/* ---- lanes ---- */

static bool has_nulls(const hac_group_layout *l, const hac_column *columns)
{
    bool nulls = false;
    for (size_t i = 0; i < l->n_arguments; i++)
        nulls |= columns[l->arguments[i]].states != NULL;
    return nulls;
}

static hac_status add_to_lanes(hac_group_table *t, hac_accumulate_batch *b, const hac_accumulator *a,
                               bool *placed, hac_error *err)
{
    const hac_accumulator_ops *ops = hac_accumulator_ops_of(a);
    uint16_t first = t->lanes.first[a - t->layout.accumulators];
    bool done = false;
    b->lanes = t->lanes.of + first;
    hac_status status = first == 0 ? HAC_OK : ops->add_lanes(t, b, a, &b->columns[a->column], &done, err);
    if (status != HAC_OK || done)
        return status;
    if (!*placed)
        hac_group_find_places(t, b->rows);
    *placed = true;
    return add(t, b, a, err);
}

/* Rows whose group numbers are known; the offsets of their records are found only if they are needed. */
static hac_status accumulate_lanes(hac_group_table *t, hac_accumulate_batch *b, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    bool placed = has_nulls(l, b->columns);
    hac_status status = HAC_OK;
    if (placed) {
        hac_group_find_places(t, b->rows);
        add_nulls(l, b);
    }
    (void)hac_lanes_take(t, 1, b->rows);
    for (size_t i = 0; i < b->rows; i++)
        t->lanes.of[(size_t)t->number[i] * t->lanes.n]++;
    for (const hac_accumulator *a = l->accumulators;
         status == HAC_OK && a < l->accumulators + l->n_accumulators; a++)
        status = add_to_lanes(t, b, a, &placed, err);
    return status;
}

hac_status hac_group_accumulate(hac_group_table *t, const hac_column *columns, size_t rows, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    hac_few few = {.groups = 0};
    hac_accumulate_batch b = {.records = t->records,
                              .at = t->at,
                              .rows = rows,
                              .one = t->one_group,
                              .few = &few,
                              .columns = columns,
                              .stride = l->stride};
    if (t->numbered && !t->one_group && hac_lanes_ready(t))
        return accumulate_lanes(t, &b, err);
    if (t->numbered)
        hac_group_find_places(t, rows);
    hac_few_init(t, t->one_group ? 0 : rows, &few);
    count_rows(&b, l->rows_offset);
    add_nulls(l, &b);
    hac_status status = HAC_OK;
    for (const hac_accumulator *a = l->accumulators;
         status == HAC_OK && a < l->accumulators + l->n_accumulators; a++)
        status = add(t, &b, a, err);
    return status;
}

/* ---- merging records ---- */

hac_status hac_group_merge_records(hac_group_table *t, const uint64_t *at, const uint8_t *from, size_t n,
                                   hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    const hac_accumulate_batch b = {.records = t->records, .at = at, .rows = n, .stride = l->stride};
    hac_status status = HAC_OK;
    for (size_t i = 0; i < n; i++) {
        uint64_t *counts = PLACE(uint64_t, &b, l->rows_offset, i);
        const uint64_t *more = FROM(uint64_t, &b, l->rows_offset, from, i);
        for (size_t k = 0; k <= l->n_arguments; k++)
            counts[k] += more[k];
    }
    for (const hac_accumulator *a = l->accumulators;
         status == HAC_OK && a < l->accumulators + l->n_accumulators; a++)
        if (hac_accumulator_ops_of(a)->merge != NULL)
            status = hac_accumulator_ops_of(a)->merge(t, &b, a, from, err);
    return status;
}
