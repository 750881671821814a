/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "group_internal.h"
#include "string_words.h"

#define FIRST_SLOTS 256u

static uint64_t hash_of(const hac_group_table *t, const hac_accumulator *a, uint64_t group,
                        const uint64_t words[2])
{
    uint64_t h = hac_hash_word(t->hash_start, group);
    if (a->repr == HAC_REPR_STRING)
        return hac_hash_string_words(h, words[0], words[1]);
    h = hac_hash_word(h, words[0]);
    return a->repr == HAC_REPR_I128 ? hac_hash_word(h, words[1]) : h;
}

static hac_status grow_slots(hac_group_table *t, hac_value_set *set, hac_error *err)
{
    uint64_t n = set->slots == NULL ? FIRST_SLOTS : (set->mask + 1) * 2;
    struct hac_value_slot *slots = hac_group_resize(t, NULL, 0, n * sizeof *slots, err);
    if (slots == NULL)
        return HAC_NO_MEMORY;
    memset(slots, 0, n * sizeof *slots);
    for (uint64_t i = 0; set->slots != NULL && i <= set->mask; i++) {
        if (set->slots[i].entry == 0)
            continue;
        uint64_t s = set->slots[i].tag & (n - 1);
        while (slots[s].entry != 0)
            s = (s + 1) & (n - 1);
        slots[s] = set->slots[i];
    }
    if (set->slots != NULL)
        t->used -= (set->mask + 1) * sizeof *slots;
    free(set->slots);
    set->slots = slots;
    set->mask = n - 1;
    return HAC_OK;
}

static hac_status grow_entries(hac_group_table *t, hac_value_set *set, hac_error *err)
{
    if (set->room > UINT32_MAX / 2)
        return hac_fail(err, HAC_NO_MEMORY, "a group-by keeps more than 2^32 distinct values");
    uint32_t room = set->room == 0 ? 64 : set->room * 2;
    hac_value_entry *entries =
        hac_group_resize(t, set->entries, set->room * sizeof *entries, room * sizeof *entries, err);
    if (entries == NULL)
        return HAC_NO_MEMORY;
    set->entries = entries;
    set->room = room;
    return HAC_OK;
}

static bool equal(const hac_value_entry *e, const hac_accumulator *a, uint64_t group, const uint64_t words[2])
{
    if (e->group != (uint32_t)group)
        return false;
    if (a->repr == HAC_REPR_STRING)
        return hac_string_words_equal(e->words, words[0], words[1]);
    return e->words[0] == words[0] && (a->repr != HAC_REPR_I128 || e->words[1] == words[1]);
}

static hac_status append(hac_group_table *t, hac_value_set *set, const hac_accumulator *a, uint64_t group,
                         const uint64_t words[2], uint64_t count, hac_error *err)
{
    hac_value_entry entry = {.words = {words[0], words[1]}, .count = count, .group = (uint32_t)group};
    if (a->repr == HAC_REPR_STRING) {
        hac_status status = hac_arena_keep(t, entry.words, err);
        if (status != HAC_OK)
            return status;
    }
    hac_value_list *list = (hac_value_list *)(void *)(hac_group_record(t, group) + a->offset);
    set->entries[set->n++] = entry;
    if (list->last != 0)
        set->entries[list->last - 1].next = set->n;
    else
        list->first = set->n;
    list->last = set->n;
    list->n++;
    return HAC_OK;
}

hac_status hac_value_set_add(hac_group_table *t, const hac_accumulator *a, uint64_t group,
                             const uint64_t words[2], uint64_t count, hac_error *err)
{
    hac_value_set *set = &t->sets[a->set];
    hac_status status = HAC_OK;
    if (set->slots == NULL || (uint64_t)set->n * 2 >= set->mask)
        status = grow_slots(t, set, err);
    if (status == HAC_OK && set->n == set->room)
        status = grow_entries(t, set, err);
    if (status != HAC_OK)
        return status;
    uint32_t tag = (uint32_t)hash_of(t, a, group, words);
    uint64_t s = tag & set->mask;
    for (; set->slots[s].entry != 0; s = (s + 1) & set->mask) {
        hac_value_entry *e = &set->entries[set->slots[s].entry - 1];
        if (set->slots[s].tag == tag && equal(e, a, group, words)) {
            e->count += count;
            return HAC_OK;
        }
    }
    status = append(t, set, a, group, words, count, err);
    if (status == HAC_OK)
        set->slots[s] = (struct hac_value_slot){.tag = tag, .entry = set->n};
    return status;
}

void hac_value_set_reset(hac_value_set *set)
{
    if (set->slots != NULL)
        memset(set->slots, 0, (set->mask + 1) * sizeof *set->slots);
    set->n = 0;
}

void hac_value_set_clear(hac_group_table *t, hac_value_set *set)
{
    if (set->slots != NULL)
        t->used -= (set->mask + 1) * sizeof *set->slots;
    t->used -= set->room * sizeof *set->entries;
    free(set->slots);
    free(set->entries);
    *set = (hac_value_set){0};
}
