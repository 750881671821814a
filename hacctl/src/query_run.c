/* SPDX-License-Identifier: Apache-2.0 */
#include "query_run.h"

#include "background.h"
#include "deliver.h"
#include "human.h"
#include "query_splits.h"
#include "wait.h"

/* What a query of a text reads: a Parquet file in memory, and what is to be said of how it came about. */
typedef struct conversion {
    hac_job *job;
    char *receipt;
} conversion;

static void conversion_clear(conversion *converted)
{
    hac_job_free(converted->job);
    free(converted->receipt);
    *converted = (conversion){.job = NULL};
}

/* Rows that come on the way go to `output`. */
static hac_status submit_input(hac_cli *cli, hac_query_request *request, const hac_query_options *options,
                               hac_wait *wait, hac_output *output, hac_job **ret, hac_error *err)
{
    const hac_query_input *input = &request->input;
    const char *names[HAC_QUERY_FILES_MAX];
    if (hac_query_splits_wanted(request))
        return hac_query_splits_run(cli, request, options, wait, output, ret, err);
    for (size_t i = 0; i < input->n_files; i++)
        names[i] = input->names[i];
    if (input->stream)
        return hac_query_stream(cli->client, input->fds[0], names[0], options, ret, err);
    return hac_query_files(cli->client, input->fds, names, input->n_files, options, ret, err);
}

/* Waits, and says what there is to say of the result. */
static hac_status wait_for(hac_cli *cli, hac_wait *wait, hac_job *job, hac_error *err)
{
    hac_status status = hac_wait_for(wait, job, true, err);
    if (status == HAC_OK && *hac_job_text(job) != '\0')
        hac_cli_say(cli, "%s", hac_job_text(job));
    return status;
}

static void say_converted(hac_cli *cli, const hac_query_input *input, const hac_job *job)
{
    char bytes[HAC_HUMAN_MAX], more[32] = "";
    if (input->n_files > 1)
        snprintf(more, sizeof more, " and %zu more", input->n_files - 1);
    hac_cli_say(cli,
                "%s%s: converted from %s to Parquet first (%s, in memory); `hacctl parquet convert` keeps it",
                input->names[0], more, hac_query_format_name(input->format),
                hac_human_bytes((double)hac_job_bytes(job), bytes));
}

/* All columns of the input, as a Parquet file in memory. */
static hac_status convert(hac_cli *cli, hac_query_request *request, conversion *ret, hac_error *err)
{
    hac_wait wait;
    hac_query_options options = request->options;
    options.where = options.group_by = options.order_by = NULL;
    options.select = "*";
    options.limit = UINT64_MAX;
    options.result_format = HAC_RESULT_PARQUET;
    options.parquet =
        (hac_parquet_output){.compression = HAC_COMPRESSION_NONE}; /* it is read once, at once */
    options.job.detach = 0;
    hac_wait_prepare(&wait, cli, &options.job);
    hac_status status = submit_input(cli, request, &options, &wait, NULL, &ret->job, err);
    if (status == HAC_OK)
        status = wait_for(cli, &wait, ret->job, err);
    if (status == HAC_OK)
        status = hac_cli_ask(cli, HAC_TOPIC_RECEIPT, hac_job_id(ret->job), HAC_PLAN_JSON, &ret->receipt, err);
    if (status == HAC_OK)
        say_converted(cli, &request->input, ret->job);
    return status;
}

/* The query itself, of what was made of its input. */
static hac_status submit_converted(hac_cli *cli, const hac_query_request *request,
                                   const conversion *converted, hac_job **ret, hac_error *err)
{
    hac_query_options options = request->options;
    options.input_format = HAC_INPUT_PARQUET;
    options.schema = options.null_text = NULL;
    options.delimiter = options.no_header = options.skip_errors = 0;
    return hac_query_memory(cli->client, hac_job_data(converted->job), hac_job_bytes(converted->job),
                            &options, ret, err);
}

static hac_status submit(hac_cli *cli, hac_query_request *request, conversion *converted, hac_wait *wait,
                         hac_output *output, hac_job **ret, hac_error *err)
{
    if (!request->convert)
        return submit_input(cli, request, &request->options, wait, output, ret, err);
    hac_status status = convert(cli, request, converted, err);
    return status == HAC_OK ? submit_converted(cli, request, converted, ret, err) : status;
}

static hac_status submit_and_wait(hac_cli *cli, const hac_args *args, hac_query_request *request,
                                  hac_delivery *delivery, hac_error *err)
{
    hac_wait wait;
    hac_cleanup(conversion_clear) conversion converted = {.job = NULL};
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_wait_prepare(&wait, cli, &request->options.job);
    hac_status status = submit(cli, request, &converted, &wait, delivery->result, &job, err);
    if (status == HAC_OK && request->options.job.detach)
        return hac_deliver_id(cli, job, err);
    if (status == HAC_OK)
        status = wait_for(cli, &wait, job, err);
    if (status == HAC_INVALID)
        hac_query_request_reword(request, args, err);
    if (status != HAC_OK)
        return status;
    hac_background_leave(cli, hac_job_id(job));
    delivery->conversion = converted.receipt;
    return hac_deliver(delivery, cli, job, err);
}

/* A Parquet file is nothing for a terminal. */
static hac_status check_terminal(const hac_query_request *request, const hac_delivery *delivery,
                                 hac_error *err)
{
    if (request->options.result_format != HAC_RESULT_PARQUET || delivery->result == NULL ||
        !hac_output_is_terminal(delivery->result))
        return HAC_OK;
    return hac_fail(err, HAC_INVALID, "will not write a Parquet file to a terminal; say where with -o OUT");
}

static hac_status check_detached(const hac_query_request *request, hac_error *err)
{
    const hac_query_input *input = &request->input;
    if (!request->options.job.detach || !input->compressed)
        return HAC_OK;
    return hac_fail(err, HAC_INVALID, "--detach does not stay to unpack %.200s%s; unpack it first",
                    input->names[0], input->n_files > 1 ? ", or a file behind it" : "");
}

hac_status hac_query_run(hac_cli *cli, const hac_args *args, hac_query_request *request, hac_error *err)
{
    hac_cleanup(hac_delivery_close) hac_delivery delivery = {.result = NULL};
    hac_status status = hac_delivery_check(args, true, err);
    if (status == HAC_OK)
        status = hac_delivery_open(&delivery, args, !request->options.job.detach, err);
    if (status == HAC_OK)
        status = check_terminal(request, &delivery, err);
    if (status == HAC_OK)
        status = check_detached(request, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    return status == HAC_OK ? submit_and_wait(cli, args, request, &delivery, err) : status;
}
