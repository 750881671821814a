/* SPDX-License-Identifier: Apache-2.0 */
/* Queries on machines with devices of which nothing is known yet. */
#include "planner/query_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/experience.h"
#include "planner/plan.h"
#include "test_machines.h"

#define MIB  (UINT64_C(1) << 20)
#define FITS (HAC_COMPILED_AGGREGATES | HAC_COMPILED_FITS_DEVICE)

/* A CPU and a GPU. */
static hac_machine new_pair(void)
{
    hac_machine machine = test_pair_beside_gpu();
    machine.devices[1] = machine.devices[2];
    machine.n_devices = 2;
    return machine;
}

static hac_query_spec new_spec(uint64_t units, uint64_t unit_bytes)
{
    hac_query_spec spec = {.n_sources = 1, .flags = FITS, .keys = 1, .group_bytes = 32, .output_bytes = 20};
    spec.sources[0] = units;
    spec.bytes = units * unit_bytes;
    spec.compiled_bytes = 500;
    spec.format = "csv";
    return spec;
}

static hac_query_spec new_table(void)
{
    hac_query_spec spec = new_spec(10000000, 16);
    spec.table = spec.in_rows = true;
    spec.place = HAC_QUERY_IN_BUFFER;
    spec.input_bytes = spec.bytes;
    spec.format = "table";
    return spec;
}

static hac_plan *plan_for(const hac_machine *machine, const hac_query_spec *spec)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_plan_query(machine, spec, &plan, &err) != HAC_OK || hac_plan_check(plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return plan;
}

static const hac_plan_task *find(const hac_plan *plan, const char *codelet, size_t nth)
{
    for (size_t t = 0; t < plan->n_tasks; t++)
        if (strcmp(plan->tasks[t].codelet, codelet) == 0 && nth-- == 0)
            return &plan->tasks[t];
    fail_msg("no %s", codelet);
    return NULL;
}

static bool is_chosen(const hac_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_candidates; i++)
        if (strcmp(plan->candidates[i].name, name) == 0)
            return plan->candidates[i].chosen;
    return false;
}

/* The machine's device `index` in the plan; NULL: it is not there. */
static const hac_plan_device *device_of(const hac_plan *plan, uint32_t index)
{
    for (size_t d = 0; d < plan->n_devices; d++)
        if (plan->devices[d].machine_index == index)
            return &plan->devices[d];
    return NULL;
}

/* A device of unknown speed gets a piece of a plan that is otherwise the same, until it is known. */
static void test_explore(void **state)
{
    (void)state;
    hac_machine machine = new_pair();
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    hac_query_spec spec = new_table();
    hac_plan *plan = plan_for(&machine, &spec);
    const hac_plan_task *task = find(plan, "query.aggregate", 0);
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_HOST);
    assert_true(is_chosen(plan, "host on cpu.0"));
    assert_true(device_of(plan, 1)->explored && plan->devices[0].share > 0.999);
    assert_int_equal(task->explored, 2);
    assert_int_equal(task->device_mask, 3);
    assert_string_equal(task->kernels, "hash.aggregate");
    assert_int_equal(find(plan, "query.merge", 0)->device_mask, 1);
    double seconds = plan->predicted_seconds;
    hac_plan_free(plan);
    spec.device_mask = 1;
    plan = plan_for(&machine, &spec);
    assert_true(plan->predicted_seconds > 0.999 * seconds && plan->predicted_seconds < 1.001 * seconds);
    hac_plan_free(plan);
    spec.device_mask = 0;
    spec.engine = HAC_ENGINE_HOST; /* who asks for an engine gets no other */
    plan = plan_for(&machine, &spec);
    assert_null(device_of(plan, 1));
    hac_plan_free(plan);
    spec.engine = HAC_ENGINE_AUTO;
    spec.flags = HAC_COMPILED_AGGREGATES; /* kernels cannot run it */
    plan = plan_for(&machine, &spec);
    assert_null(device_of(plan, 1));
    hac_plan_free(plan);
    spec.flags = FITS;
    strcpy(machine.devices[0].group, "cores"); /* what shares cores would measure both wrong */
    strcpy(machine.devices[1].group, "cores");
    plan = plan_for(&machine, &spec);
    assert_null(device_of(plan, 1));
    hac_plan_free(plan);
    machine.devices[1].group[0] = '\0';
    /* one cold piece is enough to take it, but it is looked at again where it was not taken */
    hac_model_record_disturbed(models, machine.devices[1].key, "hash.aggregate.table", HAC_TYPE_NONE, 1e7, 9,
                               true, HAC_COLD);
    plan = plan_for(&machine, &spec);
    assert_true(device_of(plan, 1) != NULL && device_of(plan, 1)->explored);
    hac_plan_free(plan);
    hac_model_record_disturbed(models, machine.devices[1].key, "hash.aggregate.table", HAC_TYPE_NONE, 1e7,
                               1e-3, true, HAC_FRESH_PAGES);
    plan = plan_for(&machine, &spec); /* now the CPU is the one that is not known */
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_DEVICE);
    assert_true(device_of(plan, 0)->explored);
    task = find(plan, "query.aggregate", 0);
    assert_int_equal(task->explored, 1u << (device_of(plan, 0) - plan->devices));
    hac_model_set_free(models);
    hac_plan_free(plan);
}

/* A device whose few measurements say that it is slow was perhaps measured while the machine was busy. */
static void test_explore_slow(void **state)
{
    (void)state;
    hac_machine machine = new_pair();
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    hac_query_spec spec = new_table();
    hac_model_record(models, machine.devices[0].key, "query.aggregate.table", HAC_TYPE_NONE, 160e6, 0.01,
                     true);
    for (int samples = 1; samples <= 3; samples++) {
        hac_model_record(models, machine.devices[1].key, "hash.aggregate.table", HAC_TYPE_NONE, 160e6, 100,
                         true);
        hac_plan *plan = plan_for(&machine, &spec);
        const hac_plan_device *gpu = device_of(plan, 1);
        assert_int_equal(gpu != NULL && gpu->explored, samples < 3);
        hac_plan_free(plan);
    }
    hac_model_set_free(models);
}

/* Both kinds of devices do their parts of one range, each by a codelet of its own. */
static void test_mixed(void **state)
{
    (void)state;
    hac_machine machine = new_pair();
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    hac_query_spec spec = new_table();
    hac_model_record(models, machine.devices[0].key, "query.aggregate.table", HAC_TYPE_NONE, 160e6, 0.2,
                     true);
    hac_model_record(models, machine.devices[1].key, "hash.aggregate.table", HAC_TYPE_NONE, 160e6, 0.3, true);
    hac_plan *plan = plan_for(&machine, &spec);
    const hac_plan_task *task = find(plan, "query.aggregate", 0);
    assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_MIXED);
    assert_true(is_chosen(plan, "host and device on cpu.0 + gpu2"));
    assert_string_equal(task->kernels, "hash.aggregate");
    assert_string_equal(task->kernels_model, "hash.aggregate.table");
    assert_int_equal(task->explored | task->guessed, 0);
    assert_int_equal(find(plan, "query.merge", 0)->device_mask, 1);
    assert_true(plan->k > 0.66 && plan->k < 0.67);
    assert_true(plan->devices[0].share > 0.59 && plan->devices[0].share < 0.61);
    assert_string_equal(plan->k_source, "model");
    hac_plan_free(plan);
    hac_model_set_free(models);
}

/* Of many sources one alone is used to measure: the largest. */
static void test_explore_sources(void **state)
{
    (void)state;
    hac_machine machine = new_pair();
    hac_query_spec spec = new_spec(50 * MIB, 1);
    spec.n_sources = 3;
    spec.sources[1] = 400 * MIB;
    spec.sources[2] = 70 * MIB;
    spec.bytes = 520 * MIB;
    hac_plan *plan = plan_for(&machine, &spec);
    for (size_t i = 0; i < 3; i++) {
        const hac_plan_task *task = find(plan, "query.aggregate", i);
        assert_int_equal(task->explored, i == 1 ? 2 : 0);
        assert_int_equal(task->device_mask, i == 1 ? 3 : 1);
    }
    hac_plan_free(plan);
}

static double price_of(const hac_machine *machine, const hac_query_spec *spec)
{
    hac_plan *plan = plan_for(machine, spec);
    double seconds = plan->predicted_seconds;
    hac_plan_free(plan);
    return seconds;
}

/* What was measured of the same query, then of queries alike, counts more than what was measured of others. A
 * model of a user is not another's. */
static void test_alike(void **state)
{
    (void)state;
    hac_machine machine = new_pair();
    hac_model_set *models = NULL;
    machine.n_devices = 1;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    hac_query_spec spec = new_spec(400 * MIB, 1), other = spec;
    const double units = (double)spec.bytes;
    spec.shape = other.shape = 0xab;
    spec.same = 1;
    other.same = 2;
    for (int i = 0; i < 8; i++)
        hac_model_record(models, machine.devices[0].key, "query.aggregate.csv", HAC_TYPE_NONE, units, 1,
                         false);
    double usual = price_of(&machine, &spec);
    assert_true(usual > 1 && usual < 1.5);
    hac_model_record(models, machine.devices[0].key, "query.aggregate.csv#000000ab", HAC_TYPE_NONE, units, 3,
                     false);
    assert_true(price_of(&machine, &spec) > usual + 1.9 && price_of(&machine, &spec) < usual + 2.1);
    hac_model_record(models, machine.devices[0].key, "query.aggregate.csv=00000001", HAC_TYPE_NONE, units, 7,
                     false);
    assert_true(price_of(&machine, &spec) > usual + 5.9);
    assert_true(price_of(&machine, &other) < usual + 2.1);
    spec.learner = "uid7";
    assert_true(price_of(&machine, &spec) < usual + 0.1);
    hac_model_record(models, machine.devices[0].key, "query.aggregate.csv=00000001@uid7", HAC_TYPE_NONE,
                     units, 5, false);
    assert_true(price_of(&machine, &spec) > usual + 3.9 && price_of(&machine, &spec) < usual + 4.1);
    hac_model_set_free(models);
}

/* The machine's devices that run the first task of that codelet. */
static uint32_t devices_of(const hac_plan *plan, const char *codelet)
{
    uint32_t mask = 0;
    for (size_t t = 0; t < plan->n_tasks && mask == 0; t++)
        for (size_t d = 0; d < plan->n_devices && strcmp(plan->tasks[t].codelet, codelet) == 0; d++)
            mask |= (plan->tasks[t].device_mask >> d & 1) << plan->devices[d].machine_index;
    assert_int_not_equal(mask, 0);
    return mask;
}

/* What a CPU took whose host codelets take `factor` times what they usually take, and a fast GPU. */
static void record_pair(hac_model_set *models, const hac_machine *machine, double factor)
{
    const char *cpu = machine->devices[0].key, *gpu = machine->devices[1].key;
    const double bytes = 160e6;
    for (int i = 0; i < 9; i++) {
        hac_model_record(models, cpu, "query.aggregate", HAC_TYPE_NONE, bytes, factor * 0.5, false);
        hac_model_record(models, gpu, "hash.aggregate.table", HAC_TYPE_NONE, bytes, 0.02, false);
        hac_model_record(models, cpu, "query.merge", HAC_TYPE_NONE, 48e6, factor * 0.1, false);
        hac_model_record(models, cpu, "query.finish", HAC_TYPE_NONE, 21e6, factor * 0.1, false);
    }
}

/* Host codelets leave a CPU that is known to be slow for another device's executor, until they are known to
 * be slower still there. They do not leave a CPU that is only busy. */
static void test_host_codelets_elsewhere(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        hac_machine machine = new_pair();
        hac_model_set *models = NULL;
        assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
        machine.models = models;
        record_pair(models, &machine, slow != 0 ? 30 : 1);
        hac_experience_learn(&machine);
        machine.devices[0].backlog = slow != 0 ? 0 : 10;
        hac_query_spec spec = new_table();
        hac_plan *plan = plan_for(&machine, &spec);
        assert_int_equal(plan->query.engine, HAC_PLAN_ENGINE_DEVICE);
        assert_int_equal(devices_of(plan, "query.merge"), slow != 0 ? 2 : 1);
        hac_plan_free(plan);
        spec.flags = HAC_COMPILED_AGGREGATES | HAC_COMPILED_HOST_AGGREGATE;
        plan = plan_for(&machine, &spec);
        assert_int_equal(devices_of(plan, "query.aggregate") & 2, slow != 0 ? 2 : 0);
        hac_plan_free(plan);
        for (int i = 0; i < 9 && slow != 0; i++)
            hac_model_record(models, machine.devices[1].key, "query.aggregate", HAC_TYPE_NONE, 160e6, 40,
                             false);
        plan = plan_for(&machine, &spec);
        assert_int_equal(devices_of(plan, "query.aggregate"), 1);
        hac_plan_free(plan);
        hac_model_set_free(models);
    }
}

/* A CPU that host codelets left is measured again by a piece, when its model is due. */
static void test_slow_cpu_is_explored(void **state)
{
    (void)state;
    hac_machine machine = new_pair();
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    record_pair(models, &machine, 30);
    hac_experience_learn(&machine);
    hac_query_spec spec = new_table();
    spec.flags = HAC_COMPILED_AGGREGATES | HAC_COMPILED_HOST_AGGREGATE;
    bool explored = false;
    for (uint64_t job = 1; job < 5000 && !explored; job++) {
        hac_model_set_job(models, job);
        hac_model_record(models, machine.devices[1].key, "query.aggregate", HAC_TYPE_NONE, 160e6, 0.5, false);
        hac_plan *plan = plan_for(&machine, &spec);
        const hac_plan_task *task = find(plan, "query.aggregate", 0);
        explored = task->explored != 0;
        if (explored)
            assert_int_equal(devices_of(plan, "query.aggregate"), 3);
        hac_plan_free(plan);
    }
    assert_true(explored);
    hac_model_set_free(models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explore),
        cmocka_unit_test(test_explore_slow),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_explore_sources),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_host_codelets_elsewhere),
        cmocka_unit_test(test_slow_cpu_is_explored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
