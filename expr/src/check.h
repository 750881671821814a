/* SPDX-License-Identifier: Apache-2.0 */
/* Names and types: finds columns and functions, gives every node its type, and says what does not fit. */
#ifndef EXPR_CHECK_H
#define EXPR_CHECK_H

#include "parser.h"

typedef struct hac_checker {
    hac_parser *parser; /* memory, the error, the bound on nodes */
    const hac_schema *schema;
    const hac_item *outputs; /* names that go before the columns' (order by) … */
    size_t n_outputs;
    bool outputs_last; /* … or after them (group by) */
} hac_checker;

/* The checked node, perhaps another one than went in; NULL: parser->status says how it failed. */
hac_node *hac_check(hac_checker *checker, hac_node *node);

#endif
