/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl doctor. hacd makes the checks (admin/status_json.c), except those that only a client can make. */
#include "cmd.h"
#include "report/report.h"

/* Prints the only finding that there is without a daemon, in the doctor's usual form. */
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

/* Adds a finding about the system daemon, which the private daemon that answered cannot know. */
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
        status = hac_json_parse_object(answer, "this machine's set-up", &json, err);
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
