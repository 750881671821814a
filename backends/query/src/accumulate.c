/* SPDX-License-Identifier: Apache-2.0 */
/* Rows to accumulators, once it is known which record each row belongs to: one loop an accumulator. */
#include <math.h>

#include "accumulate_few.h"
#include "string_words.h"

typedef struct batch {
    uint8_t *records;
    const uint64_t *at; /* of each row, where its record is */
    size_t rows;
    bool one; /* all in one record */
    const hac_few *few;
    uint32_t stride;
} batch;

/* Runs `code` for each row `i` that is not null. */
#define EACH_VALUE(states, rows, ...)                                                                        \
    if ((states) == NULL) {                                                                                  \
        for (size_t i = 0; i < (rows); i++) {                                                                \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    } else {                                                                                                 \
        for (size_t i = 0; i < (rows); i++) {                                                                \
            if ((states)[i] == 0) {                                                                          \
                __VA_ARGS__;                                                                                 \
            }                                                                                                \
        }                                                                                                    \
    }

#define RECORD(type, b, offset, group)                                                                       \
    ((type *)(void *)((b)->records + (uint64_t)(group) * (b)->stride + (offset)))
#define PLACE(type, b, offset, i) ((type *)(void *)((b)->records + (b)->at[i] + (offset)))

/* ---- numbers ---- */

double hac_group_power_of_ten(unsigned digits)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                   1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
                                   1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29,
                                   1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38};
    return exact[digits <= HAC_DECIMAL_DIGITS_MAX ? digits : HAC_DECIMAL_DIGITS_MAX];
}

double hac_number(const hac_vector *v, hac_value_type type, hac_repr repr, size_t row)
{
    double scale = type.kind == HAC_KIND_DECIMAL ? hac_group_power_of_ten(type.scale) : 1.0;
    hac_i128 wide;
    switch (repr) {
    case HAC_REPR_I64:
        return (double)((const int64_t *)v->values)[row] / scale;
    case HAC_REPR_U64:
        return (double)((const uint64_t *)v->values)[row];
    case HAC_REPR_F32:
        return (double)((const float *)v->values)[row];
    case HAC_REPR_F64:
        return ((const double *)v->values)[row];
    case HAC_REPR_I128:
        memcpy(&wide, (const uint8_t *)v->values + row * 16, 16);
        return (double)wide / scale;
    default:
        return ((const uint8_t *)v->values)[row];
    }
}

uint64_t hac_quantile_word(double value)
{
    uint64_t bits = hac_hash_f64(value), unit = UINT64_C(1) << (53 - HAC_QUANTILE_BITS);
    /* infinity and NaN stay; what rounds up past the largest number becomes infinity, as it should */
    if ((bits & INT64_MAX) >= UINT64_C(0x7ff0000000000000))
        return bits;
    uint64_t half = unit / 2 - 1 + (bits / unit & 1);
    return (bits + half) & ~(unit - 1);
}

/* ---- counts ---- */

static void count_rows(const batch *b, uint32_t offset)
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

static void count_nulls(const batch *b, uint32_t offset, const uint8_t *states)
{
    for (size_t i = 0; i < b->rows; i++)
        if (states[i] != 0)
            ++*PLACE(uint64_t, b, offset, i);
}

/* ---- sums ---- */

static void sum_f64(const batch *b, uint32_t offset, const double *v, const uint8_t *states)
{
    if (b->one) {
        double sum = *PLACE(double, b, offset, 0);
        EACH_VALUE(states, b->rows, sum += v[i])
        *PLACE(double, b, offset, 0) = sum;
        return;
    }
    EACH_VALUE(states, b->rows, *PLACE(double, b, offset, i) += v[i])
}

/* The most frequent pair, in one go over the records: their lines are touched once. */
static void count_and_sum_f64(const batch *b, uint32_t rows_offset, uint32_t offset, const double *v)
{
    uint8_t *records = b->records;
    const uint64_t *at = b->at;
    for (size_t i = 0; i < b->rows; i++) {
        uint8_t *record = records + at[i];
        ++*(uint64_t *)(void *)(record + rows_offset);
        *(double *)(void *)(record + offset) += v[i];
    }
}

static void sum_f32(const batch *b, uint32_t offset, const float *v, const uint8_t *states)
{
    EACH_VALUE(states, b->rows, *PLACE(double, b, offset, i) += (double)v[i])
}

/* False: a sum left 128 bits. */
static bool sum_few(const batch *b, uint32_t offset, const int64_t *values, size_t step)
{
    hac_i128 sums[HAC_FEW_GROUPS];
    bool overflow = false;
    hac_few_sum(b->few, values, step, sums);
    for (size_t g = 0; g < b->few->groups; g++) {
        hac_i128 *sum = RECORD(hac_i128, b, offset, g), next;
        overflow |= __builtin_add_overflow(*sum, sums[g], &next);
        *sum = next;
    }
    return !overflow;
}

static void sum_i64(const batch *b, uint32_t offset, const int64_t *v, const uint8_t *states)
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
        (void)sum_few(b, offset, v, 1); /* 2^63 rows of 64 bits stay within 128 */
        return;
    }
    EACH_VALUE(states, b->rows, hac_sum_add(PLACE(hac_i128, b, offset, i), v[i]))
}

static void sum_u64(const batch *b, uint32_t offset, const uint64_t *v, const uint8_t *states)
{
    EACH_VALUE(states, b->rows, hac_sum_add(PLACE(hac_i128, b, offset, i), (hac_i128)v[i]))
}

static bool sum_i128(const batch *b, uint32_t offset, const uint8_t *values, const uint8_t *states)
{
    bool overflow = false;
    const int64_t *pairs = (const int64_t *)(const void *)values;
    if (states == NULL && b->few->groups > 0 && hac_few_narrow(b->few, pairs))
        return sum_few(b, offset, pairs, 2);
    EACH_VALUE(states, b->rows, hac_i128 *sum = PLACE(hac_i128, b, offset, i); hac_i128 v, next;
               memcpy(&v, values + 16 * i, 16); overflow |= __builtin_add_overflow(*sum, v, &next);
               *sum = next)
    return !overflow;
}

static bool add_sum(const batch *b, const hac_accumulator *a, const hac_vector *v)
{
    switch (a->repr) {
    case HAC_REPR_I64:
        sum_i64(b, a->offset, v->values, v->states);
        return true;
    case HAC_REPR_U64:
        sum_u64(b, a->offset, v->values, v->states);
        return true;
    case HAC_REPR_I128:
        return sum_i128(b, a->offset, v->values, v->states);
    case HAC_REPR_F32:
        sum_f32(b, a->offset, v->values, v->states);
        return true;
    default:
        sum_f64(b, a->offset, v->values, v->states);
        return true;
    }
}

/* ---- min and max ---- */

#define DEFINE_EXTREME(name, stored, value_type, expression)                                                 \
    static void min_##name(const batch *b, uint32_t offset, const value_type *v, const uint8_t *states)      \
    {                                                                                                        \
        EACH_VALUE(states, b->rows, stored *to = PLACE(stored, b, offset, i); stored x = (expression);       \
                   *to = x < *to ? x : *to)                                                                  \
    }                                                                                                        \
    static void max_##name(const batch *b, uint32_t offset, const value_type *v, const uint8_t *states)      \
    {                                                                                                        \
        EACH_VALUE(states, b->rows, stored *to = PLACE(stored, b, offset, i); stored x = (expression);       \
                   *to = x > *to ? x : *to)                                                                  \
    }

DEFINE_EXTREME(i64, int64_t, int64_t, v[i])
DEFINE_EXTREME(u64, uint64_t, uint64_t, v[i])
DEFINE_EXTREME(bool, uint64_t, uint8_t, (uint64_t)(v[i] != 0))
DEFINE_EXTREME(f64, int64_t, double, hac_order_f64(v[i]))
DEFINE_EXTREME(f32, int64_t, float, hac_order_f64((double)v[i]))
DEFINE_EXTREME(i128, hac_i128, hac_i128, v[i])

static hac_status keep_extreme_string(hac_group_table *t, uint64_t *to, const uint64_t words[2], bool largest,
                                      hac_error *err)
{
    uint64_t copy[2] = {words[0], words[1]};
    if (to[0] != HAC_STRING_NONE) {
        int order = hac_string_words_compare(words, to);
        if (largest ? order <= 0 : order >= 0)
            return HAC_OK;
    }
    hac_status status = hac_arena_keep(t, copy, err);
    if (status == HAC_OK)
        memcpy(to, copy, sizeof copy);
    return status;
}

static hac_status extreme_strings(hac_group_table *t, const batch *b, const hac_accumulator *a,
                                  const hac_vector *v, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        uint64_t words[2];
        if (v->states != NULL && v->states[i] != 0)
            continue;
        hac_value_words(v, a->repr, i, words);
        status = keep_extreme_string(t, PLACE(uint64_t, b, a->offset, i), words,
                                     a->kind == HAC_ACCUMULATOR_MAX, err);
    }
    return status;
}

#define EXTREME(name) (largest ? max_##name : min_##name)(b, a->offset, v->values, v->states)

static hac_status add_extreme(hac_group_table *t, const batch *b, const hac_accumulator *a,
                              const hac_vector *v, hac_error *err)
{
    bool largest = a->kind == HAC_ACCUMULATOR_MAX;
    switch (a->repr) {
    case HAC_REPR_STRING:
        return extreme_strings(t, b, a, v, err);
    case HAC_REPR_BOOL:
        EXTREME(bool);
        break;
    case HAC_REPR_U64:
        EXTREME(u64);
        break;
    case HAC_REPR_F32:
        EXTREME(f32);
        break;
    case HAC_REPR_F64:
        EXTREME(f64);
        break;
    case HAC_REPR_I128:
        EXTREME(i128);
        break;
    default:
        EXTREME(i64);
    }
    return HAC_OK;
}

/* ---- moments ---- */

typedef struct moments {
    uint64_t n;
    double mean, m2;
} moments;

/* Welford's recurrence. */
static void add_moments(const batch *b, const hac_accumulator *a, const hac_vector *v)
{
    EACH_VALUE(v->states, b->rows, moments *m = PLACE(moments, b, a->offset, i);
               double x = hac_number(v, a->type, a->repr, i); double d = x - m->mean; m->n++;
               m->mean += d / (double)m->n; m->m2 += d * (x - m->mean))
}

/* Chan's merge. */
static void merge_moments(moments *to, const moments *from)
{
    if (from->n == 0)
        return;
    if (to->n == 0) {
        *to = *from;
        return;
    }
    double na = (double)to->n, nb = (double)from->n, n = na + nb, d = from->mean - to->mean;
    to->mean += d * (nb / n);
    to->m2 += from->m2 + d * d * (na * nb / n);
    to->n += from->n;
}

/* ---- first, last, sets, histograms ---- */

typedef struct one_value {
    uint64_t set, words[2];
} one_value;

static hac_status keep_value(hac_group_table *t, const hac_accumulator *a, one_value *to,
                             const uint64_t words[2], hac_error *err)
{
    uint64_t copy[2] = {words[0], words[1]};
    hac_status status = a->repr == HAC_REPR_STRING ? hac_arena_keep(t, copy, err) : HAC_OK;
    if (status == HAC_OK)
        *to = (one_value){.set = 1, .words = {copy[0], copy[1]}};
    return status;
}

static hac_status add_first(hac_group_table *t, const batch *b, const hac_accumulator *a, const hac_vector *v,
                            hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        one_value *to = PLACE(one_value, b, a->offset, i);
        uint64_t words[2];
        if (to->set != 0 || (v->states != NULL && v->states[i] != 0))
            continue;
        hac_value_words(v, a->repr, i, words);
        status = keep_value(t, a, to, words, err);
    }
    return status;
}

/* A batch's last value of a group is kept, not all of them: strings are copied. Backwards, `set` is 2 for
 * what this batch has set. */
static hac_status add_last(hac_group_table *t, const batch *b, const hac_accumulator *a, const hac_vector *v,
                           hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = b->rows; status == HAC_OK && i-- > 0;) {
        one_value *to = PLACE(one_value, b, a->offset, i);
        uint64_t words[2];
        if (to->set == 2 || (v->states != NULL && v->states[i] != 0))
            continue;
        hac_value_words(v, a->repr, i, words);
        status = keep_value(t, a, to, words, err);
        to->set = 2;
    }
    for (size_t i = 0; i < b->rows; i++) {
        one_value *to = PLACE(one_value, b, a->offset, i);
        to->set = to->set != 0;
    }
    return status;
}

static hac_status add_values(hac_group_table *t, const batch *b, const hac_accumulator *a,
                             const hac_vector *v, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        uint64_t words[2] = {0, 0};
        if (v->states != NULL && v->states[i] != 0)
            continue;
        if (a->kind == HAC_ACCUMULATOR_QUANTILE)
            words[0] = hac_quantile_word(hac_number(v, a->type, a->repr, i));
        else
            hac_value_words(v, a->repr, i, words);
        status = hac_value_set_add(t, a, b->at[i] / t->layout.stride, words, 1, err);
    }
    return status;
}

/* Buckets are [low, high), the last one with `high`; what lies outside is left out. */
static void add_histogram(const batch *b, const hac_accumulator *a, const hac_vector *v)
{
    EACH_VALUE(
        v->states, b->rows, double x = hac_number(v, a->type, a->repr, i); if (x >= a->low && x <= a->high) {
            uint64_t bucket = (uint64_t)((x - a->low) / (a->high - a->low) * a->k);
            ++PLACE(uint64_t, b, a->offset, i)[bucket < a->k ? bucket : a->k - 1];
        })
}

/* ---- all of a batch ---- */

static hac_status add_one(hac_group_table *t, const batch *b, size_t index, const hac_vector *v,
                          hac_error *err)
{
    const hac_accumulator *a = &t->layout.accumulators[index];
    switch (a->kind) {
    case HAC_ACCUMULATOR_SUM:
    case HAC_ACCUMULATOR_SUM_FLOAT:
        return add_sum(b, a, v) ? HAC_OK : hac_group_overflow(t, index, err);
    case HAC_ACCUMULATOR_MIN:
    case HAC_ACCUMULATOR_MAX:
        return add_extreme(t, b, a, v, err);
    case HAC_ACCUMULATOR_MOMENTS:
        add_moments(b, a, v);
        return HAC_OK;
    case HAC_ACCUMULATOR_FIRST:
        return add_first(t, b, a, v, err);
    case HAC_ACCUMULATOR_LAST:
        return add_last(t, b, a, v, err);
    case HAC_ACCUMULATOR_HISTOGRAM:
        add_histogram(b, a, v);
        return HAC_OK;
    default:
        return add_values(t, b, a, v, err);
    }
}

hac_status hac_group_overflow(const hac_group_table *t, size_t accumulator, hac_error *err)
{
    char name[HAC_AGGREGATE_NAME_MAX] = "";
    for (size_t i = 0; i < t->layout.query->n_aggregates; i++)
        if (t->layout.of_aggregate[i] == accumulator + 1) {
            hac_aggregate_name(t->layout.query, i, name);
            break;
        }
    return hac_fail(err, HAC_FAILED, "--select: %s: the sum is out of range (overflow)", name);
}

hac_status hac_group_accumulate(hac_group_table *t, const hac_vector *columns, size_t rows, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    hac_few few;
    hac_few_init(t, t->one_group ? 0 : rows, &few);
    const batch b = {.records = t->records,
                     .at = t->at,
                     .rows = rows,
                     .one = t->one_group,
                     .few = &few,
                     .stride = l->stride};
    hac_status status = HAC_OK;
    size_t first = 0;
    const hac_accumulator *a = l->accumulators;
    if (l->n_accumulators != 0 && a->kind == HAC_ACCUMULATOR_SUM_FLOAT && a->repr == HAC_REPR_F64 && !b.one &&
        columns[a->column].states == NULL) {
        count_and_sum_f64(&b, l->rows_offset, a->offset, columns[a->column].values);
        first = 1;
    } else {
        count_rows(&b, l->rows_offset);
    }
    for (size_t i = 0; i < l->n_arguments; i++)
        if (columns[l->arguments[i]].states != NULL)
            count_nulls(&b, l->rows_offset + 8 + 8 * (uint32_t)i, columns[l->arguments[i]].states);
    for (size_t i = first; status == HAC_OK && i < l->n_accumulators; i++)
        status = add_one(t, &b, i, &columns[l->accumulators[i].column], err);
    return status;
}

/* ---- merging records ---- */

static void merge_extreme(const hac_accumulator *a, uint8_t *to, const uint8_t *from)
{
    bool largest = a->kind == HAC_ACCUMULATOR_MAX, take;
    if (a->repr == HAC_REPR_I128)
        take = largest ? *(const hac_i128 *)(const void *)from > *(hac_i128 *)(void *)to
                       : *(const hac_i128 *)(const void *)from < *(hac_i128 *)(void *)to;
    else if (a->repr == HAC_REPR_U64 || a->repr == HAC_REPR_BOOL)
        take = largest ? *(const uint64_t *)(const void *)from > *(uint64_t *)(void *)to
                       : *(const uint64_t *)(const void *)from < *(uint64_t *)(void *)to;
    else
        take = largest ? *(const int64_t *)(const void *)from > *(int64_t *)(void *)to
                       : *(const int64_t *)(const void *)from < *(int64_t *)(void *)to;
    if (take)
        memcpy(to, from, a->bytes);
}

static hac_status merge_value(hac_group_table *t, const hac_accumulator *a, uint8_t *to, const uint8_t *from,
                              hac_error *err)
{
    const one_value *value = (const one_value *)(const void *)from;
    one_value *old = (one_value *)(void *)to;
    if (value->set == 0 || (a->kind == HAC_ACCUMULATOR_FIRST && old->set != 0))
        return HAC_OK;
    return keep_value(t, a, old, value->words, err);
}

static hac_status merge_extreme_string(hac_group_table *t, const hac_accumulator *a, uint8_t *to,
                                       const uint8_t *from, hac_error *err)
{
    const uint64_t *words = (const uint64_t *)(const void *)from;
    if (words[0] == HAC_STRING_NONE)
        return HAC_OK;
    return keep_extreme_string(t, (uint64_t *)(void *)to, words, a->kind == HAC_ACCUMULATOR_MAX, err);
}

static hac_status merge_one(hac_group_table *t, size_t index, uint8_t *to, const uint8_t *from,
                            hac_error *err)
{
    const hac_accumulator *a = &t->layout.accumulators[index];
    hac_i128 *sum = (hac_i128 *)(void *)to, next;
    switch (a->kind) {
    case HAC_ACCUMULATOR_SUM:
        if (__builtin_add_overflow(*sum, *(const hac_i128 *)(const void *)from, &next))
            return hac_group_overflow(t, index, err);
        *sum = next;
        return HAC_OK;
    case HAC_ACCUMULATOR_SUM_FLOAT:
        *(double *)(void *)to += *(const double *)(const void *)from;
        return HAC_OK;
    case HAC_ACCUMULATOR_MIN:
    case HAC_ACCUMULATOR_MAX:
        if (a->repr == HAC_REPR_STRING)
            return merge_extreme_string(t, a, to, from, err);
        merge_extreme(a, to, from);
        return HAC_OK;
    case HAC_ACCUMULATOR_MOMENTS:
        merge_moments((moments *)(void *)to, (const moments *)(const void *)from);
        return HAC_OK;
    case HAC_ACCUMULATOR_FIRST:
    case HAC_ACCUMULATOR_LAST:
        return merge_value(t, a, to, from, err);
    case HAC_ACCUMULATOR_HISTOGRAM:
        for (uint32_t i = 0; i < a->k; i++)
            ((uint64_t *)(void *)to)[i] += ((const uint64_t *)(const void *)from)[i];
        return HAC_OK;
    default: /* sets: their entries lie behind the records */
        return HAC_OK;
    }
}

hac_status hac_group_merge_record(hac_group_table *t, uint8_t *to, const uint8_t *from, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    uint64_t *counts = (uint64_t *)(void *)(to + l->rows_offset);
    const uint64_t *more = (const uint64_t *)(const void *)(from + l->rows_offset);
    hac_status status = HAC_OK;
    for (size_t i = 0; i <= l->n_arguments; i++)
        counts[i] += more[i];
    for (size_t i = 0; status == HAC_OK && i < l->n_accumulators; i++)
        status = merge_one(t, i, to + l->accumulators[i].offset, from + l->accumulators[i].offset, err);
    return status;
}
