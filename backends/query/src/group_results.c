/* SPDX-License-Identifier: Apache-2.0 */
/* Groups as vectors: their keys, and what the aggregates come to. */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "group_internal.h"
#include "string_words.h"

struct hac_group_results {
    hac_group_text text;
    size_t n;
    uint8_t *memory; /* 16 · HAC_BATCH_ROWS of values and HAC_BATCH_ROWS of states a column */
};

void hac_group_results_free(struct hac_group_results *results)
{
    if (results == NULL)
        return;
    free(results->text.data);
    free(results->memory);
    free(results);
}

static hac_status prepare(hac_group_table *t, hac_vector *ret, hac_error *err)
{
    const hac_query *query = t->layout.query;
    size_t n = query->n_keys + query->n_aggregates, column = 17 * HAC_BATCH_ROWS;
    if (t->results == NULL) {
        t->results = calloc(1, sizeof *t->results);
        if (t->results != NULL)
            t->results->memory = aligned_alloc(64, (n + 1) * column);
        if (t->results == NULL || t->results->memory == NULL)
            return hac_fail_no_memory(err);
    }
    t->results->text.n = 0;
    t->results->text.broken = false;
    for (size_t c = 0; c < n; c++) {
        uint8_t *memory = t->results->memory + c * column;
        ret[c] = (hac_vector){.type = c < query->n_keys ? query->rows->outputs[c].type
                                                        : query->aggregate[c - query->n_keys].type,
                              .values = memory,
                              .states = memory + 16 * HAC_BATCH_ROWS};
        memset(ret[c].states, 0, HAC_BATCH_ROWS);
    }
    return HAC_OK;
}

/* ---- one value ---- */

static void put_string(hac_group_text *text, hac_vector *v, size_t row, const uint64_t words[2])
{
    uint32_t n;
    const uint8_t *bytes = hac_words_to_string(words, &n);
    ((hac_string_ref *)v->values)[row] = (hac_string_ref){.offset = (uint32_t)text->n, .length = n};
    hac_group_text_add(text, bytes, n);
}

/* A key or a value in words (hac_value_words). */
static void put_words(hac_group_text *text, hac_vector *v, size_t row, const uint64_t words[2])
{
    hac_repr repr = hac_repr_of(v->type);
    if (repr == HAC_REPR_STRING)
        put_string(text, v, row, words);
    else if (repr == HAC_REPR_BOOL)
        ((uint8_t *)v->values)[row] = words[0] != 0;
    else
        memcpy((uint8_t *)v->values + row * hac_repr_size(repr), words, hac_repr_size(repr));
}

static void put_null(hac_vector *v, size_t row)
{
    uint64_t nothing[2] = {0, 0};
    v->states[row] = HAC_ROW_NULL;
    memcpy((uint8_t *)v->values + row * hac_repr_size(hac_repr_of(v->type)), nothing,
           hac_repr_size(hac_repr_of(v->type)));
}

static void put_f64(hac_vector *v, size_t row, double value)
{
    if (v->type.kind == HAC_KIND_F32)
        ((float *)v->values)[row] = (float)value;
    else
        ((double *)v->values)[row] = value;
}

static hac_status put_extreme(hac_group_text *text, hac_vector *v, size_t row, const uint64_t *words)
{
    hac_repr repr = hac_repr_of(v->type);
    if (repr == HAC_REPR_F32 || repr == HAC_REPR_F64)
        put_f64(v, row, hac_unorder_f64((int64_t)words[0]));
    else
        put_words(text, v, row, words);
    return HAC_OK;
}

/* ---- sums ---- */

static hac_i128 power_128(unsigned digits)
{
    static const uint64_t powers[] = {UINT64_C(1),
                                      UINT64_C(10),
                                      UINT64_C(100),
                                      UINT64_C(1000),
                                      UINT64_C(10000),
                                      UINT64_C(100000),
                                      UINT64_C(1000000),
                                      UINT64_C(10000000),
                                      UINT64_C(100000000),
                                      UINT64_C(1000000000),
                                      UINT64_C(10000000000),
                                      UINT64_C(100000000000),
                                      UINT64_C(1000000000000),
                                      UINT64_C(10000000000000),
                                      UINT64_C(100000000000000),
                                      UINT64_C(1000000000000000),
                                      UINT64_C(10000000000000000),
                                      UINT64_C(100000000000000000),
                                      UINT64_C(1000000000000000000),
                                      UINT64_C(10000000000000000000)};
    return digits < 20 ? (hac_i128)powers[digits] : (hac_i128)powers[19] * powers[digits - 19];
}

static hac_status put_sum(const hac_group_table *t, size_t index, hac_vector *v, size_t row, hac_i128 sum,
                          hac_error *err)
{
    char name[HAC_AGGREGATE_NAME_MAX];
    hac_repr repr = hac_repr_of(v->type);
    bool fits = true;
    if (v->type.kind == HAC_KIND_DECIMAL)
        fits = sum < power_128(v->type.precision) && sum > -power_128(v->type.precision);
    else if (repr == HAC_REPR_U64)
        fits = sum >= 0 && sum <= (hac_i128)UINT64_MAX;
    else if (repr == HAC_REPR_I64)
        fits = sum >= INT64_MIN && sum <= INT64_MAX;
    if (!fits)
        return hac_fail(err, HAC_FAILED, "--select: %s: the sum does not fit %s",
                        hac_aggregate_name(t->layout.query, index, name),
                        v->type.kind == HAC_KIND_DECIMAL
                            ? "its digits"
                            : "64 bits; cast the argument to decimal(38,0) or f64");
    if (repr == HAC_REPR_F64 || repr == HAC_REPR_F32)
        put_f64(v, row, (double)sum);
    else
        memcpy((uint8_t *)v->values + row * hac_repr_size(repr), &sum, hac_repr_size(repr));
    return HAC_OK;
}

/* One rounding where sum and divisor are exact as f64. */
static double average(const hac_accumulator *a, const uint8_t *record, uint64_t n)
{
    hac_i128 sum;
    double f64;
    if (a->kind == HAC_ACCUMULATOR_SUM_FLOAT) {
        memcpy(&f64, record + a->offset, sizeof f64);
        return f64 / (double)n;
    }
    memcpy(&sum, record + a->offset, sizeof sum);
    double scale = a->type.kind == HAC_KIND_DECIMAL ? hac_group_power_of_ten(a->type.scale) : 1;
    return (double)sum / ((double)n * scale);
}

static void put_spread(hac_vector *v, size_t row, unsigned function, const uint8_t *moments)
{
    uint64_t n;
    double m2;
    memcpy(&n, moments, sizeof n);
    memcpy(&m2, moments + 16, sizeof m2);
    bool population = function == HAC_AGGREGATE_VARIANCE_POP || function == HAC_AGGREGATE_STDDEV_POP;
    if (n < (population ? 1 : 2)) {
        put_null(v, row);
        return;
    }
    double variance = m2 / (double)(population ? n : n - 1);
    bool root = function == HAC_AGGREGATE_STDDEV || function == HAC_AGGREGATE_STDDEV_POP;
    put_f64(v, row, root ? sqrt(variance) : variance);
}

/* ---- an aggregate of a group ---- */

static hac_status put_set(const hac_group_table *t, size_t index, const hac_accumulator *a,
                          const uint8_t *record, hac_vector *v, size_t row, hac_error *err)
{
    const hac_aggregate *g = &t->layout.query->aggregate[index];
    hac_group_text *text = &t->results->text;
    hac_value_list list;
    hac_status status = HAC_OK;
    double value = 0;
    memcpy(&list, record + a->offset, sizeof list);
    if (g->function == HAC_AGGREGATE_QUANTILE) {
        status = hac_group_quantile(t, a, g->low, &list, &value, err);
        put_f64(v, row, value);
        return status;
    }
    hac_string_ref ref = {.offset = (uint32_t)text->n};
    if (g->function == HAC_AGGREGATE_TOP_K)
        status = hac_group_top_k(t, a, g->k, &list, text, err);
    else
        hac_group_string_list(t, a, &list, text);
    ref.length = (uint32_t)(text->n - ref.offset);
    ((hac_string_ref *)v->values)[row] = ref;
    return status;
}

static void put_histogram(const hac_group_table *t, const hac_accumulator *a, const uint8_t *record,
                          hac_vector *v, size_t row)
{
    hac_group_text *text = &t->results->text;
    hac_string_ref ref = {.offset = (uint32_t)text->n};
    hac_group_histogram(a, (const uint64_t *)(const void *)(record + a->offset), text);
    ref.length = (uint32_t)(text->n - ref.offset);
    ((hac_string_ref *)v->values)[row] = ref;
}

static hac_status put_one(const hac_group_table *t, size_t index, const hac_accumulator *a,
                          const uint8_t *record, uint64_t n, hac_vector *v, size_t row, hac_error *err)
{
    const hac_aggregate *g = &t->layout.query->aggregate[index];
    hac_group_text *text = &t->results->text;
    const uint64_t *words = (const uint64_t *)(const void *)(record + a->offset);
    hac_i128 sum;
    switch (g->function) {
    case HAC_AGGREGATE_SUM:
        if (a->kind == HAC_ACCUMULATOR_SUM_FLOAT) {
            double value;
            memcpy(&value, words, sizeof value);
            put_f64(v, row, value);
            return HAC_OK;
        }
        memcpy(&sum, words, sizeof sum);
        return put_sum(t, index, v, row, sum, err);
    case HAC_AGGREGATE_AVG:
        put_f64(v, row, average(a, record, n));
        return HAC_OK;
    case HAC_AGGREGATE_MIN:
    case HAC_AGGREGATE_MAX:
        return put_extreme(text, v, row, words);
    case HAC_AGGREGATE_FIRST:
    case HAC_AGGREGATE_LAST:
        put_words(text, v, row, words + 1);
        return HAC_OK;
    case HAC_AGGREGATE_HISTOGRAM:
        put_histogram(t, a, record, v, row);
        return HAC_OK;
    case HAC_AGGREGATE_TOP_K:
    case HAC_AGGREGATE_STRING_LIST:
    case HAC_AGGREGATE_QUANTILE:
        return put_set(t, index, a, record, v, row, err);
    default:
        put_spread(v, row, g->function, (const uint8_t *)words);
        return HAC_OK;
    }
}

static uint64_t not_null(const hac_group_layout *l, const uint8_t *record, uint16_t column)
{
    uint64_t rows, nulls = 0;
    memcpy(&rows, record + l->rows_offset, sizeof rows);
    for (size_t i = 0; i < l->n_arguments; i++)
        if (l->arguments[i] == column)
            memcpy(&nulls, record + l->rows_offset + 8 + 8 * i, sizeof nulls);
    return rows - nulls;
}

static bool gives_null(unsigned function, uint64_t n)
{
    return n == 0 && function != HAC_AGGREGATE_COUNT && function != HAC_AGGREGATE_COUNT_ROWS &&
           function != HAC_AGGREGATE_COUNT_DISTINCT && function != HAC_AGGREGATE_HISTOGRAM;
}

static hac_status put_aggregate(const hac_group_table *t, size_t index, const uint8_t *record, hac_vector *v,
                                size_t row, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    const hac_aggregate *g = &l->query->aggregate[index];
    uint64_t n = not_null(l, record, g->argument < 0 ? UINT16_MAX : (uint16_t)g->argument);
    if (gives_null(g->function, n)) {
        put_null(v, row);
        return HAC_OK;
    }
    if (g->function == HAC_AGGREGATE_COUNT || g->function == HAC_AGGREGATE_COUNT_ROWS)
        return put_sum(t, index, v, row, (hac_i128)n, err);
    const hac_accumulator *a = &l->accumulators[l->of_aggregate[index] - 1];
    if (g->function == HAC_AGGREGATE_COUNT_DISTINCT) {
        hac_value_list list;
        memcpy(&list, record + a->offset, sizeof list);
        return put_sum(t, index, v, row, (hac_i128)list.n, err);
    }
    return put_one(t, index, a, record, n, v, row, err);
}

static void put_key(const hac_group_table *t, uint64_t group, size_t key, hac_vector *v, size_t row)
{
    uint64_t words[2];
    if (hac_group_record_key(&t->layout, hac_group_record(t, group), key, group == t->null_group, words))
        put_null(v, row);
    else
        put_words(&t->results->text, v, row, words);
}

/* ---- columns of the usual kind, without a decision a value ---- */

/* The word at `offset` of each record. */
static void copy_words(const hac_group_table *t, uint64_t first, size_t n, uint32_t offset, hac_vector *v)
{
    const uint8_t *record = hac_group_record(t, first) + offset;
    for (size_t i = 0; i < n; i++)
        memcpy((uint64_t *)v->values + i, record + i * t->layout.stride, sizeof(uint64_t));
}

static bool put_integer_keys(const hac_group_table *t, uint64_t first, size_t n, hac_vector *v)
{
    hac_repr repr = hac_repr_of(v->type);
    bool null = t->null_group >= first && t->null_group - first < n;
    if (t->layout.n_keys != 1 || null || (repr != HAC_REPR_I64 && repr != HAC_REPR_U64))
        return false;
    copy_words(t, first, n, 0, v);
    return true;
}

static bool any_nulls(const hac_group_table *t, uint16_t column, uint64_t first, size_t n)
{
    uint64_t nulls = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *record = hac_group_record(t, first + i);
        nulls |= not_null(&t->layout, record, UINT16_MAX) - not_null(&t->layout, record, column);
    }
    return nulls != 0;
}

/* Counts of rows, and sums of f64 of groups all of whose rows have a value. */
static bool put_words_of_records(const hac_group_table *t, size_t index, uint64_t first, size_t n,
                                 hac_vector *v)
{
    const hac_group_layout *l = &t->layout;
    const hac_aggregate *g = &l->query->aggregate[index];
    if (g->function == HAC_AGGREGATE_COUNT_ROWS && hac_repr_size(hac_repr_of(v->type)) == 8) {
        copy_words(t, first, n, l->rows_offset, v);
        return true;
    }
    if (g->function != HAC_AGGREGATE_SUM || v->type.kind != HAC_KIND_F64)
        return false;
    const hac_accumulator *a = &l->accumulators[l->of_aggregate[index] - 1];
    if (a->kind != HAC_ACCUMULATOR_SUM_FLOAT || any_nulls(t, (uint16_t)g->argument, first, n))
        return false;
    copy_words(t, first, n, a->offset, v);
    return true;
}

static hac_status put_aggregates(const hac_group_table *t, size_t index, uint64_t first, size_t n,
                                 hac_vector *v, hac_error *err)
{
    hac_status status = HAC_OK;
    if (t->layout.n_keys != 0 && put_words_of_records(t, index, first, n, v))
        return HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < n; i++)
        status = put_aggregate(t, index, hac_group_record(t, first + i), v, i, err);
    return status;
}

hac_status hac_group_table_results(hac_group_table *table, uint64_t first, size_t n, hac_vector *ret,
                                   hac_error *err)
{
    const hac_query *query = table->layout.query;
    if (n > HAC_BATCH_ROWS || first > table->groups || n > table->groups - first)
        return hac_fail(err, HAC_INTERNAL, "groups that are not there");
    hac_status status = hac_group_settle(table, err);
    if (status == HAC_OK)
        status = prepare(table, ret, err);
    for (size_t k = 0; status == HAC_OK && k < query->n_keys; k++) {
        if (put_integer_keys(table, first, n, &ret[k]))
            continue;
        for (size_t i = 0; i < n; i++)
            put_key(table, first + i, k, &ret[k], i);
    }
    for (size_t a = 0; status == HAC_OK && a < query->n_aggregates; a++)
        status = put_aggregates(table, a, first, n, &ret[query->n_keys + a], err);
    if (status == HAC_OK && table->results->text.broken)
        return hac_fail(err, HAC_NO_MEMORY, "the strings of %zu groups need too much memory", n);
    for (size_t c = 0; status == HAC_OK && c < query->n_keys + query->n_aggregates; c++)
        ret[c].bytes = table->results->text.data;
    return status;
}
