/* SPDX-License-Identifier: Apache-2.0 */
/* A plan in words, for a reader who has not seen one before. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/type.h"
#include "plan/format.h"
#include "planner/plan_output.h"

#define SHOWN_TASKS 40
#define SHOWN_RUNS  12

/* The text and blanks up to `columns`; negative: blanks first. Counts characters, not bytes ("µ" is two). */
static void write_padded(hac_text *out, const char *text, int columns)
{
    int blanks = columns < 0 ? -columns : columns;
    for (const char *c = text; *c != '\0'; c++)
        blanks -= (*c & 0xc0) != 0x80;
    if (columns < 0 && blanks > 0)
        hac_text_addf(out, "%*s", blanks, "");
    hac_text_add(out, text);
    if (columns > 0 && blanks > 0)
        hac_text_addf(out, "%*s", blanks, "");
}

/* "mapreduce of 3 files, 5.2 MB of csv: host codelets; 6 chunks, 16 partitions" */
static void write_query_head(hac_text *out, const hac_plan *plan)
{
    static const char *const engines[HAC_N_PLAN_ENGINES] = {
        [HAC_PLAN_ENGINE_WHOLE] = "all in one task",
        [HAC_PLAN_ENGINE_ROWS] = "rows, no aggregation",
        [HAC_PLAN_ENGINE_HOST] = "host codelets",
        [HAC_PLAN_ENGINE_DEVICE] = "device hash aggregation",
        [HAC_PLAN_ENGINE_MIXED] = "host codelets on CPUs, device hash aggregation on the others"};
    const hac_query_info *query = &plan->query;
    char count[32];
    hac_text_addf(out, "%s of %s", hac_plan_name(plan),
                  hac_format_bytes((double)query->bytes, count, sizeof(count)));
    if (query->format != NULL && strcmp(query->format, hac_plan_name(plan)) != 0)
        hac_text_addf(out, " of %s", query->format);
    if (query->files_left_out > 0)
        hac_text_addf(out, " in %" PRIu64 " of %" PRIu64 " files", query->sources,
                      query->sources + query->files_left_out);
    else if (query->sources > 1)
        hac_text_addf(out, " in %" PRIu64 " files", query->sources);
    if (query->splits > 0)
        hac_text_addf(out, " in %" PRIu64 " split%s", query->splits, query->splits == 1 ? "" : "s");
    if (engines[query->engine] != NULL)
        hac_text_addf(out, ": %s", engines[query->engine]);
    if (query->first_rows)
        hac_text_addf(out, ", the first of each chunk only");
    if (query->region > 0)
        hac_text_addf(out, "; %" PRIu64 " chunks, %" PRIu32 " partition%s", query->chunks, query->partitions,
                      query->partitions == 1 ? "" : "s");
    if (query->passes > 1)
        hac_text_addf(out, ", %" PRIu32 " passes over key ranges", query->passes);
    if (query->hot_keys)
        hac_text_addf(out, ", hot keys (sample %g %%, share %g %%)", query->sample / 10.0,
                      query->hot_share / 10.0);
    hac_text_addf(out, "\n%s%s", query->remark, query->remark[0] != '\0' ? "\n" : "");
}

static void write_head(hac_text *out, const hac_plan *plan)
{
    const hac_sort_info *sort = &plan->sort;
    char time[32];
    if (plan->flow == HAC_FLOW_SORT) {
        hac_text_addf(out, "%s of %" PRIu64 " %s%s", sort->argsort ? "argsort" : "sort", sort->items,
                      hac_type_name(sort->type), sort->descending ? ", descending" : "");
        hac_text_addf(out, ": %s%s%s\n", sort->algorithm, sort->scheme[0] != '\0' ? ", scheme " : "",
                      sort->scheme);
    } else if (hac_plan_is_query(plan)) {
        write_query_head(out, plan);
    } else if (plan->flow == HAC_FLOW_OPSPLIT) {
        hac_text_addf(out, "opsplit: a graph of %zu sub-operators\n", plan->n_tasks);
    } else {
        hac_text_addf(out, "%s\n", hac_flow_name(plan->flow));
    }
    hac_text_addf(out, "predicted %s with %zu task%s",
                  hac_format_seconds(plan->predicted_seconds, time, sizeof(time)), plan->n_tasks,
                  plan->n_tasks == 1 ? "" : "s");
    if (plan->query.splits > 0)
        hac_text_add(out, " a split");
    if (plan->start_seconds > 0)
        hac_text_addf(out, ", %s of it to start",
                      hac_format_seconds(plan->start_seconds, time, sizeof(time)));
    if (plan->query.rounds > 0)
        hac_text_addf(out, " in the last of %" PRIu64 " rounds; a trace shows all", plan->query.rounds);
    if (plan->k > 0)
        hac_text_addf(out, "; k = %.4g (the second device's capability by the first's; from the %s)", plan->k,
                      plan->k_source);
    hac_text_add(out, "\n\n");
}

/* Every buffer, and what it is there for: work memory is what the job needs beside input and result. */
static void write_memory(hac_text *out, const hac_plan *plan)
{
    char count[32];
    double ratio = hac_sort_memory_ratio(plan);
    if (plan->n_buffers == 0)
        return;
    hac_text_add(out, "memory\n");
    for (size_t i = 0; i < plan->n_buffers; i++) {
        const hac_plan_buffer *buffer = &plan->buffers[i];
        hac_text_addf(out, "  %-12s %9s  %s%s\n", buffer->name,
                      hac_format_bytes((double)buffer->bytes, count, sizeof(count)),
                      hac_format_role(buffer->role), buffer->late ? ", a guess until its size is known" : "");
    }
    hac_text_addf(out, "  in all       %9s",
                  hac_format_bytes((double)hac_plan_memory(plan), count, sizeof(count)));
    if (ratio > 0)
        hac_text_addf(out, "  %.2f times the input", ratio);
    hac_text_add(out, "\n\n");
}

static const hac_sort_part *part_of(const hac_plan *plan, size_t device)
{
    for (size_t p = 0; p < plan->sort.n_parts; p++)
        if (plan->sort.parts[p].device == device)
            return &plan->sort.parts[p];
    return NULL;
}

/* How sure the device's predicted time is, if the device was not measured at this. */
static void write_uncertainty(hac_text *out, const hac_plan_device *device)
{
    if (!(device->uncertainty > 0))
        return;
    hac_text_addf(out, "; not measured at this: a guess, likely within a factor of %.1f, by its kind",
                  device->uncertainty);
    if (device->experience > 0)
        hac_text_addf(out, " and %u other measurement%s there", device->experience,
                      device->experience == 1 ? "" : "s");
}

static void write_devices(hac_text *out, const hac_plan *plan)
{
    const char *unit = hac_plan_is_query(plan) ? "bytes" : "items";
    const char *rate = hac_plan_is_query(plan) ? "B" : "items";
    hac_text_add(out, "devices\n");
    for (size_t d = 0; d < plan->n_devices; d++) {
        const hac_plan_device *device = &plan->devices[d];
        const hac_sort_part *part = part_of(plan, d);
        char count[32];
        hac_text_addf(out, "  %-12s %8s%s/s", device->name,
                      hac_format_count(device->capability, count, sizeof(count)), rate);
        if (hac_plan_is_one_task(plan))
            hac_text_add(out, "  may take the task");
        else if (device->explored)
            hac_text_add(out, "  a short piece, to measure it");
        else
            hac_text_addf(out, "  %5.1f %% of the %s", 100 * device->share, unit);
        if (part != NULL && part->items > 0)
            hac_text_addf(out, ": %" PRIu64 " from item %" PRIu64, part->items, part->first);
        write_uncertainty(out, device);
        hac_text_add(out, "\n");
    }
    hac_text_add(out, "\n");
}

static void write_runs(hac_text *out, uint32_t (*const runs)[2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i == SHOWN_RUNS && n > SHOWN_RUNS + 1) {
            hac_text_addf(out, " … and %zu more, up to %" PRIu32, n - i, runs[n - 1][1]);
            return;
        }
        hac_text_addf(out, "%s%" PRIu32, i > 0 ? ", " : "", runs[i][0]);
        if (runs[i][1] > runs[i][0])
            hac_text_addf(out, "–%" PRIu32, runs[i][1]);
    }
}

/* The list of steps as runs, so that hundreds of folded steps stay readable. */
static void write_steps(hac_text *out, const uint32_t *steps, size_t n)
{
    uint32_t runs[SHOWN_RUNS + 2][2];
    size_t n_runs = 0, i = 0;
    while (i < n && n_runs < SHOWN_RUNS + 1) {
        runs[n_runs][0] = steps[i];
        while (i + 1 < n && steps[i + 1] == steps[i] + 1)
            i++;
        runs[n_runs++][1] = steps[i++];
    }
    write_runs(out, runs, n_runs);
    if (i < n)
        hac_text_addf(out, " … up to %" PRIu32, steps[n - 1]);
}

static void write_network(hac_text *out, const hac_plan *plan)
{
    const hac_sort_info *sort = &plan->sort;
    uint32_t steps = (uint32_t)(sort->n * (sort->n + 1) / 2);
    const char *strong = sort->n_parts > 0 ? plan->devices[sort->parts[sort->n_parts - 1].device].name : "?";
    hac_text_addf(out, "network\n  n = %d: %" PRIu32 " steps in %d merge subsets", sort->n, steps, sort->n);
    if (sort->N > 0)
        hac_text_addf(out, "; N = %d", sort->N);
    hac_text_addf(out, "; %" PRIu64 " items on weaker devices\n", sort->weaker_items);
    if (sort->n_corun == 0) {
        hac_text_addf(out, "  all steps on %s\n\n", strong);
        return;
    }
    hac_text_add(out, "  side by side  steps ");
    write_runs(out, sort->corun, sort->n_corun);
    hac_text_addf(out, "\n  the others    on %s, with all the data there\n", strong);
    if (sort->n_folded > 0) {
        hac_text_addf(out, "  folded        steps ");
        write_steps(out, sort->folded, sort->n_folded);
        hac_text_addf(
            out, ": given to %s as well, because moving the data does not pay or it was asked for\n", strong);
    }
    hac_text_add(out, "\n");
}

static void write_task(hac_text *out, const hac_plan *plan, const hac_plan_task *task)
{
    char start[32], seconds[32], label[96];
    write_padded(out, hac_format_seconds(task->predicted_start, start, sizeof(start)), -11);
    write_padded(out, hac_format_seconds(task->predicted_seconds, seconds, sizeof(seconds)), -11);
    hac_text_add(out, "  ");
    write_padded(out, hac_task_label(task, label, sizeof(label)), 20);
    const char *between = task->range ? " + " : " or ";
    bool first = true;
    for (size_t d = 0; d < plan->n_devices; d++) {
        if (!(task->device_mask >> d & 1))
            continue;
        hac_text_addf(out, "%s%s", first ? "" : between, plan->devices[d].name);
        first = false;
    }
    if (task->step_first > 0)
        hac_text_addf(out, ", items %" PRIu64 "–%" PRIu64, task->item_first,
                      task->item_first + (task->item_count > 0 ? task->item_count - 1 : 0));
    hac_text_add(out, "\n");
}

static void write_tasks(hac_text *out, const hac_plan *plan)
{
    hac_text_add(out, "tasks\n      start      takes  what                where\n");
    for (size_t t = 0; t < plan->n_tasks; t++) {
        if (t == SHOWN_TASKS - 5 && plan->n_tasks > SHOWN_TASKS) {
            size_t left = plan->n_tasks - t - 5;
            hac_text_addf(out, "  … %zu more …\n", left);
            t += left;
        }
        write_task(out, plan, &plan->tasks[t]);
    }
    hac_text_add(out, "\n");
}

static void write_candidates(hac_text *out, const hac_plan *plan)
{
    if (plan->n_candidates == 0)
        return;
    hac_text_add(out, plan->flow == HAC_FLOW_OPSPLIT ? "placements\n" : "candidates that were priced\n");
    for (size_t i = 0; i < plan->n_candidates; i++) {
        const hac_plan_candidate *c = &plan->candidates[i];
        char time[32], reason[HAC_CANDIDATE_REASON_MAX];
        hac_text_add(out, c->chosen ? "  * " : "    ");
        write_padded(out, c->name, 44);
        write_padded(out, c->seconds >= 0 ? hac_format_seconds(c->seconds, time, sizeof(time)) : "–", -11);
        hac_text_addf(out, "  %s\n", hac_candidate_reason(c, reason, sizeof reason));
    }
}

hac_status hac_plan_to_text(const hac_plan *plan, char **ret, hac_error *err)
{
    hac_text out = HAC_TEXT_NONE;
    write_head(&out, plan);
    write_devices(&out, plan);
    write_memory(&out, plan);
    if (strcmp(plan->sort.algorithm, "bitonic") == 0)
        write_network(&out, plan);
    write_tasks(&out, plan);
    write_candidates(&out, plan);
    return hac_text_finish(&out, ret, NULL, err);
}
