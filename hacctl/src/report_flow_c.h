/* SPDX-License-Identifier: Apache-2.0 */
/* What flow C's kernels have done, as `hacctl show` draws it. */
#ifndef HACCTL_REPORT_FLOW_C_H
#define HACCTL_REPORT_FLOW_C_H

#include "base/text.h"
#include "read.h"

/* Of the receipt's "query": sample, hot set, hit rates by work-group as bars, pairs, merges. Adds nothing for
 * a query that other codelets have done. */
void hac_report_flow_c(const cJSON *query, hac_text *text);

#endif
