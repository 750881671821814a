/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Approximate quantiles: the distinct values of a group with their counts, exact up to HAC_QUANTILE_EXACT of
 * them. With one more, all values of the group are rounded to HAC_QUANTILE_BITS. What a group keeps therefore
 * follows from its values alone: no order of rows and no split can change it.
 *
 * A value of the set has two words: the bits of the f64, and ROUNDED if it was rounded.
 */
#include <math.h>
#include <stdlib.h>

#include "accumulator.h"
#include "base/cleanup.h"

#define ROUNDED 1

/* The accumulator. `min` and `max` are hac_order_f64 of the smallest and the largest value. */
typedef struct quantile_state {
    hac_value_list list;
    int64_t min, max;
} quantile_state;

static void empty_quantile(const hac_accumulator *a, uint8_t *ret)
{
    const quantile_state none = {.min = INT64_MAX, .max = INT64_MIN};
    (void)a;
    memcpy(ret, &none, sizeof none);
}

/* ---- adding ---- */

/* Rounds to HAC_QUANTILE_BITS, to nearest, ties to even. A number that rounds above the largest one becomes
 * infinity. */
static uint64_t rounded(uint64_t bits)
{
    uint64_t unit = UINT64_C(1) << (53 - HAC_QUANTILE_BITS);
    if ((bits & INT64_MAX) >= UINT64_C(0x7ff0000000000000))
        return bits;
    uint64_t half = unit / 2 - 1 + (bits / unit & 1);
    return (bits + half) & ~(unit - 1);
}

static bool is_rounded(const hac_value_set *set, const hac_value_list *list)
{
    return list->first != 0 && set->entries[list->first - 1].words[1] == ROUNDED;
}

static hac_status add_rounded(hac_value_set *set, hac_value_list *list, uint64_t group, uint64_t bits,
                              uint64_t count, hac_error *err)
{
    return hac_value_set_add(set, list, group, (const uint64_t[2]){rounded(bits), ROUNDED}, count, err);
}

/* Rounds all values of a group. The exact ones stay in the set, and nothing leads to them. */
static hac_status round_all(hac_value_set *set, hac_value_list *list, uint64_t group, hac_error *err)
{
    hac_value_list fresh = {0};
    hac_status status = HAC_OK;
    for (uint32_t e = list->first; status == HAC_OK && e != 0; e = set->entries[e - 1].next) {
        const hac_value_entry from = set->entries[e - 1];
        status = add_rounded(set, &fresh, group, from.words[0], from.count, err);
    }
    *list = fresh;
    return status;
}

static hac_status add_entry(hac_group_table *t, const hac_accumulator *a, hac_value_list *list,
                            uint64_t group, const uint64_t words[2], uint64_t count, hac_error *err)
{
    hac_value_set *set = &t->sets[a->set];
    hac_status status = HAC_OK;
    if (words[1] != 0 && list->first != 0 && !is_rounded(set, list))
        status = round_all(set, list, group, err);
    if (status != HAC_OK)
        return status;
    if (words[1] != 0 || is_rounded(set, list))
        return add_rounded(set, list, group, words[0], count, err);
    status = hac_value_set_add(set, list, group, (const uint64_t[2]){words[0], 0}, count, err);
    return status == HAC_OK && list->n > HAC_QUANTILE_EXACT ? round_all(set, list, group, err) : status;
}

static void widen(quantile_state *to, int64_t min, int64_t max)
{
    to->min = min < to->min ? min : to->min;
    to->max = max > to->max ? max : to->max;
}

static hac_status add_quantile(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                               const hac_column *v, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        if (v->states != NULL && v->states[i] != 0)
            continue;
        quantile_state *to = PLACE(quantile_state, b, a->offset, i);
        double value = hac_number(v, a->type, a->repr, i);
        uint64_t words[2] = {hac_hash_f64(value), 0};
        widen(to, hac_order_f64(value), hac_order_f64(value));
        status = add_entry(t, a, &to->list, b->at[i] / b->stride, words, 1, err);
    }
    return status;
}

/* The lists are merged entry by entry (partial_merge.c). */
static hac_status merge_quantile(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                                 const uint8_t *from, hac_error *err)
{
    (void)t;
    (void)err;
    for (size_t i = 0; i < b->rows; i++) {
        const quantile_state *more = FROM(quantile_state, b, a->offset, from, i);
        widen(PLACE(quantile_state, b, a->offset, i), more->min, more->max);
    }
    return HAC_OK;
}

/* ---- results ---- */

typedef struct counted {
    int64_t value; /* hac_order_f64 */
    uint64_t count;
} counted;

static int by_value(const void *p, const void *q)
{
    const counted *x = p, *y = q;
    return (x->value > y->value) - (x->value < y->value);
}

/* The value of rank `rank` of n: the extremes are known exactly, and no other value lies beyond them. */
static double value_of(const quantile_state *state, const counted *all, uint64_t n, uint64_t rank)
{
    uint64_t seen = 0, i = 0;
    if (rank == 0 || rank + 1 >= n)
        return hac_unorder_f64(rank == 0 ? state->min : state->max);
    while (i + 1 < state->list.n && rank - seen >= all[i].count)
        seen += all[i++].count;
    int64_t value = all[i].value < state->min ? state->min : all[i].value;
    return hac_unorder_f64(value > state->max ? state->max : value);
}

static double interpolated(const quantile_state *state, const counted *all, uint64_t n, double share)
{
    double position = share * (double)(n - 1), low = floor(position);
    uint64_t k = low < (double)(n - 1) ? (uint64_t)low : n - 1;
    double part = k < n - 1 ? position - low : 0;
    double a = value_of(state, all, n, k), b = part > 0 ? value_of(state, all, n, k + 1) : a;
    if (isinf(a) && isinf(b) && a < b) /* there is no number between; the result is one of both */
        return part < 0.5 ? a : b;
    return hac_between_floats(a, b, part);
}

static hac_status quantile_result(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                                  hac_error *err)
{
    const hac_value_set *set = &cell->t->sets[a->set];
    quantile_state state;
    memcpy(&state, from, sizeof state);
    hac_autofree counted *all = calloc(state.list.n + 1, sizeof *all);
    if (all == NULL)
        return hac_fail_no_memory(err);
    uint64_t found = 0, n = 0;
    for (uint32_t e = state.list.first; e != 0; e = set->entries[e - 1].next) {
        double value;
        memcpy(&value, set->entries[e - 1].words, sizeof value);
        n += set->entries[e - 1].count;
        all[found++] = (counted){hac_order_f64(value), set->entries[e - 1].count};
    }
    if (n == 0) { /* the count of a partial does not fit its values */
        hac_group_put_null(cell->v, cell->row);
        return HAC_OK;
    }
    qsort(all, found, sizeof *all, by_value);
    double share = cell->t->layout.query->aggregate[cell->aggregate].low.real;
    hac_group_put_f64(cell->v, cell->row, interpolated(&state, all, n, share));
    return HAC_OK;
}

_Static_assert(sizeof(quantile_state) == 32, "as hac_accumulator_info has it");

const hac_accumulator_ops hac_accumulator_quantile = {.empty = empty_quantile,
                                                      .add = add_quantile,
                                                      .add_entry = add_entry,
                                                      .merge = merge_quantile,
                                                      .result = quantile_result};
