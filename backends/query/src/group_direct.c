/* SPDX-License-Identifier: Apache-2.0 */
#include "group_direct.h"

#include <stdlib.h>
#include <string.h>

#define SPAN_MOST   (UINT64_C(1) << 16) /* keys: 256 KiB, which a core's second cache holds */
#define SPAN_LEAST  (UINT64_C(1) << 8)
#define MEMORY_PART 8 /* of the table's: what groups need comes first */

typedef struct range {
    uint64_t low, span; /* span 0: 2^64 keys */
} range;

/* Of the keys, around the first one: signed and unsigned numbers are the same here. */
static range range_of(const uint64_t *keys, size_t rows, uint64_t first)
{
    int64_t least = 0, most = 0;
    for (size_t i = 0; i < rows; i++) {
        int64_t from = (int64_t)(keys[i] - first);
        least = from < least ? from : least;
        most = from > most ? from : most;
    }
    return (range){first + (uint64_t)least, (uint64_t)most - (uint64_t)least + 1};
}

/* Makes [low, low + span) the range, rounded up; what is known stays so. */
static bool take_range(hac_group_table *t, range wanted)
{
    hac_direct *d = &t->direct;
    uint64_t span = SPAN_LEAST, old_low = d->low, old_span = d->span;
    if (wanted.span == 0 || wanted.span > SPAN_MOST)
        return false;
    while (span < wanted.span)
        span *= 2;
    if (t->used > t->options.memory || span * sizeof *d->groups > (t->options.memory - t->used) / MEMORY_PART)
        return false;
    uint32_t *groups = calloc(span, sizeof *groups);
    if (groups == NULL)
        return false;
    if (old_span > 0) /* within the one wanted */
        memcpy(groups + (old_low - wanted.low), d->groups, old_span * sizeof *groups);
    free(d->groups);
    t->used += (span - old_span) * sizeof *groups;
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
    range wanted = range_of(keys, rows, d->low);
    uint64_t least = d->low - wanted.low + d->span; /* what is there stays inside */
    if (wanted.span != 0 && wanted.span < least)
        wanted.span = least;
    d->off = !take_range(t, wanted);
}

void hac_direct_reset(hac_direct *direct)
{
    if (direct->span > 0)
        memset(direct->groups, 0, direct->span * sizeof *direct->groups);
    direct->off = false;
}
