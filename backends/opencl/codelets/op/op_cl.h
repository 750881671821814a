/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the codelets op.*.cl share. */
#ifndef CODELETS_OP_CL_H
#define CODELETS_OP_CL_H

#include "host/op_parts.h"
#include "op_codelets.h"

/* The work of each codelet. values and n_values are those of hac_task_result. */
#define HAC_OP_DECLARE_KERNELS(what, program)                                                                \
    hac_status hac_op_kernels_##what(hac_device *device, hac_op_request *r, uint64_t *values,                \
                                     size_t *n_values, hac_error *err);
#define HAC_CODELET(name, family, ...) HAC_OP_CL_##family(HAC_OP_DECLARE_KERNELS, name)
#include "base/op_catalog.def"

/* Evaluates the program for elements first … first + n - 1 (n is at most HAC_OP_EVAL_ROWS) and writes
 * elements of `kind` to y. The request's constants must have been bound. */
#define HAC_OP_EVAL_ROWS (UINT64_C(1) << 22)
HAC_MUST_USE hac_status hac_op_eval_kernel(hac_device *device, const hac_op_request *r, size_t inputs,
                                           uint64_t first, uint64_t n, uint8_t *y, unsigned kind,
                                           bool null_is_false, hac_error *err);

#endif
