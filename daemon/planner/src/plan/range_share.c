/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/range_share.h"

#include <math.h>

/* The part of the time to the common end that a piece takes, if the rate was planned or measured. */
#define PART_PLANNED  0.5
#define PART_MEASURED 0.8
#define PART_GUESSED  0.125
#define LAST_SPAN     6e-4 /* seconds; if less is left to the common end, one piece takes all of it */
#define SLOWEST       1e-6 /* items per second */

static double rate_of(const hac_range_sharer *s)
{
    return s->rate > SLOWEST ? s->rate : SLOWEST;
}

/* The common end, in seconds from now. A device that is busy beyond the common end does not take part. */
static double common_end(const hac_range_sharer *sharers, size_t n, double left)
{
    double end = INFINITY;
    for (bool changed = true; changed;) {
        double rate = 0, work = left, before = end;
        for (size_t d = 0; d < n; d++) {
            if (!sharers[d].in || sharers[d].explored || sharers[d].busy >= before)
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

/* Whether another device alone would finish all items that are left before this device finishes one grain. */
static bool too_late(const hac_range_sharer *sharers, size_t n, size_t own, double left, double grain)
{
    double end = sharers[own].busy + fmin(grain, left) / rate_of(&sharers[own]);
    for (size_t d = 0; d < n; d++)
        if (d != own && sharers[d].in && sharers[d].ready && !sharers[d].explored &&
            sharers[d].busy + left / rate_of(&sharers[d]) < end)
            return true;
    return false;
}

static unsigned count_in(const hac_range_sharer *sharers, size_t n)
{
    unsigned in = 0;
    for (size_t d = 0; d < n; d++)
        in += sharers[d].in;
    return in;
}

/* Converts to items, at most as many grains as are left. The last grain of the range may be shorter. */
static uint64_t to_grains(double grains, uint64_t left, uint64_t grain)
{
    uint64_t max = left / grain + 1;
    return (uint64_t)fmin(grains, (double)max) * grain;
}

static double part_of(const hac_range_sharer *s)
{
    return s->measured ? PART_MEASURED : s->guessed ? PART_GUESSED : PART_PLANNED;
}

/* The next piece of an explored device. `end`: the common end of the others. */
static uint64_t explore(const hac_range_sharer *sharers, size_t n, size_t own, double end, uint64_t left,
                        uint64_t grain)
{
    if (too_late(sharers, n, own, (double)left, (double)grain))
        return 0;
    double seconds = fmin(end * HAC_SHARE_EXPLORED, HAC_SHARE_LONGEST);
    return to_grains(fmax(rate_of(&sharers[own]) * seconds / (double)grain, 1), left, grain);
}

uint64_t hac_range_share_next(const hac_range_sharer *sharers, size_t n, size_t own, bool queued,
                              uint64_t left, uint64_t grain)
{
    const hac_range_sharer *mine = &sharers[own];
    bool alone = count_in(sharers, n) <= 1;
    double end = common_end(sharers, n, (double)left), span = end - mine->busy;
    if (mine->explored && isfinite(end)) {
        uint64_t piece = queued ? 0 : explore(sharers, n, own, end, left, grain);
        return piece < left ? piece : left;
    }
    if (alone && span <= HAC_SHARE_LONGEST)
        return left;
    bool guessed = mine->guessed && !mine->measured;
    bool last = !alone && !guessed && span < LAST_SPAN;
    double seconds = alone || last ? span : span * part_of(mine);
    if (queued && (seconds < HAC_SHARE_QUEUED || (guessed && !alone)))
        return 0;
    double grains = rate_of(mine) * fmin(seconds, HAC_SHARE_LONGEST) / (double)grain;
    if (grains < 1 && (queued || too_late(sharers, n, own, (double)left, (double)grain)))
        return 0;
    uint64_t whole = to_grains(fmax(grains + (last ? 0.5 : 0), 1), left, grain);
    return whole < left ? whole : left;
}
