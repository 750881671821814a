/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl doctor, metrics, reload, drain, version: about the daemon itself. */
#include "command.h"
#include "report.h"

/* Without a daemon the doctor's only finding is that, in the same form. */
static hac_status no_daemon(const hac_cli *cli, hac_status status, hac_error *err)
{
    hac_autofree char *finding = NULL;
    hac_text text = HAC_TEXT_NONE;
    if (cli->json) {
        hac_json_open(&text, NULL, '{');
        hac_json_open(&text, "checks", '[');
        hac_json_open(&text, NULL, '{');
        hac_json_string(&text, "name", "daemon");
        hac_json_bool(&text, "ok", false);
        hac_json_string(&text, "message", err->message);
        hac_json_close(&text, '}');
        hac_json_close(&text, ']');
        hac_json_close(&text, '}');
    } else {
        hac_text_add(&text, "FAILED  daemon: not reached\n");
    }
    if (hac_text_finish(&text, &finding, NULL, NULL) == HAC_OK && hac_cli_print(finding, NULL) != HAC_OK)
        return HAC_FAILED;
    return status;
}

/* hacd cannot know that another one was meant. */
static hac_status add_system_daemon(const hac_cli *cli, cJSON *json, hac_error *err)
{
    char why[HAC_ERROR_MESSAGE_SIZE];
    cJSON *checks = cJSON_GetObjectItemCaseSensitive(json, "checks"), *check = NULL;
    if (!cJSON_IsArray(checks) || !hac_cli_system_refuses(cli, why, sizeof why))
        return HAC_OK;
    check = cJSON_CreateObject();
    bool ok =
        cJSON_AddStringToObject(check, "name", "system daemon") != NULL &&
        cJSON_AddFalseToObject(check, "ok") != NULL &&
        cJSON_AddStringToObject(check, "message", why) != NULL &&
        cJSON_AddStringToObject(check, "hint",
                                "`systemctl status hacd.socket hacd` says what is wrong; docs/users.md says "
                                "who may connect") != NULL &&
        cJSON_AddItemToArray(checks, check);
    if (!ok)
        cJSON_Delete(check);
    return ok ? HAC_OK : hac_fail_no_memory(err);
}

hac_status hac_cmd_doctor(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_autofree char *answer = NULL, *list = NULL, *whole = NULL;
    hac_autojson cJSON *json = NULL;
    hac_text text = HAC_TEXT_NONE;
    (void)args;
    hac_status status = hac_cli_connect(cli, err);
    if (status == HAC_NO_DAEMON)
        return no_daemon(cli, status, err);
    if (status == HAC_OK)
        status = hac_cli_ask(cli, HAC_TOPIC_PROBLEMS, 0, HAC_PLAN_JSON, &answer, err);
    if (status == HAC_OK)
        status = hac_read_object(answer, "this machine's set-up", &json, err);
    if (status == HAC_OK)
        status = add_system_daemon(cli, json, err);
    if (status != HAC_OK)
        return status;
    size_t failed = hac_report_checks(json, &text);
    whole = cJSON_PrintUnformatted(json);
    status = hac_text_finish(&text, &list, NULL, err);
    if (status == HAC_OK && whole == NULL)
        status = hac_fail_no_memory(err);
    if (status == HAC_OK)
        status = hac_cli_print(cli->json ? whole : list, err);
    if (status == HAC_OK && failed > 0)
        return hac_fail(err, HAC_FAILED, "%zu %s", failed, failed == 1 ? "check failed" : "checks failed");
    return status;
}

hac_status hac_cmd_metrics(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_autofree char *answer = NULL;
    (void)args;
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_METRICS, 0, HAC_PLAN_TEXT, &answer, err);
    return status == HAC_OK ? hac_cli_print(answer, err) : status;
}

/* These two are for a daemon that runs: starting one for them would be for nothing. */
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
        hac_cli_note(cli, "the daemon takes nothing new and leaves when its jobs are done");
    return status;
}

static hac_status version_json(const cJSON *state, hac_error *err)
{
    hac_autofree char *daemon = NULL, *all = NULL;
    hac_text text = HAC_TEXT_NONE;
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(state, "daemon");
    double protocol = hac_read_number(cJSON_HasObjectItem(state, "protocol") ? state : object, "protocol");
    if (cJSON_IsObject(object)) {
        daemon = cJSON_PrintUnformatted(object);
        if (daemon == NULL)
            return hac_fail_no_memory(err);
    }
    hac_json_open(&text, NULL, '{');
    hac_json_string(&text, "version", HACCTL_VERSION);
    hac_json_string(&text, "library", hac_version());
    hac_json_number(&text, "protocol", protocol); /* not a number: null */
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
        const char *version = hac_read_string(daemon, "version");
        const char *socket = hac_read_string(daemon, "socket");
        hac_text_addf(&text, "hacd %s, pid %.0f, %s, %s\n", version != NULL ? version : "-",
                      hac_read_number(daemon, "pid"),
                      hac_read_bool(daemon, "private", false) ? "private" : "system",
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
    /* Without a daemon there is still a version to tell. */
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_STATUS, 0, HAC_PLAN_JSON, &answer, &why_not);
    if (status == HAC_OK && hac_read_object(answer, "the daemon", &state, &why_not) != HAC_OK)
        state = NULL;
    return cli->json ? version_json(state, err) : version_text(state, &why_not, err);
}
