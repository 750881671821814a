/* SPDX-License-Identifier: Apache-2.0 */
#include "group_lanes.h"

#include <string.h>

#include "group_internal.h"

#define LANE_MAX (UINT64_C(1) << 62)

bool hac_lanes_ready(hac_group_table *t)
{
    hac_lanes *l = &t->lanes;
    uint64_t row = l->n * sizeof *l->of, capacity = l->capacity;
    if (t->groups > HAC_LANES_BYTES / row) {
        hac_lanes_settle(t);
        return false;
    }
    while (capacity < t->groups)
        capacity = capacity == 0 ? 64 : 2 * capacity;
    if (capacity == l->capacity)
        return true;
    int64_t *of = hac_budget_resize(&t->budget, l->of, l->capacity * row, capacity * row, NULL);
    if (of == NULL) {
        hac_lanes_settle(t);
        return false;
    }
    memset(of + l->capacity * l->n, 0, (capacity - l->capacity) * row);
    l->of = of;
    l->capacity = capacity;
    return true;
}

bool hac_lanes_take(hac_group_table *t, uint64_t max, size_t rows)
{
    hac_lanes *l = &t->lanes;
    if (max >= LANE_MAX / HAC_BATCH_ROWS)
        return false;
    if (l->bound + max * rows >= LANE_MAX)
        hac_lanes_settle(t);
    l->bound += max * rows;
    return true;
}

bool hac_lanes_take_products(hac_group_table *t, uint64_t max, size_t rows)
{
    return max <= UINT32_MAX && hac_lanes_take(t, max * max, rows);
}

/* Adds value · 2^shift to a window. */
static void add_lane(uint64_t *window, const hac_lane *lane, int64_t value)
{
    hac_i128 wide = (hac_i128)value * ((hac_i128)1 << lane->shift);
    uint64_t words[3] = {(uint64_t)wide, (uint64_t)(wide >> 64), (uint64_t)(wide >> 127)};
    uint64_t carry = 0;
    for (unsigned i = 0; i < lane->words; i++) {
        unsigned __int128 sum = (unsigned __int128)window[i] + words[i] + carry;
        window[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
}

void hac_lanes_settle(hac_group_table *t)
{
    hac_lanes *l = &t->lanes;
    if (l->bound == 0)
        return;
    l->bound = 0;
    uint64_t groups = t->groups < l->capacity ? t->groups : l->capacity;
    for (uint64_t g = 0; g < groups; g++) {
        uint8_t *record = hac_group_record(t, g);
        const int64_t *of = l->of + g * l->n;
        for (uint32_t i = 0; i < l->n; i++)
            if (of[i] != 0)
                add_lane((uint64_t *)(void *)(record + l->to[i].offset), &l->to[i], of[i]);
    }
    memset(l->of, 0, groups * l->n * sizeof *l->of);
}

void hac_lanes_reset(hac_group_table *t)
{
    hac_lanes *l = &t->lanes;
    if (l->bound != 0)
        memset(l->of, 0, l->capacity * l->n * sizeof *l->of);
    l->bound = 0;
}

const int64_t *hac_lanes_values(const int64_t *values, const uint8_t *states, const uint8_t *more,
                                size_t rows, int64_t *scratch)
{
    if (states == NULL && more == NULL)
        return values;
    for (size_t i = 0; i < rows; i++) {
        bool there = (states == NULL || states[i] == 0) && (more == NULL || more[i] == 0);
        scratch[i] = there ? values[i] : 0;
    }
    return scratch;
}

uint64_t hac_lanes_max(const int64_t *values, size_t rows, bool is_signed)
{
    uint64_t bits = 0;
    if (is_signed)
        for (size_t i = 0; i < rows; i++)
            bits |= (uint64_t)(values[i] ^ values[i] >> 63);
    else
        for (size_t i = 0; i < rows; i++)
            bits |= (uint64_t)values[i];
    return bits == UINT64_MAX ? bits : bits + 1;
}
