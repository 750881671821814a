/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a query into two steps: the same query runs on each *part* of the rows, and one more query, the
 * *whole*, merges the parts' results. Both are texts of the language:
 *
 *     --group-by 'city' --select 'sum(x) as total, count() as n'
 *     part:  --group-by 'city as "city"' --select 'sum(x) as "#0", count() as "#1"'
 *     whole: --group-by '"city"' --select 'sum("#0") as "total", sum("#1") as "n"'
 *
 * Only queries whose merged result is certain are split: sums, counts, minima and maxima, and expressions of
 * these and of keys. (An average of averages would be rounded twice.) The split does not know the columns and
 * does not check names. If a text is wrong, the two queries fail, perhaps with another message.
 */
#ifndef EXPR_PARTIAL_H
#define EXPR_PARTIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define HAC_PARTIAL_VALUES 64

/* Which types a column "#i" of a part must not have, because the whole would differ from the unsplit query.
 * */
typedef enum hac_partial_use {
    HAC_PARTIAL_EXACT = 0, /* any type is fine: counts, minima, maxima */
    HAC_PARTIAL_SUM        /* no floats: a sum of rounded sums is not the exact one */
} hac_partial_use;

typedef struct hac_partial {
    char *part_group_by, *part_select, *part_order_by;      /* of the parts; NULL: none */
    char *group_by, *having, *select, *order_by, *limit_by; /* of the whole */
    bool rows; /* the query has no aggregation: the limit applies to the parts, too */
    hac_partial_use uses[HAC_PARTIAL_VALUES];
    size_t n_values;
} hac_partial;

/* The texts of a query (hac_query_text). A text may be NULL or "". */
typedef struct hac_partial_texts {
    const char *group_by, *having, *select, *order_by, *limit_by;
} hac_partial_texts;

/* HAC_UNSUPPORTED: this query cannot be split. The caller clears *ret in every
 * case. */
HAC_MUST_USE hac_status hac_partial_make(const hac_partial_texts *texts, hac_partial *ret, hac_error *err);
void hac_partial_clear(hac_partial *partial);

#endif
