/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl devices, jobs: lists. */
#include <string.h>

#include "command.h"
#include "report.h"

/* The daemon's JSON as it is, or what `list` makes of it. */
static hac_status list_topic(hac_cli *cli, hac_topic topic, const char *what,
                             void (*list)(const cJSON *answer, hac_text *text), hac_error *err)
{
    hac_autofree char *answer = NULL, *table = NULL;
    hac_autojson cJSON *json = NULL;
    hac_text text = HAC_TEXT_NONE;
    hac_status status = hac_cli_ask(cli, topic, 0, HAC_PLAN_JSON, &answer, err);
    if (status == HAC_OK && cli->json)
        return hac_cli_print(answer, err);
    if (status == HAC_OK)
        status = hac_read_object(answer, what, &json, err);
    if (status != HAC_OK)
        return status;
    list(json, &text);
    status = hac_text_finish(&text, &table, NULL, err);
    return status == HAC_OK ? hac_cli_print(table, err) : status;
}

/* A bad profile is left out: the device looks as if there were none. That nobody can tell is no failure. */
static void say_bad_profiles(hac_cli *cli)
{
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *json = NULL;
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_PROBLEMS, 0, HAC_PLAN_JSON, &answer, NULL);
    if (status != HAC_OK || hac_read_object(answer, "this machine's set-up", &json, NULL) != HAC_OK)
        return;
    const cJSON *check;
    cJSON_ArrayForEach(check, hac_read_array(json, "checks"))
    {
        const char *name = hac_read_string(check, "name");
        if (name != NULL && strcmp(name, "profiles") == 0 && !hac_read_bool(check, "ok", true))
            hac_cli_say(cli, "device profiles have problems: `hacctl doctor` tells which");
    }
}

hac_status hac_cmd_devices(hac_cli *cli, const hac_args *args, hac_error *err)
{
    (void)args;
    hac_status status = list_topic(cli, HAC_TOPIC_DEVICES, "the devices", hac_report_devices, err);
    if (status == HAC_OK && !cli->quiet && !cli->json)
        say_bad_profiles(cli);
    return status;
}

static void jobs_now(const cJSON *answer, hac_text *text)
{
    hac_report_jobs(answer, time(NULL), text);
}

hac_status hac_cmd_jobs(hac_cli *cli, const hac_args *args, hac_error *err)
{
    (void)args;
    return list_topic(cli, HAC_TOPIC_JOBS, "the jobs", jobs_now, err);
}
