/* SPDX-License-Identifier: Apache-2.0 */
#include "query_splits.h"

#include <stdio.h>

#include "cli/interrupt.h"

/* The context of libhac's callbacks. */
typedef struct split_query {
    hac_query_request *request;
    hac_wait *wait;
    hac_job_output *outputs;
} split_query;

/* Ends the deferral of signals while this process may be blocked, since nothing would notice them. A
 * signal that arrived just before counts. */
static hac_status leave_deferral(hac_error *err)
{
    hac_interrupt_defer(0);
    if (hac_interrupt_count() == 0)
        return HAC_OK;
    hac_interrupt_defer(1);
    return hac_fail(err, HAC_CANCELLED, "cancelled");
}

static hac_status open_file(split_query *r, size_t index, int *ret_fd, const char **ret_name, hac_error *err)
{
    hac_query_input *input = &r->request->input;
    if (r->request->in_splits)
        return hac_split_input_open(&r->request->splits, index, ret_fd, ret_name, err);
    *ret_fd = hac_steal_fd(&input->fds[index]);
    *ret_name = input->names[index];
    return HAC_OK;
}

static hac_status open_input(void *context, size_t index, int *ret_fd, const char **ret_name, hac_error *err)
{
    hac_status status = leave_deferral(err);
    if (status == HAC_OK)
        status = open_file(context, index, ret_fd, ret_name, err);
    hac_interrupt_defer(1);
    return status;
}

static hac_status write_rows(void *context, const void *bytes, size_t n, hac_error *err)
{
    split_query *r = context;
    hac_progress_hide(&r->wait->line);
    hac_status status = leave_deferral(err);
    if (status == HAC_OK)
        status = hac_job_output_rows(r->outputs, bytes, n, err);
    hac_interrupt_defer(1);
    return status;
}

static void name_input(const hac_query_request *request, char *ret, size_t bytes)
{
    const hac_query_input *input = &request->input;
    if (request->in_splits)
        hac_split_input_title(&request->splits, ret, bytes);
    else if (input->n_files > 1)
        snprintf(ret, bytes, "%.200s and %zu more", input->names[0], input->n_files - 1);
    else
        snprintf(ret, bytes, "%.200s", input->names[0]);
}

bool hac_query_splits_wanted(const hac_query_request *request)
{
    const hac_query_input *input = &request->input;
    if (request->in_splits)
        return true;
    if (input->format == HAC_INPUT_PARQUET || request->options.job.detach)
        return false;
    return hac_query_input_by_client(input);
}

hac_status hac_query_splits_run(hac_cli *cli, hac_query_request *request, const hac_query_options *options,
                                hac_wait *wait, hac_job_output *outputs, hac_job **ret, hac_error *err)
{
    split_query r = {.request = request, .wait = wait, .outputs = outputs};
    char name[256];
    hac_splits splits = HAC_SPLITS_INIT;
    name_input(request, name, sizeof name);
    splits.n_inputs = request->in_splits ? request->splits.n_words : request->input.n_files;
    splits.open = open_input;
    splits.write = outputs != NULL ? write_rows : NULL;
    splits.context = &r;
    splits.name = name;
    splits.split_bytes = request->split_bytes;
    splits.stop_fd = hac_interrupt_fd();
    hac_interrupt_defer(1);
    hac_status status = hac_query_splits(cli->client, &splits, options, ret, err);
    hac_interrupt_defer(0);
    hac_progress_hide(&wait->line);
    if (status != HAC_OK && hac_interrupt_count() > 0)
        return hac_fail(err, HAC_CANCELLED, "cancelled");
    return status;
}
