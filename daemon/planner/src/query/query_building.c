/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, buffers and tasks of a query's plan, as all its stages need them. */
#include "query_building.h"

#include <stdio.h>
#include <string.h>

#include "base/query_layout.h"

bool hac_query_is_answered(const hac_query_spec *spec)
{
    /* Before the footers are read nobody knows; most writers write statistics. */
    return (spec->flags & HAC_COMPILED_STATISTICS) != 0 && (!spec->in_rows || spec->answered >= spec->bytes);
}

void hac_query_model(const hac_query_spec *spec, const char *codelet, char *ret, size_t capacity)
{
    /* What the statistics of Parquet files answer has little to do with how long reading them takes. */
    const char *kind = spec->format != NULL ? spec->format : "table";
    snprintf(ret, capacity, "%s.%s", codelet, hac_query_is_answered(spec) ? "statistics" : kind);
}

/* A small query is one short task: programs ask many of them that differ in a constant, and those of one
 * shape take about as long. Counting quotes is the same for all. */
bool hac_query_narrower(const hac_query_spec *spec, const char *codelet, size_t which,
                        char ret[HAC_QUERY_NARROWER_MAX])
{
    uint32_t number = which == 0 ? spec->same : spec->shape;
    if (number == 0 || (which == 0 && strcmp(codelet, "query.whole") == 0) ||
        strcmp(codelet, "query.quotes") == 0)
        return false;
    snprintf(ret, HAC_QUERY_NARROWER_MAX, "%c%08x%s%s", which == 0 ? HAC_MODEL_SAME : HAC_MODEL_ALIKE, number,
             spec->learner != NULL ? "@" : "", spec->learner != NULL ? spec->learner : "");
    return true;
}

uint64_t hac_query_work(const hac_query_spec *spec)
{
    bool part = !hac_query_is_answered(spec) && spec->answered < spec->bytes;
    return part ? spec->bytes - spec->answered : spec->bytes;
}

static void add_device(hac_plan *plan, const hac_machine *machine, uint32_t index, double capability,
                       double share)
{
    hac_plan_device *device = &plan->devices[plan->n_devices++];
    snprintf(device->name, sizeof(device->name), "%s", machine->devices[index].name);
    device->machine_index = index;
    device->capability = capability;
    device->share = share;
}

static size_t find_device(const hac_plan *plan, uint32_t machine_index)
{
    size_t d = 0;
    while (d < plan->n_devices && plan->devices[d].machine_index != machine_index)
        d++;
    return d;
}

bool hac_building_is_cpu(const hac_query_building *b, size_t plan_device)
{
    return b->machine->devices[b->plan->devices[plan_device].machine_index].kind == HAC_DEVICE_KIND_CPU;
}

static void add_explored(hac_query_building *b, const hac_device_set *set)
{
    for (size_t i = set->n; i < set->n + set->n_explored && b->plan->n_devices < HAC_DEVICES_MAX; i++) {
        size_t d = find_device(b->plan, set->machine_index[i]);
        if (d == b->plan->n_devices)
            add_device(b->plan, b->machine, set->machine_index[i], set->capability[i], 0);
        b->plan->devices[d].explored = true;
        b->explored |= UINT32_C(1) << d;
    }
}

/* The device set, with shares by capability, then the host devices that are not of it. */
void hac_building_devices(hac_query_building *b, const hac_device_set *set, const hac_device_set *host)
{
    bool kernels = b->strategy == HAC_QUERY_DEVICE || b->strategy == HAC_QUERY_MIXED;
    double sum = 0;
    for (size_t i = 0; i < set->n; i++)
        sum += set->capability[i];
    for (size_t i = 0; i < set->n; i++) {
        add_device(b->plan, b->machine, set->machine_index[i], set->capability[i], set->capability[i] / sum);
        b->set |= UINT32_C(1) << i;
    }
    for (size_t i = 0; i < host->n; i++) {
        size_t d = find_device(b->plan, host->machine_index[i]);
        if (d == b->plan->n_devices && d < HAC_DEVICES_MAX && kernels)
            add_device(b->plan, b->machine, host->machine_index[i], host->capability[i], 0);
        if (d < b->plan->n_devices)
            b->host |= UINT32_C(1) << d;
    }
    if (b->host == 0)
        b->host = b->set;
    add_explored(b, set);
}

hac_status hac_building_buffer(hac_query_building *b, const char *name, hac_buffer_role role, uint64_t bytes,
                               bool late, int *ret, hac_error *err)
{
    uint8_t index = 0;
    hac_status status = hac_plan_add_buffer(b->plan, name, role, bytes, &index, err);
    if (status != HAC_OK)
        return status;
    b->plan->buffers[index].late = late;
    *ret = index;
    return HAC_OK;
}

hac_plan_span hac_building_span(const hac_query_building *b, int buffer, hac_access access)
{
    uint64_t bytes = buffer >= 0 ? b->plan->buffers[buffer].bytes : 0;
    return (hac_plan_span){.buffer = (uint8_t)(buffer >= 0 ? buffer : 0),
                           .access = (uint8_t)access,
                           .bytes = bytes,
                           .touch_end = bytes};
}

bool hac_building_places_hot_keys(const hac_query_building *b)
{
    bool own = false;
    for (size_t d = 0; d < b->plan->n_devices; d++)
        own |= ((b->set | b->explored) >> d & 1) != 0 && !hac_building_is_cpu(b, d);
    return b->spec->hot_keys == HAC_HOT_KEYS_ON || (b->spec->hot_keys == HAC_HOT_KEYS_AUTO && own);
}

/* The parameters that all tasks share. */
void hac_building_params(const hac_query_building *b, uint32_t pass, hac_plan_task *task)
{
    const hac_query_spec *spec = b->spec;
    const hac_query_sizes *sizes = b->sizes;
    const hac_query_params params = {
        /* the input lies behind the query, whichever task reads it */
        .inline_bytes = spec->place == HAC_QUERY_INLINE ? spec->compiled_bytes : 0,
        .chunk = sizes->chunk,
        .chunks = sizes->chunks,
        .region = sizes->region,
        .partitions = sizes->partitions,
        .group_region = sizes->group_region,
        .seed = spec->seed,
        .pass = sizes->passes > 1 ? pass : 0,
        .passes = sizes->passes > 1 ? sizes->passes : 0,
        .method = hac_building_places_hot_keys(b) ? HAC_QUERY_HOT_KEYS : 0,
        .sample = spec->sample > 0 ? spec->sample : HAC_SAMPLE_DEFAULT,
        .hot_share = spec->hot_share > 0 ? spec->hot_share : HAC_HOT_SHARE_DEFAULT,
        .work_groups = spec->work_groups,
        .work_items = spec->work_items,
        .generation = spec->round.generation,
        .carry = b->strategy == HAC_QUERY_ROWS ? spec->round.rows_given : spec->round.carry,
        .part_rows = b->parts >= 0 ? sizes->part_rows : 0};
    HAC_SET_PARAMS(task, &params);
}

hac_status hac_building_narrower(hac_query_building *b, hac_plan_task *task, hac_error *err)
{
    char narrower[HAC_QUERY_NARROWER_MAX];
    hac_status status = HAC_OK;
    for (size_t i = 0; i < HAC_NARROWER_MODELS && status == HAC_OK; i++)
        if (hac_query_narrower(b->spec, task->codelet, i, narrower))
            status = hac_plan_add_string(b->plan, narrower, &task->narrower[i], err);
    return status;
}

hac_status hac_building_model(hac_query_building *b, hac_plan_task *task, hac_error *err)
{
    char name[64];
    hac_query_model(b->spec, task->codelet, name, sizeof(name));
    hac_status status = hac_plan_add_string(b->plan, name, &task->model, err);
    return status == HAC_OK ? hac_building_narrower(b, task, err) : status;
}

hac_status hac_building_kernels(hac_query_building *b, bool explores, hac_plan_task *task, hac_error *err)
{
    static const char KERNELS[] = "hash.aggregate";
    bool other = false;
    char name[64];
    task->explored = explores ? b->explored : 0;
    task->device_mask |= task->explored;
    if (b->strategy != HAC_QUERY_MIXED)
        return HAC_OK;
    for (size_t d = 0; d < b->plan->n_devices; d++)
        other |= (task->device_mask >> d & 1) != 0 && !hac_building_is_cpu(b, d);
    if (!other)
        return HAC_OK;
    task->kernels = KERNELS;
    hac_query_model(b->spec, KERNELS, name, sizeof(name));
    return hac_plan_add_string(b->plan, name, &task->kernels_model, err);
}
