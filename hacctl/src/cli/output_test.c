/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "interrupt.h"

static char folder[PATH_MAX];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/hacctl-output-XXXXXX");
    return mkdtemp(folder) == NULL || chdir(folder) < 0;
}

static size_t count_files(bool delete)
{
    DIR *directory = opendir(folder);
    size_t n = 0;
    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        n++;
        if (delete)
            assert_int_equal(unlink(entry->d_name), 0);
    }
    closedir(directory);
    return n;
}

static int tear_down(void **state)
{
    (void)state;
    count_files(true);
    return chdir("/") < 0 || rmdir(folder) < 0;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *name, const char *text)
{
    char seen[256] = "";
    FILE *file = fopen(name, "re");
    assert_non_null(file);
    size_t n = fread(seen, 1, sizeof seen - 1, file);
    seen[n] = '\0';
    fclose(file);
    assert_string_equal(seen, text);
}

/* Writes a complete output. */
static void write_out(const char *name, const char *text)
{
    hac_output_file *output = NULL;
    assert_int_equal(hac_output_open(name, &output, NULL), HAC_OK);
    assert_int_equal(hac_output_write(output, text, strlen(text), NULL), HAC_OK);
    assert_int_equal(hac_output_commit(output, NULL), HAC_OK);
    hac_output_free(output);
}

static void assert_is_link(const char *name)
{
    struct stat st;
    assert_int_equal(lstat(name, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static void appears_when_whole(void **state)
{
    hac_output_file *output = NULL;
    struct stat st;
    (void)state;
    umask(027);
    assert_int_equal(hac_output_open("out", &output, NULL), HAC_OK);
    assert_int_equal(hac_output_reserve(output, 1 << 20, NULL), HAC_OK);
    assert_int_equal(hac_output_write(output, "hello ", 6, NULL), HAC_OK);
    assert_int_equal(hac_output_write_text(output, "world", NULL), HAC_OK);
    assert_int_equal(access("out", F_OK), -1);
    assert_int_equal(count_files(false), 1);
    assert_int_equal(hac_output_commit(output, NULL), HAC_OK);
    hac_output_free(output);
    assert_holds("out", "hello world\n");
    assert_int_equal(count_files(false), 1);
    assert_int_equal(stat("out", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(st.st_size, 12);
    assert_true(st.st_blocks <= 64); /* the reserved room is given back */
}

static void without_commit_nothing_changes(void **state)
{
    hac_output_file *output = NULL;
    (void)state;
    put("out", "before");
    assert_int_equal(hac_output_open("out", &output, NULL), HAC_OK);
    assert_int_equal(hac_output_write(output, "after", 5, NULL), HAC_OK);
    hac_output_free(output);
    assert_holds("out", "before");
    assert_int_equal(count_files(false), 1);
}

static void replaces_and_keeps_permissions(void **state)
{
    struct stat st;
    (void)state;
    put("target", "before");
    assert_int_equal(chmod("target", 0600), 0);
    assert_int_equal(symlink("target", "link"), 0);
    write_out("link", "after");
    assert_holds("target", "after");
    assert_is_link("link");
    assert_int_equal(stat("target", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* A link to a file that does not exist stays, and the file is created where the link leads. */
static void is_made_behind_links(void **state)
{
    hac_output_file *output = NULL;
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    assert_int_equal(symlink("second", "first"), 0);
    assert_int_equal(symlink("./new", "second"), 0);
    write_out("first", "new");
    assert_holds("new", "new");
    assert_is_link("first");
    assert_is_link("second");
    assert_int_equal(symlink("nowhere/new", "lost"), 0);
    assert_int_equal(hac_output_open("lost", &output, &err), HAC_FAILED);
    assert_string_equal(err.message, "lost: No such file or directory");
}

static mode_t too_wide; /* permissions that a file had before its mode was set */

/* Replaces libc's fchmod. */
int fchmod(int fd, mode_t mode)
{
    struct stat st;
    if (fstat(fd, &st) == 0)
        too_wide |= st.st_mode & 0777 & ~mode;
    return (int)syscall(SYS_fchmod, fd, mode);
}

/* Whatever the process's umask, no other user may ever open the file. */
static void is_never_wider(void **state)
{
    static const mode_t modes[] = {0600, 0640, 0660, 0604, 0666};
    struct stat st;
    (void)state;
    mode_t before = umask(0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        put("out", "before");
        assert_int_equal(chmod("out", modes[i]), 0);
        write_out("out", "after");
        assert_int_equal(stat("out", &st), 0);
        assert_int_equal(st.st_mode & 0777, modes[i]);
    }
    assert_int_equal(too_wide, 0);
    umask(before);
}

/* A file that root replaces keeps its owner. */
static void keeps_its_owner(void **state)
{
    struct stat st;
    (void)state;
    if (geteuid() != 0)
        skip();
    put("out", "before");
    assert_int_equal(chown("out", 12345, 54321), 0);
    assert_int_equal(chmod("out", 0640), 0);
    write_out("out", "after");
    assert_int_equal(stat("out", &st), 0);
    assert_int_equal(st.st_uid, 12345);
    assert_int_equal(st.st_gid, 54321);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void long_names(void **state)
{
    char name[NAME_MAX + 2];
    hac_output_file *output = NULL;
    (void)state;
    memset(name, 'n', sizeof name);
    name[NAME_MAX] = '\0';
    assert_int_equal(hac_output_open(name, &output, NULL), HAC_OK);
    assert_int_equal(hac_output_commit(output, NULL), HAC_OK);
    hac_output_free(output);
    assert_int_equal(access(name, F_OK), 0);
}

static void straight_into_a_fifo(void **state)
{
    char seen[8] = "";
    hac_output_file *output = NULL;
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(hac_output_open("pipe", &output, NULL), HAC_OK);
    assert_int_equal(hac_output_write(output, "abc", 3, NULL), HAC_OK);
    assert_int_equal(read(reader, seen, sizeof seen), 3);
    assert_string_equal(seen, "abc");
    close(reader);
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_output_write(output, "abc", 3, &err), HAC_FAILED);
    assert_string_equal(err.message, "pipe: the reader has gone (broken pipe)");
    hac_output_free(output);
    assert_int_equal(count_files(false), 1);
}

static void devices_and_descriptors(void **state)
{
    hac_output_file *output = NULL;
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    write_out("/dev/null", "x");
    assert_int_equal(hac_output_open("/dev/full", &output, NULL), HAC_OK);
    assert_int_equal(hac_output_write(output, "x", 1, &err), HAC_FAILED);
    assert_string_equal(err.message, "/dev/full: no space left on device (after 0 bytes)");
    hac_output_free(output);
    /* a descriptor keeps its position */
    char path[32];
    put("log", "");
    int fd = open("log", O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(fd, "one ", 4), 4);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    write_out(path, "two");
    close(fd);
    assert_holds("log", "one two");
}

static void refuses(void **state)
{
    static const struct {
        const char *path, *message;
    } cases[] = {{".", ".: Is a directory"},
                 {"nowhere/out", "nowhere/out: No such file or directory"},
                 {"new/", "new/: is a directory"},
                 {"file/out", "file/out: Not a directory"},
                 {"/dev/fd/77", "/dev/fd/77: Bad file descriptor"}};
    (void)state;
    put("file", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_output_file *output = NULL;
        hac_error err = HAC_ERROR_NONE;
        assert_int_equal(hac_output_open(cases[i].path, &output, &err), HAC_FAILED);
        assert_string_equal(err.message, cases[i].message);
        assert_null(output);
    }
    assert_int_equal(count_files(false), 1);
}

/* A limit of the file size acts as a full disk: the write fails half way. */
static void a_failed_write_leaves_nothing(void **state)
{
    struct rlimit before, small = {4096, RLIM_INFINITY};
    static char data[65536];
    hac_output_file *output = NULL;
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    put("out", "before");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(hac_output_open("out", &output, NULL), HAC_OK);
    assert_int_equal(hac_output_write(output, data, sizeof data, &err), HAC_FAILED);
    hac_output_free(output);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_string_equal(err.message,
                        "out: file too large for this process or file system (65536 bytes to write); "
                        "nothing was written to it");
    assert_holds("out", "before");
    assert_int_equal(count_files(false), 1);
}

/* Asks for more room than any disk has. */
static void a_full_disk_is_found_out_early(void **state)
{
    hac_output_file *output = NULL;
    hac_error err = HAC_ERROR_NONE;
    (void)state;
    assert_int_equal(hac_output_open("out", &output, NULL), HAC_OK);
    hac_status status = hac_output_reserve(output, UINT64_C(1) << 50, &err);
    hac_output_free(output);
    if (status == HAC_OK) /* a file system that cannot reserve room */
        skip();
    assert_int_equal(status, HAC_FAILED);
    assert_non_null(strstr(err.message, "nothing was written"));
    assert_int_equal(count_files(false), 0);
}

/* The child waits with its temporary file open until a signal comes. */
static void a_signal_removes_the_temporary_file(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    (void)state;
    put("out", "before");
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        int ready[2], told[2];
        char byte;
        assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
        assert_int_equal(pipe2(told, O_CLOEXEC), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            hac_output_file *output = NULL;
            dup2(told[1], STDERR_FILENO);
            if (hac_interrupt_install(NULL) != HAC_OK || hac_output_open("out", &output, NULL) != HAC_OK ||
                hac_output_write(output, "half", 4, NULL) != HAC_OK || write(ready[1], "r", 1) != 1)
                _exit(99);
            for (;;)
                pause();
        }
        assert_int_equal(read(ready[0], &byte, 1), 1);
        assert_int_equal(count_files(false), 2);
        int status;
        char said[64] = "";
        assert_int_equal(kill(child, signals[i]), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 130);
        assert_true(read(told[0], said, sizeof said - 1) > 0);
        assert_string_equal(said, "hacctl: cancelled\n");
        assert_int_equal(count_files(false), 1);
        assert_holds("out", "before");
        for (int j = 0; j < 2; j++) {
            close(ready[j]);
            close(told[j]);
        }
    }
}

int main(void)
{
    /* as hac_interrupt_install does */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(appears_when_whole),
        TEST(without_commit_nothing_changes),
        TEST(replaces_and_keeps_permissions),
        TEST(is_made_behind_links),
        TEST(is_never_wider),
        TEST(keeps_its_owner),
        TEST(long_names),
        TEST(straight_into_a_fifo),
        TEST(devices_and_descriptors),
        TEST(refuses),
        TEST(a_failed_write_leaves_nothing),
        TEST(a_full_disk_is_found_out_early),
        TEST(a_signal_removes_the_temporary_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
