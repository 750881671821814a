/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every value of a group, for exact quantiles. Values are kept as signed integers of the same order: floats
 * as hac_order_f64, unsigned integers less 2^63.
 *
 * A quantile lies at position share · (n - 1) of the sorted values, as NumPy's default has it. Between the
 * values a and b of two neighbouring ranks, at fraction t of the way:
 *   integers, decimals  a + (b - a) · t, exactly, rounded once to f64
 *   floats              a + (b - a) · t, or b - (b - a) · (1 - t) from t = 0.5 on, as NumPy computes it
 *                       (_lerp in numpy/lib/_function_base_impl.py); a · (1 - t) + b · t where b - a
 *                       overflows
 */
#include <math.h>
#include <stdlib.h>

#include "accumulator.h"
#include "base/exact_number.h"

/* ---- adding ---- */

#define SIGN (UINT64_C(1) << 63)

static void store_words(const hac_accumulate_batch *b, const hac_accumulator *a, const hac_column *v,
                        hac_value_column *to)
{
    const uint64_t *words = v->values;
    const double *floats = v->values;
    int64_t *values = (int64_t *)(void *)to->values + to->n;
    uint32_t *groups = to->groups + to->n;
    const hac_record_divisor divisor = hac_record_divisor_of(b->stride);
    uint64_t n = 0;
    EACH_VALUE(v->states, b->rows, groups[n] = (uint32_t)hac_record_number(divisor, b->at[i]);
               values[n++] = a->repr == HAC_REPR_F64   ? hac_order_f64(floats[i])
                             : a->repr == HAC_REPR_U64 ? (int64_t)(words[i] ^ SIGN)
                                                       : (int64_t)words[i])
    to->n += n;
}

static void store_wide(const hac_accumulate_batch *b, const hac_column *v, hac_value_column *to)
{
    const uint8_t *wide = v->values;
    EACH_VALUE(v->states, b->rows, to->groups[to->n] = (uint32_t)(b->at[i] / b->stride);
               memcpy(to->values + 16 * to->n++, wide + 16 * i, 16))
}

static hac_status add_all(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                          const hac_column *v, hac_error *err)
{
    hac_value_column *to = &t->value_columns[a->set];
    hac_status status = hac_value_column_reserve(to, b->rows, err);
    if (status != HAC_OK)
        return status;
    if (a->repr == HAC_REPR_I128)
        store_wide(b, v, to);
    else
        store_words(b, a, v, to);
    return HAC_OK;
}

/* ---- selecting ---- */

/*
 * Permutes v so that v[k] is the value of rank k, with none larger before and none smaller behind it (Hoare's
 * quickselect, median of three). After ROUNDS_MAX rounds of bad luck or of an adversary the rest is sorted.
 */
#define ROUNDS_MAX 128

#define DEFINE_SELECT(name, type)                                                                            \
    static int compare_##name(const void *p, const void *q)                                                  \
    {                                                                                                        \
        type x = *(const type *)p, y = *(const type *)q;                                                     \
        return (x > y) - (x < y);                                                                            \
    }                                                                                                        \
    static type middle_##name(type a, type b, type c)                                                        \
    {                                                                                                        \
        type low = a < b ? a : b, high = a < b ? b : a;                                                      \
        return c < low ? low : c > high ? high : c;                                                          \
    }                                                                                                        \
    static void select_##name(type *v, uint64_t n, uint64_t k)                                               \
    {                                                                                                        \
        uint64_t low = 0, high = n; /* v[k] lies in [low, high) */                                           \
        for (unsigned round = 0; high - low > 1; round++) {                                                  \
            if (round == ROUNDS_MAX) {                                                                       \
                qsort(v + low, high - low, sizeof *v, compare_##name);                                       \
                return;                                                                                      \
            }                                                                                                \
            type pivot = middle_##name(v[low], v[low + (high - low) / 2], v[high - 1]);                      \
            uint64_t i = low, j = high;                                                                      \
            for (;;) { /* smaller or equal values to [low, i), larger or equal ones to [j, high) */          \
                while (v[i] < pivot)                                                                         \
                    i++;                                                                                     \
                while (pivot < v[j - 1])                                                                     \
                    j--;                                                                                     \
                if (i >= j)                                                                                  \
                    break;                                                                                   \
                type swap = v[i];                                                                            \
                v[i++] = v[j - 1];                                                                           \
                v[--j] = swap;                                                                               \
                if (i >= j)                                                                                  \
                    break;                                                                                   \
            }                                                                                                \
            if (k < j)                                                                                       \
                high = j;                                                                                    \
            else if (k >= i)                                                                                 \
                low = i;                                                                                     \
            else                                                                                             \
                return;                                                                                      \
        }                                                                                                    \
    }                                                                                                        \
    static type minimum_##name(const type *v, uint64_t n)                                                    \
    {                                                                                                        \
        type minimum = v[0];                                                                                 \
        for (uint64_t i = 1; i < n; i++)                                                                     \
            minimum = v[i] < minimum ? v[i] : minimum;                                                       \
        return minimum;                                                                                      \
    }

DEFINE_SELECT(words, int64_t)
DEFINE_SELECT(wide, hac_i128)

/* Of n values, those of ranks k and k + 1; the second one only if `two`. */
static void select_ranks(size_t size, void *values, uint64_t n, uint64_t k, bool two, hac_i128 ret[2])
{
    if (size == 16) {
        hac_i128 *v = values;
        select_wide(v, n, k);
        ret[0] = v[k];
        ret[1] = two ? minimum_wide(v + k + 1, n - k - 1) : ret[0];
    } else {
        int64_t *v = values;
        select_words(v, n, k);
        ret[0] = v[k];
        ret[1] = two ? minimum_words(v + k + 1, n - k - 1) : ret[0];
    }
}

/* ---- between two values ---- */

static void set_wide(hac_exact_number *ret, hac_i128 value)
{
    uint64_t words[2] = {(uint64_t)value, (uint64_t)(value >> 64)};
    hac_exact_set_window(ret, words, 2, 0);
}

static double between_integers(hac_i128 a, hac_i128 b, double part, unsigned scale)
{
    hac_exact_number x, y, t, product;
    if (part > 0) {
        int exponent;
        hac_exact_set_u64(&t, (uint64_t)ldexp(frexp(part, &exponent), 53));
        t.exponent = exponent - 53;
        set_wide(&x, a);
        set_wide(&y, b);
        hac_exact_difference(&y, &y, &x);
        hac_exact_times(&product, &y, &t);
        hac_exact_sum(&x, &x, &product);
    } else {
        set_wide(&x, a);
    }
    hac_exact_set_u64(&y, 1);
    hac_exact_times_ten(&y, scale);
    return hac_exact_quotient(&x, &y);
}

double hac_between_floats(double a, double b, double part)
{
    double difference = b - a;
    if (!(a < b) || !(part > 0)) /* equal, or one is NaN, which is above all numbers */
        return part > 0 ? b : a;
    if (isinf(difference) && isfinite(a) && isfinite(b))
        return a * (1 - part) + b * part;
    if (isinf(a) || isinf(b)) /* between both infinities there is no number */
        return isinf(a) && isinf(b) ? (double)NAN : isinf(a) ? a : b;
    return part < 0.5 ? a + difference * part : b - difference * (1 - part);
}

/* The place of the smallest of n values that at least that share of them do not exceed. 0.1 · 30 is 3, not a
 * little more. */
static uint64_t rank_of_share(double share, uint64_t n)
{
    double place = share * (double)n, near = nearbyint(place);
    double rank = fabs(place - near) <= place * 0x1p-50 ? near : ceil(place);
    return rank < 1 ? 0 : rank < (double)n ? (uint64_t)rank - 1 : n - 1;
}

/* A value of the column, from the integer of the same order that stands for it. */
static void put_ranked(const hac_result_cell *cell, const hac_accumulator *a, hac_i128 value)
{
    hac_i128 own = a->repr == HAC_REPR_U64 ? value + (hac_i128)SIGN : value;
    const uint64_t words[2] = {(uint64_t)own, (uint64_t)(own >> 64)};
    hac_group_put_ordered(&cell->t->results->text, cell->v, cell->row, words);
}

static hac_status quantile_result(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                                  hac_error *err)
{
    const hac_aggregate *g = &cell->t->layout.query->aggregate[cell->aggregate];
    hac_value_column *column = &cell->t->value_columns[a->set];
    hac_status status = hac_value_column_sort(column, cell->t->groups, err);
    (void)from;
    if (status != HAC_OK)
        return status;
    uint64_t n;
    uint8_t *values = hac_value_column_of(column, cell->group, &n);
    if (n == 0) { /* the count of a partial does not fit its values */
        hac_group_put_null(cell->v, cell->row);
        return HAC_OK;
    }
    hac_i128 ranks[2];
    if (g->function == HAC_AGGREGATE_QUANTILE_DISC) {
        select_ranks(column->size, values, n, rank_of_share(g->low.real, n), false, ranks);
        put_ranked(cell, a, ranks[0]);
        return HAC_OK;
    }
    double share = g->function == HAC_AGGREGATE_MEDIAN ? 0.5 : g->low.real;
    double position = share * (double)(n - 1), low = floor(position);
    uint64_t k = low < (double)(n - 1) ? (uint64_t)low : n - 1;
    double part = k < n - 1 ? position - low : 0, value;
    select_ranks(column->size, values, n, k, part > 0, ranks);
    if (a->repr == HAC_REPR_F64) {
        value =
            hac_between_floats(hac_unorder_f64((int64_t)ranks[0]), hac_unorder_f64((int64_t)ranks[1]), part);
    } else {
        hac_i128 offset = a->repr == HAC_REPR_U64 ? (hac_i128)SIGN : 0;
        value = between_integers(ranks[0] + offset, ranks[1] + offset, part, a->type.scale);
    }
    hac_group_put_f64(cell->v, cell->row, value);
    return HAC_OK;
}

const hac_accumulator_ops hac_accumulator_all_values = {.add = add_all, .result = quantile_result};
