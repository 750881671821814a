/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LIMIT n BY columns, for a small n and groups of several rows: the n smallest sort keys of each group are
 * kept while the rows are read once, and only rows that can be among the first of their group are sorted.
 * Ranges of rows are read side by side, each with groups of its own.
 */
#ifndef QUERY_LIMIT_BY_FEW_H
#define QUERY_LIMIT_BY_FEW_H

#include "query/rows.h"

/*
 * Writes the places (block · HAC_BATCH_ROWS + row) of the rows that are left to `order`, in the order of the
 * query, and their number to *ret_n; `order` has room for all rows. *ret_done is false, and
 * *ret_n stays, if too few rows would be left out, or if hashes collide too often: use hac_limit_by.
 * HAC_NO_MEMORY.
 */
HAC_MUST_USE hac_status hac_limit_by_few(const hac_query *query, const hac_rows_reader *rows, uint64_t *order,
                                         uint64_t *ret_n, bool *ret_done, hac_error *err);

#endif
