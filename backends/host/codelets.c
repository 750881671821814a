/* SPDX-License-Identifier: Apache-2.0 */
#include "host/codelets.h"

#include "base/io_layout.h"
#include "host/data_random.h"
#include "host/io_read.h"
#include "host/op.h"

#define HAC_CODELET(name, ...)                                                                               \
    static hac_status check_##name(const hac_device_facts *facts, const hac_task *task, hac_error *err)      \
    {                                                                                                        \
        (void)facts;                                                                                         \
        return hac_op_check("op." #name, task, err);                                                         \
    }                                                                                                        \
    static hac_status run_##name(hac_device *device, const hac_task *task, hac_task_result *result,          \
                                 hac_error *err)                                                             \
    {                                                                                                        \
        (void)device;                                                                                        \
        return hac_op_run("op." #name, task, result, err);                                                   \
    }
#include "base/op_catalog.def"

#define OP(what, check_op, run_op)                                                                           \
    {                                                                                                        \
        .name = "op." #what,                                                                                 \
        .min_spans = 1,                                                                                      \
        .max_spans = HAC_SPANS_MAX,                                                                          \
        .check = (check_op),                                                                                 \
        .run = (run_op),                                                                                     \
    },

/* clang-format off */
static const hac_codelet table[] = {
#define HAC_CODELET(name, ...) OP(name, check_##name, run_##name)
#include "base/op_catalog.def"
    OP(while, hac_op_check_while, hac_op_run_while)
    /* clang-format on */
    {
        .name = "io.read",
        .min_spans = 1,
        .max_spans = 1,
        .params = HAC_PARAMS_COUNT(hac_io_read_params),
        .check = hac_io_read_check,
        .run = hac_io_read_run,
    },
    {
        .name = "data.random",
        .min_spans = 1,
        .max_spans = 1,
        .params = HAC_PARAMS_COUNT(hac_data_random_params),
        .check = hac_data_random_check,
        .run = hac_data_random_run,
    },
    {.name = NULL},
};

const hac_codelet *hac_host_codelets(void)
{
    return table;
}
