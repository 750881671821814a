/* SPDX-License-Identifier: Apache-2.0 */
/* What a planner needs to know of a compiled query: hacd plans by these numbers and never looks into the
 * query. */
#ifndef EXPR_QUERY_FACTS_H
#define EXPR_QUERY_FACTS_H

#include "expr/query.h"

typedef struct hac_query_facts {
    uint64_t flags; /* bits of hac_compile_flag (base/query_layout.h) */
    uint64_t keys;  /* keys of the groups in partials: those of group-by, and x of count(distinct x) */
    /* Bytes of a group in a partial, or of a row without aggregation; a string counts with 16 bytes. */
    uint64_t group_bytes;
    uint64_t output_bytes; /* estimated bytes of an output row */
    uint64_t output_max;   /* largest bytes of an output row, without the bytes of its texts */
    uint32_t shape, same;  /* of hac_query_shape_read */
} hac_query_facts;

/* HAC_INVALID: the query has too many keys or aggregates. */
HAC_MUST_USE hac_status hac_query_facts_read(const hac_query *query, hac_query_facts *ret, hac_error *err);

/* Two hashes by which queries that take about as long per byte are told apart, neither of them 0. Queries
 * have the same *ret_shape if they differ in constants and names only, and the same *ret_same if they differ
 * in nothing that matters. Other queries may have the same hashes, too, though few do. */
void hac_query_shape_read(const hac_query *query, uint32_t *ret_shape, uint32_t *ret_same);

/* Whether the query wants the first of rows in an order, and so few of them that each chunk keeps only its
 * own first rows. */
#define HAC_FIRST_ROWS_MAX (UINT64_C(1) << 16)
bool hac_query_wants_first(const hac_query *query);

/* Whether the result is the first hac_query.limit rows that pass the filter, so that no later row is read. */
bool hac_query_ends_early(const hac_query *query);

/* What a query wants of a column: whether values are null, the smallest, the largest. */
enum { HAC_WANTS_NULLS = 1, HAC_WANTS_MIN = 2, HAC_WANTS_MAX = 4 };

/* Whether the statistics of a source may hold all that the query asks for: numbers of rows, and count, min
 * and max of columns, without filter and groups. If so, wants[i] gets the HAC_WANTS_… bits of the source's
 * column i; `wants` has a byte for each column and may be NULL. */
bool hac_query_statistics_answer(const hac_query *query, uint8_t *wants);

#endif
