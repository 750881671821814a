/* SPDX-License-Identifier: Apache-2.0 */
/* Operators and functions that the parser writes out: nodes made of nodes. NULL: parser->status has the
 * failure. */
#ifndef EXPR_REWRITES_H
#define EXPR_REWRITES_H

#include "parse_tokens.h"

/* `a is not distinct from b`, a comparison that is never null: nulls are equal to each other. */
hac_node *hac_rewrite_same(hac_parser *p, size_t at, hac_node *a, hac_node *b);
/* `a is true`, `a is false`: never null. */
hac_node *hac_rewrite_is(hac_parser *p, size_t at, hac_node *a, bool value);
/* concat_ws(separator, a, …); n counts the separator. It stands between the arguments that are not null. */
hac_node *hac_rewrite_concat_ws(hac_parser *p, size_t at, hac_node *const *args, size_t n);
/* trim(a, 'xy'), ltrim and rtrim: removes the characters, which are a constant, from the ends. */
hac_node *hac_rewrite_trim(hac_parser *p, size_t at, const char *name, hac_node *a, hac_node *characters);
/* percentile_cont(share), percentile_disc(share) and mode(), `within group (order by value)`: quantile(value,
 * share), quantile_disc(value, share), mode(value). */
hac_node *hac_rewrite_within_group(hac_parser *p, size_t at, hac_node *call, hac_node *value,
                                   bool descending);

/* A text literal in lower case; another node as it is, for the checker's message. */
void hac_rewrite_lower(hac_parser *p, hac_node *node);
/* json_extract(a, 0), a -> -1: the number becomes the path of an element, counted from 0. Other calls stay.
 */
hac_node *hac_rewrite_json_number(hac_parser *p, hac_node *call);

#endif
