/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recursive descent, bounded in depth and in nodes. Precedence, weakest first:
 *
 *     or · and · not · = <> < <= > >= is between in like · || · + - · * / // % · unary -
 */
#ifndef EXPR_PARSER_H
#define EXPR_PARSER_H

#include "tree.h"

typedef struct hac_parser {
    hac_arena *arena;
    hac_error *err;
    hac_status status;
    const hac_expr_source *source;
    hac_lexer lexer;
    hac_token token; /* the next one */
    size_t nodes;    /* made so far, over all texts */
    unsigned depth;
} hac_parser;

/* What a list of items may have besides expressions. */
typedef enum hac_item_flags {
    HAC_ITEM_NAMES = 1,     /* as name */
    HAC_ITEM_STAR = 2,      /* * */
    HAC_ITEM_DIRECTIONS = 4 /* asc, desc */
} hac_item_flags;

/* The whole of `source` as one expression. */
HAC_MUST_USE hac_status hac_parse_expression(hac_parser *parser, const hac_expr_source *source,
                                             hac_node **ret);
/* The whole of `source` as a list, at most `max` items into `ret`. */
HAC_MUST_USE hac_status hac_parse_items(hac_parser *parser, const hac_expr_source *source, unsigned flags,
                                        size_t max, hac_item *ret, size_t *ret_n);

/* For the checker, which makes nodes too. NULL: it has failed, parser->status says how. */
hac_node *hac_node_new(hac_parser *parser, hac_node_kind kind, const hac_expr_source *source, size_t at);
hac_node *hac_node_call(hac_parser *parser, const char *name, size_t at, size_t n_args,
                        hac_node *const *args);

#endif
