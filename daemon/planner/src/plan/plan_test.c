/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Two devices, an input, an output of 1,024 bytes, no tasks. */
static hac_plan *new_plan(void)
{
    hac_plan *plan = NULL;
    uint8_t index;
    assert_int_equal(hac_plan_new(HAC_FLOW_SORT, &plan, NULL), HAC_OK);
    plan->n_devices = 2;
    strcpy(plan->devices[0].name, "a");
    strcpy(plan->devices[1].name, "b");
    plan->devices[0].share = plan->devices[1].share = 0.5;
    assert_int_equal(hac_plan_add_buffer(plan, "in", HAC_BUFFER_INPUT, 1024, &index, NULL), HAC_OK);
    assert_int_equal(hac_plan_add_buffer(plan, "out", HAC_BUFFER_OUTPUT, 1024, &index, NULL), HAC_OK);
    assert_int_equal(index, 1);
    plan->result_buffer = 1;
    plan->sort.items = 1;
    return plan;
}

static hac_plan_task new_task(int device, uint8_t buffer, hac_access access, uint64_t first, uint64_t end)
{
    hac_plan_task task;
    memset(&task, 0, sizeof(task));
    task.codelet = "test.codelet";
    task.device = device;
    task.device_mask = 1u << device;
    task.n_spans = 1;
    task.spans[0] = (hac_plan_span){buffer, (uint8_t)access, 0, 1024, first, end};
    return task;
}

static uint32_t add(hac_plan *plan, hac_plan_task task, const uint32_t *deps, size_t n_deps)
{
    uint32_t index = 0;
    assert_int_equal(hac_plan_add_task(plan, &task, deps, n_deps, &index, NULL), HAC_OK);
    return index;
}

static void test_conflicts(void **state)
{
    (void)state;
    /* second task: access, range, depends on the first, allowed */
    static const struct {
        hac_access first, second;
        uint64_t from, to;
        bool after, allowed;
    } cases[] = {
        {HAC_WRITE, HAC_WRITE, 256, 768, false, false}, {HAC_WRITE, HAC_READ, 511, 512, false, false},
        {HAC_READ, HAC_WRITE, 0, 1, false, false},      {HAC_READ, HAC_READ, 0, 512, false, true},
        {HAC_WRITE, HAC_WRITE, 512, 768, false, true},  {HAC_WRITE, HAC_WRITE, 256, 768, true, true},
        {HAC_WRITE, HAC_READ_WRITE, 4, 4, false, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hac_plan *plan = new_plan();
        uint32_t first = add(plan, new_task(0, 1, cases[i].first, 0, 512), NULL, 0);
        add(plan, new_task(1, 1, cases[i].second, cases[i].from, cases[i].to), &first,
            cases[i].after ? 1 : 0);
        assert_int_equal(hac_plan_check(plan, NULL), cases[i].allowed ? HAC_OK : HAC_INTERNAL);
        hac_plan_free(plan);
    }
}

/* Slices of one merge may run side by side over the same span; the same slice twice may not, nor slices of
 * other steps or another cut; and what follows waits for all of them. */
static void test_slices(void **state)
{
    (void)state;
    static const struct {
        uint32_t slice, slices, step;
        bool allowed;
    } cases[] = {{1, 2, 7, true}, {0, 2, 7, false}, {1, 3, 7, false}, {1, 2, 8, false}, {2, 2, 7, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hac_plan *plan = new_plan();
        hac_plan_task task = new_task(0, 1, HAC_READ_WRITE, 0, 1024);
        task.slices = 2;
        task.step_first = task.step_last = 7;
        uint32_t first = add(plan, task, NULL, 0);
        task = new_task(1, 1, HAC_READ_WRITE, 0, 1024);
        task.slice = cases[i].slice;
        task.slices = cases[i].slices;
        task.step_first = task.step_last = cases[i].step;
        add(plan, task, NULL, 0);
        assert_int_equal(hac_plan_check(plan, NULL), cases[i].allowed ? HAC_OK : HAC_INTERNAL);
        add(plan, new_task(0, 1, HAC_READ, 0, 1024), &first, 1);
        assert_int_equal(hac_plan_check(plan, NULL), HAC_INTERNAL);
        hac_plan_free(plan);
    }
}

/* Slices are of one piece of work: of one codelet, one range and the same steps. */
static void test_slices_of_other_work(void **state)
{
    (void)state;
    for (int other = 0; other < 6; other++) {
        hac_plan *plan = new_plan();
        hac_plan_task task = new_task(0, 1, HAC_READ_WRITE, 0, 1024);
        task.slices = 2;
        task.first = 4;
        task.count = 8;
        task.step_first = task.step_last = 7;
        add(plan, task, NULL, 0);
        task.slice = 1;
        task.device = 1;
        task.device_mask = 2;
        task.codelet = other == 1 ? "test.other" : task.codelet;
        task.first += other == 2;
        task.count += other == 3;
        task.step_first -= other == 4;
        task.step_last += other == 5;
        add(plan, task, NULL, 0);
        assert_int_equal(hac_plan_check(plan, NULL), other == 0 ? HAC_OK : HAC_INTERNAL);
        hac_plan_free(plan);
    }
}

/* Order holds through other tasks and other chains; a write that hides an earlier one still conflicts. */
static void test_indirect(void **state)
{
    (void)state;
    hac_plan *plan = new_plan();
    uint32_t a = add(plan, new_task(0, 1, HAC_WRITE, 0, 512), NULL, 0);
    uint32_t b = add(plan, new_task(1, 1, HAC_WRITE, 512, 1024), NULL, 0);
    uint32_t c = add(plan, new_task(0, 1, HAC_READ, 0, 512), &a, 1);
    uint32_t d = add(plan, new_task(1, 1, HAC_WRITE, 0, 1024), (uint32_t[]){c, b}, 2);
    assert_int_equal(hac_plan_check(plan, NULL), HAC_OK);
    add(plan, new_task(0, 1, HAC_READ, 8, 16), &d, 1);
    assert_int_equal(hac_plan_check(plan, NULL), HAC_OK);
    add(plan, new_task(0, 1, HAC_READ, 8, 16), (uint32_t[]){a, b, c}, 3);
    assert_int_equal(hac_plan_check(plan, NULL), HAC_INTERNAL);
    hac_plan_free(plan);
}

/* Checked against plain graph search on random plans. */
static void test_random(void **state)
{
    (void)state;
    unsigned seed = 3;
    for (int round = 0; round < 400; round++) {
        enum { TASKS = 14 };
        hac_plan *plan = new_plan();
        bool before[TASKS][TASKS] = {{false}};
        bool expected = true;
        for (uint32_t t = 0; t < TASKS; t++) {
            uint32_t deps[TASKS];
            size_t n_deps = 0;
            for (uint32_t other = 0; other < t; other++) {
                if (rand_r(&seed) % 3 != 0)
                    continue;
                deps[n_deps++] = other;
                before[other][t] = true;
                for (uint32_t i = 0; i < other; i++)
                    before[i][t] |= before[i][other];
            }
            uint64_t first = 64 * (uint64_t)(rand_r(&seed) % 14);
            hac_plan_task task = new_task(rand_r(&seed) % 2, 1, (hac_access)(1 + rand_r(&seed) % 3), first,
                                          first + 64 * (1 + (uint64_t)rand_r(&seed) % 2));
            for (uint32_t i = 0; i < t; i++) {
                const hac_plan_span *a = &plan->tasks[i].spans[0], *b = &task.spans[0];
                bool overlap = a->touch_first < b->touch_end && b->touch_first < a->touch_end;
                if (overlap && ((a->access | b->access) & HAC_WRITE) && !before[i][t])
                    expected = false;
            }
            add(plan, task, deps, n_deps);
        }
        assert_int_equal(hac_plan_check(plan, NULL), expected ? HAC_OK : HAC_INTERNAL);
        hac_plan_free(plan);
    }
}

static void assert_broken(void (*damage)(hac_plan *plan))
{
    hac_plan *plan = new_plan();
    uint32_t first = add(plan, new_task(0, 0, HAC_READ, 0, 64), NULL, 0);
    add(plan, new_task(1, 1, HAC_WRITE, 0, 64), &first, 1);
    assert_int_equal(hac_plan_check(plan, NULL), HAC_OK);
    damage(plan);
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_plan_check(plan, &err), HAC_INTERNAL);
    assert_true(strlen(err.message) > 0);
    hac_plan_free(plan);
}

#define DAMAGE(name, what)                                                                                   \
    static void name(hac_plan *plan)                                                                         \
    {                                                                                                        \
        what;                                                                                                \
    }

DAMAGE(writes_input, plan->tasks[0].spans[0].access = HAC_WRITE)
DAMAGE(no_access, plan->tasks[0].spans[0].access = 0)
DAMAGE(no_buffer, plan->tasks[0].spans[0].buffer = 2)
DAMAGE(past_the_end, plan->tasks[0].spans[0].bytes = 1025)
DAMAGE(overflow, plan->tasks[0].spans[0].offset = UINT64_MAX - 63)
DAMAGE(misaligned, plan->tasks[0].spans[0].offset = 32)
DAMAGE(touches_outside, plan->tasks[0].spans[0].touch_end = 1025)
DAMAGE(touches_backwards, plan->tasks[0].spans[0].touch_first = 65)
DAMAGE(depends_on_itself, plan->edges[0] = 1)
DAMAGE(edges_outside, plan->tasks[1].n_edges = 2)
DAMAGE(no_codelet, plan->tasks[1].codelet = NULL)
DAMAGE(unknown_device, plan->tasks[1].device = 2)
DAMAGE(unknown_mask, plan->tasks[1].device_mask = 4)
DAMAGE(no_mask, plan->tasks[1].device_mask = 0)
DAMAGE(other_mask, plan->tasks[1].device_mask = 1)
DAMAGE(no_grain, plan->tasks[1].range = true; plan->tasks[1].count = 1)
DAMAGE(no_count, plan->tasks[1].range = true; plan->tasks[1].grain = 4)
DAMAGE(off_its_grain, plan->tasks[1].range = true; plan->tasks[1].grain = 4; plan->tasks[1].count = 4;
       plan->tasks[1].first = 2)
DAMAGE(negative_device, plan->tasks[1].device = -2)
DAMAGE(range_overflows, plan->tasks[1].first = 1; plan->tasks[1].count = UINT64_MAX)
DAMAGE(sliced_range, plan->tasks[1].range = true; plan->tasks[1].grain = 4; plan->tasks[1].count = 4;
       plan->tasks[1].slices = 2)
DAMAGE(no_such_slice, plan->tasks[1].slices = 2; plan->tasks[1].slice = 2)
DAMAGE(off_its_alignment, plan->tasks[1].spans[0].offset = 32; plan->tasks[1].spans[0].bytes = 64;
       plan->tasks[1].spans[0].touch_first = 32)
DAMAGE(touches_before, plan->tasks[1].spans[0].offset = 64; plan->tasks[1].spans[0].bytes = 64;
       plan->tasks[1].spans[0].touch_first = 63)
DAMAGE(other_access, plan->tasks[1].spans[0].access = HAC_READ_WRITE + 1)
DAMAGE(no_descriptor, plan->buffers[0].from_descriptor = true; plan->tasks[0].spans[0].access = HAC_WRITE)
DAMAGE(many_spans, plan->tasks[1].n_spans = HAC_SPANS_MAX + 1)
DAMAGE(many_params, plan->tasks[1].n_params = HAC_TASK_PARAMS_MAX + 1)
DAMAGE(no_units, plan->tasks[1].units = INFINITY)
DAMAGE(negative_units, plan->tasks[1].units = -1)
DAMAGE(no_start, plan->tasks[1].predicted_start = NAN)
DAMAGE(negative_time, plan->tasks[1].predicted_seconds = -1)
DAMAGE(not_a_time, plan->tasks[1].predicted_seconds = NAN)
DAMAGE(no_result, plan->result_buffer = -1)
DAMAGE(negative_result, plan->result_buffer = -2)
DAMAGE(other_result, plan->result_buffer = 2)
DAMAGE(shares, plan->devices[0].share = 0.25)
DAMAGE(negative_share, plan->devices[0].share = -0.5; plan->devices[1].share = 1.5)
DAMAGE(large_share, plan->devices[0].share = 1.5; plan->devices[1].share = -0.5)
DAMAGE(no_share, plan->devices[0].share = NAN)
DAMAGE(many_devices, plan->n_devices = HAC_DEVICES_MAX + 1)
DAMAGE(many_buffers, plan->n_buffers = HAC_PLAN_MAX_BUFFERS + 1)
DAMAGE(no_tasks, plan->n_tasks = 0)
DAMAGE(no_devices, plan->n_devices = 0)

static void test_broken(void **state)
{
    (void)state;
    void (*const damages[])(hac_plan *) = {
        writes_input,    no_access,         no_buffer,
        past_the_end,    overflow,          misaligned,
        touches_outside, touches_backwards, depends_on_itself,
        edges_outside,   no_codelet,        unknown_device,
        unknown_mask,    no_mask,           other_mask,
        no_grain,        not_a_time,        no_result,
        shares,          no_devices,        no_count,
        off_its_grain,   negative_device,   range_overflows,
        sliced_range,    no_such_slice,     off_its_alignment,
        touches_before,  other_access,      no_descriptor,
        many_spans,      many_params,       no_units,
        negative_units,  no_start,          negative_time,
        negative_result, other_result,      negative_share,
        large_share,     no_share,          many_devices,
        many_buffers,    no_tasks,
    };
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++)
        assert_broken(damages[i]);
}

/* What a damage is of is no damage where it belongs: the input of a descriptor is written by who reads that.
 */
static void test_written_input(void **state)
{
    (void)state;
    hac_plan *plan = new_plan();
    plan->buffers[0].from_descriptor = true;
    hac_plan_task task = new_task(0, 0, HAC_WRITE, 0, 64);
    task.uses_descriptor = true;
    add(plan, task, NULL, 0);
    assert_int_equal(hac_plan_check(plan, NULL), HAC_OK);
    plan->buffers[0].from_descriptor = false;
    assert_int_equal(hac_plan_check(plan, NULL), HAC_INTERNAL);
    hac_plan_free(plan);
}

/* One task may read and write the same bytes through two spans. */
static void test_two_spans_of_a_task(void **state)
{
    (void)state;
    hac_plan *plan = new_plan();
    hac_plan_task task = new_task(0, 1, HAC_READ, 0, 512);
    task.n_spans = 2;
    task.spans[1] = (hac_plan_span){1, HAC_WRITE, 0, 1024, 256, 768};
    uint32_t first = add(plan, task, NULL, 0);
    assert_int_equal(hac_plan_check(plan, NULL), HAC_OK);
    add(plan, new_task(1, 1, HAC_READ, 600, 601), &first, 1);
    assert_int_equal(hac_plan_check(plan, NULL), HAC_OK);
    add(plan, new_task(1, 1, HAC_READ, 600, 601), NULL, 0); /* waits for neither */
    assert_int_equal(hac_plan_check(plan, NULL), HAC_INTERNAL);
    hac_plan_free(plan);
}

/* A plan without tasks is one of nothing to sort. */
static void test_nothing_to_do(void **state)
{
    (void)state;
    hac_plan *plan = new_plan();
    assert_int_equal(hac_plan_check(plan, NULL), HAC_INTERNAL);
    plan->sort.items = 0;
    assert_int_equal(hac_plan_check(plan, NULL), HAC_OK);
    hac_plan_free(plan);
}

static void test_limits(void **state)
{
    (void)state;
    hac_plan *plan = new_plan();
    uint8_t index;
    for (int i = 2; i < HAC_PLAN_MAX_BUFFERS; i++)
        assert_int_equal(
            hac_plan_add_buffer(plan, "a name that is too long", HAC_BUFFER_WORK, 8, &index, NULL), HAC_OK);
    assert_int_equal(hac_plan_add_buffer(plan, "one", HAC_BUFFER_WORK, 8, &index, NULL), HAC_INTERNAL);
    hac_plan_task task = new_task(0, 0, HAC_READ, 0, 64);
    uint32_t last = 0;
    for (uint32_t i = 0; i < HAC_PLAN_MAX_TASKS; i++)
        assert_int_equal(hac_plan_add_task(plan, &task, &last, i > 0, &last, NULL), HAC_OK);
    assert_int_equal(hac_plan_add_task(plan, &task, &last, 1, &last, NULL), HAC_INTERNAL);
    assert_int_equal(hac_plan_check(plan, NULL), HAC_OK);
    const char *one = NULL, *same = NULL;
    assert_int_equal(hac_plan_add_string(plan, "stage", &one, NULL), HAC_OK);
    assert_int_equal(hac_plan_add_string(plan, "stage", &same, NULL), HAC_OK);
    assert_ptr_equal(one, same);
    hac_plan_free(plan);
    hac_plan_free(NULL);
}

static void test_names_of_devices(void **state)
{
    (void)state;
    char text[64], little[8];
    hac_plan *plan = new_plan();
    hac_plan_task task = new_task(0, 1, HAC_WRITE, 0, 1024);
    task.device = -1;
    task.device_mask = 3;
    hac_plan_name_devices(plan, text, sizeof(text));
    assert_string_equal(text, "a (50 %), b (50 %)");
    hac_plan_name_devices(plan, little, sizeof(little));
    assert_string_equal(little, "a (50 %");
    task.count = 8;
    task.range = true; /* which they share */
    add(plan, task, NULL, 0);
    assert_false(hac_plan_is_one_task(plan));
    plan->tasks[0].count = 1;
    assert_true(hac_plan_is_one_task(plan));
    plan->tasks[0].count = 8;
    plan->tasks[0].range = false; /* nobody cuts it */
    assert_true(hac_plan_is_one_task(plan));
    hac_plan_name_devices(plan, text, sizeof(text));
    assert_string_equal(text, "a or b");
    hac_plan_name_devices(plan, little, sizeof(little));
    assert_string_equal(little, "a or b");
    plan->tasks[0].device = 1;
    assert_false(hac_plan_is_one_task(plan));
    hac_plan_free(plan);
}

/* "not possible: " stands before the reason of what has no price and did not lose by an estimate. */
static void test_reasons(void **state)
{
    (void)state;
    static const struct {
        hac_plan_candidate candidate;
        const char *text;
    } cases[] = {{{.seconds = -1, .cause = HAC_CAUSE_CANNOT, .reason = "no f64"}, "not possible: no f64"},
                 {{.seconds = -1, .cause = HAC_CAUSE_NOT_ASKED, .reason = "host"}, "not possible: host"},
                 {{.seconds = -1, .cause = HAC_CAUSE_PRICE, .reason = "left out"}, "left out"},
                 {{.seconds = 0, .cause = HAC_CAUSE_NOT_ASKED, .reason = "faster"}, "faster"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[HAC_CANDIDATE_REASON_MAX];
        assert_string_equal(hac_candidate_reason(&cases[i].candidate, text, sizeof text), cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_indirect),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_names_of_devices),
        cmocka_unit_test(test_slices_of_other_work),
        cmocka_unit_test(test_written_input),
        cmocka_unit_test(test_two_spans_of_a_task),
        cmocka_unit_test(test_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
