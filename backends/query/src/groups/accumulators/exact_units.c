/* SPDX-License-Identifier: Apache-2.0 */
/* Units of windows: how they are chosen, moved, and made the same before records are merged. */
#include <stdlib.h>

#include "exact_rows.h"
#include "groups/exact_limbs.h"

#define SCALES 2048 /* exponents of f64 */
#define MARGIN 3    /* exponents beyond those of a batch that do not fit */

static hac_exact_units *units_of(hac_group_table *t, const hac_accumulator *a)
{
    return &t->exact.units[a - t->layout.accumulators];
}

static const hac_exact_terms *terms_of(const hac_group_table *t, const hac_accumulator *a)
{
    return &t->exact.of[a - t->layout.accumulators];
}

static int32_t exponent_of(const hac_exact_term *term, const hac_exact_units *units)
{
    int32_t x = units->of[0] == HAC_EXACT_NO_UNIT ? 0 : units->of[0];
    int32_t y = units->of[1] == HAC_EXACT_NO_UNIT ? 0 : units->of[1];
    return term->x * x + term->y * y;
}

void hac_exact_reset(hac_group_table *t)
{
    hac_exact_sums *e = &t->exact;
    e->n = e->sorted = e->rows = e->misfits = e->since = 0;
    for (size_t i = 0; i < t->layout.n_accumulators; i++)
        for (size_t f = 0; f < 2; f++)
            e->units[i].of[f] =
                hac_accumulator_is_float(&t->layout.accumulators[i], f) ? HAC_EXACT_NO_UNIT : 0;
}

/* ---- windows of all groups ---- */

static uint8_t *record_of(const hac_group_table *t, uint64_t group)
{
    return t->slots.on ? t->slots.records + t->slots.places[group].slot * (uint64_t)t->layout.stride
                       : hac_group_record(t, group);
}

/* Multiplies the windows of an accumulator by powers of two; those that this makes no small windows go
 * beside. `from` are their units until now. */
static hac_status move_windows(hac_group_table *t, const hac_accumulator *a, const hac_exact_units *from,
                               const hac_exact_units *to, hac_error *err)
{
    const hac_exact_terms *ops = terms_of(t, a);
    size_t index = (size_t)(a - t->layout.accumulators);
    hac_status status = HAC_OK;
    hac_fixed_slots_join(t);
    hac_lanes_settle(t);
    for (uint64_t g = 0; status == HAC_OK && g < t->groups; g++)
        for (size_t k = 0; status == HAC_OK && k < ops->n_terms; k++) {
            const hac_exact_term *term = &ops->terms[k];
            uint64_t *window = (uint64_t *)(void *)(record_of(t, g) + a->offset + term->offset);
            int32_t exponent = exponent_of(term, from);
            if (hac_exact_move(window, term->words, exponent - exponent_of(term, to)))
                continue;
            status = hac_exact_put_window(&t->exact, hac_exact_key(g, index, k), window, term->words,
                                          exponent, err);
            memset(window, 0, 8u * term->words);
        }
    return status;
}

/* Counts rows, so that no window overflows. */
static hac_status count_rows(hac_group_table *t, uint64_t rows, hac_error *err)
{
    hac_status status = HAC_OK;
    t->exact.rows += rows;
    t->exact.since += rows;
    if (t->exact.rows < HAC_EXACT_ROWS_MAX / 2)
        return HAC_OK;
    t->exact.rows = rows;
    for (const hac_accumulator *a = t->layout.accumulators;
         status == HAC_OK && a < t->layout.accumulators + t->layout.n_accumulators; a++)
        status = move_windows(t, a, units_of(t, a), units_of(t, a), err);
    return status;
}

/* ---- units of values ---- */

typedef struct exponents {
    int low, high;
} exponents;

static exponents exponents_of(const hac_column *v, size_t rows)
{
    exponents ret = {HAC_EXACT_EXPONENT_MAX, HAC_EXACT_EXPONENT_MIN};
    for (size_t i = 0; i < rows; i++) {
        uint64_t bits;
        memcpy(&bits, (const uint8_t *)v->values + 8 * i, sizeof bits);
        if ((v->states != NULL && v->states[i] != 0) || bits << 1 == 0 || !hac_exact_finite(bits))
            continue;
        int exponent = hac_exact_exponent(bits);
        ret.low = exponent < ret.low ? exponent : ret.low;
        ret.high = exponent > ret.high ? exponent : ret.high;
    }
    return ret;
}

/* A multiple of UNIT_STEP if possible, because tables are merged faster if they have the same unit. */
#define UNIT_STEP 8
static int32_t first_unit(exponents e, int reach)
{
    int32_t unit = hac_exact_unit(e.low, e.high, reach), rounded = unit & -UNIT_STEP;
    return rounded >= HAC_EXACT_EXPONENT_MIN && e.high <= rounded + reach ? rounded : unit;
}

/* The unit for a batch with these exponents, after `unit`: it moves no further than the batch needs. */
static int32_t next_unit(int32_t unit, exponents e, int reach)
{
    int32_t next = unit;
    if (e.low > e.high)
        return unit;
    if (e.low < unit && reach == HAC_EXACT_SUM_REACH && e.high - e.low <= HAC_LIMB_REACH)
        reach = HAC_LIMB_REACH; /* HAC_EXACT_NO_UNIT is above all */
    if (unit == HAC_EXACT_NO_UNIT)
        return first_unit(e, reach);
    if (e.low < unit)
        next = e.low - MARGIN < HAC_EXACT_EXPONENT_MIN ? HAC_EXACT_EXPONENT_MIN : e.low - MARGIN;
    else if (e.high > unit + reach)
        next = e.high + MARGIN - reach;
    return e.low >= next && e.high <= next + reach ? next : hac_exact_unit(e.low, e.high, reach);
}

/* Lowers a unit so that no infinity or NaN is within its reach: loops over rows look at exponents only. */
static int32_t below_infinities(int32_t unit, int reach)
{
    int32_t max = HAC_EXACT_EXPONENT_MAX - reach;
    return unit > max && unit != HAC_EXACT_NO_UNIT ? max : unit;
}

/* Sets the units of arguments that are floats to those of a batch: of all of them, or of those without. */
static hac_status choose(hac_group_table *t, size_t rows, const hac_accumulator *a,
                         const hac_column *const *columns, bool all, hac_error *err)
{
    hac_exact_units *units = units_of(t, a), before = *units;
    int reach = hac_exact_reach(terms_of(t, a)->n_terms);
    for (size_t f = 0; f < 2 && columns[f] != NULL; f++)
        if (hac_accumulator_is_float(a, f) && (all || units->of[f] == HAC_EXACT_NO_UNIT))
            units->of[f] =
                below_infinities(next_unit(units->of[f], exponents_of(columns[f], rows), reach), reach);
    if (all)
        t->exact.misfits = t->exact.since = 0;
    return memcmp(units, &before, sizeof before) == 0 ? HAC_OK : move_windows(t, a, &before, units, err);
}

static bool lacks_unit(const hac_exact_units *units)
{
    return units->of[0] == HAC_EXACT_NO_UNIT || units->of[1] == HAC_EXACT_NO_UNIT;
}

hac_status hac_exact_begin(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                           const hac_column *const *columns, hac_error *err)
{
    hac_status status = count_rows(t, b->rows, err);
    if (status == HAC_OK && lacks_unit(units_of(t, a)))
        status = choose(t, b->rows, a, columns, false, err);
    return status;
}

/* Moving units costs about as much as a misfit for each group. */
hac_status hac_exact_end(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                         const hac_column *const *columns, hac_error *err)
{
    return t->exact.misfits <= HAC_BATCH_ROWS + t->groups ? HAC_OK
                                                          : choose(t, b->rows, a, columns, true, err);
}

/* Most batches have neither zeros nor misfits, which a loop without branches finds out. */
static bool all_fit(const uint8_t *values, size_t rows, int32_t unit, int reach)
{
    const int64_t first = (int64_t)unit + 1075;
    int64_t outside = -(int64_t)(unit == HAC_EXACT_NO_UNIT);
    uint64_t bits;
    for (size_t i = 0; i < rows; i++) {
        memcpy(&bits, values + 8 * i, sizeof bits);
        int64_t shift = (int64_t)(bits >> 52 & 0x7ff) - first;
        outside |= shift | (reach - shift);
    }
    for (size_t i = 0; outside < 0 && i < rows; i++) {
        memcpy(&bits, values + 8 * i, sizeof bits);
        int64_t shift = (int64_t)(bits >> 52 & 0x7ff) - first;
        if ((shift < 0 || shift > reach) && bits << 1 != 0)
            return false;
    }
    return true;
}

/* Converts a batch to limbs. After a batch that has none, it takes LIMBS_PAUSE batches until the next try. */
#define LIMBS_PAUSE 16
static bool to_limbs(hac_exact_sums *e, const uint8_t *values, size_t rows, int32_t unit, int reach)
{
    if (reach != HAC_EXACT_SUM_REACH || unit == HAC_EXACT_NO_UNIT)
        return false;
    if (e->limbs == NULL)
        e->limbs = aligned_alloc(sizeof *e->limbs, HAC_BATCH_ROWS * sizeof *e->limbs);
    if (e->limbs == NULL || e->limbs_pause > 0) {
        e->limbs_pause -= e->limbs_pause > 0;
        return false;
    }
    bool done = hac_limbs_convert(values, rows, unit, e->limbs);
    e->limbs_pause = done ? 0 : LIMBS_PAUSE;
    return done;
}

bool hac_exact_to_limbs(hac_group_table *t, const hac_accumulator *a, const uint8_t *values, size_t rows)
{
    return to_limbs(&t->exact, values, rows, units_of(t, a)->of[0], hac_exact_reach(terms_of(t, a)->n_terms));
}

/* Makes the table of scales that of a unit. */
static hac_status scale(hac_exact_sums *e, int32_t unit, int reach, hac_error *err)
{
    if (e->scales != NULL && e->scaled == unit)
        return HAC_OK;
    if (e->scales == NULL)
        e->scales = malloc(2 * SCALES * sizeof *e->scales);
    if (e->scales == NULL)
        return hac_fail_no_memory(err);
    for (int exponent = 0; exponent < SCALES; exponent++) {
        int64_t shift = (int64_t)exponent - 1075 - unit;
        bool fits = exponent != 0 && shift >= 0 && shift <= reach;
        e->scales[exponent] = fits ? INT64_C(1) << shift : 0;
        e->scales[SCALES + exponent] = -e->scales[exponent];
    }
    e->scaled = unit;
    return HAC_OK;
}

hac_status hac_exact_ready(hac_group_table *t, const uint8_t *values, size_t rows, hac_exact_batch *ret,
                           hac_error *err)
{
    const hac_accumulator *a = t->layout.accumulators;
    const hac_column v = {.values = (void *)(uintptr_t)values};
    const hac_column *columns[2] = {&v, NULL};
    const int32_t *unit = &units_of(t, a)->of[0];
    const int reach = hac_exact_reach(terms_of(t, a)->n_terms);
    hac_status status = count_rows(t, rows, err);
    *ret = HAC_EXACT_LIMBS;
    if (status != HAC_OK || to_limbs(&t->exact, values, rows, *unit, reach))
        return status;
    bool fit = all_fit(values, rows, *unit, reach);
    if (!fit && t->exact.since >= t->groups) {
        status = choose(t, rows, a, columns, true, err);
        t->exact.limbs_pause = 0;
        if (status != HAC_OK || to_limbs(&t->exact, values, rows, *unit, reach))
            return status;
        fit = all_fit(values, rows, *unit, reach);
    }
    *ret = fit ? HAC_EXACT_FIT : HAC_EXACT_MISFIT;
    return scale(&t->exact, *unit, reach, err);
}

/* ---- values beside ---- */

/* ±(low + high · 2^64) · 2^exponent; or not finite. */
typedef struct wide_value {
    uint64_t part[2];
    int32_t exponent;
    bool negative;
    unsigned special; /* HAC_EXACT_NAN, …; 0: finite */
} wide_value;

static wide_value value_at(const hac_column *v, hac_repr repr, size_t i)
{
    uint64_t words[2] = {0, 0};
    wide_value ret = {.part = {0, 0}};
    hac_value_words(v, repr, i, words);
    if (repr == HAC_REPR_F64) {
        ret.part[0] = hac_exact_mantissa(words[0]);
        ret.exponent = hac_exact_exponent(words[0]);
        ret.negative = hac_exact_sign(words[0]) != 0;
        if (!hac_exact_finite(words[0]))
            ret.special = words[0] << 12 != 0 ? HAC_EXACT_NAN
                          : ret.negative      ? HAC_EXACT_MINUS
                                              : HAC_EXACT_PLUS;
        return ret;
    }
    if (repr == HAC_REPR_I64)
        words[1] = (uint64_t)((int64_t)words[0] >> 63);
    ret.negative = (repr == HAC_REPR_I64 || repr == HAC_REPR_I128) && words[1] >> 63 != 0;
    ret.part[0] = ret.negative ? 0 - words[0] : words[0];
    ret.part[1] = repr == HAC_REPR_U64 || repr == HAC_REPR_BOOL ? 0
                  : ret.negative                                ? ~words[1] + (words[0] == 0)
                                                                : words[1];
    return ret;
}

/* Adds the product of two values, the second of which may be 1. */
static hac_status put_product(hac_group_table *t, uint64_t key, const wide_value *x, const wide_value *y,
                              hac_error *err)
{
    hac_status status = HAC_OK;
    for (int i = 0; status == HAC_OK && i < 4; i++)
        if (x->part[i / 2] != 0 && y->part[i % 2] != 0)
            status = hac_exact_put_product(&t->exact, key, x->part[i / 2], y->part[i % 2],
                                           x->exponent + y->exponent + 64 * (i / 2 + i % 2),
                                           x->negative != y->negative, err);
    return status;
}

/* Of products, only the first sum tells that a value is not finite: every result of theirs is NaN then. */
hac_status hac_exact_add_beside(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                                const hac_column *const *columns, size_t i, hac_error *err)
{
    static const wide_value one = {.part = {1, 0}};
    const hac_exact_terms *ops = terms_of(t, a);
    uint64_t key = hac_exact_key(b->at[i] / b->stride, (size_t)(a - t->layout.accumulators), 0);
    const wide_value x = value_at(columns[0], (hac_repr)a->repr, i);
    const wide_value y = columns[1] == NULL ? one : value_at(columns[1], (hac_repr)a->second_repr, i);
    hac_status status = HAC_OK;
    t->exact.misfits++;
    if (x.special != 0 || y.special != 0)
        return hac_exact_put_digit(&t->exact, key + (x.special != 0 ? x.special : y.special), 1, err);
    for (size_t k = 0; status == HAC_OK && k < ops->n_terms; k++) {
        const hac_exact_term *term = &ops->terms[k];
        const wide_value *first = term->x > 0 ? &x : &y;
        const wide_value *second = term->x + term->y == 1 ? &one : (term->y > 0 ? &y : &x);
        status = put_product(t, key + ((uint64_t)k << 16), first, second, err);
    }
    return status;
}

/* ---- merging ---- */

/* Notes a window that goes beside, when the group of its row is known. */
static hac_status note_loose(hac_group_table *t, hac_exact_loose loose, hac_error *err)
{
    hac_exact_sums *e = &t->exact;
    if (e->n_loose == e->loose_capacity) {
        size_t capacity = e->loose_capacity == 0 ? 64 : 2 * e->loose_capacity;
        hac_exact_loose *all = realloc(e->loose, capacity * sizeof *all);
        if (all == NULL)
            return hac_fail_no_memory(err);
        e->loose = all;
        e->loose_capacity = capacity;
    }
    e->loose[e->n_loose++] = loose;
    return HAC_OK;
}

/* Multiplies the windows of records; those that are no small ones then are taken out of the records. */
static hac_status align_windows(hac_group_table *t, const hac_accumulator *a, const hac_exact_units *from,
                                uint8_t *records, size_t n, hac_error *err)
{
    const hac_exact_terms *ops = terms_of(t, a);
    const hac_exact_units *to = units_of(t, a);
    hac_status status = HAC_OK;
    for (size_t k = 0; k < ops->n_terms; k++) {
        const hac_exact_term *term = &ops->terms[k];
        int32_t exponent = exponent_of(term, from), shift = exponent - exponent_of(term, to);
        for (size_t i = 0; status == HAC_OK && i < n; i++) {
            uint64_t *window =
                (uint64_t *)(void *)(records + i * t->layout.stride + a->offset + term->offset);
            if (hac_exact_move(window, term->words, shift))
                continue;
            hac_exact_loose loose = {.row = i,
                                     .key = hac_exact_key(0, (size_t)(a - t->layout.accumulators), k),
                                     .words = term->words,
                                     .exponent = exponent};
            memcpy(loose.window, window, 8u * term->words);
            memset(window, 0, 8u * term->words);
            status = note_loose(t, loose, err);
        }
    }
    return status;
}

hac_status hac_exact_align(hac_group_table *t, const hac_exact_units *from, uint8_t *records, size_t n,
                           hac_error *err)
{
    hac_status status = HAC_OK;
    t->exact.n_loose = 0;
    if (!t->exact.used)
        return HAC_OK;
    status = count_rows(t, HAC_EXACT_SMALL_ROWS, err);
    for (size_t i = 0; status == HAC_OK && i < t->layout.n_accumulators; i++) {
        const hac_accumulator *a = &t->layout.accumulators[i];
        hac_exact_units *units = units_of(t, a), before = *units;
        int reach = hac_exact_reach(terms_of(t, a)->n_terms);
        if (terms_of(t, a)->n_terms == 0)
            continue;
        for (size_t f = 0; f < 2; f++) { /* HAC_EXACT_NO_UNIT is above all */
            int32_t unit = below_infinities(from[i].of[f], reach);
            units->of[f] = unit < units->of[f] ? unit : units->of[f];
        }
        if (memcmp(units, &before, sizeof before) != 0)
            status = move_windows(t, a, &before, units, err);
        if (status == HAC_OK)
            status = align_windows(t, a, &from[i], records, n, err);
    }
    return status;
}

hac_status hac_exact_put_loose(hac_group_table *t, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < t->exact.n_loose; i++) {
        const hac_exact_loose *l = &t->exact.loose[i];
        uint64_t key = l->key | t->at[l->row] / t->layout.stride << 32;
        status = hac_exact_put_window(&t->exact, key, l->window, l->words, l->exponent, err);
    }
    t->exact.n_loose = 0;
    return status;
}

hac_status hac_exact_merge(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                           const uint8_t *from, hac_error *err)
{
    const hac_exact_terms *ops = terms_of(t, a);
    (void)t;
    (void)err;
    for (size_t k = 0; k < ops->n_terms; k++) {
        uint32_t at = a->offset + ops->terms[k].offset;
        if (ops->terms[k].words == HAC_EXACT_SUM_WORDS)
            for (size_t i = 0; i < b->rows; i++)
                hac_exact_add2(PLACE(uint64_t, b, at, i), FROM(uint64_t, b, at, from, i));
        else
            for (size_t i = 0; i < b->rows; i++)
                hac_exact_add3(PLACE(uint64_t, b, at, i), FROM(uint64_t, b, at, from, i));
    }
    return HAC_OK;
}

/* ---- results ---- */

hac_exact_state hac_exact_total(const hac_result_cell *cell, const hac_accumulator *a, size_t term,
                                const uint8_t *from, hac_exact_number *ret)
{
    const hac_exact_term *info = &terms_of(cell->t, a)->terms[term];
    size_t index = (size_t)(a - cell->t->layout.accumulators);
    uint64_t window[HAC_EXACT_PRODUCT_WORDS];
    memcpy(window, from + info->offset, 8u * info->words);
    hac_exact_set_window(ret, window, info->words, exponent_of(info, units_of(cell->t, a)));
    return hac_exact_read(&cell->t->exact, hac_exact_key(cell->group, index, term), ret);
}
