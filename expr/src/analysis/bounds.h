/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds that follow from one conjunct. */
#ifndef EXPR_BOUNDS_H
#define EXPR_BOUNDS_H

#include "expr/conjuncts.h"
#include "program/program_slice.h"

/* A definition of the filter, or its negation. */
typedef struct hac_condition {
    uint16_t at;
    bool negated;
} hac_condition;

/* The condition without its leading NOTs. */
hac_condition hac_condition_of(const hac_program_slices *slices, size_t at, bool negated);
/* Whether the condition is `a and b` (with `any`: `a or b`), also as the negation of the other; ret has a and
 * b. */
bool hac_condition_parts(const hac_program_slices *slices, hac_condition condition, bool any,
                         hac_condition ret[2]);

#define HAC_BOUNDS_EACH 2 /* bounds of one condition, at most */

/* The bounds of one column that follow from the condition: *ret_n bounds, whose values the caller frees. If
 * there are any, the condition is in error only if the column is. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_bounds_of(hac_program_slices *slices, hac_condition condition,
                                      hac_bound ret[HAC_BOUNDS_EACH], size_t *ret_n, hac_error *err);

/* ---- functions of a column ------------------------------------------------------------------------------
 * Functions that keep the order, such as conversions: `date_trunc('month', d) <= x` is true up to some d. */

/* Whether definition `at` is a function of one column that never falls as the column rises, and is in error
 * only at the ends of the column's range, if at all. */
bool hac_rises(const hac_program_slices *slices, size_t at, uint16_t *ret_column);

/* A place is the position of a value in the order of its type: the value of an integer or decimal, the bits
 * of a float. */
typedef struct hac_place {
    bool error;             /* the function may be in error: nothing else is known */
    bool first, last;       /* the comparison's result for the smallest and for the largest value */
    __int128 turning_point; /* the last place whose result is `first` */
} hac_place;

/* Finds where `f comparison value` changes its result. The comparison is LE or GE; `value` has the
 * representation of f. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_turning_point_find(hac_program_slices *slices, size_t f, uint16_t column,
                                               hac_comparison comparison, const hac_constant *value,
                                               hac_place *ret, hac_error *err);
/* The value at a place of a type. */
hac_constant hac_place_constant(hac_value_type type, __int128 place);

#endif
