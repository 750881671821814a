/* SPDX-License-Identifier: Apache-2.0 */
/* Cgroups of both versions, in a directory of the test's. */
#include "base/memory_cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/test_support.h"

static char top[64];

static int set_up(void **state)
{
    static const char *const directories[] = {"/memory", "/memory/a", "/memory/a/b", "/a",
                                              "/a/b",    "/pids",     "/pids/a"};
    char path[128];
    strcpy(top, "/tmp/hac-test-XXXXXX");
    if (mkdtemp(top) == NULL)
        return -1;
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", top, directories[i]);
        if (mkdir(path, 0700) != 0)
            return -1;
    }
    return hac_test_fds_setup(state);
}

static int tear_down(void **state)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", top);
    return system(command) != 0 ? -1 : hac_test_fds_teardown(state);
}

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static const char *self(const char *lines)
{
    static char path[128];
    put("self", lines);
    snprintf(path, sizeof(path), "%s/self", top);
    return path;
}

/* What is counted for a process with these lines in its /proc/self/cgroup. */
static int64_t kills(const char *lines)
{
    return hac_memory_cgroup_kills(self(lines), top);
}

static uint64_t limit(const char *lines)
{
    return hac_memory_cgroup_limit(self(lines), top);
}

static void test_version_2(void **state)
{
    (void)state;
    put("a/b/memory.events", "low 0\nhigh 0\nmax 7\noom 4\noom_kill 3\noom_group_kill 0\n");
    assert_int_equal(kills("0::/a/b\n"), 3);
    put("memory.events", "oom_kill 12\n"); /* the root of a container's namespace */
    assert_int_equal(kills("0::/\n"), 12);
    assert_int_equal(kills("0::/a\n"), 12);           /* the nearest one that is there */
    assert_int_equal(kills("0::/not/mounted\n"), 12); /* by another namespace's path */
    assert_int_equal(kills("0::/../outside\n"), 12);
}

static void test_version_1(void **state)
{
    (void)state;
    put("memory/a/b/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
    put("a/b/memory.events", "oom_kill 3\n");
    assert_int_equal(kills("9:name=systemd:/x\n4:memory:/a/b\n1:cpu,cpuacct:/\n"), 5);
    assert_int_equal(kills("0::/a/b\n4:cpu,memory:/a/b\n"), 5); /* both mounted: memory is the old one's */
    assert_int_equal(kills("4:cpu,memory_else:/a/b\n"), -1);
    put("memory/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n"); /* before Linux 4.13 */
    assert_int_equal(kills("4:memory:/a\n"), -1);
}

static void test_limit_of_version_2(void **state)
{
    (void)state;
    assert_true(limit("0::/a/b\n") == UINT64_MAX); /* no file */
    put("a/b/memory.max", "max\n");
    put("a/b/memory.high", "max\n");
    assert_true(limit("0::/a/b\n") == UINT64_MAX);
    put("a/b/memory.high", "3000000\n");
    assert_int_equal(limit("0::/a/b\n"), 3000000);
    put("a/memory.max", "2000000\n"); /* of the one around it */
    assert_int_equal(limit("0::/a/b\n"), 2000000);
    put("memory.max", "1000000\n"); /* of the top, which is a container's own */
    assert_int_equal(limit("0::/a/b\n"), 1000000);
    assert_int_equal(limit("0::/\n"), 1000000);
    assert_int_equal(limit("0::/not/mounted/here\n"), 1000000);
    put("memory.max", "0\n");
    assert_int_equal(limit("0::/a/b\n"), 0);
}

static void test_limit_of_version_1(void **state)
{
    (void)state;
    put("memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(limit("4:memory:/a/b\n"), 9223372036854771712u);
    put("memory/a/memory.limit_in_bytes", "5000000\n");
    put("a/memory.max", "1\n"); /* the other version's */
    assert_int_equal(limit("4:memory:/a/b\n0::/a\n"), 5000000);
    put("memory/a/b/memory.limit_in_bytes", "6000000\n");
    assert_int_equal(limit("4:memory:/a/b\n"), 5000000);
    put("memory/a/b/memory.limit_in_bytes", "4000000\n");
    assert_int_equal(limit("4:memory:/a/b\n"), 4000000);
    put("memory.limit_in_bytes", "3\n"); /* above the top: no cgroup */
    assert_int_equal(limit("4:memory:/\n"), 9223372036854771712u);
}

static uint64_t memory_left(const char *lines)
{
    return hac_memory_cgroup_available(self(lines), top);
}

static void test_room(void **state)
{
    (void)state;
    assert_true(memory_left("0::/a/b\n") == UINT64_MAX);
    put("a/b/memory.max", "1000\n");
    assert_true(memory_left("0::/a/b\n") == UINT64_MAX); /* what is used is not known */
    put("a/b/memory.current", "900\n");
    assert_int_equal(memory_left("0::/a/b\n"), 100);
    put("a/b/memory.stat", "anon 5\nfile 500\ninactive_file 30\nactive_file 20\n");
    assert_int_equal(memory_left("0::/a/b\n"), 150);
    put("a/b/memory.stat", "inactive_file 3000\nactive_file 20\n");
    assert_int_equal(memory_left("0::/a/b\n"), 1000);
    put("a/memory.high", "10000\n");
    put("a/memory.current", "10001\n");
    assert_int_equal(memory_left("0::/a/b\n"), 0);
    put("memory/a/memory.limit_in_bytes", "700\n");
    put("memory/a/memory.usage_in_bytes", "600\n");
    put("memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 7\ntotal_active_file 3\n");
    assert_int_equal(memory_left("4:memory:/a\n"), 110);
    assert_true(memory_left("") == UINT64_MAX);
}

static void test_no_limit_to_be_known(void **state)
{
    (void)state;
    static const char *const numbers[] = {"",      "\n", "max", "-1\n", "1 2\n", "99999999999999999999\n",
                                          "0x10\n"};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        put("a/memory.max", numbers[i]);
        assert_true(limit("0::/a\n") == UINT64_MAX);
    }
    assert_true(hac_memory_cgroup_limit("/nowhere/cgroup", top) == UINT64_MAX);
    assert_true(limit("0::/../nowhere\n") == UINT64_MAX);
    assert_true(limit("") == UINT64_MAX);
    uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_in_range(hac_memory_available(), 1, ram);
}

static void test_not_to_be_known(void **state)
{
    (void)state;
    static char long_text[10000];
    assert_int_equal(hac_memory_cgroup_kills("/nowhere/cgroup", top), -1);
    static const char *const lines[] = {"", "\n\n", "0", "0:", "0::", "::::\n", "0::/../nowhere\n"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_int_equal(kills(lines[i]), -1);
    static const char *const counts[] = {"",
                                         "oom_kill",
                                         "oom_kill \n",
                                         "oom_kill x\n",
                                         "oom_kill -1\n",
                                         "oom_kill 1 2\n",
                                         "noom_kill 1\n",
                                         "oom_kill 99999999999999999999\n"};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        put("a/memory.events", counts[i]);
        assert_int_equal(kills("0::/a\n"), -1);
    }
    memset(long_text, 'a', sizeof(long_text) - 1);
    assert_int_equal(kills(long_text), -1);
    memcpy(long_text, "0::/", 4);
    assert_int_equal(kills(long_text), -1);
}

static void test_pids(void **state)
{
    (void)state;
    /* version 2: the minimum of both levels, refusals of both */
    put("a/b/pids.max", "100\n");
    put("a/b/pids.current", "40\n");
    put("a/b/pids.events", "max 3\n");
    put("a/pids.max", "max\n");
    put("a/pids.current", "70\n");
    assert_int_equal(hac_pids_cgroup_available(self("0::/a/b\n"), top), 60);
    assert_int_equal(hac_pids_cgroup_refusals(self("0::/a/b\n"), top), 3);
    put("a/pids.max", "75\n");
    put("a/pids.events", "max 2\n");
    assert_int_equal(hac_pids_cgroup_available(self("0::/a/b\n"), top), 5);
    assert_int_equal(hac_pids_cgroup_refusals(self("0::/a/b\n"), top), 5);
    put("a/pids.current", "80\n"); /* a limit that was lowered */
    assert_int_equal(hac_pids_cgroup_available(self("0::/a/b\n"), top), 0);
    /* version 1, in a hierarchy of its own */
    put("pids/a/pids.max", "20\n");
    put("pids/a/pids.current", "19\n");
    assert_int_equal(hac_pids_cgroup_available(self("7:pids:/a\n2:memory:/a/b\n0::/a/b\n"), top), 1);
    assert_int_equal(hac_pids_cgroup_refusals(self("7:pids:/a\n0::/a/b\n"), top), -1);
    assert_true(hac_pids_cgroup_available(self("2:memory:/a\n"), top) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_version_2, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_version_1, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limit_of_version_2, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limit_of_version_1, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_limit_to_be_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_to_be_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pids, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
