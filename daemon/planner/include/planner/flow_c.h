/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What flow C's kernels have done in a job: the sample, the hot keys, where pairs lay, what was merged; as
 * hash.aggregate reports it (base/query_layout.h, hac_aggregate_value), summed over its pieces. For the
 * receipt and the pictures.
 */
#ifndef PLANNER_FLOW_C_H
#define PLANNER_FLOW_C_H

#include <stdbool.h>

#include "base/query_layout.h"
#include "base/text.h"

#define HAC_FLOW_C_SHAPES 16

/* The work-groups of the devices that have the same number of them, by their own numbers. In block style a
 * work-group is a chunk of the job, in lock-step style one of the device's, over all chunks it has done. */
typedef struct hac_flow_c_groups {
    uint64_t n;
    double least, greatest; /* hit rate of any work-group in a chunk */
    uint64_t rows[HAC_HOT_BARS], hits[HAC_HOT_BARS];
} hac_flow_c_groups;

typedef struct hac_flow_c {
    uint64_t sampled, covered; /* rows of phase 1 behind the filter, those of them whose keys became hot */
    uint64_t hot_set, chosen;  /* keys of the largest hot set; how often one was chosen */
    uint64_t behind, hits;     /* rows of phase 2, those of them with hot keys */
    uint64_t local_hits;       /* rows of phase 2 reduced in local memory, of other keys, too */
    uint64_t pairs_local, pairs_global;
    uint64_t grown, key_ranges;
    hac_flow_c_groups groups[HAC_FLOW_C_SHAPES];
    size_t n_groups;
    uint64_t partials, pairs_merged, groups_merged; /* of the merge over chunks: chunks, pairs, groups */
} hac_flow_c;

/* Adds what a piece of hash.aggregate has reported. What has fewer values is the C engine's, which did it. */
void hac_flow_c_add(hac_flow_c *f, const uint64_t *values, size_t n);

/* Members "hot_keys" and "merge" of the receipt. Rates are null where there are no rows. `on`: hot keys were
 * looked for. */
void hac_flow_c_json(const hac_flow_c *f, bool on, hac_text *out);

/* Height of the picture of it; 0: there is nothing to draw. */
double hac_flow_c_svg_height(const hac_flow_c *f);
/* Draws it into a picture, `left` … `left + width` below `top`. */
void hac_flow_c_svg(const hac_flow_c *f, bool on, double left, double top, double width, hac_text *out);

#endif
