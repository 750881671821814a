/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl mapreduce: flow C, a query of files or a job that has a name. */
#include "command.h"
#include "deliver.h"
#include "query_request.h"
#include "wait.h"

static hac_status submit_and_wait(hac_cli *cli, hac_query_request *request, hac_delivery *delivery,
                                  hac_error *err)
{
    hac_wait wait;
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_query_options *options = &request->options;
    hac_wait_prepare(&wait, cli, &options->job);
    hac_status status =
        hac_query_files(cli->client, request->fds, request->names, request->n_files, options, &job, err);
    if (status != HAC_OK)
        return status;
    if (options->job.detach)
        return hac_deliver_id(cli, job, err);
    status = hac_wait_for(&wait, job, true, err);
    if (status != HAC_OK)
        return status;
    if (*hac_job_text(job) != '\0')
        hac_cli_say(cli, "%s", hac_job_text(job));
    return hac_deliver(delivery, cli, job, err);
}

hac_status hac_cmd_mapreduce(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.n_files = 0};
    hac_cleanup(hac_delivery_close) hac_delivery delivery = {.result = NULL};
    hac_status status = hac_delivery_check(args, err);
    if (status == HAC_OK)
        status = hac_query_request_parse(&request, "mapreduce", args, 0, err);
    if (status == HAC_OK)
        status = hac_delivery_open(&delivery, args, !request.options.job.detach, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    return status == HAC_OK ? submit_and_wait(cli, &request, &delivery, err) : status;
}
