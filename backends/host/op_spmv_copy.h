/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sparse matrix of f64 as products that are made again and again take it (rounds in one task): a copy of
 * the rows of one call, checked once, in which rows of equal length lie together. A product of it reads no
 * offsets, checks no columns, and its loops end where the processor expects it: rows in their own order cost
 * a wrong guess or two each, as much as their sums. Every sum is added up in the order that base/op_layout.h
 * says, so the result has the same bits.
 */
#ifndef HOST_OP_SPMV_COPY_H
#define HOST_OP_SPMV_COPY_H

#include "host/op_call.h"

typedef struct hac_op_spmv_copy hac_op_spmv_copy;

#define HAC_OP_SPMV_COPY_BYTES                                                                               \
    (UINT64_C(64) << 20) /* of a copy at most; longer products gain nothing by one */

/* Of operand 1 of an op.spmv, the rows of its range, on all CPUs, of `fixed` bytes at most. NULL: the product
 * is to be made without one, as the matrix is of another kind, too large, or has a row that the product fails
 * of. */
hac_op_spmv_copy *hac_op_spmv_copy_new(const hac_op_request *r);
void hac_op_spmv_copy_free(hac_op_spmv_copy *copy);

/* Operand 0 becomes the copy's product with operand 2, which has to be the request's that it was made of. */
HAC_MUST_USE hac_status hac_op_spmv_copy_run(const hac_op_spmv_copy *copy, hac_op_request *r, hac_error *err);

#endif
