/* SPDX-License-Identifier: Apache-2.0 */
#include "bitonic.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "bitonic_pass.h"
#include "common/try.h"

#define MAX_BLOCK_LOG2 20
#define MIN_ALLOCATION UINT64_C(4096)

/* ---- from steps to passes ---- */

typedef struct item_range {
    uint64_t first, end;
} item_range;

static uint32_t min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool ends_network(const hac_bitonic_job *job, uint32_t step)
{
    return step == hac_bitonic_last_step(job->n);
}

/*
 * The largest subset, at most the block's, that is complete at step `last`; 0 if it is below a tile. A sort
 * of fewer items than a tile takes a whole tile: the items after the end are virtual.
 */
static uint32_t block_subsets(const hac_bitonic_job *job, uint32_t last)
{
    uint32_t p = 0, tile = hac_bitonic_tile_log2(job->item_bytes);
    if (job->n < tile && ends_network(job, last))
        return tile;
    while (p < job->b && hac_bitonic_last_step(p + 1) <= last)
        p++;
    return p >= tile ? p : 0;
}

/* The first pass: subsets 1 … p inside blocks, or only the map. *ret_next is the step after it. */
static hac_status first_pass(hac_bitonic_job *job, item_range r, uint32_t last, uint32_t *ret_next,
                             hac_error *err)
{
    uint32_t p = block_subsets(job, last);
    if (p == 0) {
        *ret_next = 1;
        return hac_bitonic_pass_map(job, r.first, r.end, err);
    }
    *ret_next = hac_bitonic_last_step(p) + 1;
    return hac_bitonic_pass_block(job, r.first, r.end, p, err);
}

/* The stride exponent where the merge pass from stride 2^(from-1) may end, if the steps up to `left` are
 * wanted. */
static uint32_t merge_end(const hac_bitonic_job *job, uint32_t from, uint32_t left, bool mirror)
{
    uint32_t tile = hac_bitonic_tile_log2(job->item_bytes), end = from - left;
    if (left == from && from > job->b)
        end = job->b;
    else if (left == from && mirror)
        end = from - 1;
    if (end < tile)
        end = tile;
    uint32_t count = from - end, passes = (count + job->fused - 1) / job->fused;
    return from - (count + passes - 1) / passes;
}

/* The next pass: from step s to at most step `last` of the same subset. *ret_next is the step after it. */
static hac_status next_pass(hac_bitonic_job *job, item_range r, uint32_t s, uint32_t last, uint32_t *ret_next,
                            hac_error *err)
{
    uint32_t tile = hac_bitonic_tile_log2(job->item_bytes);
    uint32_t q = hac_bitonic_subset_of(s), from = hac_bitonic_group_log2(s);
    uint32_t left = min(last, hac_bitonic_last_step(q)) - s + 1;
    bool mirror = s == hac_bitonic_first_step(q);
    if (!mirror && left == from && from >= tile && from <= job->b) {
        *ret_next = s + left;
        return hac_bitonic_pass_tail(job, r.first, r.end, q, from, from, ends_network(job, s + left - 1),
                                     err);
    }
    hac_bitonic_steps steps = {.subset = q, .from = from, .to = from - 1, .mirror = mirror, .slices = 1};
    if (from <= tile) {
        *ret_next = s + 1;
        return hac_bitonic_pass_step(job, r.first, r.end, &steps, err);
    }
    steps.to = merge_end(job, from, left, mirror);
    *ret_next = s + from - steps.to;
    return hac_bitonic_pass_merge(job, r.first, r.end, &steps, err);
}

/* Steps s0 … s1 on a range, in passes over the whole range. */
static hac_status flat_steps(hac_bitonic_job *job, item_range r, uint32_t s0, uint32_t s1, hac_error *err)
{
    hac_status status;
    uint32_t s = s0;
    if (s0 == 1)
        TRY(first_pass(job, r, s1, &s, err));
    while (s <= s1)
        TRY(next_pass(job, r, s, s1, &s, err));
    return HAC_OK;
}

/* The last of the steps s0 … s1 up to which all groups lie in 2^log2 items; s0 - 1 if there is none. */
static uint32_t near_steps(uint32_t s0, uint32_t s1, uint32_t log2)
{
    uint32_t s = s0;
    while (s <= s1 && hac_bitonic_group_log2(s) <= log2)
        s++;
    return s - 1;
}

/*
 * Steps s0 … s1 on a range. Subsets that fit near memory are finished part by part, so that their passes read
 * the cache. The passes of the other subsets go over the whole range.
 */
static hac_status run_steps(hac_bitonic_job *job, item_range r, uint32_t s0, uint32_t s1, hac_error *err)
{
    hac_status status;
    uint32_t near = hac_bitonic_near_log2(job->facts->max_allocation, job->item_bytes), s = s0;
    bool whole = hac_bitonic_job_fits(job, r.first, r.end);
    if (whole)
        TRY(hac_bitonic_job_open(job, r.first, r.end, s0 == 1, err));
    if (s0 == 1 && r.end - r.first > UINT64_C(1) << near && (job->facts->host_memory || !whole)) {
        uint32_t last = near_steps(1, s1, near);
        for (uint64_t first = r.first; first < r.end && last >= 1; first += UINT64_C(1) << near) {
            item_range part = {first, first + (UINT64_C(1) << near)};
            if (part.end > r.end)
                part.end = r.end;
            TRY(flat_steps(job, part, 1, last, err));
        }
        s = last + 1;
    }
    if (s <= s1)
        TRY(flat_steps(job, r, s, s1, err));
    return HAC_OK;
}

/* ---- checks: nothing in a task is trusted ---- */

static const hac_bitonic_params *params_of(const hac_task *task)
{
    return HAC_PARAMS(hac_bitonic_params, task);
}

static hac_status check_spans(const hac_task *task, hac_bitonic_index index, hac_error *err)
{
    uint64_t m = params_of(task)->items;
    size_t wanted = index == HAC_BITONIC_KEYS ? 2 : 3;
    if (task->n_spans != wanted)
        return hac_fail(err, HAC_INVALID, "%zu spans where the sort takes %zu", task->n_spans, wanted);
    const uint64_t sizes[] = {hac_type_size(task->type), hac_bitonic_item_bytes(task->type, index), index};
    for (size_t i = 0; i < wanted; i++)
        if (task->spans[i].bytes / sizes[i] < m)
            return hac_fail(err, HAC_INVALID, "span %zu has %llu bytes, too few for %llu items of %llu", i,
                            (unsigned long long)task->spans[i].bytes, (unsigned long long)m,
                            (unsigned long long)sizes[i]);
    return HAC_OK;
}

/* What all codelets check. */
static hac_status check_common(const hac_device_facts *facts, const hac_task *task, hac_bitonic_index index,
                               hac_error *err)
{
    uint64_t end;
    if (hac_type_size(task->type) == 0)
        return hac_fail(err, HAC_INVALID, "no element type");
    uint64_t m = params_of(task)->items, b = params_of(task)->block_log2,
             bytes = params_of(task)->index_bytes;
    uint32_t item_bytes = hac_bitonic_item_bytes(task->type, index);
    if (m == 0 || m > UINT64_C(1) << HAC_BITONIC_MAX_SUBSET)
        return hac_fail(err, HAC_INVALID, "%llu items; 1 to 2^%d can be sorted", (unsigned long long)m,
                        HAC_BITONIC_MAX_SUBSET);
    if (bytes != (uint64_t)index || (index == HAC_BITONIC_INDEX32 && m > UINT32_MAX))
        return hac_fail(err, HAC_INVALID, "indices of %llu bytes do not fit this codelet and %llu items",
                        (unsigned long long)bytes, (unsigned long long)m);
    if (b < hac_bitonic_tile_log2(item_bytes) || b > MAX_BLOCK_LOG2)
        return hac_fail(err, HAC_INVALID, "blocks of 2^%llu items; 2^%u to 2^%d are possible",
                        (unsigned long long)b, hac_bitonic_tile_log2(item_bytes), MAX_BLOCK_LOG2);
    if (facts->max_allocation < MIN_ALLOCATION || (uint64_t)item_bytes << b > facts->max_allocation - 64)
        return hac_fail(err, HAC_INVALID, "a block of 2^%llu items does not fit a window of %llu bytes",
                        (unsigned long long)b, (unsigned long long)facts->max_allocation);
    if (facts->style == HAC_STYLE_SIMT && (uint64_t)item_bytes << b > facts->local_memory)
        return hac_fail(err, HAC_INVALID, "a block of 2^%llu items does not fit %llu bytes of local memory",
                        (unsigned long long)b, (unsigned long long)facts->local_memory);
    if (task->count == 0 || __builtin_add_overflow(task->first, task->count, &end) || end > m)
        return hac_fail(err, HAC_INVALID, "items %llu + %llu are not within %llu",
                        (unsigned long long)task->first, (unsigned long long)task->count,
                        (unsigned long long)m);
    return check_spans(task, index, err);
}

/* The range's ends are multiples of 2^log2 or the end of the array. */
static hac_status check_range(const hac_task *task, uint32_t log2, hac_error *err)
{
    uint64_t mask = (UINT64_C(1) << log2) - 1, end = task->first + task->count;
    if ((task->first & mask) == 0 && ((end & mask) == 0 || end == params_of(task)->items))
        return HAC_OK;
    return hac_fail(err, HAC_INVALID,
                    "items %llu to %llu divide a group of 2^%u items that these steps need whole",
                    (unsigned long long)task->first, (unsigned long long)end, log2);
}

static hac_status check_steps(const hac_task *task, hac_error *err)
{
    uint64_t s0 = params_of(task)->first_step, s1 = params_of(task)->last_step;
    uint32_t last = hac_bitonic_last_step(hac_bitonic_subsets(params_of(task)->items));
    if (s0 < 1 || s1 > last || s0 > s1 + 1 || (s0 == s1 + 1 && last != 0))
        return hac_fail(err, HAC_INVALID, "steps %llu to %llu of a network of %u", (unsigned long long)s0,
                        (unsigned long long)s1, last);
    return check_range(task, hac_bitonic_groups_log2((uint32_t)s0, (uint32_t)s1), err);
}

static hac_status check_block(const hac_task *task, hac_error *err)
{
    return check_range(task, (uint32_t)params_of(task)->block_log2, err);
}

static hac_status check_subset(const hac_task *task, hac_error *err)
{
    uint64_t q = params_of(task)->subset, n = hac_bitonic_subsets(params_of(task)->items);
    if (q < 1 || q > n)
        return hac_fail(err, HAC_INVALID, "subset %llu of %llu", (unsigned long long)q,
                        (unsigned long long)n);
    return HAC_OK;
}

static hac_status check_merge(const hac_device_facts *facts, const hac_task *task, uint32_t tile,
                              hac_error *err)
{
    hac_status status;
    TRY(check_subset(task, err));
    const hac_bitonic_params *p = params_of(task);
    uint64_t q = p->subset, j = p->step, count = p->steps;
    if (j < 1 || j > q || count < 1 || count > q || j - 1 + count > q - min(tile, (uint32_t)q))
        return hac_fail(err, HAC_INVALID, "steps %llu + %llu of subset %llu are not all of strides of 2^%u",
                        (unsigned long long)j, (unsigned long long)count, (unsigned long long)q, tile);
    uint64_t slice = p->slice, slices = p->slices;
    if (slices < 1 || slices > 4096 || slice >= slices || (slices > 1 && !facts->host_memory))
        return hac_fail(err, HAC_INVALID, "slice %llu of %llu is not possible on this device",
                        (unsigned long long)slice, (unsigned long long)slices);
    uint32_t s = hac_bitonic_first_step((uint32_t)q) + (uint32_t)j - 1, log2 = hac_bitonic_group_log2(s);
    /* Slices do not wait for each other between passes. */
    if (slices > 1 && count > 1 && (count > 4 || facts->max_allocation >> log2 < 2 * 16))
        return hac_fail(err, HAC_INVALID, "%llu steps in one pass cannot be sliced on this device",
                        (unsigned long long)count);
    return check_range(task, log2, err);
}

static hac_status check_tail(const hac_task *task, uint32_t tile, hac_error *err)
{
    hac_status status;
    TRY(check_subset(task, err));
    uint64_t q = params_of(task)->subset, t = params_of(task)->steps, b = params_of(task)->block_log2;
    if (t < tile || t > b || t >= q)
        return hac_fail(err, HAC_INVALID, "the last %llu steps of subset %llu in blocks of 2^%llu items",
                        (unsigned long long)t, (unsigned long long)q, (unsigned long long)b);
    return check_range(task, (uint32_t)t, err);
}

#define DEFINE_CHECKS(kind, index)                                                                           \
    hac_status hac_bitonic_check_steps_##kind(const hac_device_facts *facts, const hac_task *task,           \
                                              hac_error *err)                                                \
    {                                                                                                        \
        hac_status status = check_common(facts, task, index, err);                                           \
        return status == HAC_OK ? check_steps(task, err) : status;                                           \
    }                                                                                                        \
    hac_status hac_bitonic_check_block_##kind(const hac_device_facts *facts, const hac_task *task,           \
                                              hac_error *err)                                                \
    {                                                                                                        \
        hac_status status = check_common(facts, task, index, err);                                           \
        return status == HAC_OK ? check_block(task, err) : status;                                           \
    }                                                                                                        \
    hac_status hac_bitonic_check_merge_##kind(const hac_device_facts *facts, const hac_task *task,           \
                                              hac_error *err)                                                \
    {                                                                                                        \
        hac_status status = check_common(facts, task, index, err);                                           \
        uint32_t tile = hac_bitonic_tile_log2(hac_bitonic_item_bytes(task->type, index));                    \
        return status == HAC_OK ? check_merge(facts, task, tile, err) : status;                              \
    }                                                                                                        \
    hac_status hac_bitonic_check_tail_##kind(const hac_device_facts *facts, const hac_task *task,            \
                                             hac_error *err)                                                 \
    {                                                                                                        \
        hac_status status = check_common(facts, task, index, err);                                           \
        uint32_t tile = hac_bitonic_tile_log2(hac_bitonic_item_bytes(task->type, index));                    \
        return status == HAC_OK ? check_tail(task, tile, err) : status;                                      \
    }

DEFINE_CHECKS(keys, HAC_BITONIC_KEYS)
DEFINE_CHECKS(index32, HAC_BITONIC_INDEX32)
DEFINE_CHECKS(index64, HAC_BITONIC_INDEX64)

/* ---- runs ---- */

static hac_status finish(hac_bitonic_job *job, hac_status status, hac_task_result *result, hac_error *err)
{
    status = hac_bitonic_job_finish(job, status, err);
    if (status == HAC_OK) {
        result->values[0] = job->launches;
        result->n_values = 1;
    }
    return status;
}

/* Unmaps the result of a network whose last pass was no tail. */
static hac_status unmap(hac_bitonic_job *job, item_range r, hac_error *err)
{
    if (job->unmapped)
        return HAC_OK;
    if (job->n <= job->b && r.first == 0 && r.end == job->m)
        return hac_bitonic_pass_tail(job, r.first, r.end, job->n, job->b, 0, true, err);
    return hac_bitonic_pass_unmap(job, r.first, r.end, err);
}

hac_status hac_bitonic_run_steps(hac_device *device, const hac_task *task, hac_task_result *result,
                                 hac_error *err)
{
    hac_bitonic_job job;
    hac_bitonic_job_init(&job, device, task);
    item_range r = {task->first, task->first + task->count};
    const hac_bitonic_params *p = params_of(task);
    uint32_t s0 = (uint32_t)p->first_step, s1 = (uint32_t)p->last_step;
    hac_status status =
        s1 == 0 ? hac_bitonic_pass_map(&job, r.first, r.end, err) : run_steps(&job, r, s0, s1, err);
    if (status == HAC_OK && ends_network(&job, s1))
        status = unmap(&job, r, err);
    return finish(&job, status, result, err);
}

hac_status hac_bitonic_run_block(hac_device *device, const hac_task *task, hac_task_result *result,
                                 hac_error *err)
{
    hac_bitonic_job job;
    hac_bitonic_job_init(&job, device, task);
    item_range r = {task->first, task->first + task->count};
    hac_status status = hac_bitonic_pass_block(&job, r.first, r.end, job.b, err);
    if (status == HAC_OK && job.n <= job.b)
        status = unmap(&job, r, err);
    return finish(&job, status, result, err);
}

hac_status hac_bitonic_run_merge(hac_device *device, const hac_task *task, hac_task_result *result,
                                 hac_error *err)
{
    hac_bitonic_job job;
    hac_bitonic_job_init(&job, device, task);
    const hac_bitonic_params *p = params_of(task);
    uint32_t q = (uint32_t)p->subset, j = (uint32_t)p->step, count = (uint32_t)p->steps;
    uint32_t from = j == 1 ? q : q - j + 1, end = from - count;
    hac_bitonic_steps steps = {.subset = q, .mirror = j == 1, .slices = (uint32_t)p->slices};
    steps.slice = (uint32_t)p->slice;
    hac_status status = HAC_OK;
    while (from > end && status == HAC_OK) {
        steps.from = from;
        steps.to = merge_end(&job, from, from - end, false);
        status = hac_bitonic_pass_merge(&job, task->first, task->first + task->count, &steps, err);
        from = steps.to;
        steps.mirror = false;
    }
    return finish(&job, status, result, err);
}

hac_status hac_bitonic_run_tail(hac_device *device, const hac_task *task, hac_task_result *result,
                                hac_error *err)
{
    hac_bitonic_job job;
    hac_bitonic_job_init(&job, device, task);
    uint32_t q = (uint32_t)params_of(task)->subset, t = (uint32_t)params_of(task)->steps;
    hac_status status =
        hac_bitonic_pass_tail(&job, task->first, task->first + task->count, q, t, t, q == job.n, err);
    return finish(&job, status, result, err);
}
