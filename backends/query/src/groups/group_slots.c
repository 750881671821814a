/* SPDX-License-Identifier: Apache-2.0 */
/* The records of groups, and the slots of the hash table, which lead to them. */
#include <string.h>

#include "group_internal.h"

#define FIRST_SLOTS  1024u
#define FIRST_GROUPS 256u

static void rehash(hac_group_table *t, void *slots, uint64_t n)
{
    uint64_t mask = n - 1;
    for (uint64_t i = 0; t->layout.packed && i < t->n_slots; i++) {
        if (t->word_slots[i].group == 0)
            continue;
        hac_word_slot *to = slots;
        uint64_t s = t->word_slots[i].tag & mask;
        while (to[s].group != 0)
            s = (s + 1) & mask;
        to[s] = t->word_slots[i];
    }
    for (uint64_t i = 0; !t->layout.packed && i < t->n_slots; i++) {
        if (t->tag_slots[i].group == 0)
            continue;
        hac_tag_slot *to = slots;
        uint64_t s = t->tag_slots[i].tag & mask;
        while (to[s].group != 0)
            s = (s + 1) & mask;
        to[s] = t->tag_slots[i];
    }
}

hac_status hac_group_grow_slots(hac_group_table *t, hac_error *err)
{
    uint64_t n = t->n_slots == 0 ? FIRST_SLOTS : t->n_slots * 2;
    if (n > UINT64_C(1) << 32)
        return hac_fail(err, HAC_NO_MEMORY, "a table has more than 2^31 groups");
    void *slots = hac_budget_zeros(&t->budget, n, hac_group_slot_bytes(t), err);
    if (slots == NULL)
        return HAC_NO_MEMORY;
    rehash(t, slots, n);
    hac_budget_free(&t->budget, t->word_slots, t->n_slots * hac_group_slot_bytes(t));
    t->word_slots = slots;
    t->n_slots = n;
    return HAC_OK;
}

hac_status hac_group_grow_records(hac_group_table *t, hac_error *err)
{
    uint64_t capacity = t->capacity == 0 ? FIRST_GROUPS : t->capacity * 2, stride = t->layout.stride;
    if (t->capacity == 0 && stride > 4096)
        capacity = 4;
    uint8_t *records =
        hac_budget_resize(&t->budget, t->records, t->capacity * stride, capacity * stride, err);
    if (records == NULL)
        return HAC_NO_MEMORY;
    t->records = records;
    t->capacity = capacity;
    return HAC_OK;
}

hac_status hac_group_table_ensure(hac_group_table *t, hac_error *err)
{
    if (t->layout.n_keys != 0 || t->groups != 0)
        return HAC_OK;
    return hac_group_new(t, err);
}

hac_status hac_group_reserve_records(hac_group_table *t, size_t rows, hac_error *err)
{
    hac_status status = HAC_OK;
    while (status == HAC_OK && t->groups + rows > t->capacity)
        status = hac_group_grow_records(t, err);
    return status;
}

hac_status hac_group_reserve(hac_group_table *t, size_t rows, hac_error *err)
{
    hac_status status = HAC_OK;
    while (status == HAC_OK &&
           (t->n_slots == 0 || hac_group_is_full(t) || (t->groups + rows) * 2 > t->n_slots))
        status = hac_group_grow_slots(t, err);
    return status == HAC_OK ? hac_group_reserve_records(t, rows, err) : status;
}

hac_status hac_group_index(hac_group_table *t, hac_error *err)
{
    if (t->n_slots != 0)
        memset(t->word_slots, 0, t->n_slots * hac_group_slot_bytes(t));
    hac_status status = hac_group_reserve(t, 0, err);
    for (uint64_t g = 0; status == HAC_OK && g < t->groups; g++) {
        uint64_t key, mask = t->n_slots - 1;
        memcpy(&key, hac_group_record(t, g), sizeof key);
        uint64_t hash = hac_hash_word(t->hash_start, key), s = hash & mask;
        while (t->word_slots[s].group != 0)
            s = (s + 1) & mask;
        t->word_slots[s] = (hac_word_slot){.key = key, .group = (uint32_t)g + 1, .tag = (uint32_t)hash};
    }
    return status;
}
