/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of stages and buffers: counting, adding, and returning them as values. */
#include "query/stage_counters.h"

/* cmocka.h comes last */
#include "base/test_support.h"

static void test_stage(void **state)
{
    (void)state;
    hac_stage s = {0}, none = {0}, other = {0};
    hac_stage_add(&s, 1000, 1500, 100);
    hac_stage_add(&s, 700, 800, 0);
    hac_stage_add(&s, 900, 950, 80); /* another stage's clock may exceed the time */
    assert_int_equal(s.busy, 500);
    assert_int_equal(s.first, 700);
    assert_int_equal(s.last, 1500);
    hac_stage_merge(&s, &none);
    assert_int_equal(s.first, 700);
    hac_stage_add(&other, 100, 2000, 0);
    hac_stage_merge(&other, &s);
    assert_int_equal(other.busy, 2400);
    assert_int_equal(other.first, 100);
    assert_int_equal(other.last, 2000);
}

static void test_values(void **state)
{
    (void)state;
    hac_splice_counters a = {0}, b = {0};
    uint64_t v[HAC_SPLICE_N_VALUES];
    hac_splice_count_set(&a, 10, 1000);
    hac_splice_count_set(&b, 20, 5000);
    hac_splice_count_block(&b, 77);
    hac_splice_count_result(&a, 8);
    hac_splice_count_result(&a, 9);
    b.values[HAC_SPLICE_CAPACITY] = 50;
    a.values[HAC_SPLICE_CAPACITY] = 40;
    hac_stage_add(&a.stages[HAC_STAGE_MAP], 2000, 2600, 0);
    hac_splice_merge(&a, &b);
    hac_splice_put_values(&a, 1500, v);
    assert_int_equal(v[HAC_SPLICE_SETS], 2);
    assert_int_equal(v[HAC_SPLICE_SET_RECORDS], 30);
    assert_int_equal(v[HAC_SPLICE_SET_BYTES], 6000);
    assert_int_equal(v[HAC_SPLICE_SET_LARGEST], 5000);
    assert_int_equal(v[HAC_SPLICE_BLOCKS], 1);
    assert_int_equal(v[HAC_SPLICE_RESULT_BYTES], 17);
    assert_int_equal(v[HAC_SPLICE_RESULT_LARGEST], 9);
    assert_int_equal(v[HAC_SPLICE_CAPACITY], 50);
    const uint64_t *map = v + HAC_SPLICE_STAGES + HAC_STAGE_MAP * HAC_SPLICE_STAGE_VALUES;
    assert_int_equal(map[0], 600);
    assert_int_equal(map[1], 500);
    assert_int_equal(map[2], 1100);

    /* a task inside another one: all values, or only its stages */
    hac_splice_counters whole = {0};
    hac_stage_add(&whole.stages[HAC_STAGE_MAP], 9000, 9100, 0);
    hac_splice_add_values(&whole, 10000, v, false);
    hac_splice_add_values(&whole, 20000, v, true);
    assert_int_equal(whole.values[HAC_SPLICE_SET_RECORDS], 30);
    assert_int_equal(whole.stages[HAC_STAGE_MAP].busy, 1300);
    assert_int_equal(whole.stages[HAC_STAGE_MAP].first, 9000);
    assert_int_equal(whole.stages[HAC_STAGE_MAP].last, 21100);
    assert_int_equal(whole.stages[HAC_STAGE_READ].first, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stage), cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
