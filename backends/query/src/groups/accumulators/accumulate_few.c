/* SPDX-License-Identifier: Apache-2.0 */
#include "accumulate_few.h"

#include <string.h>

#define SETS     4
#define ROWS_MIN 128 /* for fewer rows, adding one by one is as fast */

void hac_few_init(const hac_group_table *t, size_t rows, hac_few *ret)
{
    uint32_t stride = t->layout.stride;
    ret->groups = 0;
    ret->rows = rows;
    if (t->groups == 0 || t->groups > HAC_FEW_GROUPS || rows < ROWS_MIN)
        return;
    /* the division by multiplication is exact for these few multiples of `stride` */
    uint64_t inverse = (UINT64_C(1) << 32) / stride + 1;
    for (size_t i = 0; i < rows; i++)
        ret->of[i] = (uint8_t)(t->at[i] * inverse >> 32);
    ret->groups = t->groups;
}

void hac_few_count(const hac_few *few, uint64_t ret[HAC_FEW_GROUPS])
{
    uint32_t counts[SETS][HAC_FEW_GROUPS] = {0};
    for (size_t i = 0; i < few->rows; i++)
        counts[i % SETS][few->of[i]]++;
    for (size_t g = 0; g < few->groups; g++)
        ret[g] = (uint64_t)counts[0][g] + counts[1][g] + counts[2][g] + counts[3][g];
}

#define SHORT (UINT64_C(1) << 52)
_Static_assert(SHORT <= INT64_MAX / HAC_BATCH_ROWS, "a batch of short numbers has a sum of 64 bits");

/* True if all numbers are in [-SHORT, SHORT), as most are: their sum over a batch fits 64 bits. */
static bool are_short(const int64_t *values, size_t step, size_t rows)
{
    uint64_t bits = 0;
    if (step == 1)
        for (size_t i = 0; i < rows; i++)
            bits |= (uint64_t)values[i] + SHORT;
    else
        for (size_t i = 0; i < rows; i++)
            bits |= (uint64_t)values[i * step] + SHORT;
    return bits < 2 * SHORT;
}

static void sum_short(const hac_few *few, const int64_t *values, size_t step, hac_i128 *ret)
{
    int64_t sums[SETS][HAC_FEW_GROUPS] = {0};
    size_t i = 0;
    for (; i + SETS <= few->rows; i += SETS)
        for (size_t s = 0; s < SETS; s++)
            sums[s][few->of[i + s]] += values[(i + s) * step];
    for (; i < few->rows; i++)
        sums[0][few->of[i]] += values[i * step];
    for (size_t g = 0; g < few->groups; g++)
        ret[g] = (hac_i128)sums[0][g] + sums[1][g] + sums[2][g] + sums[3][g];
}

void hac_few_sum(const hac_few *few, const int64_t *values, size_t step, hac_i128 ret[HAC_FEW_GROUPS])
{
    if (are_short(values, step, few->rows)) {
        sum_short(few, values, step, ret);
        return;
    }
    for (size_t g = 0; g < few->groups; g++)
        ret[g] = 0;
    for (size_t i = 0; i < few->rows; i++)
        ret[few->of[i]] += values[i * step];
}

hac_i128 hac_few_sum_all(const int64_t *values, size_t rows)
{
    hac_i128 sum = 0;
    int64_t narrow = 0;
    if (are_short(values, 1, rows)) {
        for (size_t i = 0; i < rows; i++)
            narrow += values[i];
        return narrow;
    }
    for (size_t i = 0; i < rows; i++)
        sum += values[i];
    return sum;
}

bool hac_few_narrow(const hac_few *few, const int64_t *pairs)
{
    int64_t differ = 0;
    for (size_t i = 0; i < few->rows; i++)
        differ |= pairs[2 * i + 1] ^ (pairs[2 * i] >> 63);
    return differ == 0;
}
