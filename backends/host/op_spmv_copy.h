/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of a sparse matrix of f64 for products that are made repeatedly (rounds in one task). It holds the
 * rows of one call, checked once, with rows of equal length together. A product with it reads no offsets and
 * checks no columns, and the processor predicts the ends of its loops: rows in their own order cost one or
 * two mispredictions each, as much as their sums. The order of additions is that of base/op_layout.h, so the
 * result has the same bits.
 */
#ifndef HOST_OP_SPMV_COPY_H
#define HOST_OP_SPMV_COPY_H

#include "host/op_call.h"

typedef struct hac_op_spmv_copy hac_op_spmv_copy;

#define HAC_OP_SPMV_COPY_BYTES                                                                               \
    (UINT64_C(64) << 20) /* maximum of a copy; a copy does not make larger products faster */

/* Copies the rows of the request's range of operand 1 of an op.spmv, on all CPUs, in at most `fixed` bytes.
 * NULL: make the product without a copy, because the matrix is of another kind, is too large, or has a row
 * that makes the product fail. */
hac_op_spmv_copy *hac_op_spmv_copy_new(const hac_op_request *r);
void hac_op_spmv_copy_free(hac_op_spmv_copy *copy);

/* Operand 0 becomes the product of the copy and operand 2. The copy must have been made from this request. */
HAC_MUST_USE hac_status hac_op_spmv_copy_run(const hac_op_spmv_copy *copy, hac_op_request *r, hac_error *err);

#endif
