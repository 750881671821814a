/* SPDX-License-Identifier: Apache-2.0 */
/* Radix plans against the codelets' contract and base/radix_layout.h, and the simulation that prices them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/io_layout.h"
#include "base/radix_layout.h"
#include "base/type.h"
#include "planner/model.h"
#include "planner/sort_plan.h"
#include "test_machines.h"

static hac_plan *plan_for(const hac_machine *machine, const hac_sort_spec *spec)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_plan_sort(machine, spec, &plan, &err) != HAC_OK || hac_plan_check(plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return plan;
}

/* The spans a phase must have: buffer (* for any) and access. */
static const struct contract {
    const char *codelet, *spans[6];
    size_t n_params;
    bool range, host;
} contracts[] = {
    {"io.read", {"in w"}, HAC_PARAMS_COUNT(hac_io_read_params), true, true},
    {"radix.sample", {"in r", "table w"}, HAC_PARAMS_COUNT(hac_radix_params), false, true},
    {"radix.count", {"in r", "table r", "counts w"}, HAC_PARAMS_COUNT(hac_radix_params), true, false},
    {"radix.scan", {"table rw", "counts rw"}, HAC_PARAMS_COUNT(hac_radix_params), false, true},
    {"radix.scatter",
     {"in r", "table r", "counts r", "out w"},
     HAC_PARAMS_COUNT(hac_radix_params),
     true,
     false},
    {"radix.scatter.index",
     {"in r", "table r", "counts r", "* w", "index w"},
     HAC_PARAMS_COUNT(hac_radix_params),
     true,
     false},
    {"radix.scatter.index64",
     {"in r", "table r", "counts r", "* w", "index w"},
     HAC_PARAMS_COUNT(hac_radix_params),
     true,
     false},
    {"radix.leaf", {"table r", "out rw"}, HAC_PARAMS_COUNT(hac_radix_params), true, false},
    {"radix.leaf.index", {"table r", "* rw", "index rw"}, HAC_PARAMS_COUNT(hac_radix_params), true, false},
    {"radix.leaf.index64", {"table r", "* rw", "index rw"}, HAC_PARAMS_COUNT(hac_radix_params), true, false},
    {"radix.whole",
     {"in r", "table w", "counts w", "out w"},
     HAC_PARAMS_COUNT(hac_radix_params),
     false,
     false},
    {"radix.whole.index",
     {"in r", "table w", "counts w", "* w", "index w"},
     HAC_PARAMS_COUNT(hac_radix_params),
     false,
     false},
    {"sort.nan_order", {"in r", "out rw"}, HAC_PARAMS_COUNT(hac_nan_order_params), false, true},
    {"sort.gather", {"* r", "index r", "* w"}, HAC_PARAMS_COUNT(hac_gather_params), true, true},
};

static const struct contract *contract_of(const char *codelet)
{
    for (size_t i = 0; i < sizeof(contracts) / sizeof(contracts[0]); i++)
        if (strcmp(contracts[i].codelet, codelet) == 0)
            return &contracts[i];
    fail_msg("unknown codelet %s", codelet);
    return NULL;
}

static void check_spans(const hac_plan *plan, const hac_plan_task *task, const struct contract *c)
{
    for (size_t s = 0; s < 6 && c->spans[s] != NULL; s++) {
        assert_true(s < task->n_spans);
        const hac_plan_buffer *buffer = &plan->buffers[task->spans[s].buffer];
        const char *space = strchr(c->spans[s], ' ');
        size_t length = (size_t)(space - c->spans[s]);
        int access = (strchr(space, 'r') ? HAC_READ : 0) | (strchr(space, 'w') ? HAC_WRITE : 0);
        assert_true(c->spans[s][0] == '*' ||
                    (strlen(buffer->name) == length && memcmp(buffer->name, c->spans[s], length) == 0));
        assert_int_equal(task->spans[s].access, access);
        assert_int_equal(task->spans[s].offset, 0);
        assert_int_equal(task->spans[s].bytes, buffer->bytes);
        assert_true(s + 1 == 6 || c->spans[s + 1] != NULL || task->n_spans == s + 1);
    }
}

static const hac_plan_buffer *buffer_named(const hac_plan *plan, const char *name)
{
    for (size_t b = 0; b < plan->n_buffers; b++)
        if (strcmp(plan->buffers[b].name, name) == 0)
            return &plan->buffers[b];
    return NULL;
}

static void check_radix(const hac_plan *plan, const hac_sort_spec *spec)
{
    assert_string_equal(plan->sort.algorithm, "radix");
    for (size_t b = 0; b < plan->n_buffers; b++) { /* how much of the tables is used depends on the keys */
        const hac_plan_buffer *buffer = &plan->buffers[b];
        bool table = buffer == buffer_named(plan, "table") || buffer == buffer_named(plan, "counts");
        assert_int_equal(buffer->whole, !table && !spec->from_descriptor);
    }
    for (size_t t = 0; t < plan->n_tasks; t++) {
        const hac_plan_task *task = &plan->tasks[t];
        const struct contract *c = contract_of(task->codelet);
        check_spans(plan, task, c);
        assert_int_equal(task->n_params, c->n_params);
        assert_int_equal(task->range, c->range);
        for (size_t d = 0; c->host && d < plan->n_devices; d++)
            if ((task->device_mask >> d & 1) && (task->device_mask & (task->device_mask - 1)))
                assert_string_not_equal(plan->devices[d].name, "dev0"); /* the GPU: it has CPUs beside it */
        if (strncmp(task->codelet, "radix.", 6) != 0)
            continue;
        const hac_radix_params *params = HAC_PARAMS(hac_radix_params, task);
        uint64_t chunks = hac_radix_ceil(spec->items, params->chunk_items) / params->chunk_items;
        assert_int_equal(params->items, spec->items);
        if (strcmp(task->stage, "count") == 0 || strcmp(task->stage, "scatter") == 0)
            assert_true(task->first == 0 && task->count == chunks && task->grain == 1);
        if (strcmp(task->stage, "leaf") == 0)
            assert_true(task->first == 0 && task->count == params->buckets && !task->repeatable);
        assert_int_equal(buffer_named(plan, "table")->bytes,
                         hac_radix_table_bytes((uint32_t)params->buckets));
        assert_int_equal(buffer_named(plan, "counts")->bytes,
                         hac_radix_counts_bytes(chunks, (uint32_t)params->buckets));
    }
}

static void test_contract(void **state)
{
    (void)state;
    const double capability[3] = {1e9, 0.6e9, 0.3e9};
    static const uint64_t sizes[] = {
        1, 2, 1000, 16384, 16385, 1 << 20, (1 << 24) - 3, UINT64_C(1) << 32, UINT64_C(1) << 38};
    for (size_t devices = 1; devices <= 3; devices++) {
        hac_machine machine = test_machine(capability, devices);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (unsigned variant = 0; variant < 48; variant++) {
                hac_sort_spec spec;
                memset(&spec, 0, sizeof(spec));
                spec.algorithm = HAC_SORT_RADIX;
                spec.type = (hac_type)(1 + variant / 8);
                spec.items = sizes[i];
                spec.argsort = variant & 1;
                spec.payload_bytes = variant & 2 ? 16 : 0;
                spec.from_descriptor = variant & 4;
                for (size_t d = 0; d < devices; d++)
                    strcpy(strchr(machine.devices[d].capability[0].key, '.') + 1, hac_type_name(spec.type));
                hac_plan *plan = plan_for(&machine, &spec);
                check_radix(plan, &spec);
                const hac_plan_buffer *result = &plan->buffers[plan->result_buffer];
                uint64_t index = spec.items >> 32 != 0 ? 8 : 4;
                assert_int_equal(result->bytes,
                                 spec.items * (spec.argsort ? index : hac_type_size(spec.type)));
                assert_int_equal(result->role, HAC_BUFFER_OUTPUT);
                if (spec.payload_bytes > 0)
                    assert_int_equal(buffer_named(plan, "payload_out")->role, HAC_BUFFER_OUTPUT);
                bool by_bits = hac_type_is_float(spec.type) && !spec.argsort && spec.payload_bytes == 0;
                assert_int_equal(strcmp(plan->tasks[plan->n_tasks - 1].codelet, "sort.nan_order") == 0,
                                 by_bits);
                hac_plan_free(plan);
            }
        }
    }
}

/* Loops that a driver ends early (65,535 iterations) stay shorter than that. */
static void test_loop_limit(void **state)
{
    (void)state;
    const double capability[2] = {1e9, 0.9e9};
    hac_machine machine = test_machine(capability, 2);
    machine.devices[1].max_loop_iterations = 65535;
    hac_sort_spec spec;
    memset(&spec, 0, sizeof(spec));
    spec.type = HAC_TYPE_U32;
    spec.items = 1 << 26;
    spec.algorithm = HAC_SORT_RADIX;
    spec.device_mask = 2;
    hac_plan *plan = plan_for(&machine, &spec);
    assert_int_equal(plan->n_devices, 1);
    const hac_radix_params *params = HAC_PARAMS(hac_radix_params, &plan->tasks[0]);
    assert_true(params->chunk_items * 4 + params->buckets * 20 <= 65535);
    hac_plan_free(plan);
}

/* Devices of a range task end together: two devices take 1/(1+k) of the time of the stronger, many grains or
 * few. */
static void test_shared_time(void **state)
{
    (void)state;
    for (unsigned percent = 5; percent <= 100; percent += 5) {
        const double capability[2] = {1e7, 1e7 * percent / 100};
        hac_machine machine = test_machine(capability, 2);
        hac_sort_spec spec;
        memset(&spec, 0, sizeof(spec));
        spec.type = HAC_TYPE_U32;
        spec.items = 1 << 26;
        hac_plan *both = plan_for(&machine, &spec);
        spec.device_mask = 1;
        hac_plan *alone = plan_for(&machine, &spec);
        assert_string_equal(both->sort.algorithm, "radix");
        double ratio = both->predicted_seconds / alone->predicted_seconds;
        assert_true(fabs(ratio * (1 + percent / 100.0) - 1) < 0.02);
        assert_true(fabs(alone->predicted_seconds * 1e7 / (1 << 26) - 1) < 0.01);
        assert_true(fabs(both->devices[0].share - 1 / (1 + percent / 100.0)) < 1e-9);
        hac_plan_free(both);
        hac_plan_free(alone);
    }
}

/* No task starts before those it waits for have ended. */
static void test_order_in_time(void **state)
{
    (void)state;
    const double capability[3] = {1e9, 0.6e9, 0.3e9};
    hac_machine machine = test_machine(capability, 3);
    for (unsigned e = 1; e < 30; e++) {
        for (unsigned way = 0; way < 4; way++) {
            hac_sort_spec spec;
            memset(&spec, 0, sizeof(spec));
            spec.type = HAC_TYPE_U32;
            spec.items = (UINT64_C(1) << e) + e;
            spec.algorithm = way == 0 ? HAC_SORT_RADIX : HAC_SORT_BITONIC;
            spec.scheme = way == 0 ? HAC_SCHEME_AUTO : (hac_sort_scheme)way;
            spec.from_descriptor = true;
            hac_plan *plan = plan_for(&machine, &spec);
            double end = 0;
            for (size_t t = 0; t < plan->n_tasks; t++) {
                const hac_plan_task *task = &plan->tasks[t];
                end = fmax(end, task->predicted_start + task->predicted_seconds);
                for (uint32_t i = 0; i < task->n_edges; i++) {
                    const hac_plan_task *before = &plan->tasks[plan->edges[task->first_edge + i]];
                    assert_true(task->predicted_start >= before->predicted_start + before->predicted_seconds);
                }
            }
            assert_true(fabs(end - plan->predicted_seconds) < 1e-12);
            hac_plan_free(plan);
        }
    }
}

/* A device that copies does a sort as one task, if it is alone and the sort fits it. */
static void test_whole(void **state)
{
    (void)state;
    static const double capability[] = {1e9, 1e8};
    hac_machine machine = test_machine(capability, 1);
    hac_machine_device *device = &machine.devices[0];
    const hac_sort_spec usual = {.items = 1000000, .type = HAC_TYPE_U32};
    for (int way = 0; way < 8; way++) {
        hac_sort_spec spec = usual;
        *device = test_machine(capability, 1).devices[0];
        device->host_memory = way == 1;
        device->memory = way == 2 ? UINT64_C(2) << 30 : UINT64_C(64) << 30;
        device->max_allocation = way == 3 ? 3999999 : UINT64_C(32) << 30;
        device->max_loop_iterations = way == 4 ? 1u << 20 : 0;
        if (way == 5)
            spec.items = HAC_RADIX_WHOLE_ITEMS + 1;
        if (way == 6) {
            machine = test_machine(capability, 2);
            machine.devices[0].host_memory = machine.devices[1].host_memory = false;
            spec.algorithm = HAC_SORT_RADIX;
        }
        if (way == 7)
            spec.argsort = true;
        hac_plan *plan = plan_for(&machine, &spec);
        check_radix(plan, &spec);
        bool whole = strncmp(plan->tasks[0].codelet, "radix.whole", 11) == 0;
        if (way != 6) /* two may or may not be worth it; whether one is, is the price's to say */
            assert_int_equal(whole, way == 0 || way == 7);
        assert_true(!whole || (plan->n_tasks == 1 && plan->tasks[0].part == 1 && plan->n_devices == 1));
        hac_plan_free(plan);
        if (way == 6)
            machine = test_machine(capability, 1);
    }
}

/* The least memory of a device with which it is radix.whole that sorts; in block style that has scratch. */
static void test_whole_needs_memory(void **state)
{
    (void)state;
    static const double capability[] = {1e9};
    enum { ITEMS = 1 << 26 };
    for (int way = 0; way < 8; way++) {
        bool simt = way & 1, argsort = way & 2, fits = way & 4;
        hac_machine machine = test_machine(capability, 1);
        hac_sort_spec spec = {.items = ITEMS, .type = HAC_TYPE_U32, .argsort = argsort};
        uint64_t arrays = argsort ? (simt ? 4 : 3) : 2, scratch = simt ? 512 : 2048; /* MiB */
        machine.devices[0].host_memory = false;
        machine.devices[0].simt = simt;
        machine.devices[0].memory = arrays * ITEMS * 4 + (scratch << 20) - !fits;
        hac_plan *plan = plan_for(&machine, &spec);
        check_radix(plan, &spec);
        assert_int_equal(strncmp(plan->tasks[0].codelet, "radix.whole", 11) == 0, fits);
        hac_plan_free(plan);
    }
}

/* What a device took for its phases is what radix.whole is priced by until that was measured, and the other
 * way round: it does the one alone, the other beside others. */
static void test_kin(void **state)
{
    (void)state;
    static const double capability[] = {1e9, 1e9};
    static const char *const phases[] = {"radix.count", "radix.scatter", "radix.leaf"};
    enum { UNITS = 1 << 24 };
    for (int index = 0; index < 2; index++)
        for (int whole = 0; whole < 2; whole++) {
            hac_machine machine = test_machine(capability, 2);
            hac_model_set *models = NULL;
            assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
            machine.models = models;
            machine.simulated = false;
            for (size_t d = 0; d < 2; d++) {
                machine.devices[d].host_memory = false;
                machine.devices[d].n_capability = 0;
                snprintf(machine.devices[d].key, sizeof(machine.devices[d].key), "key %zu", d);
                for (int i = 0; i < (whole ? 1 : 3); i++) {
                    char codelet[32];
                    snprintf(codelet, sizeof(codelet), "%s%s", whole ? "radix.whole" : phases[i],
                             index != 0 && (whole || i > 0) ? ".index" : "");
                    hac_model_record(models, machine.devices[d].key, codelet, HAC_TYPE_U32, UNITS,
                                     whole ? 6 : 2, false);
                }
            }
            hac_sort_spec spec = {.items = UNITS, .type = HAC_TYPE_U32, .argsort = index != 0};
            spec.algorithm = HAC_SORT_RADIX;
            for (unsigned both = 0; both < 2; both++) {
                spec.device_mask = both != 0 ? 3 : 1;
                hac_plan *plan = plan_for(&machine, &spec);
                check_radix(plan, &spec);
                assert_int_equal(plan->n_devices, 1 + both);
                assert_int_equal(strncmp(plan->tasks[0].codelet, "radix.whole", 11) == 0, both == 0);
                if (fabs(plan->predicted_seconds - (both != 0 ? 3 : 6)) > 0.3)
                    fail_msg("%g s", plan->predicted_seconds);
                hac_plan_free(plan);
            }
            hac_model_set_free(models);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contract),
        cmocka_unit_test(test_loop_limit),
        cmocka_unit_test(test_shared_time),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_whole_needs_memory),
        cmocka_unit_test(test_order_in_time),
        cmocka_unit_test(test_kin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
