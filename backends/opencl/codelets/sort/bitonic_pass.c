/* SPDX-License-Identifier: Apache-2.0 */
#include "bitonic_pass.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "bitonic.h"
#include "common/try.h"

#define SIMT_LOCAL 256u
#define STEP_PAIRS 4096u /* comparators or items of a work-group, in the kernels for any step */
/* of a launch: llvmpipe takes at most 65,535, and PoCL compiles one variant */
#define GROUPS_MAX UINT64_C(32768)

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t round_up(uint64_t n, uint32_t log2)
{
    return (n + (UINT64_C(1) << log2) - 1) >> log2 << log2;
}

/* ---- views ---- */

static hac_status view_close(hac_bitonic_job *job, hac_bitonic_view *view, hac_error *err)
{
    if (view->mem == NULL)
        return HAC_OK;
    hac_status status = hac_device_close_window(job->device, view->mem, err);
    if (status == HAC_OK && view->copy != NULL && (view->access & HAC_WRITE))
        memcpy(view->data, view->copy, view->bytes);
    free(view->copy);
    *view = (hac_bitonic_view){0};
    return status;
}

/*
 * A window must begin at a multiple of 64 bytes. For a range that does not, the window begins earlier if
 * memory is shared. A device with its own memory would write back a neighbour's items, so it gets a copy of
 * the range.
 */
static hac_status view_open(hac_bitonic_job *job, hac_bitonic_view *view, hac_span span, uint32_t size,
                            hac_error *err)
{
    uint64_t begin = view->first * size, end = begin + view->count * size;
    uint64_t skipped = begin % HAC_ALIGNMENT;
    view->data = span.data + begin;
    view->bytes = end - begin;
    view->base = view->first;
    if (skipped == 0)
        return hac_device_open_window(job->device, view->data, view->bytes, view->access, &view->mem, err);
    if (job->facts->host_memory) {
        view->base = (begin - skipped) / size;
        return hac_device_open_window(job->device, view->data - skipped, view->bytes + skipped, view->access,
                                      &view->mem, err);
    }
    uint64_t capacity = (view->bytes + HAC_ALIGNMENT - 1) / HAC_ALIGNMENT * HAC_ALIGNMENT;
    view->copy = aligned_alloc(HAC_ALIGNMENT, capacity);
    if (view->copy == NULL)
        return hac_fail_no_memory(err);
    if (view->access & HAC_READ)
        memcpy(view->copy, view->data, view->bytes);
    return hac_device_open_window(job->device, view->copy, view->bytes, view->access, &view->mem, err);
}

/* Makes `view` cover exactly [first, end). A suitable open window stays open. */
static hac_status view_need(hac_bitonic_job *job, hac_bitonic_view *view, hac_span span, uint32_t size,
                            uint64_t first, uint64_t end, hac_access access, hac_error *err)
{
    if (view->mem != NULL && view->first <= first && end <= view->first + view->count)
        return HAC_OK;
    hac_status status = view_close(job, view, err);
    if (status != HAC_OK)
        return status;
    view->first = first;
    view->count = end - first;
    view->access = access;
    status = view_open(job, view, span, size, err);
    if (status != HAC_OK) {
        free(view->copy);
        *view = (hac_bitonic_view){0};
    }
    return status;
}

/* Items [first, end) of WORK. With `fresh`, a pass writes all of them. */
static hac_status need_work(hac_bitonic_job *job, uint64_t first, uint64_t end, bool fresh, hac_error *err)
{
    hac_access access = fresh && !job->facts->host_memory ? HAC_WRITE : HAC_READ_WRITE;
    return view_need(job, &job->work_view, job->work, job->item_bytes, first, end, access, err);
}

static hac_status need_in(hac_bitonic_job *job, uint64_t first, uint64_t end, hac_error *err)
{
    return view_need(job, &job->in_view, job->in, job->key_bytes, first, end, HAC_READ, err);
}

/* The result: WORK itself if keys are sorted. */
static hac_status need_final(hac_bitonic_job *job, uint64_t first, uint64_t end, const hac_bitonic_view **ret,
                             hac_error *err)
{
    *ret = &job->work_view;
    if (job->index == HAC_BITONIC_KEYS)
        return HAC_OK;
    *ret = &job->final_view;
    return view_need(job, &job->final_view, job->final, job->final_bytes, first, end, HAC_WRITE, err);
}

/*
 * The items of a window for passes on groups of 2^log2 items from `first` on: the whole range if possible,
 * else a multiple of the group; 0 if not even one group fits.
 */
static uint64_t window_items(const hac_bitonic_job *job, uint64_t first, uint64_t end, uint32_t log2)
{
    uint64_t max = (job->facts->max_allocation - HAC_ALIGNMENT) / job->item_bytes;
    if (end - first <= max)
        return end - first;
    uint64_t whole = max >> log2 << log2;
    /* A power of two, so that later subsets that fit a window find it open. */
    if (whole > 0)
        whole = UINT64_C(1) << (63 - __builtin_clzll(whole));
    return whole;
}

/* ---- jobs ---- */

static const char *program_name(bool simt, hac_type type, hac_bitonic_index index)
{
    bool wide = hac_type_size(type) == 8;
    if (index == HAC_BITONIC_KEYS)
        return simt ? (wide ? "bitonic.simt.64" : "bitonic.simt.32")
                    : (wide ? "bitonic.block.64" : "bitonic.block.32");
    if (wide)
        return simt ? "bitonic.simt.64i" : "bitonic.block.64i";
    if (index == HAC_BITONIC_INDEX32)
        return simt ? "bitonic.simt.32i" : "bitonic.block.32i";
    return simt ? "bitonic.simt.32w" : "bitonic.block.32w";
}

#define DEFINE_PROGRAM(kind, index)                                                                          \
    const char *hac_bitonic_program_##kind(const hac_device_facts *facts, hac_type type)                     \
    {                                                                                                        \
        if (hac_type_size(type) == 0)                                                                        \
            return NULL;                                                                                     \
        return program_name(facts->style == HAC_STYLE_SIMT, type, index);                                    \
    }

DEFINE_PROGRAM(keys, HAC_BITONIC_KEYS)
DEFINE_PROGRAM(index32, HAC_BITONIC_INDEX32)
DEFINE_PROGRAM(index64, HAC_BITONIC_INDEX64)

/* Bit patterns above this, without the sign bit, are NaNs. No integer is above it. */
static uint64_t nan_limit(hac_type type)
{
    if (!hac_type_is_float(type))
        return UINT64_MAX;
    return type == HAC_TYPE_F32 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
}

void hac_bitonic_job_init(hac_bitonic_job *job, hac_device *device, const hac_task *task)
{
    const hac_device_facts *facts = hac_device_get_facts(device);
    const hac_bitonic_params *params = HAC_PARAMS(hac_bitonic_params, task);
    hac_bitonic_index index = (hac_bitonic_index)params->index_bytes;
    bool simt = facts->style == HAC_STYLE_SIMT;
    *job = (hac_bitonic_job){
        .device = device,
        .facts = facts,
        .type = task->type,
        .index = index,
        .program = program_name(simt, task->type, index),
        .m = params->items,
        .n = hac_bitonic_subsets(params->items),
        .b = (uint32_t)params->block_log2,
        .item_bytes = hac_bitonic_item_bytes(task->type, index),
        .key_bytes = (uint32_t)hac_type_size(task->type),
        .final_bytes = index == HAC_BITONIC_KEYS ? (uint32_t)hac_type_size(task->type) : (uint32_t)index,
        .local = simt ? (uint32_t)min(SIMT_LOCAL, facts->max_work_group) : 1,
        .order = hac_key_order_of(task->type, task->descending),
        .nan = nan_limit(task->type),
        .in = task->spans[0],
        .work = task->spans[1],
        .final = index == HAC_BITONIC_KEYS ? task->spans[1] : task->spans[2],
    };
    hac_bitonic_limits limits = {facts->block_items, facts->max_loop_iterations, facts->local_memory,
                                 facts->max_allocation, simt};
    job->fused = hac_bitonic_fused_steps(&limits, job->item_bytes);
}

bool hac_bitonic_job_fits(const hac_bitonic_job *job, uint64_t first, uint64_t end)
{
    return window_items(job, first, end, 0) == end - first;
}

hac_status hac_bitonic_job_open(hac_bitonic_job *job, uint64_t first, uint64_t end, bool fresh,
                                hac_error *err)
{
    hac_status status = need_work(job, first, end, fresh, err);
    if (status == HAC_OK && fresh)
        status = need_in(job, first, end, err);
    return status;
}

hac_status hac_bitonic_job_finish(hac_bitonic_job *job, hac_status status, hac_error *err)
{
    hac_bitonic_view *views[] = {&job->final_view, &job->work_view, &job->in_view};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        hac_error later = HAC_ERROR_NONE;
        hac_status closed = view_close(job, views[i], &later);
        if (closed != HAC_OK && status == HAC_OK) {
            status = closed;
            if (err != NULL)
                *err = later;
        }
    }
    return status;
}

/* ---- launches ---- */

/* Sets arguments in the order of the kernel's parameters. After a failure the others are skipped. */
typedef struct pass_arguments {
    cl_kernel kernel;
    unsigned next;
    hac_status status;
    hac_error *err;
} pass_arguments;

static pass_arguments arguments_of(hac_bitonic_job *job, const char *kernel, hac_error *err)
{
    pass_arguments a = {.err = err};
    a.status = hac_device_kernel(job->device, job->program, kernel, &a.kernel, err);
    return a;
}

static void add_mem(pass_arguments *a, cl_mem mem)
{
    if (a->status == HAC_OK)
        a->status = hac_kernel_arg_mem(a->kernel, a->next++, mem, a->err);
}

static void add_u32(pass_arguments *a, uint32_t value)
{
    if (a->status == HAC_OK)
        a->status = hac_kernel_arg_u32(a->kernel, a->next++, value, a->err);
}

static void add_u64(pass_arguments *a, uint64_t value)
{
    if (a->status == HAC_OK)
        a->status = hac_kernel_arg_u64(a->kernel, a->next++, value, a->err);
}

static void add_local(pass_arguments *a, uint64_t bytes)
{
    if (a->status == HAC_OK)
        a->status = hac_kernel_arg_local(a->kernel, a->next++, bytes, a->err);
}

static void add_order(pass_arguments *a, const hac_bitonic_job *job)
{
    const uint64_t masks[] = {job->order.flip, job->order.sign, job->order.rotate, job->order.reverse,
                              job->nan};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        if (job->key_bytes == 8)
            add_u64(a, masks[i]);
        else
            add_u32(a, (uint32_t)masks[i]);
    }
}

/* Memory for one block. In block style it is device memory, and only an incomplete block needs it; in
 * lock-step style it is local memory. */
static void add_block_scratch(pass_arguments *a, hac_bitonic_job *job, uint32_t b)
{
    if (a->status != HAC_OK)
        return;
    uint64_t bytes = (uint64_t)job->item_bytes << b;
    cl_mem scratch;
    if (job->facts->style == HAC_STYLE_SIMT) {
        add_local(a, bytes);
        return;
    }
    a->status = hac_device_scratch(job->device, 0, bytes, &scratch, a->err);
    add_mem(a, scratch);
}

static hac_status launch(hac_bitonic_job *job, const pass_arguments *a, uint64_t groups)
{
    if (a->status != HAC_OK)
        return a->status;
    job->launches++;
    return hac_device_launch(job->device, a->kernel, groups, job->local, a->err);
}

/* ---- passes that touch every item once ---- */

static hac_status map_window(hac_bitonic_job *job, uint64_t first, uint64_t end, hac_error *err)
{
    hac_status status;
    TRY(need_in(job, first, end, err));
    TRY(need_work(job, first, end, true, err));
    pass_arguments a = arguments_of(job, "bitonic_map", err);
    add_mem(&a, job->in_view.mem);
    add_mem(&a, job->work_view.mem);
    add_u64(&a, job->in_view.base);
    add_u64(&a, job->work_view.base);
    add_u64(&a, first);
    add_u64(&a, end - first);
    add_u32(&a, STEP_PAIRS);
    add_order(&a, job);
    return launch(job, &a, (end - first + STEP_PAIRS - 1) / STEP_PAIRS);
}

static hac_status unmap_window(hac_bitonic_job *job, uint64_t first, uint64_t end, hac_error *err)
{
    hac_status status;
    const hac_bitonic_view *final;
    TRY(need_work(job, first, end, false, err));
    TRY(need_final(job, first, end, &final, err));
    pass_arguments a = arguments_of(job, "bitonic_unmap", err);
    add_mem(&a, job->work_view.mem);
    add_mem(&a, final->mem);
    add_u64(&a, job->work_view.base);
    add_u64(&a, final->base);
    add_u64(&a, first);
    add_u64(&a, end - first);
    add_u32(&a, STEP_PAIRS);
    add_u32(&a, job->index == HAC_BITONIC_INDEX64);
    add_order(&a, job);
    return launch(job, &a, (end - first + STEP_PAIRS - 1) / STEP_PAIRS);
}

hac_status hac_bitonic_pass_map(hac_bitonic_job *job, uint64_t first, uint64_t end, hac_error *err)
{
    hac_status status = HAC_OK;
    uint64_t items = min(window_items(job, first, end, 6), GROUPS_MAX * STEP_PAIRS);
    for (uint64_t i = first; i < end && status == HAC_OK; i += items)
        status = map_window(job, i, min(i + items, end), err);
    return status;
}

hac_status hac_bitonic_pass_unmap(hac_bitonic_job *job, uint64_t first, uint64_t end, hac_error *err)
{
    hac_status status = HAC_OK;
    uint64_t items = min(window_items(job, first, end, 6), GROUPS_MAX * STEP_PAIRS);
    job->unmapped = true;
    for (uint64_t i = first; i < end && status == HAC_OK; i += items)
        status = unmap_window(job, i, min(i + items, end), err);
    return status;
}

/* ---- blocks ---- */

static hac_status block_window(hac_bitonic_job *job, uint64_t first, uint64_t end, uint32_t b, hac_error *err)
{
    hac_status status;
    TRY(need_in(job, first, end, err));
    TRY(need_work(job, first, end, true, err));
    pass_arguments a = arguments_of(job, "bitonic_block", err);
    add_mem(&a, job->in_view.mem);
    add_mem(&a, job->work_view.mem);
    add_block_scratch(&a, job, b);
    add_u64(&a, first - job->in_view.base);
    add_u64(&a, first - job->work_view.base);
    add_u64(&a, end - first);
    add_u64(&a, first);
    add_u32(&a, b);
    add_order(&a, job);
    return launch(job, &a, round_up(end - first, b) >> b);
}

hac_status hac_bitonic_pass_block(hac_bitonic_job *job, uint64_t first, uint64_t end, uint32_t b,
                                  hac_error *err)
{
    hac_status status = HAC_OK;
    uint64_t items = min(window_items(job, first, end, b), GROUPS_MAX << b);
    if (items == 0)
        return hac_fail(err, HAC_INVALID, "a block of 2^%u items is above the device's largest window", b);
    for (uint64_t i = first; i < end && status == HAC_OK; i += items)
        status = block_window(job, i, min(i + items, end), b, err);
    return status;
}

/* Where subset q's work on the range ends: a last run without items in its upper half is sorted already. */
static uint64_t end_of_work(const hac_bitonic_job *job, uint64_t end, uint32_t q)
{
    uint64_t run = (job->m - 1) >> q << q;
    return job->m - run <= UINT64_C(1) << (q - 1) ? min(end, run) : end;
}

typedef struct tail {
    uint32_t b, t;
    bool last;
} tail;

static hac_status tail_window(hac_bitonic_job *job, uint64_t first, uint64_t end, tail shape, hac_error *err)
{
    hac_status status;
    const hac_bitonic_view *final = &job->work_view;
    TRY(need_work(job, first, end, false, err));
    if (shape.last)
        TRY(need_final(job, first, end, &final, err));
    pass_arguments a = arguments_of(job, "bitonic_tail", err);
    add_mem(&a, job->work_view.mem);
    add_mem(&a, final->mem);
    add_block_scratch(&a, job, shape.b);
    add_u64(&a, first - job->work_view.base);
    add_u64(&a, first - final->base);
    add_u64(&a, end - first);
    add_u32(&a, shape.b);
    add_u32(&a, shape.t);
    add_u32(&a, shape.last);
    add_u32(&a, job->index == HAC_BITONIC_INDEX64);
    add_order(&a, job);
    return launch(job, &a, round_up(end - first, shape.b) >> shape.b);
}

hac_status hac_bitonic_pass_tail(hac_bitonic_job *job, uint64_t first, uint64_t end, uint32_t q, uint32_t b,
                                 uint32_t t, bool last, hac_error *err)
{
    hac_status status = HAC_OK;
    tail shape = {b, t, last};
    job->unmapped = job->unmapped || last;
    if (!last)
        end = end_of_work(job, end, q);
    uint64_t items = first < end ? min(window_items(job, first, end, b), GROUPS_MAX << b) : 1;
    if (items == 0)
        return hac_fail(err, HAC_INVALID, "a block of 2^%u items is above the device's largest window", b);
    for (uint64_t i = first; i < end && status == HAC_OK; i += items)
        status = tail_window(job, i, min(i + items, end), shape, err);
    return status;
}

/* ---- long strides ---- */

/* Columns of a unit: 512 or 1,024 bytes of a row in block style; one column for each work-item in lock-step
 * style. */
static uint32_t unit_columns(const hac_bitonic_job *job, uint32_t to)
{
    uint64_t columns = job->facts->style == HAC_STYLE_SIMT
                           ? job->local
                           : hac_bitonic_chunk_bytes(job->item_bytes) / job->item_bytes;
    return (uint32_t)min(columns, UINT64_C(1) << to);
}

static hac_status merge_window(hac_bitonic_job *job, uint64_t first, uint64_t end,
                               const hac_bitonic_steps *steps, hac_error *err)
{
    hac_status status;
    TRY(need_work(job, first, end, false, err));
    uint32_t columns = unit_columns(job, steps->to), count = steps->from - steps->to;
    uint64_t units = (round_up(end - first, steps->from) >> count) / columns;
    uint64_t unit = units * steps->slice / steps->slices;
    uint64_t stop = units * (steps->slice + 1) / steps->slices;
    for (; unit < stop; unit += GROUPS_MAX) {
        pass_arguments a = arguments_of(job, "bitonic_merge", err);
        add_mem(&a, job->work_view.mem);
        add_local(&a, count <= 4 ? HAC_ALIGNMENT : (uint64_t)columns * job->item_bytes << count);
        add_u64(&a, first - job->work_view.base);
        add_u64(&a, end - first);
        add_u64(&a, unit);
        add_u32(&a, steps->from);
        add_u32(&a, steps->to);
        add_u32(&a, steps->mirror);
        add_u32(&a, columns);
        TRY(launch(job, &a, min(stop - unit, GROUPS_MAX)));
    }
    return HAC_OK;
}

/* Comparators first … first + count - 1 of a step, on items in the windows `lo` and `hi`. */
static hac_status launch_step(hac_bitonic_job *job, const hac_bitonic_view *lo, const hac_bitonic_view *hi,
                              uint64_t first, uint64_t count, const hac_bitonic_steps *step, hac_error *err)
{
    const uint64_t max = GROUPS_MAX * STEP_PAIRS;
    hac_status status = HAC_OK;
    for (uint64_t done = 0; done < count && status == HAC_OK; done += max) {
        uint64_t now = min(count - done, max);
        pass_arguments a = arguments_of(job, "bitonic_step", err);
        add_mem(&a, lo->mem);
        add_mem(&a, hi->mem);
        add_u64(&a, lo->base);
        add_u64(&a, hi->base);
        add_u64(&a, job->m);
        add_u64(&a, first + done);
        add_u64(&a, now);
        add_u32(&a, STEP_PAIRS);
        add_u32(&a, step->to);
        add_u32(&a, step->mirror);
        status = launch(job, &a, (now + STEP_PAIRS - 1) / STEP_PAIRS);
    }
    return status;
}

/* Comparators of one step whose items do not fit one window: items [lo, lo + items) and their partners. */
static hac_status step_piece(hac_bitonic_job *job, uint64_t run, uint64_t offset, uint64_t items,
                             const hac_bitonic_steps *step, hac_error *err)
{
    uint64_t stride = UINT64_C(1) << step->to, lo = run + offset;
    uint64_t hi = step->mirror ? run + 2 * stride - offset - items : lo + stride;
    if (hi >= job->m)
        return HAC_OK;
    hac_bitonic_view low = {.first = lo, .count = items, .access = HAC_READ_WRITE}, high = low;
    high.first = hi;
    high.count = min(items, job->m - hi);
    hac_status status = view_open(job, &low, job->work, job->item_bytes, err);
    if (status == HAC_OK)
        status = view_open(job, &high, job->work, job->item_bytes, err);
    if (status == HAC_OK)
        status = launch_step(job, &low, &high, (run >> 1) + offset, items, step, err);
    hac_status closed = view_close(job, &high, status == HAC_OK ? err : NULL);
    if (status == HAC_OK)
        status = closed;
    closed = view_close(job, &low, status == HAC_OK ? err : NULL);
    return status == HAC_OK ? closed : status;
}

/* One step through two windows at a time. */
static hac_status step_in_pieces(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                 const hac_bitonic_steps *step, hac_error *err)
{
    hac_status status;
    uint64_t stride = UINT64_C(1) << step->to;
    uint64_t max = (job->facts->max_allocation - HAC_ALIGNMENT) / job->item_bytes;
    uint64_t items = min(stride, UINT64_C(1) << (63 - __builtin_clzll(max | 1)));
    uint64_t piece = 0;
    TRY(view_close(job, &job->work_view, err));
    for (uint64_t run = first; run < end; run += 2 * stride)
        for (uint64_t offset = 0; offset < stride; offset += items)
            if (piece++ % step->slices == step->slice)
                TRY(step_piece(job, run, offset, items, step, err));
    return HAC_OK;
}

static hac_status steps_in_pieces(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                  const hac_bitonic_steps *steps, hac_error *err)
{
    hac_bitonic_steps step = *steps;
    hac_status status = HAC_OK;
    for (uint32_t from = steps->from; from > steps->to && status == HAC_OK; from--) {
        step.from = from;
        step.to = from - 1;
        status = step_in_pieces(job, first, end, &step, err);
        step.mirror = false;
    }
    return status;
}

hac_status hac_bitonic_pass_merge(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                  const hac_bitonic_steps *steps, hac_error *err)
{
    hac_status status = HAC_OK;
    end = end_of_work(job, end, steps->subset);
    if (first >= end)
        return HAC_OK;
    uint64_t items = window_items(job, first, end, steps->from);
    if (items == 0)
        return steps_in_pieces(job, first, end, steps, err);
    for (uint64_t i = first; i < end && status == HAC_OK; i += items)
        status = merge_window(job, i, min(i + items, end), steps, err);
    return status;
}

hac_status hac_bitonic_pass_step(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                 const hac_bitonic_steps *step, hac_error *err)
{
    hac_status status = HAC_OK;
    end = end_of_work(job, end, step->subset);
    if (first >= end)
        return HAC_OK;
    uint64_t items = window_items(job, first, end, step->from);
    if (items == 0)
        return step_in_pieces(job, first, end, step, err);
    for (uint64_t i = first; i < end && status == HAC_OK; i += items) {
        uint64_t stop = min(i + items, end);
        status = need_work(job, i, stop, false, err);
        if (status == HAC_OK)
            status = launch_step(job, &job->work_view, &job->work_view, i >> 1,
                                 (round_up(stop, step->from) - i) >> 1, step, err);
    }
    return status;
}
