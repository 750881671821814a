/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recursive descent parser with limits on depth and nodes. Operators, in ascending order of precedence:
 *
 *     or · and · not · = <> < <= > >= is between in like ilike · || & | << >> · + - · * / // % · unary - · ::
 */
#ifndef EXPR_PARSER_H
#define EXPR_PARSER_H

#include "parse_tokens.h"

/* What items of a list may have besides an expression. */
typedef enum hac_item_flags {
    HAC_ITEM_NAMES = 1,      /* as name */
    HAC_ITEM_STAR = 2,       /* *, * exclude (a, b) */
    HAC_ITEM_DIRECTIONS = 4, /* asc, desc; nulls first, nulls last */
    HAC_ITEM_BARE_NAMES = 8  /* a name without `as`, as in SQL */
} hac_item_flags;

/* Parses all of `source` as one expression. */
HAC_MUST_USE hac_status hac_parse_expression(hac_parser *parser, const hac_expr_source *source,
                                             hac_node **ret);
/* Parses all of `source` as a list of at most `max` items. */
HAC_MUST_USE hac_status hac_parse_items(hac_parser *parser, const hac_expr_source *source, unsigned flags,
                                        size_t max, hac_item *ret, size_t *ret_n);

/* The operators that are one symbol or word between two values. *ret_level grows with their precedence. NULL:
 * there are no more. */
const char *hac_operator_symbol(size_t index, unsigned *ret_level);

/* Parses one expression, from the next token on. */
hac_node *hac_parse_value(hac_parser *parser);

#endif
