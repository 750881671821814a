/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel loops: every item once, the lowest failure; calls in sequence, nested and in parallel, on more or
 * fewer CPUs. */
#include "codelet/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/test_support.h"
#include "codelet/background_task.h"

#define ITEMS 1000

/* The number of CPUs that is reported: several of a team's threads are wanted on every machine. */
#define CPUS 4
static atomic_uint cpus = CPUS;

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *ret)
{
    (void)pid;
    CPU_ZERO_S(bytes, ret);
    for (unsigned i = 0; i < cpus; i++)
        CPU_SET_S(i, bytes, ret);
    return 0;
}

/* While `held`, a spinning thread of a team gets no processor; the caller, who waits for threads inside its
 * call, does. */
static atomic_bool held;
static atomic_uint n_held;
static _Thread_local bool calls;

int sched_yield(void)
{
    struct timespec pause = {0, 100000};
    if (calls || !held)
        return 0;
    atomic_fetch_add(&n_held, 1);
    while (held)
        nanosleep(&pause, NULL);
    atomic_fetch_sub(&n_held, 1);
    return 0;
}

typedef struct threads_loop {
    atomic_uint seen[ITEMS];
    uint64_t fails_from;
    unsigned nested; /* items of a nested call in each item */
} threads_loop;

static hac_status do_item(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    threads_loop *l = context;
    assert_true(worker < hac_pool_threads());
    atomic_fetch_add(&l->seen[item], 1);
    if (item >= l->fails_from)
        return hac_fail(err, HAC_FAILED, "item %u", (unsigned)item);
    if (l->nested == 0)
        return HAC_OK;
    threads_loop inner = {.fails_from = ITEMS};
    hac_status status = hac_pool_run(l->nested, do_item, &inner, err);
    for (unsigned i = 0; i < l->nested; i++)
        assert_int_equal(inner.seen[i], 1);
    return status;
}

typedef hac_status pool_run(uint64_t n, hac_pool_work work, void *context, hac_error *err);

static void try_by(pool_run *run, uint64_t n, uint64_t fails_from, unsigned nested)
{
    threads_loop l = {.fails_from = fails_from, .nested = nested};
    hac_error err = HAC_ERROR_NONE;
    hac_status status = run(n, do_item, &l, &err);
    assert_int_equal(status, fails_from < n ? HAC_FAILED : HAC_OK);
    for (uint64_t i = 0; i < n; i++)
        assert_true(i <= fails_from ? l.seen[i] == 1 : l.seen[i] <= 1);
    if (fails_from < n) {
        char says[32];
        snprintf(says, sizeof says, "item %u", (unsigned)fails_from);
        assert_string_equal(err.message, says);
    }
}

/* With and without items of their own for threads. */
static void try(uint64_t n, uint64_t fails_from, unsigned nested)
{
    try_by(hac_pool_run, n, fails_from, nested);
    try_by(hac_pool_run_near, n, fails_from, nested);
}

static void test_every_item_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        try(i % 7 == 0 ? i % ITEMS : i % 5, ITEMS, 0);
}

static void test_lowest_failure(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100; i++)
        try(i, i / 2, 0);
}

static void test_within_each_other(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        try(40, ITEMS, 9);
}

/* Items of several threads' shares fail, the lowest one last. */
static hac_status fail_late(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    threads_loop *l = context;
    struct timespec pause = {0, 1000000};
    if (item == l->fails_from)
        nanosleep(&pause, NULL);
    return do_item(context, item, worker, err);
}

static void test_lowest_failure_of_shares(void **state)
{
    (void)state;
    static const unsigned numbers[] = {2, 3, 4, 16, 17, 40}; /* CPUs, also more than there are shares */
    for (unsigned i = 0; i < 120; i++) {
        uint64_t n = 2 + i % 61, fails_from = i * 7 % n;
        threads_loop l = {.fails_from = fails_from};
        hac_error err = HAC_ERROR_NONE;
        char says[32];
        cpus = numbers[i % 6];
        assert_int_equal(hac_pool_run_near(n, fail_late, &l, &err), HAC_FAILED);
        for (uint64_t item = 0; item < ITEMS; item++)
            assert_true(item <= fails_from ? l.seen[item] == 1 : l.seen[item] <= (item < n));
        snprintf(says, sizeof says, "item %u", (unsigned)fails_from);
        assert_string_equal(err.message, says);
    }
    cpus = CPUS;
}

/* Threads sleep between these calls. */
static void test_after_pauses(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        struct timespec pause = {0, (long)(i % 5) * 100000};
        nanosleep(&pause, NULL);
        try(8, ITEMS, 0);
    }
}

/* Threads have ended between these calls, one after the other in the order in which they were last wanted. */
static void test_after_their_end(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct timespec pause = {1, 20000000};
        nanosleep(&pause, NULL);
        try(2 + i, ITEMS, 0);
    }
}

/* Threads are just ending. */
static void test_as_they_end(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        struct timespec pause = {i % 20 == 0, i % 20 == 0 ? 0 : (long)i * 1000};
        nanosleep(&pause, NULL);
        try(4, ITEMS, 0);
    }
}

/* Nobody waits for threads that get no processor: they miss calls, and come back later. */
static void test_without_processor(void **state)
{
    (void)state;
    struct timespec pause = {0, 100000};
    calls = true;
    held = true;
    for (unsigned i = 0; i < 10000 && n_held == 0; i++) {
        try(8, ITEMS, 0);
        nanosleep(&pause, NULL);
    }
    assert_int_not_equal(n_held, 0);
    for (unsigned i = 0; i < 20; i++)
        try(i, i % 3 == 0 ? i / 2 : ITEMS, 0);
    held = false;
    for (unsigned i = 0; i < 100; i++)
        try(8, ITEMS, 0);
}

/* Also after a failure: the following tests wait for these threads. */
static int release(void **state)
{
    (void)state;
    held = false;
    calls = false;
    return 0;
}

/* More or fewer CPUs than in the previous call. */
static void test_other_cpus(void **state)
{
    (void)state;
    static const unsigned numbers[] = {1, 2, 7, 3, 16, 8, 1, 40};
    for (unsigned i = 0; i < 200; i++) {
        cpus = numbers[i % 8];
        assert_int_equal(hac_pool_threads(), cpus);
        try(i, ITEMS, 0);
        try(1 + i % 5, ITEMS, 0);
    }
    cpus = CPUS;
}

static void *call_often(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < 50; i++)
        try(i, ITEMS, 0);
    return NULL;
}

/* Each thread has a team of its own, which ends with it. */
static void test_side_by_side(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        pthread_t threads[4];
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, call_often, NULL), 0);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

static hac_status count_few(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    (void)err;
    assert_true(worker < 3);
    ((atomic_uint *)context)[item]++;
    return HAC_OK;
}

static void test_few_threads(void **state)
{
    (void)state;
    for (size_t n = 0; n < 50; n++) {
        atomic_uint seen[50] = {0};
        assert_int_equal(hac_pool_run_few(n, 3, count_few, seen, NULL), HAC_OK);
        for (size_t i = 0; i < 50; i++)
            assert_int_equal(seen[i], i < n);
    }
}

static void add_one(void *context)
{
    ++*(unsigned *)context;
}

static void test_background_task(void **state)
{
    (void)state;
    unsigned n = 0;
    hac_background_task *task = hac_background_task_new();
    assert_non_null(task);
    hac_background_task_wait(task); /* nothing was started */
    for (unsigned i = 0; i < 100; i++) {
        hac_background_task_begin(task, add_one, &n);
        hac_background_task_wait(task);
        assert_int_equal(n, i + 1);
    }
    hac_background_task_begin(task, add_one, &n);
    hac_background_task_free(task);
    assert_int_equal(n, 101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_item_once),
                                       cmocka_unit_test(test_lowest_failure),
                                       cmocka_unit_test(test_lowest_failure_of_shares),
                                       cmocka_unit_test(test_within_each_other),
                                       cmocka_unit_test(test_after_pauses),
                                       cmocka_unit_test(test_after_their_end),
                                       cmocka_unit_test(test_as_they_end),
                                       cmocka_unit_test_teardown(test_without_processor, release),
                                       cmocka_unit_test(test_other_cpus),
                                       cmocka_unit_test(test_side_by_side),
                                       cmocka_unit_test(test_few_threads),
                                       cmocka_unit_test(test_background_task)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
