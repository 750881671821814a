/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `hacctl top`: one report as a JSON object, and as text for people.
 *
 *     {"at": seconds, "daemon": {…}, "memory": {…}, "devices": […], "jobs": […]}
 *
 * The members are those of the daemon's answers (hac_topic). From the second report on, there are also rates
 * since the report before: "busy_share" of a device, 0 to 1, and "items_per_second" of a job, or
 * "bytes_per_second" if the job reads splits.
 */
#ifndef HACCTL_REPORT_TOP_H
#define HACCTL_REPORT_TOP_H

#include "base/text.h"
#include "text/json_fields.h"

/* Adds to `now` the rates since the report `before`; NULL adds none. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_top_derive(const cJSON *before, cJSON *now, hac_error *err);

/* Adds the daemon, its devices, the jobs that have not ended, and the buffers of jobs that read splits. */
void hac_report_top(const cJSON *look, hac_text *text);

#endif
