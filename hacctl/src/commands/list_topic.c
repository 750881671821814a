/* SPDX-License-Identifier: Apache-2.0 */
#include "list_topic.h"

#include "cmd.h"

hac_status hac_list_topic(hac_cli *cli, hac_topic topic, const char *what,
                          void (*list)(const cJSON *answer, hac_text *text), hac_error *err)
{
    hac_autofree char *answer = NULL, *table = NULL;
    hac_autojson cJSON *json = NULL;
    hac_text text = HAC_TEXT_NONE;
    hac_status status = hac_cli_ask(cli, topic, 0, HAC_PLAN_JSON, &answer, err);
    if (status == HAC_OK && cli->json)
        return hac_cli_print(answer, err);
    if (status == HAC_OK)
        status = hac_json_parse_object(answer, what, &json, err);
    if (status != HAC_OK)
        return status;
    list(json, &text);
    status = hac_text_finish(&text, &table, NULL, err);
    return status == HAC_OK ? hac_cli_print(table, err) : status;
}
