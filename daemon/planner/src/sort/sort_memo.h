/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The candidates that won for recent sorts. Sorts of one size often follow each other, and building and
 * pricing all candidates takes longer than the smallest sorts. So the planner takes the last winner again, a
 * few times, as long as the machine is the same, no device has work, and the winner's price has not risen.
 */
#ifndef PLANNER_SORT_MEMO_H
#define PLANNER_SORT_MEMO_H

#include "plan/device_set.h"
#include "planner/sort_plan.h"

/* Longer sorts are always planned anew: planning is a small part of them. */
#define HAC_SORT_MEMO_SECONDS 5e-3
/* After so many uses all candidates are priced again, because the models have learnt meanwhile. */
#define HAC_SORT_MEMO_USES 16
/* The winner is used again while its price is at most so many times the price that it won with. */
#define HAC_SORT_MEMO_MAX_RISE 1.25

/* The winner, its plan's figures, and the list of all candidates. */
typedef struct hac_sort_winner {
    int algorithm; /* an `algorithm` of sort_plan.c */
    hac_sort_scheme scheme;
    hac_device_set set;
    double seconds;
    double k;
    const char *k_source; /* static */
    int N;
    hac_plan_candidate *candidates; /* owned */
    size_t n_candidates, chosen;
} hac_sort_winner;

/* What the choice of a candidate depends on, apart from the models. */
typedef struct hac_sort_key {
    uint64_t machine;   /* hash of the machine's description */
    uint64_t asked[10]; /* the members of hac_sort_spec that matter */
} hac_sort_key;

/* false: sorts of this kind are not remembered. */
bool hac_sort_memo_key(const hac_machine *machine, const hac_sort_spec *spec, hac_sort_key *ret);

/* The winner for this key, valid until the next put. NULL: no winner is remembered, or it was used
 * HAC_SORT_MEMO_USES times. */
const hac_sort_winner *hac_sort_memo_find(hac_sort_memo *memo, const hac_sort_key *key);

/* Stores a copy of `won` in place of the key's old entry, or of the oldest entry. Does nothing if there is no
 * memory. */
void hac_sort_memo_put(hac_sort_memo *memo, const hac_sort_key *key, const hac_sort_winner *won);

#endif
