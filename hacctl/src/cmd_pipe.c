/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl pipe: flow B as a filter that Hadoop Streaming and Spark's pipe() start. */
#include "command.h"
#include "deliver.h"
#include "query_splits.h"
#include "read.h"
#include "reporter.h"

/* What a job has counted; that it cannot be told is no reason to fail. */
static void report(hac_cli *cli, hac_reporter *reporter, const hac_job *job)
{
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *receipt = NULL;
    if (hac_cli_ask(cli, HAC_TOPIC_RECEIPT, hac_job_id(job), HAC_PLAN_JSON, &answer, NULL) == HAC_OK &&
        hac_read_object(answer, "the job", &receipt, NULL) == HAC_OK)
        hac_reporter_counters(reporter, receipt);
}

/* What the progress of a job is told to. */
typedef struct listener {
    hac_cli *cli;
    hac_reporter reporter;
} listener;

static void show(void *context, hac_job *job, const hac_progress *progress)
{
    listener *l = context;
    bool first = l->reporter.shown_ns == 0; /* it has just begun */
    if (hac_reporter_status(&l->reporter, progress) && !first)
        report(l->cli, &l->reporter, job);
}

static hac_status run(hac_cli *cli, hac_query_request *request, hac_delivery *delivery, hac_error *err)
{
    hac_wait wait;
    listener l = {.cli = cli, .reporter = {.quiet = cli->quiet}};
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_query_options *options = &request->options;
    hac_wait_prepare(&wait, cli, NULL);
    options->job.progress = cli->quiet ? NULL : show;
    options->job.context = &l;
    hac_status status = hac_query_splits_run(cli, request, options, &wait, delivery->result, &job, err);
    if (status == HAC_OK && *hac_job_text(job) != '\0')
        hac_cli_say(cli, "%s", hac_job_text(job));
    if (status == HAC_OK)
        report(cli, &l.reporter, job);
    if (status == HAC_OK)
        status = hac_deliver(delivery, cli, job, err);
    hac_reporter_end(&l.reporter, status == HAC_OK ? "done" : "failed");
    return status;
}

hac_status hac_cmd_pipe(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_cleanup(hac_delivery_close) hac_delivery delivery = {.result = NULL};
    hac_status status = hac_query_request_pipe(&request, "pipe", args, err);
    if (status == HAC_OK)
        status = hac_delivery_check(args, true, err);
    if (status == HAC_OK)
        status = hac_delivery_open(&delivery, args, true, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    return status == HAC_OK ? run(cli, &request, &delivery, err) : status;
}
