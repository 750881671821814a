/* SPDX-License-Identifier: Apache-2.0 */
/* What the codelets op.* in C do, by name. */
#include "host/op_parts.h"
#include "op_eval.h"
#include "op_spmv_copy.h"

static const hac_op_rule rules[HAC_OP_CODELETS] = {
#define HAC_CODELET(name, ...)                                                                               \
    {&hac_op_codelets[HAC_OP_CODELET_##name], hac_op_check_of_##name, hac_op_do_##name},
#include "base/op_catalog.def"
};

const hac_op_rule *hac_op_rule_find(const char *name)
{
    const hac_op_codelet *op = hac_op_codelet_find(name);
    return op != NULL ? &rules[op - hac_op_codelets] : NULL;
}

void hac_op_request_clear(hac_op_request *r)
{
    r->again = false;
    r->fixed = 0;
    hac_op_eval_free(r->eval);
    r->eval = NULL;
    hac_op_spmv_copy_free(r->copy);
    r->copy = NULL;
    hac_program_free(r->program);
    r->program = NULL;
}

/* The executor puts the codelet's name before the message of a check; after a run this is done here. */
hac_status hac_op_check(const char *name, const hac_task *task, hac_error *err)
{
    hac_op_request r;
    hac_status status = hac_op_request_read(hac_op_rule_find(name), task, &r, err);
    hac_op_request_clear(&r);
    return status;
}

hac_status hac_op_run(const char *name, const hac_task *task, hac_task_result *result, hac_error *err)
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
