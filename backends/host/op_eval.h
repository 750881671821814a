/* SPDX-License-Identifier: Apache-2.0 */
/* A call's program over its operands, a batch of elements at a time, on several threads. */
#ifndef HOST_OP_EVAL_H
#define HOST_OP_EVAL_H

#include "expr/machine.h"
#include "op_parts.h"

typedef struct hac_op_eval hac_op_eval;

/* Changes the request's program: operands of one element become constants of it. Borrows the request. */
HAC_MUST_USE hac_status hac_op_eval_new(hac_op_request *r, const char *name, hac_op_eval **ret,
                                        hac_error *err);
void hac_op_eval_free(hac_op_eval *eval);

/* The program's values for elements first … first + n - 1 (first is a multiple of HAC_BATCH_ROWS, n at most
 * that). `*ret` is valid until the worker's next call. */
HAC_MUST_USE hac_status hac_op_eval_batch(hac_op_eval *eval, unsigned worker, uint64_t first, size_t n,
                                          hac_vector *ret, hac_error *err);
/* HAC_FAILED, with the row, where one has no value. `null`: that is one. */
HAC_MUST_USE hac_status hac_op_eval_states(const hac_op_eval *eval, const hac_vector *v, uint64_t first,
                                           size_t n, bool null, hac_error *err);

/* The kind that a machine's values have in memory: bool, i64, u64, f32 or f64. */
unsigned hac_op_eval_kind(const hac_vector *v);

/* Operands that a program reads have the rows and columns of `like`, or are one element. */
HAC_MUST_USE hac_status hac_op_check_inputs(const hac_op_request *r, size_t from, uint64_t rows,
                                            uint64_t columns, hac_error *err);

#endif
