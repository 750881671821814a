/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query that counts the distinct values of one argument x is a group-by over its keys and x, followed by a
 * count of x by the keys. Both steps are queries themselves, and use the tables and partials of any group-by:
 *
 *   pairs    keys: the query's keys, then x. Aggregate: count()
 *   counts   keys: the query's keys. A pair is a row with the outputs `rows`, `values` and `distinct`, which
 *            the aggregates add up: rows of the pair; the same, 0 if x is null; 1, 0 if x is null
 *
 * So the work is shared by hash partitions of the pairs, whatever the number of groups is.
 */
#ifndef EXPR_DISTINCT_QUERY_H
#define EXPR_DISTINCT_QUERY_H

#include "expr/query.h"

/* What `counts` adds up. It has those of these aggregates that the query needs, in this order. */
typedef enum hac_distinct_sum {
    HAC_DISTINCT_ROWS = 0,
    HAC_DISTINCT_VALUES,
    HAC_DISTINCT_DISTINCT,
    HAC_DISTINCT_SUMS
} hac_distinct_sum;

typedef struct hac_distinct_query {
    hac_query pairs, counts; /* they borrow the query's programs and the members below */
    hac_aggregate rows_of_pair, sums[HAC_DISTINCT_SUMS];
    hac_distinct_sum of[HAC_DISTINCT_SUMS]; /* of each aggregate of `counts` */
    hac_program counted;                    /* only its outputs: the rows are made in C */
    hac_program_output outputs[HAC_QUERY_KEYS_MAX + HAC_DISTINCT_SUMS];
} hac_distinct_query;

/* Whether all aggregates of the query are count(distinct x) and, if any, count() and count(x), for one x. */
bool hac_query_counts_distinct(const hac_query *query);
/* Makes the two queries of a query for which that is true. `ret` must not be moved. */
void hac_distinct_query_init(const hac_query *query, hac_distinct_query *ret);
/* The index of the aggregate of `counts` that is aggregate `index` of the query. */
size_t hac_distinct_sum_index(const hac_query *query, size_t index);

#endif
