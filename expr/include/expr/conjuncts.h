/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter taken apart: `a and b and c` is true where a, b and c are. Sources that can tell early that a row
 * does not count (statistics, dictionaries, columns read before others) ask for one conjunct at a time. Found
 * in the program itself, so nothing more travels with a query.
 *
 * A row of which some conjunct is false or null does not count, whatever state the others have (AND: false
 * wins over an error).
 */
#ifndef EXPR_CONJUNCTS_H
#define EXPR_CONJUNCTS_H

#include "expr/program.h"

typedef enum hac_comparison {
    HAC_COMPARE_NONE = 0,
    HAC_COMPARE_EQ,
    HAC_COMPARE_NE,
    HAC_COMPARE_LT,
    HAC_COMPARE_LE,
    HAC_COMPARE_GT,
    HAC_COMPARE_GE,
    HAC_COMPARE_IN, /* any of the values */
    HAC_COMPARE_NULL,
    HAC_COMPARE_NOT_NULL,
} hac_comparison;

/* `column comparison value`. Values are in the representation of the column's type (expr/vector.h), as
 * hac_constant has them; a string's is bytes[low … low + high). */
typedef struct hac_bound {
    uint16_t column;    /* input of the program */
    uint8_t comparison; /* hac_comparison */
    uint8_t repr;
    const hac_constant *values;
    size_t n_values; /* 1; of IN any number, of the last two 0 */
    const uint8_t *bytes;
} hac_bound;

typedef struct hac_conjunct {
    hac_program *program; /* one bool output; inputs as those of the filter, those it does not use too */
    uint16_t columns[HAC_PROGRAM_INPUTS_MAX]; /* that it reads, ascending */
    size_t n_columns;
} hac_conjunct;

typedef struct hac_conjuncts {
    hac_conjunct *conjuncts; /* in the order as written; a filter that is no AND is one */
    size_t n;
    hac_bound *bounds; /* what of them compares a column with constants: the rest is not bounded */
    size_t n_bounds;
} hac_conjuncts;

/* Borrows the filter, into whose constants bounds point. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_conjuncts_find(const hac_program *filter, hac_conjuncts *ret, hac_error *err);
void hac_conjuncts_clear(hac_conjuncts *conjuncts);

#endif
