/* SPDX-License-Identifier: Apache-2.0 */
/* The values of literals, and their conversion to other types. */
#ifndef EXPR_LITERAL_H
#define EXPR_LITERAL_H

#include "base/histogram.h"

#include "tree.h"

/* Reads a number without sign. An integer is the first of i64, u64 and decimal(n,0) that holds it; 1.5 is
 * decimal(2,1); a number with an exponent is f64. Returns NULL, or what is wrong with the number. */
const char *hac_literal_number(const char *text, size_t bytes, bool real, bool negative, hac_literal *ret,
                               hac_value_type *ret_type);

typedef enum hac_literal_fit {
    HAC_LITERAL_FITS,  /* the same value in the type */
    HAC_LITERAL_NEVER, /* no value of the type equals it: 1.5 as i64, -1 as u64 */
    HAC_LITERAL_OTHER  /* the types are unrelated, or the value needs a conversion */
} hac_literal_fit;

/* Converts a literal of type `from` to type `to`. A number that becomes a float is rounded, and counts as
 * fitting. */
hac_literal_fit hac_literal_as(const hac_literal *literal, hac_value_type from, hac_value_type to,
                               hac_literal *ret);

/* The largest integer that is not above a decimal literal. */
__int128 hac_literal_floor(const hac_literal *literal, hac_value_type type);

/* Adds the literal to a program, as a constant of its type's representation. */
hac_value_id hac_literal_emit(hac_program_builder *builder, const hac_literal *literal, hac_value_type type);

/* A number literal's value as a double. */
double hac_literal_real(const hac_literal *literal, hac_value_type type);
/* A number literal's value. */
hac_constant_number hac_literal_constant(const hac_literal *literal, hac_value_type type);

#endif
