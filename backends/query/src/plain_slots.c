/* SPDX-License-Identifier: Apache-2.0 */
#include "plain_slots.h"

#include <stdlib.h>

#define LEAST_SLOTS  1024u
#define LEAST_PLACES 512u
/* Slots of so many bytes are kept sparse: a probe that has to go on is a mispredicted branch. More would pay
 * for it with cache misses. */
#define SPARSE_BYTES (UINT64_C(1) << 20)
#define FETCHED      16 /* records that are read out of turn */

static uint64_t *rows_of(const hac_group_table *t, uint64_t place)
{
    return (uint64_t *)(void *)(t->slots.records + place * t->layout.stride + t->layout.rows_offset);
}

/* A free slot for a key that has none. */
static uint64_t free_place(const hac_group_table *t, uint64_t hash)
{
    uint64_t mask = t->slots.n - 1, place = hash & mask;
    while (*rows_of(t, place) != 0)
        place = (place + 1) & mask;
    return place;
}

static void copy_in(hac_group_table *t, uint64_t group, const uint8_t *record)
{
    uint64_t key;
    memcpy(&key, record, sizeof key);
    uint64_t hash = hac_hash_word(t->hash_start, key), place = free_place(t, hash);
    hac_group_copy_record(t->slots.records + place * t->layout.stride, record, t->layout.stride);
    t->slots.places[group] = (hac_plain_place){(uint32_t)place, (uint32_t)(hash >> 32)};
}

/* ---- room ---- */

static bool grow_places(hac_group_table *t, uint64_t groups)
{
    hac_plain_slots *s = &t->slots;
    uint64_t room = s->room == 0 ? LEAST_PLACES : s->room;
    while (room < groups)
        room *= 2;
    if (room == s->room)
        return true;
    hac_plain_place *places =
        hac_group_resize(t, s->places, s->room * sizeof *places, room * sizeof *places, NULL);
    if (places == NULL)
        return false;
    s->places = places;
    s->room = room;
    return true;
}

static bool grow_slots(hac_group_table *t, uint64_t groups)
{
    hac_plain_slots *s = &t->slots, old = *s;
    uint64_t n = s->n == 0 ? LEAST_SLOTS : s->n, stride = t->layout.stride;
    while (n < 2 * groups && (n * stride < SPARSE_BYTES || 3 * n < 4 * groups))
        n *= 2;
    if (n == old.n)
        return true;
    if (n > UINT32_MAX || n * stride > t->options.memory || t->used > t->options.memory - n * stride)
        return false;
    uint8_t *records = calloc(n, stride);
    if (records == NULL)
        return false;
    s->records = records;
    s->n = n;
    t->used += (n - old.n) * stride;
    for (uint64_t g = 0; s->on && g < t->groups; g++)
        copy_in(t, g, old.records + s->places[g].slot * stride);
    free(old.records);
    return true;
}

hac_status hac_plain_slots_ready(hac_group_table *t, size_t rows, bool *ret, hac_error *err)
{
    hac_plain_slots *s = &t->slots;
    *ret = !s->off;
    if (s->off)
        return HAC_OK;
    hac_plain_figures f = hac_plain_figures_of(t->layout.plain_sum);
    if (t->layout.stride != f.stride || t->null_group != HAC_NO_GROUP || !grow_places(t, t->groups + rows) ||
        !grow_slots(t, t->groups + rows)) {
        *ret = false;
        return hac_group_leave_slots(t, err);
    }
    for (uint64_t g = 0; !s->on && g < t->groups; g++)
        copy_in(t, g, hac_group_record(t, g));
    s->on = true;
    return HAC_OK;
}

/* ---- writing ---- */

/* `stride` is a constant. */
static inline __attribute__((always_inline)) void write_slots(const hac_group_table *t, const uint32_t *order,
                                                              uint8_t *records, uint64_t stride)
{
    const uint8_t *slots = t->slots.records;
    for (uint64_t i = 0; i < t->groups; i++, records += stride) {
        if (i + FETCHED < t->groups)
            __builtin_prefetch(slots + order[i + FETCHED] * stride);
        memcpy(records, slots + order[i] * stride, stride);
    }
}

void hac_plain_slots_write(const hac_group_table *t, const uint32_t *order, uint8_t *records)
{
    switch (t->layout.plain_sum) {
    case HAC_PLAIN_COUNT:
        write_slots(t, order, records, hac_plain_figures_of(HAC_PLAIN_COUNT).stride);
        break;
    case HAC_PLAIN_F64:
        write_slots(t, order, records, hac_plain_figures_of(HAC_PLAIN_F64).stride);
        break;
    default:
        write_slots(t, order, records, hac_plain_figures_of(HAC_PLAIN_SIGNED).stride);
    }
}

/* ---- back to the table's records ---- */

hac_status hac_group_settle(hac_group_table *t, hac_error *err)
{
    hac_plain_slots *s = &t->slots;
    if (!s->on)
        return HAC_OK;
    hac_status status = hac_group_reserve_records(t, 0, err);
    if (status != HAC_OK)
        return status;
    for (uint64_t g = 0; g < t->groups; g++)
        hac_group_copy_record(hac_group_record(t, g), s->records + s->places[g].slot * t->layout.stride,
                              t->layout.stride);
    s->used = t->groups;
    s->on = false;
    s->off = s->unindexed = true;
    return HAC_OK;
}

/* What the slots take counts: the table may need it for itself. */
static void free_slots(hac_group_table *t)
{
    hac_plain_slots *s = &t->slots;
    t->used -= s->n * t->layout.stride + s->room * sizeof *s->places;
    free(s->records);
    free(s->places);
    *s = (hac_plain_slots){.off = true};
}

hac_status hac_group_leave_slots(hac_group_table *t, hac_error *err)
{
    bool unindexed = t->slots.on || t->slots.unindexed;
    hac_status status = hac_group_settle(t, err);
    if (status != HAC_OK)
        return status;
    free_slots(t);
    return unindexed ? hac_group_index(t, err) : HAC_OK;
}

void hac_plain_slots_reset(hac_group_table *t)
{
    hac_plain_slots *s = &t->slots;
    uint64_t used = s->on ? t->groups : s->used;
    if (used < s->n / 16)
        for (uint64_t g = 0; g < used; g++)
            memset(s->records + s->places[g].slot * t->layout.stride, 0, t->layout.stride);
    else if (s->n != 0)
        memset(s->records, 0, s->n * t->layout.stride);
    s->on = s->off = s->unindexed = false;
    s->used = 0;
}
