/* SPDX-License-Identifier: Apache-2.0 */
/* What splice and pipe read: names, formats, sizes, and opening one input at a time. */
#include "split_input.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/hac-test-XXXXXX";
static hac_split_input input;

static int set_up(void **state)
{
    static const char *const names[] = {"a.csv", "b.CSV", "c.jsonl.gz", "d.csv.zst", "e", "f.csv"};
    (void)state;
    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        FILE *file = fopen(names[i], "w");
        if (file == NULL || (strcmp(names[i], "e") != 0 && fputs("x\n1\n", file) < 0) || fclose(file) != 0)
            return -1;
    }
    FILE *file = fopen("f.csv", "w"); /* gzip, despite its name */
    return file == NULL ||
                   fputs("\x1f\x8b\x08\x08"
                         "and more",
                         file) < 0 ||
                   fclose(file) != 0
               ? -1
               : mkdir("folder", 0700) | mkfifo("pipe", 0600);
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static hac_status name(hac_input_format format, hac_error *err, const char *const *words)
{
    size_t n = 0;
    while (words[n] != NULL)
        n++;
    return hac_split_input_name(&input, "splice", (char *const *)(uintptr_t)words, n, format, err);
}

#define NAME(format, ...) name_well(format, (const char *const[]){__VA_ARGS__, NULL})
#define BAD(status, says, format, ...)                                                                       \
    name_badly(status, says, format, (const char *const[]){__VA_ARGS__, NULL})

static hac_input_format name_well(hac_input_format format, const char *const *words)
{
    hac_error err = HAC_ERROR_NONE;
    if (name(format, &err, words) != HAC_OK)
        fail_msg("%s", err.message);
    return input.format;
}

static void name_badly(hac_status status, const char *says, hac_input_format format, const char *const *words)
{
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(name(format, &err, words), status);
    if (strstr(err.message, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.message, says);
}

static void names(void **state)
{
    (void)state;
    assert_int_equal(NAME(HAC_INPUT_NONE, "a.csv", "b.CSV", "d.csv.zst"), HAC_INPUT_CSV);
    assert_int_equal(NAME(HAC_INPUT_NONE, "c.jsonl.gz"), HAC_INPUT_JSONL);
    assert_int_equal(NAME(HAC_INPUT_NONE, "-", "a.csv"), HAC_INPUT_CSV);
    assert_int_equal(NAME(HAC_INPUT_WORDS, "-", "e", "pipe"), HAC_INPUT_WORDS);
    assert_int_equal(NAME(HAC_INPUT_NONE, "e"), HAC_INPUT_CSV); /* an empty file */
    BAD(HAC_INVALID, "how is pipe to be read?", HAC_INPUT_NONE, "pipe");
    BAD(HAC_INVALID, "a.csv is csv, and c.jsonl.gz is jsonl", HAC_INPUT_NONE, "a.csv", "c.jsonl.gz");
    BAD(HAC_INVALID, "can be read once only", HAC_INPUT_CSV, "-", "a.csv", "-");
    BAD(HAC_INVALID, "folder is a folder; name the files in it, for example folder/*", HAC_INPUT_NONE,
        "a.csv", "folder");
    BAD(HAC_INVALID, "Parquet files are not a stream", HAC_INPUT_PARQUET, "a.csv");
    BAD(HAC_FAILED, "nowhere: No such file", HAC_INPUT_CSV, "a.csv", "nowhere");
    name_badly(HAC_INVALID, "of which files?", HAC_INPUT_CSV, (const char *const[]){NULL});
}

static void opening(void **state)
{
    hac_error err = HAC_ERROR_NONE;
    char bytes[4];
    int fd = -1;
    const char *called = NULL;
    (void)state;
    NAME(HAC_INPUT_CSV, "-", "a.csv", "b.CSV");
    assert_int_equal(hac_split_input_open(&input, 0, &fd, &called, &err), HAC_OK);
    assert_string_equal(called, "standard input");
    assert_int_equal(close(fd), 0);
    assert_int_equal(hac_split_input_open(&input, 1, &fd, &called, &err), HAC_OK);
    assert_string_equal(called, "a.csv");
    assert_int_equal(read(fd, bytes, sizeof bytes), 4);
    assert_int_equal(close(fd), 0);
    assert_int_equal(rename("b.CSV", "gone"), 0);
    assert_int_equal(hac_split_input_open(&input, 2, &fd, &called, &err), HAC_FAILED);
    assert_string_equal(err.message, "b.CSV: No such file or directory");
    assert_int_equal(rename("gone", "b.CSV"), 0);
}

static void assert_bytes(uint64_t expected)
{
    uint64_t bytes = 0;
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_split_input_bytes(&input, "explain", &bytes, &err);
    assert_int_equal(status, expected == UINT64_MAX ? HAC_INVALID : HAC_OK);
    if (status == HAC_OK)
        assert_int_equal(bytes, expected);
    else
        assert_non_null(strstr(err.message, "say --input-size SIZE"));
}

static void sizes(void **state)
{
    (void)state;
    NAME(HAC_INPUT_CSV, "a.csv", "b.CSV", "e");
    assert_bytes(8);
    NAME(HAC_INPUT_CSV, "a.csv", "f.csv");
    assert_bytes(UINT64_MAX);
    NAME(HAC_INPUT_FIXED, "a.csv", "f.csv"); /* numbers may begin like gzip */
    assert_bytes(4 + 12);
    NAME(HAC_INPUT_CSV, "a.csv", "pipe");
    assert_bytes(UINT64_MAX);
    NAME(HAC_INPUT_LINES, "/proc/self/status");
    assert_bytes(UINT64_MAX);
    int before = dup(STDIN_FILENO);
    assert_non_null(freopen("a.csv", "r", stdin));
    NAME(HAC_INPUT_CSV, "-");
    assert_int_equal(lseek(STDIN_FILENO, 1, SEEK_SET), 1);
    assert_bytes(3);
    assert_int_equal(dup2(before, STDIN_FILENO), STDIN_FILENO);
    close(before);
}

static atomic_bool opened;

static void *open_to_write(void *context)
{
    (void)context;
    int fd = open("pipe", O_WRONLY | O_CLOEXEC);
    opened = true;
    close(fd);
    return NULL;
}

/* A process that writes to a pipe does not notice that its size was asked for. */
static void size_of_a_pipe(void **state)
{
    pthread_t writer;
    (void)state;
    NAME(HAC_INPUT_CSV, "pipe");
    assert_int_equal(pthread_create(&writer, NULL, open_to_write, NULL), 0);
    usleep(50000);
    assert_bytes(UINT64_MAX);
    usleep(50000);
    assert_false(opened);
    int fd = open("pipe", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pthread_join(writer, NULL), 0);
    close(fd);
}

static void titles(void **state)
{
    char title[64];
    (void)state;
    NAME(HAC_INPUT_CSV, "a.csv");
    hac_split_input_title(&input, title, sizeof title);
    assert_string_equal(title, "a.csv");
    NAME(HAC_INPUT_CSV, "-", "a.csv", "e");
    hac_split_input_title(&input, title, sizeof title);
    assert_string_equal(title, "standard input and 2 more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),          cmocka_unit_test(opening), cmocka_unit_test(sizes),
        cmocka_unit_test(size_of_a_pipe), cmocka_unit_test(titles),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
