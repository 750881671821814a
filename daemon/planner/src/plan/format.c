/* SPDX-License-Identifier: Apache-2.0 */
#include "format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *hac_format_count(double count, char *text, size_t capacity)
{
    if (count >= 1e9)
        snprintf(text, capacity, "%.3g G", count / 1e9);
    else if (count >= 1e6)
        snprintf(text, capacity, "%.3g M", count / 1e6);
    else if (count >= 1e4)
        snprintf(text, capacity, "%.3g k", count / 1e3);
    else
        snprintf(text, capacity, "%.4g ", count);
    return text;
}

const char *hac_format_bytes(double bytes, char *text, size_t capacity)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    for (; bytes >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        bytes /= 1024;
    snprintf(text, capacity, bytes < 999.5 ? "%.3g %s" : "%.0f %s", bytes, units[unit]);
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
    return plan->flow == HAC_FLOW_SORT && input > 0 ? (double)hac_plan_memory(plan) / input : 0;
}

const char *hac_task_label(const hac_plan_task *task, char *text, size_t capacity)
{
    const char *stage = task->stage != NULL ? task->stage : task->codelet;
    if (task->step_first == 0 || task->step_last < task->step_first)
        snprintf(text, capacity, "%s", stage);
    else if (task->step_first == task->step_last)
        snprintf(text, capacity, "%s %" PRIu32, strcmp(stage, "steps") == 0 ? "step" : stage,
                 task->step_first);
    else
        snprintf(text, capacity, "%s %" PRIu32 "–%" PRIu32, stage, task->step_first, task->step_last);
    return text;
}
