/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A single expression over typed columns, compiled by itself, for the sub-operators of opsplit. The language
 * is that of queries (expr/query.h, docs/expressions.md), without aggregates.
 */
#ifndef EXPR_EXPRESSION_H
#define EXPR_EXPRESSION_H

#include "expr/program.h"
#include "expr/schema.h"

typedef struct hac_expression {
    hac_program *program; /* one output */
    hac_value_type type;  /* of the output */
    uint16_t *columns;    /* for each input of the program, the field of the schema; the program reads all */
    size_t n_columns;
} hac_expression;

/*
 * Compiles `text` over the columns of `schema`. The result is cast to `as`, unless its kind is HAC_KIND_NONE.
 * HAC_INVALID: the message names the fault. *ret_character is the position in the text, counted from 1; 0
 * means the text as a whole.
 */
HAC_MUST_USE hac_status hac_expression_compile(const char *text, const hac_schema *schema, hac_value_type as,
                                               hac_expression *ret, size_t *ret_character, hac_error *err);
void hac_expression_clear(hac_expression *expression);

/* Whether a column of that name needs quotes, because the name is a word of the language in whatever case. */
bool hac_expression_reserves(const char *name);

#endif
