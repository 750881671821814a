/* SPDX-License-Identifier: Apache-2.0 */
#include "accumulate_few.h"

#include <string.h>

#define SETS       4
#define ROWS_LEAST 128 /* fewer are as quick one by one */

void hac_few_init(const hac_group_table *t, size_t rows, hac_few *ret)
{
    uint32_t stride = t->layout.stride;
    ret->groups = 0;
    ret->rows = rows;
    if (t->groups == 0 || t->groups > HAC_FEW_GROUPS || rows < ROWS_LEAST)
        return;
    for (size_t i = 0; i < rows; i++)
        ret->of[i] = (uint8_t)((uint32_t)t->at[i] / stride);
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

void hac_few_sum(const hac_few *few, const int64_t *values, size_t step, hac_i128 ret[HAC_FEW_GROUPS])
{
    struct {
        uint64_t low;
        int64_t high;
    } sums[SETS][HAC_FEW_GROUPS];
    memset(sums, 0, sizeof sums);
    for (size_t i = 0; i < few->rows; i++) {
        int64_t v = values[i * step];
        sums[i % SETS][few->of[i]].low += (uint32_t)v;
        sums[i % SETS][few->of[i]].high += v >> 32;
    }
    for (size_t g = 0; g < few->groups; g++) {
        ret[g] = 0;
        for (size_t s = 0; s < SETS; s++)
            ret[g] += (hac_i128)sums[s][g].high * ((hac_i128)1 << 32) + (hac_i128)sums[s][g].low;
    }
}

bool hac_few_narrow(const hac_few *few, const int64_t *pairs)
{
    int64_t differ = 0;
    for (size_t i = 0; i < few->rows; i++)
        differ |= pairs[2 * i + 1] ^ (pairs[2 * i] >> 63);
    return differ == 0;
}
