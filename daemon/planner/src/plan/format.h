/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms of a plan (JSON, text, trace) share. */
#ifndef PLANNER_FORMAT_H
#define PLANNER_FORMAT_H

#include <stddef.h>

#include "planner/plan.h"

/* "48.3 M", "1.2 G" of items or items/s. */
const char *hac_format_count(double count, char *text, size_t capacity);

/* "512 B", "48.3 MiB". */
const char *hac_format_bytes(double bytes, char *text, size_t capacity);

/* "input", "result" or "work memory". */
const char *hac_format_role(hac_buffer_role role);

/* A sort's memory in units of what it sorts, keys and payload; 0 where it has none. */
double hac_sort_memory_ratio(const hac_plan *plan);

/* "block 1–105", "scatter": what the task does, in a few words. */
const char *hac_task_label(const hac_plan_task *task, char *text, size_t capacity);

#endif
