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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_one_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
