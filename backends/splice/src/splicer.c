/* SPDX-License-Identifier: Apache-2.0 */
#include "splice/splicer.h"

#include "base/limits.h"

hac_status hac_splicer_init(hac_splicer *s, uint64_t first, uint64_t capacity, uint64_t elements,
                            hac_error *err)
{
    if (first % HAC_ALIGNMENT != 0 || first >= capacity || elements == 0 || capacity > UINT64_MAX / 4)
        return hac_fail(err, HAC_INVALID, "a working buffer of %llu bytes with blocks from %llu on",
                        (unsigned long long)capacity, (unsigned long long)first);
    *s = (hac_splicer){.first = first, .capacity = capacity, .elements = elements, .cursor = first};
    return HAC_OK;
}

bool hac_splicer_fits(const hac_splicer *s, uint64_t bytes, uint64_t elements)
{
    return bytes <= s->capacity - s->first && elements <= s->elements;
}

/* The next block begins at an aligned offset, which may be beyond the capacity. */
static uint64_t behind(uint64_t cursor, uint64_t bytes)
{
    return (cursor + bytes + HAC_ALIGNMENT - 1) / HAC_ALIGNMENT * HAC_ALIGNMENT;
}

static hac_status pause(hac_splicer *s, uint64_t bytes, uint64_t elements)
{
    s->pauses += !s->paused;
    s->paused = true;
    s->waiting_bytes = bytes;
    s->waiting_elements = elements;
    return HAC_AGAIN;
}

hac_status hac_splicer_put(hac_splicer *s, uint64_t bytes, uint64_t elements, uint64_t *ret, hac_error *err)
{
    if (s->paused && (bytes != s->waiting_bytes || elements != s->waiting_elements))
        return hac_fail(err, HAC_INTERNAL, "a block overtakes the one that waits");
    if (!hac_splicer_fits(s, bytes, elements))
        return hac_fail(err, HAC_UNSUPPORTED,
                        "a block of %llu bytes does not fit the working buffer, which has room for %llu",
                        (unsigned long long)bytes, (unsigned long long)(s->capacity - s->first));
    if (s->cursor + bytes > s->capacity || elements > s->elements - s->used)
        return pause(s, bytes, elements);
    *ret = s->cursor;
    s->highest = s->cursor + bytes > s->highest ? s->cursor + bytes : s->highest;
    s->cursor = behind(s->cursor, bytes);
    s->used += elements;
    s->blocks++;
    s->paused = false;
    return HAC_OK;
}

bool hac_splicer_trigger(hac_splicer *s)
{
    bool any = s->cursor != s->first || s->used != 0;
    s->triggers += any;
    s->cursor = s->first;
    s->used = 0;
    return any;
}
