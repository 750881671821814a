/* SPDX-License-Identifier: Apache-2.0 */
/* LIMIT n BY columns: of the rows that have the same values in these columns, only the first n in the order
 * of the query. */
#ifndef QUERY_LIMIT_BY_H
#define QUERY_LIMIT_BY_H

#include "query/rows.h"

/* Puts all rows in the order of the query, like hac_finish_order, which does not know limit_by. */
typedef hac_status (*hac_order_all)(const hac_query *query, const hac_rows_reader *rows, uint64_t *order,
                                    uint64_t n, hac_error *err);

/*
 * Removes rows from `order`, which has the places of all n rows of the reader in the order of the query, each
 * block · HAC_BATCH_ROWS + row. *ret_n is the number of those that are left, at the front. Two rows are alike
 * if their values are equal or both null. HAC_NO_MEMORY.
 */
HAC_MUST_USE hac_status hac_limit_by(const hac_query *query, const hac_rows_reader *rows,
                                     hac_order_all order_all, uint64_t *order, uint64_t n, uint64_t *ret_n,
                                     hac_error *err);

/* Whether rows have equal values, or are both null, in all columns of limit_by. */
bool hac_limit_by_alike(const hac_query *query, const hac_rows_reader *rows, uint64_t a, uint64_t b);

#endif
