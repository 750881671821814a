/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A single expression over typed columns, compiled by itself: what sub-operators (flow D) are made of.
 * Queries (expr/query.h) have their own way; the language is the same (docs/expressions.md), without
 * aggregates.
 */
#ifndef EXPR_EXPRESSION_H
#define EXPR_EXPRESSION_H

#include "expr/program.h"
#include "expr/schema.h"

typedef struct hac_expression {
    hac_program *program; /* one output */
    hac_value_type type;  /* of the output */
    uint16_t *columns;    /* by the program's inputs: the field of the schema; every one of them is read */
    size_t n_columns;
} hac_expression;

/*
 * Compiles `text` against the columns that there are. The result is cast to `as`, if its kind is not
 * HAC_KIND_NONE. HAC_INVALID: the message says what is wrong, without a position; that is the character
 * *ret_character of the text, from 1 (0: the text as a whole).
 */
HAC_MUST_USE hac_status hac_expression_compile(const char *text, const hac_schema *schema, hac_value_type as,
                                               hac_expression *ret, size_t *ret_character, hac_error *err);
void hac_expression_clear(hac_expression *expression);

#endif
