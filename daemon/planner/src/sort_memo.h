/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which way was the best for sorts of late. Sorts of one size often come one after the other, and to build
 * and price all ways for each of them takes longer than the smallest ones do: the way that won is taken again
 * a few times, as long as the machine is the same, no device has work, and its price has not risen.
 */
#ifndef PLANNER_SORT_MEMO_H
#define PLANNER_SORT_MEMO_H

#include "planner/sort_plan.h"
#include "team.h"

#define HAC_SORT_MEMO_SECONDS 5e-3 /* longer sorts are planned anew: it costs them nothing */
#define HAC_SORT_MEMO_USES    16   /* then all ways are looked at again: models have learnt meanwhile */
#define HAC_SORT_MEMO_WORSE   1.25 /* times the price that it won with: it may not be the best any more */

/* What won, and all that is said of it and of the others. */
typedef struct hac_sort_won {
    int algorithm; /* sort_plan.c's */
    hac_sort_scheme scheme;
    hac_team team;
    double seconds;
    double k;
    const char *k_source; /* static */
    int N;
    hac_plan_candidate *candidates; /* owned */
    size_t n_candidates, chosen;
} hac_sort_won;

/* All that a decision depends on but for the models. */
typedef struct hac_sort_key {
    uint64_t machine; /* a hash */
    uint64_t asked[10];
} hac_sort_key;

/* false: such a sort is not to be remembered. */
bool hac_sort_memo_key(const hac_machine *machine, const hac_sort_spec *spec, hac_sort_key *ret);

/* NULL: nothing, or it was taken often enough. Valid until the next put. */
const hac_sort_won *hac_sort_memo_find(hac_sort_memo *memo, const hac_sort_key *key);

/* In place of what is there for the key, else of the oldest. Copies; nothing is kept where there is no
 * memory. */
void hac_sort_memo_put(hac_sort_memo *memo, const hac_sort_key *key, const hac_sort_won *won);

#endif
