/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl devices */
#include <string.h>

#include "cmd.h"
#include "list_topic.h"

/* Warns about bad profiles, since a device whose profile is bad looks as if it had none. Says nothing if
 * the daemon does not answer. */
static void say_bad_profiles(hac_cli *cli)
{
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *json = NULL;
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_PROBLEMS, 0, HAC_PLAN_JSON, &answer, NULL);
    if (status != HAC_OK || hac_json_parse_object(answer, "this machine's set-up", &json, NULL) != HAC_OK)
        return;
    const cJSON *check;
    cJSON_ArrayForEach(check, hac_json_get_array(json, "checks"))
    {
        const char *name = hac_json_get_string(check, "name");
        if (name != NULL && strcmp(name, "profiles") == 0 && !hac_json_get_bool(check, "ok", true))
            hac_cli_say(cli, "device profiles have problems: `hacctl doctor` tells which");
    }
}

hac_status hac_cmd_devices(hac_cli *cli, const hac_args *args, hac_error *err)
{
    (void)args;
    hac_status status = hac_list_topic(cli, HAC_TOPIC_DEVICES, "the devices", hac_report_devices, err);
    if (status == HAC_OK && !cli->quiet && !cli->json)
        say_bad_profiles(cli);
    return status;
}
