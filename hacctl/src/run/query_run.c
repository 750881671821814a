/* SPDX-License-Identifier: Apache-2.0 */
#include "query_run.h"

#include "base/format.h"
#include "cli/interrupt.h"
#include "detach.h"
#include "job_output.h"
#include "query_splits.h"
#include "text/number_print.h"
#include "wait.h"

/* The Parquet file in memory that a query of text reads, and the message about the conversion. */
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

/* Submits the query; rows that arrive while the job runs go to `outputs`; NULL: nowhere. */
static hac_status submit_input(hac_cli *cli, hac_query_request *request, const hac_query_options *options,
                               hac_wait *wait, hac_job_output *outputs, hac_job **ret, hac_error *err)
{
    const hac_query_input *input = &request->input;
    const char *names[HAC_QUERY_FILES_MAX];
    if (hac_query_splits_wanted(request))
        return hac_query_splits_run(cli, request, options, wait, outputs, ret, err);
    for (size_t i = 0; i < input->n_files; i++)
        names[i] = input->names[i];
    if (input->note[0] != '\0')
        hac_cli_say(cli, "%s", input->note);
    if (input->of_job.job != NULL)
        return hac_job_source_query(cli, &input->of_job, options, ret, err);
    if (input->many)
        return hac_query_file_list(cli->client, input->source.files, options, ret, err);
    if (input->stream)
        return hac_query_stream(cli->client, input->fds[0], names[0], options, ret, err);
    return hac_query_files(cli->client, input->fds, names, input->n_files, options, ret, err);
}

/* Waits for the job and prints the remark on its result. */
static hac_status wait_for(hac_cli *cli, hac_wait *wait, hac_job *job, hac_error *err)
{
    hac_status status = hac_wait_for(wait, job, true, err);
    if (*hac_job_assumed(job) != '\0')
        hac_cli_note(cli, "types of the first records: --schema '%s'", hac_job_assumed(job));
    if (status == HAC_OK && *hac_job_text(job) != '\0')
        hac_cli_say(cli, "%s", hac_job_text(job));
    return status;
}

static void say_converted(hac_cli *cli, const hac_query_input *input, const hac_job *job)
{
    char bytes[HAC_NUMBER_PRINT_MAX], more[32] = "";
    if (input->n_files > 1)
        snprintf(more, sizeof more, " and %zu more", input->n_files - 1);
    hac_cli_say(cli,
                "%s%s: converted from %s to Parquet first (%s, in memory); `hacctl parquet convert` keeps it",
                input->names[0], more, hac_formats[input->format].name,
                hac_number_print_bytes((double)hac_job_bytes(job), bytes));
}

/* Converts all columns of the input to a Parquet file in memory. */
static hac_status convert(hac_cli *cli, hac_query_request *request, conversion *ret, hac_error *err)
{
    hac_wait wait;
    hac_query_options options = request->options;
    options.where = options.group_by = options.having = options.order_by = options.limit_by = NULL;
    options.with_select = options.with_where = NULL;
    options.select = "*";
    options.distinct = 0;
    options.limit = options.limit_each = UINT64_MAX;
    options.offset = 0;
    options.result_format = HAC_RESULT_PARQUET;
    options.parquet = (hac_parquet_output){.compression = HAC_COMPRESSION_NONE}; /* it is read only once */
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

/* Submits the query of the converted input. */
static hac_status submit_converted(hac_cli *cli, const hac_query_request *request,
                                   const conversion *converted, hac_job **ret, hac_error *err)
{
    hac_query_options options = request->options;
    hac_query_reads_parquet(&options);
    return hac_query_memory(cli->client, hac_job_data(converted->job), hac_job_bytes(converted->job),
                            &options, ret, err);
}

static hac_status submit(hac_cli *cli, hac_query_request *request, conversion *converted, hac_wait *wait,
                         hac_job_output *outputs, hac_job **ret, hac_error *err)
{
    if (!request->convert)
        return submit_input(cli, request, &request->options, wait, outputs, ret, err);
    hac_status status = convert(cli, request, converted, err);
    return status == HAC_OK ? submit_converted(cli, request, converted, ret, err) : status;
}

static hac_status submit_and_wait(hac_cli *cli, const hac_args *args, hac_query_request *request,
                                  hac_job_output *outputs, hac_error *err)
{
    hac_wait wait;
    hac_cleanup(conversion_clear) conversion converted = {.job = NULL};
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_wait_prepare(&wait, cli, &request->options.job);
    hac_status status = submit(cli, request, &converted, &wait, outputs, &job, err);
    if (status == HAC_OK && request->options.job.detach)
        return hac_job_output_print_id(cli, job, err);
    if (status == HAC_OK)
        status = wait_for(cli, &wait, job, err);
    if (status == HAC_OK && cli->kept != NULL) {
        *cli->kept = hac_steal_ptr(job);
        return HAC_OK;
    }
    if (status == HAC_INVALID || (status == HAC_FAILED && request->all_columns))
        hac_query_request_reword(request, args, err);
    if (status != HAC_OK)
        return status;
    hac_detach_leave(cli, hac_job_id(job));
    outputs->conversion = converted.receipt;
    return hac_job_output_write(outputs, cli, job, err);
}

/* The result of a step that stays is in the daemon's memory, as the step's input has to be. */
static hac_status check_kept(const hac_cli *cli, const hac_query_request *request, hac_error *err)
{
    const hac_query_input *input = &request->input;
    bool by_client = request->in_splits || hac_query_input_by_client(input);
    if (cli->kept == NULL || !by_client)
        return HAC_OK;
    return hac_fail(err, HAC_INVALID,
                    "hacctl reads %.200s itself, so the result cannot stay with the daemon; say "
                    "`output: FILE`",
                    input->n_files > 0 ? input->names[0] : "its input");
}

static hac_status check_detached(const hac_query_request *request, hac_error *err)
{
    const hac_query_input *input = &request->input;
    if (!request->options.job.detach || (!input->compressed && !input->document && !input->dialect))
        return HAC_OK;
    const char *what = input->compressed ? "compressed input"
                       : input->document ? "a JSON document"
                                         : "another quote, an escape or comments";
    return hac_fail(err, HAC_INVALID,
                    "--detach is not possible with %s, which this process has to %s: %.200s%s; %s first",
                    what, input->compressed ? "unpack" : "turn into the usual form", input->names[0],
                    input->n_files > 1 ? " or a later file" : "",
                    input->compressed ? "unpack it" : "convert it (hacctl parquet convert)");
}

/* Looks at the first bytes of a stream, for which this may wait. */
static hac_status find_dialect(hac_query_request *request, hac_error *err)
{
    request->options.stop_fd = hac_interrupt_fd();
    return hac_query_request_find_dialect(request, true, err);
}

/* Says what was found about the form of the input. */
static void say_assumed(hac_cli *cli, const hac_query_request *request)
{
    if (*hac_query_request_assumed(request) != '\0')
        hac_cli_say(cli, "%s", hac_query_request_assumed(request));
    if (request->dialect[0] != '\0')
        hac_cli_say(cli, "%s", request->dialect);
}

hac_status hac_query_run(hac_cli *cli, const hac_args *args, hac_query_request *request, hac_error *err)
{
    hac_cleanup(hac_job_output_close) hac_job_output outputs = {.result = NULL};
    const bool written = cli->kept == NULL;
    hac_args read = *args; /* a SQL statement is one word, and names the files that are read */
    if (request->source.n_paths > 0) {
        read.words = request->source.paths;
        read.n_words = request->source.n_paths;
    }
    hac_status status = hac_job_output_check(&read, written, err);
    if (status == HAC_OK)
        status = hac_job_output_open(&outputs, args, written && !request->options.job.detach, err);
    if (status == HAC_OK)
        status = hac_job_output_take(&outputs, request->form, request->arrow_file, err);
    if (status == HAC_OK)
        status = check_detached(request, err);
    if (status == HAC_OK)
        status = check_kept(cli, request, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status = find_dialect(request, err);
    if (status == HAC_OK)
        say_assumed(cli, request);
    return status == HAC_OK ? submit_and_wait(cli, args, request, &outputs, err) : status;
}

hac_status hac_query_run_job(hac_cli *cli, hac_query_request *request, bool notes, hac_text *rows,
                             hac_job **ret, hac_error *err)
{
    hac_wait wait;
    hac_job_output outputs = {.rows = rows};
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_wait_prepare(&wait, cli, &request->options.job);
    hac_status status = find_dialect(request, err);
    if (notes)
        say_assumed(cli, request);
    if (status == HAC_OK)
        status = submit_input(cli, request, &request->options, &wait, &outputs, &job, err);
    if (status == HAC_OK)
        status = hac_wait_for(&wait, job, true, err);
    if (status == HAC_OK && notes && *hac_job_text(job) != '\0')
        hac_cli_say(cli, "%s", hac_job_text(job));
    if (status == HAC_OK)
        *ret = hac_steal_ptr(job);
    return status;
}
