/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain rows: columns of fixed width without nulls, as tables and windows store them (hac_value_size bytes a
 * value, no alignment). The usual aggregation of such rows (hac_group_layout.plain) needs no batches of
 * widened vectors.
 *
 * The columns may lie in memory that others can write to: what changes under the reader gives other groups or
 * an error, never an access outside of the table.
 */
#ifndef QUERY_PLAIN_H
#define QUERY_PLAIN_H

#include "group_internal.h"

#define HAC_PLAIN_COLUMNS 2 /* the key, what is summed */

/* Only where layout.plain is set. As hac_group_add: `values` of the outputs of query->rows, any number of
 * rows. */
HAC_MUST_USE hac_status hac_plain_add(hac_group_table *t, const uint8_t *const *values, size_t rows,
                                      uint32_t partition, hac_error *err);

/* Adds `n` groups of a partial, at most HAC_BATCH_ROWS, whose records are the caller's own copies; the
 * table's groups are in its slots (plain_slots.h), where there is room for as many more. HAC_INVALID: not all
 * are of the partition, or one has no rows; HAC_FAILED: a sum overflows. */
HAC_MUST_USE hac_status hac_plain_merge(hac_group_table *t, const uint8_t *records, size_t n,
                                        uint32_t partition, hac_error *err);

/* The partition of each row, and at counts[p] how many more there are of each. */
void hac_plain_partitions(const hac_group_table *t, const uint8_t *keys, size_t rows, uint16_t *ret,
                          uint32_t *counts);

#endif
