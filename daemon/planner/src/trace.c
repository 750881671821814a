/* SPDX-License-Identifier: Apache-2.0 */
/* A run beside its prediction, in the trace format that Chrome and Perfetto read: times in microseconds. */
#include <stdio.h>

#include "output.h"

enum lane { LANE_MEASURED = 1, LANE_PREDICTED = 2, LANE_STAGES = 3 };

static void write_name(hac_text *out, const char *what, size_t device, int lane, const char *name)
{
    hac_json_open(out, NULL, '{');
    hac_json_string(out, "ph", "M");
    hac_json_string(out, "name", what);
    hac_json_unsigned(out, "pid", device + 1);
    if (lane > 0)
        hac_json_integer(out, "tid", lane);
    hac_json_open(out, "args", '{');
    hac_json_string(out, "name", name);
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

static void open_event(hac_text *out, const hac_plan_task *task, size_t device, int lane, double start,
                       double seconds, bool lost)
{
    char label[96], name[128];
    snprintf(name, sizeof(name), "%s%s", hac_task_label(task, label, sizeof(label)), lost ? " (lost)" : "");
    hac_json_open(out, NULL, '{');
    hac_json_string(out, "ph", "X");
    hac_json_string(out, "name", name);
    hac_json_string(out, "cat", lane == LANE_MEASURED ? "measured" : "predicted");
    hac_json_unsigned(out, "pid", device + 1);
    hac_json_integer(out, "tid", lane);
    hac_json_number(out, "ts", start * 1e6);
    hac_json_number(out, "dur", seconds * 1e6);
    hac_json_open(out, "args", '{');
    hac_json_string(out, "codelet", task->codelet);
}

static void close_event(hac_text *out)
{
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

static void write_predicted(hac_text *out, const hac_plan *plan, size_t index)
{
    const hac_plan_task *task = &plan->tasks[index];
    for (size_t d = 0; d < plan->n_devices; d++) {
        if (!(task->device_mask >> d & 1))
            continue;
        open_event(out, task, d, LANE_PREDICTED, task->predicted_start, task->predicted_seconds, false);
        hac_json_unsigned(out, "task", index);
        close_event(out);
        if (!task->range) /* whichever device is free runs it; it is drawn once */
            break;
    }
}

static void write_measured(hac_text *out, const hac_plan *plan, const hac_run_record *record)
{
    if (record->task >= plan->n_tasks || record->device >= plan->n_devices)
        return;
    open_event(out, &plan->tasks[record->task], record->device, LANE_MEASURED, record->start, record->seconds,
               record->lost);
    hac_json_unsigned(out, "task", record->task);
    hac_json_unsigned(out, "first", record->first);
    hac_json_unsigned(out, "count", record->count);
    hac_json_unsigned(out, "attempt", record->attempt);
    hac_json_bool(out, "lost", record->lost);
    hac_json_number(out, "predicted_ms", record->predicted_seconds * 1e3);
    close_event(out);
}

/* Each stage has a lane of its own: stages overlap. What an executor says of them is kept within its task. */
static void write_stages(hac_text *out, const hac_plan *plan, const hac_run_record *record)
{
    if (record->task >= plan->n_tasks || record->device >= plan->n_devices)
        return;
    for (int i = 0; i < HAC_RECORD_STAGES; i++) {
        const hac_run_stage *stage = &record->stages[i];
        double end = stage->end < record->seconds ? stage->end : record->seconds;
        if (stage->name == NULL || !(end > stage->start))
            continue;
        hac_json_open(out, NULL, '{');
        hac_json_string(out, "ph", "X");
        hac_json_string(out, "name", stage->name);
        hac_json_string(out, "cat", "stage");
        hac_json_unsigned(out, "pid", record->device + 1);
        hac_json_integer(out, "tid", LANE_STAGES + i);
        hac_json_number(out, "ts", (record->start + stage->start) * 1e6);
        hac_json_number(out, "dur", (end - stage->start) * 1e6);
        hac_json_open(out, "args", '{');
        hac_json_unsigned(out, "task", record->task);
        hac_json_number(out, "busy_ms", stage->busy * 1e3);
        close_event(out);
    }
}

/* Names of the stages' lanes, of the devices that have any. */
static void write_stage_names(hac_text *out, size_t device, const hac_run_record *records, size_t n)
{
    const char *names[HAC_RECORD_STAGES] = {0};
    for (size_t r = 0; r < n; r++)
        for (int i = 0; records[r].device == device && i < HAC_RECORD_STAGES; i++)
            if (records[r].stages[i].end > records[r].stages[i].start)
                names[i] = records[r].stages[i].name;
    for (int i = 0; i < HAC_RECORD_STAGES; i++)
        if (names[i] != NULL)
            write_name(out, "thread_name", device, LANE_STAGES + i, names[i]);
}

hac_status hac_trace_to_json(const hac_plan *plan, const hac_run_record *records, size_t n_records,
                             const char *job_name, char **ret, hac_error *err)
{
    hac_text out = HAC_TEXT_NONE;
    hac_json_open(&out, NULL, '{');
    hac_json_string(&out, "displayTimeUnit", "ms");
    hac_json_open(&out, "otherData", '{');
    hac_json_string(&out, "job", job_name);
    hac_json_string(&out, "flow", plan->flow);
    hac_json_number(&out, "predicted_seconds", plan->predicted_seconds);
    hac_json_close(&out, '}');
    hac_json_open(&out, "traceEvents", '[');
    for (size_t d = 0; d < plan->n_devices; d++) {
        write_name(&out, "process_name", d, 0, plan->devices[d].name);
        write_name(&out, "thread_name", d, LANE_MEASURED, "measured");
        write_name(&out, "thread_name", d, LANE_PREDICTED, "predicted");
        write_stage_names(&out, d, records, n_records);
    }
    for (size_t t = 0; t < plan->n_tasks; t++)
        write_predicted(&out, plan, t);
    for (size_t i = 0; i < n_records; i++) {
        write_measured(&out, plan, &records[i]);
        write_stages(&out, plan, &records[i]);
    }
    hac_json_close(&out, ']');
    hac_json_close(&out, '}');
    return hac_text_finish(&out, ret, NULL, err);
}
