/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner of sorts: makes a plan from the specification of a sort and a machine. The planner prices the
 * candidates of the split rule, their neighbours and a sort on each single device, and chooses the cheapest
 * (docs/flows/sort-planning.md).
 */
#ifndef PLANNER_SORT_PLAN_H
#define PLANNER_SORT_PLAN_H

#include <hac/sort.h>

#include "planner/machine.h"
#include "planner/plan.h"

typedef struct hac_sort_spec {
    hac_type type;
    uint64_t items;
    bool descending;
    bool argsort;           /* the result is indices: u32, or u64 from 2^32 items on */
    uint32_t payload_bytes; /* > 0: each key has a payload of this width, in the buffer "payload" */
    bool from_descriptor; /* the input is a descriptor of the client, so the plan begins with io.read tasks */
    /* Bytes of the descriptor at which the whole input begins and ends; `items` may be a part of it. */
    uint64_t descriptor_offset, descriptor_end;
    bool inline_data; /* input and result are in messages: the plan is one task */
    hac_sort_algorithm algorithm;
    hac_sort_scheme scheme;
    hac_sort_fold fold;
    uint32_t fold_steps[HAC_FOLD_STEPS_MAX];
    size_t n_fold_steps;
    uint32_t device_mask; /* devices of the machine that are allowed; 0: all usable devices */
} hac_sort_spec;

/* HAC_INVALID: the type is unknown, or a simulated device lacks a capability; the message names the key.
 * HAC_FAILED: no device can run the sort. */
HAC_MUST_USE hac_status hac_plan_sort(const hac_machine *machine, const hac_sort_spec *spec, hac_plan **ret,
                                      hac_error *err);

/*
 * Probes: before a sort, devices whose speed is not known sort a part of the input alone, so that the sort
 * is split by measured figures. The rule is that of queries, which explore devices with pieces (price.h): a
 * device of which nothing is known is probed, and one that is not in the plan while its model is unsure.
 *
 * hac_sort_probe_items returns how many items to sort next, a power of two, or 0: nothing. `plan` is what
 * would run without the probe. The first size runs twice, since the first run may load the program. If both
 * runs show that the device can sort four times as many items or more, such a probe runs once. Each probe
 * takes at most a fortieth of the plan's time, by what is known then; only a device of which nothing is known
 * first sorts few items whatever the time, as it may be very slow.
 *
 * The start of the device's executor may take a twentieth of the plan's time. Only sorts of 10 ms or more
 * wait longer, and only for unknown devices. After three sorts whose probe failed, the device is left alone
 * for 8, 16, 32 … sorts.
 */
typedef struct hac_sort_probe {
    uint32_t device;
    unsigned runs;        /* how often the device was probed for this sort */
    uint64_t items;       /* of the last run */
    double start_seconds; /* until the device's executor is ready */
} hac_sort_probe;

uint64_t hac_sort_probe_items(const hac_machine *machine, const hac_sort_spec *spec, const hac_plan *plan,
                              const hac_sort_probe *probe);
/* Whether sorts of that kind are long enough for a probe. If not, hac_sort_probe_items returns 0, whatever
 * `plan` is. */
bool hac_sort_may_probe(const hac_sort_spec *spec);

/* Notes that the device's probe failed. */
void hac_sort_probe_failed(hac_model_set *models, const char *device_key, const hac_sort_spec *spec);

hac_sort_spec hac_sort_probe_spec(const hac_sort_spec *spec, uint32_t device, uint64_t items);

/* The candidates that won for recent sorts. */
typedef struct hac_sort_memo hac_sort_memo;

HAC_MUST_USE hac_status hac_sort_memo_new(hac_sort_memo **ret, hac_error *err);
void hac_sort_memo_free(hac_sort_memo *memo); /* NULL: nothing happens */

/*
 * As hac_plan_sort, but a short sort gets the candidate that won for the last sort of its kind, if the price
 * of that candidate has not risen. The plan's list of the other candidates is then that of the earlier sort.
 * `memo` NULL: hac_plan_sort.
 */
HAC_MUST_USE hac_status hac_plan_sort_again(const hac_machine *machine, const hac_sort_spec *spec,
                                            hac_sort_memo *memo, hac_plan **ret, hac_error *err);

/* Records the duration of a whole sort by several devices, from the start of its plan to its end. The
 * duration includes the time that the devices wait for each other, which the prices of the tasks leave out. A
 * set of devices that was slower than its price is not chosen again for sorts of about that size, for a
 * while. Plans for one device are ignored. */
void hac_sort_learn(hac_model_set *models, const hac_machine *machine, const hac_plan *plan, double seconds);

#endif
