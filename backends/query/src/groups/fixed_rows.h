/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed rows: columns of fixed width without nulls. The most frequent aggregations of such rows
 * (hac_group_layout.slots) look a row's group up and add the row in one loop. The rows are those of a batch
 * of columns, or, without being converted to one, columns as tables and windows store them
 * (hac_group_layout.fixed; hac_value_size bytes a value, unaligned).
 *
 * Another process may be able to change the columns' memory: a change gives other groups or an error, never
 * an access outside the table.
 */
#ifndef QUERY_FIXED_ROWS_H
#define QUERY_FIXED_ROWS_H

#include "group_internal.h"

#define HAC_FIXED_COLUMNS 2 /* the key and the summed column */

/* As hac_group_add for any number of rows; `values` are the outputs of query->rows. Requires layout.fixed. */
HAC_MUST_USE hac_status hac_fixed_rows_add(hac_group_table *t, const uint8_t *const *values, size_t rows,
                                           uint32_t partition, hac_error *err);

/* The same for a batch of columns, at most HAC_BATCH_ROWS rows without nulls. Requires layout.slots. */
HAC_MUST_USE hac_status hac_fixed_rows_add_batch(hac_group_table *t, const hac_column *columns, size_t rows,
                                                 uint32_t partition, hac_error *err);

/* Adds `n` groups of a partial, at most HAC_BATCH_ROWS. `records` is the caller's own copy, aligned
 * (hac_exact_align). The table's
 * groups are in slots (fixed_slots.h), which have room for n more. HAC_INVALID: a group belongs to another
 * partition or has no rows. */
HAC_MUST_USE hac_status hac_fixed_rows_merge(hac_group_table *t, const uint8_t *records, size_t n,
                                             uint32_t partition, hac_error *err);

/* Finds the partition of each row, and adds the rows of partition p to counts[p]. */
void hac_fixed_rows_partitions(const hac_group_table *t, const uint8_t *keys, size_t rows, uint16_t *ret,
                               uint32_t *counts);

#endif
