/* SPDX-License-Identifier: Apache-2.0 */
/* Any plan as a time line: a lane for each device, a bar for each task, milliseconds along the bottom. */
#ifndef HACCTL_TIMELINE_DRAWING_H
#define HACCTL_TIMELINE_DRAWING_H

#include "base/text.h"
#include "plan_view.h"

/* `query` as in hac_plan_drawing. */
void hac_timeline_drawing(const hac_plan_view *plan, const cJSON *query, hac_text *out);

#endif
