/* SPDX-License-Identifier: Apache-2.0 */
/* Which tasks keep others of the same user waiting. */
#include "side_executor.h"

#include "base/test_support.h"

#define MS UINT64_C(1000000)

static void put(hac_executor *executor, hac_dispatch *dispatch, hacd_job *job, double predicted)
{
    *dispatch = (hac_dispatch){.job = job, .predicted = predicted};
    hac_list_append(&executor->in_flight, &dispatch->link);
    executor->n_in_flight++;
}

static void test_hold(void **state)
{
    (void)state;
    const uint64_t began = 1000 * MS, until = began + 10 * MS;
    hac_executor executor = {.busy_since_ns = began};
    hacd_job *jobs = calloc(2, sizeof *jobs), *job = &jobs[0], *other = &jobs[1];
    hac_dispatch first, second;
    assert_non_null(jobs);
    hac_list_init(&executor.in_flight);
    assert_int_equal(hac_side_executor_hold(&executor, job, began, until), HAC_HOLD_NONE);
    put(&executor, &first, other, 1);
    assert_int_equal(hac_side_executor_hold(&executor, job, began, until), HAC_HOLD_LONG);
    assert_int_equal(hac_side_executor_hold(&executor, other, began, until), HAC_HOLD_NONE);
    first.predicted = 0.002;
    assert_int_equal(hac_side_executor_hold(&executor, job, began, until), HAC_HOLD_SHORT);
    first.predicted = 0.0002; /* and it does take as long */
    assert_int_equal(hac_side_executor_hold(&executor, job, began, until), HAC_HOLD_NONE);
    assert_int_equal(hac_side_executor_hold(&executor, job, began + 2 * MS, until), HAC_HOLD_SHORT);
    assert_int_equal(hac_side_executor_hold(&executor, job, until, until), HAC_HOLD_LONG);
    put(&executor, &second, other, 0.02);
    assert_int_equal(hac_side_executor_hold(&executor, job, began, until), HAC_HOLD_LONG);
    second.job = job; /* its own task is queued there */
    assert_int_equal(hac_side_executor_hold(&executor, job, began, until), HAC_HOLD_NONE);
    first.job = job;
    second.job = other;
    assert_int_equal(hac_side_executor_hold(&executor, job, until, until), HAC_HOLD_NONE);
    free(jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
