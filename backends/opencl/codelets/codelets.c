/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/codelets.h"

#include "common/selftest.h"
#include "expr/expr_eval.h"
#include "hash/hash_aggregate.h"
#include "op/op_codelets.h"
#include "sort/bitonic.h"
#include "sort/radix.h"

#define OP_FUNCTIONS(what, program)                                                                          \
    static hac_status op_check_##what(const hac_device_facts *facts, const hac_task *task, hac_error *err)   \
    {                                                                                                        \
        return hac_op_cl_check("op." #what, facts, task, err);                                               \
    }                                                                                                        \
    static hac_status op_run_##what(hac_device *device, const hac_task *task, hac_task_result *result,       \
                                    hac_error *err)                                                          \
    {                                                                                                        \
        return hac_op_cl_run("op." #what, device, task, result, err);                                        \
    }
#define HAC_CODELET(name, family, ...) HAC_OP_CL_##family(OP_FUNCTIONS, name)
#include "base/op_catalog.def"

/* clang-format off */
static const hac_codelet table[] = {
    HAC_RADIX_CODELETS
    HAC_BITONIC_CODELETS
    HAC_EXPR_CODELETS
    HAC_HASH_CODELETS
#define OP_ROW(what, of)                                                                                      \
    {                                                                                                        \
        .name = "op." #what ".cl",                                                                           \
        .min_spans = 1,                                                                                      \
        .max_spans = HAC_SPANS_MAX,                                                                     \
        .check = op_check_##what,                                                                            \
        .run = op_run_##what,                                                                                \
        .program = hac_op_##of##_program,                                                                    \
        .known_answer = hac_op_##of##_known,                                                                 \
    },
#define HAC_CODELET(name, family, ...) HAC_OP_CL_##family(OP_ROW, name)
#include "base/op_catalog.def"
    /* clang-format on */
    {
        .name = "selftest.sum",
        .min_spans = 1,
        .max_spans = 1,
        .check = hac_selftest_check,
        .run = hac_selftest_run,
        .program = hac_selftest_program,
        .known_answer = hac_selftest_known_answer,
    },
    {.name = NULL},
};

const hac_codelet *hac_opencl_codelets(void)
{
    return table;
}
