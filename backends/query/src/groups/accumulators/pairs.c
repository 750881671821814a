/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sums for covariance, correlation and linear regression (SQL:2003, 10.9). They are over the rows in
 * which neither argument is null. The first argument is y, the second is x.
 *
 *     Cyx = n · Σyx - Σy · Σx         Cxx = n · Σx² - (Σx)²          Cyy = n · Σy² - (Σy)²
 *
 *     covar_pop = Cyx / n²            slope = Cyx / Cxx              corr = Cyx / √(Cxx · Cyy)
 *     covar_samp = Cyx / (n · (n-1))  intercept = (Σy · Σx² - Σx · Σyx) / Cxx      r2 = corr²
 */
#include "exact_rows.h"

typedef struct pairs {
    uint64_t n;
    uint64_t y[HAC_EXACT_SUM_WORDS], x[HAC_EXACT_SUM_WORDS];
    uint64_t yy[HAC_EXACT_PRODUCT_WORDS], xx[HAC_EXACT_PRODUCT_WORDS], yx[HAC_EXACT_PRODUCT_WORDS];
} pairs;

/* Numbers of the terms. */
enum { Y, X, YY, XX, YX };

static inline __attribute__((always_inline)) bool take(const hac_column *v, hac_repr repr, size_t i,
                                                       int32_t unit, hac_exact_factor *ret)
{
    switch (repr) {
    case HAC_REPR_I64:
        return hac_exact_take(v->values, HAC_REPR_I64, i, unit, HAC_EXACT_PRODUCT_REACH, ret);
    case HAC_REPR_U64:
        return hac_exact_take(v->values, HAC_REPR_U64, i, unit, HAC_EXACT_PRODUCT_REACH, ret);
    case HAC_REPR_I128:
        return hac_exact_take(v->values, HAC_REPR_I128, i, unit, HAC_EXACT_PRODUCT_REACH, ret);
    default:
        return hac_exact_take(v->values, HAC_REPR_F64, i, unit, HAC_EXACT_PRODUCT_REACH, ret);
    }
}

static inline __attribute__((always_inline)) hac_status
add_row(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a, hac_repr y_repr,
        hac_repr x_repr, const hac_column *const *columns, size_t i, hac_error *err)
{
    const hac_exact_units *units = &t->exact.units[a - t->layout.accumulators];
    pairs *to = PLACE(pairs, b, a->offset, i);
    hac_exact_factor y, x;
    to->n++;
    if (!take(columns[0], y_repr, i, units->of[0], &y) || !take(columns[1], x_repr, i, units->of[1], &x))
        return hac_exact_add_beside(t, b, a, columns, i, err);
    hac_exact_add_factor(to->y, &y);
    hac_exact_add_factor(to->x, &x);
    hac_exact_add_product(to->yy, &y, &y);
    hac_exact_add_product(to->xx, &x, &x);
    hac_exact_add_product(to->yx, &y, &x);
    return HAC_OK;
}

static bool is_null(const hac_column *v, size_t i)
{
    return v->states != NULL && v->states[i] != 0;
}

/* Where `y_repr` and `x_repr` are constants, the loop decides nothing a row. */
static inline __attribute__((always_inline)) hac_status
add_rows(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a, hac_repr y_repr,
         hac_repr x_repr, const hac_column *const *columns, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++)
        if (!is_null(columns[0], i) && !is_null(columns[1], i))
            status = add_row(t, b, a, y_repr, x_repr, columns, i, err);
    return status;
}

/* ---- small integers: their products are words too, and the upper words of sums hardly ever change ---- */

static bool all_small(const int64_t *values, size_t rows)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < rows; i++)
        bits |= (uint64_t)(values[i] ^ values[i] >> 63);
    return bits >> 31 == 0;
}

/* Carries 1 or -1 into the words above the lowest one. */
static void carry_up(uint64_t *to, size_t words, int64_t carry)
{
    uint64_t last = carry > 0 ? 0 : UINT64_MAX;
    for (size_t i = 1; i < words; i++) {
        to[i] += (uint64_t)carry;
        if (to[i] != last)
            return;
    }
}

static inline __attribute__((always_inline)) void add_word(uint64_t *to, size_t words, int64_t value)
{
    uint64_t sum = to[0] + (uint64_t)value;
    int64_t carry = (int64_t)(sum < to[0]) - (value < 0);
    to[0] = sum;
    if (__builtin_expect(carry != 0, 0))
        carry_up(to, words, carry);
}

static void add_small(const hac_accumulate_batch *b, const hac_accumulator *a,
                      const hac_column *const *columns)
{
    const int64_t *ys = columns[0]->values, *xs = columns[1]->values;
    for (size_t i = 0; i < b->rows; i++) {
        if (is_null(columns[0], i) || is_null(columns[1], i))
            continue;
        pairs *to = PLACE(pairs, b, a->offset, i);
        int64_t y = ys[i], x = xs[i];
        to->n++;
        add_word(to->y, HAC_EXACT_SUM_WORDS, y);
        add_word(to->x, HAC_EXACT_SUM_WORDS, x);
        add_word(to->yy, HAC_EXACT_PRODUCT_WORDS, y * y);
        add_word(to->xx, HAC_EXACT_PRODUCT_WORDS, x * x);
        add_word(to->yx, HAC_EXACT_PRODUCT_WORDS, y * x);
    }
}

/* ---- other values ---- */

/* The most frequent types have a loop each. */
static hac_status add_typed(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                            const hac_column *const *columns, hac_error *err)
{
    hac_repr y = (hac_repr)a->repr, x = (hac_repr)a->second_repr;
    bool floats[2] = {y == HAC_REPR_F64, x == HAC_REPR_F64}, ints[2] = {y == HAC_REPR_I64, x == HAC_REPR_I64};
    if (floats[0] && floats[1])
        return add_rows(t, b, a, HAC_REPR_F64, HAC_REPR_F64, columns, err);
    if (ints[0] && ints[1] && all_small(columns[0]->values, b->rows) &&
        all_small(columns[1]->values, b->rows)) {
        add_small(b, a, columns);
        return HAC_OK;
    }
    if (ints[0] && ints[1])
        return add_rows(t, b, a, HAC_REPR_I64, HAC_REPR_I64, columns, err);
    if (floats[0] && ints[1])
        return add_rows(t, b, a, HAC_REPR_F64, HAC_REPR_I64, columns, err);
    if (ints[0] && floats[1])
        return add_rows(t, b, a, HAC_REPR_I64, HAC_REPR_F64, columns, err);
    return add_rows(t, b, a, y, x, columns, err);
}

static hac_status add_pairs(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                            const hac_column *v, hac_error *err)
{
    const hac_column *columns[2] = {v, &b->columns[a->second]};
    hac_status status = hac_exact_begin(t, b, a, columns, err);
    if (status == HAC_OK)
        status = add_typed(t, b, a, columns, err);
    return status == HAC_OK ? hac_exact_end(t, b, a, columns, err) : status;
}

static hac_status merge_pairs(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                              const uint8_t *from, hac_error *err)
{
    for (size_t i = 0; i < b->rows; i++)
        PLACE(pairs, b, a->offset, i)->n += FROM(pairs, b, a->offset, from, i)->n;
    return hac_exact_merge(t, b, a, from, err);
}

/* ---- lanes ---- */

static size_t pairs_lanes(const hac_accumulator *a, hac_lane *ret)
{
    static const hac_lane lanes[] = {
        {.offset = offsetof(pairs, n), .words = 1},
        {.offset = offsetof(pairs, y), .words = HAC_EXACT_SUM_WORDS},
        {.offset = offsetof(pairs, x), .words = HAC_EXACT_SUM_WORDS},
        {.offset = offsetof(pairs, yy), .words = HAC_EXACT_PRODUCT_WORDS},
        {.offset = offsetof(pairs, xx), .words = HAC_EXACT_PRODUCT_WORDS},
        {.offset = offsetof(pairs, yx), .words = HAC_EXACT_PRODUCT_WORDS},
    };
    bool integers = (a->repr == HAC_REPR_I64 || a->repr == HAC_REPR_U64) &&
                    (a->second_repr == HAC_REPR_I64 || a->second_repr == HAC_REPR_U64);
    memcpy(ret, lanes, sizeof lanes);
    return integers ? sizeof lanes / sizeof *lanes : 0;
}

static void add_integers(const hac_group_table *t, const hac_accumulate_batch *b,
                         const hac_column *const *columns, const int64_t *ys, const int64_t *xs)
{
    bool nulls = columns[0]->states != NULL || columns[1]->states != NULL;
    for (size_t i = 0; i < b->rows; i++) {
        int64_t *to = LANES(t, b, i), y = ys[i], x = xs[i];
        to[0] += !nulls || (!is_null(columns[0], i) && !is_null(columns[1], i));
        to[1] += y;
        to[2] += x;
        to[3] += y * y;
        to[4] += x * x;
        to[5] += y * x;
    }
}

static hac_status add_pairs_lanes(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                                  const hac_column *v, bool *ret_done, hac_error *err)
{
    const hac_column *columns[2] = {v, &b->columns[a->second]};
    const uint8_t *states = columns[0]->states, *more = columns[1]->states;
    int64_t y_scratch[HAC_BATCH_ROWS], x_scratch[HAC_BATCH_ROWS];
    const int64_t *ys = hac_lanes_values(columns[0]->values, states, more, b->rows, y_scratch);
    const int64_t *xs = hac_lanes_values(columns[1]->values, states, more, b->rows, x_scratch);
    uint64_t y_max = hac_lanes_max(ys, b->rows, a->repr == HAC_REPR_I64);
    uint64_t x_max = hac_lanes_max(xs, b->rows, a->second_repr == HAC_REPR_I64);
    hac_status status = hac_exact_begin(t, b, a, columns, err);
    if (status == HAC_OK)
        *ret_done = hac_lanes_take_products(t, y_max > x_max ? y_max : x_max, b->rows);
    if (*ret_done)
        add_integers(t, b, columns, ys, xs);
    return status;
}

/* ---- results ---- */

typedef struct totals {
    uint64_t n;
    hac_exact_number of[5];
} totals;

/* n · Σab - Σa · Σb. */
static void spread(const totals *s, int ab, int a, int b, hac_exact_number *ret)
{
    hac_exact_spread(ret, s->n, &s->of[ab], &s->of[a], &s->of[b]);
}

static double covariance(const totals *s, uint64_t less, unsigned digits)
{
    hac_exact_number cyx, divisor;
    spread(s, YX, Y, X, &cyx);
    hac_exact_set_u64(&divisor, s->n);
    hac_exact_times_u64(&divisor, s->n - less);
    hac_exact_times_ten(&divisor, digits);
    return hac_exact_quotient(&cyx, &divisor);
}

/* Divides by Cxx, which is not 0. */
static double slope(const totals *s, hac_exact_number *cxx, unsigned y_digits, unsigned x_digits)
{
    hac_exact_number cyx;
    spread(s, YX, Y, X, &cyx);
    hac_exact_times_ten(&cyx, x_digits);
    hac_exact_times_ten(cxx, y_digits);
    return hac_exact_quotient(&cyx, cxx);
}

static double intercept(const totals *s, hac_exact_number *cxx, unsigned y_digits)
{
    hac_exact_number first, second;
    hac_exact_times(&first, &s->of[Y], &s->of[XX]);
    hac_exact_times(&second, &s->of[X], &s->of[YX]);
    hac_exact_difference(&first, &first, &second);
    hac_exact_times_ten(cxx, y_digits);
    return hac_exact_quotient(&first, cxx);
}

/* Correlation, or its square. Neither Cxx nor Cyy is 0. */
static double correlation(const totals *s, const hac_exact_number *cxx, const hac_exact_number *cyy,
                          bool square)
{
    hac_exact_number cyx, above, below;
    spread(s, YX, Y, X, &cyx);
    hac_exact_times(&above, &cyx, &cyx);
    hac_exact_times(&below, cxx, cyy);
    if (square)
        return hac_exact_quotient(&above, &below);
    double root = hac_exact_root(&above, &below);
    return cyx.negative ? -root : root;
}

/* False: the result is null. */
static bool result_of(unsigned function, const totals *s, unsigned y_digits, unsigned x_digits, double *ret)
{
    hac_exact_number cxx, cyy;
    if (function == HAC_AGGREGATE_COVAR_POP || function == HAC_AGGREGATE_COVAR_SAMP) {
        *ret = covariance(s, function == HAC_AGGREGATE_COVAR_SAMP, y_digits + x_digits);
        return true;
    }
    spread(s, XX, X, X, &cxx);
    if (cxx.n == 0)
        return false;
    if (function == HAC_AGGREGATE_REGR_SLOPE) {
        *ret = slope(s, &cxx, y_digits, x_digits);
        return true;
    }
    if (function == HAC_AGGREGATE_REGR_INTERCEPT) {
        *ret = intercept(s, &cxx, y_digits);
        return true;
    }
    spread(s, YY, Y, Y, &cyy);
    *ret = 1; /* r2 of points on a level line */
    if (cyy.n == 0)
        return function == HAC_AGGREGATE_REGR_R2;
    *ret = correlation(s, &cxx, &cyy, function == HAC_AGGREGATE_REGR_R2);
    return true;
}

static hac_status pairs_result(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                               hac_error *err)
{
    unsigned function = cell->t->layout.query->aggregate[cell->aggregate].function;
    totals s;
    double value = NAN;
    bool finite = true, some = true;
    (void)err;
    memcpy(&s.n, from, sizeof s.n);
    for (size_t i = 0; i < 5; i++)
        finite &= hac_exact_total(cell, a, i, from, &s.of[i]) == HAC_EXACT_FINITE;
    if (s.n < (function == HAC_AGGREGATE_COVAR_POP ? 1 : 2))
        some = false;
    else if (finite)
        some = result_of(function, &s, hac_exact_scale(a->type), hac_exact_scale(a->second_type), &value);
    if (some)
        hac_group_put_f64(cell->v, cell->row, value);
    else
        hac_group_put_null(cell->v, cell->row);
    return HAC_OK;
}

static const hac_exact_term terms[] = {[Y] = {offsetof(pairs, y), HAC_EXACT_SUM_WORDS, 1, 0},
                                       [X] = {offsetof(pairs, x), HAC_EXACT_SUM_WORDS, 0, 1},
                                       [YY] = {offsetof(pairs, yy), HAC_EXACT_PRODUCT_WORDS, 2, 0},
                                       [XX] = {offsetof(pairs, xx), HAC_EXACT_PRODUCT_WORDS, 0, 2},
                                       [YX] = {offsetof(pairs, yx), HAC_EXACT_PRODUCT_WORDS, 1, 1}};

_Static_assert(sizeof(pairs) == 112, "as hac_accumulator_info has it");

const hac_accumulator_ops hac_accumulator_pairs = {.terms = terms,
                                                   .n_terms = 5,
                                                   .add = add_pairs,
                                                   .lanes = pairs_lanes,
                                                   .add_lanes = add_pairs_lanes,
                                                   .merge = merge_pairs,
                                                   .result = pairs_result};
