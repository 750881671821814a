/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/test_support.h"

static hac_scratch_path parent, outside;

static int set_up(void **state)
{
    if (hac_test_fds_setup(state) != 0)
        return -1;
    strcpy(parent, "/tmp/hac-scratch-XXXXXX");
    strcpy(outside, "/tmp/hac-outside-XXXXXX");
    return mkdtemp(parent) == NULL || mkdtemp(outside) == NULL;
}

static int tear_down(void **state)
{
    hac_scratch_remove_now(parent);
    hac_scratch_remove_now(outside);
    return hac_test_fds_teardown(state);
}

/* Paths are relative to `parent` unless they are absolute. */
static const char *in(const char *name)
{
    static hac_scratch_path paths[4];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(hac_scratch_path), "%.1000s/%.200s", parent, name);
    return path;
}

static bool there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static void put(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static int claim(const char *name, hac_scratch_path ret)
{
    int lock = -1;
    snprintf(ret, sizeof(hac_scratch_path), "%s", in(name));
    assert_int_equal(hac_scratch_claim(ret, &lock, NULL), HAC_OK);
    assert_true(there(ret));
    return lock;
}

static void test_sweeps_what_dead_ones_left(void **state)
{
    (void)state;
    hac_scratch_path own, living, victim;
    int living_lock = claim("200", living), lock = claim("300", own);
    assert_int_equal(mkdir(in("100"), 0700), 0);
    assert_int_equal(mkdir(in("100/abc"), 0700), 0);
    put(in("100/abc/file"));
    assert_int_equal(mkdir(in("101-1"), 0700), 0);
    snprintf(victim, sizeof victim, "%.1000s/victim", outside);
    put(victim);
    assert_int_equal(symlink(outside, in("100/abc/link")), 0); /* the target of the link must survive */
    assert_int_equal(symlink(outside, in("400")), 0);
    put(in("500"));
    assert_int_equal(mkdir(in("notes"), 0700), 0);
    hac_scratch_sweep_now(own);
    assert_false(there(in("100")));
    assert_false(there(in("101-1")));
    assert_true(there(living));
    assert_true(there(own));
    assert_true(there(victim));
    assert_true(there(in("400")));
    assert_true(there(in("500")));
    assert_true(there(in("notes")));
    close(living_lock);
    hac_scratch_sweep_now(own);
    assert_false(there(living));
    close(lock);
}

static void test_not_of_others(void **state)
{
    (void)state;
    hac_scratch_path own;
    if (geteuid() != 0)
        skip();
    int lock = claim("300", own);
    assert_int_equal(mkdir(in("100"), 0700), 0);
    assert_int_equal(chown(in("100"), 12345, 12345), 0);
    hac_scratch_sweep_now(own);
    assert_true(there(in("100")));
    close(lock);
}

/* One number belongs to a dead process, the other to a living one. */
static void test_taken_numbers(void **state)
{
    (void)state;
    hac_scratch_path first, second;
    assert_int_equal(mkdir(in("100"), 0700), 0);
    put(in("100/old"));
    int lock = claim("100", first);
    assert_string_equal(first, in("100"));
    assert_false(there(in("100/old")));
    int other = claim("100", second);
    assert_string_equal(second, in("100-1"));
    hac_scratch_sweep_now(first);
    assert_true(there(second));
    close(lock);
    close(other);
}

static void test_a_link_in_the_way(void **state)
{
    (void)state;
    hac_scratch_path own;
    assert_int_equal(symlink(outside, in("100")), 0);
    int lock = claim("100", own);
    assert_string_equal(own, in("100-1"));
    close(lock);
}

static void test_no_place(void **state)
{
    (void)state;
    hac_scratch_path own = "/proc/none/1";
    int lock = -1;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_scratch_claim(own, &lock, &err), HAC_IO);
    assert_int_equal(lock, -1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sweeps_what_dead_ones_left), TEST(test_not_of_others), TEST(test_taken_numbers),
        TEST(test_a_link_in_the_way),          TEST(test_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
