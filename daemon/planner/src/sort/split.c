/* SPDX-License-Identifier: Apache-2.0 */
#include "split.h"

#include <math.h>
#include <string.h>

/* Capabilities are ratios of measured values: closer than this is equal (0.6/1.6 × 16 is 5.999… in doubles).
 */
#define TOLERANCE 1e-9

unsigned hac_log2_ceil(uint64_t items)
{
    return items <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(items - 1);
}

void hac_network_locate(uint32_t step, unsigned *ret_q, unsigned *ret_r)
{
    /* q(q-1)/2 < step ≤ q(q+1)/2; the root is exact to well below 1/2 for the few thousand steps there are */
    unsigned q = (unsigned)ceil((sqrt(8.0 * step + 1) - 1) / 2);
    while (hac_network_steps(q) < step)
        q++;
    while (q > 1 && hac_network_steps(q - 1) >= step)
        q--;
    *ret_q = q;
    *ret_r = hac_network_steps(q) - step + 1;
}

int hac_split_exponent(double k)
{
    double share = k / (1 + k);
    int N = 1;
    while (N < 63 && ldexp(share, N + 1) < 1 - TOLERANCE)
        N++;
    return N;
}

/* The smallest power of two above x; 0 below 1/2. */
static uint64_t power_above(double x)
{
    if (x < 0.5 * (1 - TOLERANCE))
        return 0;
    uint64_t power = 1;
    while ((double)power <= x * (1 + TOLERANCE))
        power *= 2;
    return power;
}

/* The even integer nearest x, the smaller of two. */
static uint64_t nearest_even(double x)
{
    double pairs = x / 2;
    double below = floor(pairs);
    return 2 * (uint64_t)(pairs - below > 0.5 * (1 + TOLERANCE) ? below + 1 : below);
}

/* The weaker part (never index 0) that most exceeds its fair size; of equal ones the weakest device's. */
static size_t max_over(const uint64_t *sizes, const double *fair, size_t n)
{
    size_t worst = 1;
    for (size_t i = 2; i < n; i++) {
        double lead = ((double)sizes[i] - fair[i]) - ((double)sizes[worst] - fair[worst]);
        if (lead >= -TOLERANCE * fair[i])
            worst = i;
    }
    return worst;
}

/* Powers: halves parts until the strongest device (index 0 of `sizes`) keeps at least as much as any weaker
 * one. Proportional: only where many small parts were rounded up, so that they do not exceed the whole. */
static void relieve(uint64_t *sizes, const double *fair, size_t n, uint64_t items, bool proportional)
{
    for (;;) {
        uint64_t sum = 0, largest = 0;
        for (size_t i = 1; i < n; i++) {
            sum += sizes[i];
            largest = sizes[i] > largest ? sizes[i] : largest;
        }
        if (sum <= items && (proportional || items - sum >= largest))
            return;
        size_t worst = max_over(sizes, fair, n);
        sizes[worst] = proportional ? sizes[worst] - 2 : sizes[worst] / 2;
    }
}

/* Device numbers, strongest first. */
static void rank(const double *capability, size_t n, unsigned *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && capability[order[at - 1]] < capability[i]; at--)
            order[at] = order[at - 1];
        order[at] = (unsigned)i;
    }
}

static unsigned trailing_zeros(uint64_t boundary, uint64_t items, unsigned n)
{
    if (boundary == 0 || boundary == items)
        return n;
    unsigned zeros = (unsigned)__builtin_ctzll(boundary);
    return zeros < n ? zeros : n;
}

/* Lays the parts out: weaker ones from index 0 upward in falling size, the strongest takes the rest. */
static void lay_out(hac_split *split, const unsigned *order, const uint64_t *sizes, const double *capability,
                    size_t n)
{
    size_t at[HAC_MACHINE_MAX_DEVICES];
    size_t n_at = 0;
    for (size_t i = 1; i < n; i++) {
        size_t p = n_at++;
        for (; p > 0 && sizes[at[p - 1]] < sizes[i]; p--)
            at[p] = at[p - 1];
        at[p] = i;
    }
    at[n_at] = 0;
    uint64_t first = 0;
    for (size_t p = 0; p < n; p++) {
        hac_split_part *part = &split->parts[p];
        part->device = order[at[p]];
        part->first = first;
        part->items = p + 1 < n ? sizes[at[p]] : split->items - first;
        part->k = capability[part->device] / capability[order[0]];
        part->N = hac_split_exponent(part->k);
        first += part->items;
        unsigned low = trailing_zeros(part->first, split->items, split->n);
        unsigned high = trailing_zeros(first, split->items, split->n);
        part->S = part->items == 0 ? 0 : low < high ? low : high;
        if (p + 1 < n) {
            split->weaker += part->items;
            split->S = part->S > split->S ? part->S : split->S;
        }
    }
    split->n_parts = n;
}

void hac_split_make(const double *capability, size_t n_devices, uint64_t items, hac_sort_scheme scheme,
                    hac_split *ret)
{
    unsigned order[HAC_MACHINE_MAX_DEVICES] = {0};
    uint64_t sizes[HAC_MACHINE_MAX_DEVICES] = {0};
    double fair[HAC_MACHINE_MAX_DEVICES] = {0};
    double sum = 0;
    memset(ret, 0, sizeof(*ret));
    ret->items = items;
    ret->n = hac_log2_ceil(items);
    rank(capability, n_devices, order);
    for (size_t i = 0; i < n_devices; i++)
        sum += capability[i];
    for (size_t i = 1; i < n_devices && scheme != HAC_SCHEME_NONE; i++) {
        fair[i] = capability[order[i]] / sum * (double)items;
        sizes[i] = scheme == HAC_SCHEME_PROPORTIONAL ? nearest_even(fair[i]) : power_above(fair[i]);
    }
    if (scheme != HAC_SCHEME_NONE)
        relieve(sizes, fair, n_devices, items, scheme == HAC_SCHEME_PROPORTIONAL);
    for (size_t i = 1; i < n_devices && scheme == HAC_SCHEME_LOWER; i++)
        sizes[i] /= 2;
    lay_out(ret, order, sizes, capability, n_devices);
}

size_t hac_split_corun(unsigned n, unsigned S, uint32_t (*ret)[2])
{
    size_t runs = 0;
    if (S == 0 || n == 0)
        return 0;
    for (unsigned q = S < n ? S : n; q <= n; q++) {
        if (ret != NULL) {
            ret[runs][0] = runs == 0 ? 1 : hac_network_step(q, S);
            ret[runs][1] = hac_network_steps(q);
        }
        runs++;
    }
    return runs;
}
