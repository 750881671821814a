/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule that splits a bitonic sort (docs/flows/sort-planning.md), and the arithmetic of the bitonic
 * network.
 *
 * Steps are numbered from 1. Merge subset q (1 … n) holds the steps q(q-1)/2 + 1 … q(q+1)/2. Within it a step
 * is named by its *reach* r = q, q-1 … 1: its comparators stay inside aligned blocks of 2^r items. Its first
 * step (r = q) compares an item with its mirror in the block, the others with the item 2^(r-1) further on. So
 * a part whose two boundaries are multiples of 2^S is independent of the others in every step with r ≤ S.
 */
#ifndef PLANNER_SPLIT_H
#define PLANNER_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planner/sort_plan.h"

#define HAC_SORT_MAX_ITEMS (UINT64_C(1) << 56)
#define HAC_MAX_STEPS      (64 * 65 / 2)

/* ⌈log2 items⌉; 0 for 0 and 1. */
unsigned hac_log2_ceil(uint64_t items);

/* Steps of the network for 2^n items. */
static inline uint32_t hac_network_steps(unsigned n)
{
    return n * (n + 1) / 2;
}

/* Number of the step of subset q with reach r. */
static inline uint32_t hac_network_step(unsigned q, unsigned r)
{
    return q * (q - 1) / 2 + (q - r) + 1;
}

/* Subset and reach of a step ≥ 1. */
void hac_network_locate(uint32_t step, unsigned *ret_q, unsigned *ret_r);

/* The N of the rule for k = weaker ÷ stronger capability, 0 < k ≤ 1: 1/2^(N+1) ≤ k/(1+k) < 1/2^N, and 1 for
 * k = 1. Values within 1e-9 of a bound count as the bound. */
int hac_split_exponent(double k);

typedef struct hac_split_part {
    unsigned device; /* index into the capabilities given */
    uint64_t first, items;
    double k;   /* capability ÷ the strongest one's */
    int N;      /* hac_split_exponent(k) */
    unsigned S; /* side by side in every step of reach ≤ S; 0 for an empty part */
} hac_split_part;

typedef struct hac_split {
    uint64_t items;
    unsigned n;      /* ⌈log2 items⌉ */
    unsigned S;      /* the largest S of the weaker parts: any step of reach ≤ S has work side by side */
    uint64_t weaker; /* items not on the strongest device */
    size_t n_parts;
    hac_split_part parts[HAC_MACHINE_MAX_DEVICES]; /* ascending by item; the strongest device's last */
} hac_split;

/* clang-format off */
/*
 * Splits `items` over 1 … 16 devices. `capability` is in items/s, all > 0; of equal devices the first counts
 * as the stronger. Schemes, with share = capability ÷ sum of capabilities:
 *
 *   UPPER         the smallest power of two above share × items (0 if share × items < 1/2). While the
 *                 strongest device keeps fewer items than the largest weaker part, the part that most exceeds
 *                 its share × items is halved (of equal parts the weakest device's)
 *   LOWER         half of each of these
 *   PROPORTIONAL  the even integer nearest to share × items; a tie goes to the smaller one
 *   NONE          everything on the strongest device
 */
/* clang-format on */
void hac_split_make(const double *capability, size_t n_devices, uint64_t items, hac_sort_scheme scheme,
                    hac_split *ret);

/* The maximal runs of steps that run side by side for a part with this S in a network of n subsets,
 * ascending. Writes at most n of them to `ret` (NULL: counts only) and returns how many there are. */
size_t hac_split_corun(unsigned n, unsigned S, uint32_t (*ret)[2]);

#endif
