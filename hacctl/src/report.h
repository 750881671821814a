/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's JSON as tables and lists for people. Each takes the parsed answer and adds to `text`. */
#ifndef HACCTL_REPORT_H
#define HACCTL_REPORT_H

#include <time.h>

#include "base/text.h"
#include "read.h"

void hac_report_devices(const cJSON *answer, hac_text *text);
void hac_report_jobs(const cJSON *answer, time_t now, hac_text *text);
void hac_report_job(const cJSON *job, time_t now, hac_text *text);
/* Of calibrate: models, what devices do together, then the break-even sizes. */
void hac_report_models(const cJSON *report, hac_text *text);
/* Of tune: the settings that were kept. */
void hac_report_settings(const cJSON *report, hac_text *text);
/* Returns the number of checks that failed. */
size_t hac_report_checks(const cJSON *answer, hac_text *text);

#endif
