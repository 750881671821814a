/* SPDX-License-Identifier: Apache-2.0 */
/* The last winner is taken again while its price holds, and never where it could be wrong. */
#include "sort_memo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/type.h"
#include "planner/model.h"
#include "planner/plan_output.h"
#include "test_machines.h"

typedef struct fixture {
    hac_machine machine; /* not simulated: two devices of which models know what is recorded */
    hac_model_set *models;
    hac_sort_memo *memo;
    hac_sort_spec spec;
} fixture;

/* Every phase of a sort takes so long on the device, whatever the algorithm: and `each` for every unit. */
static void record_each(fixture *f, size_t device, double seconds, double each)
{
    static const char *const codelets[] = {"bitonic.steps:first", "bitonic.steps", "bitonic.merge",
                                           "radix.sample",        "radix.count",   "radix.scan",
                                           "radix.scatter",       "radix.leaf"};
    for (size_t i = 0; i < sizeof(codelets) / sizeof(*codelets); i++)
        for (int n = 0; n < 40; n++) /* all that was recorded before is outvoted */
            for (double units = 64; units < 1e7; units *= 4)
                hac_model_record(f->models, f->machine.devices[device].key, codelets[i], HAC_TYPE_U32, units,
                                 seconds + units * each, false);
}

static void record(fixture *f, size_t device, double seconds)
{
    record_each(f, device, seconds, 0);
}

static void set_up(fixture *f, uint64_t items)
{
    const double capability[2] = {1, 1};
    *f = (fixture){.machine = test_machine(capability, 2)};
    f->machine.simulated = false;
    f->machine.devices[0].n_capability = f->machine.devices[1].n_capability = 0;
    assert_int_equal(hac_model_set_new(&f->models, NULL), HAC_OK);
    assert_int_equal(hac_sort_memo_new(&f->memo, NULL), HAC_OK);
    f->machine.models = f->models;
    f->spec.type = HAC_TYPE_U32;
    f->spec.items = items;
    record(f, 0, 100e-6);
    record(f, 1, 200e-6);
}

static void tear_down(fixture *f)
{
    hac_sort_memo_free(f->memo);
    hac_model_set_free(f->models);
}

static hac_plan *plan_again(const fixture *f, hac_sort_memo *memo)
{
    hac_plan *plan = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_plan_sort_again(&f->machine, &f->spec, memo, &plan, &err) != HAC_OK ||
        hac_plan_check(plan, &err) != HAC_OK)
        fail_msg("%s", err.message);
    return plan;
}

static void assert_device(const fixture *f, const char *name)
{
    hac_plan *plan = plan_again(f, f->memo);
    assert_int_equal(plan->n_devices, 1);
    assert_string_equal(plan->devices[0].name, name);
    hac_plan_free(plan);
}

/* A remembered winner has another reason than one that was just priced. */
static char *json_of(hac_plan *plan)
{
    char *json = NULL;
    for (size_t i = 0; i < plan->n_candidates; i++)
        if (plan->candidates[i].chosen)
            plan->candidates[i].reason[0] = '\0';
    assert_int_equal(hac_plan_to_json(plan, &json, NULL), HAC_OK);
    hac_plan_free(plan);
    return json;
}

/* On a machine that stays as it is, the plan is the same to the last word. */
static void test_same(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int round = 0; round < 300; round++) {
        fixture f = {.memo = NULL};
        double capability[4];
        size_t n = 1 + (size_t)rand_r(&seed) % 4;
        for (size_t d = 0; d < n; d++)
            capability[d] = 1e6 * (1 + rand_r(&seed) % 1000);
        f.machine = test_machine(capability, n);
        f.machine.simulated = false;
        f.spec.type = HAC_TYPE_U32;
        f.spec.items = (uint64_t)rand_r(&seed) % (1u << (1 + round % 24));
        f.spec.algorithm = (hac_sort_algorithm)(round % 3);
        f.spec.scheme =
            f.spec.algorithm == HAC_SORT_BITONIC ? (hac_sort_scheme)(round / 3 % 5) : HAC_SCHEME_AUTO;
        f.spec.argsort = round % 5 == 0;
        f.spec.descending = round % 7 == 0;
        assert_int_equal(hac_sort_memo_new(&f.memo, NULL), HAC_OK);
        char *wanted = json_of(plan_again(&f, NULL));
        for (int i = 0; i < 3; i++) {
            char *json = json_of(plan_again(&f, f.memo));
            assert_string_equal(json, wanted);
            free(json);
        }
        free(wanted);
        hac_sort_memo_free(f.memo);
    }
}

/* What models learn of other devices counts after a few sorts, what they learn of this one at once. */
static void test_learning(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, 4096);
    assert_device(&f, "dev0");
    record(&f, 1, 10e-6);
    for (int i = 0; i < HAC_SORT_MEMO_USES; i++)
        assert_device(&f, "dev0");
    assert_device(&f, "dev1");
    record(&f, 0, 1e-6);
    record(&f, 1, 11e-6); /* no worse than it may be */
    assert_device(&f, "dev1");
    record(&f, 1, 90e-6);
    assert_device(&f, "dev0");
    tear_down(&f);
}

/* A device set whose sorts are slower than their price is not taken again, though its price stays. */
static void test_sets(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, 1 << 18);
    for (size_t d = 0; d < 2; d++)
        record_each(&f, d, 1e-6, 3e-9);
    hac_plan *plan = plan_again(&f, f.memo);
    assert_int_equal(plan->n_devices, 2);
    assert_true(plan->predicted_seconds < HAC_SORT_MEMO_SECONDS);
    for (int i = 0; i < 3; i++) {
        if (plan->n_devices == 2)
            hac_sort_learn(f.models, &f.machine, plan, 6 * plan->predicted_seconds);
        hac_plan_free(plan);
        plan = plan_again(&f, f.memo);
    }
    assert_int_equal(plan->n_devices, 1);
    hac_plan_free(plan);
    tear_down(&f);
}

/* A candidate that cost more when all were priced, and less than the winner costs now, is considered. */
static void test_overtaken(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, 4096);
    record(&f, 0, 1000e-6);
    record(&f, 1, 1100e-6);
    assert_device(&f, "dev0");
    hac_plan *plan = plan_again(&f, f.memo);
    bool told = false;
    for (size_t i = 0; i < plan->n_candidates; i++)
        told |= plan->candidates[i].chosen && strstr(plan->candidates[i].reason, "a sort like it") != NULL;
    assert_true(told);
    hac_plan_free(plan);
    record(&f, 0, 1150e-6); /* by less than a quarter */
    assert_device(&f, "dev1");
    tear_down(&f);
}

static void test_machine_changes(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, 4096);
    assert_device(&f, "dev0");
    f.machine.devices[0].usable = false;
    assert_device(&f, "dev1");
    f.machine.devices[0].usable = true;
    f.machine.devices[0].backlog = 1;
    assert_device(&f, "dev1");
    f.machine.devices[0].backlog = 0;
    assert_device(&f, "dev0");
    f.spec.device_mask = 2;
    assert_device(&f, "dev1");
    tear_down(&f);
}

/* Long sorts are always planned anew: they get the best candidate every time. */
static void test_long(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, 1 << 20);
    record(&f, 0, 10e-3);
    record(&f, 1, 20e-3);
    hac_plan_free(plan_again(&f, f.memo));
    record(&f, 1, 5e-3);
    char *wanted = json_of(plan_again(&f, NULL)), *json = json_of(plan_again(&f, f.memo));
    assert_string_equal(json, wanted);
    free(json);
    free(wanted);
    tear_down(&f);
}

static void test_never_remembered(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, 4096);
    hac_sort_key key;
    assert_true(hac_sort_memo_key(&f.machine, &f.spec, &key));
    f.machine.simulated = true;
    assert_false(hac_sort_memo_key(&f.machine, &f.spec, &key));
    f.machine.simulated = false;
    f.spec.inline_data = true;
    assert_false(hac_sort_memo_key(&f.machine, &f.spec, &key));
    f.spec.inline_data = false;
    f.spec.fold = HAC_FOLD_STEPS;
    assert_false(hac_sort_memo_key(&f.machine, &f.spec, &key));
    tear_down(&f);
}

/* Many kinds of sorts share few places: each finds its own, or none. */
static void test_places(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, 4096);
    hac_plan_candidate candidate = {.name = "way"};
    hac_sort_winner won = {.candidates = &candidate, .n_candidates = 1};
    hac_sort_key key = {.machine = 1}, other = {.machine = 1};
    for (uint64_t i = 1; i <= 100; i++) {
        key.asked[1] = i;
        other.asked[1] = i + 1;
        won.seconds = (double)i;
        hac_sort_memo_put(f.memo, &key, &won);
        assert_true(hac_sort_memo_find(f.memo, &key)->seconds > (double)i - 0.5);
        assert_string_equal(hac_sort_memo_find(f.memo, &key)->candidates[0].name, "way");
        assert_null(hac_sort_memo_find(f.memo, &other));
    }
    key.asked[1] = 50;
    assert_null(hac_sort_memo_find(f.memo, &key));
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_overtaken),
        cmocka_unit_test(test_machine_changes),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_never_remembered),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
