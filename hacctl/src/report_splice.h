/* SPDX-License-Identifier: Apache-2.0 */
/* Flow B's buffers and stages, as `hacctl show` draws them. */
#ifndef HACCTL_REPORT_SPLICE_H
#define HACCTL_REPORT_SPLICE_H

#include "base/text.h"
#include "read.h"

/* Of a receipt with a member "splice": for each device the four buffers, how full the WorkingBuffer was,
 * pauses and triggers, the stages' busy share of its tasks as bars, and the slowest. Else nothing. */
void hac_report_splice(const cJSON *receipt, hac_text *text);

#endif
