/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in an order come in parts, as many as the rows say, unless one task has to write the result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/query_layout.h"
#include "query_build.h"
#include "test_machines.h"

static hac_plan *plan_of(uint64_t flags)
{
    hac_machine machine = test_pair_beside_gpu();
    hac_query_spec spec;
    hac_plan *plan = NULL;
    memset(&spec, 0, sizeof(spec));
    spec.sources[0] = spec.files[0] = spec.bytes = spec.input_bytes = UINT64_C(100) << 20;
    spec.n_sources = 1;
    spec.format = "csv";
    spec.group_bytes = 60;
    spec.output_bytes = 40;
    spec.ordered = true;
    spec.flags = flags;
    spec.keys = (flags & HAC_COMPILED_AGGREGATES) != 0 ? 1 : 0;
    assert_int_equal(hac_plan_query(&machine, &spec, &plan, NULL), HAC_OK);
    return plan;
}

static void test_parts(void **state)
{
    (void)state;
    hac_plan *plan = plan_of(0);
    assert_int_equal(plan->n_tasks, 3);
    const hac_plan_task *order = &plan->tasks[1], *join = &plan->tasks[2];
    assert_string_equal(order->codelet, "query.order");
    assert_string_equal(join->codelet, "query.join");
    assert_true(order->range && join->range && order->count > 1);
    hac_query_set_parts(plan, 0);
    assert_int_equal(order->count, 1);
    hac_query_set_parts(plan, 7 * HAC_PARAMS(hac_query_params, order)->part_rows + 1);
    assert_int_equal(order->count, 8);
    assert_int_equal(join->count, 8);
    assert_int_equal(HAC_PARAMS(hac_query_params, join)->partitions, 8);
    hac_plan_free(plan);
}

static void test_one_result(void **state)
{
    (void)state;
    hac_plan *plan = plan_of(HAC_COMPILED_ONE_RESULT);
    assert_int_equal(plan->n_tasks, 2);
    assert_string_equal(plan->tasks[1].codelet, "query.gather");
    hac_plan_free(plan);
}

/* needed = fixed + split / passes, and a quarter of slack */
static void test_region_of_passes(void **state)
{
    (void)state;
    hac_query_spec spec;
    memset(&spec, 0, sizeof(spec));
    hac_query_learn_region(&spec, 1200, 1);
    assert_int_equal(spec.region, 1500);
    assert_int_equal(spec.region_fixed, 0);
    hac_query_learn_region(&spec, 600, 4); /* 400 + 800 / 4 */
    assert_in_range(spec.region, 1499, 1500);
    assert_in_range(spec.region_fixed, 499, 500);
    hac_query_learn_region(&spec, 600, 8); /* passes do not help */
    assert_in_range(spec.region, 749, 750);
    assert_in_range(spec.region_fixed, 749, 750);
    memset(&spec, 0, sizeof(spec));
    spec.chunk_groups = 1;
    hac_query_learn_region(&spec, 1200, 1);
    assert_int_equal(spec.region_fixed, 1500);
    memset(&spec, 0, sizeof(spec));
    hac_query_learn_region(&spec, 300, 4);
    assert_int_equal(spec.region, 1500);
}

static void test_partitions(void **state)
{
    (void)state;
    hac_plan *plan = plan_of(HAC_COMPILED_AGGREGATES);
    const hac_plan_task *merge = &plan->tasks[1], *finish = &plan->tasks[2];
    uint64_t written = HAC_PARAMS(hac_query_params, &plan->tasks[0])->partitions;
    assert_string_equal(merge->codelet, "query.merge");
    assert_true(merge->count > 2);
    hac_query_set_partitions(plan, 2);
    assert_int_equal(merge->count, 2);
    assert_true(merge->grain <= 2);
    assert_int_equal(HAC_PARAMS(hac_query_params, merge)->partitions, 2);
    assert_int_equal(HAC_PARAMS(hac_query_params, finish)->partitions, 2);
    assert_int_equal(HAC_PARAMS(hac_query_params, &plan->tasks[0])->partitions, written);
    assert_int_equal(plan->query.partitions, 2);
    hac_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_one_result),
        cmocka_unit_test(test_region_of_passes),
        cmocka_unit_test(test_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
