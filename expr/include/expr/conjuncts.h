/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a filter into its conjuncts: `a and b and c` is true where a, b and c are. A source that can tell
 * early that a row does not count (by statistics, dictionaries, or columns that it reads first) looks at one
 * conjunct at a time. The conjuncts are found in the program itself, so nothing else travels with a query.
 * `not (a or b)` is split as well.
 *
 * What a source may leave out. A row passes the filter if every conjunct is true. Other rows either do not
 * count or are in error, which fails the job:
 *
 *   one conjunct is false               The filter is false, whatever the others are, errors included: the
 *                                       source may leave out the row without evaluating the rest.
 *   one is null, none is false          The filter is null and the row does not count, unless another
 *                                       conjunct is in error: then the filter is in error. The source may
 *                                       leave out the row unseen only if no other conjunct `fails`.
 *   one is in error, none is false      The row is in error.
 *
 * A value of a column may itself be in error (text that is not a number). Then every conjunct that reads the
 * column is in error.
 *
 * Bounds. If a value is not null and does not meet a bound, the bound's conjunct is false, and the source may
 * leave out the row. A null meets only HAC_COMPARE_NULL. For a null, the conjunct is false (HAC_COMPARE_NULL,
 * HAC_COMPARE_NOT_NULL) or null (the other comparisons and HAC_COMPARE_NOT_NULL), so the source may leave out
 * rows of nulls if no other conjunct `fails`. The converse does not hold: the conjuncts may still reject a
 * value that meets all bounds.
 */
#ifndef EXPR_CONJUNCTS_H
#define EXPR_CONJUNCTS_H

#include "expr/program.h"

#define HAC_CONJUNCTS_MAX 64 /* of a filter with more, the last ones stay unsplit */

typedef enum hac_comparison {
    HAC_COMPARE_NONE = 0,
    HAC_COMPARE_EQ,
    HAC_COMPARE_NE,
    HAC_COMPARE_LT,
    HAC_COMPARE_LE,
    HAC_COMPARE_GT,
    HAC_COMPARE_GE,
    HAC_COMPARE_IN, /* one of the values, which are sorted and distinct; if there are none, nothing meets it */
    HAC_COMPARE_NULL,
    HAC_COMPARE_NOT_NULL,
} hac_comparison;

/*
 * `column comparison value`. Values compare as in the machine: NaN equals NaN and is above all numbers, -0.0
 * equals 0.0, and strings compare byte by byte, unsigned. Values have the representation of the column's type
 * (expr/column.h), as in hac_constant; a string is bytes[low … low + high). A value may be outside of the
 * type's range: `< 5000000000` is a bound of an i32 column.
 */
typedef struct hac_bound {
    uint16_t column;      /* input of the program */
    uint16_t conjunct;    /* the conjunct that implies the bound */
    uint8_t comparison;   /* hac_comparison */
    uint8_t repr;         /* of the column */
    hac_constant *values; /* owned */
    size_t n_values;      /* IN: any number; NULL, NOT_NULL: 0; else 1 */
    const uint8_t *bytes; /* of the filter program */
} hac_bound;

typedef struct hac_conjunct {
    hac_program *program; /* one bool output; the inputs are those of the filter, used or not */
    uint16_t columns[HAC_PROGRAM_INPUTS_MAX]; /* the columns that it reads, ascending */
    size_t n_columns;
    bool fails; /* it may be in error although the columns that it reads are not */
} hac_conjunct;

typedef struct hac_conjuncts {
    hac_conjunct
        *conjuncts; /* in the order of the text, equal ones once; a filter without AND is one conjunct */
    size_t n;
    hac_bound *bounds; /* in the order of the conjuncts; a column without bound is not limited */
    size_t n_bounds;
} hac_conjuncts;

/*
 * `filter` has one bool output and is verified. It is borrowed, and bounds point to its bytes. HAC_NO_MEMORY.
 * HAC_INVALID: `filter` is not a filter, or its conjuncts are larger than a compiler makes them; the caller
 * goes on without conjuncts.
 */
HAC_MUST_USE hac_status hac_conjuncts_find(const hac_program *filter, hac_conjuncts *ret, hac_error *err);
/* Whether any conjunct `fails`. */
bool hac_conjuncts_fail(const hac_conjuncts *conjuncts);
void hac_conjuncts_clear(hac_conjuncts *conjuncts);

#endif
