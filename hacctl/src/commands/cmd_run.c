/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl run: the steps of a pipeline, one after another, over results that stay with the daemon. */
#include <string.h>

#include "base/clock.h"
#include "cli/command_run.h"
#include "cmd.h"
#include "run/pipeline.h"
#include "text/json_fields.h"
#include "text/number_print.h"
#include "text/text_table.h"

HAC_DEFINE_CLEANUP(hac_job_pipeline *, hac_pipeline_free)

/* ---- a step ------------------------------------------------------------------------------------------- */

static void free_words(char **argv, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(argv[i]);
}

/* The global options are those of `hacctl run`. */
static void take_globals(hac_args *args, const hac_args *of)
{
    static const hac_option_id globals[] = {HAC_OPT_SOCKET, HAC_OPT_QUIET, HAC_OPT_NO_AUTOSTART};
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++)
        args->values[globals[i]] = of->values[globals[i]];
}

/* Runs the step's command line. */
static hac_status run_command(hac_cli *cli, const hac_args *args, const hac_job_pipeline *pipeline,
                              hac_pipeline_step *step, hac_error *err)
{
    char *argv[HAC_STEP_ARGS_MAX + 1] = {NULL}, *words[HAC_STEP_ARGS_MAX];
    hac_args own = {.n_words = 0};
    hac_status status = HAC_OK;
    take_globals(&own, args);
    for (size_t i = 0; i < step->argc; i++) {
        argv[i] = words[i] = hac_pipeline_resolve(pipeline, step, i);
        if (words[i] == NULL)
            status = hac_fail_no_memory(err);
    }
    cli->started = &step->job;
    cli->kept = step->kept ? &step->result : NULL;
    if (status == HAC_OK)
        status = hac_command_run(step->command, cli, &own, (int)step->argc, argv, err);
    cli->started = NULL;
    cli->kept = NULL;
    if (step->result != NULL)
        step->job = hac_job_id(step->result);
    free_words(words, step->argc);
    return status;
}

static hac_status run_step(hac_cli *cli, const hac_args *args, const hac_job_pipeline *pipeline,
                           hac_pipeline_step *step, hac_error *err)
{
    hac_cli_note(cli, "%s: %s", step->name, step->command->name);
    hac_status status = run_command(cli, args, pipeline, step, err);
    if (status != HAC_OK)
        hac_error_prefix(err, "%s:%u:%u: step `%s`", args->words[0], step->line, step->column, step->name);
    return status;
}

/* ---- the receipt -------------------------------------------------------------------------------------- */

typedef struct report {
    hac_text json;
    hac_text_table table;
} report;

/* Rows of a query's result, or items of a sort. */
static double rows_of(const cJSON *receipt)
{
    const cJSON *query = cJSON_GetObjectItemCaseSensitive(receipt, "query");
    const char *flow = hac_json_get_string(receipt, "flow");
    if (query != NULL)
        return hac_json_get_number(query, "rows_out");
    return hac_json_get_number(receipt, flow != NULL && strcmp(flow, "sort") == 0 ? "items" : "");
}

/* The names of the devices that did something; malloc'ed, NULL: no memory. */
static char *devices_of(const cJSON *receipt)
{
    hac_text text = HAC_TEXT_NONE;
    char *all = NULL;
    const cJSON *device;
    cJSON_ArrayForEach(device, hac_json_get_array(receipt, "devices"))
    {
        const char *name = hac_json_get_string(device, "name");
        if (hac_json_get_number(device, "tasks") > 0 && name != NULL)
            hac_text_addf(&text, "%s%s", text.bytes > 0 ? "," : "", name);
    }
    return hac_text_finish(&text, &all, NULL, NULL) == HAC_OK ? all : NULL;
}

static hac_status add_step(hac_cli *cli, const hac_pipeline_step *step, report *r, hac_error *err)
{
    hac_autofree char *answer = NULL, *devices = NULL;
    hac_autojson cJSON *receipt = NULL;
    char buffer[HAC_NUMBER_PRINT_MAX];
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_RECEIPT, step->job, HAC_PLAN_JSON, &answer, err);
    if (status == HAC_OK)
        status = hac_json_parse_object(answer, "the receipt", &receipt, err);
    if (status != HAC_OK)
        return status;
    devices = devices_of(receipt);
    double rows = rows_of(receipt), seconds = hac_json_get_number(receipt, "total_seconds");
    hac_text_table_add(&r->table, step->name);
    hac_text_table_add_whole(&r->table, (double)step->job);
    hac_text_table_add(&r->table, hac_json_get_string(receipt, "flow"));
    hac_text_table_add_whole(&r->table, rows);
    hac_text_table_add(&r->table, hac_number_print_seconds(seconds, buffer));
    hac_text_table_add(&r->table, devices);
    hac_json_open(&r->json, NULL, '{');
    hac_json_string(&r->json, "step", step->name);
    hac_json_unsigned(&r->json, "job", step->job);
    hac_json_number(&r->json, "rows", rows);
    hac_json_number(&r->json, "seconds", seconds);
    hac_json_string(&r->json, "devices", devices);
    hac_json_raw(&r->json, "receipt", answer);
    hac_json_close(&r->json, '}');
    return HAC_OK;
}

static hac_status add_steps(hac_cli *cli, const hac_job_pipeline *pipeline, report *r, double seconds,
                            hac_error *err)
{
    hac_status status = HAC_OK;
    hac_json_open(&r->json, NULL, '{');
    hac_json_string(&r->json, "pipeline", pipeline->name);
    hac_json_number(&r->json, "seconds", seconds);
    hac_json_open(&r->json, "steps", '[');
    for (size_t i = 0; i < pipeline->n_steps && status == HAC_OK; i++)
        status = add_step(cli, &pipeline->steps[pipeline->order[i]], r, err);
    hac_json_close(&r->json, ']');
    hac_json_close(&r->json, '}');
    return status;
}

/* The table goes to standard output, unless a step has written there. */
static hac_status print_receipt(hac_cli *cli, const hac_args *args, const hac_job_pipeline *pipeline,
                                double seconds, hac_error *err)
{
    static const hac_text_column columns[] = {{"STEP", false}, {"JOB", true},  {"FLOW", false},
                                              {"ROWS", true},  {"TOOK", true}, {"DEVICES", false}};
    report r = {HAC_TEXT_NONE, HAC_TEXT_TABLE(columns)};
    hac_autofree char *json = NULL, *table = NULL;
    hac_text text = HAC_TEXT_NONE;
    hac_status status = add_steps(cli, pipeline, &r, seconds, err);
    if (status == HAC_OK)
        hac_text_table_write(&r.table, &text);
    hac_text_table_clear(&r.table);
    if (status == HAC_OK)
        status = hac_text_finish(&r.json, &json, NULL, err);
    if (status == HAC_OK)
        status = hac_text_finish(&text, &table, NULL, err);
    hac_text_clear(&r.json);
    hac_text_clear(&text);
    if (status == HAC_OK && hac_args_has(args, HAC_OPT_RECEIPT))
        status = hac_cli_print_to(args->values[HAC_OPT_RECEIPT], json, err);
    bool print = status == HAC_OK && !pipeline->to_standard && !hac_args_has(args, HAC_OPT_QUIET);
    return print ? hac_cli_print(hac_args_has(args, HAC_OPT_JSON) ? json : table, err) : status;
}

/* ---- the command -------------------------------------------------------------------------------------- */

/* The results that were kept for other steps. Those of a pipeline that fails are released, too; if this
 * process ends in any other way, the daemon frees them with the connection. */
static void release_results(const hac_cli *cli, const hac_job_pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->n_steps; i++) {
        const hac_pipeline_step *step = &pipeline->steps[i];
        hac_error why = HAC_ERROR_NONE;
        if (step->result != NULL && hac_job_release(step->result, &why) != HAC_OK)
            hac_cli_say(cli, "the daemon keeps the result of step %s: %s", step->name, why.message);
    }
}

hac_status hac_cmd_run(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_pipeline_free_cleanup) hac_job_pipeline *pipeline = NULL;
    const bool json = cli->json;
    const uint64_t begun = hac_now_ns();
    hac_status status =
        hac_pipeline_read(cli->commands, args->words[0], args->values[HAC_OPT_RECEIPT], &pipeline, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < pipeline->n_steps && status == HAC_OK; i++)
        status = run_step(cli, args, pipeline, &pipeline->steps[pipeline->order[i]], err);
    cli->json = json;
    double seconds = hac_seconds_since(begun);
    if (status == HAC_OK)
        status = print_receipt(cli, args, pipeline, seconds, err);
    release_results(cli, pipeline);
    return status;
}
