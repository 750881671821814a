/* SPDX-License-Identifier: Apache-2.0 */
/* The price of queries whose answers stand in the statistics of Parquet files. */
#include "planner/query_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/query_layout.h"
#include "planner/plan.h"
#include "test_machines.h"

#define ROWS UINT64_C(10000000)

static double price(const hac_machine *machine, bool statistics)
{
    hac_query_spec spec = {.n_sources = 1,
                           .in_rows = true,
                           .group_rows = 100000,
                           .format = "parquet",
                           .flags = HAC_COMPILED_AGGREGATES | (statistics ? HAC_COMPILED_STATISTICS : 0),
                           .group_bytes = 32,
                           .output_bytes = 20,
                           .compiled_bytes = 500,
                           .bytes = ROWS * 16,
                           .input_bytes = ROWS * 16};
    spec.sources[0] = ROWS;
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_plan_query(machine, &spec, &plan, &err) != HAC_OK || hac_plan_check(plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    double seconds = plan->predicted_seconds;
    hac_plan_free(plan);
    return seconds;
}

/* What reading takes says nothing about queries that read nothing, nor do these about reading. */
static void test_models_apart(void **state)
{
    (void)state;
    hac_machine machine = test_pair_beside_gpu();
    machine.n_devices = 1;
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    assert_true(price(&machine, true) < price(&machine, false) / 5); /* by assumption */
    for (int i = 0; i < 8; i++)
        hac_model_record(models, "key0", "query.aggregate.parquet", HAC_TYPE_NONE, ROWS * 16, 2.0, false);
    double read = price(&machine, false);
    assert_true(read > 1.8 && read < 2.2);
    assert_true(price(&machine, true) < 0.1);
    for (int i = 0; i < 8; i++)
        hac_model_record(models, "key0", "query.aggregate.statistics", HAC_TYPE_NONE, ROWS * 16, 0.3, false);
    double found = price(&machine, true);
    assert_true(found > 0.25 && found < 0.4);
    assert_true(price(&machine, false) == read);
    hac_model_set_free(models);
}

/* A profile's figures are those of reading. */
static void test_profile(void **state)
{
    (void)state;
    const double none[] = {0};
    hac_machine machine = test_machine(none, 1);
    snprintf(machine.devices[0].kind, sizeof machine.devices[0].kind, "cpu");
    snprintf(machine.devices[0].capability[0].key, sizeof machine.devices[0].capability[0].key,
             "mapreduce.none");
    machine.devices[0].capability[0].items_per_second = 1e8;
    assert_true(price(&machine, false) > 1.5);
    assert_true(price(&machine, true) < 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models_apart), cmocka_unit_test(test_profile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
