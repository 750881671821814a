/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bitonic network's arithmetic, shared by the planner (which cuts a sort into tasks) and the codelets
 * (which cut a task into passes over memory). Pure functions; see docs/flows/sort.md.
 *
 * The network sorts m items with n = ⌈log2 m⌉ merge subsets; subset p (1 … n) forms sorted runs of 2^p and
 * has p steps, numbered through the network from 1: p(p-1)/2 + 1 … p(p+1)/2. Its first step compares item i
 * of a run with item 2^p - 1 - i; step j (2 … p) compares items 2^(p-j) apart. Every comparator puts the
 * smaller item at the lower index; comparators that would reach past the last item do nothing.
 *
 * An *item* is what is sorted in memory between the passes: a mapped key, or for argsort a key with its
 * index. A *tile* is the smallest block the fast kernels work on.
 */
#ifndef BASE_BITONIC_LAYOUT_H
#define BASE_BITONIC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/type.h"

/* Bytes of an index in the result: 0 where keys are sorted, else 4 or 8. */
typedef enum hac_bitonic_index {
    HAC_BITONIC_KEYS = 0,
    HAC_BITONIC_INDEX32 = 4, /* fewer than 2^32 items */
    HAC_BITONIC_INDEX64 = 8
} hac_bitonic_index;

/* What decides the block size of a device; the executor reports it with its facts. */
typedef struct hac_bitonic_limits {
    uint32_t block_items;         /* 32-bit items that fit the fast memory of one worker */
    uint32_t max_loop_iterations; /* 0: no limit */
    uint64_t local_memory;        /* bytes */
    uint64_t max_allocation;      /* bytes of one window; 0: no limit */
    bool simt;
} hac_bitonic_limits;

/* Parameters of the codelets bitonic.*. */
typedef struct hac_bitonic_params {
    uint64_t items;                 /* of the whole sort, 1 … 2^48 */
    uint64_t index_bytes;           /* hac_bitonic_index, as the codelet's name says */
    uint64_t block_log2;            /* items of a block: hac_bitonic_tile_log2 … 20 */
    uint64_t first_step, last_step; /* bitonic.steps: steps of the network */
    uint64_t subset;                /* bitonic.merge, bitonic.tail */
    uint64_t step;                  /* bitonic.merge: the first step, counted from 1 within the subset */
    uint64_t steps;                 /* bitonic.merge: from `step` on; bitonic.tail: the subset's last ones */
    uint64_t slice, slices;         /* bitonic.merge: a share of the columns of all rows; 0 of 1: all */
} hac_bitonic_params;

/* Longest sort: step and item numbers stay far from overflow. */
#define HAC_BITONIC_MAX_SUBSET 48

/* n = ⌈log2 m⌉: merge subsets that m items need; 0 for m ≤ 1. */
static inline uint32_t hac_bitonic_subsets(uint64_t m)
{
    return m <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll(m - 1);
}

/* First and last step of subset p ≥ 1. */
static inline uint32_t hac_bitonic_first_step(uint32_t p)
{
    return p * (p - 1) / 2 + 1;
}

static inline uint32_t hac_bitonic_last_step(uint32_t p)
{
    return p * (p + 1) / 2;
}

/* The subset that step s ≥ 1 belongs to. */
static inline uint32_t hac_bitonic_subset_of(uint32_t s)
{
    uint32_t p = 1;
    while (hac_bitonic_last_step(p) < s)
        p++;
    return p;
}

/*
 * log2 of the group that step s moves items in: of the whole run for a subset's first step, of twice the
 * stride for the others. A range may run the step by itself when its ends are multiples of the group (or
 * the end of the array): this is what "independent" means in the source.
 */
static inline uint32_t hac_bitonic_group_log2(uint32_t s)
{
    uint32_t p = hac_bitonic_subset_of(s), j = s - hac_bitonic_first_step(p);
    return j == 0 ? p : p - j;
}

/* The largest group of steps s0 … s1. */
static inline uint32_t hac_bitonic_groups_log2(uint32_t s0, uint32_t s1)
{
    uint32_t max = 0;
    for (uint32_t s = s0; s <= s1; s++)
        if (hac_bitonic_group_log2(s) > max)
            max = hac_bitonic_group_log2(s);
    return max;
}

/* Bytes of an item in the work buffer. */
static inline uint32_t hac_bitonic_item_bytes(hac_type type, hac_bitonic_index index)
{
    uint32_t key = (uint32_t)hac_type_size(type);
    if (index == HAC_BITONIC_KEYS)
        return key;
    return index == HAC_BITONIC_INDEX32 && key == 4 ? 8 : 16;
}

/* log2 of the items of a tile: the smallest block, and the shortest stride of bitonic.merge. */
static inline uint32_t hac_bitonic_tile_log2(uint32_t item_bytes)
{
    return item_bytes == 4 ? 8 : 7;
}

/*
 * log2 of the block's items on a device. Block style: all of the second-level cache, of which block_items
 * is the quarter (half of it takes 6 % longer, a quarter 15 %, twice as much no less, at 2^24 u32 on Zen 5);
 * a work-item's copies of an incomplete block must not reach the loop limit. Simt: in local memory.
 */
static inline uint32_t hac_bitonic_block_log2(const hac_bitonic_limits *limits, uint32_t item_bytes)
{
    uint64_t bytes = (uint64_t)limits->block_items * 4 * (limits->simt ? 1 : 4);
    if (limits->simt && bytes > limits->local_memory)
        bytes = limits->local_memory;
    if (limits->max_allocation != 0 && bytes >= limits->max_allocation)
        bytes = limits->max_allocation - 64; /* a window may begin up to 64 bytes early */
    uint32_t b = hac_bitonic_tile_log2(item_bytes);
    while (b < 20 && (uint64_t)item_bytes << (b + 1) <= bytes &&
           (limits->max_loop_iterations == 0 || limits->simt ||
            UINT64_C(4) << (b + 1) <= limits->max_loop_iterations))
        b++;
    return b;
}

/* Bytes of a row that one work-item of a merge pass takes. */
static inline uint32_t hac_bitonic_chunk_bytes(uint32_t item_bytes)
{
    return item_bytes == 16 ? 1024 : 512;
}

/* Steps of long stride that one pass over memory does: 2^steps rows of a chunk lie in fast memory. */
static inline uint32_t hac_bitonic_fused_steps(const hac_bitonic_limits *limits, uint32_t item_bytes)
{
    if (limits->simt)
        return 3;       /* in registers */
    uint32_t steps = 4; /* in registers; more go through a scratch */
    while (steps < 8 && (uint64_t)hac_bitonic_chunk_bytes(item_bytes) << (steps + 1) <= limits->local_memory)
        steps++;
    return steps;
}

/*
 * log2 of the items whose work the last-level cache is likely to hold, and one window: their subsets are done
 * before those of the next ones.
 */
static inline uint32_t hac_bitonic_near_log2(uint64_t max_allocation, uint32_t item_bytes)
{
    uint64_t bytes = UINT64_C(16) << 20;
    if (max_allocation != 0 && max_allocation / 2 < bytes)
        bytes = max_allocation / 2;
    return 63 - (uint32_t)__builtin_clzll(bytes / item_bytes | 1);
}

/* Passes over memory that a whole sort of m items takes with blocks of 2^b: for pricing. */
static inline uint32_t hac_bitonic_passes(uint64_t m, uint32_t b, uint32_t fused)
{
    uint32_t passes = 1;
    for (uint32_t p = b + 1; p <= hac_bitonic_subsets(m); p++)
        passes += 1 + (p - b + fused - 1) / fused;
    return passes;
}

#endif
