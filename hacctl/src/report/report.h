/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's JSON as tables and lists for people: devices, settings and checks (report_devices.c), jobs
 * (report_jobs.c), models (report_models.c). Each function takes the parsed answer and adds to `text`. */
#ifndef HACCTL_REPORT_H
#define HACCTL_REPORT_H

#include <time.h>

#include "base/text.h"
#include "text/json_fields.h"

void hac_report_devices(const cJSON *answer, hac_text *text);
void hac_report_jobs(const cJSON *answer, time_t now, hac_text *text);
void hac_report_job(const cJSON *job, time_t now, hac_text *text);
/* The result of calibrate: models, what devices do together, and the break-even sizes. */
void hac_report_models(const cJSON *report, hac_text *text);
/* The result of tune: what was tried, and what was kept. */
void hac_report_search(const cJSON *report, hac_text *text);
/* The settings of the named devices (none: of all), and where each comes from. */
void hac_report_settings(const cJSON *answer, const char *const *names, size_t n_names, hac_text *text);
/* Returns the number of checks that failed. */
size_t hac_report_checks(const cJSON *answer, hac_text *text);

#endif
