/* SPDX-License-Identifier: Apache-2.0 */
/* Sums: exact, in windows of 128 bits (exact_sums.h). Only results are checked for their range. */
#include "exact_rows.h"
#include "groups/exact_limbs.h"

/* ---- adding ---- */

static void sum_few(const hac_accumulate_batch *b, uint32_t offset, const int64_t *values, size_t step)
{
    hac_i128 sums[HAC_FEW_GROUPS];
    hac_few_sum(b->few, values, step, sums);
    for (size_t g = 0; g < b->few->groups; g++)
        hac_sum_add(RECORD(hac_i128, b, offset, g), sums[g]);
}

static void sum_i64(const hac_accumulate_batch *b, uint32_t offset, const int64_t *v, const uint8_t *states)
{
    if (b->one) {
        hac_i128 sum = *PLACE(hac_i128, b, offset, 0);
        if (states == NULL)
            hac_sum_add(&sum, hac_few_sum_all(v, b->rows));
        else
            EACH_VALUE(states, b->rows, hac_sum_add(&sum, v[i]))
        *PLACE(hac_i128, b, offset, 0) = sum;
        return;
    }
    if (states == NULL && b->few->groups > 0) {
        sum_few(b, offset, v, 1);
        return;
    }
    EACH_VALUE(states, b->rows, hac_sum_add(PLACE(hac_i128, b, offset, i), v[i]))
}

static void sum_u64(const hac_accumulate_batch *b, uint32_t offset, const uint64_t *v, const uint8_t *states)
{
    EACH_VALUE(states, b->rows, hac_sum_add(PLACE(hac_i128, b, offset, i), (hac_i128)v[i]))
}

/* Values that would soon fill a window go beside: those of 2^96 and more. */
static hac_status sum_i128(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                           const hac_column *const *columns, hac_error *err)
{
    const uint8_t *values = columns[0]->values, *states = columns[0]->states;
    const int64_t *pairs = (const int64_t *)(const void *)values;
    hac_status status = HAC_OK;
    if (states == NULL && b->few->groups > 0 && hac_few_narrow(b->few, pairs)) {
        sum_few(b, a->offset, pairs, 2);
        return HAC_OK;
    }
    EACH_VALUE(states, b->rows, hac_i128 v; memcpy(&v, values + 16 * i, 16);
               if (__builtin_expect(v >> 96 == 0 || v >> 96 == -1, 1))
                   hac_sum_add(PLACE(hac_i128, b, a->offset, i), v);
               else if (status == HAC_OK) status = hac_exact_add_beside(t, b, a, columns, i, err))
    return status;
}

static hac_status sum_f64_one(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                              const hac_column *const *columns, hac_error *err)
{
    const uint64_t *v = columns[0]->values;
    const uint8_t *states = columns[0]->states;
    int32_t unit = t->exact.units[a - t->layout.accumulators].of[0];
    hac_i128 sums[2] = {0, 0};
    hac_status status = HAC_OK;
    EACH_VALUE(states, b->rows, hac_i128 x;
               if (__builtin_expect(hac_exact_fit(v[i], unit, &x), 1)) sums[i % 2] += x;
               else if (status == HAC_OK) status = hac_exact_add_beside(t, b, a, columns, i, err))
    hac_sum_add(PLACE(hac_i128, b, a->offset, 0), sums[0] + sums[1]);
    return status;
}

/* Rows go to two sets of sums in turn (accumulate_few.h). */
static hac_status sum_f64_few(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                              const hac_column *const *columns, hac_error *err)
{
    const uint64_t *v = columns[0]->values;
    const uint8_t *states = columns[0]->states, *of = b->few->of;
    int32_t unit = t->exact.units[a - t->layout.accumulators].of[0];
    hac_i128 sums[2][HAC_FEW_GROUPS] = {{0}};
    hac_status status = HAC_OK;
    EACH_VALUE(states, b->rows, hac_i128 x;
               if (__builtin_expect(hac_exact_fit(v[i], unit, &x), 1)) sums[i % 2][of[i]] += x;
               else if (status == HAC_OK) status = hac_exact_add_beside(t, b, a, columns, i, err))
    for (size_t g = 0; g < b->few->groups; g++)
        hac_sum_add(RECORD(hac_i128, b, a->offset, g), sums[0][g] + sums[1][g]);
    return status;
}

static hac_status sum_f64(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                          const hac_column *const *columns, hac_error *err)
{
    const uint64_t *v = columns[0]->values;
    const uint8_t *states = columns[0]->states;
    int32_t unit = t->exact.units[a - t->layout.accumulators].of[0];
    hac_status status = HAC_OK;
    if (b->one)
        return sum_f64_one(t, b, a, columns, err);
    if (b->few->groups > 0)
        return sum_f64_few(t, b, a, columns, err);
    EACH_VALUE(states, b->rows, hac_i128 x; if (__builtin_expect(hac_exact_fit(v[i], unit, &x), 1))
                   hac_sum_add(PLACE(hac_i128, b, a->offset, i), x);
               else if (status == HAC_OK) status = hac_exact_add_beside(t, b, a, columns, i, err))
    return status;
}

static hac_status add_sum(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                          const hac_column *v, hac_error *err)
{
    const hac_column *columns[2] = {v, NULL};
    hac_status status = hac_exact_begin(t, b, a, columns, err);
    if (status != HAC_OK)
        return status;
    switch (a->repr) {
    case HAC_REPR_I64:
        sum_i64(b, a->offset, v->values, v->states);
        return HAC_OK;
    case HAC_REPR_U64:
        sum_u64(b, a->offset, v->values, v->states);
        return HAC_OK;
    case HAC_REPR_I128:
        return sum_i128(t, b, a, columns, err);
    default:
        status = sum_f64(t, b, a, columns, err);
        return status == HAC_OK ? hac_exact_end(t, b, a, columns, err) : status;
    }
}

/* ---- lanes ---- */

static size_t sum_lanes(const hac_accumulator *a, hac_lane *ret)
{
    ret[0] = (hac_lane){.words = HAC_EXACT_SUM_WORDS};
    ret[1] = (hac_lane){.words = HAC_EXACT_SUM_WORDS, .shift = HAC_LIMB_BITS};
    return a->repr == HAC_REPR_I128 ? 0 : a->repr == HAC_REPR_F64 ? 2 : 1;
}

static bool add_limbs(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                      const int64_t *values)
{
    if (!hac_exact_to_limbs(t, a, (const uint8_t *)values, b->rows) ||
        !hac_lanes_take(t, UINT64_C(2) << HAC_LIMB_BITS, b->rows))
        return false;
    for (size_t i = 0; i < b->rows; i++)
        hac_limbs_add((uint8_t *)LANES(t, b, i), &t->exact.limbs[i]);
    return true;
}

static hac_status add_sum_lanes(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                                const hac_column *v, bool *ret_done, hac_error *err)
{
    const hac_column *columns[2] = {v, NULL};
    int64_t scratch[HAC_BATCH_ROWS];
    const int64_t *values = hac_lanes_values(v->values, v->states, NULL, b->rows, scratch);
    hac_status status = hac_exact_begin(t, b, a, columns, err);
    if (status != HAC_OK)
        return status;
    if (a->repr == HAC_REPR_F64) {
        *ret_done = add_limbs(t, b, a, values);
        return HAC_OK;
    }
    *ret_done = hac_lanes_take(t, hac_lanes_max(values, b->rows, a->repr == HAC_REPR_I64), b->rows);
    for (size_t i = 0; *ret_done && i < b->rows; i++)
        *LANES(t, b, i) += values[i];
    return HAC_OK;
}

/* ---- results ---- */

static hac_i128 power_128(unsigned digits)
{
    hac_i128 power = 1;
    for (; digits > 0; digits--)
        power *= 10;
    return power;
}

static hac_status does_not_fit(const hac_result_cell *cell, hac_error *err)
{
    char name[HAC_AGGREGATE_NAME_MAX];
    return hac_fail(err, HAC_FAILED, "--select: %s: the sum does not fit %s",
                    hac_aggregate_name(cell->t->layout.query, cell->aggregate, name),
                    cell->v->type.kind == HAC_KIND_DECIMAL
                        ? "its digits"
                        : "64 bits; cast the argument to decimal(38,0) or f64");
}

hac_status hac_group_put_sum(const hac_result_cell *cell, hac_i128 sum, hac_error *err)
{
    hac_column *v = cell->v;
    hac_repr repr = hac_repr_of(v->type);
    bool fits = true;
    if (v->type.kind == HAC_KIND_DECIMAL)
        fits = sum < power_128(v->type.precision) && sum > -power_128(v->type.precision);
    else if (repr == HAC_REPR_U64)
        fits = sum >= 0 && sum <= (hac_i128)UINT64_MAX;
    else if (repr == HAC_REPR_I64)
        fits = sum >= INT64_MIN && sum <= INT64_MAX;
    if (!fits)
        return does_not_fit(cell, err);
    memcpy((uint8_t *)v->values + cell->row * hac_repr_size(repr), &sum, hac_repr_size(repr));
    return HAC_OK;
}

/* A sum of integers that are partly beside. */
static hac_status put_wide_sum(const hac_result_cell *cell, const hac_exact_number *sum, hac_error *err)
{
    unsigned __int128 value = 0;
    int32_t at = sum->exponent;
    if (sum->n > 0 && at + 64 * (int32_t)sum->n - __builtin_clzll(sum->words[sum->n - 1]) > 127)
        return does_not_fit(cell, err);
    for (uint32_t i = 0; i < sum->n; i++, at += 64)
        value += at >= 0 ? (unsigned __int128)sum->words[i] << at : sum->words[i] >> -at;
    return hac_group_put_sum(cell, sum->negative ? -(hac_i128)value : (hac_i128)value, err);
}

static hac_status sum_result(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                             hac_error *err)
{
    hac_exact_number sum, divisor;
    bool average = cell->t->layout.query->aggregate[cell->aggregate].function == HAC_AGGREGATE_AVG;
    hac_i128 window;
    if (!average && cell->t->exact.n == 0 && a->repr != HAC_REPR_F64) {
        memcpy(&window, from, sizeof window);
        return hac_group_put_sum(cell, window, err);
    }
    hac_exact_state state = hac_exact_total(cell, a, 0, from, &sum);
    if (state != HAC_EXACT_FINITE) {
        double infinite = sum.negative ? -INFINITY : INFINITY;
        hac_group_put_f64(cell->v, cell->row, state == HAC_EXACT_INFINITE ? infinite : NAN);
    } else if (average) {
        hac_exact_set_u64(&divisor, cell->n);
        hac_exact_times_ten(&divisor, hac_exact_scale(a->type));
        hac_group_put_f64(cell->v, cell->row, hac_exact_quotient(&sum, &divisor));
    } else if (a->repr == HAC_REPR_F64) {
        hac_group_put_f64(cell->v, cell->row, hac_exact_round(&sum));
    } else {
        return put_wide_sum(cell, &sum, err);
    }
    return HAC_OK;
}

static const hac_exact_term terms[] = {{0, HAC_EXACT_SUM_WORDS, 1, 0}};

const hac_accumulator_ops hac_accumulator_sum = {.terms = terms,
                                                 .n_terms = 1,
                                                 .add = add_sum,
                                                 .lanes = sum_lanes,
                                                 .add_lanes = add_sum_lanes,
                                                 .merge = hac_exact_merge,
                                                 .result = sum_result};
