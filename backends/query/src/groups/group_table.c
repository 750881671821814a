/* SPDX-License-Identifier: Apache-2.0 */
#include "query/group_table.h"

#include <stdlib.h>
#include <string.h>

#include "accumulators/accumulator.h"
#include "base/cleanup.h"
#include "fixed_rows.h"
#include "fixed_slots.h"
#include "group_coded.h"
#include "group_direct.h"

HAC_DEFINE_CLEANUP(hac_group_table *, hac_group_table_free)

/* Lists the lanes of a group: its rows, then those of its accumulators. */
static bool make_lanes(hac_group_table *t)
{
    const hac_group_layout *layout = &t->layout;
    hac_lanes *l = &t->lanes;
    l->to = calloc(1 + layout->n_accumulators * HAC_LANES_MAX, sizeof *l->to);
    l->first = calloc(layout->n_accumulators + 1, sizeof *l->first);
    if (l->to == NULL || l->first == NULL)
        return false;
    l->to[0] = (hac_lane){.offset = layout->rows_offset, .words = 1};
    l->n = 1;
    for (size_t i = 0; i < layout->n_accumulators; i++) {
        const hac_accumulator *a = &layout->accumulators[i];
        const hac_accumulator_ops *ops = hac_accumulator_ops_of(a);
        size_t n = ops->lanes == NULL ? 0 : ops->lanes(a, &l->to[l->n]);
        l->first[i] = (uint16_t)(n == 0 ? 0 : l->n);
        for (size_t k = 0; k < n; k++)
            l->to[l->n++].offset += a->offset;
    }
    return true;
}

hac_status hac_group_table_new(const hac_query *query, const hac_group_options *options,
                               hac_group_table **ret, hac_error *err)
{
    if (options->partitions == 0 || options->partitions > 4096 ||
        (options->partitions & (options->partitions - 1)) != 0)
        return hac_fail(err, HAC_INVALID, "%u partitions; a power of two up to 4096 is possible",
                        options->partitions);
    if (options->passes > 1 && options->pass >= options->passes)
        return hac_fail(err, HAC_INVALID, "pass %u of %u", options->pass, options->passes);
    hac_cleanup(hac_group_table_free_cleanup) hac_group_table *t = calloc(1, sizeof *t);
    if (t == NULL)
        return hac_fail_no_memory(err);
    t->options = *options;
    t->budget.limit = options->memory;
    t->arena.budget = &t->budget;
    t->null_group = HAC_NO_GROUP;
    t->hash_start = hac_hash_start(options->seed);
    hac_status status = hac_group_layout_init(query, &t->layout, err);
    if (status != HAC_OK)
        return status;
    /* words of the columns, the compared word, and the null bytes of hac_group_keys_load_records */
    size_t words = t->layout.key_words + 2 * t->layout.n_keys + 4;
    t->words = aligned_alloc(64, words * HAC_BATCH_ROWS * sizeof *t->words);
    t->sets = calloc(t->layout.n_sets + 1, sizeof *t->sets);
    t->value_columns = calloc(t->layout.n_value_columns + 1, sizeof *t->value_columns);
    t->empty = malloc(t->layout.stride);
    t->exact.units = calloc(t->layout.n_accumulators + 1, sizeof *t->exact.units);
    t->exact.of = calloc(t->layout.n_accumulators + 1, sizeof *t->exact.of);
    if (t->words == NULL || t->sets == NULL || t->value_columns == NULL || t->empty == NULL ||
        t->exact.units == NULL || t->exact.of == NULL)
        return hac_fail_no_memory(err);
    t->exact.budget = &t->budget;
    for (size_t i = 0; i < t->layout.n_accumulators; i++) {
        const hac_accumulator *a = &t->layout.accumulators[i];
        const hac_accumulator_ops *ops = hac_accumulator_ops_of(a);
        t->exact.of[i] = (hac_exact_terms){ops->terms, ops->n_terms};
        t->exact.used |= ops->n_terms != 0;
        if (hac_accumulator_info_of(a)->set)
            t->sets[a->set] =
                (hac_value_set){.budget = &t->budget,
                                .arena = &t->arena,
                                .hash_start = t->hash_start,
                                .repr = a->kind == HAC_ACCUMULATOR_QUANTILE ? HAC_REPR_I128 : a->repr};
        if (hac_accumulator_info_of(a)->all)
            t->value_columns[a->set] =
                (hac_value_column){.budget = &t->budget, .size = hac_accumulator_value_size(a)};
    }
    if (!make_lanes(t))
        return hac_fail_no_memory(err);
    hac_group_layout_empty(&t->layout, t->empty);
    hac_exact_reset(t);
    *ret = hac_steal_ptr(t);
    return HAC_OK;
}

void hac_group_table_free(hac_group_table *t)
{
    if (t == NULL)
        return;
    for (uint32_t i = 0; t->sets != NULL && i < t->layout.n_sets; i++)
        hac_value_set_clear(&t->sets[i]);
    for (uint32_t i = 0; t->value_columns != NULL && i < t->layout.n_value_columns; i++)
        hac_value_column_clear(&t->value_columns[i]);
    hac_group_arena_clear(&t->arena);
    free(t->sets);
    free(t->value_columns);
    free(t->exact.units);
    free(t->exact.of);
    free(t->exact.digits);
    free(t->exact.loose);
    free(t->exact.scales);
    free(t->exact.limbs);
    for (size_t i = 0; t->buckets != NULL && i < t->layout.n_accumulators; i++)
        hac_buckets_clear(&t->buckets[i]);
    free(t->buckets);
    free(t->empty);
    free(t->words);
    free(t->word_slots);
    free(t->direct.groups);
    free(t->lanes.to);
    free(t->lanes.first);
    free(t->lanes.of);
    free(t->records);
    free(t->slots.memory);
    free(t->slots.places);
    free(t->scratch);
    free(t->repeats);
    hac_group_coded_free(t->coded);
    free(t->pieces);
    hac_group_results_free(t->results);
    hac_group_layout_clear(&t->layout);
    free(t);
}

void hac_group_table_reset(hac_group_table *t)
{
    if (t->n_slots != 0)
        memset(t->word_slots, 0, t->n_slots * hac_group_slot_bytes(t));
    hac_fixed_slots_reset(t);
    hac_direct_reset(&t->direct);
    hac_lanes_reset(t);
    hac_group_coded_reset(t->coded);
    for (uint32_t i = 0; i < t->layout.n_sets; i++)
        hac_value_set_reset(&t->sets[i]);
    for (uint32_t i = 0; i < t->layout.n_value_columns; i++)
        hac_value_column_reset(&t->value_columns[i]);
    hac_group_arena_clear(&t->arena);
    hac_exact_reset(t);
    t->groups = 0;
    t->null_group = HAC_NO_GROUP;
}

uint64_t hac_group_table_groups(const hac_group_table *table)
{
    return table->groups;
}

/* Whether rows can be added as fixed rows. Once a batch of the chunk had nulls, none is. */
static bool are_fixed(const hac_group_table *t, const hac_column *columns, size_t rows)
{
    uint8_t nulls = 0;
    for (size_t c = 0; t->layout.slots && c < t->layout.query->rows->n_outputs; c++)
        for (size_t i = 0; columns[c].states != NULL && i < rows; i++)
            nulls |= columns[c].states[i];
    return t->layout.slots && !t->slots.off && nulls == 0;
}

/* Rows of a query without keys, which has one group, the first one. */
static hac_status add_to_one(hac_group_table *t, const hac_column *columns, size_t rows, hac_error *err)
{
    hac_status status = hac_group_table_ensure(t, err);
    memset(t->at, 0, rows * sizeof *t->at);
    t->numbered = false;
    t->one_group = true;
    return status == HAC_OK ? hac_group_accumulate(t, columns, rows, err) : status;
}

hac_status hac_group_add(hac_group_table *t, const hac_column *columns, size_t rows, uint32_t partition,
                         hac_error *err)
{
    bool found = false;
    if (t->layout.n_keys == 0 && partition == UINT32_MAX)
        return add_to_one(t, columns, rows, err);
    if (are_fixed(t, columns, rows))
        return hac_fixed_rows_add_batch(t, columns, rows, partition, err);
    t->numbered = false;
    hac_status status =
        partition == UINT32_MAX ? hac_group_find_coded(t, columns, rows, &found, err) : HAC_OK;
    if (status == HAC_OK && !found && partition == UINT32_MAX)
        status = hac_group_find_repeats(t, columns, rows, &found, err);
    if (status == HAC_OK && !found)
        status = hac_group_find_all(t, columns, rows, partition, err);
    if (status == HAC_OK)
        hac_group_note_one_group(t, rows);
    if (status == HAC_OK)
        status = hac_group_accumulate(t, columns, rows, err);
    return status;
}

/* ---- passes ---- */

static void copy_row(hac_column *to, size_t n, const hac_column *from, size_t row, size_t size)
{
    memcpy((uint8_t *)to->values + n * size, (const uint8_t *)from->values + row * size, size);
    if (from->states != NULL)
        to->states[n] = from->states[row];
}

/* Returns the rows whose hash belongs to this pass, as columns. */
hac_status hac_group_keep_pass(hac_group_table *t, const hac_column *columns, size_t rows,
                               const hac_column **ret, size_t *ret_rows, hac_error *err)
{
    size_t n_columns = t->layout.query->rows->n_outputs, n = 0;
    size_t values = n_columns * 16 * HAC_BATCH_ROWS, states = n_columns * HAC_BATCH_ROWS;
    if (t->pieces == NULL)
        t->pieces = malloc(n_columns * sizeof(hac_column) + values + states + 64);
    if (t->pieces == NULL)
        return hac_fail_no_memory(err);
    hac_column *kept = t->pieces;
    uint8_t *memory = (uint8_t *)(kept + n_columns);
    memory += -(uintptr_t)memory & 15;
    for (size_t c = 0; c < n_columns; c++) {
        kept[c] = columns[c];
        kept[c].values = memory + c * 16 * HAC_BATCH_ROWS;
        kept[c].codes = NULL;
        kept[c].states = columns[c].states == NULL ? NULL : memory + values + c * HAC_BATCH_ROWS;
    }
    hac_group_keys_load(t, columns, rows);
    hac_group_keys_hash(t, rows);
    for (size_t i = 0; i < rows; i++) {
        if (hac_hash_pass(t->hash[i], t->options.passes) != t->options.pass)
            continue;
        for (size_t c = 0; c < n_columns; c++)
            copy_row(&kept[c], n, &columns[c], i, hac_repr_size(hac_repr_of(columns[c].type)));
        n++;
    }
    *ret = kept;
    *ret_rows = n;
    return HAC_OK;
}

hac_status hac_group_table_count(hac_group_table *table, uint64_t rows, hac_error *err)
{
    hac_status status = hac_group_table_ensure(table, err);
    if (status != HAC_OK)
        return status;
    uint64_t *count = (uint64_t *)(void *)(table->records + table->layout.rows_offset);
    *count += rows; /* a file has less than 2^63 rows */
    return HAC_OK;
}

hac_status hac_group_table_correct(hac_group_table *table, uint64_t rows, const uint64_t *nulls,
                                   hac_error *err)
{
    const hac_group_layout *l = &table->layout;
    hac_status status = hac_group_table_ensure(table, err);
    if (status != HAC_OK)
        return status;
    uint64_t *counts = (uint64_t *)(void *)(table->records + l->rows_offset);
    counts[0] += rows;
    for (size_t i = 0; i < l->n_arguments; i++)
        counts[1 + i] += nulls[l->arguments[i]];
    return HAC_OK;
}

hac_status hac_group_table_add(hac_group_table *table, const hac_column *columns, size_t rows, hac_error *err)
{
    if (table->options.passes > 1) {
        hac_status status = hac_group_keep_pass(table, columns, rows, &columns, &rows, err);
        if (status != HAC_OK)
            return status;
    }
    return rows == 0 ? HAC_OK : hac_group_add(table, columns, rows, UINT32_MAX, err);
}
