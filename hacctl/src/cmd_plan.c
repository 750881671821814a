/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl explain and simulate: the plan of a job that is not run. */
#include <stdio.h>
#include <stdlib.h>
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

/* The plan of a sort or of a query: whichever the first words ask for. */
typedef struct plan_request {
    bool is_query;
    hac_sort_request sort;
    uint64_t items;
    hac_query_request query;
    uint64_t bytes; /* of the query's input, which is planned as one; 0: as its files are */
} plan_request;

static void plan_request_clear(plan_request *request)
{
    hac_sort_request_clear(&request->sort);
    hac_query_request_clear(&request->query);
}

/* How the command lines of queries are read. */
typedef hac_status (*parse_query)(hac_query_request *request, const char *command, const hac_args *args,
                                  size_t first, hac_error *err);

static parse_query find_query(const hac_command *job, const hac_args *args)
{
    static const struct {
        const char *name;
        parse_query parse;
    } known[] = {{"mapreduce", hac_query_request_parse},
                 {"splice", hac_query_request_splice},
                 {"parquet query", hac_query_request_parquet},
                 {"parquet convert", hac_query_request_convert}};
    for (size_t i = 0; job != NULL && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, job->name) == 0)
            return known[i].parse;
    bool sort = job != NULL && strcmp(job->name, "sort") == 0;
    return sort && hac_query_request_is_sort(args) ? hac_query_request_sort : NULL;
}

/* Options of other jobs, which this command takes as well, would be ignored. */
static hac_status check_options(const hac_args *args, const char *command, const hac_command *job,
                                hac_error *err)
{
    const uint64_t own = HAC_OPTIONS_GLOBAL | HAC_OPT_BIT(HAC_OPT_FORMAT) | HAC_OPT_BIT(HAC_OPT_PROFILES) |
                         HAC_OPT_BIT(HAC_OPT_ITEMS) | HAC_OPT_BIT(HAC_OPT_INPUT_SIZE);
    char whose[64];
    snprintf(whose, sizeof whose, "no option of %.32s", job->name);
    return hac_args_refuse(args, command, ~(own | job->options), whose, err);
}

/* How much there is to read: --input-size, or what the input holds. */
static hac_status count_bytes(const hac_args *args, const char *command, plan_request *request,
                              hac_error *err)
{
    const hac_query_input *input = &request->query.input;
    if (hac_args_has(args, HAC_OPT_INPUT_SIZE))
        return hac_parse_bytes(args, HAC_OPT_INPUT_SIZE, &request->bytes, err);
    if (request->query.in_splits)
        return hac_split_input_bytes(&request->query.splits, command, &request->bytes, err);
    if (!input->stream && !input->compressed)
        return HAC_OK;
    return hac_fail(err, HAC_INVALID,
                    "%s: %.200s%s has no size that is known beforehand; say --input-size SIZE", command,
                    input->names[0], input->n_files > 1 ? ", or a file behind it," : "");
}

static hac_status parse_plan_of_query(const hac_args *args, const char *command, parse_query parse,
                                      size_t first, plan_request *request, hac_error *err)
{
    request->is_query = true;
    hac_status status = HAC_OK;
    if (hac_args_has(args, HAC_OPT_ITEMS))
        return hac_fail(err, HAC_INVALID,
                        "%s: --items is for sorts of arrays; of queries say --input-size SIZE", command);
    status = parse(&request->query, command, args, first, err);
    if (status == HAC_OK && request->query.convert)
        return hac_fail(
            err, HAC_INVALID,
            "%s: %.200s is no Parquet file: it is converted first, and how the rest goes is planned "
            "then; plan `parquet convert`, or `mapreduce`, which reads it as it is",
            command, request->query.input.names[0]);
    return status == HAC_OK ? count_bytes(args, command, request, err) : status;
}

static hac_status parse_plan(const hac_args *args, const char *command, plan_request *request, hac_error *err)
{
    size_t first = 0;
    const hac_command *job = hac_command_find(args->words, args->n_words, &first);
    parse_query parse = find_query(job, args);
    const char *of = job != NULL && first > 1 ? args->words[1] : "";
    if (parse == NULL && (job == NULL || strcmp(job->name, "sort") != 0))
        return hac_fail(
            err, HAC_INVALID,
            "%s: '%.64s%s%.64s' is no job that can be planned; there are: sort, splice, mapreduce, parquet "
            "query, parquet convert, opsplit run",
            command, args->words[0], of[0] != '\0' ? " " : "", of);
    hac_status status = check_options(args, command, job, err);
    if (status == HAC_OK && parse != NULL)
        return parse_plan_of_query(args, command, parse, first, request, err);
    if (status == HAC_OK && args->n_words > 2)
        status = hac_fail(err, HAC_INVALID, "%s: '%.64s' is one argument too many", command, args->words[2]);
    if (status == HAC_OK && hac_args_has(args, HAC_OPT_INPUT_SIZE))
        status = hac_fail(err, HAC_INVALID, "%s: --input-size is for queries; of a sort say --items COUNT",
                          command);
    if (status == HAC_OK)
        status = hac_sort_request_parse(&request->sort, command, args, err);
    return status == HAC_OK ? count_items(args, command, &request->sort, &request->items, err) : status;
}

static const uint64_t *sources_of(const plan_request *request)
{
    return request->bytes > 0 ? &request->bytes : request->query.input.bytes;
}

static size_t n_sources_of(const plan_request *request)
{
    return request->bytes > 0 || request->query.in_splits ? 1 : request->query.input.n_files;
}

static bool is_logic_file(const hac_args *args)
{
    size_t first = 0;
    const hac_command *job = hac_command_find(args->words, args->n_words, &first);
    return job != NULL && strcmp(job->name, "opsplit run") == 0;
}

hac_status hac_cmd_explain(hac_cli *cli, const hac_args *args, hac_error *err)
{
    if (is_logic_file(args))
        return hac_cmd_opsplit_explain(cli, args, err);
    hac_cleanup(plan_request_clear) plan_request request = {.is_query = false};
    hac_autofree char *plan = NULL;
    hac_plan_format format = hac_cli_format(cli, args);
    hac_status status = parse_plan(args, "explain", &request, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK && request.is_query)
        status = hac_explain_query(cli->client, sources_of(&request), n_sources_of(&request),
                                   &request.query.options, format, &plan, err);
    else if (status == HAC_OK)
        status = hac_explain_sort(cli->client, request.items, &request.sort.options, format, &plan, err);
    return status == HAC_OK ? hac_cli_print(plan, err) : status;
}

static hac_status simulate(hac_cli *cli, const plan_request *request, const hac_simulated *machine,
                           hac_plan_format format, char **ret, hac_error *err)
{
    const hac_simulated_device *devices = hac_simulated_devices(machine);
    size_t n_devices = hac_simulated_count(machine);
    const hac_query_request *query = &request->query;
    if (request->is_query)
        return hac_simulate_query(cli->client, devices, n_devices, sources_of(request), n_sources_of(request),
                                  &query->options, format, ret, err);
    return hac_simulate_sort(cli->client, devices, n_devices, request->items, &request->sort.options, format,
                             ret, err);
}

/* A plan is of one graph; of a logic file there are as many as it takes. */
static hac_status simulate_logic(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_simulated_free_cleanup) hac_simulated *machine = NULL;
    hac_status status = hac_simulated_load(args->values[HAC_OPT_PROFILES], &machine, err);
    return status == HAC_OK ? hac_cmd_opsplit_simulate(cli, args, machine, err) : status;
}

hac_status hac_cmd_simulate(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(plan_request_clear) plan_request request = {.is_query = false};
    hac_cleanup(hac_simulated_free_cleanup) hac_simulated *machine = NULL;
    hac_autofree char *plan = NULL;
    hac_plan_format format = hac_cli_format(cli, args);
    if (!hac_args_has(args, HAC_OPT_PROFILES))
        return hac_fail(err, HAC_INVALID,
                        "simulate: --profiles DIR is missing: the folder that describes the machine");
    if (is_logic_file(args))
        return simulate_logic(cli, args, err);
    hac_status status = parse_plan(args, "simulate", &request, err);
    if (status == HAC_OK)
        status = hac_simulated_load(args->values[HAC_OPT_PROFILES], &machine, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status = simulate(cli, &request, machine, format, &plan, err);
    return status == HAC_OK ? hac_cli_print(plan, err) : status;
}
