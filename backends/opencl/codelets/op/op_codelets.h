/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codelets op.*.cl: sub-operators as kernels (hac/op.h defines the result of each, base/op_catalog.def
 * lists them). They give the same bytes as the codelets in C (host/op.h). The check refuses with
 * HAC_UNSUPPORTED what a device cannot do: f64, operations that only the host has or whose bits differ,
 * vectors larger than a window, loops that the device would end early.
 *
 * There are three kinds of programs: op.expr.<style> runs the programs of expressions and reduces,
 * op.<number>.<style> computes with f32, f64, i64 or u64 (hac_op_type), and op.move moves rows.
 */
#ifndef CODELETS_OP_CODELETS_H
#define CODELETS_OP_CODELETS_H

#include "host/op_call.h"
#include "op_launch.h"

/*
 * X(name, program) for each row of base/op_catalog.def whose family has kernels. Use it as
 *     #define HAC_CODELET(name, family, ...) HAC_OP_CL_##family(X, name)
 *     #include "base/op_catalog.def"
 */
#define HAC_OP_CL_HOST(X, name)
#define HAC_OP_CL_EXPR(X, name)   X(name, expr)
#define HAC_OP_CL_NUMBER(X, name) X(name, number)
#define HAC_OP_CL_MOVE(X, name)   X(name, move)

/* Checks or runs a call of the codelet whose row has this name ("op.map"). */
hac_status hac_op_cl_check(const char *name, const hac_device_facts *facts, const hac_task *task,
                           hac_error *err);
hac_status hac_op_cl_run(const char *name, hac_device *device, const hac_task *task, hac_task_result *result,
                         hac_error *err);

/* Known-answer tests: the kernels must give what the codelets in C give. */
hac_status hac_op_expr_known(hac_device *device, hac_type type, hac_error *err);
hac_status hac_op_number_known(hac_device *device, hac_type type, hac_error *err);
hac_status hac_op_move_known(hac_device *device, hac_type type, hac_error *err);

#endif
