/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Radix plans: the partition sort of base/radix_layout.h, a chain of phases. The long ones (count, scatter,
 * leaf) are range tasks that all devices of the device set share, cut at chunks or buckets; which device does
 * which changes nothing in the result. A device alone that copies sorts in one task, radix.whole, so that the
 * keys go there and back once.
 */
#include "base/radix_layout.h"
#include "base/type.h"
#include "sort_build.h"

/* Of the time of a radix sort (units.h). */
#define COUNT_PART   0.13
#define SCATTER_PART 0.37
#define LEAF_PART    0.50

#define SIMT_WORKERS  64                  /* of a device whose threads are not known */
#define WHOLE_SCRATCH (UINT64_C(2) << 30) /* of radix_leaf.c, for keys and for indices */
#define SIMT_RESERVED (UINT64_C(1) << 29) /* of a GPU's memory: its driver's, others' */

typedef struct phases {
    hac_plan *plan;
    const hac_sort_spec *spec;
    hac_sort_buffers buffers;
    hac_radix_cut cut;
    uint64_t index_bytes;
    uint32_t host;           /* devices that run host codelets */
    int table, counts, keys; /* buffers; keys: OUT of the contract, work memory in argsort */
    uint32_t last;           /* the phase before */
    bool has_last;
} phases;

static hac_radix_cut cut_for(const hac_machine *machine, const hac_sort_spec *spec, const hac_device_set *set)
{
    uint32_t workers = 0, limit = 0;
    for (size_t d = 0; d < set->n; d++) {
        const hac_machine_device *device = &machine->devices[set->machine_index[d]];
        workers += device->threads > 0 ? device->threads : device->simt ? SIMT_WORKERS : 1;
        if (device->max_loop_iterations != 0 && (limit == 0 || device->max_loop_iterations < limit))
            limit = device->max_loop_iterations;
    }
    return hac_radix_cut_of(spec->items, workers, limit);
}

static hac_status add_work(phases *p, const char *name, uint64_t bytes, int *ret, hac_error *err)
{
    uint8_t index = 0;
    hac_status status = hac_plan_add_buffer(p->plan, name, HAC_BUFFER_WORK, bytes, &index, err);
    if (status == HAC_OK)
        *ret = index;
    return status;
}

static hac_status add_buffers(phases *p, hac_error *err)
{
    hac_status status = add_work(p, "table", hac_radix_table_bytes(p->cut.buckets), &p->table, err);
    if (status == HAC_OK)
        status =
            add_work(p, "counts", hac_radix_counts_bytes(p->cut.chunks, p->cut.buckets), &p->counts, err);
    p->keys = p->buffers.out;
    if (status != HAC_OK || p->keys >= 0)
        return status;
    status = add_work(p, "work", p->plan->buffers[p->buffers.in].bytes, &p->keys, err);
    if (status == HAC_OK)
        p->plan->buffers[p->keys].whole = !p->spec->from_descriptor;
    return status;
}

/* What differs from phase to phase. */
typedef struct phase {
    const char *codelet, *stage;
    uint64_t count; /* chunks or buckets of a range task; 0: a host task */
    double units, part;
    bool repeatable;
    hac_plan_span spans[5];
    size_t n_spans;
} phase;

/* Behind the phase before it. */
static hac_status add_phase(phases *p, const phase *what, hac_error *err)
{
    hac_plan_task task = {
        .codelet = what->codelet,
        .type = p->spec->type,
        .descending = p->spec->descending,
        .range = what->count > 0,
        .count = what->count,
        .grain = what->count > 0 ? 1 : 0,
        .device_mask = what->count > 0 ? hac_plan_mask(p->plan) : p->buffers.host,
        .device = -1,
        .repeatable = what->repeatable,
        .n_spans = what->n_spans,
        .units = what->units,
        .part = what->part,
        .stage = what->stage,
        .item_count = p->spec->items,
    };
    for (size_t i = 0; i < what->n_spans; i++)
        task.spans[i] = what->spans[i];
    /* The sample's seed is always the same, so that a job can be repeated. */
    HAC_SET_PARAMS(&task, &(hac_radix_params){.items = p->spec->items,
                                              .chunk_items = p->cut.chunk_items,
                                              .buckets = p->cut.buckets,
                                              .index_bytes = p->index_bytes});
    hac_status status = hac_plan_add_task(p->plan, &task, &p->last, p->has_last, &p->last, err);
    p->has_last = true;
    return status;
}

static hac_plan_span span_of(const phases *p, int buffer, hac_access access)
{
    return hac_whole_span(p->plan, buffer, access);
}

/* From the keys to the places where the buckets begin. */
static hac_status add_counting(phases *p, hac_error *err)
{
    const hac_radix_cut *cut = &p->cut;
    double items = (double)p->spec->items;
    const phase sample = {
        .codelet = "radix.sample",
        .stage = "sample",
        .units = (double)hac_radix_sample_items(p->spec->items, cut->buckets),
        .repeatable = true,
        .spans = {span_of(p, p->buffers.in, HAC_READ), span_of(p, p->table, HAC_WRITE)},
        .n_spans = 2,
    };
    const phase count = {
        .codelet = "radix.count",
        .stage = "count",
        .count = cut->chunks,
        .units = items,
        .part = COUNT_PART,
        .repeatable = true,
        .spans = {span_of(p, p->buffers.in, HAC_READ), span_of(p, p->table, HAC_READ),
                  span_of(p, p->counts, HAC_WRITE)},
        .n_spans = 3,
    };
    const phase scan = {
        .codelet = "radix.scan",
        .stage = "scan",
        .units = (double)cut->chunks * cut->buckets,
        .spans = {span_of(p, p->table, HAC_READ_WRITE), span_of(p, p->counts, HAC_READ_WRITE)},
        .n_spans = 2,
    };
    hac_status status = add_phase(p, &sample, err);
    if (status == HAC_OK)
        status = add_phase(p, &count, err);
    return status == HAC_OK ? add_phase(p, &scan, err) : status;
}

/* From the places to the sorted array, or to its indices. */
static hac_status add_sorting(phases *p, hac_error *err)
{
    static const char *const scatters[] = {"radix.scatter", "radix.scatter.index", "radix.scatter.index64"};
    static const char *const leaves[] = {"radix.leaf", "radix.leaf.index", "radix.leaf.index64"};
    size_t kind = p->index_bytes == 0 ? 0 : p->index_bytes == 4 ? 1 : 2;
    phase scatter = {
        .codelet = scatters[kind],
        .stage = "scatter",
        .count = p->cut.chunks,
        .units = (double)p->spec->items,
        .part = SCATTER_PART,
        .repeatable = true,
        .spans = {span_of(p, p->buffers.in, HAC_READ), span_of(p, p->table, HAC_READ),
                  span_of(p, p->counts, HAC_READ), span_of(p, p->keys, HAC_WRITE)},
        .n_spans = 4,
    };
    phase leaf = {
        .codelet = leaves[kind],
        .stage = "leaf",
        .count = p->cut.buckets,
        .units = (double)p->spec->items,
        .part = LEAF_PART,
        .spans = {span_of(p, p->table, HAC_READ), span_of(p, p->keys, HAC_READ_WRITE)},
        .n_spans = 2,
    };
    if (kind > 0) {
        scatter.spans[scatter.n_spans++] = span_of(p, p->buffers.index, HAC_WRITE);
        leaf.spans[leaf.n_spans++] = span_of(p, p->buffers.index, HAC_READ_WRITE);
    }
    hac_status status = add_phase(p, &scatter, err);
    return status == HAC_OK ? add_phase(p, &leaf, err) : status;
}

/* Of the device's memory, for radix.whole: input, result and scratch. In lock-step style keys and indices are
 * there twice, and that is all. */
static uint64_t whole_bytes(const hac_machine_device *device, const hac_sort_spec *spec)
{
    uint64_t keys = 2 * spec->items * hac_type_size(spec->type),
             index = hac_sort_by_index(spec) ? 4 * spec->items : 0;
    return device->simt ? keys + 2 * index + SIMT_RESERVED : keys + index + WHOLE_SCRATCH;
}

/* What radix.whole takes (opencl/codelets/sort/radix.h). */
static bool is_whole(const hac_machine *machine, const hac_sort_spec *spec, const hac_device_set *set)
{
    const hac_machine_device *device = &machine->devices[set->machine_index[0]];
    if (set->n != 1 || device->host_memory || device->max_loop_iterations != 0 ||
        spec->items > HAC_RADIX_WHOLE_ITEMS)
        return false;
    uint64_t bytes = spec->items * hac_type_size(spec->type);
    return (device->max_allocation == 0 || bytes <= device->max_allocation) &&
           (device->memory == 0 || whole_bytes(device, spec) <= device->memory);
}

static hac_status add_whole(phases *p, hac_error *err)
{
    phase whole = {
        .codelet = p->index_bytes == 0 ? "radix.whole" : "radix.whole.index",
        .stage = "sort",
        .units = (double)p->spec->items,
        .part = 1,
        .repeatable = true,
        .spans = {span_of(p, p->buffers.in, HAC_READ), span_of(p, p->table, HAC_WRITE),
                  span_of(p, p->counts, HAC_WRITE), span_of(p, p->keys, HAC_WRITE)},
        .n_spans = 4,
    };
    if (p->index_bytes > 0)
        whole.spans[whole.n_spans++] = span_of(p, p->buffers.index, HAC_WRITE);
    return add_phase(p, &whole, err);
}

hac_status hac_radix_build(const hac_machine *machine, const hac_sort_spec *spec, const hac_device_set *set,
                           hac_plan **ret, hac_error *err)
{
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    phases p = {.spec = spec};
    if (spec->items > HAC_RADIX_MAX_ITEMS)
        return hac_fail(err, HAC_UNSUPPORTED, "more than 2^40 items");
    hac_status status = hac_sort_begin(machine, spec, set, "radix", &plan, &p.buffers, err);
    if (status != HAC_OK || spec->items == 0) {
        if (status == HAC_OK)
            *ret = hac_steal_ptr(plan);
        return status;
    }
    p.plan = plan;
    p.cut = cut_for(machine, spec, set);
    p.index_bytes = hac_sort_by_index(spec) ? hac_sort_index_bytes(spec) : 0;
    p.last = p.buffers.ready;
    p.has_last = p.buffers.has_ready;
    status = add_buffers(&p, err);
    if (status == HAC_OK && is_whole(machine, spec, set)) {
        status = add_whole(&p, err);
    } else if (status == HAC_OK) {
        status = add_counting(&p, err);
        if (status == HAC_OK)
            status = add_sorting(&p, err);
    }
    if (status == HAC_OK)
        status = hac_sort_finish(plan, spec, &p.buffers, &p.last, 1, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(plan);
    return status;
}
