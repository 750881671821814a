/* SPDX-License-Identifier: Apache-2.0 */
/* What the builders of query plans share: query_build.c, query_round.c. */
#ifndef PLANNER_QUERY_BUILDING_H
#define PLANNER_QUERY_BUILDING_H

#include "query_build.h"

typedef struct hac_query_building {
    hac_plan *plan;
    const hac_machine *machine;
    const hac_query_spec *spec;
    const hac_query_sizes *sizes;
    hac_query_strategy strategy;
    uint32_t set, host; /* masks of plan devices */
    uint32_t explored;  /* mask of plan devices that are measured with a piece */
    int in, quotes, partials, groups, parts, result, carry; /* -1: there is none */
    int splits[HAC_ROUND_SPLITS_MAX];
    uint32_t last[HAC_DESCRIPTORS_MAX + 1]; /* the tasks that the next ones wait for … */
    size_t n_last;
} hac_query_building;

/* Whether a device of the plan is a CPU. */
bool hac_building_is_cpu(const hac_query_building *b, size_t plan_device);
/* A CPU's local memory is ordinary memory: there hot keys gain nothing, unless somebody asks for them. */
bool hac_building_places_hot_keys(const hac_query_building *b);
/* A new plan, with its devices. hac_building_end must follow, also after an error. */
HAC_MUST_USE hac_status hac_building_begin(hac_query_building *b, const hac_machine *machine,
                                           const hac_query_spec *spec, const hac_query_sizes *sizes,
                                           hac_query_strategy strategy, const hac_device_set *set,
                                           const hac_device_set *host, hac_error *err);
/* Hands the plan over if `status` is HAC_OK and frees it otherwise. Returns `status`. */
HAC_MUST_USE hac_status hac_building_end(hac_query_building *b, hac_status status, hac_plan **ret);
/* The device set, with shares by capability, then the host devices that are not of it. */
void hac_building_devices(hac_query_building *b, const hac_device_set *set, const hac_device_set *host);
HAC_MUST_USE hac_status hac_building_buffer(hac_query_building *b, const char *name, hac_buffer_role role,
                                            uint64_t bytes, bool late, int *ret, hac_error *err);
/* All of a buffer; -1: an empty span. */
hac_plan_span hac_building_span(const hac_query_building *b, int buffer, hac_access access);
/* Elements [first, first + count) of `bytes` each are what a task touches. */
void hac_building_touch(hac_plan_span *s, uint64_t first, uint64_t count, uint64_t bytes);
/* The parameters that all tasks share. */
void hac_building_params(const hac_query_building *b, uint32_t pass, hac_plan_task *task);
/* The task's models: that of the format, and narrower ones. */
HAC_MUST_USE hac_status hac_building_model(hac_query_building *b, hac_plan_task *task, hac_error *err);
HAC_MUST_USE hac_status hac_building_narrower(hac_query_building *b, hac_plan_task *task, hac_error *err);
/* The source whose range is the longest: devices are measured with pieces of that one alone. */
static inline size_t hac_building_largest_source(const hac_query_spec *spec)
{
    size_t largest = 0;
    for (size_t i = 1; i < spec->n_sources; i++)
        if (spec->sources[i] > spec->sources[largest])
            largest = i;
    return largest;
}
/* The kernels of the task that aggregates, if the plan is mixed. `explores`: the explored devices take pieces
 * of the task; else they have no part in it. */
HAC_MUST_USE hac_status hac_building_kernels(hac_query_building *b, bool explores, hac_plan_task *task,
                                             hac_error *err);
void hac_building_info(const hac_query_building *b);

/* query.merge or, in a round that ends with a carry, query.carry: waits for b->last. */
HAC_MUST_USE hac_status hac_building_merge(hac_query_building *b, uint32_t pass, uint32_t *ret,
                                           hac_error *err);
/* The last task: query.finish or query.gather. */
HAC_MUST_USE hac_status hac_building_finish(hac_query_building *b, const uint32_t *deps, size_t n_deps,
                                            hac_error *err);
/* query.order, which waits for b->last, and query.join. */
HAC_MUST_USE hac_status hac_building_parts(hac_query_building *b, hac_error *err);
uint64_t hac_building_guess_result(const hac_query_spec *spec, const hac_query_sizes *sizes);

/* A first guess at the bytes of a chunk's region: groups are no larger than twice what they were made of. */
uint64_t hac_query_guess_region(const hac_query_spec *spec, const hac_query_sizes *sizes);
/* Bytes that there are for the buffers; without a limit so many that no product of sizes leaves 64 bits. */
uint64_t hac_query_memory(const hac_query_spec *spec);

#endif
