/* SPDX-License-Identifier: Apache-2.0 */
#include "group_direct.h"

#include <stdlib.h>
#include <string.h>

#define SPAN_MAX    (UINT64_C(1) << 16) /* keys: 256 KiB, which fits a core's second-level cache */
#define SPAN_MIN    (UINT64_C(1) << 8)
#define MEMORY_PART 8 /* this part of the free memory at most: groups come first */

typedef struct key_range {
    uint64_t low, span; /* span 0: 2^64 keys */
} key_range;

/* The range of the keys around the first one; signed and unsigned numbers give the same range. */
static key_range range_of(const uint64_t *keys, size_t rows, uint64_t first)
{
    int64_t min = 0, max = 0;
    for (size_t i = 0; i < rows; i++) {
        int64_t from = (int64_t)(keys[i] - first);
        min = from < min ? from : min;
        max = from > max ? from : max;
    }
    return (key_range){first + (uint64_t)min, (uint64_t)max - (uint64_t)min + 1};
}

/* Makes [low, low + span), rounded up, the array's range and keeps the known groups. */
static bool take_range(hac_group_table *t, key_range wanted)
{
    hac_direct *d = &t->direct;
    uint64_t span = SPAN_MIN, old_low = d->low, old_span = d->span;
    if (wanted.span == 0 || wanted.span > SPAN_MAX)
        return false;
    while (span < wanted.span)
        span *= 2;
    if (t->budget.used > t->budget.limit ||
        span * sizeof *d->groups > (t->budget.limit - t->budget.used) / MEMORY_PART)
        return false;
    uint32_t *groups = hac_budget_zeros(&t->budget, span, sizeof *groups, NULL);
    if (groups == NULL)
        return false;
    if (old_span > 0) /* the old range lies inside the new one */
        memcpy(groups + (old_low - wanted.low), d->groups, old_span * sizeof *groups);
    hac_budget_free(&t->budget, d->groups, old_span * sizeof *groups);
    d->groups = groups;
    d->low = wanted.low;
    d->span = span;
    return true;
}

bool hac_direct_ready(hac_group_table *t, const uint64_t *keys, size_t rows)
{
    hac_direct *d = &t->direct;
    if (d->span == 0 && !d->off)
        d->off = !take_range(t, range_of(keys, rows, keys[0]));
    return !d->off;
}

size_t hac_direct_find(hac_group_table *t, const uint64_t *keys, size_t rows, uint16_t *rest)
{
    const uint32_t *groups = t->direct.groups;
    uint64_t low = t->direct.low, span = t->direct.span, stride = t->layout.stride, *at = t->at;
    size_t n = 0;
    bool all = true;
    for (size_t i = 0; i < rows; i++) {
        uint64_t place = keys[i] - low;
        uint32_t group = groups[place < span ? place : 0];
        at[i] = group * stride - stride;
        all &= (place < span) & (group != 0);
    }
    for (size_t i = 0; !all && i < rows; i++) {
        uint64_t place = keys[i] - low;
        rest[n] = (uint16_t)i;
        n += place >= span || groups[place] == 0;
    }
    return n;
}

bool hac_direct_note(hac_group_table *t, uint64_t key, uint64_t at)
{
    uint64_t place = key - t->direct.low;
    if (place >= t->direct.span)
        return false;
    t->direct.groups[place] = (uint32_t)(at / t->layout.stride) + 1;
    return true;
}

void hac_direct_widen(hac_group_table *t, const uint64_t *keys, size_t rows)
{
    hac_direct *d = &t->direct;
    key_range wanted = range_of(keys, rows, d->low);
    uint64_t min = d->low - wanted.low + d->span; /* the new range includes the old one */
    if (wanted.span != 0 && wanted.span < min)
        wanted.span = min;
    d->off = !take_range(t, wanted);
}

void hac_direct_reset(hac_direct *direct)
{
    if (direct->span > 0)
        memset(direct->groups, 0, direct->span * sizeof *direct->groups);
    direct->off = false;
}
