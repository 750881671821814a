/* SPDX-License-Identifier: Apache-2.0 */
/* hac-mpi mapreduce and hac-mpi parquet query: the files of the command line, and the result on rank 0. */
#include "commands.h"
#include "opsplit/run.h"
#include "rank_query.h"
#include "request/query_request.h"
#include "run/job_output.h"

static void say(void *context, const char *remark)
{
    hac_cli_say(context, "%s", remark);
}

/* Inputs that ranks cannot divide, in the words of the command line. */
static hac_status check_input(const hac_query_request *request, hac_error *err)
{
    const hac_query_input *input = &request->input;
    if (input->stream || input->standard)
        return hac_fail(err, HAC_INVALID, "%s is not a regular file, so ranks cannot read parts of it",
                        input->names[0]);
    if (input->many)
        return hac_fail(err, HAC_INVALID, "ranks read up to %d files", HAC_QUERY_FILES_MAX);
    if (input->compressed)
        return hac_fail(err, HAC_INVALID, "ranks cannot read parts of compressed files; unpack them first");
    if (input->document)
        return hac_fail(err, HAC_INVALID,
                        "%s is a JSON document, and ranks can read parts of jsonl only: write one object a "
                        "line first (jq -c '.[]' FILE, or hacctl parquet convert)",
                        input->names[0]);
    if (input->dialect)
        return hac_fail(
            err, HAC_INVALID,
            "%s: ranks can read parts of csv and tsv in the usual form only, not with another quote, "
            "an escape or comments; convert it first (hacctl parquet convert)",
            input->names[0]);
    if (request->convert)
        return hac_fail(err, HAC_INVALID,
                        "%s is no Parquet file: convert it first (hacctl parquet convert), or say mapreduce",
                        input->names[0]);
    return HAC_OK;
}

static hac_status open_output(const hac_cli *cli, const hac_args *args, const hac_query_request *request,
                              hac_job_output *outputs, hac_error *err)
{
    if (cli->ranks->rank != 0)
        return HAC_OK;
    hac_status status = hac_job_output_open(outputs, args, true, err);
    return status == HAC_OK ? hac_job_output_take(outputs, request->form, request->arrow_file, err) : status;
}

static hac_status run(hac_cli *cli, const hac_args *args, const char *command, hac_query_request *request,
                      hac_status status, hac_error *err)
{
    const hac_option_set refused = HAC_OPTION_SET(HAC_OPT_DETACH, HAC_OPT_TRACE, HAC_OPT_RECEIPT);
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_job_output outputs = {.result = NULL};
    const hac_mpi_input input = {.options = &request->options,
                                 .fds = request->input.fds,
                                 .names = (const char *const *)request->input.names,
                                 .bytes = request->input.bytes,
                                 .n_files = request->input.n_files};
    if (status == HAC_OK)
        status = hac_args_refuse(args, command, refused,
                                 "not possible: each rank has its own job and waits for it", err);
    if (status == HAC_OK)
        status = open_output(cli, args, request, &outputs, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status = check_input(request, err);
    status = hac_mpi_query_input(cli->ranks->context, cli->client, &input, &request->options, say, cli,
                                 status, &job, err);
    if (status == HAC_INVALID)
        hac_query_request_reword(request, args, err);
    if (status == HAC_OK && job != NULL)
        status = hac_job_output_write(&outputs, cli, job, err);
    hac_job_output_close(&outputs);
    return status;
}

hac_status hac_mpi_cmd_mapreduce(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_status status = hac_query_request_parse(&request, "mapreduce", args, 0, err);
    return run(cli, args, "mapreduce", &request, status, err);
}

hac_status hac_mpi_cmd_parquet(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_status status = hac_query_request_parquet(&request, "parquet query", args, 0, err);
    return run(cli, args, "parquet query", &request, status, err);
}
