/* SPDX-License-Identifier: Apache-2.0 */
/* Where sub-operators go: the source's rule with all its cases and edges, pins, and the models. */
#include "planner/ops_plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "test_machines.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static const uint64_t sizes[] = {64 * MIB, 64 * MIB, 64 * MIB};

/* A map of vector 0 to vector 1 over 2^20 rows. */
static hac_op_spec map_of(hac_type type, uint64_t memory)
{
    hac_op_spec op = {.codelet = "op.map",
                      .name = "step/map",
                      .pin = "",
                      .type = type,
                      .count = 1 << 20,
                      .grain = 4096,
                      .n_spans = 2,
                      .units = 1 << 20,
                      .memory = memory,
                      .call = (const uint8_t *)"call",
                      .call_bytes = 4};
    op.spans[0] = (hac_plan_span){1, HAC_WRITE, 0, 8 * MIB, 0, 8 * MIB};
    op.spans[1] = (hac_plan_span){0, HAC_READ, 0, 8 * MIB, 0, 8 * MIB};
    return op;
}

static void set_rate(hac_machine_device *device, const char *key, double rate)
{
    snprintf(device->capability[device->n_capability].key, sizeof(device->capability[0].key), "%s", key);
    device->capability[device->n_capability++].items_per_second = rate;
}

/* dev0 is a gpu, dev1 a cpu; both map. */
static hac_machine machine_of(double gpu, double cpu)
{
    hac_machine machine = test_machine((double[]){1e8, 1e8}, 2);
    static const char *const types[] = {"none", "i64", "f32", "f64"};
    for (size_t i = 0; i < 4; i++) {
        char key[32];
        snprintf(key, sizeof(key), "op.map.%s", types[i]);
        set_rate(&machine.devices[0], key, gpu);
        set_rate(&machine.devices[1], key, cpu);
    }
    return machine;
}

static hac_plan *plan_of(const hac_machine *machine, hac_ops_spec spec)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    spec.sizes = sizes;
    spec.n_buffers = 3;
    if (hac_plan_ops(machine, &spec, &plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return plan;
}

static void refuse(const hac_machine *machine, hac_ops_spec spec, hac_status status, const char *what)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    spec.sizes = sizes;
    spec.n_buffers = 3;
    assert_int_equal(hac_plan_ops(machine, &spec, &plan, &err), status);
    if (strstr(err.message, what) == NULL)
        fail_msg("wanted \"%s\", got \"%s\"", what, err.message);
}

/* "dev0", "dev1", "dev0+dev1" of the only task, and what is said of it. */
static void expect(const hac_machine *machine, hac_ops_spec spec, const char *where, const char *why)
{
    hac_plan *plan = plan_of(machine, spec);
    char names[64] = "";
    for (size_t d = 0; d < plan->n_devices; d++)
        if (plan->tasks[0].device_mask >> d & 1) {
            strcat(names, names[0] != '\0' ? "+" : "");
            strcat(names, plan->devices[d].name);
        }
    if (strcmp(names, where) != 0 || strstr(plan->candidates[0].reason, why) == NULL)
        fail_msg("on %s (%s), wanted %s (%s)", names, plan->candidates[0].reason, where, why);
    hac_plan_free(plan);
}

static void test_rule(void **state)
{
    (void)state;
    hac_machine machine = machine_of(1e9, 1e9);
    static const struct {
        hac_type type;
        uint64_t memory;
        const char *where;
    } cases[] = {{HAC_TYPE_I64, MIB, "dev1"},         {HAC_TYPE_I64, 3 * GIB - 1, "dev1"},
                 {HAC_TYPE_I64, 3 * GIB, "dev0"},     {HAC_TYPE_F64, MIB, "dev0"},
                 {HAC_TYPE_F32, 3 * GIB - 1, "dev0"}, {HAC_TYPE_F64, 3 * GIB, "dev1"},
                 {HAC_TYPE_NONE, 0, "dev1"}, /* text and bool count as integers */
                 {HAC_TYPE_NONE, 4 * GIB, "dev0"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hac_op_spec op = map_of(cases[i].type, cases[i].memory);
        expect(&machine, (hac_ops_spec){.tasks = &op, .n_tasks = 1, .policy = HAC_OPS_RULE}, cases[i].where,
               "rule: ");
    }
    hac_op_spec op = map_of(HAC_TYPE_F64, MIB);
    hac_ops_spec spec = {.tasks = &op, .n_tasks = 1, .policy = HAC_OPS_RULE, .threshold = MIB};
    expect(&machine, spec, "dev1", "rule: float, 1 MiB ≥ 1 MiB: cpu");
    spec.threshold = MIB + 1;
    expect(&machine, spec, "dev0", "rule: float");
    machine.devices[0].usable = false; /* what the rule names is not present, though something is called so */
    snprintf(machine.devices[1].name, sizeof(machine.devices[1].name), "gpu");
    expect(&machine, spec, "gpu", "gpu, of which there is none; measured");
}

static void test_pins(void **state)
{
    (void)state;
    hac_machine machine = machine_of(1e9, 1e6);
    hac_op_spec op = map_of(HAC_TYPE_F64, MIB);
    hac_ops_spec spec = {.tasks = &op, .n_tasks = 1, .policy = HAC_OPS_RULE};
    op.pin = "cpu";
    expect(&machine, spec, "dev1", "pinned to cpu");
    op.pin = "dev1";
    expect(&machine, spec, "dev1", "pinned to dev1");
    op.pin = "gpu";
    expect(&machine, spec, "dev0", "pinned to gpu");
    op.pin = "dsp";
    refuse(&machine, spec, HAC_INVALID, "step/map: no device that can run it is called 'dsp'");
    op.pin = "cpu";
    spec.device_mask = 1;
    refuse(&machine, spec, HAC_INVALID, "'cpu'");
}

static void test_measured(void **state)
{
    (void)state;
    hac_op_spec op = map_of(HAC_TYPE_F64, MIB);
    hac_ops_spec spec = {.tasks = &op, .n_tasks = 1};
    hac_machine machine = machine_of(1e9, 1e9);
    expect(&machine, spec, "dev0+dev1", "on 2 together");
    machine = machine_of(1e9, 1e6); /* the second one would save nothing */
    expect(&machine, spec, "dev0", "measured: dev0 1.0");
    machine = machine_of(1e6, 1e9);
    expect(&machine, spec, "dev1", "measured: dev0");
    machine = machine_of(1e9, 1e9);
    op.grain = 0; /* it cannot be cut */
    expect(&machine, spec, "dev0", "measured: ");
    op.grain = 4096;
    snprintf(machine.devices[0].group, sizeof(machine.devices[0].group), "cores");
    snprintf(machine.devices[1].group, sizeof(machine.devices[1].group), "cores");
    expect(&machine, spec, "dev0", "measured: ");
    spec.device_mask = 2;
    expect(&machine, spec, "dev1", "the only device that can");
    machine.devices[1].usable = false;
    refuse(&machine, spec, HAC_FAILED, "no usable device");
}

/* Tasks whose work nobody says are placed all the same. */
static void test_no_units(void **state)
{
    (void)state;
    hac_machine machine = machine_of(1e9, 1e9);
    hac_op_spec op = map_of(HAC_TYPE_F64, MIB);
    op.units = 0;
    hac_plan_free(plan_of(&machine, (hac_ops_spec){.tasks = &op, .n_tasks = 1}));
}

/* Models that a user alone taught are taken for that user alone; else what all taught. */
static void test_learners(void **state)
{
    (void)state;
    hac_machine machine = test_machine((double[]){1e8, 1e8}, 2);
    hac_model_set *models;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    machine.simulated = false;
    hac_op_spec op = map_of(HAC_TYPE_F64, MIB);
    op.grain = 0;
    for (unsigned i = 0; i < 8; i++) {
        hac_model_record(models, machine.devices[0].key, "op.map", HAC_TYPE_F64, op.units, 1e-3, false);
        hac_model_record(models, machine.devices[1].key, "op.map", HAC_TYPE_F64, op.units, 2e-3, false);
        hac_model_record(models, machine.devices[0].key, "op.map@7", HAC_TYPE_F64, op.units, 1.0, false);
    }
    static const struct {
        const char *learner, *model;
        uint32_t mask;
    } cases[] = {{NULL, NULL, 1}, {"7", "op.map@7", 2}, {"8", "op.map@8", 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        hac_plan *plan =
            plan_of(&machine, (hac_ops_spec){.tasks = &op, .n_tasks = 1, .learner = cases[c].learner});
        assert_int_equal(plan->tasks[0].device_mask, cases[c].mask);
        assert_string_equal(hac_task_model(&plan->tasks[0], false),
                            cases[c].model != NULL ? cases[c].model : "op.map");
        hac_plan_free(plan);
    }
    hac_model_set_free(models);
}

/* Beside a GPU the times of host codelets are not those of its kernels. */
static void test_models_of_host(void **state)
{
    (void)state;
    static const char *const models[2][2][2] = {{{"op.map", "op.map@7"}, {"op.map.host", "op.map.host@7"}},
                                                {{"op.map", "op.map@7"}, {"op.map", "op.map@7"}}};
    for (int cpu = 0; cpu < 2; cpu++)
        for (int host = 0; host < 2; host++)
            for (int learner = 0; learner < 2; learner++) {
                hac_machine machine = machine_of(1e9, 1e9);
                machine.simulated = false;
                for (size_t d = 0; d < 2; d++)
                    machine.devices[d].kind = cpu != 0 && d == 0 ? HAC_DEVICE_KIND_CPU : HAC_DEVICE_KIND_GPU;
                hac_op_spec op = map_of(HAC_TYPE_F64, MIB);
                op.host = host != 0;
                hac_plan *plan =
                    plan_of(&machine,
                            (hac_ops_spec){.tasks = &op, .n_tasks = 1, .learner = learner != 0 ? "7" : NULL});
                assert_string_equal(hac_task_model(&plan->tasks[0], false), models[cpu][host][learner]);
                hac_plan_free(plan);
            }
}

/* Two that do not wait for each other go to two devices, though one is somewhat faster. */
static void test_side_by_side(void **state)
{
    (void)state;
    hac_machine machine = machine_of(1e7, 0.8e7);
    hac_op_spec ops[2] = {map_of(HAC_TYPE_F64, MIB), map_of(HAC_TYPE_F64, MIB)};
    ops[0].grain = ops[1].grain = 0;
    ops[1].spans[0].buffer = 2;
    hac_plan *plan = plan_of(&machine, (hac_ops_spec){.tasks = ops, .n_tasks = 2});
    assert_int_equal(plan->tasks[0].device_mask, 1);
    assert_int_equal(plan->tasks[1].device_mask, 2);
    assert_string_equal(plan->tasks[0].codelet, "op.map");
    assert_string_equal(plan->tasks[0].kernels, "op.map.cl");
    assert_true(plan->predicted_seconds > 0.1 && plan->predicted_seconds < 0.15);
    hac_plan_free(plan);
    uint32_t first = 0; /* one behind the other: both on the faster one */
    ops[1].after = &first;
    ops[1].n_after = 1;
    ops[1].spans[1].buffer = 1;
    plan = plan_of(&machine, (hac_ops_spec){.tasks = ops, .n_tasks = 2});
    assert_int_equal(plan->tasks[1].device_mask, 1);
    hac_plan_free(plan);
}

/* The devices of tasks, as a text of digits: bits of devices. */
static void expect_masks(const hac_machine *machine, const hac_op_spec *ops, size_t n, const char *masks)
{
    char found[16] = "";
    hac_plan *plan = plan_of(machine, (hac_ops_spec){.tasks = ops, .n_tasks = n});
    for (size_t i = 0; i < n; i++)
        snprintf(found + i, sizeof found - i, "%u", plan->tasks[i].device_mask);
    if (strcmp(found, masks) != 0)
        fail_msg("on %s, wanted %s: %s", found, masks, plan->candidates[0].reason);
    hac_plan_free(plan);
}

/* As many maps, each of vector 0 to a part of vector 1 of its own. */
static void several_maps(hac_op_spec *ret, size_t n, double units)
{
    for (size_t i = 0; i < n; i++) {
        ret[i] = map_of(HAC_TYPE_F64, MIB);
        ret[i].units = units;
        ret[i].spans[0] = (hac_plan_span){1, HAC_WRITE, i * 8 * MIB, 8 * MIB, i * 8 * MIB, (i + 1) * 8 * MIB};
    }
}

/* What has others beside it is not cut as long as these keep the devices at work. */
static void test_whole_beside_others(void **state)
{
    (void)state;
    hac_machine machine = machine_of(1e9, 1e9), cores = machine_of(1e9, 1e9), unequal = machine_of(3e9, 1e9);
    hac_op_spec ops[8];
    several_maps(ops, 8, 1e7); /* 10 ms each */
    expect_masks(&machine, ops, 1, "3");
    expect_masks(&machine, ops, 2, "12");
    expect_masks(&machine, ops, 3, "133"); /* the last ones even it out */
    expect_masks(&machine, ops, 4, "1212");
    expect_masks(&unequal, ops, 4, "1121");
    expect_masks(&unequal, ops, 2, "33"); /* alone the slow one would be the last by far */
    several_maps(ops, 8, 1e8);            /* long ones are shared: what is known of devices is not exact */
    expect_masks(&machine, ops, 4, "3333");
    several_maps(ops, 8, 1e7);
    for (size_t d = 0; d < 2; d++)
        snprintf(cores.devices[d].group, sizeof cores.devices[d].group, "cores");
    expect_masks(&cores, ops, 2, "12"); /* they share cores: nothing is cut anyway */
    ops[1].units = 0;                   /* nothing is known of its work */
    expect_masks(&machine, ops, 3, "122");
}

/* What comes last and is long would be on top of the others: it is shared. */
static void test_long_one_last(void **state)
{
    (void)state;
    hac_machine machine = machine_of(1e9, 1e9);
    hac_op_spec ops[5];
    static const struct {
        double units[5];
        size_t n;
        double max;
    } cases[] = {{{1e7, 1e7, 2e7}, 3, 0.0205},
                 {{5e6, 5e6, 5e6, 5e6, 2e7}, 5, 0.0205},
                 {{7e6, 7e6, 7e6, 2.1e7}, 4, 0.0215},
                 {{1.3e7, 1.3e7, 2.6e7}, 3, 0.0265}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        several_maps(ops, cases[c].n, 1);
        for (size_t i = 0; i < cases[c].n; i++)
            ops[i].units = cases[c].units[i];
        hac_plan *plan = plan_of(&machine, (hac_ops_spec){.tasks = ops, .n_tasks = cases[c].n});
        if (plan->predicted_seconds > cases[c].max)
            fail_msg("case %zu: %.1f ms", c, plan->predicted_seconds * 1e3);
        hac_plan_free(plan);
    }
}

/* What only one device may run leaves the others to the rest. */
static void test_beside_pinned(void **state)
{
    (void)state;
    hac_machine machine = machine_of(1e9, 1e9);
    hac_op_spec ops[5];
    several_maps(ops, 5, 1e7);
    for (size_t i = 1; i < 5; i++)
        ops[i].pin = "dev0";
    expect_masks(&machine, ops, 2, "31");
    expect_masks(&machine, ops, 5, "31111");
    ops[1].pin = "";
    expect_masks(&machine, ops, 3, "331");
}

/* What waits for another one follows it, so that it can be sent ahead. */
static void test_whole_behind_others(void **state)
{
    (void)state;
    hac_machine machine = machine_of(1e9, 1e9);
    hac_op_spec ops[4];
    static const uint32_t after[] = {0, 1};
    several_maps(ops, 4, 1e7);
    for (size_t i = 2; i < 4; i++) {
        ops[i].after = &after[3 - i]; /* crosswise */
        ops[i].n_after = 1;
    }
    expect_masks(&machine, ops, 4, "1221");
}

static void test_kernels(void **state)
{
    (void)state;
    hac_machine machine = machine_of(1e9, 1e9);
    hac_op_spec op = map_of(HAC_TYPE_F64, MIB);
    hac_plan *plan = plan_of(&machine, (hac_ops_spec){.tasks = &op, .n_tasks = 1, .kernels = true});
    assert_string_equal(plan->tasks[0].codelet, "op.map.cl");
    hac_plan_free(plan);
    machine.devices[0].lacks_f64 = true;
    expect(&machine, (hac_ops_spec){.tasks = &op, .n_tasks = 1}, "dev1", "the only device");
    machine.devices[1].lacks_f64 = true; /* host codelets have it all the same */
    expect(&machine, (hac_ops_spec){.tasks = &op, .n_tasks = 1}, "dev1", "the only device");
    refuse(&machine, (hac_ops_spec){.tasks = &op, .n_tasks = 1, .kernels = true}, HAC_FAILED,
           "no device can run it");
    op.codelet = "op.index";
    op.type = HAC_TYPE_NONE;
    refuse(&machine, (hac_ops_spec){.tasks = &op, .n_tasks = 1}, HAC_INVALID,
           "profile dev1 has no capability \"op.index.none\"");
    set_rate(&machine.devices[1], "op.index.none", 1e6);
    plan = plan_of(&machine, (hac_ops_spec){.tasks = &op, .n_tasks = 1});
    assert_string_equal(plan->tasks[0].codelet, "op.index");
    assert_null(plan->tasks[0].kernels);
    hac_plan_free(plan);
}

/* That many GPUs, and no CPU. */
static hac_machine gpus(size_t n)
{
    hac_machine machine = machine_of(1e9, 1e9);
    machine.devices[1].kind = HAC_DEVICE_KIND_GPU;
    machine.n_devices = n;
    return machine;
}

/* The only task goes to these devices, by its host codelet or also by kernels. */
static void expect_codelet(const hac_machine *machine, hac_ops_spec spec, const char *where, bool kernels)
{
    bool beside_gpu = !kernels && strcmp(where, "dev1") != 0;
    expect(machine, spec, where, beside_gpu ? "; by its host codelet" : "");
    hac_plan *plan = plan_of(machine, spec);
    assert_string_equal(plan->tasks[0].codelet, "op.map");
    if (kernels)
        assert_string_equal(plan->tasks[0].kernels, "op.map.cl");
    else
        assert_null(plan->tasks[0].kernels);
    hac_plan_free(plan);
}

/* What kernels do not do alike is for CPUs; where there are none, for the host codelet beside a GPU. */
static void test_host(void **state)
{
    (void)state;
    hac_op_spec op = map_of(HAC_TYPE_F64, MIB);
    hac_ops_spec spec = {.tasks = &op, .n_tasks = 1};
    op.host = true;
    hac_machine machine = machine_of(1e9, 1e6); /* though the GPU is faster */
    expect_codelet(&machine, spec, "dev1", false);
    spec.policy = HAC_OPS_RULE;
    expect(&machine, spec, "dev1", "rule: float, 1 MiB < 3.07e+03 MiB: gpu, which cannot; measured");
    op.pin = "gpu";
    refuse(&machine, spec, HAC_INVALID, "step/map: 'gpu' has no kernels that can run it, other devices can");
    op.pin = "dsp";
    refuse(&machine, spec, HAC_INVALID, "no device that can run it is called 'dsp'");
    op.pin = "gpu";
    machine = gpus(1);
    expect_codelet(&machine, spec, "dev0", false);
    op.pin = "";
    spec.policy = HAC_OPS_MEASURED;
    expect_codelet(&machine, spec, "dev0", false);
    machine = machine_of(1e9, 1e9);
    spec.device_mask = 1; /* the user does not want the CPU */
    expect_codelet(&machine, spec, "dev0", false);
}

/* f64 is for those that have it; of GPUs of which none has, their host codelets do it. */
static void test_no_f64(void **state)
{
    (void)state;
    hac_op_spec op = map_of(HAC_TYPE_F64, MIB);
    hac_ops_spec spec = {.tasks = &op, .n_tasks = 1};
    hac_machine machine = gpus(1);
    expect_codelet(&machine, spec, "dev0", true);
    machine.devices[0].lacks_f64 = true;
    expect_codelet(&machine, spec, "dev0", false);
    op.type = HAC_TYPE_I64;
    expect_codelet(&machine, spec, "dev0", true);
    op.type = HAC_TYPE_F64;
    machine = gpus(2);
    machine.devices[0].lacks_f64 = true;
    expect_codelet(&machine, spec, "dev1", true);
    machine.devices[1].usable = false;
    expect_codelet(&machine, spec, "dev0", false);
    machine = gpus(2);
    machine.devices[0].lacks_f64 = machine.devices[1].lacks_f64 = true;
    expect_codelet(&machine, spec, "dev0+dev1", false);
    spec.kernels = true; /* and nothing else */
    refuse(&machine, spec, HAC_FAILED, "no device can run it");
}

static void test_bad_graphs(void **state)
{
    (void)state;
    hac_machine machine = machine_of(1e9, 1e9);
    hac_op_spec ops[2] = {map_of(HAC_TYPE_F64, MIB), map_of(HAC_TYPE_F64, MIB)};
    hac_ops_spec spec = {.tasks = ops, .n_tasks = 1};
    ops[0].spans[0].bytes = 64 * MIB + 64;
    refuse(&machine, spec, HAC_INVALID, "step/map: span 0 lies outside its buffer");
    ops[0] = map_of(HAC_TYPE_F64, MIB);
    ops[0].spans[1].buffer = 3;
    refuse(&machine, spec, HAC_INVALID, "span 1 lies outside");
    ops[0] = map_of(HAC_TYPE_F64, MIB);
    ops[0].spans[1].buffer = 1;
    refuse(&machine, spec, HAC_INVALID, "step/map writes over what it reads");
    ops[0] =
        map_of(HAC_TYPE_F64, MIB); /* 0 to 1, then 2 to 0, though in order: the first could not run again */
    uint32_t first = 0;
    ops[1].after = &first;
    ops[1].n_after = 1;
    ops[1].spans[0].buffer = 0;
    ops[1].spans[1].buffer = 2;
    spec.n_tasks = 2;
    refuse(&machine, spec, HAC_INVALID, "writes over what step/map reads");
    ops[1] = map_of(HAC_TYPE_F64, MIB); /* both write the same, and neither waits */
    refuse(&machine, spec, HAC_INVALID, "touch the same bytes");
}

/* A device of unknown speed gets a piece of a long range that is placed elsewhere. */
static void test_explore(void **state)
{
    (void)state;
    hac_machine machine = test_pair_beside_gpu();
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    machine.n_devices = 2;
    hac_op_spec op = map_of(HAC_TYPE_F64, MIB);
    op.units = 1e9;
    hac_ops_spec spec = {.tasks = &op, .n_tasks = 1, .sizes = sizes, .n_buffers = 3};
    hac_plan *plan = NULL;
    hac_model_record(models, machine.devices[0].key, "op.map", HAC_TYPE_F64, 1e9, 1e-3, false);
    hac_error err = HAC_ERROR_NONE;
    if (hac_plan_ops(&machine, &spec, &plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_int_equal(plan->tasks[0].explored, 2);
    assert_int_equal(plan->tasks[0].device_mask, 3);
    assert_int_equal(plan->tasks[0].device, -1);
    assert_non_null(strstr(plan->candidates[0].reason, "; a piece measures cpu.1"));
    assert_true(plan->devices[0].share > 0.999);
    hac_plan_free(plan);
    for (int samples = 1; samples <= 3; samples++) { /* the first two may have been taken on a busy machine */
        hac_model_record(models, machine.devices[1].key, "op.map", HAC_TYPE_F64, 1e9, 1, false);
        assert_int_equal(hac_plan_ops(&machine, &spec, &plan, NULL), HAC_OK);
        assert_int_equal(plan->tasks[0].explored, samples < 3 ? 2 : 0);
        if (samples < 3)
            hac_plan_free(plan);
    }
    assert_int_equal(plan->tasks[0].device_mask, 1);
    hac_plan_free(plan);
    hac_model_set_free(models);
}

static void expect_host_codelet(const hac_machine *machine, const char *pin, bool elsewhere)
{
    hac_op_spec op = map_of(HAC_TYPE_F64, MIB);
    op.host = true;
    op.pin = pin;
    hac_plan *plan = plan_of(machine, (hac_ops_spec){.tasks = &op, .n_tasks = 1});
    assert_int_equal(plan->tasks[0].device_mask, elsewhere ? 2 : 1);
    assert_string_equal(hac_task_model(&plan->tasks[0], false), elsewhere ? "op.map.host" : "op.map");
    assert_null(plan->tasks[0].kernels);
    assert_true((strstr(plan->candidates[0].reason, "; by its host codelet") != NULL) == elsewhere);
    hac_plan_free(plan);
}

/* A host codelet leaves a CPU that is known to be slow, unless it is pinned there or slower elsewhere. It
 * does not leave another CPU, however much it has to do and however many units the GPU has. */
static void test_host_codelet_elsewhere(void **state)
{
    (void)state;
    hac_machine machine = machine_of(1e7, 1e7);
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    machine.simulated = false;
    machine.devices[0].kind = HAC_DEVICE_KIND_CPU;
    machine.devices[1].kind = HAC_DEVICE_KIND_GPU;
    machine.devices[1].threads = 132;
    hac_experience *host = &machine.devices[0].experience[HAC_WORK_HOST];
    expect_host_codelet(&machine, "", false);
    *host = (hac_experience){.factor = 3, .codelets = 5};
    expect_host_codelet(&machine, "", false);
    *host = (hac_experience){.factor = 30, .codelets = 1};
    expect_host_codelet(&machine, "", false);
    *host = (hac_experience){.factor = 30, .codelets = 2};
    expect_host_codelet(&machine, "", true);
    expect_host_codelet(&machine, "cpu", false);
    hac_model_record(models, machine.devices[1].key, "op.map.host", HAC_TYPE_F64, MIB, 1, false);
    expect_host_codelet(&machine, "", false);
    hac_model_set_free(models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explore),
        cmocka_unit_test(test_host_codelet_elsewhere),
        cmocka_unit_test(test_rule),
        cmocka_unit_test(test_pins),
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_no_units),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_bad_graphs),
        cmocka_unit_test(test_learners),
        cmocka_unit_test(test_models_of_host),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_no_f64),
        cmocka_unit_test(test_whole_beside_others),
        cmocka_unit_test(test_whole_behind_others),
        cmocka_unit_test(test_long_one_last),
        cmocka_unit_test(test_beside_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
