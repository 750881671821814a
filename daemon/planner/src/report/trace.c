/* SPDX-License-Identifier: Apache-2.0 */
/* A run beside its prediction, in the trace format that Chrome and Perfetto read: times in microseconds. */
#include <stdio.h>
#include <string.h>

#include "plan/format.h"
#include "planner/plan_history.h"
#include "planner/plan_output.h"

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

/* What is drawn of a piece, of an earlier plan or of the current one. */
typedef struct drawn {
    const char *label, *codelet;
    size_t device; /* of the trace */
    double start;  /* of its plan, in seconds from the job's start */
    const hac_run_record *record;
} drawn;

static void open_event(hac_text *out, const char *label, const char *codelet, size_t device, int lane,
                       double start, double seconds)
{
    hac_json_open(out, NULL, '{');
    hac_json_string(out, "ph", "X");
    hac_json_string(out, "name", label);
    hac_json_string(out, "cat", lane == LANE_MEASURED ? "measured" : "predicted");
    hac_json_unsigned(out, "pid", device + 1);
    hac_json_integer(out, "tid", lane);
    hac_json_number(out, "ts", start * 1e6);
    hac_json_number(out, "dur", seconds * 1e6);
    hac_json_open(out, "args", '{');
    hac_json_string(out, "codelet", codelet);
}

static void close_event(hac_text *out)
{
    hac_json_close(out, '}');
    hac_json_close(out, '}');
}

static void write_predicted(hac_text *out, const hac_plan *plan, double start, size_t index)
{
    const hac_plan_task *task = &plan->tasks[index];
    char label[96];
    (void)hac_task_label(task, label, sizeof(label));
    for (size_t d = 0; d < plan->n_devices; d++) {
        if (!(task->device_mask >> d & 1))
            continue;
        open_event(out, label, task->codelet, d, LANE_PREDICTED, start + task->predicted_start,
                   task->predicted_seconds);
        hac_json_unsigned(out, "task", index);
        close_event(out);
        if (!task->range) /* whichever device is free runs it; it is drawn once */
            break;
    }
}

static void write_measured(hac_text *out, const drawn *piece)
{
    const hac_run_record *record = piece->record;
    char name[128];
    snprintf(name, sizeof(name), "%s%s", piece->label, record->lost ? " (lost)" : "");
    open_event(out, name, piece->codelet, piece->device, LANE_MEASURED, piece->start + record->start,
               record->seconds);
    hac_json_unsigned(out, "task", record->task);
    hac_json_unsigned(out, "first", record->first);
    hac_json_unsigned(out, "count", record->count);
    hac_json_unsigned(out, "attempt", record->attempt);
    hac_json_bool(out, "lost", record->lost);
    hac_json_string(out, "engine", record->lost ? NULL : record->by_kernels ? "kernels" : "host C");
    hac_json_number(out, "predicted_ms", record->predicted_seconds * 1e3);
    close_event(out);
}

/* Each stage has a lane of its own: stages overlap. What an executor says of them is kept within its task. */
static void write_stages(hac_text *out, const drawn *piece)
{
    const hac_run_record *record = piece->record;
    for (int i = 0; i < HAC_RECORD_STAGES; i++) {
        const hac_run_stage *stage = &record->stages[i];
        double end = stage->end < record->seconds ? stage->end : record->seconds;
        if (stage->name == NULL || !(end > stage->start))
            continue;
        hac_json_open(out, NULL, '{');
        hac_json_string(out, "ph", "X");
        hac_json_string(out, "name", stage->name);
        hac_json_string(out, "cat", "stage");
        hac_json_unsigned(out, "pid", piece->device + 1);
        hac_json_integer(out, "tid", LANE_STAGES + i);
        hac_json_number(out, "ts", (piece->start + record->start + stage->start) * 1e6);
        hac_json_number(out, "dur", (end - stage->start) * 1e6);
        hac_json_open(out, "args", '{');
        hac_json_unsigned(out, "task", record->task);
        hac_json_number(out, "busy_ms", stage->busy * 1e3);
        close_event(out);
    }
}

/* The devices of the current plan come first: a device's number is its place there. */
typedef struct device_list {
    const char *names[2 * HAC_DEVICES_MAX];
    const char *stages[2 * HAC_DEVICES_MAX][HAC_RECORD_STAGES]; /* those that it had; NULL: not that one */
    size_t n;
    size_t of_past[HAC_DEVICES_MAX]; /* by index of hac_plan_history.devices */
} device_list;

static void note_stages(device_list *list, size_t device, const hac_run_record *record)
{
    for (int i = 0; i < HAC_RECORD_STAGES; i++)
        if (record->stages[i].end > record->stages[i].start)
            list->stages[device][i] = record->stages[i].name;
}

static void list_devices(device_list *list, const hac_plan_history *history, const hac_plan *plan)
{
    for (size_t d = 0; d < plan->n_devices; d++)
        list->names[list->n++] = plan->devices[d].name;
    for (size_t d = 0; d < history->n_devices; d++) {
        size_t at = 0;
        while (at < list->n && strcmp(list->names[at], history->devices[d]) != 0)
            at++;
        if (at == list->n)
            list->names[list->n++] = history->devices[d];
        list->of_past[d] = at;
    }
}

static void write_devices(hac_text *out, const device_list *list)
{
    for (size_t d = 0; d < list->n; d++) {
        write_name(out, "process_name", d, 0, list->names[d]);
        write_name(out, "thread_name", d, LANE_MEASURED, "measured");
        write_name(out, "thread_name", d, LANE_PREDICTED, "predicted");
        for (int i = 0; i < HAC_RECORD_STAGES; i++)
            if (list->stages[d][i] != NULL)
                write_name(out, "thread_name", d, LANE_STAGES + i, list->stages[d][i]);
    }
}

static bool is_known(const hac_plan *plan, const hac_run_record *record)
{
    return record->task < plan->n_tasks && record->device < plan->n_devices;
}

static void write_past(hac_text *out, const hac_plan_history *history, const device_list *list)
{
    for (size_t i = 0; i < history->n_pieces; i++) {
        const hac_measured_piece *p = &history->pieces[i];
        drawn piece = {p->label, p->codelet, list->of_past[p->device], 0, &p->record};
        if (p->leads) {
            open_event(out, p->label, p->codelet, piece.device, LANE_PREDICTED, p->predicted_start,
                       p->predicted_seconds);
            hac_json_unsigned(out, "task", p->record.task);
            close_event(out);
        }
        write_measured(out, &piece);
        write_stages(out, &piece);
    }
}

hac_status hac_trace_to_json(const hac_plan_history *history, const hac_plan *plan, double start,
                             const hac_run_record *records, size_t n_records, const char *job_name,
                             char **ret, hac_error *err)
{
    static const hac_plan_history none;
    hac_text out = HAC_TEXT_NONE;
    device_list list = {.n = 0};
    history = history != NULL ? history : &none;
    list_devices(&list, history, plan);
    for (size_t i = 0; i < history->n_pieces; i++)
        note_stages(&list, list.of_past[history->pieces[i].device], &history->pieces[i].record);
    for (size_t i = 0; i < n_records; i++)
        if (is_known(plan, &records[i]))
            note_stages(&list, records[i].device, &records[i]);
    hac_json_open(&out, NULL, '{');
    hac_json_string(&out, "displayTimeUnit", "ms");
    hac_json_open(&out, "otherData", '{');
    hac_json_string(&out, "job", job_name);
    hac_json_string(&out, "flow", hac_flow_name(plan->flow));
    hac_json_number(&out, "predicted_seconds", plan->predicted_seconds);
    hac_json_unsigned(&out, "pieces_left_out", history->left_out);
    hac_json_close(&out, '}');
    hac_json_open(&out, "traceEvents", '[');
    write_devices(&out, &list);
    write_past(&out, history, &list);
    /* a plan without records has not run yet, or is history already */
    bool drawn_already = n_records == 0 && history->n_pieces > 0;
    for (size_t t = 0; t < plan->n_tasks && !drawn_already; t++)
        write_predicted(&out, plan, start, t);
    for (size_t i = 0; i < n_records; i++) {
        char label[96];
        if (!is_known(plan, &records[i]))
            continue;
        const hac_plan_task *task = &plan->tasks[records[i].task];
        drawn piece = {hac_task_label(task, label, sizeof(label)), task->codelet, records[i].device, start,
                       &records[i]};
        write_measured(&out, &piece);
        write_stages(&out, &piece);
    }
    hac_json_close(&out, ']');
    hac_json_close(&out, '}');
    return hac_text_finish(&out, ret, NULL, err);
}
