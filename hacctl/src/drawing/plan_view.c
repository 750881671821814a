/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/json_fields.h"

enum { NETWORK_ITEMS_MAX = 64 };

/* A number within 0 … `max`; 0 if it is neither. */
static unsigned read_small(const cJSON *object, const char *key, unsigned max)
{
    double number = hac_json_get_number(object, key);
    return number >= 0 && number <= max ? (unsigned)number : 0;
}

static unsigned item_of(const cJSON *array, int index, unsigned max)
{
    const cJSON *item = cJSON_GetArrayItem(array, index);
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= max
               ? (unsigned)item->valuedouble
               : 0;
}

/* The index of a device's name; n_devices if the plan has no such device. */
static size_t find_device(const hac_plan_view *view, const char *name)
{
    size_t i = 0;
    while (i < view->n_devices && (name == NULL || strcmp(view->device_names[i], name) != 0))
        i++;
    return i;
}

static void read_devices(const cJSON *plan, hac_plan_view *view)
{
    const cJSON *device;
    const cJSON *shares = hac_json_get_array(plan, "shares");
    cJSON_ArrayForEach(device, hac_json_get_array(plan, "devices"))
    {
        if (view->n_devices == HAC_PLAN_VIEW_DEVICES_MAX || !cJSON_IsString(device))
            break;
        const cJSON *share = cJSON_GetArrayItem(shares, (int)view->n_devices);
        view->device_names[view->n_devices] = device->valuestring;
        view->shares[view->n_devices++] = cJSON_IsNumber(share) ? share->valuedouble : 0;
    }
}

static void read_task(const cJSON *object, const hac_plan_view *view, hac_plan_view_task *task)
{
    const char *stage = hac_json_get_string(object, "stage"),
               *codelet = hac_json_get_string(object, "codelet");
    const cJSON *device, *steps = hac_json_get_array(object, "steps");
    task->stage = stage != NULL ? stage : codelet != NULL ? codelet : "task";
    cJSON_ArrayForEach(device, hac_json_get_array(object, "devices"))
    {
        size_t index = find_device(view, cJSON_GetStringValue(device));
        if (index < view->n_devices)
            task->devices |= UINT64_C(1) << index;
    }
    task->range = hac_json_get_bool(object, "range", false);
    task->start = fmax(hac_json_get_number(object, "predicted_start"), 0);
    task->seconds = fmax(hac_json_get_number(object, "predicted_seconds"), 0);
    task->step_first = item_of(steps, 0, UINT16_MAX);
    task->step_last = item_of(steps, 1, UINT16_MAX);
    task->item_first = read_small(object, "item_first", NETWORK_ITEMS_MAX);
    task->item_count = read_small(object, "item_count", NETWORK_ITEMS_MAX);
    task->side_by_side = hac_json_get_bool(object, "side_by_side", false);
}

static hac_status read_tasks(const cJSON *plan, hac_plan_view *view, hac_error *err)
{
    const cJSON *tasks = hac_json_get_array(plan, "tasks"), *task;
    int n = cJSON_GetArraySize(tasks);
    view->tasks = calloc(n > 0 ? (size_t)n : 1, sizeof *view->tasks);
    if (view->tasks == NULL)
        return hac_fail_no_memory(err);
    cJSON_ArrayForEach(task, tasks)
    {
        read_task(task, view, &view->tasks[view->n_tasks++]);
    }
    view->tasks_omitted = fmax(hac_json_get_number(plan, "tasks_omitted"), 0);
    if (view->n_tasks == 1 && view->n_devices > 1) {
        const hac_plan_view_task *only = &view->tasks[0];
        bool any = (only->devices & (only->devices - 1)) != 0;
        view->is_one_task = any && (!only->range || !(hac_json_get_number(tasks->child, "count") > 1));
    }
    return HAC_OK;
}

static void read_sort(const cJSON *plan, hac_plan_view *view)
{
    view->algorithm = hac_json_get_string(plan, "algorithm");
    view->type = hac_json_get_string(plan, "type");
    view->scheme = hac_json_get_string(plan, "scheme");
    view->items = hac_json_get_number(plan, "items");
    view->weaker_items = fmax(hac_json_get_number(plan, "weaker_items"), 0);
    view->N = fmax(hac_json_get_number(plan, "N"), 0);
    view->descending = hac_json_get_bool(plan, "descending", false);
    view->argsort = hac_json_get_bool(plan, "argsort", false);
    if (view->type == NULL || !isfinite(view->items))
        view->algorithm = NULL;
}

/* False if a part is not one of a small network. */
static bool read_part(const cJSON *object, hac_plan_view *view)
{
    size_t device = find_device(view, hac_json_get_string(object, "device"));
    double first = hac_json_get_number(object, "first"), items = hac_json_get_number(object, "items");
    if (view->n_parts == HAC_PLAN_VIEW_PARTS_MAX || device == view->n_devices || !(first >= 0) ||
        !(items >= 0) || first + items > view->items)
        return false;
    view->parts[view->n_parts++] = (struct hac_plan_view_part){device, (unsigned)first, (unsigned)items,
                                                               hac_json_get_number(object, "k")};
    return true;
}

static bool fits_network(const hac_plan_view_task *task, const hac_plan_view *view)
{
    return task->step_last <= view->n_steps && task->item_first + task->item_count <= view->items;
}

static bool read_network(const cJSON *plan, hac_plan_view *view)
{
    const cJSON *part, *step;
    view->n = read_small(plan, "n", 6);
    view->n_steps = view->n * (view->n + 1) / 2;
    if (view->algorithm == NULL || strcmp(view->algorithm, "bitonic") != 0 || view->scheme == NULL ||
        view->n == 0 || view->items < 2 || view->items > (1u << view->n))
        return false;
    cJSON_ArrayForEach(part, hac_json_get_array(plan, "parts"))
    {
        if (!read_part(part, view))
            return false;
    }
    view->n_corun = (size_t)cJSON_GetArraySize(hac_json_get_array(plan, "corun_steps"));
    cJSON_ArrayForEach(step, hac_json_get_array(plan, "folded_steps"))
    {
        double number = cJSON_IsNumber(step) ? step->valuedouble : 0;
        view->n_folded++;
        if (number >= 1 && number <= view->n_steps)
            view->folded[(unsigned)number] = true;
    }
    bool fits = view->n_parts > 0;
    for (size_t t = 0; t < view->n_tasks && fits; t++)
        fits = fits_network(&view->tasks[t], view);
    return fits;
}

hac_status hac_plan_view_read(const cJSON *plan, hac_plan_view *ret, hac_error *err)
{
    *ret = (hac_plan_view){.flow = hac_json_get_string(plan, "flow")};
    if (ret->flow == NULL || hac_json_get_array(plan, "tasks") == NULL)
        return hac_fail(err, HAC_PROTOCOL, "hacd's plan has no flow or no tasks");
    ret->k = hac_json_get_number(plan, "k");
    ret->k_source = hac_json_get_string(plan, "k_source");
    if (ret->k_source == NULL)
        ret->k = NAN;
    ret->rounds = hac_json_get_number(plan, "rounds");
    ret->seconds = hac_json_get_number(plan, "predicted_seconds");
    read_devices(plan, ret);
    hac_status status = read_tasks(plan, ret, err);
    if (status != HAC_OK)
        return status;
    read_sort(plan, ret);
    ret->is_small_network = read_network(plan, ret);
    return HAC_OK;
}

void hac_plan_view_clear(hac_plan_view *view)
{
    free(view->tasks);
    view->tasks = NULL;
}

size_t hac_plan_view_task_device(const hac_plan_view_task *task)
{
    bool one = task->devices != 0 && (task->devices & (task->devices - 1)) == 0;
    return one ? (size_t)__builtin_ctzll(task->devices) : 0;
}
