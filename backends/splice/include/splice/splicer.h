/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splicer's rule, over sizes alone: where in a WorkingBuffer the next block goes, and when the device has
 * to be triggered first. Nothing is copied here, and nothing waits.
 *
 *     ┌──────────────┬─────────┬─────────┬──────────────┐
 *     │ look-up index│ block 1 │ block 2 │              │
 *     └──────────────┴─────────┴─────────┴──────────────┘
 *     0              first               cursor         capacity
 *
 * A block goes in at the cursor, with its elements of the index. A block that does not fit makes a *pause*
 * (HAC_AGAIN): the caller triggers the device on all that was spliced, calls hac_splicer_trigger, which takes
 * the cursor back to the first address behind the index, and puts the same block once more; it fits then. A
 * block that would not fit an empty buffer is refused before any pause, so no pause is endless.
 */
#ifndef SPLICE_SPLICER_H
#define SPLICE_SPLICER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define HAC_BLOCK_ALIGNMENT 64 /* of a block's first byte */

typedef struct hac_splicer {
    uint64_t first, capacity; /* bytes; `first` is where blocks begin */
    uint64_t elements;        /* of the index */
    uint64_t cursor, used;    /* the next block's byte and element */
    bool paused;              /* a block waits: of so many */
    uint64_t waiting_bytes, waiting_elements;
    /* since hac_splicer_init: */
    uint64_t blocks, pauses, triggers;
    uint64_t highest; /* that the cursor was at */
} hac_splicer;

/* HAC_INVALID: `first` is not aligned, or there is no room behind it. */
HAC_MUST_USE hac_status hac_splicer_init(hac_splicer *splicer, uint64_t first, uint64_t capacity,
                                         uint64_t elements, hac_error *err);

/* Whether an empty buffer has room for such a block. */
bool hac_splicer_fits(const hac_splicer *splicer, uint64_t bytes, uint64_t elements);

/* *ret: where the block goes. HAC_AGAIN: a pause, nothing has changed. HAC_UNSUPPORTED: it fits no empty
 * buffer. HAC_INTERNAL: another block waits. */
HAC_MUST_USE hac_status hac_splicer_put(hac_splicer *splicer, uint64_t bytes, uint64_t elements,
                                        uint64_t *ret, hac_error *err);

/* The device is triggered, in a pause or at the end of a split. False: nothing was spliced since the last
 * time, and there is nothing to run. */
bool hac_splicer_trigger(hac_splicer *splicer);

#endif
