/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of fixed rows (fixed_rows.h) whose records are themselves the slots of a hash table: a row touches
 * one cache line instead of two (a slot, and the record it leads to). A table's groups are either in slots or
 * in its records, with the same numbers. */
#ifndef QUERY_FIXED_SLOTS_H
#define QUERY_FIXED_SLOTS_H

#include "exact_limbs.h"
#include "group_internal.h"

/* Where a group's row count and sum are. */
typedef struct hac_fixed_figures {
    uint64_t stride;
    uint32_t rows, sum;    /* offsets in the record; a sum of squares follows the sum */
    const int64_t *scales; /* of sums of f64 (hac_exact_sums) */
    hac_fixed_keys keys;   /* of the rows that are added */
} hac_fixed_figures;

/* For the layouts that have slots: a count of all rows, and optionally a sum, for which the argument's values
 * are counted as well. A compile-time constant if `form` is one. */
static inline hac_fixed_figures hac_fixed_figures_of(hac_fixed_sum form)
{
    hac_fixed_figures f = {.stride = 16, .rows = 8};
    if (form == HAC_FIXED_SQUARES)
        f = (hac_fixed_figures){.stride = 64, .rows = 8, .sum = 24};
    else if (form != HAC_FIXED_COUNT)
        f = (hac_fixed_figures){.stride = 40, .rows = 8, .sum = 24};
    return f;
}

/* Makes room for `rows` more groups; the first call moves the table's groups into slots. *ret is false if
 * that is not possible (another layout, a null group, no memory): then the groups are in the table's
 * records. */
HAC_MUST_USE hac_status hac_fixed_slots_ready(hac_group_table *t, size_t rows, bool *ret, hac_error *err);

/* Adds a group in a free slot. The caller writes its key and row count and has made room. */
static inline void hac_fixed_slots_put(hac_group_table *t, uint64_t slot, uint64_t hash)
{
    t->slots.places[t->groups++] = (hac_fixed_place){(uint32_t)slot, (uint32_t)(hash >> 32)};
}

/* Copies the records of all groups, in the order of the slot numbers in `order`, to memory that other
 * processes can write to. */
void hac_fixed_slots_write(const hac_group_table *t, const uint32_t *order, uint8_t *records);

/* Makes the sums in slots limbs, to which only limbs are added until hac_fixed_slots_join. False: some sum is
 * too large, and all are windows. */
bool hac_fixed_slots_split(hac_group_table *t);

/* Removes all groups. */
void hac_fixed_slots_reset(hac_group_table *t);

#endif
