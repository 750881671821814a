/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides a range task among devices while it runs. The scheduler passes the rate of each device and the time
 * for which the device is still busy, and gets the size of the device's next piece.
 *
 * All devices should end the range at the same time, the *common end*. A device's next piece takes a part of
 * the time between the end of its current work and the common end: half of that time while its rate in this
 * range is only planned, eight tenths once the rate was measured in this range, and all of it, to the
 * nearest grain, when less than 0.6 ms is left. A device gets no piece if another device alone would finish
 * the whole rest sooner than this device finishes one grain. At least one of the ready devices gets work or
 * is busy.
 *
 * A device whose rate is *guessed* takes an eighth of that time, and no piece queued behind another one,
 * until one of them was measured: were it much slower than the guess, all devices would wait for it.
 *
 * The rate of an *explored* device is a guess. No other device counts on it, and it gets one short piece at a
 * time: HAC_SHARE_EXPLORED of the time to the common end of the others, but at least one grain.
 */
#ifndef PLANNER_RANGE_SHARE_H
#define PLANNER_RANGE_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In seconds, except HAC_SHARE_EXPLORED. */

/* Work that must fit the executor's queue before the scheduler asks for a piece. */
#define HAC_SHARE_SHORTEST 2e-4
#define HAC_SHARE_LONGEST  0.25 /* maximum duration of a piece, so that a cancel takes effect soon */
#define HAC_SHARE_EXPLORED 0.05 /* part of the time to the common end */
#define HAC_SHARE_QUEUED   1e-4 /* minimum duration of a piece that is queued behind a running one */

typedef struct hac_range_sharer {
    bool in;       /* the device takes part in the range */
    bool ready;    /* the device takes a piece now, or after its current work */
    bool measured; /* `rate` was measured in this range */
    double rate;   /* items per second */
    double busy;   /* seconds until the device has finished its current work */
    bool explored; /* `rate` is a guess, or was measured while the program was loaded */
    bool guessed;  /* no measurement and no profile knows `rate` */
} hac_range_sharer;

/*
 * Returns the number of items of the next piece of device `own`, when `left` items of the range are left; 0:
 * the device gets no piece at this moment. The number is a multiple of `grain`, except at the end of the
 * range. `queued`: the device has a piece of this range, and the next piece would wait behind it.
 */
uint64_t hac_range_share_next(const hac_range_sharer *sharers, size_t n, size_t own, bool queued,
                              uint64_t left, uint64_t grain);

#endif
