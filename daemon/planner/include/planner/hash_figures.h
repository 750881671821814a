/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of a job's device hash aggregation, for the receipt: the sample, the hot keys, the pairs in
 * local and global memory, and the merge. They are the values that hash.aggregate reports
 * (base/query_layout.h, hac_aggregate_value), summed over its pieces.
 */
#ifndef PLANNER_HASH_FIGURES_H
#define PLANNER_HASH_FIGURES_H

#include <stdbool.h>

#include "base/query_layout.h"
#include "base/text.h"

#define HAC_HASH_SHAPES 16

/* The figures of all devices with the same number of work-groups. In block style a "work-group" is a chunk of
 * the job; in lock-step style it is a work-group of the device, over all chunks of that device. */
typedef struct hac_hash_groups {
    uint64_t n;      /* number of work-groups */
    double min, max; /* lowest and highest hit rate of a work-group in a chunk */
    uint64_t rows[HAC_HOT_BARS],
        hits[HAC_HOT_BARS]; /* rows of phase 2, and hits among them, by hac_hot_bar */
} hac_hash_groups;

typedef struct hac_hash_figures {
    uint64_t sampled, covered; /* rows of phase 1 that the filter kept; those of them whose key became hot */
    uint64_t hot_set, chosen;  /* keys of the largest hot set; number of times that a hot set was chosen */
    uint64_t behind, hits;     /* rows of phase 2; those of them with a hot key */
    uint64_t local_hits;       /* rows of phase 2 that were reduced in local memory, hot or not */
    uint64_t pairs_local, pairs_global;
    uint64_t grown, key_ranges;
    hac_hash_groups groups[HAC_HASH_SHAPES];
    size_t n_groups;
    uint64_t partials, pairs_merged,
        groups_merged; /* chunks, pairs and groups that the merge has processed */
} hac_hash_figures;

/* Adds the `n` values that a piece has reported. Pieces of the C engine report fewer values, and are ignored.
 */
void hac_hash_figures_add(hac_hash_figures *f, const uint64_t *values, size_t n);

/* Writes the members "hot_keys" and "merge" of the receipt. A rate without rows is null. `on`: the plan looks
 * for hot keys. */
void hac_hash_figures_json(const hac_hash_figures *f, bool on, hac_text *out);

#endif
