/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splicer's rule, which only deals with sizes: where the next block goes in a WorkingBuffer, and when the
 * device must be triggered first. It copies nothing and never waits.
 *
 *     ┌──────────────┬─────────┬─────────┬──────────────┐
 *     │ look-up index│ block 1 │ block 2 │              │
 *     └──────────────┴─────────┴─────────┴──────────────┘
 *     0              first               cursor         capacity
 *
 * A block goes to the cursor, with its elements of the index. A block that does not fit causes a *pause*
 * (HAC_AGAIN): the caller triggers the device on all spliced blocks, calls hac_splicer_trigger, which moves
 * the cursor back to the first address behind the index, and puts the same block again; then it fits. A block
 * that does not fit an empty buffer is refused before a pause, so no pause is endless.
 */
#ifndef SPLICE_SPLICER_H
#define SPLICE_SPLICER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct hac_splicer {
    uint64_t first, capacity; /* offset of the first block; size in bytes */
    uint64_t elements;        /* elements of the index */
    uint64_t cursor, used;    /* byte and element of the next block */
    bool paused;              /* a block of this size waits */
    uint64_t waiting_bytes, waiting_elements;
    /* Counted since hac_splicer_init: */
    uint64_t blocks, pauses, triggers;
    uint64_t highest; /* highest cursor */
} hac_splicer;

/* HAC_INVALID: `first` is not aligned, or not below the capacity. */
HAC_MUST_USE hac_status hac_splicer_init(hac_splicer *splicer, uint64_t first, uint64_t capacity,
                                         uint64_t elements, hac_error *err);

/* Whether such a block fits an empty buffer. */
bool hac_splicer_fits(const hac_splicer *splicer, uint64_t bytes, uint64_t elements);

/* *ret: where the block goes. HAC_AGAIN: a pause, nothing has changed. HAC_UNSUPPORTED: it fits no empty
 * buffer. HAC_INTERNAL: another block waits. */
HAC_MUST_USE hac_status hac_splicer_put(hac_splicer *splicer, uint64_t bytes, uint64_t elements,
                                        uint64_t *ret, hac_error *err);

/* The device is triggered, in a pause or at the end of a split. False: nothing was spliced since the last
 * trigger, so there is nothing to run. */
bool hac_splicer_trigger(hac_splicer *splicer);

#endif
