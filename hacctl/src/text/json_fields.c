/* SPDX-License-Identifier: Apache-2.0 */
#include "json_fields.h"

#include <math.h>

#include "base/text.h"

hac_status hac_json_parse_object(const char *text, const char *what, cJSON **ret, hac_error *err)
{
    cJSON *json = cJSON_Parse(text);
    if (!cJSON_IsObject(json)) {
        cJSON_Delete(json);
        return hac_fail(err, HAC_PROTOCOL, "hacd's answer about %s is not a JSON object", what);
    }
    *ret = json;
    return HAC_OK;
}

const char *hac_json_get_string(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

double hac_json_get_number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

bool hac_json_get_bool(const cJSON *object, const char *key, bool otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsBool(item) ? cJSON_IsTrue(item) : otherwise;
}

const cJSON *hac_json_get_array(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsArray(item) ? item : NULL;
}

char *hac_json_get_joined(const cJSON *object, const char *key)
{
    hac_text text = HAC_TEXT_NONE;
    const cJSON *item;
    cJSON_ArrayForEach(item, hac_json_get_array(object, key))
    {
        const char *between = text.bytes != 0 ? ", " : "";
        if (cJSON_IsString(item))
            hac_text_addf(&text, "%s%s", between, item->valuestring);
        else if (cJSON_IsNumber(item))
            hac_text_addf(&text, "%s%.10g", between, item->valuedouble);
    }
    char *joined = NULL;
    if (text.bytes == 0 || hac_text_finish(&text, &joined, NULL, NULL) != HAC_OK)
        hac_text_clear(&text);
    return joined;
}
