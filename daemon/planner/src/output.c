/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *hac_format_seconds(double seconds, char *text, size_t room)
{
    if (seconds < 1e-3)
        snprintf(text, room, "%.3g µs", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, room, "%.3g ms", seconds * 1e3);
    else
        snprintf(text, room, "%.4g s", seconds);
    return text;
}

const char *hac_format_count(double count, char *text, size_t room)
{
    if (count >= 1e9)
        snprintf(text, room, "%.3g G", count / 1e9);
    else if (count >= 1e6)
        snprintf(text, room, "%.3g M", count / 1e6);
    else if (count >= 1e4)
        snprintf(text, room, "%.3g k", count / 1e3);
    else
        snprintf(text, room, "%.4g ", count);
    return text;
}

const char *hac_format_bytes(double bytes, char *text, size_t room)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    for (; bytes >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        bytes /= 1024;
    snprintf(text, room, bytes < 999.5 ? "%.3g %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

const char *hac_format_role(hac_buffer_role role)
{
    static const char *const names[] = {[HAC_BUFFER_INPUT] = "input",
                                        [HAC_BUFFER_OUTPUT] = "result",
                                        [HAC_BUFFER_WORK] = "work memory",
                                        [HAC_BUFFER_SHARED] = "the client's"};
    return names[role];
}

double hac_sort_memory_ratio(const hac_plan *plan)
{
    double input = 0;
    for (size_t i = 0; i < plan->n_buffers; i++)
        if (plan->buffers[i].role == HAC_BUFFER_INPUT)
            input += (double)plan->buffers[i].bytes;
    return strcmp(plan->flow, "sort") == 0 && input > 0 ? (double)hac_plan_memory(plan) / input : 0;
}

const char *hac_task_label(const hac_plan_task *task, char *text, size_t room)
{
    const char *stage = task->stage != NULL ? task->stage : task->codelet;
    if (task->step_first == 0 || task->step_last < task->step_first)
        snprintf(text, room, "%s", stage);
    else if (task->step_first == task->step_last)
        snprintf(text, room, "%s %" PRIu32, strcmp(stage, "steps") == 0 ? "step" : stage, task->step_first);
    else
        snprintf(text, room, "%s %" PRIu32 "–%" PRIu32, stage, task->step_first, task->step_last);
    return text;
}

void hac_xml_text(hac_text *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '&')
            hac_text_add(out, "&amp;");
        else if (byte == '<')
            hac_text_add(out, "&lt;");
        else if (byte == '>')
            hac_text_add(out, "&gt;");
        else if (byte == '"')
            hac_text_add(out, "&quot;");
        else if (byte < 0x20 && byte != '\n' && byte != '\t')
            hac_text_add(out, "?");
        else
            hac_text_add_bytes(out, c, 1);
    }
}

const char *hac_colour(size_t i)
{
    /* Okabe and Ito's palette, which colour-blind readers can tell apart, and darker shades of it */
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
                                          "#7a6f00", "#555555", "#004a75", "#8a3d00", "#00664a", "#854e6c",
                                          "#946600", "#367396", "#b3a300", "#999999"};
    return colours[i % (sizeof(colours) / sizeof(colours[0]))];
}

bool hac_is_small_network(const hac_plan *plan)
{
    return strcmp(plan->sort.algorithm, "bitonic") == 0 && plan->sort.items >= 2 && plan->sort.items <= 64 &&
           plan->sort.n_parts <= 8;
}

hac_status hac_plan_to_svg(const hac_plan *plan, char **ret, hac_error *err)
{
    hac_text out = HAC_TEXT_NONE;
    if (hac_is_small_network(plan))
        hac_svg_network(&out, plan);
    else
        hac_svg_timeline(&out, plan);
    return hac_text_finish(&out, ret, NULL, err);
}
