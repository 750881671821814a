/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codelets op.*.cl: sub-operators as kernels (base/op_layout.h says what each computes). They give the
 * bytes that the C ones give (host/op.h). What a device cannot do (f64, operations that only the host has or
 * that have other bits elsewhere, vectors larger than a window, loops that it would cut short) is refused
 * with HAC_UNSUPPORTED by the check.
 *
 * Three kinds of programs: op.expr.<style> runs programs and reduces, op.<number>.<style> computes with f32,
 * f64, i64 or u64 (hac_op_type), op.move moves rows.
 */
#ifndef CODELETS_OP_CODELETS_H
#define CODELETS_OP_CODELETS_H

#include "host/op_call.h"

/* clang-format off */
#define HAC_OP_EXPR_NAMES(X)   X(map) X(reduce) X(combine) X(filter_count) X(filter_copy)
#define HAC_OP_NUMBER_NAMES(X) X(scan_sums) X(scan) X(gemv) X(gemm) X(spmv) X(distance) X(nearest) X(arg_rows)  \
                               X(row_reduce) X(keys) X(keys_combine) X(histogram)
#define HAC_OP_MOVE_NAMES(X)   X(gather) X(scatter)
#define HAC_OP_CL_NAMES(X)     HAC_OP_EXPR_NAMES(X) HAC_OP_NUMBER_NAMES(X) HAC_OP_MOVE_NAMES(X)

#define HAC_OP_DECLARE_CL(what)                                                                                 \
    hac_status hac_op_cl_check_##what(const hac_device_facts *facts, const hac_task *task, hac_error *err);     \
    hac_status hac_op_cl_run_##what(hac_device *device, const hac_task *task, hac_task_result *result,          \
                                    hac_error *err);
HAC_OP_CL_NAMES(HAC_OP_DECLARE_CL)
/* clang-format on */

const char *hac_op_expr_program(const hac_device_facts *facts, hac_type type);
const char *hac_op_number_program(const hac_device_facts *facts, hac_type type);
const char *hac_op_move_program(const hac_device_facts *facts, hac_type type);
hac_status hac_op_expr_known(hac_device *device, hac_type type, hac_error *err);
hac_status hac_op_number_known(hac_device *device, hac_type type, hac_error *err);
hac_status hac_op_move_known(hac_device *device, hac_type type, hac_error *err);

#define HAC_OP_CL_CODELET(what, of)                                                                          \
    {                                                                                                        \
        .name = "op." #what ".cl",                                                                           \
        .engine = HAC_ENGINE_OPENCL,                                                                         \
        .min_spans = 1,                                                                                      \
        .max_spans = HAC_TASK_MAX_SPANS,                                                                     \
        .check = hac_op_cl_check_##what,                                                                     \
        .run = hac_op_cl_run_##what,                                                                         \
        .program = hac_op_##of##_program,                                                                    \
        .known_answer = hac_op_##of##_known,                                                                 \
    },
#define HAC_OP_EXPR_CODELET(what)   HAC_OP_CL_CODELET(what, expr)
#define HAC_OP_NUMBER_CODELET(what) HAC_OP_CL_CODELET(what, number)
#define HAC_OP_MOVE_CODELET(what)   HAC_OP_CL_CODELET(what, move)
#define HAC_OP_CL_CODELETS                                                                                   \
    HAC_OP_EXPR_NAMES(HAC_OP_EXPR_CODELET)                                                                   \
    HAC_OP_NUMBER_NAMES(HAC_OP_NUMBER_CODELET) HAC_OP_MOVE_NAMES(HAC_OP_MOVE_CODELET)

#endif
