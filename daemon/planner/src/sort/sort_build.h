/* SPDX-License-Identifier: Apache-2.0 */
/* The plans a sort can become. Each plan is built for a given set of devices; sort_plan.c prices them and
 * chooses. */
#ifndef PLANNER_SORT_BUILD_H
#define PLANNER_SORT_BUILD_H

#include "plan/device_set.h"
#include "plan/price.h"
#include "planner/sort_plan.h"
#include "split.h"

/* Buffers that every sort plan has, by index; -1 where it has none. */
typedef struct hac_sort_buffers {
    int in, payload, out, payload_out, index;
    uint32_t
        host; /* devices whose executors run host codelets beside their kernels: CPUs; without one, all */
    uint32_t ready; /* task after which the input is there … */
    bool has_ready; /* … if it has to be read first */
} hac_sort_buffers;

/* Whether indices are what is sorted: asked for, or needed to gather a payload. */
static inline bool hac_sort_by_index(const hac_sort_spec *spec)
{
    return spec->argsort || spec->payload_bytes > 0;
}

/* Bytes of one index of the result: 4, from 2^32 items 8. */
static inline uint64_t hac_sort_index_bytes(const hac_sort_spec *spec)
{
    return spec->items >= UINT64_C(1) << 32 ? 8 : 4;
}

/* A plan with the set's devices and shares, the sort's facts, buffers, and the io.read task if needed. */
hac_status hac_sort_begin(const hac_machine *machine, const hac_sort_spec *spec, const hac_device_set *set,
                          const char *algorithm, hac_plan **ret, hac_sort_buffers *ret_buffers,
                          hac_error *err);

/* What follows the sort itself, behind the tasks that wrote the result: NaNs into input order for floats
 * without index, keys and payload gathered by index for a payload; nothing otherwise. */
hac_status hac_sort_finish(hac_plan *plan, const hac_sort_spec *spec, const hac_sort_buffers *buffers,
                           const uint32_t *deps, size_t n_deps, hac_error *err);

hac_status hac_radix_build(const hac_machine *machine, const hac_sort_spec *spec, const hac_device_set *set,
                           hac_plan **ret, hac_error *err);
hac_status hac_small_build(const hac_machine *machine, const hac_sort_spec *spec, const hac_device_set *set,
                           hac_plan **ret, hac_error *err);
hac_status hac_bitonic_build(const hac_machine *machine, const hac_sort_spec *spec, const hac_device_set *set,
                             hac_sort_scheme scheme, hac_plan **ret, hac_error *err);

/* A span of a whole buffer. */
hac_plan_span hac_whole_span(const hac_plan *plan, int buffer, hac_access access);

/* Bits of all devices of the plan. */
static inline uint32_t hac_plan_mask(const hac_plan *plan)
{
    return (uint32_t)((UINT64_C(1) << plan->n_devices) - 1);
}

#endif
