/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of string_agg and list. The parser makes f(a, separator, flags[, key]) of them, and once the type of
 * a is known, the checker has the arguments of the table's rows: f(text[, key], k, flags), whose texts begin
 * with the separator. */
#ifndef EXPR_TEXTS_CALL_H
#define EXPR_TEXTS_CALL_H

#include "parse_tokens.h"

/* "string_agg" or "list", by whatever name they are called; NULL: another function. */
const char *hac_texts_name(const char *name);
/* `separator` and `key` may be NULL. `flags` are of hac_texts_flag. */
hac_node *hac_texts_call(hac_parser *p, const char *name, size_t at, hac_node *value, hac_node *separator,
                         unsigned flags, hac_node *key);
/* Gives a call, of which the first argument is checked, the arguments of the table's rows. False:
 * parser->status has the failure. */
bool hac_texts_arguments(hac_parser *p, hac_node *call, bool nested);

#endif
