/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow A's planner: from a sort's specification and a machine to a plan. Method: CN103514042 (split rule,
 * merge subsets, side-by-side steps), generalised to any length and any number of devices, and guarded: the
 * rule, its neighbours and "no split" are priced and the cheapest is taken (docs/flows/sort.md).
 */
#ifndef PLANNER_SORT_PLAN_H
#define PLANNER_SORT_PLAN_H

#include "planner/machine.h"
#include "planner/plan.h"

typedef enum hac_sort_algorithm { HAC_SORT_AUTO = 0, HAC_SORT_BITONIC, HAC_SORT_RADIX } hac_sort_algorithm;

typedef enum hac_sort_scheme {
    HAC_SCHEME_AUTO = 0,
    HAC_SCHEME_PROPORTIONAL,
    HAC_SCHEME_LOWER,
    HAC_SCHEME_UPPER,
    HAC_SCHEME_NONE
} hac_sort_scheme;

typedef enum hac_sort_fold { HAC_FOLD_AUTO = 0, HAC_FOLD_NONE, HAC_FOLD_STEPS } hac_sort_fold;

#define HAC_FOLD_MAX 64

typedef struct hac_sort_spec {
    hac_type type;
    uint64_t items;
    bool descending;
    bool argsort;           /* the result is indices: u32, u64 from 2^32 items */
    uint32_t payload_bytes; /* > 0: a payload of this width travels with each key (buffer "payload") */
    bool from_descriptor;   /* the input is a foreign descriptor: plan io.read tasks */
    uint64_t descriptor_offset, descriptor_end; /* of the whole input, of which `items` may be a part */
    bool inline_data;                           /* input and result travel in messages: a one-task plan */
    hac_sort_algorithm algorithm;
    hac_sort_scheme scheme;
    hac_sort_fold fold;
    uint32_t fold_steps[HAC_FOLD_MAX];
    size_t n_fold_steps;
    uint32_t device_mask; /* machine devices the user allows; 0: all usable ones */
} hac_sort_spec;

/* HAC_INVALID for a specification that cannot be (unknown type, simulate without a capability: names the
 * key); HAC_FAILED when no device can run it. */
HAC_MUST_USE hac_status hac_plan_sort(const hac_machine *machine, const hac_sort_spec *spec, hac_plan **ret,
                                      hac_error *err);

/* What won among the ways for sorts of late. */
typedef struct hac_sort_memo hac_sort_memo;

HAC_MUST_USE hac_status hac_sort_memo_new(hac_sort_memo **ret, hac_error *err);
void hac_sort_memo_free(hac_sort_memo *memo); /* NULL: nothing happens */

/*
 * As hac_plan_sort, but for a short sort takes the way that a sort like it was given a moment ago, if it
 * still costs about as much: what is said of the other ways is of then. `memo` NULL: hac_plan_sort.
 */
HAC_MUST_USE hac_status hac_plan_sort_again(const hac_machine *machine, const hac_sort_spec *spec,
                                            hac_sort_memo *memo, hac_plan **ret, hac_error *err);

/* Takes in what a whole sort by several devices took, from the start of its plan to its end: what the prices
 * of its tasks leave out, how devices wait for each other, is in that. Teams that were slower than their
 * price say are not taken again at about that size, for a while. Nothing is learnt of plans for one device.
 */
void hac_sort_learn(hac_model_set *models, const hac_machine *machine, const hac_plan *plan, double seconds);

#endif
