/* SPDX-License-Identifier: Apache-2.0 */
#include "base/program_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/test_support.h"

static const int here;
static char folder[PATH_MAX];

static void test_folder(void **state)
{
    (void)state;
    char exe[PATH_MAX], library[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    assert_in_range(n, 1, sizeof exe - 1);
    exe[n] = '\0';
    *strrchr(exe, '/') = '\0';
    assert_true(hac_program_folder(&here, folder));
    assert_string_equal(folder, exe);
    /* malloc may be a sanitizer's: some library or this program, in any case a folder */
    struct stat st;
    assert_true(hac_program_folder((const void *)(uintptr_t)getpid, library));
    assert_int_equal(stat(library, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
}

static void put(const char *name, mode_t mode)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void test_beside(void **state)
{
    (void)state;
    char name[64], path[PATH_MAX], expected[PATH_MAX + 128], link[PATH_MAX + 128];
    struct stat st;
    assert_int_equal(stat(folder, &st), 0);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        skip(); /* somebody else's build: nothing there is trusted */
    snprintf(name, sizeof name, "beside-%d", (int)getpid());
    assert_false(hac_program_file_beside(&here, name, path));
    put(name, 0700);
    snprintf(expected, sizeof expected, "%s/%s", folder, name);
    assert_true(hac_program_file_beside(&here, name, path));
    assert_string_equal(path, expected);

    char up[128];
    snprintf(up, sizeof up, "../%s/%s", strrchr(folder, '/') + 1, name);
    assert_true(hac_program_file_beside(&here, up, path));
    assert_string_equal(path, expected);

    /* what anybody may write to is not taken, nor what stands in a folder that anybody may write to */
    put(name, 0702);
    assert_false(hac_program_file_beside(&here, name, path));
    put(name, 0700);
    if (geteuid() == 0) {
        assert_int_equal(chown(expected, 65533, (gid_t)-1), 0);
        assert_false(hac_program_file_beside(&here, name, path));
    }
    assert_int_equal(unlink(expected), 0);
    snprintf(link, sizeof link, "%s/%s", folder, name);
    assert_int_equal(symlink("/nonexistent", link), 0);
    assert_false(hac_program_file_beside(&here, name, path));
    assert_int_equal(unlink(link), 0);
}

static void test_long(void **state)
{
    (void)state;
    char name[PATH_MAX], path[PATH_MAX];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_false(hac_program_file_beside(&here, name, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
