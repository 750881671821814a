/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/test_support.h"

static char *new_folder(void)
{
    static char folder[32];
    strcpy(folder, "/tmp/hac-io-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    return folder;
}

static void test_whole_pieces(void **state)
{
    (void)state;
    char *folder = new_folder(), back[16] = "";
    uint64_t done = 99;
    int fd = open("f", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(hac_write_all(fd, "abcdef", 6, NULL), 0);
    assert_int_equal(hac_pwrite_all(fd, "XY", 2, 2), 0);
    assert_int_equal(hac_pread_all(fd, back, 6, 0, &done, NULL), 0);
    assert_int_equal(done, 6);
    assert_string_equal(back, "abXYef");
    assert_int_equal(hac_pread_all(fd, back, 6, 4, &done, NULL), 0); /* the end comes first */
    assert_int_equal(done, 2);
    assert_int_equal(hac_pread_all(fd, back, 6, 100, &done, NULL), 0);
    assert_int_equal(done, 0);
    close(fd);
    fd = hac_open_read("f");
    assert_true(fd >= 0);
    assert_int_equal(hac_write_all(fd, "a", 1, NULL), EBADF);
    assert_int_equal(hac_pwrite_all(fd, "a", 1, 0), EBADF);
    close(fd);
    fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(hac_pread_all(fd, back, 1, 0, &done, NULL), EISDIR);
    assert_int_equal(done, 0);
    close(fd);
    assert_int_equal(unlink("f"), 0);
    assert_int_equal(rmdir(folder), 0);
}

static bool size_is_known(const char *path)
{
    struct stat st;
    hac_autoclose int fd = hac_open_read(path);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    return hac_size_is_known(fd, &st);
}

static void test_sizes(void **state)
{
    (void)state;
    char *folder = new_folder();
    close(open("empty", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_true(size_is_known("empty"));
    assert_true(size_is_known("/proc/self/exe"));
    assert_false(size_is_known("/proc/self/status"));
    assert_false(size_is_known("fifo")); /* opening it does not wait */
    assert_false(size_is_known("/dev/null"));
    assert_false(size_is_known("."));
    assert_int_equal(unlink("empty") + unlink("fifo") + rmdir(folder), 0);
}

static void assert_content(const char *path, const char *content)
{
    char back[16] = "";
    uint64_t done;
    hac_autoclose int fd = hac_open_read(path);
    assert_int_equal(hac_pread_all(fd, back, sizeof back - 1, 0, &done, NULL), 0);
    assert_string_equal(back, content);
}

static void test_replace(void **state)
{
    (void)state;
    static const hac_replace_points points = {NULL, NULL, NULL};
    char *folder = new_folder();
    struct stat st;
    assert_int_equal(hac_replace_file(AT_FDCWD, "new", "f", "one", 3, &points), 0);
    assert_content("f", "one");
    assert_int_equal(stat("f", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(mkfifo("new", 0600), 0); /* is not waited for */
    assert_int_equal(hac_replace_file(AT_FDCWD, "new", "f", "two", 3, &points), 0);
    assert_content("f", "two");
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(hac_replace_file(AT_FDCWD, "new", "folder", "two", 3, &points), EISDIR);
    assert_int_equal(access("new", F_OK), -1);
    assert_int_equal(mkdir("new", 0700), 0);
    assert_int_equal(hac_replace_file(AT_FDCWD, "new", "f", "three", 5, &points), EEXIST);
    assert_content("f", "two");
    assert_int_equal(hac_replace_file(AT_FDCWD, "none/new", "f", "three", 5, &points), ENOENT);
    assert_int_equal(rmdir("new") + rmdir("folder") + unlink("f") + rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_pieces),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_replace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
