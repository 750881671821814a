/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which a builder works, and the CPU time it takes from others. Needs PoCL. */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test_child.h"

/* How many of the child's threads have that scheduling policy; *ret_all is the number of threads. */
static unsigned count_policy(const test_child *child, int policy, unsigned *ret_all)
{
    char path[64];
    unsigned found = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)child->pid);
    DIR *tasks = opendir(path);
    assert_non_null(tasks);
    *ret_all = 0;
    for (struct dirent *d; (d = readdir(tasks)) != NULL;) {
        long tid = strtol(d->d_name, NULL, 10);
        *ret_all += tid > 0;
        found += tid > 0 && sched_getscheduler((pid_t)tid) == policy;
    }
    closedir(tasks);
    return found;
}

/* A program that is requested while others are being built comes next. */
static void test_urgent_one_first(void **state)
{
    (void)state;
    char *fresh = test_make_directory();
    test_setup with = test_defaults;
    with.program_directory = fresh;
    const char *list[] = {"selftest", "bitonic.block.64", "bitonic.block.32"};
    test_child *child = test_start("--build");
    test_send_setup(child, &with);
    for (size_t i = 0; i < 3; i++) /* each before the previous ones, as all requests are there at the start */
        test_send_build(child, &list[2 - i], 1);
    for (size_t i = 0; i < 3; i++) {
        Hac__Executor__Built *built = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILT)->built;
        assert_string_equal(built->program, list[i]);
        assert_int_equal(built->code, HAC_OK);
        assert_int_equal(built->of, 3);
        print_message("%s: %.0f ms\n", built->program, built->seconds * 1e3);
    }
    unsigned all;
    assert_int_equal(count_policy(child, SCHED_IDLE, &all), 0);
    test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILD_END);
    assert_int_equal(test_end(child), 0);
    test_remove_directory(fresh);
}

/* Without names, everything, for later: no thread, least of all the driver's, takes time from jobs. (Building
 * the programs for the tests with a daemon shows that all of them can be built.) */
static void test_for_later(void **state)
{
    (void)state;
    unsigned threads = 0, idle = 0;
    test_child *child = test_start("--build");
    test_send_setup(child, &test_defaults);
    test_send_build(child, NULL, 0);
    for (int tries = 0; tries < 3000 && (threads < 2 || idle < threads); tries++) {
        usleep(10000);
        idle = count_policy(child, SCHED_IDLE, &threads);
    }
    assert_true(threads >= 2 && idle == threads);
    assert_int_equal(kill(child->pid, SIGKILL), 0);
    assert_true(WIFSIGNALED(test_wait(child)));
    test_child_free(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urgent_one_first),
        cmocka_unit_test(test_for_later),
    };
    return cmocka_run_group_tests(tests, test_make_directories, test_remove_directories);
}
