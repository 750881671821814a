/* SPDX-License-Identifier: Apache-2.0 */
#include "opsplit_request.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

void hac_opsplit_request_clear(hac_opsplit_request *r)
{
    hac_job_request_clear(&r->job);
    for (size_t i = 0; i < r->options.n_inputs; i++)
        free(r->names[i]);
    hac_logic_free(r->logic);
    hac_library_free(r->library);
}

static hac_status parse_inputs(hac_opsplit_request *r, const char *command, const hac_args *args,
                               hac_error *err)
{
    for (size_t i = 0; i < args->n_inputs; i++) {
        const char *equals = strchr(args->inputs[i], '=');
        if (equals == NULL || equals == args->inputs[i] || equals[1] == '\0')
            return hac_fail(err, HAC_INVALID, "%s: --input must be NAME=FILE, not '%.100s'", command,
                            args->inputs[i]);
        r->names[i] = strndup(args->inputs[i], (size_t)(equals - args->inputs[i]));
        r->options.n_inputs++;
        if (r->names[i] == NULL)
            return hac_fail_no_memory(err);
        for (size_t j = 0; j < i; j++)
            if (strcmp(r->names[i], r->names[j]) == 0)
                return hac_fail(err, HAC_INVALID, "%s: input %s is given twice", command, r->names[i]);
        r->inputs[i] = (hac_run_input){.name = r->names[i], .path = equals + 1};
    }
    r->options.inputs = r->inputs;
    return HAC_OK;
}

hac_status hac_opsplit_request_parse(hac_opsplit_request *r, const char *command, const hac_args *args,
                                     hac_error *err)
{
    hac_status status = hac_job_request_parse(&r->job, args, &r->options.job, err);
    if (status == HAC_OK)
        status = parse_inputs(r, command, args, err);
    if (status == HAC_OK)
        status = hac_parse_bytes(args, HAC_OPT_THRESHOLD, &r->options.threshold, err);
    if (status != HAC_OK)
        return status;
    r->options.policy =
        hac_args_choice(args, HAC_OPT_PLACEMENT) == 1 ? HAC_OP_POLICY_RULE : HAC_OP_POLICY_MEASURED;
    r->options.kernels = hac_args_has(args, HAC_OPT_KERNELS);
    r->options.output = args->values[HAC_OPT_OUTPUT];
    if (!hac_args_has(args, HAC_OPT_COMPONENTS))
        return HAC_OK;
    uint64_t components = 0;
    status = hac_parse_count(args->values[HAC_OPT_COMPONENTS], &components, err);
    if (status == HAC_OK && (components == 0 || components > HAC_LOGIC_SPLIT_MAX))
        status = hac_fail(err, HAC_INVALID, "%s: --components must be 1 to %d", command, HAC_LOGIC_SPLIT_MAX);
    r->options.components = (unsigned)components;
    return status;
}

hac_status hac_opsplit_read(const char *path, hac_library **ret_library, hac_logic **ret,
                            hac_logic_problems *problems, hac_error *err)
{
    hac_status status = hac_logic_read_own(path, ret_library, ret, problems, err);
    return status == HAC_NOT_FOUND ? hac_fail(err, HAC_FAILED, "%s: there is no such file", path) : status;
}

void hac_opsplit_say_damaged(const hac_cli *cli, const hac_library *library)
{
    for (size_t i = 0; i < hac_library_count(library); i++) {
        const hac_library_entry *entry = hac_library_at(library, i);
        if (entry->damage != NULL)
            hac_cli_say(cli, "warning: a damaged operator, not used here: %s", entry->damage);
    }
}
