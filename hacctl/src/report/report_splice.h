/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers and stages of queries over splits, as `hacctl show` prints them. */
#ifndef HACCTL_REPORT_SPLICE_H
#define HACCTL_REPORT_SPLICE_H

#include "base/text.h"
#include "text/json_fields.h"

/* If the receipt has a member "splice", adds for each device the four buffers, the highest fill of the
 * WorkingBuffer, pauses and triggers, each stage's busy share as a bar, and the slowest stage. */
void hac_report_splice(const cJSON *receipt, hac_text *text);

#endif
