/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitonic plans. The network is walked in order; every step is run exactly once on every item. A weaker
 * device's part is its own in the steps of reach ≤ its S that are not folded (split.h); the strongest device
 * runs all the rest, as few ranges as there are. A device's stretch of steps on a range becomes a chain of
 * tasks of the codelets
 *
 *   bitonic.block  subsets 1 … b inside blocks of 2^b      bitonic.merge  the steps of a subset with reach >
 * b bitonic.steps  any steps on any range                  bitonic.tail   its steps with reach ≤ b
 *
 * of base/bitonic_layout.h, where b suits the device. Short ranges, and stretches that do not begin or end
 * where these passes do, are one bitonic.steps task.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitonic_layout.h"
#include "base/type.h"
#include "sort_build.h"

#define FEW_BLOCKS   4                   /* up to this many blocks a stretch is one task */
#define NEAR_TASKS   8                   /* of a part: each does the subsets that lie in near memory … */
#define NEAR_ITEMS   (UINT64_C(1) << 25) /* … of so many items at most: a cancel waits for a task's end */
#define MAX_SEGMENTS ((4 + NEAR_TASKS) * HAC_DEVICES_MAX)
#define MAX_SLICES   HAC_DEVICES_MAX /* of a merge that all devices do together */
#define MAX_DEPS     (MAX_SEGMENTS * MAX_SLICES)
#define SLICED_STEPS 4 /* most steps of a merge in slices: one pass on every device */

/* Who wrote a range of items last: one task, or all slices of a merge, which follow each other. */
typedef struct segment {
    uint64_t first, end;
    uint32_t task, tasks;
} segment;

typedef struct range {
    uint64_t first, end;
} range;

typedef struct weaver {
    const hac_machine *machine;
    const hac_sort_spec *spec;
    hac_plan *plan;
    hac_sort_buffers buffers;
    hac_split split;
    uint32_t n_steps;
    uint64_t m;
    int work;             /* buffer of the items between passes */
    uint32_t index_bytes; /* hac_bitonic_index */
    uint32_t item_bytes;
    uint32_t tile;
    uint32_t block[HAC_DEVICES_MAX]; /* log2 */
    uint32_t near[HAC_DEVICES_MAX];  /* log2; 0: memory is not shared, or has no levels */
    uint32_t fused[HAC_DEVICES_MAX];
    bool folded[HAC_MAX_STEPS + 2];   /* by step */
    uint8_t reach[HAC_MAX_STEPS + 2]; /* by step */
    uint32_t own[65];                 /* by reach: bits of the weaker parts that are independent */
    double whole[HAC_DEVICES_MAX];    /* steps_weight of the network */
    segment segments[MAX_SEGMENTS];
    size_t n_segments;
    uint32_t slices[HAC_DEVICES_MAX]; /* of a merge on all items: each device's; all 0: not sliced */
    /* instead of adding tasks: */
    bool pricing;
    double price;
} weaver;

static const char *const pass_names[4][3] = {
    {"bitonic.steps", "bitonic.steps.index", "bitonic.steps.index64"},
    {"bitonic.block", "bitonic.block.index", "bitonic.block.index64"},
    {"bitonic.merge", "bitonic.merge.index", "bitonic.merge.index64"},
    {"bitonic.tail", "bitonic.tail.index", "bitonic.tail.index64"},
};

typedef enum pass { STEPS, BLOCK, MERGE, TAIL } pass;

static const char *const stage_names[] = {"steps", "block", "merge", "tail"};

/* ---- who wrote what last ---- */

static size_t add_deps(uint32_t *deps, size_t n, const segment *s)
{
    for (uint32_t t = s->task; t < s->task + s->tasks; t++) {
        bool known = false;
        for (size_t d = 0; d < n; d++)
            known |= deps[d] == t;
        if (!known)
            deps[n++] = t;
    }
    return n;
}

/* Collects the tasks that [first, end) waits for and makes `tasks` from `task` on those that wrote it. */
static size_t take_over(weaver *w, range r, uint32_t task, uint32_t tasks, uint32_t *deps)
{
    segment kept[MAX_SEGMENTS];
    size_t n_kept = 0, n_deps = 0;
    for (size_t i = 0; i < w->n_segments; i++) {
        segment s = w->segments[i];
        if (s.end <= r.first || r.end <= s.first) {
            kept[n_kept++] = s;
            continue;
        }
        n_deps = add_deps(deps, n_deps, &s);
        if (s.first < r.first)
            kept[n_kept++] = (segment){s.first, r.first, s.task, s.tasks};
        if (r.end < s.end)
            kept[n_kept++] = (segment){r.end, s.end, s.task, s.tasks};
    }
    kept[n_kept++] = (segment){r.first, r.end, task, tasks};
    memcpy(w->segments, kept, n_kept * sizeof(*kept));
    w->n_segments = n_kept;
    return n_deps;
}

/* ---- tasks ---- */

/* Passes over memory of `steps` steps of reach > b. */
static uint32_t merge_passes(const weaver *w, uint32_t device, uint32_t steps)
{
    return (steps + w->fused[device] - 1) / w->fused[device];
}

/* What the steps s0 … s1 of one subset cost in passes over memory; what bitonic.steps makes of them. */
static double subset_weight(const weaver *w, uint32_t device, uint32_t s0, uint32_t s1)
{
    unsigned q, high, b = w->block[device];
    hac_network_locate(s0, &q, &high);
    unsigned low = high - (s1 - s0), end = low;
    double weight = 0;
    if (low == 1 && high > b)
        end = b + 1; /* the rest is a tail */
    else if (low == 1 && high == q)
        end = high; /* the mirror first */
    else if (low == 1)
        end = high + 1;
    if (end <= w->tile && end <= high) /* strides inside a tile: step by step */
        weight += HAC_SINGLE_STEP * ((high < w->tile ? high : w->tile) - end + 1.0);
    if (high > w->tile && end <= high)
        weight += merge_passes(w, device, high - (end > w->tile ? end - 1 : w->tile));
    if (low == 1 && end > 1)
        weight += end - 1 >= w->tile ? 1 + HAC_CACHED_STEP * (end - 1) : HAC_SINGLE_STEP * (end - 1.0);
    return weight;
}

/* The same for steps of any subsets. A stretch that begins with step 1 begins with a pass over blocks. */
static double steps_weight(const weaver *w, uint32_t device, uint32_t s0, uint32_t s1)
{
    double weight = 0;
    uint32_t s = s0;
    if (s0 == 1) {
        uint32_t p = 0;
        while (p < w->block[device] && hac_network_steps(p + 1) <= s1)
            p++;
        bool blocks = p >= w->tile || s1 == w->n_steps;
        weight += blocks ? 1 + HAC_CACHED_STEP * hac_network_steps(p) : 1;
        s = blocks ? hac_network_steps(p) + 1 : 1;
    }
    while (s <= s1) {
        unsigned q, reach;
        hac_network_locate(s, &q, &reach);
        uint32_t last = hac_network_steps(q) < s1 ? hac_network_steps(q) : s1;
        weight += subset_weight(w, device, s, last);
        s = last + 1;
    }
    return weight;
}

static double count_units(const weaver *w, pass kind, uint32_t device, uint64_t items, uint32_t s0,
                          uint32_t s1)
{
    if (kind == BLOCK || kind == TAIL)
        return (double)items * (s1 - s0 + 1);
    return (double)items *
           (kind == MERGE ? merge_passes(w, device, s1 - s0 + 1) : steps_weight(w, device, s0, s1));
}

/* How much of a whole sort on that device this is. */
static double part_of_sort(const weaver *w, uint32_t device, uint64_t items, uint32_t s0, uint32_t s1)
{
    return steps_weight(w, device, s0, s1) / w->whole[device] * (double)items / (double)w->m;
}

/* Models of bitonic.steps and bitonic.merge are kept by the kind of work: ":first" what begins with blocks,
 * ":lone" what has steps one by one, ":rest"; and by the steps of a merge pass. */
static void name_model(const weaver *w, const hac_plan_task *task, pass kind, uint32_t device, char *name,
                       size_t capacity)
{
    uint32_t steps = task->step_last - task->step_first + 1;
    double weight = kind == STEPS ? steps_weight(w, device, task->step_first, task->step_last) : 0;
    if (kind == MERGE)
        snprintf(name, capacity, "%s:%u", task->codelet,
                 (steps + merge_passes(w, device, steps) - 1) / merge_passes(w, device, steps));
    else if (kind == STEPS && task->step_first == 1 && weight < 1 + steps)
        snprintf(name, capacity, "%s:first", task->codelet);
    else if (kind == STEPS)
        snprintf(name, capacity, "%s:%s", task->codelet, weight >= HAC_SINGLE_STEP ? "lone" : "rest");
    else
        snprintf(name, capacity, "%s", task->codelet);
}

static void set_spans(const weaver *w, hac_plan_task *task, range r, uint32_t s0)
{
    uint64_t key = hac_type_size(w->spec->type);
    task->spans[0] = hac_whole_span(w->plan, w->buffers.in, HAC_READ);
    task->spans[0].touch_first = r.first * key;
    task->spans[0].touch_end = s0 == 1 ? r.end * key : r.first * key;
    task->spans[1] = hac_whole_span(w->plan, w->work, s0 == 1 ? HAC_WRITE : HAC_READ_WRITE);
    task->spans[1].touch_first = r.first * w->item_bytes;
    task->spans[1].touch_end = r.end * w->item_bytes;
    task->n_spans = 2;
    if (w->index_bytes > 0) {
        task->spans[2] = hac_whole_span(w->plan, w->buffers.index, HAC_WRITE);
        task->spans[2].touch_first = r.first * w->index_bytes;
        task->spans[2].touch_end =
            task->step_last == w->n_steps ? r.end * w->index_bytes : r.first * w->index_bytes;
        task->n_spans = 3;
    }
}

static void set_params(const weaver *w, hac_plan_task *task, pass kind, uint32_t device, uint32_t s0,
                       uint32_t s1)
{
    hac_bitonic_params params = {
        .items = w->m, .index_bytes = w->index_bytes, .block_log2 = w->block[device]};
    unsigned q = 1, reach = 1;
    if (s1 >= s0)
        hac_network_locate(s0, &q, &reach);
    if (kind == STEPS) {
        params.first_step = s0;
        params.last_step = s1;
    } else if (kind == MERGE) {
        params.subset = q;
        params.step = q - reach + 1;
        params.steps = s1 - s0 + 1;
        params.slices = 1;
    } else if (kind == TAIL) {
        params.subset = q;
        params.steps = s1 - s0 + 1;
    }
    HAC_SET_PARAMS(task, &params);
}

static hac_plan_task make(const weaver *w, pass kind, uint32_t device, range r, uint32_t s0, uint32_t s1,
                          bool side_by_side)
{
    unsigned suffix = w->index_bytes == 0 ? 0 : w->index_bytes == 4 ? 1 : 2;
    hac_plan_task task = {
        .codelet = pass_names[kind][suffix],
        .type = w->spec->type,
        .descending = w->spec->descending,
        .first = r.first,
        .count = r.end - r.first,
        .device_mask = UINT32_C(1) << device,
        .device = (int)device,
        .repeatable = s0 == 1,
        .units = count_units(w, kind, device, r.end - r.first, s0, s1),
        .part = part_of_sort(w, device, r.end - r.first, s0, s1),
        .stage = stage_names[kind],
        .step_first = s0,
        .step_last = s1,
        .side_by_side = side_by_side,
        .item_first = r.first,
        .item_count = r.end - r.first,
    };
    set_spans(w, &task, r, s0);
    set_params(w, &task, kind, device, s0, s1);
    return task;
}

static double price_of(const weaver *w, const hac_plan_task *task, double fraction)
{
    hac_price_source source;
    double seconds = hac_price_task(w->machine, w->plan->devices[task->device].machine_index, w->m, task,
                                    fraction, task->side_by_side, &source);
    /* whoever asks for a scheme gets it: then only work and transfers count, as in the source */
    if (w->spec->scheme == HAC_SCHEME_AUTO)
        seconds += HAC_DISPATCH_SECONDS;
    else if (source == HAC_PRICE_ASSUMED || source == HAC_PRICE_PROFILE)
        seconds -= HAC_LAUNCH_SECONDS;
    return seconds;
}

static hac_status add(weaver *w, pass kind, uint32_t device, range r, uint32_t s0, uint32_t s1,
                      bool side_by_side, hac_error *err)
{
    hac_plan_task task = make(w, kind, device, r, s0, s1, side_by_side);
    char model[40];
    name_model(w, &task, kind, device, model, sizeof(model));
    task.model = model;
    if (w->pricing) {
        w->price += price_of(w, &task, 1);
        return HAC_OK;
    }
    hac_status status = hac_plan_add_string(w->plan, model, &task.model, err);
    if (status != HAC_OK)
        return status;
    uint32_t deps[MAX_DEPS];
    size_t n_deps = take_over(w, r, (uint32_t)w->plan->n_tasks, 1, deps);
    return hac_plan_add_task(w->plan, &task, deps, n_deps, NULL, err);
}

/* ---- merges in slices ---- */

static uint32_t count_slices(const weaver *w)
{
    uint32_t all = 0;
    for (size_t d = 0; d < w->plan->n_devices; d++)
        all += w->slices[d];
    return all;
}

/* A merge of all items that nothing runs beside: with the free choice of the scheme all devices do it
 * together, if one pass does it and they share memory. */
static bool goes_in_slices(const weaver *w, range r, uint32_t s0, uint32_t s1, bool side_by_side)
{
    return count_slices(w) > 1 && !side_by_side && r.first == 0 && r.end == w->m && s1 - s0 < SLICED_STEPS;
}

/* A task a slice; what they wait for is the same, and what comes next waits for all of them. */
static hac_status add_slices(weaver *w, range r, uint32_t s0, uint32_t s1, hac_error *err)
{
    uint32_t all = count_slices(w), slice = 0, first = (uint32_t)w->plan->n_tasks, deps[MAX_DEPS];
    double longest = 0;
    size_t n_deps = w->pricing ? 0 : take_over(w, r, first, all, deps);
    for (uint32_t d = 0; d < w->plan->n_devices; d++) {
        hac_plan_task task = make(w, MERGE, d, r, s0, s1, true);
        char model[40];
        name_model(w, &task, MERGE, d, model, sizeof(model));
        task.model = model;
        task.units /= all;
        task.part /= all;
        task.slices = all;
        hac_bitonic_params params = *HAC_PARAMS(hac_bitonic_params, &task);
        params.slices = all;
        longest = fmax(longest, price_of(w, &task, 1) * w->slices[d]);
        for (uint32_t i = 0; i < w->slices[d] && !w->pricing; i++) {
            params.slice = task.slice = slice++;
            HAC_SET_PARAMS(&task, &params);
            hac_status status = hac_plan_add_string(w->plan, model, &task.model, err);
            if (status == HAC_OK)
                status = hac_plan_add_task(w->plan, &task, deps, n_deps, NULL, err);
            if (status != HAC_OK)
                return status;
        }
    }
    w->price += longest;
    return HAC_OK;
}

/* How many slices each device gets, by capability: as many in all as make one for the weakest. */
static void share_slices(weaver *w)
{
    double sum = 0, weakest = INFINITY;
    size_t n = w->plan->n_devices;
    bool possible = n > 1 && w->spec->scheme == HAC_SCHEME_AUTO;
    for (size_t d = 0; d < n; d++) {
        const hac_machine_device *device = &w->machine->devices[w->plan->devices[d].machine_index];
        double own = w->plan->devices[d].capability;
        /* as the codelet wants it: a whole group in a window with room to spare */
        possible = possible && device->host_memory &&
                   (device->max_allocation == 0 || device->max_allocation >> w->split.n >= 32);
        sum += own;
        weakest = fmin(weakest, own);
    }
    if (!possible)
        return;
    double all = fmin(fmax(round(sum / weakest), (double)n), MAX_SLICES);
    uint32_t given = 0;
    for (size_t d = n; d-- > 1;) /* the strongest takes the rest */
        given += w->slices[d] = (uint32_t)round(w->plan->devices[d].capability / sum * all);
    w->slices[0] = given < (uint32_t)all ? (uint32_t)all - given : 0;
}

/* The steps s0 … s1 of one subset. */
static hac_status add_subset(weaver *w, uint32_t device, range r, uint32_t s0, uint32_t s1, bool side,
                             hac_error *err)
{
    unsigned q, high;
    hac_network_locate(s0, &q, &high);
    unsigned low = high - (s1 - s0), b = w->block[device];
    bool whole_tail = low == 1 && (high <= b ? high >= w->tile && high < q : true);
    bool no_tail = low > w->tile;
    if (!whole_tail && !no_tail)
        return add(w, STEPS, device, r, s0, s1, side, err);
    hac_status status = HAC_OK;
    unsigned t = no_tail ? 0 : high < b ? high : b;
    uint32_t merges = s1 - t;
    if (merges >= s0 && goes_in_slices(w, r, s0, merges, side))
        status = add_slices(w, r, s0, merges, err);
    else if (merges >= s0)
        status = add(w, MERGE, device, r, s0, merges, side, err);
    if (status == HAC_OK && t > 0)
        status = add(w, TAIL, device, r, merges + 1 > s0 ? merges + 1 : s0, s1, side, err);
    return status;
}

/* The first steps, up to *ret_next, near range by near range: the task finishes the subsets of one in the
 * last-level cache. Where there are too many such ranges a task takes several; false: too many for that. */
static bool add_near(weaver *w, uint32_t device, range r, uint32_t s1, bool side, uint32_t *ret_next,
                     hac_status *ret_status, hac_error *err)
{
    uint32_t near = w->near[device];
    while (near > w->block[device] && hac_network_steps(near) > s1)
        near--;
    uint64_t items = UINT64_C(1) << near;
    while (items * NEAR_TASKS < r.end - r.first)
        items *= 2;
    if (near <= w->block[device] || items > NEAR_ITEMS || r.first % items != 0)
        return false;
    *ret_next = hac_network_steps(near) + 1;
    for (uint64_t at = r.first; at < r.end && *ret_status == HAC_OK; at += items) {
        range part = {at, at + items < r.end ? at + items : r.end};
        *ret_status = add(w, STEPS, device, part, 1, *ret_next - 1, side, err);
    }
    return true;
}

/* Steps s0 … s1 of the network on the range, on one device. */
static hac_status add_stretch(weaver *w, uint32_t device, range r, uint32_t s0, uint32_t s1, bool side,
                              hac_error *err)
{
    uint32_t b = w->block[device], s = s0;
    hac_status status = HAC_OK;
    if (r.end - r.first <= (uint64_t)FEW_BLOCKS << b)
        return add(w, STEPS, device, r, s0, s1, side, err);
    if (s0 == 1 && add_near(w, device, r, s1, side, &s, &status, err)) {
        /* done */
    } else if (s0 == 1 && s1 >= hac_network_steps(b) && r.first % (UINT64_C(1) << b) == 0) {
        status = add(w, BLOCK, device, r, 1, hac_network_steps(b), side, err);
        s = hac_network_steps(b) + 1;
    } else if (s0 == 1) {
        /* a part whose own steps end inside the block: all that can be in cache is one task */
        unsigned q, reach;
        hac_network_locate(s1, &q, &reach);
        uint32_t last = reach == 1 ? s1 : hac_network_steps(q - 1);
        last = last < hac_network_steps(b) ? last : s1;
        if (last >= 1)
            status = add(w, STEPS, device, r, 1, last, side, err);
        s = last + 1;
    }
    while (status == HAC_OK && s <= s1) {
        unsigned q, reach;
        hac_network_locate(s, &q, &reach);
        uint32_t last = hac_network_steps(q) < s1 ? hac_network_steps(q) : s1;
        status = add_subset(w, device, r, s, last, side, err);
        s = last + 1;
    }
    return status;
}

/* ---- the walk ---- */

/* Bits of the weaker parts that run this step themselves. */
static uint32_t own_parts(const weaver *w, uint32_t step)
{
    return w->folded[step] ? 0 : w->own[w->reach[step]];
}

static bool own_step(const weaver *w, size_t part, uint32_t step)
{
    return own_parts(w, step) >> part & 1;
}

/* What is left for the strongest device, as maximal ranges. */
static size_t strong_ranges(const weaver *w, uint32_t own, range *ret)
{
    size_t n = 0;
    for (size_t p = 0; p < w->split.n_parts; p++) {
        const hac_split_part *part = &w->split.parts[p];
        if ((own >> p & 1) || part->items == 0)
            continue;
        if (n > 0 && ret[n - 1].end == part->first)
            ret[n - 1].end = part->first + part->items;
        else
            ret[n++] = (range){part->first, part->first + part->items};
    }
    return n;
}

static uint32_t strongest(const weaver *w)
{
    return w->split.parts[w->split.n_parts - 1].device;
}

/* The strongest device's work of steps s0 … s1. */
static hac_status add_strong(weaver *w, uint32_t s0, uint32_t s1, hac_error *err)
{
    hac_status status = HAC_OK;
    for (uint32_t s = s0; s <= s1 && status == HAC_OK;) {
        uint32_t own = own_parts(w, s), last = s;
        while (last < s1 && own_parts(w, last + 1) == own)
            last++;
        range ranges[HAC_DEVICES_MAX];
        size_t n = strong_ranges(w, own, ranges);
        for (size_t i = 0; i < n && status == HAC_OK; i++)
            status = add_stretch(w, strongest(w), ranges[i], s, last, own != 0, err);
        s = last + 1;
    }
    return status;
}

/* A weaker part's own steps within s0 … s1 (folded ones left out). */
static hac_status add_weak(weaver *w, size_t part, uint32_t s0, uint32_t s1, hac_error *err)
{
    const hac_split_part *p = &w->split.parts[part];
    hac_status status = HAC_OK;
    for (uint32_t s = s0; s <= s1 && status == HAC_OK; s++) {
        if (!own_step(w, part, s))
            continue;
        uint32_t last = s;
        while (last < s1 && own_step(w, part, last + 1))
            last++;
        status = add_stretch(w, p->device, (range){p->first, p->first + p->items}, s, last, true, err);
        s = last;
    }
    return status;
}

/* The walk: phase by phase, a phase being steps in which the same parts are on their own devices. A part's
 * own run is added where it begins, whole: no later phase of the strongest device touches that part before
 * the run ends. */
static hac_status add_all(weaver *w, hac_error *err)
{
    hac_status status = HAC_OK;
    if (w->n_steps == 0)
        return add(w, STEPS, strongest(w), (range){0, w->m}, 1, 0, false, err);
    for (uint32_t s = 1; s <= w->n_steps && status == HAC_OK;) {
        uint32_t own = own_parts(w, s), last = s;
        while (last < w->n_steps && own_parts(w, last + 1) == own)
            last++;
        for (size_t p = 0; p + 1 < w->split.n_parts && status == HAC_OK; p++) {
            uint32_t end = s;
            if (!(own >> p & 1) || (s > 1 && own_step(w, p, s - 1)))
                continue;
            while (end < w->n_steps && own_step(w, p, end + 1))
                end++;
            status = add_weak(w, p, s, end, err);
        }
        if (status == HAC_OK)
            status = add_strong(w, s, last, err);
        s = last + 1;
    }
    return status;
}

/* ---- folding ---- */

static double price_strong(weaver *w, uint32_t s0, uint32_t s1)
{
    w->price = 0;
    return add_strong(w, s0, s1, NULL) == HAC_OK ? w->price : INFINITY;
}

/* Steps s0 … s1 with everybody at work: as long as the last of them takes. */
static double price_side(weaver *w, uint32_t s0, uint32_t s1)
{
    double side = price_strong(w, s0, s1);
    for (size_t p = 0; p + 1 < w->split.n_parts; p++) {
        w->price = 0;
        side = fmax(side, add_weak(w, p, s0, s1, NULL) == HAC_OK ? w->price : INFINITY);
    }
    return side;
}

static void set_folded(weaver *w, uint32_t s0, uint32_t s1, bool folded)
{
    for (uint32_t s = s0; s <= s1; s++)
        w->folded[s] = folded;
}

/* The whole sort as it is folded now. */
static double price_all(weaver *w)
{
    double total = 0;
    for (uint32_t s = 1; s <= w->n_steps;) {
        bool side = own_parts(w, s) != 0;
        uint32_t last = s;
        while (last < w->n_steps && (own_parts(w, last + 1) != 0) == side)
            last++;
        total += side ? price_side(w, s, last) : price_strong(w, s, last);
        s = last + 1;
    }
    return total;
}

/* Folds the runs that the strongest device alone would end sooner. */
static void fold_short(weaver *w)
{
    const hac_sort_info *sort = &w->plan->sort;
    for (size_t i = 0; i < sort->n_corun; i++) {
        uint32_t s0 = sort->corun[i][0], s1 = sort->corun[i][1];
        double side = price_side(w, s0, s1);
        set_folded(w, s0, s1, true);
        set_folded(w, s0, s1, price_strong(w, s0, s1) <= side);
    }
}

/* A run by itself may pay and yet cut a fused pass of the strongest device in two: so folding none, the short
 * runs, and all are priced over the whole sort. */
static void fold_cheapest(weaver *w)
{
    const hac_sort_info *sort = &w->plan->sort;
    bool shorts[HAC_MAX_STEPS + 2];
    double none = price_all(w);
    fold_short(w);
    memcpy(shorts, w->folded, sizeof(shorts));
    double some = price_all(w);
    for (size_t i = 0; i < sort->n_corun; i++)
        set_folded(w, sort->corun[i][0], sort->corun[i][1], true);
    double all = price_all(w);
    if (none < some && none < all)
        memset(w->folded, 0, sizeof(w->folded));
    else if (some < all)
        memcpy(w->folded, shorts, sizeof(shorts));
}

/* Whoever asks for a scheme gets it, but for the runs that are too short by themselves. */
static void fold_auto(weaver *w)
{
    w->pricing = true;
    if (w->spec->scheme == HAC_SCHEME_AUTO)
        fold_cheapest(w);
    else
        fold_short(w);
    w->pricing = false;
}

static void fold(weaver *w)
{
    const hac_sort_info *sort = &w->plan->sort;
    if (w->spec->fold == HAC_FOLD_AUTO && sort->n_corun > 0)
        fold_auto(w);
    for (size_t f = 0; w->spec->fold == HAC_FOLD_STEPS && f < w->spec->n_fold_steps; f++)
        for (size_t i = 0; i < sort->n_corun; i++)
            if (w->spec->fold_steps[f] >= sort->corun[i][0] && w->spec->fold_steps[f] <= sort->corun[i][1])
                w->folded[w->spec->fold_steps[f]] = true;
}

/* ---- what explain says ---- */

static hac_status list_runs(unsigned n, unsigned S, uint32_t (**ret)[2], size_t *ret_n, hac_error *err)
{
    size_t runs = hac_split_corun(n, S, NULL);
    if (runs == 0)
        return HAC_OK;
    uint32_t(*list)[2] = calloc(runs, sizeof(*list));
    if (list == NULL)
        return hac_fail_no_memory(err);
    *ret_n = hac_split_corun(n, S, list);
    *ret = list;
    return HAC_OK;
}

static hac_status describe(weaver *w, hac_sort_scheme scheme, hac_error *err)
{
    static const char *const names[] = {"", "proportional", "lower", "upper", "none"};
    hac_sort_info *sort = &w->plan->sort;
    const hac_split *split = &w->split;
    snprintf(sort->scheme, sizeof(sort->scheme), "%s", names[scheme]);
    sort->weaker_items = split->weaker;
    hac_status status = list_runs(split->n, split->S, &sort->corun, &sort->n_corun, err);
    sort->parts = calloc(split->n_parts, sizeof(*sort->parts));
    if (sort->parts == NULL)
        return hac_fail_no_memory(err);
    sort->n_parts = split->n_parts;
    for (size_t p = 0; p < split->n_parts && status == HAC_OK; p++) {
        const hac_split_part *from = &split->parts[p];
        hac_sort_part *part = &sort->parts[p];
        part->device = from->device;
        part->first = from->first;
        part->items = from->items;
        part->k = from->k;
        part->N = from->N;
        /* alone, nothing runs beside it */
        status = list_runs(split->n, split->weaker > 0 ? from->S : 0, &part->corun, &part->n_corun, err);
        if (w->m > 0)
            w->plan->devices[from->device].share = (double)from->items / (double)w->m;
    }
    return status;
}

static hac_status list_folded(weaver *w, hac_error *err)
{
    hac_sort_info *sort = &w->plan->sort;
    sort->folded = calloc(w->n_steps + 1, sizeof(*sort->folded));
    if (sort->folded == NULL)
        return hac_fail_no_memory(err);
    for (uint32_t s = 1; s <= w->n_steps; s++)
        if (w->folded[s])
            sort->folded[sort->n_folded++] = s;
    return HAC_OK;
}

/* ---- building ---- */

static hac_status prepare(weaver *w, hac_error *err)
{
    hac_status status = HAC_OK;
    w->m = w->spec->items;
    w->index_bytes = hac_sort_by_index(w->spec) ? (uint32_t)hac_sort_index_bytes(w->spec) : 0;
    w->item_bytes = hac_bitonic_item_bytes(w->spec->type, (hac_bitonic_index)w->index_bytes);
    w->tile = hac_bitonic_tile_log2(w->item_bytes);
    w->work = w->buffers.out;
    if (w->index_bytes > 0) {
        uint8_t work = 0;
        status = hac_plan_add_buffer(w->plan, "work", HAC_BUFFER_WORK, w->m * w->item_bytes, &work, err);
        w->work = work;
        if (status == HAC_OK)
            w->plan->buffers[work].whole = !w->spec->from_descriptor;
    }
    for (size_t d = 0; d < w->plan->n_devices; d++) {
        const hac_machine_device *device = &w->machine->devices[w->plan->devices[d].machine_index];
        hac_bitonic_limits limits = {
            .block_items = device->block_items > 0 ? device->block_items : 1u << 15,
            .max_loop_iterations = device->max_loop_iterations,
            .local_memory = device->local_memory,
            .max_allocation = device->max_allocation,
            .simt = device->simt,
        };
        w->block[d] = hac_bitonic_block_log2(&limits, w->item_bytes);
        w->fused[d] = hac_bitonic_fused_steps(&limits, w->item_bytes);
        if (device->host_memory && !device->simt)
            w->near[d] = hac_bitonic_near_log2(device->max_allocation, w->item_bytes);
    }
    for (size_t d = 0; d < w->plan->n_devices; d++)
        w->whole[d] = steps_weight(w, (uint32_t)d, 1, w->n_steps);
    for (uint32_t step = 1; step <= w->n_steps; step++) {
        unsigned q, reach;
        hac_network_locate(step, &q, &reach);
        w->reach[step] = (uint8_t)reach;
    }
    for (size_t p = 0; p + 1 < w->split.n_parts; p++)
        for (unsigned reach = 1; reach <= w->split.parts[p].S && w->split.parts[p].items > 0; reach++)
            w->own[reach] |= UINT32_C(1) << p;
    share_slices(w);
    if (w->buffers.has_ready)
        w->segments[w->n_segments++] = (segment){0, w->m, w->buffers.ready, 1};
    return status;
}

/* Waits for all tasks that wrote the result last. */
static hac_status add_finish(weaver *w, hac_error *err)
{
    uint32_t deps[MAX_DEPS];
    size_t n_deps = take_over(w, (range){0, w->m}, 0, 0, deps);
    return hac_sort_finish(w->plan, w->spec, &w->buffers, deps, n_deps, err);
}

hac_status hac_bitonic_build(const hac_machine *machine, const hac_sort_spec *spec, const hac_device_set *set,
                             hac_sort_scheme scheme, hac_plan **ret, hac_error *err)
{
    if (spec->items >> (HAC_BITONIC_MAX_SUBSET - 1) != 0)
        return hac_fail(err, HAC_UNSUPPORTED, "more than 2^%d items", HAC_BITONIC_MAX_SUBSET - 1);
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_autofree weaver *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return hac_fail_no_memory(err);
    w->machine = machine;
    w->spec = spec;
    hac_status status = hac_sort_begin(machine, spec, set, "bitonic", &plan, &w->buffers, err);
    if (status != HAC_OK)
        return status;
    w->plan = plan;
    hac_split_make(set->capability, set->n, spec->items, scheme, &w->split);
    w->n_steps = hac_network_steps(w->split.n);
    status = prepare(w, err);
    if (status == HAC_OK)
        status = describe(w, scheme, err);
    if (status == HAC_OK) {
        fold(w);
        status = list_folded(w, err);
    }
    if (status == HAC_OK && w->m > 0)
        status = add_all(w, err);
    if (status == HAC_OK && w->m > 0)
        status = add_finish(w, err);
    if (status != HAC_OK)
        return status;
    *ret = hac_steal_ptr(plan);
    return HAC_OK;
}
