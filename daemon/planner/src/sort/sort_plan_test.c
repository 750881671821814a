/* SPDX-License-Identifier: Apache-2.0 */
/* Which candidate is chosen, and its price. */
#include "planner/sort_plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/type.h"
#include "test_machines.h"

static hac_sort_spec new_spec(uint64_t items, hac_sort_algorithm algorithm, hac_sort_scheme scheme)
{
    hac_sort_spec spec;
    memset(&spec, 0, sizeof(spec));
    spec.type = HAC_TYPE_U32;
    spec.items = items;
    spec.algorithm = algorithm;
    spec.scheme = scheme;
    return spec;
}

static hac_plan *plan_for(const hac_machine *machine, const hac_sort_spec *spec)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_plan_sort(machine, spec, &plan, &err) != HAC_OK || hac_plan_check(plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return plan;
}

static void assert_refused(const hac_machine *machine, const hac_sort_spec *spec, hac_status status,
                           const char *word)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_plan_sort(machine, spec, &plan, &err), status);
    assert_null(plan);
    if (strstr(err.message, word) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.message, word);
}

static double seconds_of(const hac_machine *machine, uint64_t items, hac_sort_scheme scheme)
{
    hac_sort_spec spec = new_spec(items, HAC_SORT_BITONIC, scheme);
    spec.fold = HAC_FOLD_NONE;
    hac_plan *plan = plan_for(machine, &spec);
    double seconds = plan->predicted_seconds;
    hac_plan_free(plan);
    return seconds;
}

/* What the rule does for each k, against the strongest device alone, from the rule itself: with c = 2^S of
 * 2^n items on the weaker device, S(2n - S + 1) of the n(n+1) half steps run side by side and take as long as
 * the later device. */
static void test_rule_prices(void **state)
{
    (void)state;
    static const struct {
        double k, parallel_upper, parallel_lower; /* time of the parallel steps, 1: the strongest alone */
        int N;
    } table[] = {{0.9, 0.556, 0.750, 1},  {0.75, 0.667, 0.750, 1}, {0.5, 1.0, 0.750, 1},
                 {0.4, 1.250, 0.750, 1},  {0.2, 1.250, 0.875, 2},  {0.15, 1.667, 0.875, 2},
                 {0.10, 1.250, 0.938, 3}, {0.07, 1.786, 0.938, 3}, {0.05, 1.250, 0.969, 4}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const double capability[2] = {1e5, 1e5 * table[i].k}, n = 24;
        hac_machine machine = test_machine(capability, 2);
        double none = seconds_of(&machine, 1 << 24, HAC_SCHEME_NONE);
        double upper = seconds_of(&machine, 1 << 24, HAC_SCHEME_UPPER) / none;
        double lower = seconds_of(&machine, 1 << 24, HAC_SCHEME_LOWER) / none;
        double S = n - table[i].N, part = S * (2 * n - S + 1) / (n * (n + 1));
        assert_true(fabs(upper - (part * table[i].parallel_upper + 1 - part)) < 0.1);
        S -= 1;
        part = S * (2 * n - S + 1) / (n * (n + 1));
        assert_true(fabs(lower - (part * table[i].parallel_lower + 1 - part)) < 0.1);
    }
}

/* The plan never costs more than the best single device, whatever the machine. */
static void test_guard(void **state)
{
    (void)state;
    unsigned seed = 11;
    for (int round = 0; round < 400; round++) {
        double capability[16];
        size_t devices = 1 + (size_t)rand_r(&seed) % (round % 10 == 0 ? 16 : 4);
        for (size_t d = 0; d < devices; d++)
            capability[d] = 1e6 * (1 + rand_r(&seed) % 1000);
        hac_machine machine = test_machine(capability, devices);
        for (size_t d = 0; d < devices; d++) {
            if (rand_r(&seed) % 3 == 0)
                machine.devices[d].link_bandwidth = 1e9 * (1 + rand_r(&seed) % 20);
            if (rand_r(&seed) % 4 == 0)
                machine.devices[d].backlog = 1e-3 * (rand_r(&seed) % 100);
        }
        hac_sort_spec spec = new_spec(1 + (uint64_t)rand_r(&seed) % (1u << (1 + round % 26)),
                                      round % 2 ? HAC_SORT_AUTO : HAC_SORT_BITONIC, HAC_SCHEME_AUTO);
        hac_plan *plan = plan_for(&machine, &spec);
        spec.scheme = HAC_SCHEME_NONE;
        for (size_t d = 0; d < devices; d++) {
            spec.device_mask = 1u << d;
            hac_plan *alone = plan_for(&machine, &spec);
            assert_true(plan->predicted_seconds <= alone->predicted_seconds * (1 + 1e-9));
            hac_plan_free(alone);
        }
        unsigned chosen = 0;
        for (size_t i = 0; i < plan->n_candidates; i++) {
            chosen += plan->candidates[i].chosen;
            bool other =
                spec.algorithm == HAC_SORT_BITONIC && strncmp(plan->candidates[i].name, "radix", 5) == 0;
            assert_true(other || plan->candidates[i].seconds < 0 ||
                        plan->predicted_seconds <= plan->candidates[i].seconds * (1 + 1e-9));
        }
        assert_int_equal(chosen, 1);
        hac_plan_free(plan);
    }
}

/* What is asked for is done, also where it is slow, and k and N are told in every scheme. */
static void test_forced(void **state)
{
    (void)state;
    const double capability[2] = {0.2e6, 1e6};
    hac_machine machine = test_machine(capability, 2);
    static const char *const names[] = {"", "proportional", "lower", "upper", "none"};
    static const uint64_t items[] = {0, 170, 128, 256, 0}; /* share 1/6 of 1,024, N = 2 */
    for (hac_sort_scheme s = HAC_SCHEME_PROPORTIONAL; s <= HAC_SCHEME_NONE; s++) {
        hac_sort_spec spec = new_spec(1024, HAC_SORT_BITONIC, s);
        hac_plan *plan = plan_for(&machine, &spec);
        assert_string_equal(plan->sort.algorithm, "bitonic");
        assert_string_equal(plan->sort.scheme, names[s]);
        assert_int_equal(plan->sort.weaker_items, items[s]);
        assert_int_equal(plan->sort.N, 2);
        assert_true(fabs(plan->k - 0.2) < 1e-12);
        assert_string_equal(plan->k_source, "profile");
        assert_string_equal(plan->devices[0].name, "dev1");
        assert_int_equal(plan->n_devices, s == HAC_SCHEME_NONE ? 1 : 2);
        hac_plan_free(plan);
    }
    hac_sort_spec radix = new_spec(1024, HAC_SORT_RADIX, HAC_SCHEME_UPPER);
    assert_refused(&machine, &radix, HAC_INVALID, "upper");
}

/* n = 4, k = 0.6, as the source's table has it; folding by hand as in the source's options. */
static void test_worked_example(void **state)
{
    (void)state;
    const double capability[2] = {1e8, 0.6e8};
    hac_machine machine = test_machine(capability, 2);
    hac_sort_spec spec = new_spec(16, HAC_SORT_BITONIC, HAC_SCHEME_PROPORTIONAL);
    spec.fold = HAC_FOLD_STEPS;
    spec.fold_steps[0] = 6;
    spec.fold_steps[1] = 3;
    spec.fold_steps[2] = 4; /* not side by side: nothing to fold */
    spec.n_fold_steps = 3;
    hac_plan *plan = plan_for(&machine, &spec);
    assert_int_equal(plan->sort.n_corun, 4);
    assert_int_equal(plan->sort.n_folded, 2);
    assert_int_equal(plan->sort.folded[0], 3);
    assert_int_equal(plan->sort.folded[1], 6);
    for (size_t t = 0; t < plan->n_tasks; t++)
        if (plan->tasks[t].device == 1)
            assert_true(plan->tasks[t].step_first == 1 || plan->tasks[t].step_first == 10);
    hac_plan_free(plan);
    spec.fold_steps[0] = 11;
    assert_refused(&machine, &spec, HAC_INVALID, "11");
}

static void test_simulated_needs_capability(void **state)
{
    (void)state;
    const double capability[2] = {1e8, 0.6e8};
    hac_machine machine = test_machine(capability, 2);
    hac_sort_spec spec = new_spec(1000, HAC_SORT_AUTO, HAC_SCHEME_AUTO);
    spec.type = HAC_TYPE_F64;
    assert_refused(&machine, &spec, HAC_INVALID, "sort.f64");
    assert_refused(&machine, &spec, HAC_INVALID, "dev0");
    machine.devices[0].usable = machine.devices[1].usable = false;
    assert_refused(&machine, &spec, HAC_FAILED, "no usable device");
    spec.type = (hac_type)99;
    assert_refused(&machine, &spec, HAC_INVALID, "type");
}

/* Devices of one group are never in one plan; the better of them stands for the group. */
static void test_groups(void **state)
{
    (void)state;
    const double capability[3] = {1e6, 0.9e6, 0.8e6};
    hac_machine machine = test_machine(capability, 3);
    strcpy(machine.devices[0].group, "socket0");
    strcpy(machine.devices[1].group, "socket0");
    hac_sort_spec spec = new_spec(1 << 20, HAC_SORT_BITONIC, HAC_SCHEME_UPPER);
    hac_plan *plan = plan_for(&machine, &spec);
    assert_int_equal(plan->n_devices, 2);
    assert_string_equal(plan->devices[0].name, "dev0");
    assert_string_equal(plan->devices[1].name, "dev2");
    hac_plan_free(plan);
    spec.device_mask = 6;
    plan = plan_for(&machine, &spec);
    assert_int_equal(plan->n_devices, 2);
    assert_string_equal(plan->devices[0].name, "dev1");
    hac_plan_free(plan);
}

/* A busy device is left out, a slow link counts, a memory that is too small rules a device out. */
static void test_circumstances(void **state)
{
    (void)state;
    const double capability[2] = {1e9, 1e8};
    hac_machine machine = test_machine(capability, 2);
    hac_sort_spec spec = new_spec(1 << 22, HAC_SORT_BITONIC, HAC_SCHEME_AUTO);
    hac_plan *plan = plan_for(&machine, &spec);
    assert_string_equal(plan->devices[0].name, "dev0");
    hac_plan_free(plan);
    machine.devices[0].backlog = 10;
    plan = plan_for(&machine, &spec);
    assert_int_equal(plan->n_devices, 1);
    assert_string_equal(plan->devices[0].name, "dev1");
    hac_plan_free(plan);
    machine.devices[0].backlog = 0;
    machine.devices[0].link_bandwidth = 1e7;
    plan = plan_for(&machine, &spec);
    assert_string_equal(plan->devices[0].name, "dev1");
    hac_plan_free(plan);
    machine.devices[0].link_bandwidth = 0;
    machine.devices[0].host_memory = false;
    machine.devices[0].memory = 1 << 20;
    plan = plan_for(&machine, &spec);
    assert_string_equal(plan->devices[0].name, "dev1");
    bool told = false;
    for (size_t i = 0; i < plan->n_candidates; i++)
        told |= plan->candidates[i].seconds < 0 && plan->candidates[i].cause == HAC_CAUSE_CANNOT &&
                strstr(plan->candidates[i].reason, "MiB on dev0") != NULL;
    assert_true(told);
    hac_plan_free(plan);
}

/* Learnt models decide k and say so; without them the assumption by kind is marked as such. */
static void test_models(void **state)
{
    (void)state;
    const double capability[2] = {1e9, 1e8};
    hac_machine machine = test_machine(capability, 2);
    machine.simulated = false;
    machine.devices[0].n_capability = machine.devices[1].n_capability = 0;
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.models = models;
    hac_sort_spec spec = new_spec(1 << 22, HAC_SORT_BITONIC, HAC_SCHEME_UPPER);
    hac_plan *plan = plan_for(&machine, &spec);
    assert_string_equal(plan->k_source, "probe");
    /* dev1 learns to be as fast as dev0 learns to be slow */
    for (int rounds = 0; rounds < 3; rounds++)
        for (double units = 1e5; units < 1e10; units *= 2)
            for (size_t d = 0; d < 2; d++) {
                double rate = d == 0 ? 0.5e9 : 1e9;
                hac_model_record(models, machine.devices[d].key, "bitonic.block", HAC_TYPE_U32, units,
                                 units / rate, false);
                hac_model_record(models, machine.devices[d].key, "bitonic.tail", HAC_TYPE_U32, units,
                                 units / rate, false);
                hac_model_record(models, machine.devices[d].key, "bitonic.merge", HAC_TYPE_U32, units,
                                 units / rate, false);
                hac_model_record(models, machine.devices[d].key, "bitonic.steps", HAC_TYPE_U32, units,
                                 units / rate, false);
            }
    hac_plan_free(plan);
    plan = plan_for(&machine, &spec);
    assert_string_equal(plan->k_source, "model");
    assert_string_equal(plan->devices[0].name, "dev1");
    assert_true(fabs(plan->k - 0.5) < 0.01);
    hac_plan_free(plan);
    hac_model_set_free(models);
}

/* One run of what is only guessed is cheap where the sort is short and the guess far lower. */
static void test_trial(void **state)
{
    (void)state;
    static const char *const phases[] = {"radix.sample", "radix.count", "radix.scan", "radix.scatter",
                                         "radix.leaf"};
    const double capability[1] = {1e9};
    /* much faster than the guess, much slower, and so slow that a try might take long */
    static const double phase_seconds[] = {1e-7, 2e-4, 2e-3};
    for (size_t t = 0; t < sizeof(phase_seconds) / sizeof(*phase_seconds); t++) {
        hac_machine machine = test_machine(capability, 1);
        machine.simulated = false;
        machine.devices[0].n_capability = 0;
        hac_model_set *models = NULL;
        assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
        machine.models = models;
        for (int rounds = 0; rounds < 3; rounds++)
            for (double units = 1; units < 1e10; units *= 2)
                for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++)
                    hac_model_record(models, machine.devices[0].key, phases[i], HAC_TYPE_U32, units,
                                     phase_seconds[t] + units * 1e-12, false);
        hac_sort_spec spec = new_spec(100000, HAC_SORT_AUTO, HAC_SCHEME_AUTO);
        hac_plan *plan = plan_for(&machine, &spec);
        const hac_plan_candidate *guess = NULL;
        for (size_t i = 0; i < plan->n_candidates; i++)
            if (strncmp(plan->candidates[i].name, "bitonic", 7) == 0)
                guess = &plan->candidates[i];
        assert_non_null(guess);
        assert_string_equal(plan->sort.algorithm, t == 1 ? "bitonic" : "radix");
        assert_int_equal(strstr(guess->reason, "a guess") != NULL, t != 1);
        hac_plan_free(plan);
        hac_model_set_free(models);
    }
}

/* A set of all devices, priced because nothing else is allowed. */
static double together_seconds(const hac_machine *machine, hac_sort_spec spec, const char *name)
{
    bool radix = strncmp(name, "radix", 5) == 0;
    spec.algorithm = radix ? HAC_SORT_RADIX : HAC_SORT_BITONIC;
    double min = INFINITY;
    for (int s = radix ? HAC_SCHEME_AUTO : HAC_SCHEME_PROPORTIONAL;
         s <= (radix ? HAC_SCHEME_AUTO : HAC_SCHEME_UPPER); s++) {
        spec.scheme = (hac_sort_scheme)s;
        hac_plan *plan = plan_for(machine, &spec);
        for (size_t i = 0; i < plan->n_candidates; i++)
            if (strncmp(plan->candidates[i].name, name, strcspn(name, " ")) == 0 &&
                strstr(plan->candidates[i].name, "dev0 + dev1") != NULL && plan->candidates[i].seconds > 0)
                min = fmin(min, plan->candidates[i].seconds);
        hac_plan_free(plan);
    }
    return min;
}

/* What is not built because it cannot win would not have won. */
static void test_left_out(void **state)
{
    (void)state;
    static const double capabilities[][2] = {{1e8, 1e8}, {1e9, 3e8}, {1e8, 1e6}};
    size_t left_out = 0, split = 0;
    for (size_t m = 0; m < sizeof(capabilities) / sizeof(*capabilities); m++) {
        hac_machine machine = test_machine(capabilities[m], 2);
        machine.simulated = false;
        for (unsigned bits = 4; bits <= 26; bits++) {
            hac_sort_spec spec = new_spec((UINT64_C(1) << bits) - bits % 3, HAC_SORT_AUTO, HAC_SCHEME_AUTO);
            hac_plan *plan = plan_for(&machine, &spec);
            split += plan->n_devices > 1;
            for (size_t i = 0; i < plan->n_candidates; i++) {
                const hac_plan_candidate *c = &plan->candidates[i];
                if (strncmp(c->reason, "left out", 8) != 0)
                    continue;
                left_out++;
                assert_true(c->seconds < 0 && !c->chosen);
                double seconds = together_seconds(&machine, spec, c->name);
                assert_true(isfinite(seconds) && (seconds + 4e-4) * 1.08 >= plan->predicted_seconds);
            }
            hac_plan_free(plan);
        }
    }
    assert_true(left_out > 50 && split > 5);

    hac_machine unknown = test_machine(capabilities[0], 2); /* then bitonic is a guess, which never wins */
    unknown.simulated = false;
    unknown.devices[0].n_capability = unknown.devices[1].n_capability = 0;
    hac_sort_spec spec = new_spec(1 << 24, HAC_SORT_AUTO, HAC_SCHEME_AUTO);
    hac_plan *plan = plan_for(&unknown, &spec);
    bool told = false;
    for (size_t i = 0; i < plan->n_candidates; i++)
        told |= strcmp(plan->candidates[i].name, "bitonic on dev0 + dev1") == 0 &&
                strcmp(plan->candidates[i].reason, "left out: not measured on this machine yet") == 0;
    assert_true(told);
    hac_plan_free(plan);
}

/* A device set that took longer than its price said is left alone at that size, for as long as it is
 * remembered; one that took what was said is not. */
static void test_taken(void **state)
{
    (void)state;
    static const double capability[2] = {1e8, 0.9e8};
    hac_machine machine = test_machine(capability, 2);
    hac_model_set *models = NULL;
    assert_int_equal(hac_model_set_new(&models, NULL), HAC_OK);
    machine.simulated = false;
    machine.models = models;
    hac_sort_spec spec = new_spec(1 << 22, HAC_SORT_AUTO, HAC_SCHEME_AUTO);
    hac_plan *set = plan_for(&machine, &spec);
    assert_int_equal(set->n_devices, 2);
    spec.scheme = HAC_SCHEME_NONE;
    hac_plan *alone = plan_for(&machine, &spec);
    assert_int_equal(alone->n_devices, 1);
    spec.scheme = HAC_SCHEME_AUTO;
    for (int i = 0; i < 5; i++) { /* as said, and nothing of one device */
        hac_sort_learn(models, &machine, set, set->predicted_seconds);
        hac_sort_learn(models, &machine, alone, 1000);
    }
    hac_plan *again = plan_for(&machine, &spec);
    assert_int_equal(again->n_devices, 2);
    hac_plan_free(again);
    for (int i = 0; i < 40; i++)
        hac_sort_learn(models, &machine, set, alone->predicted_seconds * 0.98);
    again = plan_for(&machine, &spec);
    assert_int_equal(again->n_devices, 1);
    bool told = false;
    for (size_t i = 0; i < again->n_candidates; i++)
        told |= strstr(again->candidates[i].reason, "less than devices lose by waiting") != NULL;
    assert_true(told);
    hac_plan_free(again);
    spec.items *= 8; /* says nothing of other sizes */
    again = plan_for(&machine, &spec);
    assert_int_equal(again->n_devices, 2);
    hac_plan_free(again);
    spec.items /= 8;
    for (int i = 0; i < 6000; i++) /* long ago */
        hac_model_record(models, "device", "other", HAC_TYPE_U32, 1e6, 1, false);
    again = plan_for(&machine, &spec);
    assert_int_equal(again->n_devices, 2);
    hac_plan_free(again);
    hac_plan_free(set);
    hac_plan_free(alone);
    hac_model_set_free(models);
}

static void test_inline_and_empty(void **state)
{
    (void)state;
    const double capability[2] = {1e9, 1e8};
    hac_machine machine = test_machine(capability, 2);
    hac_sort_spec spec = new_spec(1000, HAC_SORT_AUTO, HAC_SCHEME_AUTO);
    spec.inline_data = true;
    hac_plan *plan = plan_for(&machine, &spec);
    assert_int_equal(plan->n_tasks, 1);
    assert_int_equal(plan->n_buffers, 0);
    assert_string_equal(plan->sort.algorithm, "small");
    assert_true(hac_plan_is_one_task(plan)); /* no device has a share of it */
    for (size_t d = 0; d < plan->n_devices; d++)
        assert_true(plan->devices[d].capability * plan->tasks[0].predicted_seconds > 999.9);
    hac_plan_free(plan);
    spec = new_spec(0, HAC_SORT_AUTO, HAC_SCHEME_AUTO);
    plan = plan_for(&machine, &spec);
    assert_int_equal(plan->n_tasks, 0);
    hac_plan_free(plan);
    spec = new_spec(UINT64_MAX / 4, HAC_SORT_AUTO, HAC_SCHEME_AUTO);
    assert_refused(&machine, &spec, HAC_INVALID, "too many");
}

/* docs/flows/sort.md, "Memory": in units of keys and payload. On any number of threads; from two million keys
 * on. */
static void test_memory(void **state)
{
    (void)state;
    static const struct {
        hac_type type;
        bool argsort;
        uint32_t payload;
        double radix, bitonic;
    } cases[] = {{HAC_TYPE_U32, false, 0, 2, 2},     {HAC_TYPE_F64, false, 0, 2, 2},
                 {HAC_TYPE_U32, true, 0, 3, 4},      {HAC_TYPE_I64, true, 0, 2.5, 3.5},
                 {HAC_TYPE_U32, false, 4, 2.5, 3.5}, {HAC_TYPE_U64, false, 8, 2.25, 3.25}};
    const double capability[1] = {1e8};
    for (unsigned i = 0; i < 6 * 8 * 2 * 4; i++) {
        unsigned c = i % 6, bits = 21 + i / 6 % 8, bitonic = i / 48 % 2;
        hac_machine machine = test_machine(capability, 1);
        machine.devices[0].threads = 1u << i / 96 * 3;
        snprintf(machine.devices[0].capability[0].key, sizeof(machine.devices[0].capability[0].key),
                 "sort.%s", hac_type_name(cases[c].type));
        hac_sort_spec spec = new_spec((UINT64_C(1) << bits) + 12345,
                                      bitonic ? HAC_SORT_BITONIC : HAC_SORT_RADIX, HAC_SCHEME_AUTO);
        spec.type = cases[c].type;
        spec.argsort = cases[c].argsort;
        spec.payload_bytes = cases[c].payload;
        hac_plan *plan = plan_for(&machine, &spec);
        double input = (double)spec.items * (double)(hac_type_size(spec.type) + spec.payload_bytes);
        double ratio = (double)hac_plan_memory(plan) / input;
        double wanted = bitonic ? cases[c].bitonic : cases[c].radix;
        if (!(ratio >= wanted - 1e-9 && ratio <= wanted + (bitonic ? 1e-9 : 0.1)))
            fail_msg("case %u, 2^%u keys, %u threads: %g times the input, not %g", c, bits,
                     machine.devices[0].threads, ratio, wanted);
        hac_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule_prices), cmocka_unit_test(test_guard),
        cmocka_unit_test(test_forced),      cmocka_unit_test(test_worked_example),
        cmocka_unit_test(test_groups),      cmocka_unit_test(test_simulated_needs_capability),
        cmocka_unit_test(test_models),      cmocka_unit_test(test_circumstances),
        cmocka_unit_test(test_trial),       cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_taken),       cmocka_unit_test(test_inline_and_empty),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
