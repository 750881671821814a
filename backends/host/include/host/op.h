/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codelets op.* in C (base/op_layout.h says what each computes). They use one thread for each CPU that
 * the executor may run on; results do not depend on it.
 */
#ifndef HOST_OP_H
#define HOST_OP_H

#include "opencl/codelet.h"

/* Sub-operators that have kernels as well, and those that are C only. */
/* clang-format off */
#define HAC_OP_NAMES(X)                                                                                      \
    X(map) X(reduce) X(combine) X(scan_sums) X(scan) X(filter_count) X(filter_copy) X(gather) X(scatter)     \
    X(gemv) X(gemm) X(spmv) X(distance) X(nearest) X(arg_rows) X(row_reduce) X(keys) X(keys_combine)         \
    X(histogram)
/* clang-format on */
#define HAC_OP_HOST_NAMES(X) X(tokenize) X(index) X(csr) X(transpose)

#define HAC_OP_DECLARE_CODELET(name)                                                                         \
    hac_status hac_op_check_##name(const hac_device_facts *facts, const hac_task *task, hac_error *err);     \
    hac_status hac_op_run_##name(hac_device *device, const hac_task *task, hac_task_result *result,          \
                                 hac_error *err);
HAC_OP_NAMES(HAC_OP_DECLARE_CODELET)
HAC_OP_HOST_NAMES(HAC_OP_DECLARE_CODELET)
HAC_OP_DECLARE_CODELET(while) /* rounds of calls of the others (base/op_while.h) */

/* The entries of the codelet table. */
#define HAC_OP_HOST_CODELET(what)                                                                            \
    {                                                                                                        \
        .name = "op." #what,                                                                                 \
        .engine = HAC_ENGINE_HOST,                                                                           \
        .min_spans = 1,                                                                                      \
        .max_spans = HAC_TASK_MAX_SPANS,                                                                     \
        .check = hac_op_check_##what,                                                                        \
        .run = hac_op_run_##what,                                                                            \
    },
#define HAC_OP_HOST_CODELETS                                                                                 \
    HAC_OP_NAMES(HAC_OP_HOST_CODELET) HAC_OP_HOST_NAMES(HAC_OP_HOST_CODELET) HAC_OP_HOST_CODELET(while)

#endif
