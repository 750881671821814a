/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl sort: flow A on a raw array; whole rows are a query. */
#include <string.h>
#include <unistd.h>

#include "base/type.h"
#include "command.h"
#include "deliver.h"
#include "query_run.h"
#include "sort_request.h"
#include "wait.h"

/* What is wrong with the command line alone, before a file is touched. */
static hac_status check_usage(const hac_args *args, hac_error *err)
{
    bool to_stdout = !hac_args_has(args, HAC_OPT_OUTPUT) || strcmp(args->values[HAC_OPT_OUTPUT], "-") == 0;
    if (to_stdout && !hac_args_has(args, HAC_OPT_DETACH) && isatty(STDOUT_FILENO) == 1)
        return hac_fail(err, HAC_INVALID,
                        "sort: will not write raw data to a terminal; say where with -o OUT");
    if (strcmp(args->words[0], "-") == 0 && isatty(STDIN_FILENO) == 1)
        return hac_fail(err, HAC_INVALID,
                        "sort: will not read raw data from a terminal; name a file or redirect one");
    return hac_delivery_check(args, true, err);
}

/* The result is as large as the input, or has an index an item: a disk that is too full is found out now. */
static hac_status reserve(hac_delivery *delivery, const hac_input *input, const hac_sort_options *options,
                          hac_error *err)
{
    if (delivery->result == NULL || !input->sized)
        return HAC_OK;
    uint64_t size = hac_type_size(options->type);
    if (options->argsort)
        size = input->items < UINT64_C(1) << 32 ? sizeof(uint32_t) : sizeof(uint64_t);
    return hac_output_reserve(delivery->result, input->items * size, err);
}

static hac_status submit_and_wait(hac_cli *cli, const hac_input *input, hac_sort_options *options,
                                  hac_delivery *delivery, hac_error *err)
{
    hac_wait wait;
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_wait_prepare(&wait, cli, &options->job);
    hac_status status =
        hac_sort_fd(cli->client, input->fd, input->offset, input->sized ? input->items : UINT64_MAX,
                    input->name, options, &job, err);
    if (status != HAC_OK)
        return status;
    if (options->job.detach)
        return hac_deliver_id(cli, job, err);
    status = hac_wait_for(&wait, job, true, err);
    return status == HAC_OK ? hac_deliver(delivery, cli, job, err) : status;
}

static hac_status sort_rows(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_status status = hac_query_request_sort(&request, "sort", args, 0, err);
    return status == HAC_OK ? hac_query_run(cli, args, &request, err) : status;
}

hac_status hac_cmd_sort(hac_cli *cli, const hac_args *args, hac_error *err)
{
    if (hac_query_request_is_sort(args))
        return sort_rows(cli, args, err);
    hac_cleanup(hac_sort_request_clear) hac_sort_request request = {.job = {.names = NULL}};
    hac_cleanup(hac_delivery_close) hac_delivery delivery = {.result = NULL};
    hac_input input = {.fd = -1};
    hac_status status = hac_sort_request_parse(&request, "sort", args, err);
    if (status == HAC_OK)
        status = check_usage(args, err);
    if (status == HAC_OK)
        status = hac_input_open(args->words[0], request.options.type, &input, err);
    if (status == HAC_OK)
        status = hac_delivery_open(&delivery, args, !request.options.job.detach, err);
    if (status == HAC_OK)
        status = reserve(&delivery, &input, &request.options, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status = submit_and_wait(cli, &input, &request.options, &delivery, err);
    hac_close(input.fd);
    return status;
}
