/* SPDX-License-Identifier: Apache-2.0 */
/* The second step of a query that counts distinct values (expr/distinct_query.h). */
#ifndef QUERY_DISTINCT_COUNTS_H
#define QUERY_DISTINCT_COUNTS_H

#include "expr/distinct_query.h"
#include "query/group_table.h"

/* Adds all pairs of a table of `distinct->pairs` to a table of `distinct->counts`. Errors as for
 * hac_group_table_add. */
HAC_MUST_USE hac_status hac_distinct_counts_add(const hac_distinct_query *distinct, hac_group_table *pairs,
                                                hac_group_table *counts, hac_error *err);

#endif
