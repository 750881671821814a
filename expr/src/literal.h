/* SPDX-License-Identifier: Apache-2.0 */
/* The values of literals, and what they are in another type. */
#ifndef EXPR_LITERAL_H
#define EXPR_LITERAL_H

#include "tree.h"

/* A number as written, without sign: integers are i64, u64 or decimal(n,0), whichever first has them; 1.5 is
 * decimal(2,1); with an exponent f64. Returns what is wrong with it, NULL when nothing is. */
const char *hac_literal_number(const char *text, size_t bytes, bool real, bool negative, hac_literal *ret,
                               hac_value_type *ret_type);

typedef enum hac_literal_fit {
    HAC_LITERAL_FITS,  /* the same value in the type */
    HAC_LITERAL_NEVER, /* no value of the type equals it: 1.5 as i64, -1 as u64 */
    HAC_LITERAL_OTHER  /* the types have nothing in common, or it takes a conversion */
} hac_literal_fit;

/* A literal of type `from` as a value of type `to`. Numbers become floats by rounding, and that fits. */
hac_literal_fit hac_literal_as(const hac_literal *literal, hac_value_type from, hac_value_type to,
                               hac_literal *ret);

/* The largest integer that is not above a decimal literal. */
__int128 hac_literal_floor(const hac_literal *literal, hac_value_type type);

/* The literal as a constant of its type's representation. */
hac_value_id hac_literal_emit(hac_builder *builder, const hac_literal *literal, hac_value_type type);

/* A number literal's value as a double. */
double hac_literal_real(const hac_literal *literal, hac_value_type type);

#endif
