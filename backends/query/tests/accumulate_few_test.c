/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of few groups equal those of a plain loop in 128 bits, for every number of rows and the largest
 * values. */
#include <string.h>

#include "base/random.h"
#include "base/test_support.h"

#include "groups/accumulators/accumulate_few.h"

static int64_t draw_value(uint64_t *seed, unsigned kind)
{
    static const int64_t edges[] = {
        INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MAX / HAC_BATCH_ROWS, -(INT64_MAX / HAC_BATCH_ROWS) - 1};
    uint64_t r = hac_random_u64(seed);
    return kind == 0 ? edges[r % 7] : kind == 1 ? (int64_t)(r >> 11) - (INT64_C(1) << 52) : (int64_t)r;
}

static void check(size_t rows, uint64_t groups, unsigned kind, uint64_t *seed)
{
    static int64_t pairs[2 * HAC_BATCH_ROWS], values[HAC_BATCH_ROWS];
    hac_i128 wanted[HAC_FEW_GROUPS] = {0}, got[HAC_FEW_GROUPS];
    uint64_t counts[HAC_FEW_GROUPS] = {0}, counted[HAC_FEW_GROUPS];
    hac_few few = {.groups = groups, .rows = rows};
    for (size_t i = 0; i < rows; i++) {
        few.of[i] = (uint8_t)(hac_random_u64(seed) % groups);
        pairs[2 * i] = values[i] = draw_value(seed, kind);
        pairs[2 * i + 1] = values[i] >> 63;
        wanted[few.of[i]] += values[i];
        counts[few.of[i]]++;
    }
    hac_few_sum(&few, values, 1, got);
    assert_memory_equal(got, wanted, groups * sizeof *got);
    hac_i128 all = 0;
    for (size_t g = 0; g < groups; g++)
        all += wanted[g];
    assert_true(hac_few_sum_all(values, rows) == all);
    assert_true(hac_few_narrow(&few, pairs));
    hac_few_sum(&few, pairs, 2, got);
    assert_memory_equal(got, wanted, groups * sizeof *got);
    hac_few_count(&few, counted);
    assert_memory_equal(counted, counts, groups * sizeof *counts);
    if (rows > 0) {
        pairs[2 * (rows - 1) + 1] ^= 1;
        assert_false(hac_few_narrow(&few, pairs));
    }
}

static void test_sums(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (size_t rows = 0; rows <= HAC_BATCH_ROWS; rows += rows < 20 ? 1 : 251)
        for (uint64_t groups = 1; groups <= HAC_FEW_GROUPS; groups++)
            for (unsigned kind = 0; kind < 3; kind++)
                check(rows, groups, kind, &seed);
}

static void test_groups(void **state)
{
    (void)state;
    static hac_group_table t;
    static hac_few few;
    for (uint32_t stride = 8; stride <= 4096; stride += 8) {
        t.layout.stride = stride;
        t.groups = HAC_FEW_GROUPS;
        for (size_t i = 0; i < HAC_BATCH_ROWS; i++)
            t.at[i] = i * 7 % HAC_FEW_GROUPS * stride;
        hac_few_init(&t, HAC_BATCH_ROWS, &few);
        for (size_t i = 0; i < HAC_BATCH_ROWS; i++)
            assert_int_equal(few.of[i], i * 7 % HAC_FEW_GROUPS);
    }
    t.groups = HAC_FEW_GROUPS + 1;
    hac_few_init(&t, HAC_BATCH_ROWS, &few);
    assert_int_equal(few.groups, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
