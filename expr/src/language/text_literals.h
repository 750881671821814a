/* SPDX-License-Identifier: Apache-2.0 */
/* Text literals beside values of other types: `day >= '2024-01-01'` means a date. */
#ifndef EXPR_TEXT_LITERALS_H
#define EXPR_TEXT_LITERALS_H

#include "syntax/parser.h"

/* Replaces text literals among the checked arguments of a comparison, a condition or date_diff by values of
 * the other arguments' type. `row` is the first row of the function. False: a text is no value of that type;
 * parser->status has the failure. */
bool hac_read_text_literals(hac_parser *parser, hac_node *node, const hac_function *row);

/* Casts to string the arguments of concat, and those of `||` if one of them is a string. Bytes and nulls
 * without type stay as they are. False: there are too many nodes, or no memory; parser->status has the
 * failure. */
bool hac_cast_to_texts(hac_parser *parser, hac_node *node);

#endif
