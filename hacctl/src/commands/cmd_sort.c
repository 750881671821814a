/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl sort: sorts a raw array; sorts of whole rows are queries. */
#include <string.h>
#include <unistd.h>

#include "base/type.h"
#include "cmd.h"
#include "request/job_source.h"
#include "request/sort_request.h"
#include "run/job_output.h"
#include "run/query_run.h"
#include "run/wait.h"

/* Checks what the command line alone tells, before a file is opened. */
static hac_status check_usage(const hac_cli *cli, const hac_args *args, hac_error *err)
{
    const bool written = cli->kept == NULL;
    bool to_stdout = !hac_args_has(args, HAC_OPT_OUTPUT) || strcmp(args->values[HAC_OPT_OUTPUT], "-") == 0;
    if (written && to_stdout && !hac_args_has(args, HAC_OPT_DETACH) && isatty(STDOUT_FILENO) == 1)
        return hac_fail(err, HAC_INVALID,
                        "sort: will not write raw data to a terminal; say where with -o OUT");
    if (strcmp(args->words[0], "-") == 0 && isatty(STDIN_FILENO) == 1)
        return hac_fail(err, HAC_INVALID,
                        "sort: will not read raw data from a terminal; name a file or redirect one");
    return hac_job_output_check(args, written, err);
}

/* Reserves room for the result, which has the size of the input or an index for each item, so that a full
 * disk is found early. */
static hac_status reserve(hac_job_output *outputs, const hac_sort_source *input,
                          const hac_sort_options *options, hac_error *err)
{
    if (outputs->result == NULL || !input->sized)
        return HAC_OK;
    uint64_t size = hac_type_size(options->type);
    if (options->argsort)
        size = input->items < UINT64_C(1) << 32 ? sizeof(uint32_t) : sizeof(uint64_t);
    return hac_output_reserve(outputs->result, input->items * size, err);
}

/* Sorts the array that is the result of a job, where it lies. */
static hac_status submit_of_job(hac_cli *cli, const hac_sort_source *input, const hac_sort_options *options,
                                hac_job **ret, hac_error *err)
{
    hac_cleanup(hac_job_source_clear) hac_job_source source = {.job = NULL};
    uint64_t size = hac_type_size(options->type);
    hac_status status = hac_job_source_open(cli, input->name, &source, err);
    if (status == HAC_OK && (source.format != HAC_INPUT_NONE || source.columns))
        return hac_fail(
            err, HAC_INVALID,
            "sort: %s has rows; sort them by columns: --input-format csv --key COLUMN, or ask for "
            "an order in the query",
            input->name);
    if (status == HAC_OK && source.bytes % size != 0)
        status = hac_fail(err, HAC_INVALID, "sort: %s has %llu bytes, which are no items of %s", input->name,
                          (unsigned long long)source.bytes, hac_type_name(options->type));
    if (status != HAC_OK)
        return status;
    return source.buffer != NULL
               ? hac_sort_buffer(cli->client, source.buffer, 0, source.bytes / size, options, ret, err)
               : hac_sort_memory(cli->client, "", 0, options, ret, err);
}

static hac_status submit(hac_cli *cli, const hac_sort_source *input, const hac_sort_options *options,
                         hac_job **ret, hac_error *err)
{
    if (hac_job_source_is(input->name))
        return submit_of_job(cli, input, options, ret, err);
    return hac_sort_fd(cli->client, input->fd, input->offset, input->sized ? input->items : UINT64_MAX,
                       input->name, options, ret, err);
}

static hac_status submit_and_wait(hac_cli *cli, const hac_sort_source *input, hac_sort_options *options,
                                  hac_job_output *outputs, hac_error *err)
{
    hac_wait wait;
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_wait_prepare(&wait, cli, &options->job);
    hac_status status = submit(cli, input, options, &job, err);
    if (status != HAC_OK)
        return status;
    if (options->job.detach)
        return hac_job_output_print_id(cli, job, err);
    status = hac_wait_for(&wait, job, true, err);
    if (status == HAC_OK && cli->kept != NULL) {
        *cli->kept = hac_steal_ptr(job);
        return HAC_OK;
    }
    return status == HAC_OK ? hac_job_output_write(outputs, cli, job, err) : status;
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
    hac_cleanup(hac_job_output_close) hac_job_output outputs = {.result = NULL};
    hac_sort_source input = {.fd = -1};
    hac_status status = hac_sort_request_parse(&request, "sort", args, err);
    if (status == HAC_OK)
        status = check_usage(cli, args, err);
    input.name = args->words[0];
    if (status == HAC_OK && !hac_job_source_is(input.name))
        status = hac_sort_source_open(input.name, &request.options, &input, err);
    if (status == HAC_OK)
        status = hac_job_output_open(&outputs, args, cli->kept == NULL && !request.options.job.detach, err);
    if (status == HAC_OK)
        status = reserve(&outputs, &input, &request.options, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK && input.npy)
        hac_cli_say(
            cli, "%s: an array of %s of NumPy; the result is its items alone, as numpy.fromfile reads them",
            input.name, hac_type_name(request.options.type));
    if (status == HAC_OK)
        status = submit_and_wait(cli, &input, &request.options, &outputs, err);
    hac_close(input.fd);
    return status;
}
