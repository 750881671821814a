/* SPDX-License-Identifier: Apache-2.0 */
#include "sort_memory.h"

#include <stdio.h>
#include <string.h>

#define PAGES_SLACK                                                                                          \
    (8 *                                                                                                     \
     UINT64_C(4096)) /* of a sort's buffers at most: the pool's buffers are whole pages                  \
                          */

typedef struct plan_search {
    const hac_machine *machine;
    uint64_t limit, min_bytes; /* limit in bytes, and the minimum of all plans */
    hac_plan *best;            /* the fastest plan that fits */
} plan_search;

/* Takes ownership of the plan. */
static void look_at(plan_search *s, hac_plan *plan)
{
    uint64_t bytes = hac_plan_memory(plan);
    if (bytes < s->min_bytes)
        s->min_bytes = bytes;
    bool better = s->best == NULL || plan->predicted_seconds < s->best->predicted_seconds;
    if (bytes > s->limit || !better) {
        hac_plan_free(plan);
        return;
    }
    hac_plan_free(s->best);
    s->best = plan;
}

static void try_one(plan_search *s, hac_sort_spec spec, hac_sort_algorithm algorithm, uint32_t device_mask)
{
    hac_plan *plan = NULL;
    spec.algorithm = algorithm;
    spec.device_mask = device_mask;
    if (hac_plan_sort(s->machine, &spec, &plan, NULL) == HAC_OK)
        look_at(s, plan);
}

/* Each algorithm that the specification allows, with all devices and with each device alone. */
static void try_others(plan_search *s, const hac_sort_spec *spec)
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

/* The planner took the algorithm as asked for; this names the true reason. */
static void give_reason(hac_plan *plan, const char *fastest, uint64_t wanted, uint64_t limit)
{
    for (size_t i = 0; i < plan->n_candidates; i++)
        if (!plan->candidates[i].chosen && plan->candidates[i].cause == HAC_CAUSE_NOT_ASKED)
            snprintf(plan->candidates[i].reason, sizeof plan->candidates[i].reason,
                     "faster, but not within the memory allowed, or not asked for");
        else if (plan->candidates[i].chosen)
            snprintf(plan->candidates[i].reason, sizeof plan->candidates[i].reason,
                     "the best within the memory allowed: %s needs %.1f MiB, above %.1f MiB", fastest,
                     (double)wanted / (1 << 20), (double)limit / (1 << 20));
}

hac_status hac_sort_plan_within(const hac_machine *machine, const hac_sort_spec *spec, hac_sort_memo *memo,
                                uint64_t limit, hac_plan **ret, hac_error *err)
{
    hac_plan *fastest = NULL;
    hac_status status = hac_plan_sort_again(machine, spec, memo, &fastest, err);
    if (status != HAC_OK)
        return status;
    if (limit == 0 || hac_plan_memory(fastest) <= limit) {
        *ret = fastest;
        return HAC_OK;
    }
    plan_search s = {.machine = machine, .limit = limit, .min_bytes = UINT64_MAX};
    char name[sizeof fastest->sort.algorithm];
    uint64_t wanted = hac_plan_memory(fastest);
    memcpy(name, fastest->sort.algorithm, sizeof name);
    look_at(&s, fastest);
    try_others(&s, spec);
    if (s.best == NULL)
        return hac_fail(err, HAC_REFUSED,
                        "the job needs at least %llu bytes in all, above its limit of %llu bytes",
                        (unsigned long long)s.min_bytes, (unsigned long long)limit);
    give_reason(s.best, name, wanted, limit);
    *ret = s.best;
    return HAC_OK;
}

hac_status hac_sort_plan_in_quota(const hac_machine *machine, const hac_sort_spec *spec, hac_sort_memo *memo,
                                  uint64_t limit, uint64_t available, hac_plan **ret, hac_error *err)
{
    available = available > PAGES_SLACK ? available - PAGES_SLACK : 1;
    if (limit == 0 || available < limit) {
        hac_status status = hac_sort_plan_within(machine, spec, memo, available, ret, err);
        if (status != HAC_REFUSED)
            return status;
    }
    return hac_sort_plan_within(machine, spec, memo, limit, ret, err);
}

void hac_sort_trim(hacd_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    uint64_t used = done->n_values > 1 ? done->values[1] : 0;
    if (strcmp(job->plan->tasks[task].codelet, "radix.scan") != 0)
        return;
    for (size_t t = 0; used > 0 && t < job->plan->n_tasks; t++) {
        hac_plan_task *leaf = &job->plan->tasks[t];
        if (strncmp(leaf->codelet, "radix.leaf", strlen("radix.leaf")) == 0 &&
            job->run.tasks[t].claimed == 0 && used < leaf->count)
            leaf->count = used;
    }
}
