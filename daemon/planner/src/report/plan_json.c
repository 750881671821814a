/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as JSON: what `hacctl explain --json` prints. */
#include <string.h>

#include "base/type.h"
#include "plan/format.h"
#include "planner/plan_output.h"

/* hacd has one thread: a description of all tasks of the largest plans would hold everybody up. */
enum { TASKS_MAX = 4096 };

static void write_number_or_null(hac_text *out, const char *key, bool applies, double value)
{
    if (applies)
        hac_json_number(out, key, value);
    else
        hac_json_null(out, key);
}

static void write_runs(hac_text *out, const char *key, uint32_t (*const runs)[2], size_t n)
{
    hac_json_open(out, key, '[');
    for (size_t i = 0; i < n; i++) {
        hac_json_open(out, NULL, '[');
        hac_json_unsigned(out, NULL, runs[i][0]);
        hac_json_unsigned(out, NULL, runs[i][1]);
        hac_json_close(out, ']');
    }
    hac_json_close(out, ']');
}

static void write_devices(hac_text *out, const hac_plan *plan)
{
    hac_json_open(out, "devices", '[');
    for (size_t d = 0; d < plan->n_devices; d++)
        hac_json_string(out, NULL, plan->devices[d].name);
    hac_json_close(out, ']');
    hac_json_open(out, "shares", '[');
    for (size_t d = 0; d < plan->n_devices; d++)
        hac_json_number(out, NULL, plan->devices[d].share);
    hac_json_close(out, ']');
    hac_json_open(out, "explored", '['); /* devices that get a short piece, to measure them */
    for (size_t d = 0; d < plan->n_devices; d++)
        if (plan->devices[d].explored)
            hac_json_string(out, NULL, plan->devices[d].name);
    hac_json_close(out, ']');
    hac_json_open(out, "uncertainty", '['); /* a factor; null: the device was measured */
    for (size_t d = 0; d < plan->n_devices; d++)
        write_number_or_null(out, NULL, plan->devices[d].uncertainty > 0, plan->devices[d].uncertainty);
    hac_json_close(out, ']');
    hac_json_open(out, "capabilities", '[');
    for (size_t d = 0; d < plan->n_devices; d++)
        hac_json_number(out, NULL, plan->devices[d].capability);
    hac_json_close(out, ']');
}

static void write_memory(hac_text *out, const hac_plan *plan)
{
    double ratio = hac_sort_memory_ratio(plan);
    hac_json_open(out, "memory", '{');
    hac_json_unsigned(out, "bytes", hac_plan_memory(plan));
    write_number_or_null(out, "of_input", ratio > 0, ratio);
    hac_json_open(out, "buffers", '[');
    for (size_t i = 0; i < plan->n_buffers; i++) {
        hac_json_open(out, NULL, '{');
        hac_json_string(out, "name", plan->buffers[i].name);
        hac_json_string(out, "role", hac_format_role(plan->buffers[i].role));
        hac_json_unsigned(out, "bytes", plan->buffers[i].bytes);
        hac_json_close(out, '}');
    }
    hac_json_close(out, ']');
    hac_json_close(out, '}');
}

/* Of a sort of rows: nothing of a sort of an array applies. */
static void write_no_sort(hac_text *out)
{
    static const char *const keys[] = {"algorithm",   "scheme",       "n",    "N", "weaker_items",
                                       "corun_steps", "folded_steps", "parts"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        hac_json_null(out, keys[i]);
}

static void write_sort(hac_text *out, const hac_plan *plan)
{
    const hac_sort_info *sort = &plan->sort;
    bool bitonic = strcmp(sort->algorithm, "bitonic") == 0;
    hac_json_string(out, "type", hac_type_name(sort->type));
    hac_json_unsigned(out, "items", sort->items);
    hac_json_bool(out, "descending", sort->descending);
    hac_json_bool(out, "argsort", sort->argsort);
    hac_json_string(out, "algorithm", sort->algorithm);
    hac_json_string(out, "scheme", sort->scheme[0] != '\0' ? sort->scheme : NULL);
    write_number_or_null(out, "n", bitonic, sort->n);
    write_number_or_null(out, "N", bitonic && sort->N > 0, sort->N);
    write_number_or_null(out, "weaker_items", bitonic, (double)sort->weaker_items);
    if (!bitonic) {
        hac_json_null(out, "corun_steps");
        hac_json_null(out, "folded_steps");
        hac_json_null(out, "parts");
        return;
    }
    write_runs(out, "corun_steps", sort->corun, sort->n_corun);
    hac_json_open(out, "folded_steps", '[');
    for (size_t i = 0; i < sort->n_folded; i++)
        hac_json_unsigned(out, NULL, sort->folded[i]);
    hac_json_close(out, ']');
    hac_json_open(out, "parts", '[');
    for (size_t p = 0; p < sort->n_parts; p++) {
        const hac_sort_part *part = &sort->parts[p];
        hac_json_open(out, NULL, '{');
        hac_json_string(out, "device", plan->devices[part->device].name);
        hac_json_unsigned(out, "first", part->first);
        hac_json_unsigned(out, "items", part->items);
        hac_json_number(out, "k", part->k);
        hac_json_integer(out, "N", part->N);
        write_runs(out, "corun_steps", part->corun, part->n_corun);
        hac_json_close(out, '}');
    }
    hac_json_close(out, ']');
}

static void write_query(hac_text *out, const hac_plan *plan)
{
    const hac_query_info *query = &plan->query;
    bool chunked = query->chunks > 0;
    hac_json_string(out, "engine",
                    query->engine != HAC_PLAN_ENGINE_NONE ? hac_plan_engine_name(query->engine) : NULL);
    hac_json_string(out, "input_format", query->format);
    hac_json_unsigned(out, "bytes", query->bytes);
    write_number_or_null(out, "splits", query->splits > 0, (double)query->splits);
    write_number_or_null(out, "rounds", query->rounds > 0, (double)query->rounds);
    write_number_or_null(out, "rows", query->rows > 0, (double)query->rows);
    hac_json_unsigned(out, "sources", query->sources);
    hac_json_unsigned(out, "files_left_out", query->files_left_out);
    write_number_or_null(out, "chunk", chunked, (double)query->chunk);
    write_number_or_null(out, "chunks", chunked, (double)query->chunks);
    write_number_or_null(out, "region_bytes", query->region > 0, (double)query->region);
    hac_json_unsigned(out, "partitions", query->partitions);
    hac_json_unsigned(out, "passes", query->passes);
    hac_json_bool(out, "first_rows_only", query->first_rows);
    hac_json_bool(out, "hot_keys", query->hot_keys);
    hac_json_string(out, "remark", query->remark[0] != '\0' ? query->remark : NULL);
    write_number_or_null(out, "sample_per_mille", query->hot_keys, query->sample);
    write_number_or_null(out, "hot_share_per_mille", query->hot_keys, query->hot_share);
}

static void write_task(hac_text *out, const hac_plan *plan, size_t index)
{
    const hac_plan_task *task = &plan->tasks[index];
    hac_json_open(out, NULL, '{');
    hac_json_unsigned(out, "id", index);
    hac_json_string(out, "codelet", task->codelet);
    hac_json_string(out, "stage", task->stage);
    hac_json_open(out, "devices", '[');
    for (size_t d = 0; d < plan->n_devices; d++)
        if (task->device_mask >> d & 1)
            hac_json_string(out, NULL, plan->devices[d].name);
    hac_json_close(out, ']');
    hac_json_bool(out, "range", task->range);
    hac_json_unsigned(out, "first", task->first);
    hac_json_unsigned(out, "count", task->count);
    if (task->step_first > 0 && task->step_last >= task->step_first) {
        hac_json_open(out, "steps", '[');
        hac_json_unsigned(out, NULL, task->step_first);
        hac_json_unsigned(out, NULL, task->step_last);
        hac_json_close(out, ']');
        hac_json_bool(out, "side_by_side", task->side_by_side);
    }
    if (task->item_count > 0) {
        hac_json_unsigned(out, "item_first", task->item_first);
        hac_json_unsigned(out, "item_count", task->item_count);
    }
    hac_json_open(out, "after", '[');
    for (uint32_t e = 0; e < task->n_edges; e++)
        hac_json_unsigned(out, NULL, plan->edges[task->first_edge + e]);
    hac_json_close(out, ']');
    hac_json_number(out, "predicted_start", task->predicted_start);
    hac_json_number(out, "predicted_seconds", task->predicted_seconds);
    hac_json_close(out, '}');
}

static void write_tasks(hac_text *out, const hac_plan *plan)
{
    size_t n = plan->n_tasks < TASKS_MAX ? plan->n_tasks : TASKS_MAX;
    hac_json_open(out, "tasks", '[');
    for (size_t t = 0; t < n; t++)
        write_task(out, plan, t);
    hac_json_close(out, ']');
    if (n < plan->n_tasks)
        hac_json_unsigned(out, "tasks_omitted", plan->n_tasks - n);
}

static void write_candidates(hac_text *out, const hac_plan *plan)
{
    hac_json_open(out, "candidates", '[');
    for (size_t i = 0; i < plan->n_candidates; i++) {
        const hac_plan_candidate *c = &plan->candidates[i];
        char reason[HAC_CANDIDATE_REASON_MAX];
        hac_json_open(out, NULL, '{');
        hac_json_string(out, "name", c->name);
        write_number_or_null(out, "predicted_seconds", c->seconds >= 0, c->seconds);
        hac_json_bool(out, "chosen", c->chosen);
        hac_json_string(out, "reason", hac_candidate_reason(c, reason, sizeof reason));
        hac_json_close(out, '}');
    }
    hac_json_close(out, ']');
}

hac_status hac_plan_to_json(const hac_plan *plan, char **ret, hac_error *err)
{
    hac_text out = HAC_TEXT_NONE;
    hac_json_open(&out, NULL, '{');
    hac_json_string(&out, "flow", hac_plan_name(plan));
    write_number_or_null(&out, "k", plan->k > 0, plan->k);
    hac_json_string(&out, "k_source", plan->k_source);
    hac_json_number(&out, "predicted_seconds", plan->predicted_seconds);
    hac_json_number(&out, "start_seconds", plan->start_seconds);
    write_devices(&out, plan);
    write_memory(&out, plan);
    if (plan->query.sorts_rows)
        write_no_sort(&out);
    if (plan->flow == HAC_FLOW_SORT)
        write_sort(&out, plan);
    else if (hac_plan_is_query(plan))
        write_query(&out, plan);
    write_tasks(&out, plan);
    write_candidates(&out, plan);
    hac_json_close(&out, '}');
    return hac_text_finish(&out, ret, NULL, err);
}
