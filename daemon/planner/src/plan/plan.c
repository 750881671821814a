/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

const char *hac_flow_name(hac_flow flow)
{
#define NAME(name, text) [HAC_FLOW_##name] = (text),
    static const char *const names[HAC_N_FLOWS] = {HAC_FLOWS(NAME)};
#undef NAME
    return names[flow];
}

const char *hac_plan_engine_name(hac_plan_engine engine)
{
    static const char *const names[HAC_N_PLAN_ENGINES] = {
        [HAC_PLAN_ENGINE_NONE] = "",         [HAC_PLAN_ENGINE_WHOLE] = "whole",
        [HAC_PLAN_ENGINE_ROWS] = "rows",     [HAC_PLAN_ENGINE_HOST] = "host",
        [HAC_PLAN_ENGINE_DEVICE] = "device", [HAC_PLAN_ENGINE_MIXED] = "mixed"};
    return names[engine];
}

void hac_plan_free(hac_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t i = 0; i < plan->n_strings; i++)
        free(plan->strings[i]);
    free(plan->strings);
    for (size_t i = 0; i < plan->sort.n_parts; i++)
        free(plan->sort.parts[i].corun);
    free(plan->sort.parts);
    free(plan->sort.corun);
    free(plan->sort.folded);
    free(plan->candidates);
    free(plan->edges);
    free(plan->tasks);
    free(plan);
}

uint64_t hac_plan_memory(const hac_plan *plan)
{
    uint64_t all = 0;
    for (size_t i = 0; i < plan->n_buffers; i++)
        if (__builtin_add_overflow(all, plan->buffers[i].bytes, &all))
            return UINT64_MAX;
    return all;
}

bool hac_task_narrower_model(const hac_plan_task *task, bool kernels, size_t which,
                             char ret[HAC_MODEL_NAME_MAX])
{
    const char *suffix = task->narrower[which];
    return suffix != NULL && snprintf(ret, HAC_MODEL_NAME_MAX, "%s%s", hac_task_model(task, kernels),
                                      suffix) < HAC_MODEL_NAME_MAX;
}

const char *hac_plan_name(const hac_plan *plan)
{
    return hac_flow_name(plan->query.sorts_rows ? HAC_FLOW_SORT : plan->flow);
}

bool hac_plan_is_query(const hac_plan *plan)
{
    return plan->flow == HAC_FLOW_MAPREDUCE || plan->flow == HAC_FLOW_SPLICE ||
           plan->flow == HAC_FLOW_PARQUET;
}

bool hac_plan_is_one_task(const hac_plan *plan)
{
    if (plan->n_devices < 2 || plan->n_tasks != 1)
        return false;
    const hac_plan_task *task = &plan->tasks[0];
    return task->device < 0 && (!task->range || task->count <= 1);
}

void hac_plan_name_devices(const hac_plan *plan, char *ret, size_t bytes)
{
    bool one = hac_plan_is_one_task(plan);
    size_t used = 0;
    *ret = '\0';
    for (size_t i = 0; i < plan->n_devices && used < bytes; i++) {
        const char *between = i == 0 ? "" : one ? " or " : ", ";
        used += (size_t)snprintf(ret + used, bytes - used, "%s%s", between, plan->devices[i].name);
        if (!one && used < bytes)
            used += (size_t)snprintf(ret + used, bytes - used, " (%.0f %%)", 100 * plan->devices[i].share);
    }
}

hac_status hac_plan_new(hac_flow flow, hac_plan **ret, hac_error *err)
{
    hac_plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL)
        return hac_fail_no_memory(err);
    plan->flow = flow;
    plan->k_source = "probe";
    plan->result_buffer = -1;
    *ret = plan;
    return HAC_OK;
}

/* Makes room for `extra` more elements behind `used`; growth is by doubling, at powers of two, so that the
 * capacity follows from `used` and need not be kept. */
static hac_status reserve(void *array, size_t used, size_t extra, size_t element, hac_error *err)
{
    void **at = array;
    size_t have = 0;
    if (used > 0)
        for (have = 16; have < used;)
            have *= 2;
    size_t need;
    if (__builtin_add_overflow(used, extra, &need) || need > SIZE_MAX / 4 / element)
        return hac_fail_no_memory(err);
    if (need <= have)
        return HAC_OK;
    size_t want = 16;
    while (want < need)
        want *= 2;
    void *grown = realloc(*at, want * element);
    if (grown == NULL)
        return hac_fail_no_memory(err);
    *at = grown;
    return HAC_OK;
}

int hac_plan_find_buffer(const hac_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_buffers; i++)
        if (strcmp(plan->buffers[i].name, name) == 0)
            return (int)i;
    return -1;
}

hac_status hac_plan_add_buffer(hac_plan *plan, const char *name, hac_buffer_role role, uint64_t bytes,
                               uint8_t *ret_index, hac_error *err)
{
    if (plan->n_buffers >= HAC_PLAN_MAX_BUFFERS)
        return hac_fail(err, HAC_INTERNAL, "plan needs more than %d buffers", HAC_PLAN_MAX_BUFFERS);
    hac_plan_buffer *buffer = &plan->buffers[plan->n_buffers];
    memset(buffer, 0, sizeof(*buffer));
    strncpy(buffer->name, name, sizeof(buffer->name) - 1);
    buffer->role = role;
    buffer->bytes = bytes;
    *ret_index = (uint8_t)plan->n_buffers++;
    return HAC_OK;
}

hac_status hac_plan_add_task(hac_plan *plan, const hac_plan_task *task, const uint32_t *deps, size_t n_deps,
                             uint32_t *ret_index, hac_error *err)
{
    if (plan->n_tasks >= HAC_PLAN_MAX_TASKS)
        return hac_fail(err, HAC_INTERNAL, "plan needs more than %d tasks", HAC_PLAN_MAX_TASKS);
    if (plan->n_edges + n_deps > UINT32_MAX / 2)
        return hac_fail(err, HAC_INTERNAL, "plan needs too many dependencies");
    hac_status status = reserve(&plan->tasks, plan->n_tasks, 1, sizeof(*plan->tasks), err);
    if (status != HAC_OK)
        return status;
    status = reserve(&plan->edges, plan->n_edges, n_deps, sizeof(*plan->edges), err);
    if (status != HAC_OK)
        return status;
    hac_plan_task *added = &plan->tasks[plan->n_tasks];
    *added = *task;
    added->first_edge = (uint32_t)plan->n_edges;
    added->n_edges = (uint32_t)n_deps;
    if (n_deps > 0)
        memcpy(&plan->edges[plan->n_edges], deps, n_deps * sizeof(*deps));
    plan->n_edges += n_deps;
    if (ret_index != NULL)
        *ret_index = (uint32_t)plan->n_tasks;
    plan->n_tasks++;
    return HAC_OK;
}

hac_status hac_plan_add_string(hac_plan *plan, const char *text, const char **ret, hac_error *err)
{
    for (size_t i = 0; i < plan->n_strings; i++) {
        if (strcmp(plan->strings[i], text) == 0) {
            *ret = plan->strings[i];
            return HAC_OK;
        }
    }
    hac_status status = reserve(&plan->strings, plan->n_strings, 1, sizeof(*plan->strings), err);
    if (status != HAC_OK)
        return status;
    char *copy = strdup(text);
    if (copy == NULL)
        return hac_fail_no_memory(err);
    plan->strings[plan->n_strings++] = copy;
    *ret = copy;
    return HAC_OK;
}

const char *hac_candidate_reason(const hac_plan_candidate *candidate, char *text, size_t capacity)
{
    bool impossible = candidate->seconds < 0 && candidate->cause != HAC_CAUSE_PRICE;
    snprintf(text, capacity, "%s%s", impossible ? "not possible: " : "", candidate->reason);
    return text;
}

hac_status hac_plan_add_candidate(hac_plan *plan, const hac_plan_candidate *candidate, hac_error *err)
{
    hac_status status = reserve(&plan->candidates, plan->n_candidates, 1, sizeof(*plan->candidates), err);
    if (status == HAC_OK)
        plan->candidates[plan->n_candidates++] = *candidate;
    return status;
}
