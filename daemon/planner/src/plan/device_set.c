/* SPDX-License-Identifier: Apache-2.0 */
#include "device_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_DEVICES 4 /* in a candidate's name */

static bool group_taken(const hac_machine *machine, const hac_device_set *set, const char *group)
{
    for (size_t j = 0; j < set->n && group[0] != '\0'; j++)
        if (strcmp(machine->devices[set->machine_index[j]].group, group) == 0)
            return true;
    return false;
}

hac_status hac_device_set_eligible(const hac_machine *machine, uint32_t device_mask, const char *job,
                                   uint32_t *ret, hac_error *err)
{
    uint32_t mask = 0;
    for (uint32_t d = 0; d < machine->n_devices && d < HAC_MACHINE_MAX_DEVICES; d++)
        if (machine->devices[d].usable)
            mask |= UINT32_C(1) << d;
    mask &= device_mask != 0 ? device_mask : UINT32_MAX;
    if (mask == 0)
        return hac_fail(err, HAC_FAILED, "no usable device for %s", job);
    *ret = mask;
    return HAC_OK;
}

void hac_device_set_form(const hac_machine *machine, const uint32_t *machine_index, const double *capability,
                         size_t n, hac_device_set *ret)
{
    size_t order[HAC_MACHINE_MAX_DEVICES];
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && capability[order[at - 1]] < capability[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    memset(ret, 0, sizeof(*ret));
    for (size_t i = 0; i < n; i++) {
        uint32_t index = machine_index[order[i]];
        if (group_taken(machine, ret, machine->devices[index].group))
            continue;
        ret->machine_index[ret->n] = index;
        ret->capability[ret->n++] = capability[order[i]];
    }
}

void hac_device_set_name(const hac_machine *machine, const hac_device_set *set, bool any, char *name,
                         size_t capacity, int used)
{
    if (set->n > NAMED_DEVICES) {
        snprintf(name + used, capacity - (size_t)used, " on %s%zu devices", any ? "one of " : "", set->n);
        return;
    }
    const char *between = any ? " or " : " + ";
    for (size_t d = 0; d < set->n && (size_t)used < capacity; d++)
        used += snprintf(name + used, capacity - (size_t)used, "%s%s", d == 0 ? " on " : between,
                         machine->devices[set->machine_index[d]].name);
}

hac_plan_candidate *hac_candidates_add(hac_candidates *candidates, hac_error *err)
{
    hac_plan_candidate *grown = reallocarray(candidates->list, candidates->n + 1, sizeof(*grown));
    if (grown == NULL) {
        (void)hac_fail_no_memory(err);
        return NULL;
    }
    candidates->list = grown;
    memset(&grown[candidates->n], 0, sizeof(*grown));
    grown[candidates->n].seconds = -1;
    return &grown[candidates->n++];
}
