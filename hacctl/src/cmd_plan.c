/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl explain and simulate: the plan of a job that is not run. */
#include <string.h>

#include "command.h"
#include "query_request.h"
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

/* The plan of a sort or of a query: whichever the first word asks for. */
typedef struct plan_request {
    bool query;
    hac_sort_request sort;
    uint64_t items;
    hac_query_request mapreduce;
} plan_request;

static void plan_request_clear(plan_request *request)
{
    hac_sort_request_clear(&request->sort);
    hac_query_request_clear(&request->mapreduce);
}

static hac_status parse_plan(const hac_args *args, const char *command, plan_request *request, hac_error *err)
{
    request->query = strcmp(args->words[0], "mapreduce") == 0;
    if (request->query && hac_args_has(args, HAC_OPT_ITEMS))
        return hac_fail(err, HAC_INVALID, "%s: --items is for sort; mapreduce takes files", command);
    if (request->query)
        return hac_query_request_parse(&request->mapreduce, command, args, 1, err);
    if (strcmp(args->words[0], "sort") != 0)
        return hac_fail(err, HAC_INVALID,
                        "%s: '%.64s' is no job that can be planned; there are: sort, mapreduce", command,
                        args->words[0]);
    if (args->n_words > 2)
        return hac_fail(err, HAC_INVALID, "%s: '%.64s' is one argument too many", command, args->words[2]);
    hac_status status = hac_sort_request_parse(&request->sort, command, args, err);
    return status != HAC_OK ? status : count_items(args, command, &request->sort, &request->items, err);
}

hac_status hac_cmd_explain(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(plan_request_clear) plan_request request = {.query = false};
    hac_autofree char *plan = NULL;
    hac_plan_format format = hac_cli_format(cli, args);
    hac_status status = parse_plan(args, "explain", &request, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK && request.query)
        status = hac_explain_query(cli->client, request.mapreduce.bytes, request.mapreduce.n_files,
                                   &request.mapreduce.options, format, &plan, err);
    else if (status == HAC_OK)
        status = hac_explain_sort(cli->client, request.items, &request.sort.options, format, &plan, err);
    return status == HAC_OK ? hac_cli_print(plan, err) : status;
}

static hac_status simulate(hac_cli *cli, const plan_request *request, const hac_simulated *machine,
                           hac_plan_format format, char **ret, hac_error *err)
{
    const hac_simulated_device *devices = hac_simulated_devices(machine);
    size_t n_devices = hac_simulated_count(machine);
    const hac_query_request *query = &request->mapreduce;
    if (request->query)
        return hac_simulate_query(cli->client, devices, n_devices, query->bytes, query->n_files,
                                  &query->options, format, ret, err);
    return hac_simulate_sort(cli->client, devices, n_devices, request->items, &request->sort.options, format,
                             ret, err);
}

hac_status hac_cmd_simulate(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(plan_request_clear) plan_request request = {.query = false};
    hac_cleanup(hac_simulated_free_cleanup) hac_simulated *machine = NULL;
    hac_autofree char *plan = NULL;
    if (!hac_args_has(args, HAC_OPT_PROFILES))
        return hac_fail(err, HAC_INVALID,
                        "simulate: --profiles DIR is missing: the folder that describes the machine");
    hac_status status = parse_plan(args, "simulate", &request, err);
    if (status == HAC_OK)
        status = hac_simulated_load(args->values[HAC_OPT_PROFILES], &machine, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status = simulate(cli, &request, machine, hac_cli_format(cli, args), &plan, err);
    return status == HAC_OK ? hac_cli_print(plan, err) : status;
}
