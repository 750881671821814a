/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl calibrate, tune: jobs whose result is a report. */
#include "cmd.h"
#include "report/report.h"
#include "request/job_request.h"
#include "run/job_output.h"
#include "run/wait.h"

static hac_status print_report(const hac_cli *cli, const hac_job *job, bool tune, hac_error *err)
{
    hac_autojson cJSON *json = NULL;
    hac_autofree char *table = NULL;
    hac_text text = HAC_TEXT_NONE;
    if (cli->json)
        return hac_cli_print(hac_job_text(job), err);
    hac_status status = hac_json_parse_object(hac_job_text(job), "what was measured", &json, err);
    if (status != HAC_OK)
        return status;
    if (tune)
        hac_report_search(json, &text);
    else
        hac_report_models(json, &text);
    status = hac_text_finish(&text, &table, NULL, err);
    return status == HAC_OK ? hac_cli_print(table, err) : status;
}

static hac_status run_and_print(hac_cli *cli, bool tune, hac_job_options *options, hac_job_output *outputs,
                                hac_error *err)
{
    hac_wait wait;
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_wait_prepare(&wait, cli, options);
    hac_status status = hac_calibrate(cli->client, tune, options, &job, err);
    if (status != HAC_OK)
        return status;
    if (options->detach)
        return hac_job_output_print_id(cli, job, err);
    status = hac_wait_for(&wait, job, true, err);
    if (status == HAC_OK)
        status = hac_job_output_write(outputs, cli, job, err);
    return status == HAC_OK ? print_report(cli, job, tune, err) : status;
}

static hac_status measure(hac_cli *cli, const hac_args *args, bool tune, hac_error *err)
{
    hac_cleanup(hac_job_output_close) hac_job_output outputs = {.result = NULL};
    hac_job_options options = {.devices = NULL};
    /* these commands do not take --devices: their words name the devices, so the request owns nothing */
    hac_job_request request = {.names = NULL};
    hac_status status = hac_job_output_check(args, true, err);
    if (status == HAC_OK)
        status = hac_job_request_parse(&request, args, &options, err);
    if (status == HAC_OK)
        status = hac_check_devices((const char *const *)args->words, args->n_words, err);
    if (status != HAC_OK)
        return status;
    options.devices = args->n_words > 0 ? (const char *const *)args->words : NULL;
    options.n_devices = args->n_words;
    status = hac_job_output_open(&outputs, args, false, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    return status == HAC_OK ? run_and_print(cli, tune, &options, &outputs, err) : status;
}

hac_status hac_cmd_calibrate(hac_cli *cli, const hac_args *args, hac_error *err)
{
    return measure(cli, args, false, err);
}

/* Prints the settings in force, of the named devices or of all. */
static hac_status show_settings(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_autofree char *answer = NULL, *table = NULL;
    hac_autojson cJSON *json = NULL;
    hac_text text = HAC_TEXT_NONE;
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_TUNING, 0, HAC_PLAN_JSON, &answer, err);
    if (status == HAC_OK && cli->json)
        return hac_cli_print(answer, err);
    if (status == HAC_OK)
        status = hac_json_parse_object(answer, "the settings", &json, err);
    if (status != HAC_OK)
        return status;
    hac_report_settings(json, (const char *const *)args->words, args->n_words, &text);
    status = hac_text_finish(&text, &table, NULL, err);
    return status == HAC_OK ? hac_cli_print(table, err) : status;
}

/* --revert and --reset go back, then show what holds now. */
static hac_status change_settings(hac_cli *cli, const hac_args *args, hac_error *err)
{
    bool revert = hac_args_has(args, HAC_OPT_REVERT), reset = hac_args_has(args, HAC_OPT_RESET);
    if (revert && reset)
        return hac_fail(err, HAC_INVALID, "--revert and --reset exclude each other");
    hac_status status = hac_check_devices((const char *const *)args->words, args->n_words, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK && (revert || reset))
        status = hac_tuning_revert(cli->client, (const char *const *)args->words, args->n_words, reset, err);
    return status == HAC_OK ? show_settings(cli, args, err) : status;
}

hac_status hac_cmd_tune(hac_cli *cli, const hac_args *args, hac_error *err)
{
    static const hac_option_id alone[] = {HAC_OPT_SHOW, HAC_OPT_REVERT, HAC_OPT_RESET};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (hac_args_has(args, alone[i]))
            return change_settings(cli, args, err);
    return measure(cli, args, true, err);
}
