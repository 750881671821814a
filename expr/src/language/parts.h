/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that read a part of a column with lists or maps: len(x), contains(x, a), x[1], unnest(x). The part
 * is a column of its own, whose values the source's reader takes out of the lists. */
#ifndef EXPR_PARTS_H
#define EXPR_PARTS_H

#include "check.h"

/* Whether a function of that name may read a part. */
bool hac_part_is_named(const char *name);

/* Returns the column that stands for a call whose arguments are checked, or, of a list that is text, a call
 * that is to be checked. NULL: the first argument has no lists, and other functions may have the name; or,
 * with parser->status, the call is wrong. */
hac_node *hac_part_of(hac_checker *checker, const hac_node *call);

/* The column `name` for a part, which is added to those that the query reads. NULL: parser->status has the
 * failure. */
hac_node *hac_part_column(hac_checker *checker, const hac_node *at, const hac_field *part, const char *name);

#endif
