/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/share.h"

#include <math.h>

#define PART_PLANNED  0.5 /* of a device's time to the common end */
#define PART_MEASURED 0.8
#define LAST_SPAN     6e-4 /* seconds: what is left to the common end is one piece */
#define SLOWEST       1e-6 /* items a second */

static double rate_of(const hac_sharer *s)
{
    return s->rate > SLOWEST ? s->rate : SLOWEST;
}

/* When all devices end together. One that is busy beyond that does not help. */
static double common_end(const hac_sharer *sharers, size_t n, double left)
{
    double end = INFINITY;
    for (bool changed = true; changed;) {
        double rate = 0, work = left, before = end;
        for (size_t d = 0; d < n; d++) {
            if (!sharers[d].in || sharers[d].busy >= before)
                continue;
            rate += rate_of(&sharers[d]);
            work += rate_of(&sharers[d]) * sharers[d].busy;
        }
        if (!(rate > 0))
            return before;
        end = work / rate;
        changed = end < before;
    }
    return end;
}

/* Whether another device, alone, ends all that is left before this one ends a single grain. */
static bool too_late(const hac_sharer *sharers, size_t n, size_t own, double left, double grain)
{
    double end = sharers[own].busy + fmin(grain, left) / rate_of(&sharers[own]);
    for (size_t d = 0; d < n; d++)
        if (d != own && sharers[d].in && sharers[d].ready &&
            sharers[d].busy + left / rate_of(&sharers[d]) < end)
            return true;
    return false;
}

static unsigned count_in(const hac_sharer *sharers, size_t n)
{
    unsigned in = 0;
    for (size_t d = 0; d < n; d++)
        in += sharers[d].in;
    return in;
}

/* Whole grains, as many as are left at most: the last one may be cut. */
static uint64_t to_grains(double grains, uint64_t left, uint64_t grain)
{
    uint64_t most = left / grain + 1;
    return (uint64_t)fmin(grains, (double)most) * grain;
}

uint64_t hac_share_next(const hac_sharer *sharers, size_t n, size_t own, bool queued, uint64_t left,
                        uint64_t grain)
{
    const hac_sharer *mine = &sharers[own];
    bool alone = count_in(sharers, n) <= 1;
    double span = common_end(sharers, n, (double)left) - mine->busy;
    if (alone && span <= HAC_SHARE_LONGEST)
        return left;
    bool last = !alone && span < LAST_SPAN;
    double seconds = alone || last ? span : span * (mine->measured ? PART_MEASURED : PART_PLANNED);
    if (queued && seconds < HAC_SHARE_QUEUED)
        return 0;
    double grains = rate_of(mine) * fmin(seconds, HAC_SHARE_LONGEST) / (double)grain;
    if (grains < 1 && (queued || too_late(sharers, n, own, (double)left, (double)grain)))
        return 0;
    uint64_t whole = to_grains(fmax(grains + (last ? 0.5 : 0), 1), left, grain);
    return whole < left ? whole : left;
}
