/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl pipe: a query over splits as a filter that Hadoop Streaming and Spark's pipe() start. */
#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "run/hadoop_reporter.h"
#include "run/job_output.h"
#include "run/query_splits.h"
#include "text/json_fields.h"

/* Reports what a job has counted. A failure to do so is not an error. */
static void report(hac_cli *cli, hac_hadoop_reporter *reporter, const hac_job *job)
{
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *receipt = NULL;
    if (hac_cli_ask(cli, HAC_TOPIC_RECEIPT, hac_job_id(job), HAC_PLAN_JSON, &answer, NULL) == HAC_OK &&
        hac_json_parse_object(answer, "the job", &receipt, NULL) == HAC_OK)
        hac_hadoop_reporter_counters(reporter, receipt);
}

/* Receives the progress of a job. */
typedef struct listener {
    hac_cli *cli;
    hac_hadoop_reporter reporter;
} listener;

static void show(void *context, hac_job *job, const hac_progress *progress)
{
    listener *l = context;
    bool first = l->reporter.shown_ns == 0; /* the job has just begun */
    if (hac_hadoop_reporter_status(&l->reporter, progress) && !first)
        report(l->cli, &l->reporter, job);
}

/* Reads the rest of standard input and throws it away: whoever feeds a task counts a broken pipe as a
 * failure. A signal ends the process as usual. */
static void drain(void)
{
    static char block[65536];
    struct stat st;
    struct pollfd p = {STDIN_FILENO, POLLIN, 0};
    if (fstat(STDIN_FILENO, &st) < 0 || S_ISREG(st.st_mode)) /* nobody waits for a file to be read */
        return;
    for (;;) {
        ssize_t n = poll(&p, 1, -1) < 0 ? -1 : read(STDIN_FILENO, block, sizeof block);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            return;
    }
}

static hac_status run(hac_cli *cli, hac_query_request *request, hac_job_output *outputs, hac_error *err)
{
    hac_wait wait;
    listener l = {.cli = cli, .reporter = {.quiet = cli->quiet}};
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_query_options *options = &request->options;
    hac_wait_prepare(&wait, cli, NULL);
    options->job.progress = cli->quiet ? NULL : show;
    options->job.context = &l;
    hac_status status = hac_query_splits_run(cli, request, options, &wait, outputs, &job, err);
    if (status == HAC_OK && *hac_job_text(job) != '\0')
        hac_cli_say(cli, "%s", hac_job_text(job));
    if (status == HAC_OK)
        report(cli, &l.reporter, job);
    if (status == HAC_OK)
        status = hac_job_output_write(outputs, cli, job, err);
    if (status == HAC_OK && options->limit != UINT64_MAX)
        drain();
    hac_hadoop_reporter_end(&l.reporter, status == HAC_OK ? "done" : "failed");
    return status;
}

hac_status hac_cmd_pipe(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_cleanup(hac_job_output_close) hac_job_output outputs = {.result = NULL};
    hac_status status = hac_query_request_pipe(&request, "pipe", args, err);
    if (status == HAC_OK)
        status = hac_job_output_check(args, true, err);
    if (status == HAC_OK)
        status = hac_job_output_open(&outputs, args, true, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    return status == HAC_OK ? run(cli, &request, &outputs, err) : status;
}
