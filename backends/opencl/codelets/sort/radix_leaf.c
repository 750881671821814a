/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radix.leaf: sorts buckets in place. As many buckets as fit go into a window. Kernels sort them; the few
 * that are larger than a leaf get scratch of their size. The host sorts what no kernel can take.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "common/try.h"
#include "radix.h"
#include "radix_job.h"

#define PART_ITEMS 16 /* of 4 or 8 bytes, these are a multiple of 64 bytes */
/* Maximum memory for the scratch of large buckets, if an allocation can have that much. */
#define LARGE_SCRATCH_BYTES (UINT64_C(1) << 30)

typedef struct leaf_bucket {
    uint32_t at, items; /* uint2 of the kernels: keys, relative to the beginning of the window */
} leaf_bucket;

typedef struct leaf {
    hac_radix_job job;
    cl_kernel kernel;
    uint8_t *data, *index;       /* OUT and INDEX */
    uint64_t *starts;            /* where the task's buckets begin, and the end: a checked copy */
    leaf_bucket *normal, *large; /* buckets of the window: HAC_RADIX_MAX_BUCKETS each, 64-byte aligned */
    leaf_bucket *launched;       /* the buckets of a launch */
    uint32_t n_normal, n_large;
    uint64_t by_host; /* buckets */
} leaf;

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The maximum number of keys that a kernel can sort within the device's loop limit, for the worst keys. */
static uint64_t loop_items(const leaf *l)
{
    uint64_t limit = l->job.facts->max_loop_iterations, wide = l->job.p.key_bytes == 8;
    if (limit == 0)
        return UINT32_MAX;
    if (l->job.facts->style == HAC_STYLE_SIMT) { /* 8-bit digits; n / 64 · 18 + 300 for each */
        uint64_t pass = (limit - 512) / (wide ? 8 : 4);
        return pass < 400 ? 0 : (pass - 300) * 64 / 20;
    }
    uint64_t pass = limit / (wide ? 7 : 4); /* 12-bit digits; 2.3 n + 2 · 4096 for each */
    return pass < 8400 ? 0 : (pass - 8400) * 10 / 24;
}

static uint64_t large_limit(const leaf *l)
{
    uint64_t bytes = min(LARGE_SCRATCH_BYTES, l->job.facts->max_allocation);
    return min(min(bytes / hac_radix_widest(&l->job.p) - HAC_ALIGNMENT, UINT32_MAX / 2), loop_items(l));
}

/* sort_radix_leaf.cl: a bin has this many slots for each expected key, and the last bins can overrun by a
 * block of keys, each in its group's own row. */
#define KEYS_A_BIN 8
#define SLOTS      24
#define BIN_BLOCK  2048
#define ROW_BYTES  32
#define ROUNDED_UP 16 /* bins */

/* Scratch of a work-group for buckets of up to `items` keys: the slots of bins, and at least a copy. */
static uint64_t scratch_items(const leaf *l, uint64_t items)
{
    uint64_t slots = 0,
             max = min(LARGE_SCRATCH_BYTES, l->job.facts->max_allocation) / hac_radix_widest(&l->job.p) -
                   HAC_ALIGNMENT;
    if (items <= HAC_RADIX_LEAF_ITEMS && l->job.p.index_bytes == 0 && l->job.facts->style == HAC_STYLE_BLOCK)
        slots = (items / KEYS_A_BIN + ROUNDED_UP) * SLOTS + BIN_BLOCK * (ROW_BYTES / l->job.p.key_bytes);
    slots = min(slots, max);
    return hac_radix_ceil(slots > items ? slots : items, HAC_ALIGNMENT);
}

static hac_status leaf_args(leaf *l, const leaf_bucket *buckets, uint32_t n, cl_mem data, uint64_t capacity,
                            uint64_t groups, cl_mem *ret_jobs, hac_error *err)
{
    const hac_key_order *o = &l->job.order.order;
    const uint64_t masks[] = {o->flip, o->sign, o->rotate, o->reverse};
    cl_mem jobs, scratch;
    hac_status status;
    void *list = (void *)(uintptr_t)buckets;
    TRY(hac_radix_open(&l->job, list, n * sizeof *buckets, HAC_READ, &jobs, err));
    TRY(hac_device_scratch(l->job.device, 0, groups * capacity * l->job.p.key_bytes, &scratch, err));
    TRY(hac_kernel_arg_mem(l->kernel, 0, data, err));
    TRY(hac_kernel_arg_mem(l->kernel, 1, jobs, err));
    TRY(hac_kernel_arg_u32(l->kernel, 2, n, err));
    TRY(hac_kernel_arg_mem(l->kernel, 3, scratch, err));
    TRY(hac_kernel_arg_u64(l->kernel, 4, capacity, err));
    for (unsigned i = 0; i < 4; i++)
        TRY(hac_radix_key_arg(&l->job, l->kernel, 5 + i, masks[i], err));
    *ret_jobs = jobs;
    return HAC_OK;
}

/* Launches kernels on buckets[0 … n - 1], in as many launches as the groups' scratch allows. */
static hac_status sort_by_kernel(leaf *l, const leaf_bucket *buckets, uint32_t n, cl_mem data, cl_mem index,
                                 hac_error *err)
{
    uint64_t max = 1; /* no bucket is empty */
    if (n == 0)
        return HAC_OK;
    for (uint32_t i = 0; i < n; i++)
        max = buckets[i].items > max ? buckets[i].items : max;
    uint64_t capacity = scratch_items(l, max);
    uint64_t bytes = min(LARGE_SCRATCH_BYTES, l->job.facts->max_allocation),
             fit = bytes / (capacity * hac_radix_widest(&l->job.p));
    fit = fit == 0 ? 1 : fit;
    hac_status status;
    for (uint32_t done = 0; done < n;) {
        uint32_t part = n - done;
        if (hac_radix_groups(&l->job, part) > fit)
            part = (uint32_t)fit; /* one group for each bucket */
        uint64_t groups = hac_radix_groups(&l->job, part);
        /* windows begin at 64-byte boundaries */
        memcpy(l->launched, buckets + done, part * sizeof *buckets);
        cl_mem jobs;
        TRY(leaf_args(l, l->launched, part, data, capacity, groups, &jobs, err));
        if (l->job.p.index_bytes != 0) {
            cl_mem scratch;
            TRY(hac_device_scratch(l->job.device, 1, groups * capacity * l->job.p.index_bytes, &scratch,
                                   err));
            TRY(hac_kernel_arg_mem(l->kernel, 10, index, err));
            TRY(hac_kernel_arg_mem(l->kernel, 11, scratch, err));
        }
        TRY(hac_radix_launch(&l->job, l->kernel, 9, part, err));
        TRY(hac_radix_close_from(&l->job, jobs, err));
        done += part;
    }
    return HAC_OK;
}

static hac_status sort_by_host(leaf *l, uint64_t first, uint64_t items, hac_error *err)
{
    l->by_host++;
    void *index = l->index == NULL ? NULL : l->index + first * l->job.p.index_bytes;
    return hac_radix_sort_bucket(&l->job.order, l->data + first * l->job.p.key_bytes, index,
                                 l->job.p.index_bytes, items, err);
}

/*
 * A part of OUT or INDEX as a window. In place, the window begins up to PART_ITEMS before the part, at a
 * 64-byte boundary of both arrays. On a device that copies it is a copy of exactly the part, since another
 * device may be changing what lies beside it.
 */
typedef struct leaf_part {
    uint8_t *begin, *copy;
    uint64_t bytes;
    cl_mem window;
} leaf_part;

static uint32_t items_before(const leaf *l, uint64_t first)
{
    return l->job.facts->host_memory ? (uint32_t)(first % PART_ITEMS) : 0;
}

static hac_status part_open(leaf *l, uint8_t *data, uint64_t first, uint64_t items, uint32_t size,
                            leaf_part *p, hac_error *err)
{
    p->begin = data + first * size;
    p->bytes = items * size;
    uint64_t before = (uint64_t)items_before(l, first) * size;
    if (l->job.facts->host_memory)
        return hac_radix_open(&l->job, p->begin - before, before + p->bytes, HAC_READ_WRITE, &p->window, err);
    p->copy = hac_radix_alloc(p->bytes);
    if (p->copy == NULL)
        return hac_fail_no_memory(err);
    memcpy(p->copy, p->begin, p->bytes);
    return hac_radix_open(&l->job, p->copy, p->bytes, HAC_READ_WRITE, &p->window, err);
}

static void part_free(leaf_part *p)
{
    free(p->copy);
}

static void part_write_back(leaf_part *p)
{
    if (p->copy != NULL)
        memcpy(p->begin, p->copy, p->bytes);
}

/* Those of the buckets from … end - 1 that are too large for kernels. */
static hac_status sort_largest(leaf *l, uint64_t from, uint64_t end, hac_error *err)
{
    hac_status status;
    for (uint64_t b = from; b < end; b++)
        if (l->starts[b + 1] - l->starts[b] > large_limit(l))
            TRY(sort_by_host(l, l->starts[b], l->starts[b + 1] - l->starts[b], err));
    return HAC_OK;
}

/* What kernels do with the buckets from … end - 1, which lie in one window. */
static void collect(leaf *l, uint64_t from, uint64_t end)
{
    bool nothing_to_map = l->index != NULL || (l->job.order.order.flip | l->job.order.order.sign |
                                               l->job.order.order.reverse) == 0;
    l->n_normal = l->n_large = 0;
    for (uint64_t b = from; b < end; b++) {
        uint64_t items = l->starts[b + 1] - l->starts[b];
        if (items == 0 || (items == 1 && nothing_to_map))
            continue;
        leaf_bucket one = {(uint32_t)(l->starts[b] - l->starts[from]), (uint32_t)items};
        if (items > large_limit(l))
            continue;
        if (items > HAC_RADIX_LEAF_ITEMS || items > loop_items(l))
            l->large[l->n_large++] = one;
        else
            l->normal[l->n_normal++] = one;
    }
}

static void shift_buckets(leaf_bucket *buckets, uint32_t n, uint32_t by)
{
    for (uint32_t i = 0; i < n; i++)
        buckets[i].at += by;
}

static hac_status sort_window(leaf *l, uint64_t from, uint64_t end, leaf_part *keys, leaf_part *index,
                              hac_error *err)
{
    hac_status status;
    uint64_t first = l->starts[from], items = l->starts[end] - first;
    uint32_t key_bytes = l->job.p.key_bytes, index_bytes = l->job.p.index_bytes;
    TRY(sort_largest(l, from, end, err));
    collect(l, from, end);
    if (l->n_normal == 0 && l->n_large == 0)
        return HAC_OK;
    TRY(part_open(l, l->data, first, items, key_bytes, keys, err));
    cl_mem opened = keys->window;
    if (l->index != NULL)
        TRY(part_open(l, l->index, first, items, index_bytes, index, err));
    shift_buckets(l->normal, l->n_normal, items_before(l, first));
    shift_buckets(l->large, l->n_large, items_before(l, first));
    TRY(sort_by_kernel(l, l->large, l->n_large, keys->window, index->window, err));
    TRY(sort_by_kernel(l, l->normal, l->n_normal, keys->window, index->window, err));
    TRY(hac_radix_close_from(&l->job, opened, err));
    part_write_back(keys);
    part_write_back(index);
    return HAC_OK;
}

/* Keys that a window holds, less what an unaligned beginning takes. */
static uint64_t window_items(const leaf *l)
{
    return min(l->job.facts->max_allocation / hac_radix_widest(&l->job.p) - PART_ITEMS, UINT32_MAX / 2);
}

static hac_status sort_buckets(leaf *l, uint64_t count, hac_error *err)
{
    hac_status status;
    for (uint64_t from = 0, end; from < count; from = end) {
        end = from + 1;
        if (l->starts[end] - l->starts[from] > window_items(l)) {
            TRY(sort_by_host(l, l->starts[from], l->starts[end] - l->starts[from], err));
            continue;
        }
        while (end < count && l->starts[end + 1] - l->starts[from] <= window_items(l))
            end++;
        leaf_part keys = {0}, index = {0};
        status = sort_window(l, from, end, &keys, &index, err);
        if (status != HAC_OK) /* nothing may be running when the copies are freed */
            status = hac_radix_job_end(&l->job, status, err);
        part_free(&keys);
        part_free(&index);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

/* The positions of the task's buckets, checked: within OUT and ascending. */
static hac_status read_starts(leaf *l, const hac_task *task, hac_error *err)
{
    uint64_t bytes = (task->count + 1) * sizeof(uint64_t);
    l->starts = hac_radix_alloc(bytes);
    l->normal = hac_radix_alloc(HAC_RADIX_MAX_BUCKETS * sizeof *l->normal);
    l->large = hac_radix_alloc(HAC_RADIX_MAX_BUCKETS * sizeof *l->large);
    l->launched = hac_radix_alloc(HAC_RADIX_MAX_BUCKETS * sizeof *l->launched);
    if (l->starts == NULL || l->normal == NULL || l->large == NULL || l->launched == NULL)
        return hac_fail_no_memory(err);
    memcpy(l->starts, task->spans[0].data + hac_radix_starts_offset() + task->first * sizeof(uint64_t),
           bytes);
    for (uint64_t b = 0; b < task->count; b++)
        if (l->starts[b] > l->starts[b + 1])
            return hac_fail(err, HAC_INVALID,
                            "bucket %llu ends before it begins: radix.scan has to run first",
                            (unsigned long long)(task->first + b));
    if (l->starts[task->count] > l->job.p.n)
        return hac_fail(err, HAC_INVALID, "the buckets end behind the %llu keys",
                        (unsigned long long)l->job.p.n);
    return HAC_OK;
}

/* ---- buckets of one key ---- */

static void fill(uint8_t *to, uint64_t items, uint32_t key_bytes, uint64_t key)
{
    if (key_bytes == 4)
        for (uint64_t i = 0; i < items; i++)
            ((uint32_t *)(void *)to)[i] = (uint32_t)key;
    else
        for (uint64_t i = 0; i < items; i++)
            ((uint64_t *)(void *)to)[i] = key;
}

static hac_status fill_buckets(leaf *l, const hac_task *task, hac_error *err)
{
    uint32_t key_bytes = l->job.p.key_bytes;
    hac_autofree uint64_t *values = calloc(HAC_RADIX_MAX_BUCKETS, sizeof *values);
    if (values == NULL)
        return hac_fail_no_memory(err);
    hac_radix_values(&l->job.table, values);
    for (uint64_t b = 0; b < task->count; b++)
        fill(l->data + l->starts[b] * key_bytes, l->starts[b + 1] - l->starts[b], key_bytes,
             hac_radix_unmap(&l->job.order, values[task->first + b]));
    return HAC_OK;
}

static hac_status leaf_begin(leaf *l, const hac_task *task, hac_error *err)
{
    static const char *(*const programs[])(const hac_device_facts *, hac_type) = {
        hac_radix_program_leaf_keys, hac_radix_program_leaf_index32, hac_radix_program_leaf_index64};
    hac_status status;
    const char *program = programs[l->job.p.index_bytes / 4](l->job.facts, task->type);
    TRY(hac_device_kernel(l->job.device, program, "radix_leaf", &l->kernel, err));
    TRY(read_starts(l, task, err));
    l->data = task->spans[1].data;
    l->index = l->job.p.index_bytes != 0 ? task->spans[2].data : NULL;
    return HAC_OK;
}

static hac_status leaf_run(leaf *l, const hac_task *task, hac_error *err)
{
    hac_status status;
    TRY(leaf_begin(l, task, err));
    if (l->job.table.header.counted != 0)
        return fill_buckets(l, task, err);
    return sort_buckets(l, task->count, err);
}

static hac_status leaf_end(leaf *l, hac_status status, hac_task_result *result)
{
    free(l->starts);
    free(l->normal);
    free(l->large);
    free(l->launched);
    if (status == HAC_OK) {
        result->values[0] = l->by_host;
        result->n_values = 1;
    }
    return status;
}

static hac_status leaf_in_windows(leaf *l, const hac_task *task, cl_mem keys, cl_mem index, hac_error *err)
{
    hac_status status;
    TRY(leaf_begin(l, task, err));
    collect(l, 0, task->count);
    TRY(sort_by_kernel(l, l->large, l->n_large, keys, index, err));
    TRY(sort_by_kernel(l, l->normal, l->n_normal, keys, index, err));
    TRY(hac_radix_close_from(&l->job, keys, err));
    return sort_largest(l, 0, task->count, err);
}

hac_status hac_radix_leaf_windows(hac_radix_job *job, const hac_task *task, cl_mem keys, cl_mem index,
                                  hac_task_result *result, hac_error *err)
{
    leaf l = {.job = *job};
    hac_status status = leaf_in_windows(&l, task, keys, index, err);
    *job = l.job;
    return leaf_end(&l, status, result);
}

hac_status hac_radix_run_leaf(hac_device *device, const hac_task *task, hac_task_result *result,
                              hac_error *err)
{
    static const hac_radix_span spans[] = {HAC_RADIX_TABLE, HAC_RADIX_KEYS, HAC_RADIX_INDEX};
    leaf l = {0};
    hac_status status = hac_radix_job_begin(&l.job, device, task, &task->spans[0], spans, task->n_spans, err);
    if (status == HAC_OK)
        status = leaf_run(&l, task, err);
    status = hac_radix_job_end(&l.job, status, err);
    return leaf_end(&l, status, result);
}
