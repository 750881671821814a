/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter taken apart: `a and b and c` is true where a, b and c are. Sources that can tell early that a row
 * does not count (statistics, dictionaries, columns read before others) ask for one conjunct at a time. Found
 * in the program itself, so nothing more travels with a query. `not (a or b)` is taken apart as well.
 *
 * What a source may leave out. A row passes where every conjunct is true. For the others there is a
 * difference between rows that do not count and rows in error, which are the job's failure:
 *
 *   one conjunct is false               the filter is false, whatever the others are, errors included: the
 *                                       row may be left out without a look at the rest
 *   one is null, none is false          the filter is null, and the row does not count, unless another
 *                                       conjunct is in error: then so is the filter. The row may be left out
 *                                       unseen only where no other conjunct `fails`
 *   one is in error, none is false      the row is in error
 *
 * A value of a column may itself be in error (text that is no number); it is so in all conjuncts that read
 * it.
 *
 * Bounds. Of a value that is not null and does not fulfil a bound the bound's conjunct is false, and the row
 * may be left out. A null fulfils HAC_COMPARE_NULL alone: of it the conjunct is false (HAC_COMPARE_NULL,
 * HAC_COMPARE_NOT_NULL) or null (the others and HAC_COMPARE_NOT_NULL), so rows of nulls may be left out
 * where no other conjunct `fails`. The converse need not hold: a value that fulfils all bounds may be left
 * out by its conjuncts yet.
 */
#ifndef EXPR_CONJUNCTS_H
#define EXPR_CONJUNCTS_H

#include "expr/program.h"

#define HAC_CONJUNCTS_MAX 64 /* what goes beyond them stays in the last ones */

typedef enum hac_comparison {
    HAC_COMPARE_NONE = 0,
    HAC_COMPARE_EQ,
    HAC_COMPARE_NE,
    HAC_COMPARE_LT,
    HAC_COMPARE_LE,
    HAC_COMPARE_GT,
    HAC_COMPARE_GE,
    HAC_COMPARE_IN, /* any of the values, which are sorted and different; of none: no value fulfils it */
    HAC_COMPARE_NULL,
    HAC_COMPARE_NOT_NULL,
} hac_comparison;

/*
 * `column comparison value`, as the machine compares (floats: NaN equals itself and is above all numbers,
 * -0.0 equals 0.0; strings byte by byte, unsigned). Values are in the representation of the column's type
 * (expr/vector.h), as hac_constant has them; a string's is bytes[low … low + high). They may lie outside of
 * what the type has: of an i32 column `< 5000000000` is a bound.
 */
typedef struct hac_bound {
    uint16_t column;      /* input of the program */
    uint16_t conjunct;    /* the one that it follows from */
    uint8_t comparison;   /* hac_comparison */
    uint8_t repr;         /* of the column */
    hac_constant *values; /* owned */
    size_t n_values;      /* 1; of IN any number, of the last two 0 */
    const uint8_t *bytes; /* the filter's */
} hac_bound;

typedef struct hac_conjunct {
    hac_program *program; /* one bool output; inputs as those of the filter, those it does not use too */
    uint16_t columns[HAC_PROGRAM_INPUTS_MAX]; /* that it reads, ascending */
    size_t n_columns;
    bool fails; /* it may be in error where the columns that it reads are not */
} hac_conjunct;

typedef struct hac_conjuncts {
    hac_conjunct *conjuncts; /* in the order as written, equal ones once; a filter that is no AND is one */
    size_t n;
    hac_bound *bounds; /* in the order of the conjuncts; what is in none of them is not bounded */
    size_t n_bounds;
} hac_conjuncts;

/*
 * `filter` has one bool output and is verified; it is borrowed, and bounds point to its bytes. HAC_NO_MEMORY;
 * HAC_INVALID: it is no filter, or one that no compiler made and that is too large in parts: do without.
 */
HAC_MUST_USE hac_status hac_conjuncts_find(const hac_program *filter, hac_conjuncts *ret, hac_error *err);
/* Whether some conjunct `fails`. */
bool hac_conjuncts_fail(const hac_conjuncts *conjuncts);
void hac_conjuncts_clear(hac_conjuncts *conjuncts);

#endif
