/* SPDX-License-Identifier: Apache-2.0 */
/* Components of vectors and iterations of sub-loops: arithmetic only. */
#include <math.h>

#include "opsplit/decompose.h"

/* floor(a × i / n), i ≤ n: never overflows. */
static uint64_t share(uint64_t a, unsigned i, unsigned n)
{
    return (uint64_t)((unsigned __int128)a * i / n);
}

hac_component_range hac_component_of_rows(uint64_t rows, unsigned n, uint64_t grain, unsigned i)
{
    grain = grain > 0 ? grain : 1;
    uint64_t blocks = rows / grain + (rows % grain != 0);
    uint64_t first = share(blocks, i, n), end = share(blocks, i + 1, n);
    first = first < blocks ? first * grain : rows;
    end = end < blocks ? end * grain : rows;
    return (hac_component_range){first, end - first};
}

static double weight_of(double weight)
{
    return weight > 0 && isfinite(weight) ? weight : 0.0;
}

void hac_components_by_weight(const double *weights, uint64_t rows, unsigned n, uint64_t grain,
                              hac_component_range *ret_ranges)
{
    double total = 0, sum = 0;
    uint64_t first = 0, row = 0;
    grain = grain > 0 ? grain : 1;
    for (uint64_t i = 0; i < rows; i++)
        total += weight_of(weights[i]);
    for (unsigned i = 0; i < n; i++) {
        double target = total / n * (i + 1);
        while (row < rows && i + 1 < n && total > 0 && sum < target) {
            uint64_t end = rows - row > grain ? row + grain : rows;
            for (; row < end; row++)
                sum += weight_of(weights[row]);
        }
        if (i + 1 == n)
            row = rows;
        else if (!(total > 0)) { /* nothing to go by */
            hac_component_range equal = hac_component_of_rows(rows, n, grain, i);
            row = equal.first + equal.count;
        }
        ret_ranges[i] = (hac_component_range){first, row - first};
        first = row;
    }
}

/* The finaliser of MurmurHash3: every bit of the value changes every bit of the hash. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

unsigned hac_component_of_row(hac_partitioner partitioner, uint64_t row, uint64_t value, unsigned n)
{
    int64_t rest;
    switch (partitioner) {
    case HAC_PARTITION_HASH:
        return (unsigned)(((unsigned __int128)mix(value) * n) >> 64);
    case HAC_PARTITION_ROUND_ROBIN:
        return (unsigned)(row % n);
    case HAC_PARTITION_EXPRESSION:
        rest = (int64_t)value % (int64_t)n;
        return (unsigned)(rest < 0 ? rest + (int64_t)n : rest);
    default:
        return 0;
    }
}

uint64_t hac_loop_iterations(int64_t from, int64_t to, int64_t by)
{
    if (by > 0 && to > from)
        return ((uint64_t)to - (uint64_t)from - 1) / (uint64_t)by + 1;
    if (by < 0 && to < from)
        return ((uint64_t)from - (uint64_t)to - 1) / (0 - (uint64_t)by) + 1;
    return 0;
}

hac_component_range hac_sub_loop(uint64_t iterations, unsigned n, unsigned i)
{
    return hac_component_of_rows(iterations, n, 1, i);
}
