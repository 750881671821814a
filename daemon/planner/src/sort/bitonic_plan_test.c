/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitonic plans against an interpreter of the network, written here from the flow's description: it runs the
 * tasks' comparators on numbers, checks that every task meets its codelet's rules (base/bitonic_layout.h),
 * that every step is run exactly once on every item, in order, and that nothing is touched that another
 * device may be writing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bitonic_layout.h"
#include "planner/sort_plan.h"
#include "test_machines.h"

#define MAX_ITEMS 8192

typedef struct interpreter {
    uint32_t values[MAX_ITEMS];
    uint32_t done[MAX_ITEMS]; /* by item: the last step that it went through */
} interpreter;

/* The slice that item i belongs to when steps from step `first` of subset p down to stride 2^to are sliced: a
 * share of the columns of rows of 2^to; a mirror turns the rows of a run's upper half round. */
static uint32_t slice_of(uint64_t i, uint32_t p, bool mirror, uint32_t to, uint32_t slices)
{
    uint64_t row = UINT64_C(1) << to, column = i & (row - 1);
    if (mirror && (i >> (p - 1) & 1))
        column = row - 1 - column;
    return (uint32_t)(column * slices / row);
}

/* One step on a task's items. */
static void run_step(interpreter *in, uint64_t m, uint32_t step, const hac_plan_task *task)
{
    uint32_t p = hac_bitonic_subset_of(step), j = step - hac_bitonic_first_step(p) + 1;
    uint64_t end = task->first + task->count;
    const hac_bitonic_params *params = HAC_PARAMS(hac_bitonic_params, task);
    bool sliced = task->slices > 1;
    for (uint64_t i = task->first; i < end; i++) {
        if (sliced && slice_of(i, p, params->step == 1, p - (uint32_t)(params->step + params->steps - 1),
                               task->slices) != task->slice)
            continue;
        assert_int_equal(in->done[i], step - 1);
        in->done[i] = step;
        uint64_t other = j == 1 ? i ^ ((UINT64_C(1) << p) - 1) : i ^ (UINT64_C(1) << (p - j));
        if (other < i || other >= m)
            continue;
        assert_true(other < end);
        if (in->values[other] < in->values[i]) {
            uint32_t swap = in->values[i];
            in->values[i] = in->values[other];
            in->values[other] = swap;
        }
    }
}

/* The steps a task's parameters ask for, by the codelets' contract. */
static void task_steps(const hac_plan_task *task, uint32_t *ret_s0, uint32_t *ret_s1)
{
    const hac_bitonic_params *params = HAC_PARAMS(hac_bitonic_params, task);
    uint32_t b = (uint32_t)params->block_log2;
    assert_int_equal(task->n_params, HAC_PARAMS_COUNT(hac_bitonic_params));
    if (strncmp(task->codelet, "bitonic.steps", 13) == 0) {
        *ret_s0 = (uint32_t)params->first_step;
        *ret_s1 = (uint32_t)params->last_step;
    } else if (strncmp(task->codelet, "bitonic.block", 13) == 0) {
        *ret_s0 = 1;
        *ret_s1 = hac_bitonic_last_step(b);
    } else if (strncmp(task->codelet, "bitonic.merge", 13) == 0) {
        uint32_t q = (uint32_t)params->subset, j = (uint32_t)params->step, count = (uint32_t)params->steps;
        assert_true(j >= 1 && count >= 1 && q - (j + count - 1) >= hac_bitonic_tile_log2(4));
        assert_int_equal(params->slice, task->slice);
        assert_int_equal(params->slices, task->slices > 0 ? task->slices : 1);
        assert_true(task->slices <= 1 || count <= 4);
        *ret_s0 = hac_bitonic_first_step(q) + j - 1;
        *ret_s1 = *ret_s0 + count - 1;
    } else {
        assert_string_equal(task->codelet, "bitonic.tail");
        uint32_t q = (uint32_t)params->subset, t = (uint32_t)params->steps;
        assert_true(t <= b && t < q && t >= hac_bitonic_tile_log2(4));
        *ret_s1 = hac_bitonic_last_step(q);
        *ret_s0 = *ret_s1 - t + 1;
    }
}

static void check_task(const hac_plan *plan, const hac_plan_task *task, uint32_t s0, uint32_t s1)
{
    uint64_t m = plan->sort.items, end = task->first + task->count;
    assert_int_equal(HAC_PARAMS(hac_bitonic_params, task)->items, m);
    assert_int_equal(task->step_first, s0);
    assert_int_equal(task->step_last, s1);
    assert_false(task->range);
    /* a step costs a few passes at most */
    assert_true(task->part > 0 && task->part <= 5.0 * (s1 + 1));
    assert_true(s1 < s0 || (task->units > 0 && task->units <= 5.0 * (double)task->count * (s1 - s0 + 1)));
    if (s1 < s0)
        return;
    uint64_t group = UINT64_C(1) << hac_bitonic_groups_log2(s0, s1);
    if (strcmp(task->codelet, "bitonic.block") == 0)
        group = UINT64_C(1) << HAC_PARAMS(hac_bitonic_params, task)->block_log2;
    assert_int_equal(task->first % group, 0);
    assert_true(end == m || end % group == 0);
    assert_int_equal(task->spans[1].touch_first, task->first * 4);
    assert_int_equal(task->spans[1].touch_end, end * 4);
}

/* Runs the plan's tasks in an order that its dependencies allow, but not the one they are listed in. */
static void interpret(const hac_plan *plan, interpreter *in, unsigned seed)
{
    bool *done = calloc(plan->n_tasks, sizeof(*done));
    assert_non_null(done);
    for (size_t left = plan->n_tasks; left > 0; left--) {
        size_t start = (size_t)rand_r(&seed) % plan->n_tasks, t = SIZE_MAX;
        for (size_t i = 0; i < plan->n_tasks && t == SIZE_MAX; i++) {
            size_t candidate = (start + i) % plan->n_tasks;
            const hac_plan_task *task = &plan->tasks[candidate];
            bool ready = !done[candidate];
            for (uint32_t e = 0; e < task->n_edges; e++)
                ready = ready && done[plan->edges[task->first_edge + e]];
            t = ready ? candidate : SIZE_MAX;
        }
        assert_true(t != SIZE_MAX);
        done[t] = true;
        uint32_t s0, s1;
        task_steps(&plan->tasks[t], &s0, &s1);
        check_task(plan, &plan->tasks[t], s0, s1);
        for (uint32_t s = s0; s <= s1; s++)
            run_step(in, plan->sort.items, s, &plan->tasks[t]);
    }
    free(done);
}

static void check_plan(const hac_machine *machine, const hac_sort_spec *spec, unsigned seed)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_plan_sort(machine, spec, &plan, &err) != HAC_OK || hac_plan_check(plan, &err) != HAC_OK)
        fail_msg("%llu items: %s", (unsigned long long)spec->items, err.message);
    interpreter *in = calloc(1, sizeof(*in));
    assert_non_null(in);
    uint64_t m = spec->items;
    uint64_t sum = 0, sorted_sum = 0;
    for (uint64_t i = 0; i < m; i++) {
        in->values[i] = (uint32_t)(rand_r(&seed) % 1000);
        sum += in->values[i] * (UINT64_C(0x9e3779b9) + in->values[i]);
    }
    interpret(plan, in, seed);
    for (uint64_t i = 0; i < m; i++) {
        assert_int_equal(in->done[i], hac_bitonic_last_step(hac_bitonic_subsets(m)));
        sorted_sum += in->values[i] * (UINT64_C(0x9e3779b9) + in->values[i]);
        assert_true(i == 0 || in->values[i - 1] <= in->values[i]);
    }
    assert_true(sum == sorted_sum);
    free(in);
    hac_plan_free(plan);
}

static hac_sort_spec bitonic_spec(uint64_t items, hac_sort_scheme scheme, hac_sort_fold fold)
{
    hac_sort_spec spec;
    memset(&spec, 0, sizeof(spec));
    spec.type = HAC_TYPE_U32;
    spec.items = items;
    spec.algorithm = HAC_SORT_BITONIC;
    spec.scheme = scheme;
    spec.fold = fold;
    return spec;
}

static const hac_sort_scheme schemes[] = {HAC_SCHEME_PROPORTIONAL, HAC_SCHEME_LOWER, HAC_SCHEME_UPPER,
                                          HAC_SCHEME_NONE};

/* Every size up to 70, every k on a grid, each scheme, with and without folding. */
static void test_two_devices(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= 20; k++) {
        const double capability[2] = {1e8, 5e6 * k};
        hac_machine machine = test_machine(capability, 2);
        for (uint64_t m = 1; m <= 70; m++)
            for (size_t s = 0; s < 4; s++)
                for (hac_sort_fold fold = HAC_FOLD_AUTO; fold <= HAC_FOLD_NONE; fold++) {
                    hac_sort_spec spec = bitonic_spec(m, schemes[s], fold);
                    check_plan(&machine, &spec, (unsigned)m * k);
                }
    }
}

/* 1 to 4 and 16 devices; every exponent up to 12, with lengths around each power of two. */
static void test_many_devices(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int round = 0; round < 600; round++) {
        double capability[16];
        size_t devices = round % 20 == 0 ? 16 : 1 + (size_t)rand_r(&seed) % 4;
        for (size_t d = 0; d < devices; d++)
            capability[d] = rand_r(&seed) % 4 == 0 ? 1e8 : 1e6 * (1 + rand_r(&seed) % 100);
        hac_machine machine = test_machine(capability, devices);
        unsigned n = 1 + (unsigned)rand_r(&seed) % 12;
        uint64_t m = (UINT64_C(1) << n) + (uint64_t)rand_r(&seed) % 5 - 2;
        m = rand_r(&seed) % 2 ? m : 1 + (uint64_t)rand_r(&seed) % (UINT64_C(1) << n);
        m = m < 1 ? 1 : m;
        for (size_t d = 0; d < devices; d++) /* small blocks: all the codelets are used */
            machine.devices[d].block_items = 128u << rand_r(&seed) % 4;
        hac_sort_spec spec = bitonic_spec(m, schemes[rand_r(&seed) % 4], HAC_FOLD_NONE);
        unsigned steps = hac_bitonic_last_step(hac_bitonic_subsets(m));
        if (round % 3 == 1 && steps > 0) {
            spec.fold = HAC_FOLD_STEPS;
            while (spec.n_fold_steps < 12)
                spec.fold_steps[spec.n_fold_steps++] = 1 + (uint32_t)rand_r(&seed) % steps;
        } else if (round % 3 == 2) {
            spec.fold = HAC_FOLD_AUTO;
        }
        check_plan(&machine, &spec, seed);
    }
}

static uint32_t max_slices(const hac_plan *plan, uint32_t *ret_devices)
{
    uint32_t max = 0;
    *ret_devices = 0;
    for (size_t t = 0; t < plan->n_tasks; t++) {
        max = plan->tasks[t].slices > max ? plan->tasks[t].slices : max;
        *ret_devices |= plan->tasks[t].slices > 0 ? plan->tasks[t].device_mask : 0;
    }
    return max;
}

/* With the free choice of the scheme the devices do the long merges together, each its share of slices; where
 * memory is not shared, or a scheme was asked for, the strongest does them alone. */
static void test_slices(void **state)
{
    (void)state;
    const double capabilities[][4] = {{1e4, 1e4}, {1e4, 4e3}, {1e4, 1e4, 1e4, 1e4}, {1e4, 8e3, 5e3}};
    const size_t devices[] = {2, 2, 4, 3};
    for (size_t c = 0; c < 4; c++)
        for (uint64_t m = 3000; m <= MAX_ITEMS; m += 1298) {
            hac_machine machine = test_machine(capabilities[c], devices[c]);
            for (size_t d = 0; d < devices[c]; d++)
                machine.devices[d].block_items = 128;
            hac_sort_spec spec = bitonic_spec(m, HAC_SCHEME_AUTO, HAC_FOLD_AUTO);
            check_plan(&machine, &spec, (unsigned)m);
        }
    hac_plan *plan = NULL;
    uint32_t working = 0;
    hac_sort_spec spec = bitonic_spec(MAX_ITEMS, HAC_SCHEME_AUTO, HAC_FOLD_AUTO);
    hac_machine machine = test_machine(capabilities[0], 2);
    machine.devices[0].block_items = machine.devices[1].block_items = 128;
    assert_int_equal(hac_plan_sort(&machine, &spec, &plan, NULL), HAC_OK);
    assert_int_equal(max_slices(plan, &working), 2);
    assert_int_equal(working, 3);
    hac_plan_free(plan);
    machine.devices[1].host_memory = false;
    assert_int_equal(hac_plan_sort(&machine, &spec, &plan, NULL), HAC_OK);
    assert_int_equal(max_slices(plan, &working), 0);
    hac_plan_free(plan);
    machine.devices[1].host_memory = true;
    spec.scheme = HAC_SCHEME_UPPER;
    assert_int_equal(hac_plan_sort(&machine, &spec, &plan, NULL), HAC_OK);
    assert_int_equal(max_slices(plan, &working), 0);
    hac_plan_free(plan);
}

static bool uses(const hac_plan *plan, const char *codelet)
{
    for (size_t t = 0; t < plan->n_tasks; t++)
        if (strcmp(plan->tasks[t].codelet, codelet) == 0)
            return true;
    return false;
}

/* Large sorts are made of the fused passes, after tasks that finish what lies in near memory, and very large
 * ones of passes only. The plan stays small. */
static void test_large(void **state)
{
    (void)state;
    const double capability[2] = {1e9, 0.6e9};
    hac_machine machine = test_machine(capability, 2);
    for (size_t s = 0; s < 8; s++) {
        bool huge = s >= 4, odd = schemes[s % 4] == HAC_SCHEME_PROPORTIONAL;
        uint64_t m = (UINT64_C(1) << (huge ? 31 : 24)) - 12345;
        hac_sort_spec spec = bitonic_spec(m, schemes[s % 4], HAC_FOLD_AUTO);
        hac_plan *plan = NULL;
        hac_error err = HAC_ERROR_NONE;
        if (hac_plan_sort(&machine, &spec, &plan, &err) != HAC_OK || hac_plan_check(plan, &err) != HAC_OK)
            fail_msg("%s", err.message);
        assert_true(plan->n_tasks < (odd ? 800 : huge ? 200 : 100));
        assert_true(odd || (uses(plan, "bitonic.merge") && uses(plan, "bitonic.tail")));
        assert_true(odd || uses(plan, huge ? "bitonic.block" : "bitonic.steps"));
        assert_true(!uses(plan, "bitonic.block") || odd || huge);
        hac_plan_free(plan);
    }
}

static const hac_plan_candidate *candidate(const hac_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_candidates; i++)
        if (strcmp(plan->candidates[i].name, name) == 0)
            return &plan->candidates[i];
    fail_msg("no candidate %s", name);
    return NULL;
}

/* Where passes are fused, single steps side by side do not pay: with the free choice all of them are folded,
 * and the scheme costs what no split costs. Who asks for the scheme gets it. */
static void test_fold_all(void **state)
{
    (void)state;
    const double capability[2] = {1e9, 1e9};
    hac_machine machine = test_machine(capability, 2);
    hac_sort_spec spec = bitonic_spec((UINT64_C(1) << 24) - 12345, HAC_SCHEME_AUTO, HAC_FOLD_AUTO);
    hac_plan *plan = NULL;
    assert_int_equal(hac_plan_sort(&machine, &spec, &plan, NULL), HAC_OK);
    double none = candidate(plan, "bitonic, no split, on dev0")->seconds;
    assert_true(candidate(plan, "bitonic proportional on dev0 + dev1")->seconds <= none * 1.001);
    assert_true(candidate(plan, "bitonic upper on dev0 + dev1")->seconds < none * 0.8);
    hac_plan_free(plan);
    spec.scheme = HAC_SCHEME_PROPORTIONAL;
    assert_int_equal(hac_plan_sort(&machine, &spec, &plan, NULL), HAC_OK);
    assert_true(plan->sort.n_corun > 20);
    assert_int_equal(plan->sort.n_folded, 0);
    hac_plan_free(plan);
}

/* Argsort, payload and descriptors: whole plans that pass the check. */
static void test_variants(void **state)
{
    (void)state;
    const double capability[3] = {1e9, 0.6e9, 0.3e9};
    hac_machine machine = test_machine(capability, 3);
    for (unsigned variant = 0; variant < 8; variant++) {
        hac_sort_spec spec = bitonic_spec(100000, HAC_SCHEME_UPPER, HAC_FOLD_NONE);
        spec.argsort = variant & 1;
        spec.payload_bytes = variant & 2 ? 12 : 0;
        spec.from_descriptor = variant & 4;
        hac_plan *plan = NULL;
        hac_error err = HAC_ERROR_NONE;
        if (hac_plan_sort(&machine, &spec, &plan, &err) != HAC_OK || hac_plan_check(plan, &err) != HAC_OK)
            fail_msg("variant %u: %s", variant, err.message);
        assert_int_equal(uses(plan, "sort.gather"), spec.payload_bytes > 0);
        assert_int_equal(uses(plan, "io.read"), spec.from_descriptor);
        for (size_t b = 0; b < plan->n_buffers; b++)
            assert_int_equal(plan->buffers[b].whole, !spec.from_descriptor);
        assert_int_equal(uses(plan, "bitonic.steps.index") || uses(plan, "bitonic.block.index"),
                         spec.argsort || spec.payload_bytes > 0);
        assert_string_equal(plan->buffers[plan->result_buffer].name, spec.argsort ? "index" : "out");
        hac_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_devices), cmocka_unit_test(test_many_devices),
        cmocka_unit_test(test_large),       cmocka_unit_test(test_fold_all),
        cmocka_unit_test(test_variants),    cmocka_unit_test(test_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
