/* SPDX-License-Identifier: Apache-2.0 */
/* Loops by threads: every item once, the lowest failure, calls one after the other, within each other and
 * side by side, on CPUs that change. */
#include "query/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/test_support.h"

#define ITEMS 1000

typedef struct loop {
    atomic_uint seen[ITEMS];
    uint64_t fails_from;
    unsigned nested; /* items of a call within each item */
} loop;

static hac_status do_item(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    loop *l = context;
    assert_true(worker < hac_pool_threads());
    atomic_fetch_add(&l->seen[item], 1);
    if (item >= l->fails_from)
        return hac_fail(err, HAC_FAILED, "item %u", (unsigned)item);
    if (l->nested == 0)
        return HAC_OK;
    loop inner = {.fails_from = ITEMS};
    hac_status status = hac_pool_run(l->nested, do_item, &inner, err);
    for (unsigned i = 0; i < l->nested; i++)
        assert_int_equal(inner.seen[i], 1);
    return status;
}

static void try(uint64_t n, uint64_t fails_from, unsigned nested)
{
    loop l = {.fails_from = fails_from, .nested = nested};
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_pool_run(n, do_item, &l, &err);
    assert_int_equal(status, fails_from < n ? HAC_FAILED : HAC_OK);
    for (uint64_t i = 0; i < n; i++)
        assert_true(i <= fails_from ? l.seen[i] == 1 : l.seen[i] <= 1);
    if (fails_from < n) {
        char says[32];
        snprintf(says, sizeof says, "item %u", (unsigned)fails_from);
        assert_string_equal(err.message, says);
    }
}

static void test_every_item_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3000; i++)
        try(i % 7 == 0 ? i % ITEMS : i % 5, ITEMS, 0);
}

static void test_lowest_failure(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 300; i++)
        try(i, i / 2, 0);
}

static void test_within_each_other(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++)
        try(40, ITEMS, 9);
}

/* The threads sleep between these. */
static void test_after_pauses(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        struct timespec pause = {0, (long)(i % 5) * 100000};
        nanosleep(&pause, NULL);
        try(8, ITEMS, 0);
    }
}

static void test_other_cpus(void **state)
{
    (void)state;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    for (unsigned i = 0; i < 40; i++) {
        size_t cpu = 0;
        while (!CPU_ISSET(cpu, &all))
            cpu++;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        assert_int_equal(sched_setaffinity(0, sizeof one, i % 2 ? &one : &all), 0);
        assert_int_equal(hac_pool_threads(), i % 2 ? 1 : (unsigned)CPU_COUNT(&all));
        try(100, ITEMS, 0);
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void *call_often(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < 200; i++)
        try(i, ITEMS, 0);
    return NULL;
}

/* Each thread has its own, which end with it. */
static void test_side_by_side(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 5; round++) {
        pthread_t threads[4];
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, call_often, NULL), 0);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_item_once),   cmocka_unit_test(test_lowest_failure),
        cmocka_unit_test(test_within_each_other), cmocka_unit_test(test_after_pauses),
        cmocka_unit_test(test_other_cpus),        cmocka_unit_test(test_side_by_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
