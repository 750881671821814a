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

static hac_query_spec spec_of(bool statistics)
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
                           .answered = statistics ? ROWS * 16 : 0,
                           .input_bytes = ROWS * 16};
    spec.sources[0] = ROWS;
    return spec;
}

static double price_of(const hac_machine *machine, const hac_query_spec *spec)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_plan_query(machine, spec, &plan, &err) != HAC_OK || hac_plan_check(plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    double seconds = plan->predicted_seconds;
    hac_plan_free(plan);
    return seconds;
}

static double price(const hac_machine *machine, bool statistics)
{
    const hac_query_spec spec = spec_of(statistics);
    return price_of(machine, &spec);
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

/* Statistics that are not there or not exact answer nothing: by the footers, these bytes are read. */
static void test_not_answered(void **state)
{
    (void)state;
    hac_machine machine = test_pair_beside_gpu();
    machine.n_devices = 1;
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    for (int measured = 0; measured < 2; measured++) {
        hac_query_spec spec = spec_of(true);
        double read = price(&machine, false), found = price(&machine, true);
        spec.answered = 0;
        assert_true(price_of(&machine, &spec) == read);
        spec.answered = spec.bytes / 2;
        double half = price_of(&machine, &spec);
        assert_true(half > 0.4 * read && half < 0.6 * read);
        spec.in_rows = false; /* no footer was read yet */
        spec.answered = 0;
        spec.sources[0] = spec.bytes;
        assert_true(price_of(&machine, &spec) < 2 * found);
        for (unsigned i = 0; i < 16; i++) { /* 16 bytes a row take 2 s, 8 take 1 s */
            unsigned part = 1 + i % 2;
            hac_model_record(models, "key0", "query.aggregate.parquet", HAC_TYPE_NONE,
                             (double)(ROWS * 8 * part), part, false);
        }
    }
    hac_model_set_free(models);
}

/* Of what is measured, each model learns what it describes. */
static void test_learned(void **state)
{
    (void)state;
    static const struct {
        uint64_t answered, groups, read; /* as the footers say; what the task reports */
        bool learned;
    } cases[] = {
        {ROWS * 16, 5, 0, true},    {ROWS * 16, 0, 0, true}, /* another part of a row group answered */
        {ROWS * 16, 4, 100, false}, {ROWS * 16, 0, 100, false}, {0, 0, 100, true},
        {0, 1, 100, false},         {0, 5, 0, false},           {ROWS * 8, 0, 100, true},
        {ROWS * 8, 3, 100, false},  {ROWS * 8, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_query_spec spec = spec_of(true);
        uint64_t values[HAC_AGGREGATE_N_VALUES] = {0}, whole[HAC_WHOLE_N_VALUES] = {0};
        hac_plan_task task = {.codelet = "query.aggregate"};
        spec.answered = cases[i].answered;
        values[HAC_AGGREGATE_VALUE_READ + HAC_READ_GROUPS_ANSWERED] =
            whole[HAC_WHOLE_VALUE_READING + HAC_READ_GROUPS_ANSWERED] = cases[i].groups;
        values[HAC_AGGREGATE_VALUE_READ + HAC_READ_BYTES] = whole[HAC_WHOLE_VALUE_READING + HAC_READ_BYTES] =
            cases[i].read;
        assert_int_equal(hac_query_did_all(&spec, &task, 0, values, HAC_AGGREGATE_N_VALUES),
                         cases[i].learned);
        assert_true(
            hac_query_did_all(&spec, &task, 0, values, HAC_AGGREGATE_VALUE_READ)); /* no such figures */
        task.codelet = "query.whole";
        assert_int_equal(hac_query_did_all(&spec, &task, 0, whole, HAC_WHOLE_N_VALUES), cases[i].learned);
        spec.flags = HAC_COMPILED_AGGREGATES;
        assert_true(hac_query_did_all(&spec, &task, 0, whole, HAC_WHOLE_N_VALUES));
    }
}

/* A profile's figures are those of reading. */
static void test_profile(void **state)
{
    (void)state;
    const double none[] = {0};
    hac_machine machine = test_machine(none, 1);
    machine.devices[0].kind = HAC_DEVICE_KIND_CPU;
    snprintf(machine.devices[0].capability[0].key, sizeof machine.devices[0].capability[0].key,
             "mapreduce.none");
    machine.devices[0].capability[0].items_per_second = 1e8;
    assert_true(price(&machine, false) > 1.5);
    assert_true(price(&machine, true) < 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models_apart),
                                       cmocka_unit_test(test_not_answered), cmocka_unit_test(test_learned),
                                       cmocka_unit_test(test_profile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
