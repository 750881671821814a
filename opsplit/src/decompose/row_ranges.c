/* SPDX-License-Identifier: Apache-2.0 */
/* Components of vectors and iterations of sub-loops. Arithmetic only. */
#include <math.h>
#include <unistd.h>

#include "opsplit/decompose.h"

/* floor(a × i / n) for i ≤ n. Does not overflow. */
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

void hac_weight_sums(const double *weights, uint64_t rows, double *sums)
{
    sums[0] = 0;
    for (uint64_t i = 0; i < rows; i++)
        sums[i + 1] = sums[i] + (weights[i] > 0 && isfinite(weights[i]) ? weights[i] : 0.0);
    bool alike = !(sums[rows] > 0 && isfinite(sums[rows]));
    for (uint64_t i = 0; alike && i <= rows; i++)
        sums[i] = (double)i;
}

/* The first row from `first` on with at least `weight` before it. */
static uint64_t first_with_weight(const double *sums, uint64_t first, uint64_t end, double weight)
{
    while (first < end) {
        uint64_t middle = first + (end - first) / 2;
        if (sums[middle] < weight)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* The row with the weight before it nearest to `weight`, rounded up to a multiple of the grain. */
static uint64_t cut_at(const double *sums, uint64_t first, uint64_t end, double weight, uint64_t grain)
{
    uint64_t row = first_with_weight(sums, first, end, weight);
    if (row > first && weight - sums[row - 1] < sums[row] - weight)
        row = first_with_weight(sums, first, end, sums[row - 1]);
    uint64_t up = (grain - (row - first) % grain) % grain;
    return end - row > up ? row + up : end;
}

hac_component_range hac_component_by_weight(const double *sums, uint64_t first, uint64_t end, unsigned n,
                                            uint64_t grain, unsigned i)
{
    double total = sums[end] - sums[first];
    grain = grain > 0 ? grain : 1;
    if (!(total > 0)) {
        hac_component_range equal = hac_component_of_rows(end - first, n, grain, i);
        return (hac_component_range){first + equal.first, equal.count};
    }
    uint64_t from = i == 0 ? first : cut_at(sums, first, end, sums[first] + total / n * i, grain);
    uint64_t to = i + 1 == n ? end : cut_at(sums, first, end, sums[first] + total / n * (i + 1), grain);
    return (hac_component_range){from, to - from};
}

/* The finaliser of MurmurHash3: each bit of the value affects each bit of the hash. */
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

unsigned hac_node_threads(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 64 ? 64 : (unsigned)n;
}
