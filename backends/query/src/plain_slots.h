/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of plain rows (plain.h) whose records are the slots of the hash table themselves: a row touches one
 * line of memory, where a slot that leads to a record makes it two. The table's groups are either here or in
 * its records; their numbers are the same.
 */
#ifndef QUERY_PLAIN_SLOTS_H
#define QUERY_PLAIN_SLOTS_H

#include "group_internal.h"

/* Where a group's figures are: the rows' count, and the sum. */
typedef struct hac_plain_figures {
    uint64_t stride;
    uint32_t rows, sum; /* offsets in the record */
} hac_plain_figures;

/* Of the usual layouts, which alone have slots: a count of all rows, or with it a sum, whose argument's
 * values are counted as well. A constant where `form` is. */
static inline hac_plain_figures hac_plain_figures_of(hac_plain_sum form)
{
    hac_plain_figures f = {.stride = 16, .rows = 8};
    if (form != HAC_PLAIN_COUNT)
        f = (hac_plain_figures){.stride = form == HAC_PLAIN_F64 ? 32 : 40, .rows = 8, .sum = 24};
    return f;
}

/* Makes room for `rows` more groups; what the table has moves here the first time. *ret is false where that
 * is not possible (another layout, a group of null, no memory): the groups are in the table's records then.
 */
HAC_MUST_USE hac_status hac_plain_slots_ready(hac_group_table *t, size_t rows, bool *ret, hac_error *err);

/* A new group in a free slot, whose key and count of rows are the caller's to write; there is room. */
static inline void hac_plain_slots_put(hac_group_table *t, uint64_t slot, uint64_t hash)
{
    t->slots.places[t->groups++] = (hac_plain_place){(uint32_t)slot, (uint32_t)(hash >> 32)};
}

/* The records of all groups, whose slots are in `order`, to memory that others can write to. */
void hac_plain_slots_write(const hac_group_table *t, const uint32_t *order, uint8_t *records);

/* The groups are gone. */
void hac_plain_slots_reset(hac_group_table *t);

#endif
