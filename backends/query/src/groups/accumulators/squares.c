/* SPDX-License-Identifier: Apache-2.0 */
/* Exact sums of values and of their squares, for variances: (n · Σx² - (Σx)²) / (n · (n - 1)). */
#include "exact_rows.h"

typedef struct squares {
    uint64_t sum[HAC_EXACT_SUM_WORDS], squares[HAC_EXACT_PRODUCT_WORDS];
} squares;

/* `repr` is a compile-time constant. */
static inline __attribute__((always_inline)) hac_status
add_rows(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a, hac_repr repr,
         const hac_column *const *columns, hac_error *err)
{
    const void *values = columns[0]->values;
    const uint8_t *states = columns[0]->states;
    const uint64_t *at = b->at; /* what the loop does not change, read once */
    uint8_t *records = b->records + a->offset;
    size_t rows = b->rows;
    int32_t unit = t->exact.units[a - t->layout.accumulators].of[0];
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < rows; i++) {
        hac_exact_factor x;
        if (states != NULL && states[i] != 0)
            continue;
        if (__builtin_expect(!hac_exact_take(values, repr, i, unit, HAC_EXACT_PRODUCT_REACH, &x), 0)) {
            status = hac_exact_add_beside(t, b, a, columns, i, err);
            continue;
        }
        squares *to = (squares *)(void *)(records + at[i]);
        hac_exact_add_factor(to->sum, &x);
        hac_exact_add_product(to->squares, &x, &x);
    }
    return status;
}

static hac_status add_squares(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                              const hac_column *v, hac_error *err)
{
    const hac_column *columns[2] = {v, NULL};
    hac_status status = hac_exact_begin(t, b, a, columns, err);
    if (status != HAC_OK)
        return status;
    switch (a->repr) {
    case HAC_REPR_I64:
        return add_rows(t, b, a, HAC_REPR_I64, columns, err);
    case HAC_REPR_U64:
        return add_rows(t, b, a, HAC_REPR_U64, columns, err);
    case HAC_REPR_I128:
        return add_rows(t, b, a, HAC_REPR_I128, columns, err);
    default:
        status = add_rows(t, b, a, HAC_REPR_F64, columns, err);
        return status == HAC_OK ? hac_exact_end(t, b, a, columns, err) : status;
    }
}

static size_t squares_lanes(const hac_accumulator *a, hac_lane *ret)
{
    ret[0] = (hac_lane){.offset = offsetof(squares, sum), .words = HAC_EXACT_SUM_WORDS};
    ret[1] = (hac_lane){.offset = offsetof(squares, squares), .words = HAC_EXACT_PRODUCT_WORDS};
    return a->repr == HAC_REPR_I64 || a->repr == HAC_REPR_U64 ? 2 : 0;
}

static hac_status add_squares_lanes(hac_group_table *t, const hac_accumulate_batch *b,
                                    const hac_accumulator *a, const hac_column *v, bool *ret_done,
                                    hac_error *err)
{
    const hac_column *columns[2] = {v, NULL};
    int64_t scratch[HAC_BATCH_ROWS];
    const int64_t *values = hac_lanes_values(v->values, v->states, NULL, b->rows, scratch);
    hac_status status = hac_exact_begin(t, b, a, columns, err);
    if (status == HAC_OK)
        *ret_done =
            hac_lanes_take_products(t, hac_lanes_max(values, b->rows, a->repr == HAC_REPR_I64), b->rows);
    for (size_t i = 0; *ret_done && i < b->rows; i++) {
        int64_t *to = LANES(t, b, i);
        to[0] += values[i];
        to[1] += values[i] * values[i];
    }
    return status;
}

/* A decimal's values count in 10^-scale: their squares in 10^(-2 · scale). */
static double variance(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                       bool population, bool root)
{
    hac_exact_number sum, squared, spread, divisor;
    if (hac_exact_total(cell, a, 0, from, &sum) != HAC_EXACT_FINITE)
        return NAN;
    hac_exact_total(cell, a, 1, from, &squared);
    hac_exact_spread(&spread, cell->n, &squared, &sum, &sum);
    hac_exact_set_u64(&divisor, cell->n);
    hac_exact_times_u64(&divisor, population ? cell->n : cell->n - 1);
    hac_exact_times_ten(&divisor, 2 * hac_exact_scale(a->type));
    return root ? hac_exact_root(&spread, &divisor) : hac_exact_quotient(&spread, &divisor);
}

static hac_status squares_result(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                                 hac_error *err)
{
    unsigned function = cell->t->layout.query->aggregate[cell->aggregate].function;
    bool population = function == HAC_AGGREGATE_VAR_POP || function == HAC_AGGREGATE_STDDEV_POP;
    bool root = function == HAC_AGGREGATE_STDDEV || function == HAC_AGGREGATE_STDDEV_POP;
    (void)err;
    if (cell->n < (population ? 1 : 2))
        hac_group_put_null(cell->v, cell->row);
    else
        hac_group_put_f64(cell->v, cell->row, variance(cell, a, from, population, root));
    return HAC_OK;
}

static const hac_exact_term terms[] = {{offsetof(squares, sum), HAC_EXACT_SUM_WORDS, 1, 0},
                                       {offsetof(squares, squares), HAC_EXACT_PRODUCT_WORDS, 2, 0}};

_Static_assert(sizeof(squares) == 40, "as hac_accumulator_info has it");

const hac_accumulator_ops hac_accumulator_squares = {.terms = terms,
                                                     .n_terms = 2,
                                                     .add = add_squares,
                                                     .lanes = squares_lanes,
                                                     .add_lanes = add_squares_lanes,
                                                     .merge = hac_exact_merge,
                                                     .result = squares_result};
