/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a range task is shared out while it runs. Pure: the scheduler says how fast each device is and how long
 * it is still busy, and asks what one of them is to do next.
 *
 * All devices are to end the range together. So a device gets a part of the time that is left between the end
 * of its own work and that common end: half while its rate in this range is only planned, more once it has
 * been measured there, and near the end all of it, to the nearest grain. Where grains are coarse, a device
 * takes none that another one, alone, would end sooner with all the rest: a slow device's last grain would
 * keep everybody waiting. Of the devices that are ready one is always given work or busy already.
 */
#ifndef PLANNER_SHARE_H
#define PLANNER_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAC_SHARE_SHORTEST 2e-4 /* seconds: who shares a range out asks for room for so much work first */
#define HAC_SHARE_LONGEST  0.25 /* a piece is worth at most this much, so that a cancel takes effect soon */
#define HAC_SHARE_QUEUED   1e-4 /* what is queued behind a running piece is worth more */

typedef struct hac_sharer {
    bool in;       /* takes part in the range */
    bool ready;    /* it takes a piece now, or when it has ended what it has */
    bool measured; /* `rate` was measured in this very range */
    double rate;   /* items a second */
    double busy;   /* seconds until it has ended what it has */
} hac_sharer;

/*
 * Items of the `left` ones that device `own` is given now, whole grains but for the range's end; 0: none at
 * this moment. `queued`: it has a piece of this range already, and this one would wait behind it.
 */
uint64_t hac_share_next(const hac_sharer *sharers, size_t n, size_t own, bool queued, uint64_t left,
                        uint64_t grain);

#endif
