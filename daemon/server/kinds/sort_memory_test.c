/* SPDX-License-Identifier: Apache-2.0 */
#include "sort_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/test_support.h"

static hac_machine machine;

/* Two devices of one machine, the second twice as fast. */
static int set_up(void **state)
{
    (void)state;
    memset(&machine, 0, sizeof machine);
    machine.simulated = true;
    machine.n_devices = 2;
    for (size_t d = 0; d < 2; d++) {
        hac_machine_device *device = &machine.devices[d];
        snprintf(device->name, sizeof device->name, "dev%zu", d);
        device->kind = HAC_DEVICE_KIND_CPU;
        device->usable = device->host_memory = true;
        device->threads = 1;
        device->block_items = 1u << 15;
        device->local_memory = 32768;
        device->memory = device->max_allocation = UINT64_C(1) << 40;
        snprintf(device->capability[0].key, sizeof device->capability[0].key, "sort.u32");
        device->capability[0].items_per_second = 1e8 * (double)(d + 1);
        device->n_capability = 1;
    }
    return 0;
}

static hac_sort_spec spec_of(hac_sort_algorithm algorithm, bool argsort)
{
    hac_sort_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.type = HAC_TYPE_U32;
    spec.items = 10000000;
    spec.algorithm = algorithm;
    spec.argsort = argsort;
    return spec;
}

/* The memory of the plan within `limit`; 0: refused, and *ret_least is what the message names. */
static uint64_t plan_within(const hac_sort_spec *spec, uint64_t limit, char algorithm[16], uint64_t *ret_min)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_sort_plan_within(&machine, spec, NULL, limit, &plan, &err);
    if (status != HAC_OK) {
        assert_int_equal(status, HAC_REFUSED);
        assert_null(plan);
        const char *min = strstr(err.message, "at least ");
        assert_non_null(min);
        *ret_min = strtoull(min + strlen("at least "), NULL, 10);
        return 0;
    }
    assert_int_equal(hac_plan_check(plan, NULL), HAC_OK);
    uint64_t bytes = hac_plan_memory(plan);
    memcpy(algorithm, plan->sort.algorithm, 16);
    hac_plan_free(plan);
    return bytes;
}

static void test_no_limit_is_the_fastest(void **state)
{
    (void)state;
    char algorithm[16];
    uint64_t min = 0;
    hac_sort_spec spec = spec_of(HAC_SORT_AUTO, false);
    uint64_t bytes = plan_within(&spec, 0, algorithm, &min);
    assert_string_equal(algorithm, "radix");
    assert_true(bytes > 2 * spec.items * 4); /* its tables add to input and result */
    assert_int_equal(plan_within(&spec, bytes, algorithm, &min), bytes);
    assert_string_equal(algorithm, "radix");
}

/* The bitonic network needs no tables. */
static void test_another_algorithm(void **state)
{
    (void)state;
    char algorithm[16];
    uint64_t min = 0;
    hac_sort_spec spec = spec_of(HAC_SORT_AUTO, false);
    assert_int_equal(plan_within(&spec, 2 * spec.items * 4, algorithm, &min), 2 * spec.items * 4);
    assert_string_equal(algorithm, "bitonic");
    assert_int_equal(plan_within(&spec, 2 * spec.items * 4 - 1, algorithm, &min), 0);
    assert_int_equal(min, 2 * spec.items * 4);
}

static bool says(const hac_plan *plan, bool chosen, const char *what)
{
    for (size_t i = 0; i < plan->n_candidates; i++)
        if (plan->candidates[i].chosen == chosen && strstr(plan->candidates[i].reason, what) != NULL)
            return true;
    return false;
}

/* The user's quota counts like the job's own limit while a plan fits into it; the plan says so. */
static void test_the_quota(void **state)
{
    (void)state;
    hac_sort_spec spec = spec_of(HAC_SORT_AUTO, false);
    const uint64_t network = 2 * spec.items * 4, pages = UINT64_C(8) * 4096;
    const struct {
        uint64_t limit, capacity;
        const char *algorithm;
        bool told;
    } cases[] = {{0, UINT64_MAX, "radix", false},
                 {0, network + pages, "bitonic", true},
                 {network, UINT64_MAX, "bitonic", true},
                 {network, 1, "bitonic", true},
                 {UINT64_MAX, network + pages, "bitonic", true},
                 {0, network / 2, "radix", false}}; /* nothing fits: the pool will say what is held */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_plan *plan = NULL;
        assert_int_equal(
            hac_sort_plan_in_quota(&machine, &spec, NULL, cases[i].limit, cases[i].capacity, &plan, NULL),
            HAC_OK);
        assert_string_equal(plan->sort.algorithm, cases[i].algorithm);
        assert_int_equal(says(plan, true, "within the memory allowed: radix needs"), cases[i].told);
        assert_int_equal(says(plan, false, "not within the memory allowed"), cases[i].told);
        hac_plan_free(plan);
    }
}

/* What was asked for stays; the message names the smallest limit for that. */
static void test_as_asked_for(void **state)
{
    (void)state;
    const hac_sort_algorithm algorithms[] = {HAC_SORT_AUTO, HAC_SORT_BITONIC, HAC_SORT_RADIX};
    for (size_t i = 0; i < 6; i++) {
        char algorithm[16];
        uint64_t min = 0;
        hac_sort_spec spec = spec_of(algorithms[i / 2], i % 2 != 0);
        assert_int_equal(plan_within(&spec, 1, algorithm, &min), 0);
        assert_true(min >= 2 * spec.items * 4);
        assert_int_equal(plan_within(&spec, min, algorithm, &min), min);
        if (spec.algorithm != HAC_SORT_AUTO)
            assert_string_equal(algorithm, spec.algorithm == HAC_SORT_RADIX ? "radix" : "bitonic");
        assert_int_equal(plan_within(&spec, min - 1, algorithm, &min), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_limit_is_the_fastest),
        cmocka_unit_test(test_another_algorithm),
        cmocka_unit_test(test_the_quota),
        cmocka_unit_test(test_as_asked_for),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
