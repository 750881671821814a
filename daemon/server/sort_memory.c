/* SPDX-License-Identifier: Apache-2.0 */
#include "sort_memory.h"

#include <stdio.h>

typedef struct search {
    const hac_machine *machine;
    uint64_t limit, least; /* bytes; the least that any plan needed */
    hac_plan *best;        /* the fastest that fits */
} search;

uint64_t hac_plan_memory(const hac_plan *plan)
{
    uint64_t all = 0;
    for (size_t i = 0; i < plan->n_buffers; i++)
        if (__builtin_add_overflow(all, plan->buffers[i].bytes, &all))
            return UINT64_MAX;
    return all;
}

/* Takes the plan. */
static void look_at(search *s, hac_plan *plan)
{
    uint64_t bytes = hac_plan_memory(plan);
    if (bytes < s->least)
        s->least = bytes;
    bool better = s->best == NULL || plan->predicted_seconds < s->best->predicted_seconds;
    if (bytes > s->limit || !better) {
        hac_plan_free(plan);
        return;
    }
    hac_plan_free(s->best);
    s->best = plan;
}

static void try_one(search *s, hac_sort_spec spec, hac_sort_algorithm algorithm, uint32_t device_mask)
{
    hac_plan *plan = NULL;
    spec.algorithm = algorithm;
    spec.device_mask = device_mask;
    if (hac_plan_sort(s->machine, &spec, &plan, NULL) == HAC_OK)
        look_at(s, plan);
}

/* Each algorithm that is left open, with all devices and with each of them alone. */
static void try_others(search *s, const hac_sort_spec *spec)
{
    for (hac_sort_algorithm a = HAC_SORT_BITONIC; a <= HAC_SORT_RADIX; a++) {
        if (spec->algorithm != HAC_SORT_AUTO && spec->algorithm != a)
            continue;
        try_one(s, *spec, a, spec->device_mask);
        for (uint32_t d = 0; d < s->machine->n_devices && spec->scheme == HAC_SCHEME_AUTO; d++)
            if (spec->device_mask == 0 || (spec->device_mask & (UINT32_C(1) << d)))
                try_one(s, *spec, a, UINT32_C(1) << d);
    }
}

/* To the planner its algorithm was asked for; the reason was another one. */
static void give_reason(hac_plan *plan)
{
    for (size_t i = 0; i < plan->n_candidates; i++)
        if (plan->candidates[i].chosen)
            snprintf(plan->candidates[i].reason, sizeof plan->candidates[i].reason,
                     "the best within the memory allowed");
}

hac_status hac_plan_sort_within(const hac_machine *machine, const hac_sort_spec *spec, uint64_t limit,
                                hac_plan **ret, hac_error *err)
{
    hac_plan *fastest = NULL;
    hac_status status = hac_plan_sort(machine, spec, &fastest, err);
    if (status != HAC_OK)
        return status;
    if (limit == 0 || hac_plan_memory(fastest) <= limit) {
        *ret = fastest;
        return HAC_OK;
    }
    search s = {.machine = machine, .limit = limit, .least = UINT64_MAX};
    look_at(&s, fastest);
    try_others(&s, spec);
    if (s.best == NULL)
        return hac_fail(err, HAC_REFUSED,
                        "the job needs at least %llu bytes in all, above its limit of %llu bytes",
                        (unsigned long long)s.least, (unsigned long long)limit);
    give_reason(s.best);
    *ret = s.best;
    return HAC_OK;
}
