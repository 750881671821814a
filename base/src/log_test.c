/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/test_support.h"

/* Standard error, replaced while a test looks at what the log writes there. */
typedef struct capture {
    int saved, reader;
} capture;

static capture capture_start(int reader, int writer)
{
    capture c = {fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0), reader};
    dup2(writer, STDERR_FILENO);
    close(writer);
    fcntl(reader, F_SETFL, O_NONBLOCK);
    return c;
}

static void capture_end(capture *c)
{
    dup2(c->saved, STDERR_FILENO);
    close(c->saved);
    if (c->reader >= 0)
        close(c->reader);
}

static capture capture_pipe(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        abort();
    return capture_start(ends[0], ends[1]);
}

/* What has been written so far; the caller frees it. */
static char *drain(const capture *c)
{
    size_t used = 0, room = 4 * 1024 * 1024;
    char *text = malloc(room);
    ssize_t n;
    while (text != NULL && used + 1 < room && (n = read(c->reader, text + used, room - used - 1)) > 0)
        used += (size_t)n;
    text[used] = '\0';
    return text;
}

static void test_format_and_levels(void **state)
{
    (void)state;
    capture c = capture_pipe();
    hac_log_init("hacd", HAC_LOG_INFO);
    hac_log(HAC_LOG_INFO, "listening on %s", "/run/hac");
    hac_log(HAC_LOG_DEBUG, "not shown");
    hac_log_set_level(HAC_LOG_DEBUG);
    hac_log(HAC_LOG_DEBUG, "shown");
    hac_log((hac_log_level)17, "no such level");
    hac_log(HAC_LOG_ERROR, "user says \"%s\"", "two\nlines\x1b[2J\xff");
    hac_autofree char *text = drain(&c);
    capture_end(&c);
    assert_string_equal(text, "info hacd: listening on /run/hac\ndebug hacd: shown\n"
                              "error hacd: user says \"two lines [2J?\"\n");
}

static void test_long_lines_are_cut(void **state)
{
    (void)state;
    static char message[10000];
    memset(message, 'x', sizeof message - 1);
    capture c = capture_pipe();
    hac_log_init("a component with a name of more than sixty-four bytes, which is cut", HAC_LOG_INFO);
    hac_log(HAC_LOG_WARNING, "%s", message);
    hac_log(HAC_LOG_WARNING, "next");
    hac_autofree char *text = drain(&c);
    capture_end(&c);
    char *end = strchr(text, '\n');
    assert_non_null(end);
    assert_true(end - text > 1800 && end - text < 2048);
    assert_non_null(strstr(end, ": next\n"));
}

static void test_journal_prefix(void **state)
{
    (void)state;
    capture c = capture_pipe();
    struct stat st;
    char stream[64];
    fstat(STDERR_FILENO, &st);
    snprintf(stream, sizeof stream, "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    hac_log_init("hacd", HAC_LOG_INFO);
    hac_log(HAC_LOG_WARNING, "careful");
    setenv("JOURNAL_STREAM", "1:1", 1);
    hac_log_init("hacd", HAC_LOG_INFO);
    hac_log(HAC_LOG_WARNING, "elsewhere");
    unsetenv("JOURNAL_STREAM");
    hac_autofree char *text = drain(&c);
    capture_end(&c);
    assert_string_equal(text, "<4>warning hacd: careful\nwarning hacd: elsewhere\n");
}

/* 20,000 lines into something that nobody reads: returns at once, says later how many are missing. */
static void check_never_blocks(capture c, const char *what)
{
    enum { LINES = 20000 };
    hac_log_init("hacd", HAC_LOG_INFO);
    uint64_t start = hac_now_ns();
    for (int i = 0; i < LINES; i++)
        hac_log(HAC_LOG_INFO, "line %d of many, so that whatever takes them is full before the end", i);
    double seconds = hac_seconds_since(start);
    hac_autofree char *first = drain(&c);
    hac_log(HAC_LOG_INFO, "there is room again");
    hac_autofree char *then = drain(&c);
    capture_end(&c);
    assert_true(seconds < 5);
    size_t lines = 0;
    for (const char *at = first; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_true(lines > 100 && lines < LINES);
    char wanted[160];
    snprintf(wanted, sizeof wanted,
             "warning hacd: %zu lines of this log could not be written and are missing\n"
             "info hacd: there is room again\n",
             LINES - lines);
    if (strcmp(then, wanted) != 0)
        fail_msg("%s: \"%s\"", what, then);
}

static void test_full_pipe(void **state)
{
    (void)state;
    check_never_blocks(capture_pipe(), "pipe");
}

static void test_full_socket(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    check_never_blocks(capture_start(ends[0], ends[1]), "socket");
}

static void test_reader_gone(void **state)
{
    (void)state;
    capture c = capture_pipe(); /* SIGPIPE would end the test */
    close(c.reader);
    c.reader = -1;
    hac_log_init("hacd", HAC_LOG_INFO);
    for (int i = 0; i < 100; i++)
        hac_log(HAC_LOG_INFO, "nobody reads this");
    capture_end(&c);
}

static void test_closed_descriptor(void **state)
{
    (void)state;
    capture c = capture_pipe();
    close(STDERR_FILENO);
    hac_log(HAC_LOG_INFO, "there is no standard error");
    capture_end(&c);
}

static void *write_lines(void *context)
{
    for (int i = 0; i < 200; i++)
        hac_log(HAC_LOG_INFO, "thread %s line %03d", (const char *)context, i);
    return NULL;
}

static void test_threads_keep_lines_whole(void **state)
{
    (void)state;
    capture c = capture_pipe();
    hac_log_init("hacd", HAC_LOG_INFO);
    hac_log(HAC_LOG_INFO, "first"); /* takes the count of earlier drops along */
    free(drain(&c));
    pthread_t threads[3];
    static char names[3][2] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, names[i]), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    hac_autofree char *text = drain(&c);
    capture_end(&c);
    const char *line = text;
    for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        assert_int_equal(end - line, strlen("info hacd: thread a line 000"));
    assert_int_equal(*line, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_and_levels), cmocka_unit_test(test_long_lines_are_cut),
        cmocka_unit_test(test_journal_prefix),    cmocka_unit_test(test_full_pipe),
        cmocka_unit_test(test_full_socket),       cmocka_unit_test(test_reader_gone),
        cmocka_unit_test(test_closed_descriptor), cmocka_unit_test(test_threads_keep_lines_whole),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
