/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl explain and simulate: the plan of a job that is not run. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cmd.h"
#include "drawing/plan_drawing.h"
#include "request/query_request.h"
#include "request/simulated_machine.h"
#include "request/sort_request.h"

/* Finds the number of items: --items, or the number that IN contains. With IN the plan begins with reading
 * it. */
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
    hac_sort_source input;
    hac_status status = hac_sort_source_open(args->words[1], &request->options, &input, err);
    if (status != HAC_OK)
        return status;
    hac_close(input.fd);
    if (!input.sized)
        return hac_fail(err, HAC_INVALID, "%s: the size of %s is not known beforehand; say --items COUNT",
                        command, input.name);
    *ret_items = input.items;
    request->options.plan_input = HAC_PLAN_INPUT_FILE;
    return HAC_OK;
}

/* The job to plan: a sort of an array, or a query. */
typedef struct plan_request {
    bool is_query;
    hac_sort_request sort;
    uint64_t items;
    hac_query_request query;
    uint64_t bytes; /* --input-size; 0: plan for the sizes of the files */
} plan_request;

static void plan_request_clear(plan_request *request)
{
    hac_sort_request_clear(&request->sort);
    hac_query_request_clear(&request->query);
}

/* Parses the command line of a query. */
typedef hac_status (*parse_query)(hac_query_request *request, const char *command, const hac_args *args,
                                  size_t first, hac_error *err);

static parse_query find_query(const hac_command *job, const hac_args *args)
{
    static const struct {
        const char *name;
        parse_query parse;
    } known[] = {{"query", hac_query_request_query},
                 {"mapreduce", hac_query_request_parse},
                 {"splice", hac_query_request_splice},
                 {"parquet query", hac_query_request_parquet},
                 {"parquet convert", hac_query_request_convert}};
    for (size_t i = 0; job != NULL && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, job->name) == 0)
            return known[i].parse;
    bool sort = job != NULL && strcmp(job->name, "sort") == 0;
    return sort && hac_query_request_is_sort(args) ? hac_query_request_sort : NULL;
}

/* Refuses options of other jobs: this command takes the options of all jobs, and would ignore them. */
static hac_status check_options(const hac_args *args, const char *command, const hac_command *job,
                                hac_error *err)
{
    const hac_option_set taken = hac_options_for(job->options | HAC_FOR_EXPLAIN | HAC_FOR_SIMULATE);
    char whose[64];
    snprintf(whose, sizeof whose, "not an option of %.32s", job->name);
    return hac_args_refuse(args, command, hac_option_set_others(taken), whose, err);
}

/* Parts are planned like one file of all bytes. */
static hac_status count_files(const hac_files *files, uint64_t *ret, hac_error *err)
{
    struct stat st;
    for (size_t i = 0; i < hac_files_count(files); i++) {
        if (stat(hac_files_name(files, i), &st) < 0)
            return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", hac_files_name(files, i));
        *ret += (uint64_t)st.st_size;
    }
    return HAC_OK;
}

/* Finds the bytes to read: --input-size, or the size of the input. */
static hac_status count_bytes(const hac_args *args, const char *command, plan_request *request,
                              hac_error *err)
{
    const hac_query_input *input = &request->query.input;
    if (hac_args_has(args, HAC_OPT_INPUT_SIZE))
        return hac_parse_bytes(args, HAC_OPT_INPUT_SIZE, &request->bytes, err);
    if (request->query.in_splits)
        return hac_split_input_bytes(&request->query.splits, command, &request->bytes, err);
    if (input->many)
        return count_files(input->source.files, &request->bytes, err);
    if (!hac_query_input_by_client(input))
        return HAC_OK;
    bool known = input->dialect && !input->stream && !input->compressed;
    for (size_t i = 0; known && i < input->n_files; i++)
        request->bytes += input->bytes[i];
    if (known)
        return HAC_OK;
    return hac_fail(err, HAC_INVALID,
                    "%s: the size of %.200s%s is not known beforehand; say --input-size SIZE", command,
                    input->names[0], input->n_files > 1 ? " or a later file" : "");
}

static hac_status parse_plan_of_query(const hac_args *args, const char *command, parse_query parse,
                                      size_t first, plan_request *request, hac_error *err)
{
    request->is_query = true;
    hac_status status = HAC_OK;
    if (hac_args_has(args, HAC_OPT_ITEMS))
        return hac_fail(err, HAC_INVALID,
                        "%s: --items is for sorts of arrays; for a query say --input-size SIZE", command);
    status = parse(&request->query, command, args, first, err);
    if (status == HAC_OK && request->query.convert)
        return hac_fail(
            err, HAC_INVALID,
            "%s: %.200s is not a Parquet file: it is converted first, and the query is planned after that; "
            "plan `parquet convert` instead, or `mapreduce`, which reads the file directly",
            command, request->query.input.names[0]);
    return status == HAC_OK ? count_bytes(args, command, request, err) : status;
}

static hac_status parse_plan(const hac_cli *cli, const hac_args *args, const char *command,
                             plan_request *request, hac_error *err)
{
    size_t first = 0;
    const hac_command *job = hac_command_find(cli->commands, args->words, args->n_words, &first);
    parse_query parse = find_query(job, args);
    const char *of = job != NULL && first > 1 ? args->words[1] : "";
    if (parse == NULL && (job == NULL || strcmp(job->name, "sort") != 0))
        return hac_fail(
            err, HAC_INVALID,
            "%s: '%.64s%s%.64s' is not a job that can be planned; these are: query, sort, splice, "
            "mapreduce, parquet query, parquet convert, opsplit run",
            command, args->words[0], of[0] != '\0' ? " " : "", of);
    hac_status status = check_options(args, command, job, err);
    if (status == HAC_OK && parse != NULL)
        return parse_plan_of_query(args, command, parse, first, request, err);
    if (status == HAC_OK && args->n_words > 2)
        status = hac_fail(err, HAC_INVALID, "%s: '%.64s' is one argument too many", command, args->words[2]);
    if (status == HAC_OK && hac_args_has(args, HAC_OPT_INPUT_SIZE))
        status = hac_fail(err, HAC_INVALID, "%s: --input-size is for queries; for a sort say --items COUNT",
                          command);
    if (status == HAC_OK)
        status = hac_sort_request_parse(&request->sort, command, args, err);
    return status == HAC_OK ? count_items(args, command, &request->sort, &request->items, err) : status;
}

/* A descriptor of a file that says what the query's columns are, to be closed; -1: none does. */
static int open_columns(const plan_request *request)
{
    const hac_query_input *input = &request->query.input;
    const hac_split_input *splits = &request->query.splits;
    if (!request->query.in_splits) {
        size_t first = 0;
        while (first + 1 < input->n_files && input->bytes[first] == 0)
            first++;
        bool plain = input->n_files > 0 && !hac_query_input_by_client(input);
        return plain ? fcntl(input->fds[first], F_DUPFD_CLOEXEC, 0) : -1;
    }
    if (splits->n_words == 0 || strcmp(splits->words[0], "-") == 0)
        return -1;
    hac_autoclose int fd = hac_query_open_path(splits->words[0]);
    bool plain = fd >= 0 && !hac_query_is_for_client(&request->query.options, splits->words[0], fd);
    return plain ? hac_steal_fd(&fd) : -1;
}

static const uint64_t *sources_of(const plan_request *request)
{
    return request->bytes > 0 ? &request->bytes : request->query.input.bytes;
}

static size_t n_sources_of(const plan_request *request)
{
    return request->bytes > 0 || request->query.in_splits ? 1 : request->query.input.n_files;
}

static bool is_logic_file(const hac_cli *cli, const hac_args *args)
{
    size_t first = 0;
    const hac_command *job = hac_command_find(cli->commands, args->words, args->n_words, &first);
    return job != NULL && strcmp(job->name, "opsplit run") == 0;
}

static hac_plan_format format_of(hac_form form)
{
    return form == HAC_FORM_TEXT ? HAC_PLAN_TEXT : HAC_PLAN_JSON;
}

static hac_status print_plan(const char *plan, hac_form form, hac_error *err)
{
    hac_autofree char *drawing = NULL;
    if (form != HAC_FORM_SVG)
        return hac_cli_print(plan, err);
    hac_status status = hac_plan_drawing_of_text(plan, &drawing, err);
    return status == HAC_OK ? hac_cli_print(drawing, err) : status;
}

/* Whether a job would read the files that are there. */
static bool plans_files(const plan_request *request)
{
    const hac_query_input *input = &request->query.input;
    return request->bytes == 0 && !request->query.in_splits && input->n_files > 0 &&
           !hac_query_input_by_client(input);
}

/* The query, if the request is for one. `fd` is borrowed. */
static hac_planned_query planned_query(const plan_request *request, int fd)
{
    const hac_query_input *input = &request->query.input;
    hac_planned_query query = HAC_PLANNED_QUERY_INIT;
    query.sources = sources_of(request);
    query.n_sources = n_sources_of(request);
    query.fd = fd;
    query.options = &request->query.options;
    if (plans_files(request)) {
        query.fds = input->fds;
        query.names = (const char *const *)input->names;
    }
    return query;
}

/* Messages about a SQL statement have the statement's places. */
static void reword(const plan_request *request, hac_status status, hac_error *err)
{
    if (status == HAC_INVALID && request->query.sql != NULL)
        hac_sql_reword(request->query.sql, err);
}

hac_status hac_cmd_explain(hac_cli *cli, const hac_args *args, hac_error *err)
{
    if (is_logic_file(cli, args))
        return hac_cmd_opsplit_explain(cli, args, err);
    hac_cleanup(plan_request_clear) plan_request request = {.is_query = false};
    hac_autofree char *plan = NULL;
    hac_form form = hac_cli_form(cli, args);
    hac_status status = parse_plan(cli, args, "explain", &request, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    hac_autoclose int fd = status == HAC_OK && request.is_query ? open_columns(&request) : -1;
    const hac_planned_query query = planned_query(&request, fd);
    if (status == HAC_OK && request.is_query)
        status = hac_explain_query(cli->client, &query, format_of(form), &plan, err);
    else if (status == HAC_OK)
        status =
            hac_explain_sort(cli->client, request.items, &request.sort.options, format_of(form), &plan, err);
    reword(&request, status, err);
    return status == HAC_OK ? print_plan(plan, form, err) : status;
}

static hac_status simulate(hac_cli *cli, const plan_request *request, const hac_simulated_machine *machine,
                           hac_plan_format format, char **ret, hac_error *err)
{
    const hac_simulated_device *devices = hac_simulated_machine_devices(machine);
    size_t n_devices = hac_simulated_machine_count(machine);
    hac_autoclose int fd = request->is_query ? open_columns(request) : -1;
    const hac_planned_query query = planned_query(request, fd);
    if (request->is_query)
        return hac_simulate_query(cli->client, devices, n_devices, &query, format, ret, err);
    return hac_simulate_sort(cli->client, devices, n_devices, request->items, &request->sort.options, format,
                             ret, err);
}

/* A logic file becomes as many graphs as it needs, so opsplit simulates it. */
static hac_status simulate_logic(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_simulated_machine_free_cleanup) hac_simulated_machine *machine = NULL;
    hac_status status = hac_simulated_machine_load(args->values[HAC_OPT_PROFILES], &machine, err);
    return status == HAC_OK ? hac_cmd_opsplit_simulate(cli, args, machine, err) : status;
}

hac_status hac_cmd_simulate(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(plan_request_clear) plan_request request = {.is_query = false};
    hac_cleanup(hac_simulated_machine_free_cleanup) hac_simulated_machine *machine = NULL;
    hac_autofree char *plan = NULL;
    hac_form form = hac_cli_form(cli, args);
    if (!hac_args_has(args, HAC_OPT_PROFILES))
        return hac_fail(err, HAC_INVALID,
                        "simulate: --profiles DIR is missing: the folder that describes the machine");
    if (is_logic_file(cli, args))
        return simulate_logic(cli, args, err);
    hac_status status = parse_plan(cli, args, "simulate", &request, err);
    if (status == HAC_OK)
        status = hac_simulated_machine_load(args->values[HAC_OPT_PROFILES], &machine, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status = simulate(cli, &request, machine, format_of(form), &plan, err);
    reword(&request, status, err);
    return status == HAC_OK ? print_plan(plan, form, err) : status;
}
