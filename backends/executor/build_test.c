/* SPDX-License-Identifier: Apache-2.0 */
/* The builder from outside. Needs PoCL. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/test_child.h"

/* The path of the only program whose name starts with `prefix`, malloc'ed; NULL: none. */
static char *find_file(const char *prefix)
{
    char *found = NULL;
    DIR *outer = opendir(test_defaults.program_directory);
    assert_non_null(outer);
    for (struct dirent *d; (d = readdir(outer)) != NULL;) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", test_defaults.program_directory, d->d_name);
        DIR *inner = d->d_name[0] == '.' ? NULL : opendir(path);
        for (struct dirent *f; inner != NULL && (f = readdir(inner)) != NULL;)
            if (strncmp(f->d_name, prefix, strlen(prefix)) == 0) {
                assert_null(found);
                assert_true(asprintf(&found, "%s/%s", path, f->d_name) > 0);
            }
        if (inner != NULL)
            closedir(inner);
    }
    closedir(outer);
    return found;
}

static void test_first_and_second(void **state)
{
    (void)state;
    double first = test_build(&test_defaults, (const char *[]){"selftest"}, 1);
    hac_autofree char *file = find_file("selftest-");
    assert_non_null(file);
    assert_null(find_file("selftest.attempts"));
    double second = test_build(&test_defaults, (const char *[]){"selftest"}, 1);
    print_message("selftest: built in %.0f ms, found in %.0f ms\n", first * 1e3, second * 1e3);
}

static void damage(const char *path, long keep, int flip_at)
{
    hac_autofclose FILE *file = fopen(path, "r+e");
    assert_non_null(file);
    if (keep >= 0)
        assert_int_equal(ftruncate(fileno(file), keep), 0);
    if (flip_at >= 0) {
        assert_int_equal(fseek(file, flip_at, SEEK_SET), 0);
        int c = fgetc(file);
        assert_int_equal(fseek(file, flip_at, SEEK_SET), 0);
        assert_true(fputc(c ^ 0x10, file) != EOF);
    }
}

static long size_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

/* Whatever happens to a file, it is made again; nothing crashes. */
static void test_damaged_files(void **state)
{
    (void)state;
    test_build(&test_defaults, (const char *[]){"selftest"}, 1);
    hac_autofree char *file = find_file("selftest-");
    long size = size_of(file);
    const struct {
        long keep;
        int flip_at;
    } cases[] = {{0, -1},
                 {1, -1},
                 {39, -1},
                 {40, -1},
                 {size - 1, -1},
                 {-1, 0},
                 {-1, 8},
                 {-1, 16},
                 {-1, 20},
                 {-1, 24},
                 {-1, 32},
                 {-1, 41},
                 {-1, (int)size / 2},
                 {-1, (int)size - 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        damage(file, cases[i].keep, cases[i].flip_at);
        test_build(&test_defaults, (const char *[]){"selftest"}, 1);
        assert_int_equal(size_of(file), size);
    }
    assert_int_equal(chmod(file, 0622), 0); /* somebody else could have written it */
    test_build(&test_defaults, (const char *[]){"selftest"}, 1);
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_unknown_program(void **state)
{
    (void)state;
    test_child *child = test_start("--build");
    test_send_setup(child, &test_defaults);
    test_send_build(child, (const char *[]){"no.such"}, 1);
    assert_non_null(strstr(test_expect(child, HAC__EXECUTOR__REPORT__WHAT_FATAL)->fatal, "no.such"));
    assert_int_equal(WEXITSTATUS(test_wait(child)), 1);
    test_child_free(child);
}

/* The driver's folder is full: the message says so, and not only that a program cannot be built. */
static void test_full(void **state)
{
    (void)state;
    test_setup setup = test_defaults;
    char *program = test_make_directory(), *scratch = test_make_directory();
    setup.program_directory = program;
    setup.scratch_directory = scratch;
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", scratch, "tmpfs", 0, "size=16k") != 0)
        skip(); /* needs root */
    static const char some[16 << 10];
    hac_autofree char *filler = NULL;
    assert_true(asprintf(&filler, "%s/filler", scratch) > 0);
    hac_autoclose int fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (write(fd, some, sizeof some) > 0)
        ;
    hac_closep(&fd);
    test_child *child = test_start("--build");
    test_send_setup(child, &setup);
    test_send_build(child, (const char *[]){"selftest"}, 1);
    const Hac__Executor__Built *built = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILT)->built;
    print_message("%s\n", built->message);
    assert_int_equal(built->code, HAC_DEVICE);
    char says[1024];
    snprintf(says, sizeof says, "no space left in %s, where the driver writes: ", scratch);
    assert_memory_equal(built->message, says, strlen(says));
    test_end(child);
    assert_int_equal(umount(scratch), 0);
    test_remove_directory(program);
    test_remove_directory(scratch);
}

/* A program that has ended its builder three times is given up; the others are built. */
static void test_attempts(void **state)
{
    (void)state;
    test_build(&test_defaults, (const char *[]){"selftest"}, 1);
    hac_autofree char *file = find_file("selftest-");
    hac_autofree char *attempts = NULL;
    assert_true(asprintf(&attempts, "%.*s/selftest.attempts", (int)(strrchr(file, '/') - file), file) > 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(unlink(file), 0);
        hac_autofclose FILE *f = fopen(attempts, "we");
        fprintf(f, "%d\n", i);
        fflush(f);
        test_build(&test_defaults, (const char *[]){"selftest"}, 1);
        assert_int_not_equal(access(attempts, F_OK), 0);
    }
    assert_int_equal(unlink(file), 0);
    hac_autofclose FILE *f = fopen(attempts, "we");
    fprintf(f, "3\n");
    fflush(f);
    test_child *child = test_start("--build");
    test_send_setup(child, &test_defaults);
    test_send_build(child, (const char *[]){"selftest"}, 1);
    Hac__Executor__Built *built = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILT)->built;
    assert_int_equal(built->code, HAC_DEVICE);
    assert_non_null(strstr(built->message, "3 times"));
    Hac__Executor__Report *end = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILD_END);
    assert_non_null(strstr(end->build_end->self_test, "3 times"));
    assert_int_equal(test_end(child), 0);
    assert_int_equal(unlink(attempts), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_and_second),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_unknown_program),
        cmocka_unit_test(test_attempts),
        cmocka_unit_test(test_full), /* last, since it leaves the common mount namespace */
    };
    return cmocka_run_group_tests(tests, test_make_directories, test_remove_directories);
}
