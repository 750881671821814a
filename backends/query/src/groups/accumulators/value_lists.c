/* SPDX-License-Identifier: Apache-2.0 */
/* Distinct values with their counts. */
#include <stdlib.h>

#include "accumulator.h"
#include "base/cleanup.h"
#include "base/value_text.h"
#include "sources/string_words.h"

/* ---- adding ---- */

/* Adds values of one word to a set that is near. */
static hac_status add_words(hac_value_set *set, const hac_accumulate_batch *b, uint32_t offset,
                            const uint64_t *values, const uint8_t *states, hac_error *err)
{
    const hac_record_divisor divisor = hac_record_divisor_of(b->stride);
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        uint64_t group = hac_record_number(divisor, b->at[i]), words[2] = {values[i], 0};
        if ((states == NULL || states[i] == 0) && !hac_value_set_count_word(set, group, words[0]))
            status = hac_value_set_add(set, PLACE(hac_value_list, b, offset, i), group, words, 1, err);
    }
    return status;
}

static hac_status add_values(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                             const hac_column *v, hac_error *err)
{
    const hac_record_divisor divisor = hac_record_divisor_of(b->stride);
    hac_value_set *set = &t->sets[a->set];
    hac_value_row rows[HAC_VALUES_AHEAD];
    hac_status status = HAC_OK;
    size_t n = 0;
    bool word = a->repr == HAC_REPR_I64 || a->repr == HAC_REPR_U64;
    if (word && hac_value_set_is_near(set))
        return add_words(set, b, a->offset, v->values, v->states, err);
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        if (v->states == NULL || v->states[i] == 0) {
            rows[n] = (hac_value_row){.list = PLACE(hac_value_list, b, a->offset, i),
                                      .group = hac_record_number(divisor, b->at[i])};
            if (word)
                rows[n++].words[0] = ((const uint64_t *)v->values)[i];
            else
                hac_value_words(v, a->repr, i, rows[n++].words);
        }
        if (n == HAC_VALUES_AHEAD || i + 1 == b->rows) {
            status = hac_value_set_add_rows(set, rows, n, err);
            n = 0;
        }
    }
    return status;
}

/* ---- values in order ---- */

typedef struct ranked {
    const hac_value_entry *entry;
    const hac_accumulator *a;
} ranked;

static int by_count(const void *p, const void *q)
{
    const ranked *x = p, *y = q;
    if (x->entry->count != y->entry->count)
        return x->entry->count > y->entry->count ? -1 : 1;
    uint64_t a[2] = {x->entry->words[0], x->entry->words[1]}, b[2] = {y->entry->words[0], y->entry->words[1]};
    hac_words_to_ordered(x->a->repr, a);
    hac_words_to_ordered(x->a->repr, b);
    return hac_ordered_compare(x->a->repr, a, b);
}

static hac_status rank(const hac_group_table *t, const hac_accumulator *a, const hac_value_list *list,
                       ranked **ret, hac_error *err)
{
    const hac_value_set *set = &t->sets[a->set];
    ranked *all = malloc((list->n + 1) * sizeof *all);
    size_t n = 0;
    if (all == NULL)
        return hac_fail_no_memory(err);
    for (uint32_t e = list->first; e != 0; e = set->entries[e - 1].next)
        all[n++] = (ranked){.entry = &set->entries[e - 1], .a = a};
    *ret = all;
    return HAC_OK;
}

static hac_status top_k(const hac_group_table *t, const hac_accumulator *a, uint32_t k,
                        const hac_value_list *list, hac_group_text *text, hac_error *err)
{
    hac_autofree ranked *all = NULL;
    hac_status status = rank(t, a, list, &all, err);
    if (status != HAC_OK)
        return status;
    qsort(all, list->n, sizeof *all, by_count);
    for (uint64_t i = 0; i < list->n && i < k; i++) {
        char number[HAC_PRINT_MAX];
        hac_group_text_add(text, ", ", i == 0 ? 0 : 2);
        hac_group_text_value(text, a->type, all[i].entry->words);
        hac_group_text_add(text, ":", 1);
        hac_group_text_add(text, number, hac_print_u64(all[i].entry->count, number));
    }
    return HAC_OK;
}

static void string_list(const hac_group_table *t, const hac_accumulator *a, const hac_value_list *list,
                        hac_group_text *text)
{
    const hac_value_set *set = &t->sets[a->set];
    for (uint32_t e = list->first; e != 0; e = set->entries[e - 1].next) {
        hac_group_text_add(text, ",", e == list->first ? 0 : 1);
        hac_group_text_value(text, a->type, set->entries[e - 1].words);
    }
}

/* ---- the most frequent value ---- */

static void put_mode(const hac_result_cell *cell, const hac_accumulator *a, const hac_value_list *list)
{
    const hac_value_set *set = &cell->t->sets[a->set];
    const ranked first = {.entry = &set->entries[list->first - 1], .a = a};
    ranked best = first;
    for (uint32_t e = list->first; e != 0; e = set->entries[e - 1].next) {
        const ranked other = {.entry = &set->entries[e - 1], .a = a};
        best = by_count(&other, &best) < 0 ? other : best;
    }
    hac_group_put_words(&cell->t->results->text, cell->v, cell->row, best.entry->words);
}

/* ---- results ---- */

static hac_status list_result(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                              hac_error *err)
{
    const hac_aggregate *g = &cell->t->layout.query->aggregate[cell->aggregate];
    hac_group_text *text = &cell->t->results->text;
    hac_string_ref ref = {.offset = (uint32_t)text->n};
    hac_value_list list;
    hac_status status = HAC_OK;
    memcpy(&list, from, sizeof list);
    if (g->function == HAC_AGGREGATE_COUNT_DISTINCT)
        return hac_group_put_sum(cell, (hac_i128)list.n, err);
    if (g->function == HAC_AGGREGATE_MODE) {
        if (list.n == 0) /* the count of a partial does not fit its values */
            hac_group_put_null(cell->v, cell->row);
        else
            put_mode(cell, a, &list);
        return HAC_OK;
    }
    if (g->function == HAC_AGGREGATE_TOP_K)
        status = top_k(cell->t, a, g->k, &list, text, err);
    else
        string_list(cell->t, a, &list, text);
    ref.length = (uint32_t)(text->n - ref.offset);
    ((hac_string_ref *)cell->v->values)[cell->row] = ref;
    return status;
}

_Static_assert(sizeof(hac_value_list) == 16, "as hac_accumulator_info has it");

static hac_status add_entry(hac_group_table *t, const hac_accumulator *a, hac_value_list *list,
                            uint64_t group, const uint64_t words[2], uint64_t count, hac_error *err)
{
    return hac_value_set_add(&t->sets[a->set], list, group, words, count, err);
}

const hac_accumulator_ops hac_accumulator_values = {
    .add = add_values, .add_entry = add_entry, .result = list_result};
