/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/test_support.h"
#include "log_limit.h"

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
    size_t used = 0, capacity = 4 * 1024 * 1024;
    char *text = malloc(capacity);
    ssize_t n;
    while (text != NULL && used + 1 < capacity && (n = read(c->reader, text + used, capacity - used - 1)) > 0)
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
    assert_true(end - text > 1700 && end - text < 2048);
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
             "warning hacd: %zu records of this log could not be written and are missing [records-lost]\n"
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

/* ---- the journal ---- */

/* A socket as the journal's, which the log writes to from now on. */
static int fake_journal(char *ret_path, size_t capacity)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(ret_path, capacity, "/tmp/hac-log-test-%d", (int)getpid());
    snprintf(address.sun_path, sizeof address.sun_path, "%s", ret_path);
    unlink(ret_path);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    setenv("HAC_JOURNAL_SOCKET", ret_path, 1);
    hac_log_init("hacd", HAC_LOG_INFO);
    hac_log_to_journal();
    unsetenv("HAC_JOURNAL_SOCKET");
    return fd;
}

static void end_journal(int fd, const char *path)
{
    close(fd);
    unlink(path);
    hac_log_init("hacd", HAC_LOG_INFO);
}

static bool next_record(int fd, char *ret, size_t capacity)
{
    ssize_t n = recv(fd, ret, capacity - 1, 0);
    ret[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static void test_journal_fields(void **state)
{
    (void)state;
    char path[64], record[4096];
    int fd = fake_journal(path, sizeof path);
    const hac_log_subject subject = {1000, 7, "cpu.0\nHAC_USER=0"};
    hac_log_record(HAC_LOG_WARNING, HAC_EVENT_EXECUTOR_DIED, &subject, "died of \"%s\"", "a\nPRIORITY=0");
    assert_true(next_record(fd, record, sizeof record));
    assert_string_equal(record, "MESSAGE=died of \"a PRIORITY=0\"\n"
                                "MESSAGE_ID="
                                "bb3cb128c3a6405ab7c6087fd40af197"
                                "\n"
                                "PRIORITY=4\nSYSLOG_IDENTIFIER=hacd\nHAC_EVENT=executor-died\n"
                                "HAC_USER=1000\nHAC_JOB=7\nHAC_DEVICE=cpu.0 HAC_USER=0\n");
    hac_log(HAC_LOG_INFO, "no kind");
    assert_true(next_record(fd, record, sizeof record));
    assert_non_null(strstr(record, "MESSAGE=no kind\nMESSAGE_ID="));
    assert_null(strstr(record, "HAC_USER="));
    static char message[10000];
    memset(message, 'x', sizeof message - 1);
    hac_log_record(HAC_LOG_ERROR, HAC_EVENT_FAILED, &subject, "%s", message);
    assert_true(next_record(fd, record, sizeof record));
    assert_non_null(strstr(record, "\nHAC_JOB=7\n"));
    assert_false(next_record(fd, record, sizeof record));
    end_journal(fd, path);
}

/* Nobody reads: nothing waits, which would be a voluntary context switch for each that is lost (a few come of
 * pages that are not there yet); what is lost is told later. */
static void test_full_journal(void **state)
{
    (void)state;
    enum { RECORDS = 20000 };
    char path[64], record[4096];
    int fd = fake_journal(path, sizeof path);
    struct rusage before, after;
    hac_log_counts counts, counts_before;
    hac_log_count(&counts_before);
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < RECORDS; i++)
        hac_log(HAC_LOG_INFO, "record %d", i);
    getrusage(RUSAGE_THREAD, &after);
    hac_log_count(&counts);
    unsigned read = 0;
    while (next_record(fd, record, sizeof record))
        read++;
    assert_true(read > 0 && read < RECORDS);
    assert_in_range(after.ru_nvcsw - before.ru_nvcsw, 0, 10);
    assert_int_equal(counts.lost - counts_before.lost, RECORDS - read);
    assert_int_equal(counts.written[HAC_LOG_INFO] - counts_before.written[HAC_LOG_INFO], read);
    hac_log_report(false);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "MESSAGE=%u records of this log", RECORDS - read);
    assert_true(next_record(fd, record, sizeof record));
    assert_int_equal(strncmp(record, wanted, strlen(wanted)), 0);
    end_journal(fd, path);
}

/* Without the journal, lines go to standard error. */
static void test_no_journal(void **state)
{
    (void)state;
    char path[64];
    int fd = fake_journal(path, sizeof path);
    close(fd);
    unlink(path);
    capture c = capture_pipe();
    hac_log_record(HAC_LOG_ERROR, HAC_EVENT_JOB_FAILED, &(hac_log_subject){1234, 9, NULL}, "no memory");
    hac_autofree char *text = drain(&c);
    capture_end(&c);
    assert_string_equal(text, "error hacd: no memory [job-failed user=1234 job=9]\n");
    hac_log_init("hacd", HAC_LOG_INFO);
}

/* ---- limits ---- */

static void test_limit(void **state)
{
    (void)state;
    static hac_log_limit limit;
    hac_log_limit_entry entry;
    const uint64_t minute = HAC_LOG_LIMIT_WINDOW_NS;
    uint64_t now = 5 * minute, left_out;
    unsigned written = 0;
    for (unsigned i = 0; i < 100000; i++)
        written += hac_log_limit_take(&limit, 1000, HAC_EVENT_CONNECTION, now + i, &left_out);
    assert_int_equal(written, 1);
    assert_true(hac_log_limit_take(&limit, 1001, HAC_EVENT_CONNECTION, now, &left_out)); /* another user */
    assert_true(hac_log_limit_take(&limit, 1000, HAC_EVENT_JOB_FAILED, now, &left_out)); /* another kind */
    assert_false(hac_log_limit_take(&limit, 1000, HAC_EVENT_CONNECTION, now + minute - 1, &left_out));
    assert_true(hac_log_limit_take(&limit, 1000, HAC_EVENT_CONNECTION, now + minute, &left_out));
    assert_int_equal(left_out, 100000);
    assert_false(hac_log_limit_take(&limit, 1000, HAC_EVENT_CONNECTION, now + minute + 1, &left_out));
    assert_false(hac_log_limit_collect(&limit, now + minute + 2, false, &entry));
    assert_true(hac_log_limit_collect(&limit, now + 2 * minute, false, &entry));
    assert_int_equal(entry.uid, 1000);
    assert_int_equal(entry.left_out, 1);
    assert_false(hac_log_limit_collect(&limit, now + 9 * minute, true, &entry));
    for (unsigned i = written = 0; i < 1000; i++)
        written += hac_log_limit_take(&limit, HAC_LOG_NOBODY, HAC_EVENT_DEVICE, now + 9 * minute, &left_out);
    assert_int_equal(written, HAC_LOG_NOBODYS_BURST);
}

/* More users than there are entries: what does not fit is left out, and counted. */
static void test_limit_is_bounded(void **state)
{
    (void)state;
    static hac_log_limit limit;
    hac_log_limit_entry entry;
    uint64_t now = HAC_LOG_LIMIT_WINDOW_NS, left_out, told = 0;
    unsigned written = 0;
    for (uint32_t i = 0; i < 20000; i++)
        written += hac_log_limit_take(&limit, i % 1000, HAC_EVENT_JOB_FAILED, now, &left_out);
    assert_int_equal(written, HAC_LOG_LIMIT_ENTRIES);
    while (hac_log_limit_collect(&limit, now, true, &entry))
        told += entry.left_out;
    assert_int_equal(told, 20000 - written);
    assert_true(hac_log_limit_take(&limit, 77777, HAC_EVENT_JOB_FAILED, 3 * now, &left_out));
}

static void test_left_out_is_told(void **state)
{
    (void)state;
    capture c = capture_pipe();
    hac_log_init("hacd", HAC_LOG_INFO);
    for (int i = 0; i < 1000; i++)
        hac_log_record(HAC_LOG_INFO, HAC_EVENT_CONNECTION, &(hac_log_subject){4242, 0, NULL}, "nonsense");
    hac_log_report(true);
    hac_autofree char *text = drain(&c);
    capture_end(&c);
    assert_string_equal(text, "info hacd: nonsense [connection-ended user=4242]\n"
                              "warning hacd: 999 more records of kind connection-ended were left out "
                              "[records-left-out user=4242]\n");
}

static void test_ids_are_unique(void **state)
{
    (void)state;
#define HAC_TEST_NAMES(constant, name, id, what) name, id,
    static const char *const names[] = {HAC_LOG_EVENTS(HAC_TEST_NAMES)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (i % 2 == 1)
            assert_int_equal(strspn(names[i], "0123456789abcdef"), 32);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(names[i], names[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_and_levels), cmocka_unit_test(test_long_lines_are_cut),
        cmocka_unit_test(test_journal_prefix),    cmocka_unit_test(test_full_pipe),
        cmocka_unit_test(test_full_socket),       cmocka_unit_test(test_reader_gone),
        cmocka_unit_test(test_closed_descriptor), cmocka_unit_test(test_threads_keep_lines_whole),
        cmocka_unit_test(test_journal_fields),    cmocka_unit_test(test_full_journal),
        cmocka_unit_test(test_no_journal),        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_limit_is_bounded),  cmocka_unit_test(test_left_out_is_told),
        cmocka_unit_test(test_ids_are_unique),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
