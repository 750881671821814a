/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "bitonic.h"
#include "expr_eval.h"
#include "hash_aggregate.h"
#include "host/data_random.h"
#include "host/io_read.h"
#include "host/op.h"
#include "op_codelets.h"
#include "opencl/codelet.h"
#include "query/codelets.h"
#include "radix.h"
#include "selftest.h"

/* clang-format off */
static const hac_codelet table[] = {
    HAC_RADIX_CODELETS
    HAC_BITONIC_CODELETS
    HAC_EXPR_CODELETS
    HAC_HASH_CODELETS
    HAC_QUERY_CODELETS
    HAC_OP_HOST_CODELETS
    HAC_OP_CL_CODELETS
    /* clang-format on */
    {
        .name = "selftest.sum",
        .engine = HAC_ENGINE_OPENCL,
        .min_spans = 1,
        .max_spans = 1,
        .check = hac_selftest_check,
        .run = hac_selftest_run,
        .program = hac_selftest_program,
        .known_answer = hac_selftest_known_answer,
    },
    {
        .name = "io.read",
        .engine = HAC_ENGINE_HOST,
        .min_spans = 1,
        .max_spans = 1,
        .min_params = 2,
        .max_params = 2,
        .check = hac_io_read_check,
        .run = hac_io_read_run,
    },
    {
        .name = "data.random",
        .engine = HAC_ENGINE_HOST,
        .min_spans = 1,
        .max_spans = 1,
        .min_params = 1,
        .max_params = 2,
        .check = hac_data_random_check,
        .run = hac_data_random_run,
    },
    {.name = NULL},
};

const hac_codelet *hac_codelets(void)
{
    return table;
}

const hac_codelet *hac_codelet_find(const char *name)
{
    for (const hac_codelet *codelet = table; codelet->name != NULL; codelet++)
        if (strcmp(codelet->name, name) == 0)
            return codelet;
    return NULL;
}
