/* SPDX-License-Identifier: Apache-2.0 */
#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/processors.h"
#include "base/program_folder.h"
#include "base/test_support.h"

static void assert_path(hac_user_folder folder, const char *name, const char *path)
{
    char found[64];
    assert_int_equal(hac_user_path(folder, name, found, sizeof found), 0);
    assert_string_equal(found, path);
}

static void test_user_paths(void **state)
{
    (void)state;
    char small[12];
    unsetenv("XDG_STATE_HOME");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("XDG_CONFIG_HOME");
    setenv("XDG_DATA_HOME", "relative", 1); /* the specification: such a value does not count */
    setenv("HOME", "/home/a", 1);
    assert_path(HAC_FOLDER_STATE, "hacd.log", "/home/a/.local/state/hac/hacd.log");
    assert_path(HAC_FOLDER_CACHE, NULL, "/home/a/.cache/hac");
    assert_path(HAC_FOLDER_CONFIG, NULL, "/home/a/.config/hac");
    assert_path(HAC_FOLDER_DATA, "opsplit", "/home/a/.local/share/hac/opsplit");
    setenv("XDG_STATE_HOME", "/state", 1);
    assert_path(HAC_FOLDER_STATE, NULL, "/state/hac");
    assert_int_equal(hac_user_path(HAC_FOLDER_STATE, "1", small, sizeof small), ENAMETOOLONG);
    assert_int_equal(hac_user_path(HAC_FOLDER_STATE, NULL, small, sizeof small), 0);
    setenv("HOME", "", 1);
    assert_int_equal(hac_user_path(HAC_FOLDER_CACHE, NULL, small, sizeof small), ENOENT);
    assert_false(hac_temporary_path("/tmp/abcdefgh", small, sizeof small));
}

static void test_make_folders(void **state)
{
    (void)state;
    char top[] = "/tmp/hac-paths-XXXXXX", path[64], expected[64];
    struct stat st;
    assert_non_null(mkdtemp(top));
    snprintf(path, sizeof path, "%s/a/b/c", top);
    assert_int_equal(hac_make_folders(path), 0);
    assert_int_equal(hac_make_folders(path), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(rmdir(path), 0);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    strcpy(expected, path);
    strcat(path, "/d/e");
    assert_int_equal(hac_make_folders(path), ENOTDIR);
    assert_string_equal(path, expected);
    assert_int_equal(unlink(path), 0);
    for (int i = 0; i < 3; i++) {
        *strrchr(path, '/') = '\0';
        assert_int_equal(rmdir(path), 0);
    }
}

static void test_programs(void **state)
{
    (void)state;
    static const int here;
    static const char *const beside[] = {"nowhere", "."};
    char folder[PATH_MAX], path[PATH_MAX];
    unsetenv("HAC_LIBEXEC");
    assert_true(hac_program_find(&here, beside, 2, "/lib", "no-such-program", path));
    assert_string_equal(path, "/lib/no-such-program");
    assert_true(hac_program_folder(&here, folder));
    assert_true(hac_program_find(&here, beside, 2, "/lib", "base_paths_test", path));
    assert_true(strcmp(path, "/lib/base_paths_test") == 0 || strncmp(path, folder, strlen(folder)) == 0);
    setenv("HAC_LIBEXEC", "/else", 1);
    assert_true(hac_program_find(&here, beside, 2, "/lib", "base_paths_test", path));
    assert_string_equal(path, "/else/base_paths_test");
    setenv("HAC_LIBEXEC", "", 1);
    assert_true(hac_program_find(&here, beside, 0, "/lib", "hacd", path));
    assert_string_equal(path, "/lib/hacd");
}

static void test_processors(void **state)
{
    (void)state;
    cpu_set_t all, one;
    unsigned n = hac_processors(&all);
    assert_true(n >= 1 && n == (unsigned)CPU_COUNT(&all));
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all)) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
            assert_int_equal(hac_processors(NULL), 1);
            break;
        }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_user_paths),
        cmocka_unit_test(test_make_folders),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
