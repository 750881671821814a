/* SPDX-License-Identifier: Apache-2.0 */
/* What all sort plans share: devices, buffers, reading a foreign descriptor, gathering by index. */
#include <stdio.h>
#include <string.h>

#include "base/io_layout.h"
#include "base/radix_layout.h"
#include "base/type.h"
#include "sort_build.h"

#define MIB (UINT64_C(1) << 20)

hac_plan_span hac_whole_span(const hac_plan *plan, int buffer, hac_access access)
{
    uint64_t bytes = plan->buffers[buffer].bytes;
    hac_plan_span span = {
        .buffer = (uint8_t)buffer, .access = (uint8_t)access, .bytes = bytes, .touch_end = bytes};
    return span;
}

static void add_devices(hac_plan *plan, const hac_machine *machine, const hac_device_set *set)
{
    double sum = 0;
    for (size_t d = 0; d < set->n; d++)
        sum += set->capability[d];
    for (size_t d = 0; d < set->n; d++) {
        hac_plan_device *device = &plan->devices[d];
        snprintf(device->name, sizeof(device->name), "%s", machine->devices[set->machine_index[d]].name);
        device->machine_index = set->machine_index[d];
        device->capability = set->capability[d];
        device->share = set->capability[d] / sum;
    }
    plan->n_devices = set->n;
    plan->k = set->n > 1 ? set->capability[1] / set->capability[0] : 0;
}

/* The devices whose executors run host codelets beside their kernels: CPUs; without one, all. */
static uint32_t host_mask(const hac_plan *plan, const hac_machine *machine)
{
    uint32_t mask = 0;
    for (size_t d = 0; d < plan->n_devices; d++)
        if (machine->devices[plan->devices[d].machine_index].kind == HAC_DEVICE_KIND_CPU)
            mask |= UINT32_C(1) << d;
    return mask != 0 ? mask : hac_plan_mask(plan);
}

static hac_status add_buffer(hac_plan *plan, const char *name, hac_buffer_role role, uint64_t items,
                             uint64_t width, int *ret, hac_error *err)
{
    uint8_t index = 0;
    uint64_t bytes;
    if (__builtin_mul_overflow(items, width, &bytes))
        return hac_fail(err, HAC_INVALID, "%s: too many items", name);
    hac_status status = hac_plan_add_buffer(plan, name, role, bytes, &index, err);
    if (status == HAC_OK)
        *ret = index;
    return status;
}

static hac_status add_buffers(hac_plan *plan, const hac_sort_spec *spec, hac_sort_buffers *b, hac_error *err)
{
    uint64_t width = hac_type_size(spec->type);
    hac_status status = add_buffer(plan, "in", HAC_BUFFER_INPUT, spec->items, width, &b->in, err);
    if (status == HAC_OK)
        plan->buffers[b->in].from_descriptor = spec->from_descriptor;
    if (status == HAC_OK && spec->payload_bytes > 0)
        status =
            add_buffer(plan, "payload", HAC_BUFFER_INPUT, spec->items, spec->payload_bytes, &b->payload, err);
    if (status == HAC_OK && !spec->argsort)
        status = add_buffer(plan, "out", HAC_BUFFER_OUTPUT, spec->items, width, &b->out, err);
    if (status == HAC_OK && spec->payload_bytes > 0)
        status = add_buffer(plan, "payload_out", HAC_BUFFER_OUTPUT, spec->items, spec->payload_bytes,
                            &b->payload_out, err);
    if (status == HAC_OK && hac_sort_by_index(spec))
        status = add_buffer(plan, "index", spec->argsort ? HAC_BUFFER_OUTPUT : HAC_BUFFER_WORK, spec->items,
                            hac_sort_index_bytes(spec), &b->index, err);
    for (size_t i = 0; i < plan->n_buffers; i++) /* a file's job is often the only one */
        plan->buffers[i].whole = !spec->from_descriptor;
    plan->result_buffer = spec->argsort ? b->index : b->out;
    return status;
}

static hac_status add_read(hac_plan *plan, const hac_sort_spec *spec, hac_sort_buffers *b, hac_error *err)
{
    hac_plan_task task = {
        .codelet = "io.read",
        .type = spec->type,
        .range = true,
        .count = plan->buffers[b->in].bytes,
        .grain = MIB,
        .device_mask = b->host,
        .device = -1,
        .repeatable = true,
        .uses_descriptor = true,
        .spans = {hac_whole_span(plan, b->in, HAC_WRITE)},
        .n_spans = 1,
        .units = (double)plan->buffers[b->in].bytes,
        .stage = "read",
        .item_count = spec->items,
    };
    HAC_SET_PARAMS(&task,
                   &(hac_io_read_params){.offset = spec->descriptor_offset, .end = spec->descriptor_end});
    b->has_ready = true;
    return hac_plan_add_task(plan, &task, NULL, 0, &b->ready, err);
}

hac_status hac_sort_begin(const hac_machine *machine, const hac_sort_spec *spec, const hac_device_set *set,
                          const char *algorithm, hac_plan **ret, hac_sort_buffers *ret_buffers,
                          hac_error *err)
{
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_sort_buffers buffers = {-1, -1, -1, -1, -1, 0, 0, false};
    hac_status status = hac_plan_new(HAC_FLOW_SORT, &plan, err);
    if (status != HAC_OK)
        return status;
    add_devices(plan, machine, set);
    plan->sort.items = spec->items;
    plan->sort.type = spec->type;
    plan->sort.descending = spec->descending;
    plan->sort.argsort = spec->argsort;
    plan->sort.n = (int)hac_log2_ceil(spec->items);
    snprintf(plan->sort.algorithm, sizeof(plan->sort.algorithm), "%s", algorithm);
    buffers.host = host_mask(plan, machine);
    if (!spec->inline_data) {
        status = add_buffers(plan, spec, &buffers, err);
        if (status == HAC_OK && spec->from_descriptor && spec->items > 0)
            status = add_read(plan, spec, &buffers, err);
    }
    if (status != HAC_OK)
        return status;
    *ret_buffers = buffers;
    *ret = hac_steal_ptr(plan);
    return HAC_OK;
}

/* What is fetched by index: from one buffer to another, elements of `width` bytes. */
typedef struct gather {
    int from, to;
    uint32_t width;
} gather;

static hac_status add_gather(hac_plan *plan, const hac_sort_spec *spec, const hac_sort_buffers *buffers,
                             gather what, const uint32_t *deps, size_t n_deps, hac_error *err)
{
    hac_plan_task task = {
        .codelet = "sort.gather",
        .type = spec->type,
        .range = true,
        .count = spec->items,
        .grain = 4096,
        .device_mask = buffers->host,
        .device = -1,
        .repeatable = true,
        .spans = {hac_whole_span(plan, what.from, HAC_READ), hac_whole_span(plan, buffers->index, HAC_READ),
                  hac_whole_span(plan, what.to, HAC_WRITE)},
        .n_spans = 3,
        .units = (double)spec->items,
        .stage = "gather",
        .item_count = spec->items,
    };
    HAC_SET_PARAMS(&task, &(hac_gather_params){.items = spec->items,
                                               .width = what.width,
                                               .index_bytes = hac_sort_index_bytes(spec)});
    return hac_plan_add_task(plan, &task, deps, n_deps, NULL, err);
}

/* NaNs of a key sort lie by their bits; this puts them back into input order. */
static hac_status add_nan_order(hac_plan *plan, const hac_sort_spec *spec, const hac_sort_buffers *buffers,
                                const uint32_t *deps, size_t n_deps, hac_error *err)
{
    hac_plan_task task = {
        .codelet = "sort.nan_order",
        .type = spec->type,
        .descending = spec->descending,
        .device_mask = buffers->host,
        .device = -1,
        .repeatable = true, /* it writes NaNs of the input over NaNs */
        .spans = {hac_whole_span(plan, buffers->in, HAC_READ),
                  hac_whole_span(plan, buffers->out, HAC_READ_WRITE)},
        .n_spans = 2,
        .units = (double)spec->items,
        .stage = "nan order",
        .item_count = spec->items,
    };
    HAC_SET_PARAMS(&task, &(hac_nan_order_params){.items = spec->items});
    return hac_plan_add_task(plan, &task, deps, n_deps, NULL, err);
}

hac_status hac_sort_finish(hac_plan *plan, const hac_sort_spec *spec, const hac_sort_buffers *buffers,
                           const uint32_t *deps, size_t n_deps, hac_error *err)
{
    uint32_t key_bytes = (uint32_t)hac_type_size(spec->type);
    hac_status status = HAC_OK;
    if (!hac_sort_by_index(spec) && hac_type_is_float(spec->type))
        return add_nan_order(plan, spec, buffers, deps, n_deps, err);
    if (spec->payload_bytes > 0 && !spec->argsort)
        status = add_gather(plan, spec, buffers, (gather){buffers->in, buffers->out, key_bytes}, deps, n_deps,
                            err);
    if (status == HAC_OK && spec->payload_bytes > 0)
        status = add_gather(plan, spec, buffers,
                            (gather){buffers->payload, buffers->payload_out, spec->payload_bytes}, deps,
                            n_deps, err);
    return status;
}

/* One task with everything in its message, on whichever host device is free. */
hac_status hac_small_build(const hac_machine *machine, const hac_sort_spec *spec, const hac_device_set *set,
                           hac_plan **ret, hac_error *err)
{
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_sort_buffers buffers;
    hac_status status = hac_sort_begin(machine, spec, set, "small", &plan, &buffers, err);
    if (status != HAC_OK)
        return status;
    unsigned levels = hac_log2_ceil(spec->items);
    hac_plan_task task = {
        .codelet = "sort.small",
        .type = spec->type,
        .descending = spec->descending,
        .count = spec->items,
        .device_mask = buffers.host,
        .device = -1,
        .repeatable = true,
        .units = (double)spec->items * (levels > 0 ? levels : 1),
        .stage = "sort",
        .item_count = spec->items,
    };
    HAC_SET_PARAMS(&task, &(hac_small_sort_params){.index_bytes = spec->argsort ? 4 : 0});
    status = hac_plan_add_task(plan, &task, NULL, 0, NULL, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(plan);
    return status;
}
