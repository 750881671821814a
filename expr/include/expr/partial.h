/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query in two steps: *parts* of the rows each give what one more query, the *whole*, puts together. As
 * texts of the language:
 *
 *     --group-by 'city' --select 'avg(x) as mean, count() as n'
 *     part:  --group-by 'city as "city"' --select 'sum(x) as "#0", count(x) as "#1", count() as "#2"'
 *     whole: --group-by '"city"' --select '(sum("#0") / sum("#1")) as "mean", sum("#2") as "n"'
 *
 * Only what is certain is taken apart: sums, counts, averages, least and greatest values, and expressions of
 * these and of keys. Columns are not known here, so what a name means is not looked at: where a text is
 * wrong, the two queries fail, maybe with another message.
 */
#ifndef EXPR_PARTIAL_H
#define EXPR_PARTIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define HAC_PARTIAL_VALUES 64

/* What a column "#i" of a part must not be for the whole to be what one query alone gives. */
typedef enum hac_partial_use {
    HAC_PARTIAL_EXACT = 0, /* any type: counts, least and greatest values */
    HAC_PARTIAL_SUM,       /* not of floats: they add up to something else in another order */
    HAC_PARTIAL_MEAN       /* nor of decimals: what is divided is rounded first */
} hac_partial_use;

typedef struct hac_partial {
    char *part_group_by, *part_select, *part_order_by; /* NULL: none */
    char *group_by, *select, *order_by;                /* of the whole */
    bool rows;                                         /* nothing is aggregated: parts have the limit, too */
    hac_partial_use uses[HAC_PARTIAL_VALUES];
    size_t n_values;
} hac_partial;

/* NULL or "" are no text. HAC_UNSUPPORTED: this query is none of two steps. To be cleared in every case. */
HAC_MUST_USE hac_status hac_partial_make(const char *group_by, const char *select, const char *order_by,
                                         hac_partial *ret, hac_error *err);
void hac_partial_clear(hac_partial *partial);

#endif
