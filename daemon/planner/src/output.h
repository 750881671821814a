/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms of a plan (JSON, text, SVG, trace) share. */
#ifndef PLANNER_OUTPUT_H
#define PLANNER_OUTPUT_H

#include "base/text.h"
#include "planner/plan_output.h"

/* "12.3 ms", "61 µs", "2.04 s" into `room` bytes; returns text. */
const char *hac_format_seconds(double seconds, char *text, size_t room);

/* "48.3 M", "1.2 G" of items or items/s. */
const char *hac_format_count(double count, char *text, size_t room);

/* "512 B", "48.3 MiB". */
const char *hac_format_bytes(double bytes, char *text, size_t room);

/* "input", "result" or "work memory". */
const char *hac_format_role(hac_buffer_role role);

/* A sort's memory in units of what it sorts, keys and payload; 0 where it has none. */
double hac_sort_memory_ratio(const hac_plan *plan);

/* "block 1–105", "scatter": what the task does, in a few words. */
const char *hac_task_label(const hac_plan_task *task, char *text, size_t room);

/* Text inside an XML element or attribute. Bytes that XML 1.0 does not allow become "?". */
void hac_xml_text(hac_text *out, const char *text);

/* A colour for the i-th device or stage, "#rrggbb". */
const char *hac_colour(size_t i);

/* Whether the plan can be drawn as a network that a person can still read. */
bool hac_is_small_network(const hac_plan *plan);

void hac_svg_network(hac_text *out, const hac_plan *plan);
void hac_svg_timeline(hac_text *out, const hac_plan *plan);

#endif
