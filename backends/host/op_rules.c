/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sub-operators, and their codelets in C. */
#include <string.h>

#include "op_parts.h"

#define BIT(function) (1u << HAC_OP_##function)
#define ONLY          BIT(SUM) /* of those that have no function it is 0 */
#define SUMS          (BIT(SUM) | BIT(SQUARES) | BIT(MAGNITUDE) | BIT(MIN) | BIT(MAX) | BIT(LARGEST) | BIT(COUNT))
#define ARGS          (BIT(ARGMIN) | BIT(ARGMAX))
#define FOLDS         (BIT(SUM) | BIT(MIN) | BIT(MAX))
#define DISTANCES     (BIT(EUCLIDEAN) | BIT(SQUARED_EUCLIDEAN) | BIT(MANHATTAN) | BIT(COSINE))
#define NO            HAC_OP_PROGRAM_NONE
#define MAY           HAC_OP_PROGRAM_MAY
#define MUST          HAC_OP_PROGRAM_MUST
#define NO_RANGE      HAC_OP_NO_RANGE
#define BLOCK         HAC_OP_BLOCK
#define KEYS          HAC_OP_KEY_BLOCK
#define NONE          255 /* no operand that may be `ones` */

#define RULE(what, least, most, inputs, program, range, grain, functions, flags, ones)                       \
    {"op." #what,                                                                                            \
     least,                                                                                                  \
     most,                                                                                                   \
     inputs,                                                                                                 \
     program,                                                                                                \
     range,                                                                                                  \
     grain,                                                                                                  \
     functions,                                                                                              \
     flags,                                                                                                  \
     ones,                                                                                                   \
     hac_op_check_of_##what,                                                                                 \
     hac_op_do_##what},

/* clang-format off */
static const hac_op_rule rules[] = {
    /*   name          operands inputs program range     grain  functions              flags             ones */
    RULE(map,          2, 8,    1,     MUST,   0,        BLOCK, ONLY,                  0,                NONE)
    RULE(reduce,       2, 8,    1,     MAY,    1,        BLOCK, SUMS | ARGS | BIT(PRODUCTS), 0,          NONE)
    RULE(combine,      2, 2,    2,     NO,     NO_RANGE, 1,     SUMS | ARGS | BIT(PRODUCTS), 0,          NONE)
    RULE(scan_sums,    2, 2,    2,     NO,     1,        BLOCK, FOLDS,                 HAC_OP_EXCLUSIVE, NONE)
    RULE(scan,         3, 3,    3,     NO,     0,        BLOCK, FOLDS,                 HAC_OP_EXCLUSIVE, NONE)
    RULE(filter_count, 2, 8,    1,     MUST,   1,        BLOCK, ONLY,                  0,                NONE)
    RULE(filter_copy,  4, 8,    3,     MUST,   1,        BLOCK, ONLY,                  0,                NONE)
    RULE(gather,       3, 3,    3,     NO,     0,        BLOCK, ONLY,                  0,                NONE)
    RULE(scatter,      3, 3,    3,     NO,     NO_RANGE, 1,     ONLY,                  0,                NONE)
    RULE(gemv,         3, 3,    3,     NO,     0,        1,     ONLY,                  0,                NONE)
    RULE(gemm,         3, 3,    3,     NO,     0,        1,     ONLY,                  0,                NONE)
    RULE(spmv,         3, 3,    3,     NO,     0,        1,     ONLY,                  0,                1)
    RULE(distance,     3, 3,    3,     NO,     1,        1,     DISTANCES,             0,                NONE)
    RULE(nearest,      3, 4,    4,     NO,     1,        BLOCK, DISTANCES,             0,                NONE)
    RULE(arg_rows,     2, 2,    2,     NO,     1,        BLOCK, ARGS,                  0,                NONE)
    RULE(row_reduce,   2, 2,    2,     NO,     1,        BLOCK, SUMS,                  0,                1)
    RULE(keys,         2, 3,    3,     NO,     1,        KEYS,  FOLDS,                 0,                NONE)
    RULE(keys_combine, 2, 2,    2,     NO,     0,        BLOCK, FOLDS,                 0,                NONE)
    RULE(histogram,    2, 2,    2,     NO,     1,        KEYS,  ONLY,                  0,                NONE)
    RULE(tokenize,     3, 3,    3,     NO,     NO_RANGE, 1,     ONLY,                  0,                NONE)
    RULE(index,        3, 5,    5,     NO,     NO_RANGE, 1,     ONLY,                  0,                NONE)
    RULE(csr,          3, 4,    4,     NO,     NO_RANGE, 1,     ONLY,                  HAC_OP_SYMMETRIC, 0)
    RULE(transpose,    2, 2,    2,     NO,     NO_RANGE, 1,     ONLY,                  0,                NONE)
};
/* clang-format on */

const hac_op_rule *hac_op_rule_find(const char *name)
{
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".cl") == 0)
        length -= 3;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strlen(rules[i].name) == length && memcmp(rules[i].name, name, length) == 0)
            return &rules[i];
    return NULL;
}

/* The executor names the codelet in front of what a check says; behind a run it is done here. */
static hac_status check(const char *name, const hac_task *task, hac_error *err)
{
    hac_op_request r;
    hac_status status = hac_op_request_read(hac_op_rule_find(name), task, &r, err);
    hac_op_request_clear(&r);
    return status;
}

static hac_status run(const char *name, const hac_task *task, hac_task_result *result, hac_error *err)
{
    const hac_op_rule *rule = hac_op_rule_find(name);
    hac_op_request r;
    result->n_values = 0;
    hac_status status = hac_op_request_read(rule, task, &r, err);
    if (status == HAC_OK)
        status = rule->run(&r, result->values, &result->n_values, err);
    hac_op_request_clear(&r);
    return status == HAC_OK ? status : hac_error_prefix(err, "%s", name);
}

#define DEFINE(what)                                                                                         \
    hac_status hac_op_check_##what(const hac_device_facts *facts, const hac_task *task, hac_error *err)      \
    {                                                                                                        \
        (void)facts;                                                                                         \
        return check("op." #what, task, err);                                                                \
    }                                                                                                        \
    hac_status hac_op_run_##what(hac_device *device, const hac_task *task, hac_task_result *result,          \
                                 hac_error *err)                                                             \
    {                                                                                                        \
        (void)device;                                                                                        \
        return run("op." #what, task, result, err);                                                          \
    }
HAC_OP_NAMES(DEFINE)
HAC_OP_HOST_NAMES(DEFINE)
