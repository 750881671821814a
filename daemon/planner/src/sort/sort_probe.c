/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "plan/simulate.h"
#include "planner/sort_plan.h"

#define MIN_ITEMS    (UINT64_C(1) << 14)
#define FIRST_ITEMS  (UINT64_C(1) << 16) /* of an unknown device: fewer say nothing of many (model.c) */
#define MAX_ITEMS    (UINT64_C(1) << 20)
#define PART         16            /* of the input, at most */
#define TIME_PART    0.025         /* of the sort's time, for each run */
#define GROWTH       64            /* more than that the models say nothing about (model.c) */
#define PAYS_SECONDS 10e-3         /* of a sort, to look at a device again */
#define KNOWN_PART   0.9           /* of the device's time, else it is assumed … */
#define UNSURE_PART  0.1           /* … or unsure */
#define START_PART   0.05          /* of the sort's time, that its executor may take to start */
#define FAILURES     "radix.probe" /* a model of failed probes; "radix": sorts count as the jobs between them */

hac_sort_spec hac_sort_probe_spec(const hac_sort_spec *spec, uint32_t device, uint64_t items)
{
    hac_sort_spec probe = *spec;
    probe.items = items;
    probe.payload_bytes = 0;
    probe.scheme = HAC_SCHEME_NONE;
    if (probe.algorithm == HAC_SORT_AUTO)
        probe.algorithm = HAC_SORT_RADIX;
    probe.fold = HAC_FOLD_AUTO;
    probe.device_mask = UINT32_C(1) << device;
    return probe;
}

/* What the device alone would need for that many items of the sort; false: it cannot. */
static bool price(const hac_machine *machine, const hac_sort_spec *spec, uint32_t device, uint64_t items,
                  hac_simulation *ret)
{
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_sort_spec probe = hac_sort_probe_spec(spec, device, items);
    return hac_plan_sort(machine, &probe, &plan, NULL) == HAC_OK &&
           hac_plan_simulate(plan, machine, ret, NULL) == HAC_OK;
}

static bool is_in(const hac_plan *plan, uint32_t device)
{
    for (size_t d = 0; d < plan->n_devices; d++)
        if (plan->devices[d].machine_index == device)
            return true;
    return false;
}

/* The largest probe that ends within a fortieth of the sort's time. */
static uint64_t largest(const hac_machine *machine, const hac_sort_spec *spec, const hac_plan *plan,
                        uint32_t device, uint64_t last)
{
    uint64_t items = MAX_ITEMS;
    hac_simulation s;
    while (items > spec->items / PART || (last > 0 && items / GROWTH > last))
        items /= 2;
    while (items > MIN_ITEMS && price(machine, spec, device, items, &s) &&
           s.seconds > TIME_PART * plan->predicted_seconds)
        items /= 2;
    return items < MIN_ITEMS ? MIN_ITEMS : items;
}

/* Whether nothing is known of the device, or what is known is unsure while the plan goes without it. The
 * executor of an unknown device may take long to start if the sort is not short: that happens once. */
static bool is_wanted(const hac_machine *machine, const hac_sort_spec *spec, const hac_plan *plan,
                      const hac_sort_probe *probe, bool *ret_unknown)
{
    hac_simulation s;
    const char *key = machine->devices[probe->device].key;
    bool pays = plan->predicted_seconds >= PAYS_SECONDS;
    bool starts = probe->start_seconds <= START_PART * plan->predicted_seconds;
    if ((!pays && !starts) || !hac_model_is_due(machine->models, key, FAILURES, spec->type) ||
        !price(machine, spec, probe->device, spec->items, &s))
        return false;
    *ret_unknown = s.learnt_seconds + s.profile_seconds < KNOWN_PART * s.priced_seconds;
    return *ret_unknown || (s.unsure_seconds > UNSURE_PART * s.priced_seconds && pays && starts &&
                            !is_in(plan, probe->device));
}

void hac_sort_probe_failed(hac_model_set *models, const char *device_key, const hac_sort_spec *spec)
{
    hac_model_record(models, device_key, FAILURES, spec->type, 1, 0, false);
}

bool hac_sort_may_probe(const hac_sort_spec *spec)
{
    return !spec->inline_data && spec->items >= PART * FIRST_ITEMS;
}

uint64_t hac_sort_probe_items(const hac_machine *machine, const hac_sort_spec *spec, const hac_plan *plan,
                              const hac_sort_probe *probe)
{
    bool unknown = false;
    if (!hac_sort_may_probe(spec) || !machine->devices[probe->device].usable)
        return 0;
    if (probe->runs == 0 && !is_wanted(machine, spec, plan, probe, &unknown))
        return 0;
    if (probe->runs == 1)
        return probe->items;
    uint64_t items = unknown           ? FIRST_ITEMS
                     : probe->runs > 2 ? 0
                                       : largest(machine, spec, plan, probe->device, probe->items);
    return items >= 4 * probe->items ? items : 0;
}
