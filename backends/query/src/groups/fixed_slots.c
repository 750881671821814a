/* SPDX-License-Identifier: Apache-2.0 */
#include "fixed_slots.h"

#define MIN_SLOTS  1024u
#define MIN_PLACES 512u
/* Slots up to this size are kept sparse, because a probe that has to go on is a mispredicted branch. Beyond
 * it, sparse slots would cost cache misses. */
#define SPARSE_BYTES (UINT64_C(1) << 20)
#define FETCHED      16 /* records ahead that are prefetched */
#define LINE         64 /* bytes of a cache line */

static uint64_t *rows_of(const hac_group_table *t, uint64_t place)
{
    return (uint64_t *)(void *)(t->slots.records + place * t->layout.stride + t->layout.rows_offset);
}

/* Finds a free slot for a new key. */
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
    t->slots.places[group] = (hac_fixed_place){(uint32_t)place, (uint32_t)(hash >> 32)};
}

/* ---- room ---- */

static bool grow_places(hac_group_table *t, uint64_t groups)
{
    hac_fixed_slots *s = &t->slots;
    uint64_t capacity = s->capacity == 0 ? MIN_PLACES : s->capacity;
    while (capacity < groups)
        capacity *= 2;
    if (capacity == s->capacity)
        return true;
    hac_fixed_place *places = hac_budget_resize(&t->budget, s->places, s->capacity * sizeof *places,
                                                capacity * sizeof *places, NULL);
    if (places == NULL)
        return false;
    s->places = places;
    s->capacity = capacity;
    return true;
}

/* Bytes of `n` slots: a record of 64 bytes is one cache line. */
static uint64_t memory_bytes(const hac_group_table *t, uint64_t n)
{
    return n * t->layout.stride + LINE;
}

static bool grow_slots(hac_group_table *t, uint64_t groups)
{
    hac_fixed_slots *s = &t->slots, old = *s;
    uint64_t n = s->n == 0 ? MIN_SLOTS : s->n, stride = t->layout.stride;
    while (n < 2 * groups && (n * stride < SPARSE_BYTES || 3 * n < 4 * groups))
        n *= 2;
    if (n == old.n)
        return true;
    uint8_t *memory = n <= UINT32_MAX ? hac_budget_zeros(&t->budget, 1, memory_bytes(t, n), NULL) : NULL;
    if (memory == NULL)
        return false;
    s->memory = memory;
    s->records = memory + (-(uintptr_t)memory & (LINE - 1));
    s->n = n;
    for (uint64_t g = 0; s->on && g < t->groups; g++)
        copy_in(t, g, old.records + s->places[g].slot * stride);
    hac_budget_free(&t->budget, old.memory, memory_bytes(t, old.n));
    return true;
}

hac_status hac_fixed_slots_ready(hac_group_table *t, size_t rows, bool *ret, hac_error *err)
{
    hac_fixed_slots *s = &t->slots;
    *ret = !s->off;
    if (s->off)
        return HAC_OK;
    hac_fixed_figures f = hac_fixed_figures_of(t->layout.fixed_sum);
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

/* ---- limbs ---- */

static uint8_t *sum_of(const hac_group_table *t, uint64_t group)
{
    return t->slots.records + t->slots.places[group].slot * (uint64_t)t->layout.stride +
           hac_fixed_figures_of(HAC_FIXED_F64).sum;
}

static void join(const uint8_t *from, uint8_t *to)
{
    hac_limbs limbs;
    memcpy(&limbs, from, sizeof limbs);
    __int128 window = hac_limbs_join(&limbs);
    memcpy(to, &window, sizeof window);
}

void hac_fixed_slots_join(hac_group_table *t)
{
    if (!t->slots.limbs)
        return;
    for (uint64_t g = 0; g < t->groups; g++)
        join(sum_of(t, g), sum_of(t, g));
    t->slots.limbs = false;
    t->slots.since = 0;
}

bool hac_fixed_slots_split(hac_group_table *t)
{
    uint64_t g = 0;
    for (; g < t->groups; g++) {
        hac_limbs limbs;
        __int128 window;
        memcpy(&window, sum_of(t, g), sizeof window);
        if (!hac_limbs_split(window, &limbs))
            break;
        memcpy(sum_of(t, g), &limbs, sizeof limbs);
    }
    t->slots.limbs = g == t->groups;
    t->slots.since = 0;
    while (!t->slots.limbs && g-- > 0)
        join(sum_of(t, g), sum_of(t, g));
    return t->slots.limbs;
}

/* ---- writing ---- */

/* `stride` and `limbs` are compile-time constants. */
static inline __attribute__((always_inline)) void write_slots(const hac_group_table *t, const uint32_t *order,
                                                              uint8_t *records, uint64_t stride, bool limbs)
{
    const uint8_t *slots = t->slots.records;
    for (uint64_t i = 0; i < t->groups; i++, records += stride) {
        if (i + FETCHED < t->groups)
            __builtin_prefetch(slots + order[i + FETCHED] * stride);
        const uint8_t *slot = slots + order[i] * stride;
        if (limbs) {
            const uint32_t sum = hac_fixed_figures_of(HAC_FIXED_F64).sum;
            memcpy(records, slot, sum);
            join(slot + sum, records + sum);
        } else {
            memcpy(records, slot, stride);
        }
    }
}

void hac_fixed_slots_write(const hac_group_table *t, const uint32_t *order, uint8_t *records)
{
    switch (t->layout.fixed_sum) {
    case HAC_FIXED_COUNT:
        write_slots(t, order, records, hac_fixed_figures_of(HAC_FIXED_COUNT).stride, false);
        break;
    case HAC_FIXED_SQUARES:
        write_slots(t, order, records, hac_fixed_figures_of(HAC_FIXED_SQUARES).stride, false);
        break;
    default:
        if (t->slots.limbs)
            write_slots(t, order, records, hac_fixed_figures_of(HAC_FIXED_F64).stride, true);
        else
            write_slots(t, order, records, hac_fixed_figures_of(HAC_FIXED_SIGNED).stride, false);
    }
}

/* ---- back to the table's records ---- */

static hac_status settle_slots(hac_group_table *t, hac_error *err)
{
    hac_fixed_slots *s = &t->slots;
    if (!s->on)
        return HAC_OK;
    hac_status status = hac_group_reserve_records(t, 0, err);
    if (status != HAC_OK)
        return status;
    hac_fixed_slots_join(t);
    for (uint64_t g = 0; g < t->groups; g++)
        hac_group_copy_record(hac_group_record(t, g), s->records + s->places[g].slot * t->layout.stride,
                              t->layout.stride);
    s->used = t->groups;
    s->on = false;
    s->off = s->unindexed = true;
    return HAC_OK;
}

hac_status hac_group_settle(hac_group_table *t, hac_error *err)
{
    hac_lanes_settle(t);
    return settle_slots(t, err);
}

/* The slots' memory is returned: the table may need it for its records. */
static void free_slots(hac_group_table *t)
{
    hac_fixed_slots *s = &t->slots;
    hac_budget_free(&t->budget, s->memory, memory_bytes(t, s->n));
    hac_budget_free(&t->budget, s->places, s->capacity * sizeof *s->places);
    *s = (hac_fixed_slots){.off = true};
}

hac_status hac_group_leave_slots(hac_group_table *t, hac_error *err)
{
    bool unindexed = t->slots.on || t->slots.unindexed;
    hac_status status = settle_slots(t, err);
    if (status != HAC_OK)
        return status;
    free_slots(t);
    return unindexed ? hac_group_index(t, err) : HAC_OK;
}

void hac_fixed_slots_reset(hac_group_table *t)
{
    hac_fixed_slots *s = &t->slots;
    uint64_t used = s->on ? t->groups : s->used;
    if (used < s->n / 16)
        for (uint64_t g = 0; g < used; g++)
            memset(s->records + s->places[g].slot * t->layout.stride, 0, t->layout.stride);
    else if (s->n != 0)
        memset(s->records, 0, s->n * t->layout.stride);
    s->on = s->off = s->unindexed = s->limbs = false;
    s->used = s->since = 0;
}
