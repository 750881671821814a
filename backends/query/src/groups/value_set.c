/* SPDX-License-Identifier: Apache-2.0 */
#include "value_set.h"

#include <string.h>

#include "codelet/hash.h"
#include "sources/string_words.h"

#define FIRST_SLOTS 256u

static uint64_t hash_of(const hac_value_set *set, uint64_t group, const uint64_t words[2])
{
    if (set->repr == HAC_REPR_STRING)
        return hac_hash_string_words(hac_hash_word(set->hash_start, group), words[0], words[1]);
    uint64_t h = hac_value_set_hash_word(set, group, words[0]);
    return set->repr == HAC_REPR_I128 ? hac_hash_word(h, words[1]) : h;
}

static hac_status grow_slots(hac_value_set *set, hac_error *err)
{
    uint64_t n = set->slots == NULL ? FIRST_SLOTS : (set->mask + 1) * 2;
    hac_value_slot *slots = hac_budget_zeros(set->budget, n, sizeof *slots, err);
    if (slots == NULL)
        return HAC_NO_MEMORY;
    for (uint64_t i = 0; set->slots != NULL && i <= set->mask; i++) {
        if (set->slots[i].entry == 0)
            continue;
        uint64_t s = set->slots[i].tag & (n - 1);
        while (slots[s].entry != 0)
            s = (s + 1) & (n - 1);
        slots[s] = set->slots[i];
    }
    hac_budget_free(set->budget, set->slots, (set->mask + 1) * sizeof *slots);
    set->slots = slots;
    set->mask = n - 1;
    return HAC_OK;
}

static hac_status grow_entries(hac_value_set *set, hac_error *err)
{
    if (set->capacity > UINT32_MAX / 2)
        return hac_fail(err, HAC_NO_MEMORY, "a group-by keeps more than 2^32 distinct values");
    uint32_t capacity = set->capacity == 0 ? 64 : set->capacity * 2;
    hac_value_entry *entries = hac_budget_resize(set->budget, set->entries, set->capacity * sizeof *entries,
                                                 capacity * sizeof *entries, err);
    if (entries == NULL)
        return HAC_NO_MEMORY;
    set->entries = entries;
    set->capacity = capacity;
    return HAC_OK;
}

static bool equal(const hac_value_set *set, const hac_value_entry *e, uint64_t group, const uint64_t words[2])
{
    if (set->repr == HAC_REPR_STRING)
        return e->group == (uint32_t)group && hac_string_words_equal(e->words, words[0], words[1]);
    return hac_value_entry_is_word(e, group, words[0]) &&
           (set->repr != HAC_REPR_I128 || e->words[1] == words[1]);
}

static hac_status append(hac_value_set *set, hac_value_list *list, uint64_t group, const uint64_t words[2],
                         uint64_t count, hac_error *err)
{
    hac_value_entry entry = {.words = {words[0], words[1]}, .count = count, .group = (uint32_t)group};
    if (set->repr == HAC_REPR_STRING) {
        hac_status status = hac_group_arena_keep(set->arena, entry.words, err);
        if (status != HAC_OK)
            return status;
    }
    set->entries[set->n++] = entry;
    if (list->last != 0)
        set->entries[list->last - 1].next = set->n;
    else
        list->first = set->n;
    list->last = set->n;
    list->n++;
    return HAC_OK;
}

/* *ret is the index of the value's entry. */
static hac_status add_tagged(hac_value_set *set, hac_value_list *list, uint64_t group,
                             const uint64_t words[2], uint32_t tag, uint64_t count, uint32_t *ret,
                             hac_error *err)
{
    hac_status status = HAC_OK;
    uint64_t spare = hac_value_set_is_near(set) ? 8 : 2; /* small sets are sparse, as group tables are */
    if (set->slots == NULL || set->n * spare >= set->mask)
        status = grow_slots(set, err);
    if (status == HAC_OK && set->n == set->capacity)
        status = grow_entries(set, err);
    if (status != HAC_OK)
        return status;
    uint64_t s = tag & set->mask;
    for (; set->slots[s].entry != 0; s = (s + 1) & set->mask) {
        hac_value_entry *e = &set->entries[set->slots[s].entry - 1];
        if (set->slots[s].tag == tag && equal(set, e, group, words)) {
            e->count += count;
            *ret = set->slots[s].entry - 1;
            return HAC_OK;
        }
    }
    status = append(set, list, group, words, count, err);
    if (status == HAC_OK)
        set->slots[s] = (hac_value_slot){.tag = tag, .entry = set->n};
    *ret = set->n - 1;
    return status;
}

hac_status hac_value_set_add(hac_value_set *set, hac_value_list *list, uint64_t group,
                             const uint64_t words[2], uint64_t count, hac_error *err)
{
    uint32_t entry;
    return add_tagged(set, list, group, words, (uint32_t)hash_of(set, group, words), count, &entry, err);
}

hac_status hac_value_set_number(hac_value_set *set, hac_value_list *list, uint64_t group,
                                const uint64_t words[2], uint32_t *ret, hac_error *err)
{
    return add_tagged(set, list, group, words, (uint32_t)hash_of(set, group, words), 1, ret, err);
}

/* Counts a value whose entry is the one of the first slot; false: this was not done. Long strings that are
 * equal may have other words. */
static inline bool count_again(hac_value_set *set, const hac_value_row *row)
{
    const hac_value_slot slot = set->slots != NULL ? set->slots[row->tag & set->mask] : (hac_value_slot){0};
    if (slot.entry == 0 || slot.tag != row->tag)
        return false;
    hac_value_entry *e = &set->entries[slot.entry - 1];
    bool same =
        e->group == (uint32_t)row->group && e->words[0] == row->words[0] && e->words[1] == row->words[1];
    e->count += same;
    return same;
}

hac_status hac_value_set_add_rows(hac_value_set *set, hac_value_row *rows, size_t n, hac_error *err)
{
    hac_status status = HAC_OK;
    uint32_t entry;
    for (size_t i = 0; i < n; i++) {
        rows[i].tag = (uint32_t)hash_of(set, rows[i].group, rows[i].words);
        if (set->slots != NULL)
            __builtin_prefetch(&set->slots[rows[i].tag & set->mask]);
    }
    for (size_t i = 0; set->slots != NULL && i < n; i++) {
        uint32_t first = set->slots[rows[i].tag & set->mask].entry;
        if (first != 0)
            __builtin_prefetch(&set->entries[first - 1], 1);
    }
    for (size_t i = 0; status == HAC_OK && i < n; i++)
        if (!count_again(set, &rows[i]))
            status = add_tagged(set, rows[i].list, rows[i].group, rows[i].words, rows[i].tag, 1, &entry, err);
    return status;
}

void hac_value_set_reset(hac_value_set *set)
{
    if (set->slots != NULL)
        memset(set->slots, 0, (set->mask + 1) * sizeof *set->slots);
    set->n = 0;
}

void hac_value_set_clear(hac_value_set *set)
{
    hac_budget_free(set->budget, set->slots, (set->mask + 1) * sizeof *set->slots);
    hac_budget_free(set->budget, set->entries, set->capacity * sizeof *set->entries);
    *set = (hac_value_set){0};
}
