/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl calibrate, tune: jobs whose result is a report. */
#include "command.h"
#include "deliver.h"
#include "job_request.h"
#include "report.h"
#include "wait.h"

static hac_status print_report(const hac_cli *cli, const hac_job *job, bool tune, hac_error *err)
{
    hac_autojson cJSON *json = NULL;
    hac_autofree char *table = NULL;
    hac_text text = HAC_TEXT_NONE;
    if (cli->json)
        return hac_cli_print(hac_job_text(job), err);
    hac_status status = hac_read_object(hac_job_text(job), "what was measured", &json, err);
    if (status != HAC_OK)
        return status;
    if (tune)
        hac_report_settings(json, &text);
    else
        hac_report_models(json, &text);
    status = hac_text_finish(&text, &table, NULL, err);
    return status == HAC_OK ? hac_cli_print(table, err) : status;
}

static hac_status run_and_print(hac_cli *cli, bool tune, hac_job_options *options, hac_delivery *delivery,
                                hac_error *err)
{
    hac_wait wait;
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_wait_prepare(&wait, cli, options);
    hac_status status = hac_calibrate(cli->client, tune, options, &job, err);
    if (status != HAC_OK)
        return status;
    if (options->detach)
        return hac_deliver_id(cli, job, err);
    status = hac_wait_for(&wait, job, true, err);
    if (status == HAC_OK)
        status = hac_deliver(delivery, cli, job, err);
    return status == HAC_OK ? print_report(cli, job, tune, err) : status;
}

static hac_status measure(hac_cli *cli, const hac_args *args, bool tune, hac_error *err)
{
    hac_cleanup(hac_delivery_close) hac_delivery delivery = {.result = NULL};
    hac_job_options options = {.devices = NULL};
    /* --devices is not among the options: the words name the devices, so the request owns nothing */
    hac_job_request request = {.names = NULL};
    hac_status status = hac_delivery_check(args, true, err);
    if (status == HAC_OK)
        status = hac_job_request_parse(&request, args, &options, err);
    if (status == HAC_OK)
        status = hac_check_devices((const char *const *)args->words, args->n_words, err);
    if (status != HAC_OK)
        return status;
    options.devices = args->n_words > 0 ? (const char *const *)args->words : NULL;
    options.n_devices = args->n_words;
    status = hac_delivery_open(&delivery, args, false, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    return status == HAC_OK ? run_and_print(cli, tune, &options, &delivery, err) : status;
}

hac_status hac_cmd_calibrate(hac_cli *cli, const hac_args *args, hac_error *err)
{
    return measure(cli, args, false, err);
}

hac_status hac_cmd_tune(hac_cli *cli, const hac_args *args, hac_error *err)
{
    return measure(cli, args, true, err);
}
