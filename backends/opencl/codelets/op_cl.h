/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the codelets op.*.cl. */
#ifndef CODELETS_OP_CL_H
#define CODELETS_OP_CL_H

#include "op_codelets.h"
#include "op_launch.h"
#include "op_parts.h"

#define HAC_OP_DECLARE_KERNELS(what)                                                                         \
    hac_status hac_op_kernels_##what(hac_device *device, hac_op_request *r, uint64_t *values,                \
                                     size_t *n_values, hac_error *err);
HAC_OP_CL_NAMES(HAC_OP_DECLARE_KERNELS)

/* What the program gives for elements first … first + n - 1 (at most HAC_OP_EVAL_ROWS), as elements of `kind`
 * at y. The request's constants have been bound. */
#define HAC_OP_EVAL_ROWS (UINT64_C(1) << 22)
HAC_MUST_USE hac_status hac_op_eval_kernel(hac_device *device, const hac_op_request *r, size_t inputs,
                                           uint64_t first, uint64_t n, uint8_t *y, unsigned kind,
                                           bool null_is_false, hac_error *err);

#endif
