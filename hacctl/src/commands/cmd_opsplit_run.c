/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl opsplit run: runs a logic file. */
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "cli/interrupt.h"
#include "cmd.h"
#include "request/opsplit_request.h"
#include "run/detach.h"
#include "run/job_output.h"
#include "text/number_print.h"

#define HEAP_KEPT ((size_t)1 << 20)

/* Whether this process reports for all: it runs without MPI, or is rank 0. */
static bool is_first(const hac_cli *cli)
{
    return cli->ranks == NULL || cli->ranks->rank == 0;
}

/* Reads and checks the logic file. Prints all its problems; the first one becomes the error. */
static hac_status read_logic(hac_opsplit_request *r, const hac_cli *cli, const char *path, hac_error *err)
{
    hac_logic_problems problems = HAC_LOGIC_PROBLEMS_NONE;
    hac_status status = hac_opsplit_read(path, &r->library, &r->logic, &problems, err);
    for (size_t i = 1; i < problems.n && is_first(cli); i++)
        fprintf(stderr, "hacctl: %s\n", problems.messages[i]);
    hac_logic_problems_clear(&problems);
    if (status == HAC_OK && is_first(cli))
        hac_opsplit_say_damaged(cli, r->library);
    return status;
}

/* ---- the run ---- */

static void print_log(void *context, const char *line)
{
    const hac_cli *cli = context;
    if (cli->log != NULL)
        cli->log(cli->ranks->context, line);
    if (is_first(cli))
        hac_cli_note(cli, "%s", line);
}

static hac_status print_receipt(const hac_run_report *report, const char *path, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *json = NULL;
    hac_json_open(&text, NULL, '{');
    hac_json_string(&text, "flow", "opsplit");
    hac_json_unsigned(&text, "job", report->job);
    hac_json_unsigned(&text, "graphs", report->graphs);
    hac_json_unsigned(&text, "tasks", report->tasks);
    hac_json_unsigned(&text, "rounds", report->rounds);
    hac_json_unsigned(&text, "rows_loaded", report->rows_loaded);
    hac_json_number(&text, "seconds", report->seconds);
    hac_json_number(&text, "loading_seconds", report->loading_seconds);
    hac_json_number(&text, "writing_seconds", report->writing_seconds);
    hac_json_unsigned(&text, "bytes_shared", report->bytes_shared);
    hac_json_close(&text, '}');
    hac_status status = hac_text_finish(&text, &json, NULL, err);
    return status == HAC_OK ? hac_cli_print_to(path, json, err) : status;
}

/* Prints the trace of the last rounds. A run that needed no device has none. */
static hac_status print_trace(hac_cli *cli, const hac_run_report *report, const char *path, hac_error *err)
{
    hac_autofree char *json = NULL;
    hac_status status = HAC_OK;
    if (report->graphs != 0)
        status = hac_cli_ask(cli, HAC_TOPIC_TRACE, report->job, HAC_PLAN_JSON, &json, err);
    return status == HAC_OK ? hac_cli_print_to(path, json != NULL ? json : "{\"traceEvents\": []}", err)
                            : status;
}

static void say_no_output(const hac_cli *cli)
{
    if (is_first(cli))
        hac_cli_say(cli, "no output is written without -o DIR");
}

/* Detaches the process when there is a job, if it is to be detached. */
static void leave(void *context, uint64_t job)
{
    const hac_cli *cli = context;
    if (cli->started != NULL)
        *cli->started = job;
    hac_detach_leave(context, job);
}

/* Warns before the run, which may take long, that no output is written. */
static void say_and_leave(void *context, uint64_t job)
{
    say_no_output(context);
    leave(context, job);
}

/* Detaches before the run: vectors and outputs belong to the process that runs it. */
static hac_status go_on(hac_cli *cli, const hac_args *args, hac_error *err)
{
    if (cli->ranks != NULL)
        return hac_fail(err, HAC_INVALID, "--detach is not possible: ranks stay until mpirun ends");
    return hac_detach_enter(cli, args, false, err);
}

hac_status hac_cmd_opsplit_run(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_opsplit_request_clear) hac_opsplit_request r = {.options = HAC_RUN_OPTIONS_INIT};
    hac_run_report report = {0};
    char seconds[HAC_NUMBER_PRINT_MAX];
    const hac_args stays = hac_args_without(args, HAC_OPT_DETACH);
    hac_status status = hac_opsplit_request_parse(&r, "opsplit run", &stays, err);
    if (status == HAC_OK)
        status = hac_job_output_check(&stays, false, err);
    if (status == HAC_OK)
        status = read_logic(&r, cli, args->words[0], err);
    if (status == HAC_OK && hac_args_has(args, HAC_OPT_DETACH))
        status = go_on(cli, &stays, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (cli->ranks != NULL)
        status = cli->ranks->agree(cli->ranks->context, status, err);
    if (status != HAC_OK)
        return status;
    r.options.ranks = cli->ranks;
    r.options.log = print_log;
    r.options.begun = r.options.output != NULL ? leave : say_and_leave;
    r.options.context = cli;
    r.options.stop_fd = hac_interrupt_fd();
    hac_interrupt_defer(1);
    hac_heap_keep(HEAP_KEPT);
    status = hac_run_logic(cli->client, r.logic, &r.options, &report, err);
    hac_interrupt_defer(0);
    if (status != HAC_OK || !is_first(cli))
        return status;
    hac_cli_note(cli, "%s: job %llu, %llu rounds, %llu graphs, %s", r.logic->name,
                 (unsigned long long)report.job, (unsigned long long)report.rounds,
                 (unsigned long long)report.graphs, hac_number_print_seconds(report.seconds, seconds));
    if (hac_args_has(args, HAC_OPT_TRACE))
        status = print_trace(cli, &report, args->values[HAC_OPT_TRACE], err);
    if (status == HAC_OK && hac_args_has(args, HAC_OPT_RECEIPT))
        status = print_receipt(&report, args->values[HAC_OPT_RECEIPT], err);
    return status;
}
