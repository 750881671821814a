/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as SVG drawings, made from the JSON that hacd describes a plan with. */
#ifndef HACCTL_PLAN_DRAWING_H
#define HACCTL_PLAN_DRAWING_H

#include <cjson/cJSON.h>

#include "base/error.h"

/* Draws a plan: a bitonic network of up to 64 items as the network, any other plan as a time line. `query` is
 * the member of that name of the job's receipt, whose figures of hot keys are drawn below the time line; NULL
 * draws none. *ret is malloc'ed. HAC_PROTOCOL if `plan` is not a plan. */
HAC_MUST_USE hac_status hac_plan_drawing(const cJSON *plan, const cJSON *query, char **ret, hac_error *err);
/* The same of a plan as text. */
HAC_MUST_USE hac_status hac_plan_drawing_of_text(const char *plan, char **ret, hac_error *err);

#endif
