/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `hacctl top`: what one look at the daemon gave, as one JSON object, and as text for people.
 *
 *     {"at": seconds, "daemon": {…}, "memory": {…}, "devices": […], "jobs": […]}
 *
 * The members are those of the daemon's answers (hac_topic). From the second look on there is also what
 * follows from two: "busy_share" of a device, 0 to 1, and of a job "items_per_second", or "bytes_per_second"
 * if it reads splits.
 */
#ifndef HACCTL_REPORT_TOP_H
#define HACCTL_REPORT_TOP_H

#include "base/text.h"
#include "read.h"

/* Adds to `now` what the look `before` tells of the time between them; NULL: nothing. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_top_derive(const cJSON *before, cJSON *now, hac_error *err);

/* The daemon, its devices, the jobs that have not ended, and the buffers of those that read splits. */
void hac_report_top(const cJSON *look, hac_text *text);

#endif
