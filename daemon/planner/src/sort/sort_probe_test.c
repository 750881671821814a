/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts on a slow CPU and a quick accelerator: from job to job the planner probes, plans, and learns from
 * what a model of the true machine says. Whatever the first jobs were disturbed by, soon the right device
 * sorts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/plan.h"
#include "planner/sort_plan.h"
#include "test_machines.h"

#define MIB  (UINT64_C(1) << 20)
#define JOBS 12
#define SOON 6 /* jobs, after which the right device sorts */

enum { CPU, ACC, DEVICES };

typedef struct truth {
    double slowness[DEVICES]; /* of the true machine: ns per item of a sort */
    double busy[DEVICES];     /* factor in the first jobs */
    unsigned busy_jobs;
    unsigned seed;
    double start_seconds; /* of executors */
    double probed;        /* seconds, of this job */
} truth;

static hac_machine new_pair(hac_model_set *models)
{
    hac_machine machine = test_pair_beside_gpu();
    machine.devices[1] = machine.devices[2];
    machine.n_devices = DEVICES;
    machine.models = models;
    return machine;
}

/* 50 µs of fixed costs, the task's part of the sort, and noise of ten percent. */
static double take(truth *t, const hac_plan_task *task, int device, unsigned job, double fraction)
{
    double noise = 0.9 + 0.2 * (rand_r(&t->seed) % 1000) / 1000;
    double part = task->part > 0 ? task->part : 0.01;
    double seconds = (50e-6 + part * task->units * fraction * t->slowness[device] * 1e-9) * noise;
    return job <= t->busy_jobs ? seconds * t->busy[device] : seconds;
}

static bool runs_on(const hac_plan_task *task, size_t d)
{
    return task->device < 0 ? (task->device_mask >> d & 1) != 0 : task->device == (int)d;
}

/* How fast the device is in that job. */
static double rate(const truth *t, uint32_t device, unsigned job)
{
    return 1 / (t->slowness[device] * (job <= t->busy_jobs ? t->busy[device] : 1));
}

/* Runs the plan on the true machine; returns its seconds. Devices that share a task get parts by what they
 * can do then, as a range is cut while it runs, and the slower one decides. */
static double run_plan(hac_model_set *models, const hac_machine *machine, truth *t, const hac_plan *plan,
                       unsigned job, bool cold)
{
    double sum = 0;
    for (size_t i = 0; i < plan->n_tasks; i++) {
        const hac_plan_task *task = &plan->tasks[i];
        double longest = 0, shares = 0;
        for (size_t d = 0; d < plan->n_devices; d++)
            shares += runs_on(task, d) ? rate(t, plan->devices[d].machine_index, job) : 0;
        for (size_t d = 0; d < plan->n_devices; d++) {
            uint32_t device = plan->devices[d].machine_index;
            double part = runs_on(task, d) ? rate(t, device, job) / shares : 0;
            if (!(part > 0))
                continue;
            double seconds = take(t, task, (int)device, job, part);
            hac_model_record_disturbed(models, machine->devices[device].key, hac_task_model(task, false),
                                       task->type, task->units * part, seconds, hac_task_together(task),
                                       cold ? HAC_COLD : HAC_UNDISTURBED);
            longest = fmax(longest, seconds);
        }
        sum += longest;
    }
    return sum;
}

static hac_plan *plan_for(const hac_machine *machine, const hac_sort_spec *spec)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_plan_sort(machine, spec, &plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return plan;
}

static void probe_all(hac_model_set *models, const hac_machine *machine, truth *t, const hac_sort_spec *spec,
                      unsigned job)
{
    t->probed = 0;
    for (hac_sort_probe probe = {.start_seconds = t->start_seconds}; probe.device < DEVICES;) {
        hac_plan *plan = plan_for(machine, spec);
        uint64_t items = hac_sort_probe_items(machine, spec, plan, &probe);
        hac_plan_free(plan);
        if (items == 0) {
            probe = (hac_sort_probe){.device = probe.device + 1, .start_seconds = t->start_seconds};
            continue;
        }
        assert_true(items <= spec->items / 16 && (items & (items - 1)) == 0);
        hac_sort_spec part = hac_sort_probe_spec(spec, probe.device, items);
        plan = plan_for(machine, &part);
        bool cold = probe.runs == 0 && job == 1;
        t->probed += run_plan(models, machine, t, plan, job, cold);
        hac_plan_free(plan);
        assert_true(probe.runs++ < 3);
        probe.items = items;
    }
}

/* One job; returns the device that does most of it. *ret_ratio: predicted by measured. */
static uint32_t run_job(hac_model_set *models, const hac_machine *machine, truth *t,
                        const hac_sort_spec *spec, unsigned job, double *ret_ratio)
{
    hac_model_set_job(models, job);
    probe_all(models, machine, t, spec, job);
    hac_plan *plan = plan_for(machine, spec);
    size_t most = plan->n_devices > 1 && plan->devices[1].share > plan->devices[0].share;
    uint32_t device = plan->devices[most].machine_index;
    double predicted = plan->predicted_seconds;
    double seconds = run_plan(models, machine, t, plan, job, false);
    *ret_ratio = predicted / seconds;
    hac_plan_free(plan);
    return device;
}

static void check_jobs(truth t, uint64_t items, uint32_t best)
{
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    hac_machine machine = new_pair(models);
    hac_sort_spec spec = {.type = HAC_TYPE_U32, .items = items};
    for (unsigned job = 1; job <= t.busy_jobs + JOBS; job++) {
        double ratio = 0;
        uint32_t device = run_job(models, &machine, &t, &spec, job, &ratio);
        if (job <= t.busy_jobs + SOON)
            continue;
        if (device != best)
            fail_msg("job %u of %llu items runs on %u, not %u", job, (unsigned long long)items, device, best);
        if (!(ratio < 2 && ratio > 0.5))
            fail_msg("job %u of %llu items: predicted by measured %g", job, (unsigned long long)items, ratio);
    }
    hac_model_set_free(models);
}

/* Busy or not in the first one, two and three jobs, ten or fifty times slower than it is. */
static void test_wrong_first_samples(void **state)
{
    (void)state;
    static const double slow[][DEVICES] = {{100, 4}, {4, 100}, {30, 1}};
    static const double busy[][DEVICES] = {{1, 1}, {1, 10}, {10, 1}, {1, 50}, {50, 1}, {10, 10}, {0.1, 1}};
    for (size_t s = 0; s < sizeof(slow) / sizeof(*slow); s++)
        for (size_t b = 0; b < sizeof(busy) / sizeof(*busy); b++)
            for (unsigned jobs = 1; jobs <= 3; jobs++)
                for (unsigned shift = 0; shift <= 4; shift += 2) {
                    truth t = {.busy_jobs = jobs, .seed = (unsigned)(s * 100 + b * 10 + jobs)};
                    memcpy(t.slowness, slow[s], sizeof(t.slowness));
                    memcpy(t.busy, busy[b], sizeof(t.busy));
                    check_jobs(t, 4 * MIB << shift, slow[s][CPU] < slow[s][ACC] ? CPU : ACC);
                }
}

/* Nothing is probed for ever: in the long run it is a few jobs of a hundred, and little of each one. */
static void test_bounded(void **state)
{
    (void)state;
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    hac_machine machine = new_pair(models);
    truth t = {.slowness = {4, 100}, .seed = 3};
    hac_sort_spec spec = {.type = HAC_TYPE_U32, .items = 16 * MIB};
    unsigned probed = 0;
    for (unsigned job = 1; job <= 200; job++) {
        double ratio = 0, seconds = 4e-9 * 16 * MIB;
        (void)run_job(models, &machine, &t, &spec, job, &ratio);
        probed += t.probed > 0;
        if (job > 3)
            assert_true(t.probed < 0.1 * seconds);
    }
    assert_in_range(probed, 4, 9);
    hac_model_set_free(models);
}

/* A device is not started only to be measured again, and short sorts are not kept waiting. */
static void test_when_it_pays(void **state)
{
    (void)state;
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    hac_machine machine = new_pair(models);
    truth t = {.slowness = {4, 100}, .seed = 3, .start_seconds = 0.5};
    hac_sort_spec spec = {.type = HAC_TYPE_U32, .items = 16 * MIB};
    double ratio = 0;
    (void)run_job(models, &machine, &t, &spec, 1, &ratio); /* nothing is known: it is worth a start */
    assert_true(t.probed > 0);
    (void)run_job(models, &machine, &t, &spec, 2, &ratio);
    assert_true(t.probed <= 0);
    hac_sort_spec small = {.type = HAC_TYPE_U32, .items = MIB};
    t.start_seconds = 0;
    (void)run_job(models, &machine, &t, &small, 3, &ratio);
    assert_true(t.probed <= 0);
    (void)run_job(models, &machine, &t, &spec, 4, &ratio);
    assert_true(t.probed > 0);
    machine.devices[ACC].usable = false;
    hac_plan *plan = plan_for(&machine, &spec);
    hac_sort_probe probe = {.device = ACC};
    assert_int_equal(hac_sort_probe_items(&machine, &spec, plan, &probe), 0);
    hac_plan_free(plan);
    hac_model_set_free(models);
}

/* An unknown device sorts the smallest probe twice, and the largest one that fits once. */
static void test_runs(void **state)
{
    (void)state;
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    hac_machine machine = new_pair(models);
    truth t = {.slowness = {100, 4}, .seed = 3};
    hac_sort_spec spec = {.type = HAC_TYPE_U32, .items = 1024 * MIB};
    hac_sort_probe probe = {.device = ACC};
    uint64_t items[4];
    hac_model_set_job(models, 1);
    for (; probe.runs < 4; probe.runs++) {
        hac_plan *plan = plan_for(&machine, &spec);
        probe.items = items[probe.runs] = hac_sort_probe_items(&machine, &spec, plan, &probe);
        hac_plan_free(plan);
        if (probe.items == 0)
            break;
        hac_sort_spec part = hac_sort_probe_spec(&spec, probe.device, probe.items);
        plan = plan_for(&machine, &part);
        (void)run_plan(models, &machine, &t, plan, 1, probe.runs == 0);
        hac_plan_free(plan);
    }
    assert_int_equal(probe.runs, 3);
    assert_int_equal(items[0], 65536);
    assert_int_equal(items[1], 65536);
    assert_in_range(items[2], 4 * items[1], MIB);
    hac_model_set_free(models);
}

/* Sorts that are too short for a probe need no plan to know. */
static void test_short(void **state)
{
    (void)state;
    hac_machine machine = new_pair(NULL);
    hac_sort_probe probe = {.device = ACC};
    hac_sort_spec spec = {.type = HAC_TYPE_U32, .items = MIB};
    assert_true(hac_sort_may_probe(&spec));
    spec.inline_data = true;
    assert_false(hac_sort_may_probe(&spec));
    spec.inline_data = false;
    spec.items = MIB - 1;
    assert_false(hac_sort_may_probe(&spec));
    assert_int_equal(hac_sort_probe_items(&machine, &spec, NULL, &probe), 0);
}

static bool wants_probe(const hac_machine *machine, const hac_sort_spec *spec, double start_seconds)
{
    hac_plan *plan = plan_for(machine, spec);
    hac_sort_probe probe = {.device = ACC, .start_seconds = start_seconds};
    bool wants = hac_sort_probe_items(machine, spec, plan, &probe) > 0;
    hac_plan_free(plan);
    return wants;
}

/* A short sort does not wait until the executor of an unknown device has started. */
static void test_start(void **state)
{
    (void)state;
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    hac_machine machine = new_pair(models);
    truth t = {.slowness = {2, 100}, .seed = 3};
    hac_sort_spec small = {.type = HAC_TYPE_U32, .items = MIB, .device_mask = 1u << CPU}; /* 2 ms */
    hac_sort_spec large = {.type = HAC_TYPE_U32, .items = 64 * MIB, .device_mask = 1u << CPU};
    for (unsigned job = 1; job <= 4; job++) {
        hac_plan *plan = plan_for(&machine, job % 2 != 0 ? &small : &large);
        hac_model_set_job(models, job);
        (void)run_plan(models, &machine, &t, plan, job, false);
        hac_plan_free(plan);
    }
    small.device_mask = large.device_mask = 0;
    assert_true(wants_probe(&machine, &small, 0));
    assert_false(wants_probe(&machine, &small, 0.05));
    assert_true(wants_probe(&machine, &large, 0.05));
    hac_model_set_free(models);
}

/* A device whose probes fail says nothing of itself, and yet it is not probed by each sort. */
static void test_failing(void **state)
{
    (void)state;
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    hac_machine machine = new_pair(models);
    hac_sort_spec spec = {.type = HAC_TYPE_U32, .items = 16 * MIB};
    unsigned probed = 0;
    for (unsigned job = 1; job <= 200; job++) {
        hac_model_set_job(models, job);
        if (wants_probe(&machine, &spec, 0)) {
            hac_sort_probe_failed(models, machine.devices[ACC].key, &spec);
            probed++;
        }
        hac_model_record(models, machine.devices[CPU].key, "radix.leaf", HAC_TYPE_U32, 16e6, 64e-3, false);
    }
    assert_in_range(probed, 3, 9);
    spec.type = HAC_TYPE_F32; /* another kernel may work */
    assert_true(wants_probe(&machine, &spec, 0));
    hac_model_set_free(models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong_first_samples),
                                       cmocka_unit_test(test_bounded),
                                       cmocka_unit_test(test_when_it_pays),
                                       cmocka_unit_test(test_runs),
                                       cmocka_unit_test(test_short),
                                       cmocka_unit_test(test_start),
                                       cmocka_unit_test(test_failing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
