/* SPDX-License-Identifier: Apache-2.0 */
/* What device kernels that aggregate did, as `hacctl show` prints it. */
#ifndef HACCTL_REPORT_HASH_H
#define HACCTL_REPORT_HASH_H

#include "base/text.h"
#include "text/json_fields.h"

/* Adds sample, hot set, hit rates by work-group as bars, pairs and merges of the receipt's "query". Adds
 * nothing if host codelets ran the query. */
void hac_report_hash(const cJSON *query, hac_text *text);

#endif
