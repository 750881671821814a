/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl explain and simulate: the plan of a job that is not run. */
#include <string.h>

#include "command.h"
#include "simulated.h"
#include "sort_request.h"

/* The number of items: --items, or as many as IN holds, which is then what the plan begins with. */
static hac_status count_items(const hac_args *args, const char *command, hac_sort_request *request,
                              uint64_t *ret_items, hac_error *err)
{
    const char *count = args->values[HAC_OPT_ITEMS];
    if (count != NULL && args->n_words > 1)
        return hac_fail(err, HAC_INVALID, "%s: either IN or --items, not both", command);
    if (count != NULL)
        return hac_parse_count(count, ret_items, err);
    if (args->n_words < 2)
        return hac_fail(err, HAC_INVALID, "%s: how many items? Name a file or say --items COUNT", command);
    hac_input input;
    hac_status status = hac_input_open(args->words[1], request->options.type, &input, err);
    if (status != HAC_OK)
        return status;
    hac_close(input.fd);
    if (!input.sized)
        return hac_fail(err, HAC_INVALID, "%s: %s has no size that is known beforehand; say --items COUNT",
                        command, input.name);
    *ret_items = input.items;
    request->options.plan_input = HAC_PLAN_INPUT_FILE;
    return HAC_OK;
}

static hac_status parse_plan(const hac_args *args, const char *command, hac_sort_request *request,
                             uint64_t *ret_items, hac_error *err)
{
    if (strcmp(args->words[0], "sort") != 0)
        return hac_fail(err, HAC_INVALID, "%s: '%.64s' is no job that can be planned; there is: sort",
                        command, args->words[0]);
    hac_status status = hac_sort_request_parse(request, command, args, err);
    return status != HAC_OK ? status : count_items(args, command, request, ret_items, err);
}

hac_status hac_cmd_explain(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_sort_request_clear) hac_sort_request request = {.job = {.names = NULL}};
    hac_autofree char *plan = NULL;
    uint64_t items = 0;
    hac_status status = parse_plan(args, "explain", &request, &items, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status =
            hac_explain_sort(cli->client, items, &request.options, hac_cli_format(cli, args), &plan, err);
    return status == HAC_OK ? hac_cli_print(plan, err) : status;
}

hac_status hac_cmd_simulate(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_sort_request_clear) hac_sort_request request = {.job = {.names = NULL}};
    hac_cleanup(hac_simulated_free_cleanup) hac_simulated *machine = NULL;
    hac_autofree char *plan = NULL;
    uint64_t items = 0;
    if (!hac_args_has(args, HAC_OPT_PROFILES))
        return hac_fail(err, HAC_INVALID,
                        "simulate: --profiles DIR is missing: the folder that describes the machine");
    hac_status status = parse_plan(args, "simulate", &request, &items, err);
    if (status == HAC_OK)
        status = hac_simulated_load(args->values[HAC_OPT_PROFILES], &machine, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status = hac_simulate_sort(cli->client, hac_simulated_devices(machine), hac_simulated_count(machine),
                                   items, &request.options, hac_cli_format(cli, args), &plan, err);
    return status == HAC_OK ? hac_cli_print(plan, err) : status;
}
