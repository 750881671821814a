/* SPDX-License-Identifier: Apache-2.0 */
/* Plans the rounds of a query whose input comes in splits (base/query_layout.h), and computes the sizes of
 * their buffers. */
#include <stdio.h>
#include <string.h>

#include "base/query_layout.h"
#include "base/split_layout.h"
#include "query_building.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

/* Partitions of the groups. The number of groups is not known in advance. If a data set has fewer than
 * GROUPS_FEW groups, PARTITIONS_FEW are enough: with more, merge tasks would cost more than the merging. */
#define PARTITIONS     256
#define PARTITIONS_FEW 32
#define GROUPS_FEW     4096
/* Partials are kept until they take this much memory, or as much as the carry if that is more, and at most
 * this fraction of the job's memory. Then they are merged into the carry. */
#define PARTIALS_BYTES (256 * MIB)
#define PARTIALS_PART  0.4
#define REGION_MIN     (16 * KIB)
#define REGION_SLACK   (4 * KIB)
#define SETS_A_THREAD  4
#define SPLIT_MIN      (4 * MIB)
#define SPLIT_MAX      (32 * MIB)
#define RANGE_MAX      (64 * MIB)
#define RANGE_PART     16   /* a file's range has at most 1/16 of the memory */
#define GROUPS_PART    0.75 /* fraction of the remaining memory that a carry, or the groups, may take */

static uint64_t align(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

/* ---- sizes ---- */

/* Size of a partial's region: the largest partial so far and a quarter more, or a guess before the first. */
static uint64_t wanted_region(const hac_query_spec *spec, const hac_round_memory *memory)
{
    hac_query_sizes sizes = {.chunk = memory->set_bytes, .partitions = spec->round.partitions};
    uint64_t region = spec->region > memory->needed ? spec->region : memory->needed;
    region = region > 0 ? region + region / 4 : hac_query_guess_region(spec, &sizes);
    return align(region > REGION_MIN ? region + REGION_SLACK : REGION_MIN, 4 * KIB);
}

uint32_t hac_round_partitions(const hac_query_spec *spec, const hac_round_memory *memory)
{
    bool few = memory->needed > 0 && memory->needed < GROUPS_FEW * spec->group_bytes;
    return few ? PARTITIONS_FEW : PARTITIONS;
}

static uint64_t partials_memory(const hac_query_spec *spec)
{
    return (uint64_t)((double)hac_query_memory(spec) * PARTIALS_PART);
}

hac_status hac_round_fit(hac_query_spec *spec, const hac_round_memory *memory, hac_error *err)
{
    bool groups = (spec->flags & HAC_COMPILED_AGGREGATES) != 0 && spec->keys > 0;
    hac_query_round *round = &spec->round;
    if (memory->carry == 0 || round->partitions == 0) /* the partitions of a carry do not change */
        round->partitions = groups ? hac_round_partitions(spec, memory) : 1;
    uint64_t sets = memory->sets > 0 ? memory->sets : 1, max = partials_memory(spec);
    uint64_t region = wanted_region(spec, memory), min = max / sets / (4 * KIB) * (4 * KIB);
    bool known = spec->region > 0 || memory->needed > 0;
    if (!known && region > min && min >= REGION_MIN)
        region = min; /* the size is a guess: what fits may well be enough */
    if (region > min)
        return hac_query_lacks_memory(spec, (double)region * (double)sets / PARTIALS_PART, err);
    uint64_t wanted = memory->carry > PARTIALS_BYTES ? memory->carry : PARTIALS_BYTES;
    uint64_t capacity = (wanted < max ? wanted : max) / region;
    capacity = capacity > sets ? capacity : sets;
    round->region = region;
    round->capacity = capacity < HAC_ROUND_CAPACITY_MAX ? capacity
                      : sets > HAC_ROUND_CAPACITY_MAX   ? sets
                                                        : HAC_ROUND_CAPACITY_MAX;
    return HAC_OK;
}

hac_round_stage hac_round_next(const hac_query_spec *spec, const hac_round_memory *memory)
{
    const hac_query_round *round = &spec->round;
    bool fits = memory->sets <= round->capacity && memory->held <= round->capacity - memory->sets;
    /* wasteful: the partials turned out smaller than their regions, so more would fit; seldom: the carry has
     * grown, so a larger buffer of partials would be merged less often */
    bool wasteful = round->region > 2 * wanted_region(spec, memory);
    bool small = spec->region > round->region;
    bool seldom = memory->held == 0 && memory->carry > 2 * round->region * round->capacity &&
                  round->capacity < HAC_ROUND_CAPACITY_MAX && memory->carry < partials_memory(spec);
    if (fits && !wasteful && !small && !seldom)
        return HAC_ROUND_AGGREGATE;
    return memory->held > 0 ? HAC_ROUND_CARRY : HAC_ROUND_NONE;
}

uint64_t hac_round_group_region(const hac_query_spec *spec, const hac_round_memory *memory, uint64_t carried)
{
    const hac_query_round *round = &spec->round;
    uint64_t partials = memory->held * (memory->needed < round->region ? memory->needed : round->region);
    uint64_t wanted = align(carried, 64) + hac_query_group_region(partials, round->partitions);
    uint64_t taken = round->region * round->capacity + memory->carry, all = hac_query_memory(spec);
    uint64_t limit = taken < all ? (uint64_t)((double)(all - taken) * GROUPS_PART) : 0;
    uint64_t min = hac_query_group_region(0, round->partitions);
    limit = limit / round->partitions / 64 * 64;
    if (limit < min)
        limit = min;
    return wanted < limit ? wanted : limit;
}

uint64_t hac_plan_split_bytes(const hac_machine *machine, uint32_t device_mask)
{
    uint64_t bytes = 0;
    for (size_t d = 0; d < machine->n_devices; d++) {
        const hac_machine_device *device = &machine->devices[d];
        if ((device_mask != 0 && (device_mask >> d & 1) == 0) || !device->usable)
            continue;
        /* data is copied to the device: larger splits make the copy worth while */
        bytes += device->host_memory ? device->threads * SETS_A_THREAD * HAC_SPLIT_SET_BYTES : SPLIT_MAX;
    }
    if (bytes == 0 || bytes > SPLIT_MAX) /* 0: no device is known yet */
        return SPLIT_MAX;
    return bytes > SPLIT_MIN ? bytes : SPLIT_MIN;
}

uint64_t hac_plan_range_bytes(uint64_t split_bytes, uint64_t memory)
{
    uint64_t bytes = memory / RANGE_PART < RANGE_MAX ? memory / RANGE_PART : RANGE_MAX;
    return bytes > split_bytes ? bytes : split_bytes;
}

/* ---- plans ---- */

static uint64_t sets_of(const hac_query_spec *spec)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < spec->n_sources; i++)
        sum += spec->round.sets[i];
    return sum;
}

void hac_query_round_sizes(const hac_query_spec *spec, uint32_t threads, hac_query_sizes *ret)
{
    const hac_query_round *round = &spec->round;
    bool adds = round->stage == HAC_ROUND_AGGREGATE;
    *ret = (hac_query_sizes){.chunk = round->set_bytes > 0 ? round->set_bytes : 1,
                             .chunks = adds ? round->capacity : round->held,
                             .region = round->region,
                             .partitions = round->partitions > 0 ? round->partitions : 1,
                             .passes = 1,
                             .group_region = round->group_region,
                             .groups = 1,
                             .grain = threads};
    if (round->stage == HAC_ROUND_ROWS)
        ret->chunks = sets_of(spec);
    if (spec->group_bytes > 0)
        ret->groups = round->group_region * ret->partitions / spec->group_bytes + 1;
}

static hac_status add_splits(hac_query_building *b, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < b->spec->n_sources && i < HAC_ROUND_SPLITS_MAX && status == HAC_OK; i++) {
        char name[16];
        b->splits[i] = -1;
        if (b->spec->round.files[i].there)
            continue;
        snprintf(name, sizeof(name), HAC_QUERY_BUFFER_SPLIT "%zu", i);
        status =
            hac_building_buffer(b, name, HAC_BUFFER_INPUT, b->spec->sources[i], false, &b->splits[i], err);
    }
    return status;
}

static void read_file(const hac_round_file *file, uint64_t bytes, hac_plan_task *task)
{
    task->uses_descriptor = true;
    HAC_EDIT_PARAMS(hac_query_params, task)->source_bytes = bytes;
    HAC_EDIT_PARAMS(hac_query_params, task)->chunk = file->set_bytes;
    HAC_EDIT_PARAMS(hac_query_params, task)->file_offset = file->offset;
    HAC_EDIT_PARAMS(hac_query_params, task)->bytes_before = file->bytes_before;
}

/* Adds one range task over the data sets of each split. */
static hac_status add_sets(hac_query_building *b, uint64_t first, hac_error *err)
{
    const hac_query_spec *spec = b->spec;
    hac_status status = HAC_OK;
    for (size_t i = 0; i < spec->n_sources && status == HAC_OK; i++) {
        uint64_t sets = spec->round.sets[i];
        if (sets == 0)
            continue;
        hac_plan_task task = {.codelet = hac_query_codelet(spec, b->strategy),
                              .range = true,
                              .count = sets,
                              .grain = b->sizes->grain < sets ? b->sizes->grain : sets,
                              .device_mask = b->set,
                              .device = -1,
                              .repeatable = true,
                              .descriptor = spec->round.slots[i], /* its name is used in messages */
                              .n_spans = 3,
                              .units = (double)spec->sources[i],
                              .part = 1,
                              .stage = b->strategy == HAC_QUERY_ROWS ? "rows" : "aggregate",
                              .item_first = first,
                              .item_count = sets};
        task.spans[0] = hac_building_span(b, b->partials, HAC_WRITE);
        task.spans[1] = hac_building_span(b, -1, HAC_READ);
        task.spans[2] = hac_building_span(b, b->splits[i], HAC_READ);
        hac_building_touch(&task.spans[0], first, sets, b->sizes->region);
        hac_building_params(b, 0, &task);
        HAC_EDIT_PARAMS(hac_query_params, &task)->first_chunk = first;
        HAC_EDIT_PARAMS(hac_query_params, &task)->data_sets = sets;
        if (spec->round.files[i].there)
            read_file(&spec->round.files[i], spec->sources[i], &task);
        status = hac_building_model(b, &task, err);
        if (status == HAC_OK)
            status = hac_building_kernels(b, i == hac_building_largest_source(spec), &task, err);
        if (status == HAC_OK)
            status = hac_plan_add_task(b->plan, &task, NULL, 0, &b->last[b->n_last++], err);
        first += sets;
    }
    return status;
}

static hac_status add_partials(hac_query_building *b, uint64_t chunks, hac_error *err)
{
    return hac_building_buffer(b, HAC_QUERY_BUFFER_PARTIALS, HAC_BUFFER_WORK, b->sizes->region * chunks,
                               false, &b->partials, err);
}

static hac_status add_aggregate(hac_query_building *b, hac_error *err)
{
    hac_status status = add_splits(b, err);
    if (status == HAC_OK)
        status = add_partials(b, b->spec->round.capacity, err);
    b->plan->result_buffer = b->partials; /* kept for the next round */
    return status == HAC_OK ? add_sets(b, b->spec->round.held, err) : status;
}

static hac_status add_result(hac_query_building *b, hac_error *err)
{
    hac_status status =
        hac_building_buffer(b, HAC_QUERY_BUFFER_RESULT, HAC_BUFFER_OUTPUT,
                            hac_building_guess_result(b->spec, b->sizes), true, &b->result, err);
    b->plan->result_buffer = b->result;
    return status;
}

static hac_status add_rows(hac_query_building *b, hac_error *err)
{
    hac_status status = add_splits(b, err);
    if (status == HAC_OK)
        status = add_partials(b, b->sizes->chunks, err);
    if (status == HAC_OK)
        status = add_result(b, err);
    if (status == HAC_OK)
        status = add_sets(b, 0, err);
    return status == HAC_OK ? hac_building_finish(b, b->last, b->n_last, err) : status;
}

/* Adds the merge of all partials and the carry into b->groups. `last`: and the task that makes the result. */
static hac_status add_merge(hac_query_building *b, bool last, hac_error *err)
{
    const hac_query_round *round = &b->spec->round;
    uint64_t bytes = b->sizes->group_region * b->sizes->partitions;
    uint32_t merge;
    hac_status status = add_partials(b, round->held, err);
    if (status == HAC_OK && round->carry != 0)
        status = hac_building_buffer(b, HAC_QUERY_BUFFER_CARRY, HAC_BUFFER_WORK,
                                     round->carry * b->sizes->partitions, false, &b->carry, err);
    if (status == HAC_OK)
        status =
            hac_building_buffer(b, HAC_QUERY_BUFFER_GROUPS, HAC_BUFFER_WORK, bytes, false, &b->groups, err);
    b->plan->result_buffer = b->groups;
    if (status == HAC_OK && last)
        status = add_result(b, err);
    if (status == HAC_OK)
        status = hac_building_merge(b, 0, &merge, err);
    return status == HAC_OK && last ? hac_building_finish(b, &merge, 1, err) : status;
}

static hac_status add_round(hac_query_building *b, hac_error *err)
{
    b->plan->query.chunks = b->spec->round.stage == HAC_ROUND_AGGREGATE ? sets_of(b->spec) : b->sizes->chunks;
    switch (b->spec->round.stage) {
    case HAC_ROUND_AGGREGATE:
        return add_aggregate(b, err);
    case HAC_ROUND_ROWS:
        return add_rows(b, err);
    case HAC_ROUND_CARRY:
        return add_merge(b, false, err);
    default:
        return add_merge(b, true, err);
    }
}

hac_status hac_query_build_round(const hac_machine *machine, const hac_query_spec *spec,
                                 const hac_query_sizes *sizes, hac_query_strategy strategy,
                                 const hac_device_set *set, const hac_device_set *host, hac_plan **ret,
                                 hac_error *err)
{
    hac_query_building b;
    hac_status status = hac_building_begin(&b, machine, spec, sizes, strategy, set, host, err);
    return hac_building_end(&b, status == HAC_OK ? add_round(&b, err) : status, ret);
}
