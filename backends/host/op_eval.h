/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the program of a call over its operands, in batches and on several threads. */
#ifndef HOST_OP_EVAL_H
#define HOST_OP_EVAL_H

#include "expr/machine.h"
#include "host/op_parts.h"

typedef struct hac_op_eval hac_op_eval;

/* Changes the request's program: operands of one element become constants. Borrows the request. */
HAC_MUST_USE hac_status hac_op_eval_new(hac_op_request *r, hac_op_eval **ret, hac_error *err);
void hac_op_eval_free(hac_op_eval *eval);

/* The program's values for elements first … first + n - 1. `first` is a multiple of HAC_BATCH_ROWS, and n is
 * at most HAC_BATCH_ROWS. `*ret` is valid until the next call for the same worker. */
HAC_MUST_USE hac_status hac_op_eval_batch(hac_op_eval *eval, unsigned worker, uint64_t first, size_t n,
                                          hac_column *ret, hac_error *err);
/* HAC_FAILED if an element has no value; the message names the row. With `null`, null counts as a value. */
HAC_MUST_USE hac_status hac_op_eval_states(const hac_op_eval *eval, const hac_column *v, uint64_t first,
                                           size_t n, bool null, hac_error *err);

/* The kind in which a machine's values lie in memory: bool, i64, u64, f32 or f64. */
unsigned hac_op_eval_kind(const hac_column *v);

/* Checks that each operand that a program reads has this many rows and columns, or is one element. */
HAC_MUST_USE hac_status hac_op_check_inputs(const hac_op_request *r, size_t from, uint64_t rows,
                                            uint64_t columns, hac_error *err);

#endif
