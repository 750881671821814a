/* SPDX-License-Identifier: Apache-2.0 */
/* Groups as columns: their keys, and the results of the aggregates. */
#include <stdlib.h>

#include "accumulators/accumulator.h"

static hac_status prepare(hac_group_table *t, hac_column *ret, hac_error *err)
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
        ret[c] = (hac_column){.type = c < query->n_keys ? query->rows->outputs[c].type
                                                        : query->aggregate[c - query->n_keys].type,
                              .values = memory,
                              .states = memory + 16 * HAC_BATCH_ROWS};
        memset(ret[c].states, 0, HAC_BATCH_ROWS);
    }
    return HAC_OK;
}

void hac_group_results_free(struct hac_group_results *results)
{
    if (results == NULL)
        return;
    free(results->text.data);
    free(results->memory);
    free(results);
}
/* ---- an aggregate of a group ---- */

static uint64_t not_null(const hac_group_layout *l, const uint8_t *record, uint16_t column)
{
    uint64_t rows, nulls = 0;
    memcpy(&rows, record + l->rows_offset, sizeof rows);
    for (size_t i = 0; i < l->n_arguments; i++)
        if (l->arguments[i] == column)
            memcpy(&nulls, record + l->rows_offset + 8 + 8 * i, sizeof nulls);
    return rows - nulls;
}

static hac_status put_aggregate(hac_group_table *t, size_t index, uint64_t group, hac_column *v, size_t row,
                                hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    const hac_aggregate *g = &l->query->aggregate[index];
    const uint8_t *record = hac_group_record(t, group);
    uint64_t n = not_null(l, record, g->argument < 0 ? UINT16_MAX : (uint16_t)g->argument);
    const hac_result_cell cell = {.t = t, .aggregate = index, .group = group, .n = n, .v = v, .row = row};
    if (n == 0 && !hac_aggregate_info_of(g->function)->never_null) {
        hac_group_put_null(v, row);
        return HAC_OK;
    }
    if (g->function == HAC_AGGREGATE_COUNT || g->function == HAC_AGGREGATE_COUNT_ROWS)
        return hac_group_put_sum(&cell, (hac_i128)n, err);
    const hac_accumulator *a = &l->accumulators[l->of_aggregate[index] - 1];
    return hac_accumulator_ops_of(a)->result(&cell, a, record + a->offset, err);
}

static void put_key(const hac_group_table *t, uint64_t group, size_t key, hac_column *v, size_t row)
{
    uint64_t words[2];
    if (hac_group_record_key(&t->layout, hac_group_record(t, group), key, group == t->null_group, words))
        hac_group_put_null(v, row);
    else
        hac_group_put_words(&t->results->text, v, row, words);
}

/* ---- columns of the usual kind, without a decision a value ---- */

/* Copies the word at `offset` of each record. */
static void copy_words(const hac_group_table *t, uint64_t first, size_t n, uint32_t offset, hac_column *v)
{
    const uint8_t *record = hac_group_record(t, first) + offset;
    for (size_t i = 0; i < n; i++)
        memcpy((uint64_t *)v->values + i, record + i * t->layout.stride, sizeof(uint64_t));
}

static bool put_integer_keys(const hac_group_table *t, uint64_t first, size_t n, hac_column *v)
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

/* The windows at `offset` of records, rounded. */
static void round_windows(const hac_group_table *t, uint64_t first, size_t n, const hac_accumulator *a,
                          hac_column *v)
{
    const uint8_t *record = hac_group_record(t, first) + a->offset;
    int32_t unit = t->exact.units[a - t->layout.accumulators].of[0];
    for (size_t i = 0; i < n; i++)
        ((double *)v->values)[i] =
            hac_exact_round_window((const uint64_t *)(const void *)(record + i * t->layout.stride),
                                   unit == HAC_EXACT_NO_UNIT ? 0 : unit);
}

/* Fast path for counts of rows, and for f64 sums if all rows have a value. False: not possible. */
static bool put_words_of_records(const hac_group_table *t, size_t index, uint64_t first, size_t n,
                                 hac_column *v)
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
    if (t->exact.n != 0 || any_nulls(t, (uint16_t)g->argument, first, n))
        return false;
    round_windows(t, first, n, a, v);
    return true;
}

static hac_status put_aggregates(hac_group_table *t, size_t index, uint64_t first, size_t n, hac_column *v,
                                 hac_error *err)
{
    hac_status status = HAC_OK;
    if (t->layout.n_keys != 0 && put_words_of_records(t, index, first, n, v))
        return HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < n; i++)
        status = put_aggregate(t, index, first + i, v, i, err);
    return status;
}

static void put_keys(const hac_group_table *t, uint64_t first, size_t n, size_t key, hac_column *v)
{
    if (put_integer_keys(t, first, n, v))
        return;
    for (size_t i = 0; i < n; i++)
        put_key(t, first + i, key, v, i);
}

static hac_status begin(hac_group_table *t, uint64_t first, size_t n, hac_column *ret, hac_error *err)
{
    if (n > HAC_BATCH_ROWS || first > t->groups || n > t->groups - first)
        return hac_fail(err, HAC_INTERNAL, "groups that are not there");
    hac_status status = hac_group_settle(t, err);
    hac_exact_sort(&t->exact);
    return status == HAC_OK ? prepare(t, ret, err) : status;
}

static hac_status end(const hac_group_table *t, size_t n, hac_column *ret, hac_error *err)
{
    const hac_query *query = t->layout.query;
    if (t->results->text.broken)
        return hac_fail(err, HAC_NO_MEMORY, "the strings of %zu groups need too much memory", n);
    for (size_t c = 0; c < query->n_keys + query->n_aggregates; c++)
        ret[c].bytes = t->results->text.data;
    return HAC_OK;
}

hac_status hac_group_table_results(hac_group_table *table, uint64_t first, size_t n, hac_column *ret,
                                   hac_error *err)
{
    const hac_query *query = table->layout.query;
    hac_status status = begin(table, first, n, ret, err);
    for (size_t k = 0; status == HAC_OK && k < query->n_keys; k++)
        put_keys(table, first, n, k, &ret[k]);
    for (size_t a = 0; status == HAC_OK && a < query->n_aggregates; a++)
        status = put_aggregates(table, a, first, n, &ret[query->n_keys + a], err);
    return status == HAC_OK ? end(table, n, ret, err) : status;
}

/* ---- pairs of count(distinct x) ---- */

hac_status hac_group_table_pairs(hac_group_table *table, uint64_t first, size_t n, hac_column *ret,
                                 hac_error *err)
{
    size_t x = table->layout.n_keys - 1;
    hac_status status = begin(table, first, n, ret, err);
    if (status != HAC_OK)
        return status;
    for (size_t k = 0; k < x; k++)
        put_keys(table, first, n, k, &ret[k]);
    for (size_t i = 0; i < n; i++) {
        uint64_t words[2];
        ret[x].states[i] = hac_group_record_key(&table->layout, hac_group_record(table, first + i), x,
                                                first + i == table->null_group, words);
    }
    copy_words(table, first, n, table->layout.rows_offset, &ret[x]);
    return end(table, n, ret, err);
}

hac_status hac_group_table_count_pairs(hac_group_table *table, hac_group_pair_counts *ret, hac_error *err)
{
    const hac_group_layout *l = &table->layout;
    hac_group_pair_counts counts = {.pairs = table->groups};
    hac_status status = hac_group_settle(table, err);
    if (status != HAC_OK)
        return status;
    for (uint64_t g = 0; g < table->groups; g++) {
        uint64_t rows;
        memcpy(&rows, hac_group_record(table, g) + l->rows_offset, sizeof rows);
        counts.rows += rows;
        if (g == table->null_group)
            counts.null_rows = rows;
    }
    *ret = counts;
    return HAC_OK;
}
