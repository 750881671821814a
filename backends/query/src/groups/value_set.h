/* SPDX-License-Identifier: Apache-2.0 */
/* Distinct values of groups, with their counts: a hash table whose entries form a list for each group. */
#ifndef QUERY_VALUE_SET_H
#define QUERY_VALUE_SET_H

#include "codelet/hash.h"
#include "expr/column.h"
#include "group_memory.h"

typedef struct hac_value_entry {
    uint64_t words[2];
    uint64_t count;
    uint32_t next; /* the group's next entry + 1, in the order in which values came; 0: the last one */
    uint32_t group;
} hac_value_entry;

typedef struct hac_value_slot {
    uint32_t tag, entry; /* entry + 1; 0: free */
} hac_value_slot;

typedef struct hac_value_set {
    hac_memory_budget *budget;
    hac_group_arena *arena; /* for long strings */
    uint64_t hash_start;
    hac_repr repr; /* of the values */
    hac_value_entry *entries;
    uint32_t n, capacity;
    hac_value_slot *slots;
    uint64_t mask;
} hac_value_set;

/* A group's entries: the accumulator in its record. */
typedef struct hac_value_list {
    uint32_t first, last; /* entries + 1 */
    uint64_t n;
} hac_value_list;

/* Adds `count` of a value to `group`, whose list is `list`. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_value_set_add(hac_value_set *set, hac_value_list *list, uint64_t group,
                                          const uint64_t words[2], uint64_t count, hac_error *err);

/* The number of a value of `group`, which is added if it is new: 0, 1, 2 and so on over the values of all
 * groups. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_value_set_number(hac_value_set *set, hac_value_list *list, uint64_t group,
                                             const uint64_t words[2], uint32_t *ret, hac_error *err);

/* The same as hac_value_set_add for the values of a batch: slots and entries of HAC_VALUES_AHEAD values are
 * fetched before the first of them is added, because they seldom are in a near cache. */
#define HAC_VALUES_AHEAD 32
typedef struct hac_value_row {
    hac_value_list *list;
    uint64_t group;
    uint64_t words[2];
    uint32_t tag; /* set by the call */
} hac_value_row;
/* Adds at most HAC_VALUES_AHEAD values, one time each. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_value_set_add_rows(hac_value_set *set, hac_value_row *rows, size_t n,
                                               hac_error *err);

/* Whether the slots fit a core's cache, so that nothing is to be fetched ahead. */
#define HAC_VALUE_SLOTS_NEAR (UINT64_C(1) << 14) /* 128 KiB */
static inline bool hac_value_set_is_near(const hac_value_set *set)
{
    return set->slots == NULL || set->mask < HAC_VALUE_SLOTS_NEAR;
}

/* The hash of a value that is one word, and whether an entry is of that word: only for such types. */
static inline uint64_t hac_value_set_hash_word(const hac_value_set *set, uint64_t group, uint64_t word)
{
    return hac_hash_word(hac_hash_word(set->hash_start, group), word);
}

static inline bool hac_value_entry_is_word(const hac_value_entry *e, uint64_t group, uint64_t word)
{
    return e->words[0] == word && e->group == (uint32_t)group;
}

/* Counts a value of one word (repr is neither a string nor an I128) whose entry is the one of the first slot;
 * false: this was not done. */
static inline bool hac_value_set_count_word(hac_value_set *set, uint64_t group, uint64_t word)
{
    if (set->slots == NULL)
        return false;
    uint32_t tag = (uint32_t)hac_value_set_hash_word(set, group, word);
    hac_value_slot slot = set->slots[tag & set->mask];
    if (slot.entry == 0 || slot.tag != tag)
        return false;
    hac_value_entry *e = &set->entries[slot.entry - 1];
    bool same = hac_value_entry_is_word(e, group, word);
    e->count += same;
    return same;
}

void hac_value_set_clear(hac_value_set *set);
/* Empties the set and keeps its memory. */
void hac_value_set_reset(hac_value_set *set);

#endif
