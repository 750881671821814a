/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of few groups in a small form. In a record a sum is a window of two or three words, and the words of
 * one record lie in several cache lines. While the values of a batch are small, they are added to *lanes
 * instead: each group has one row of 64-bit sums, which has no carries and, for most queries, fits one cache
 * line. Lanes are added to the records (hac_lanes_settle) before a lane can overflow, before the units of
 * windows change, and before records are read. Sums of lanes are exact, so results do not depend on where
 * rows were added.
 *
 * Lanes are used for batches whose group numbers are known (hac_group_table.numbered), as long as the lanes
 * of all groups fit HAC_LANES_BYTES, which is half of a core's second-level cache.
 */
#ifndef QUERY_GROUP_LANES_H
#define QUERY_GROUP_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct hac_group_table;
typedef struct hac_group_table hac_group_table;

#define HAC_LANES_BYTES (UINT64_C(1) << 20)
#define HAC_LANES_MAX   8 /* of one accumulator */

/* Where a lane goes: the window of `words` words at byte `offset` of the record gets lane · 2^shift. */
typedef struct hac_lane {
    uint32_t offset;
    uint8_t words, shift;
} hac_lane;

typedef struct hac_lanes {
    hac_lane *to;
    uint16_t *first;   /* for each accumulator, its first lane; 0: it has none */
    uint32_t n;        /* lanes of a group; the first one is its number of rows */
    int64_t *of;       /* n for each group */
    uint64_t capacity; /* groups that `of` has lanes for; the lanes of further groups would be zero */
    uint64_t bound;    /* no lane is above it */
} hac_lanes;

/* Gives all groups lanes. False: there are too many groups. */
bool hac_lanes_ready(hac_group_table *t);
/* Called before values of up to `max` are added to lanes, in `rows` rows. False: they are too large. */
bool hac_lanes_take(hac_group_table *t, uint64_t max, size_t rows);
/* The same for products of two such values. */
bool hac_lanes_take_products(hac_group_table *t, uint64_t max, size_t rows);
/* Adds all lanes to the records, and makes them zero. */
void hac_lanes_settle(hac_group_table *t);
void hac_lanes_reset(hac_group_table *t);

/* The values of the rows in which both `states` and `more` are HAC_ROW_OK, and 0 for other rows: `values`, or
 * a copy of them in `scratch`. `states` and `more` may be NULL. */
const int64_t *hac_lanes_values(const int64_t *values, const uint8_t *states, const uint8_t *more,
                                size_t rows, int64_t *scratch);
/* A number that no value exceeds in magnitude; at most twice the largest one, or UINT64_MAX. */
uint64_t hac_lanes_max(const int64_t *values, size_t rows, bool is_signed);

#endif
