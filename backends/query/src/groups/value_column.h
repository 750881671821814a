/* SPDX-License-Identifier: Apache-2.0 */
/* All values of groups, in the order in which they came: a column of values beside one of group numbers. Once
 * every value is there, hac_value_column_sort brings those of each group together. What the bytes of a value
 * mean is up to the accumulator. */
#ifndef QUERY_VALUE_COLUMN_H
#define QUERY_VALUE_COLUMN_H

#include "group_memory.h"

typedef struct hac_value_column {
    hac_memory_budget *budget;
    size_t size; /* of a value: a multiple of 8 bytes */
    uint64_t n, capacity;
    uint32_t *groups;
    uint8_t *values;
    /* By group, of the first n_sorted values: group g has values starts[g] … starts[g + 1]. NULL: there is
     * one group, which has `values`. */
    uint8_t *sorted;
    uint64_t *starts;
    uint64_t n_sorted, n_groups;
} hac_value_column;

/* Makes room for `rows` more values, which the caller stores from `n` on. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_value_column_reserve(hac_value_column *column, uint64_t rows, hac_error *err);
/* Appends `rows` values of a group. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_value_column_append(hac_value_column *column, uint64_t group,
                                                const uint8_t *values, uint64_t rows, hac_error *err);
/* Brings the values of each of `groups` groups together; fast if that is done already. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_value_column_sort(hac_value_column *column, uint64_t groups, hac_error *err);
/* The values of a group, which may be permuted, after hac_value_column_sort. */
uint8_t *hac_value_column_of(const hac_value_column *column, uint64_t group, uint64_t *ret_n);
/* Empties the column and keeps the memory of values that are not sorted. */
void hac_value_column_reset(hac_value_column *column);
void hac_value_column_clear(hac_value_column *column);

#endif
