/* SPDX-License-Identifier: Apache-2.0 */
/* What the checker writes out of calls of aggregates before it checks their arguments. False: parser->status
 * has the failure. */
#ifndef EXPR_AGGREGATE_CALLS_H
#define EXPR_AGGREGATE_CALLS_H

#include "check.h"
#include "syntax/function.h"

/* count(*), count(distinct x) */
bool hac_rewrite_count(hac_checker *c, hac_node *node);
/* Takes the condition of `filter` out of the arguments; NULL if there is none. */
hac_node *hac_take_filter(hac_node *node);
/* Makes the argument that decides about a row null where the condition is not true. `row` is a row of the
 * function. */
bool hac_rewrite_filter(hac_checker *c, hac_node *node, const hac_function *row, hac_node *condition);
/* arg_min and arg_max leave out rows whose first argument is null. */
bool hac_rewrite_arg(hac_checker *c, hac_node *node);

#endif
