/* SPDX-License-Identifier: Apache-2.0 */
/* What the files with operations on strings share: the rows of a column of strings, and new strings in the
 * machine's arena. */
#ifndef EXPR_STRING_ROWS_H
#define EXPR_STRING_ROWS_H

#include <string.h>

#include "machine_parts.h"

typedef struct hac_string_view {
    const uint8_t *at;
    size_t bytes;
} hac_string_view;

static inline hac_string_view hac_string_at(const hac_machine_slot *slot, size_t row)
{
    hac_string_ref ref = ((const hac_string_ref *)slot->values)[row];
    return (hac_string_view){ref.length == 0 ? (const uint8_t *)"" : slot->bytes + ref.offset, ref.length};
}

/* The bytes [first, first + bytes) of the row's string, which stay where they are. */
static inline hac_string_ref hac_string_part(const hac_machine_slot *slot, size_t row, size_t first,
                                             size_t bytes)
{
    hac_string_ref whole = ((const hac_string_ref *)slot->values)[row];
    if (bytes == 0)
        return (hac_string_ref){0, 0};
    return (hac_string_ref){whole.offset + (uint32_t)first, (uint32_t)bytes};
}

/* Combines the states and makes all rows empty strings, for new strings in the arena. */
static inline hac_machine_slot *hac_strings_start(hac_machine_c *machine, const hac_step *step, size_t rows)
{
    hac_combine_states(machine, step, rows);
    hac_machine_slot *slot = &machine->slots[step->r];
    memset(slot->own_values, 0, rows * sizeof(hac_string_ref));
    slot->bytes = machine->arena;
    return slot;
}

/* Memory for the row's string. NULL: the arena is full, and the row is HAC_ROW_OVERFLOW. */
static inline uint8_t *hac_string_reserve(hac_machine_c *machine, hac_machine_slot *slot, size_t row,
                                          size_t bytes)
{
    if (bytes > machine->arena_capacity - machine->arena_used) {
        hac_writable_states(slot)[row] = HAC_ROW_OVERFLOW;
        return NULL;
    }
    return machine->arena + machine->arena_used;
}

/* Makes the bytes at the arena's end the row's string. */
static inline void hac_string_commit(hac_machine_c *machine, hac_machine_slot *slot, size_t row, size_t bytes)
{
    hac_string_ref *r = slot->own_values;
    r[row] = (hac_string_ref){(uint32_t)machine->arena_used, (uint32_t)bytes};
    machine->arena_used += bytes;
}

#endif
