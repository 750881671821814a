/* SPDX-License-Identifier: Apache-2.0 */
/* A job whose task keeps other users waiting, without a scheduler: what is counted, and how it ends. */
#include "job_failures.h"

#include <stdlib.h>
#include <string.h>

#include "base/test_support.h"

typedef struct fixture {
    hac_jobs jobs;
    hac_devices devices;
    hac_server_device device;
    hac_user user;
    hacd_job job;
    hacd_job_kind kind;
} fixture;

static void set_up(fixture *f, bool repeatable)
{
    hac_error err = HAC_ERROR_NONE;
    hac_plan_task task = {
        .codelet = "radix.scan", .device = 0, .repeatable = repeatable, .predicted_seconds = 1};
    *f = (fixture){.devices = {.count = 1}};
    f->devices.items[0] = &f->device;
    f->jobs.devices = &f->devices;
    snprintf(f->device.config.name, sizeof f->device.config.name, "fpga");
    f->job =
        (hacd_job){.jobs = &f->jobs, .user = &f->user, .kind = &f->kind, .log_capacity = HAC_JOB_LOG_MAX};
    assert_int_equal(hac_plan_new(HAC_FLOW_SORT, &f->job.plan, &err), HAC_OK);
    assert_int_equal(hac_plan_add_task(f->job.plan, &task, NULL, 0, NULL, &err), HAC_OK);
    assert_int_equal(hac_plan_run_begin(&f->job.run, f->job.plan, &err), HAC_OK);
}

static void tear_down(fixture *f)
{
    hac_plan_run_clear(&f->job.run, f->job.plan);
    hac_plan_free(f->job.plan);
    hac_text_clear(&f->job.log);
}

static void lose(fixture *f, bool gave_way)
{
    const hac_dispatch dispatch = {.job = &f->job, .count = 1};
    const hac_loss loss = {
        .started = true, .gave_way = gave_way, .for_memory = !gave_way, .how = "was killed"};
    hac_job_failures_lost(&f->job, &dispatch, &loss);
}

/* The scheduler's restart of a job that is broken. */
static void start_over(fixture *f)
{
    hac_error err = HAC_ERROR_NONE;
    assert_true(f->job.run.broken);
    hac_plan_run_clear(&f->job.run, f->job.plan);
    f->job.run = (hacd_plan_run){.n_ready = 0};
    assert_int_equal(hac_plan_run_begin(&f->job.run, f->job.plan, &err), HAC_OK);
}

/* The count outlives the restarts, so that the task gets twice the time after each. The fourth yield ends the
 * job. */
static void test_not_repeatable(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, false);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(hac_job_failures_yields(&f.job, 0), i);
        assert_int_equal(f.job.code, HAC_OK);
        lose(&f, true);
        lose(&f, true); /* another piece, before the job starts over */
        if (i < 3)
            start_over(&f);
    }
    assert_int_equal(f.job.code, HAC_REFUSED);
    assert_non_null(
        strstr(f.job.message, "radix.scan takes too long at a stretch on fpga while other users"));
    assert_true(f.jobs.kick);
    assert_int_equal(f.job.retries + f.job.memory_kills + f.job.losses[0], 0);
    tear_down(&f);
}

static void test_repeatable(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, true);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(hac_job_failures_yields(&f.job, 0), i);
        assert_int_equal(f.job.code, HAC_OK);
        lose(&f, true);
        assert_false(f.job.run.broken);
        assert_int_equal(f.job.run.tasks[0].n_lost, i + 1);
    }
    assert_int_equal(f.job.code, HAC_REFUSED);
    assert_int_equal(f.job.retries + f.job.yields, 0);
    tear_down(&f);
}

/* A loss that is no yield counts as before. */
static void test_killed(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, false);
    lose(&f, false);
    assert_true(f.job.run.broken);
    assert_int_equal(f.job.retries, 1);
    assert_int_equal(f.job.memory_kills, 1);
    assert_int_equal(hac_job_failures_yields(&f.job, 0), 0);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_not_repeatable),
                                       cmocka_unit_test(test_repeatable), cmocka_unit_test(test_killed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
