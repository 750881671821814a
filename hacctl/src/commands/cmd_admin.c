/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl metrics, reload, drain, version: about the daemon itself. */
#include "cmd.h"
#include "report/report.h"

hac_status hac_cmd_metrics(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_autofree char *answer = NULL;
    (void)args;
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_METRICS, 0, HAC_PLAN_TEXT, &answer, err);
    return status == HAC_OK ? hac_cli_print(answer, err) : status;
}

/* reload and drain never start a daemon: there would be nothing to reload or drain. */
hac_status hac_cmd_reload(hac_cli *cli, const hac_args *args, hac_error *err)
{
    (void)args;
    cli->no_autostart = true;
    hac_status status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status = hac_client_reload(cli->client, err);
    if (status == HAC_OK)
        hac_cli_note(cli, "configuration and profiles have been read again");
    return status;
}

hac_status hac_cmd_drain(hac_cli *cli, const hac_args *args, hac_error *err)
{
    (void)args;
    cli->no_autostart = true;
    hac_status status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status = hac_client_drain(cli->client, err);
    if (status == HAC_OK)
        hac_cli_note(cli, "the daemon accepts no new jobs and exits when its jobs are done");
    return status;
}

static hac_status version_json(const cJSON *state, hac_error *err)
{
    hac_autofree char *daemon = NULL, *all = NULL;
    hac_text text = HAC_TEXT_NONE;
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(state, "daemon");
    double protocol =
        hac_json_get_number(cJSON_HasObjectItem(state, "protocol") ? state : object, "protocol");
    if (cJSON_IsObject(object)) {
        daemon = cJSON_PrintUnformatted(object);
        if (daemon == NULL)
            return hac_fail_no_memory(err);
    }
    hac_json_open(&text, NULL, '{');
    hac_json_string(&text, "version", HACCTL_VERSION);
    hac_json_string(&text, "library", hac_version());
    hac_json_number(&text, "protocol", protocol); /* NAN becomes null */
    hac_json_raw(&text, "daemon", daemon != NULL ? daemon : "null");
    hac_json_close(&text, '}');
    hac_status status = hac_text_finish(&text, &all, NULL, err);
    return status == HAC_OK ? hac_cli_print(all, err) : status;
}

static hac_status version_text(const cJSON *state, const hac_error *why_not, hac_error *err)
{
    hac_autofree char *all = NULL;
    hac_text text = HAC_TEXT_NONE;
    const cJSON *daemon = cJSON_GetObjectItemCaseSensitive(state, "daemon");
    hac_text_addf(&text, "hacctl %s, libhac %s\n", HACCTL_VERSION, hac_version());
    if (cJSON_IsObject(daemon)) {
        const char *version = hac_json_get_string(daemon, "version");
        const char *socket = hac_json_get_string(daemon, "socket");
        hac_text_addf(&text, "hacd %s, pid %.0f, %s, %s\n", version != NULL ? version : "-",
                      hac_json_get_number(daemon, "pid"),
                      hac_json_get_bool(daemon, "private", false) ? "private" : "system",
                      socket != NULL ? socket : "-");
    } else {
        hac_text_addf(&text, "no daemon: %s\n", why_not->message);
    }
    hac_status status = hac_text_finish(&text, &all, NULL, err);
    return status == HAC_OK ? hac_cli_print(all, err) : status;
}

hac_status hac_cmd_version(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *state = NULL;
    hac_error why_not = HAC_ERROR_NONE;
    (void)args;
    /* Without a daemon, hacctl's own version can still be printed. */
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_STATUS, 0, HAC_PLAN_JSON, &answer, &why_not);
    if (status == HAC_OK && hac_json_parse_object(answer, "the daemon", &state, &why_not) != HAC_OK)
        state = NULL;
    return cli->json ? version_json(state, err) : version_text(state, &why_not, err);
}
