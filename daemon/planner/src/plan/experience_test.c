/* SPDX-License-Identifier: Apache-2.0 */
/* What is assumed of a device that was measured at other codelets. */
#include "planner/experience.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/plan.h"
#include "price.h"
#include "test_machines.h"

#define UNITS 1e9

static hac_machine new_machine(hac_model_set **models)
{
    hac_machine machine = test_pair_beside_gpu();
    assert_int_equal(hac_model_set_new(models, NULL), HAC_OK);
    machine.models = *models;
    return machine;
}

static double assumed(const hac_machine *machine, size_t device, const char *codelet)
{
    return hac_price_assumed(&machine->devices[device], codelet, HAC_TYPE_NONE, UNITS);
}

/* The device needs `factor` times what is assumed. */
static void measure(hac_machine *machine, hac_model_set *models, size_t device, const char *codelet,
                    double factor)
{
    for (int i = 0; i < 5; i++)
        hac_model_record(models, machine->devices[device].key, codelet, HAC_TYPE_NONE, UNITS,
                         factor * assumed(machine, device, codelet), false);
}

static double price(const hac_machine *machine, size_t device, const char *codelet, hac_price_source *source)
{
    const hac_plan_task task = {.codelet = codelet, .type = HAC_TYPE_NONE, .units = UNITS, .part = 1};
    return hac_price_task(machine, device, 0, &task, 1, false, source);
}

static void test_nothing_known(void **state)
{
    (void)state;
    hac_model_set *models = NULL;
    hac_machine machine = new_machine(&models);
    hac_experience_learn(&machine);
    for (int class = 0; class < HAC_WORK_CLASSES; class ++) {
        const hac_experience *e = &machine.devices[0].experience[class];
        assert_true(e->factor == 1 && e->codelets == 0 && e->uncertainty > 5 && e->uncertainty < 8);
    }
    hac_model_set_free(models);
}

/* The more codelets say the same, the more of it is believed; other devices, and the other kind of work, are
 * left alone; what was measured is not a matter of assumption. */
static void test_slow_device(void **state)
{
    (void)state;
    static const char *const codelets[] = {"query.merge", "query.finish", "query.order", "query.join"};
    hac_model_set *models = NULL;
    hac_machine machine = new_machine(&models);
    double before = 1, uncertain = 100, at_first = price(&machine, 0, "query.aggregate", NULL);
    for (size_t i = 0; i < 4; i++) {
        hac_price_source source;
        measure(&machine, models, 0, codelets[i], 30);
        hac_experience_learn(&machine);
        const hac_experience *e = &machine.devices[0].experience[HAC_WORK_HOST];
        assert_int_equal(e->codelets, i + 1);
        assert_true(e->factor > before && e->factor < 30 && e->uncertainty < uncertain);
        before = e->factor;
        uncertain = e->uncertainty;
        double now = price(&machine, 0, "query.aggregate", &source);
        assert_int_equal(source, HAC_PRICE_ASSUMED);
        assert_true(fabs(now / at_first / before - 1) < 0.01);
    }
    assert_true(before > 15 && uncertain < 3);
    assert_true(machine.devices[0].experience[HAC_WORK_KERNELS].factor == 1);
    assert_true(machine.devices[1].experience[HAC_WORK_HOST].factor == 1);
    assert_true(fabs(price(&machine, 0, "query.merge", NULL) / assumed(&machine, 0, "query.merge") - 30) < 1);
    hac_model_set_free(models);
}

/* Figures of single users, of pieces that loaded the program, of codelets that nothing is assumed of, and of
 * moments, say nothing; absurd ones are bounded. */
static void test_left_out(void **state)
{
    (void)state;
    hac_model_set *models = NULL;
    hac_machine machine = new_machine(&models);
    hac_model_record(models, "key0", "op.reduce@1000", HAC_TYPE_NONE, UNITS, 1e3, false);
    hac_model_record(models, "key0", "data.random", HAC_TYPE_NONE, UNITS, 1e3, false);
    hac_model_record(models, "key0", "query.merge", HAC_TYPE_NONE, 10, 50e-6, false);
    hac_model_record_disturbed(models, "key0", "query.order", HAC_TYPE_NONE, UNITS, 1e3, false, HAC_COLD);
    hac_experience_learn(&machine);
    for (int class = 0; class < HAC_WORK_CLASSES; class ++)
        assert_int_equal(machine.devices[0].experience[class].codelets, 0);
    hac_model_record(models, "key0", "query.order", HAC_TYPE_NONE, UNITS, 1e9, false);
    hac_experience_learn(&machine);
    assert_true(machine.devices[0].experience[HAC_WORK_HOST].factor < 64);
    hac_model_set_free(models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_slow_device),
        cmocka_unit_test(test_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
