/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sums of floats and of their products (base/exact_number.h): the partials of HAC_OP_EXACT_… hold the
 * digits of a sum. What the values are, and in which order or in which blocks they are added, cannot be seen
 * in the result.
 */
#ifndef HOST_OP_EXACT_H
#define HOST_OP_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/exact_number.h"
#include "base/op_layout.h"

typedef struct hac_op_exact {
    int64_t digits[HAC_EXACT_DIGITS];
    uint64_t nans, infinite, negative; /* numbers of NaN, of infinities, of negative ones among them */
} hac_op_exact;

/* Adds what the function makes of up to HAC_OP_BLOCK values to a sum of fewer than 2^20 blocks; y is for
 * HAC_OP_EXACT_PRODUCTS. */
void hac_op_exact_add(unsigned function, const double *x, const double *y, size_t n, hac_op_exact *sum);

/* Makes all digits but the highest smaller than 2^32, so that 2^20 more sums can be added. */
void hac_op_exact_carry(hac_op_exact *sum);

/* Adds a sum that came from outside, and may have any digits. */
void hac_op_exact_join(hac_op_exact *sum, const hac_op_exact *other);

/* The sum, or of HAC_OP_EXACT_LENGTH its root, rounded once. */
double hac_op_exact_result(unsigned function, const hac_op_exact *sum);

#endif
