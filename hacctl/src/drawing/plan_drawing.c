/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_drawing.h"

#include "network_drawing.h"
#include "plan_view.h"
#include "text/json_fields.h"
#include "timeline_drawing.h"

hac_status hac_plan_drawing(const cJSON *plan, const cJSON *query, char **ret, hac_error *err)
{
    hac_cleanup(hac_plan_view_clear) hac_plan_view view = {.tasks = NULL};
    hac_text out = HAC_TEXT_NONE;
    hac_status status = hac_plan_view_read(plan, &view, err);
    if (status != HAC_OK)
        return status;
    if (view.is_small_network)
        hac_network_drawing(&view, &out);
    else
        hac_timeline_drawing(&view, query, &out);
    return hac_text_finish(&out, ret, NULL, err);
}

hac_status hac_plan_drawing_of_text(const char *plan, char **ret, hac_error *err)
{
    hac_autojson cJSON *json = NULL;
    hac_status status = hac_json_parse_object(plan, "the plan", &json, err);
    return status == HAC_OK ? hac_plan_drawing(json, NULL, ret, err) : status;
}
