/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds that one conjunct gives. */
#ifndef EXPR_BOUNDS_H
#define EXPR_BOUNDS_H

#include "cone.h"
#include "expr/conjuncts.h"

/* A definition of the filter, or its negation. */
typedef struct hac_condition {
    uint16_t at;
    bool negated;
} hac_condition;

/* The condition without the NOTs in front of it. */
hac_condition hac_condition_of(const hac_cones *cones, size_t at, bool negated);
/* Its two parts where it is `a and b` (`any`: `a or b`), also as the negation of the other. */
bool hac_condition_parts(const hac_cones *cones, hac_condition condition, bool any, hac_condition ret[2]);

#define HAC_BOUNDS_EACH 2 /* of one condition at most */

/* What the condition says of one column: *ret_n bounds, whose values are the caller's to free. Where there
 * are some the condition is never in error while the column is not. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_bounds_of(hac_cones *cones, hac_condition condition,
                                      hac_bound ret[HAC_BOUNDS_EACH], size_t *ret_n, hac_error *err);

/* ---- functions of a column ------------------------------------------------------------------------------
 * Conversions and others that keep the order: `date_trunc('month', d) <= x` is true up to some d. */

/* Whether definition `at` is a function of one column that never falls as the column rises, and is in error
 * at ends of the column's type at most. */
bool hac_rises(const hac_cones *cones, size_t at, uint16_t *ret_column);

/* A place in the order of the values of a type: integers and decimals themselves, floats by their bits. */
typedef struct hac_place {
    bool error;        /* somewhere the function is: then nothing is known */
    bool first, last;  /* what the comparison gives for the least and for the greatest value */
    __int128 boundary; /* the last place at which it gives what it does at the least */
} hac_place;

/* Where `f comparison value` (LE or GE; value is of the representation of f) turns. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_boundary_find(hac_cones *cones, size_t f, uint16_t column,
                                          hac_comparison comparison, const hac_constant *value,
                                          hac_place *ret, hac_error *err);
/* The value at a place of a type. */
hac_constant hac_place_constant(hac_value_type type, __int128 place);

#endif
