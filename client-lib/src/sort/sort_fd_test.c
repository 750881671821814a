/* SPDX-License-Identifier: Apache-2.0 */
/* Tests hac_sort_fd with files, streams, and descriptors that are neither. */
#include "fake_daemon.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define FDS(test) cmocka_unit_test_setup_teardown(test, hac_test_fds_setup, hac_test_fds_teardown)

static fake_daemon *the_daemon;
static hac_client *client;

static int start(void **state)
{
    return fake_setup(state, NULL, &the_daemon, &client);
}

static int stop(void **state)
{
    return fake_teardown(state, the_daemon, client);
}

/* The maximum size that a client requested for a buffer. */
static _Atomic uint64_t largest_grown;

static bool note_growth(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)session;
    (void)frame;
    if (request->what_case == HAC__CLIENT__REQUEST__WHAT_BUFFER_GROW &&
        request->buffer_grow->bytes > largest_grown)
        largest_grown = request->buffer_grow->bytes;
    return false;
}

static int start_noting(void **state)
{
    return fake_setup(state, note_growth, &the_daemon, &client);
}

#define WITH_DAEMON(test) cmocka_unit_test_setup_teardown(test, start, stop)

static uint32_t *make_keys(size_t n)
{
    uint32_t *keys = malloc(n * sizeof(*keys) + 1), x = 1;
    for (size_t i = 0; i < n; i++)
        keys[i] = x = x * 1664525 + 1013904223;
    return keys;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static hac_status sort_fd(int fd, uint64_t offset, uint64_t items, hac_job **ret, hac_error *err)
{
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    return hac_sort_fd(client, fd, offset, items, "keys.bin", &options, ret, err);
}

/* Sorts, and compares the result with a qsort of keys [first, first + n). */
static void assert_sorts(int fd, uint64_t offset, uint64_t items, const uint32_t *keys, size_t first,
                         size_t n)
{
    hac_job *job = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_status status = sort_fd(fd, offset, items, &job, &err);
    if (status != HAC_OK)
        print_message("%s\n", err.message);
    assert_int_equal(status, HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_bytes(job), n * 4);
    uint32_t *expected = malloc(n * 4 + 1);
    memcpy(expected, keys + first, n * 4);
    qsort(expected, n, 4, compare);
    assert_memory_equal(hac_job_data(job), expected, n * 4);
    free(expected);
    hac_job_free(job);
}

static void assert_fails(int fd, uint64_t offset, uint64_t items, hac_status expected, const char *message)
{
    hac_job *job = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(sort_fd(fd, offset, items, &job, &err), expected);
    assert_string_equal(err.message, message);
    assert_null(job);
}

static void test_files(void **state)
{
    (void)state;
    enum { N = 30000 };
    uint32_t *keys = make_keys(N);
    int fd = hac_test_file(keys, N * 4);
    assert_sorts(fd, 0, UINT64_MAX, keys, 0, N);
    assert_sorts(fd, 0, N, keys, 0, N);
    assert_sorts(fd, 400, UINT64_MAX, keys, 100, N - 100);
    assert_sorts(fd, 400, 1, keys, 100, 1);
    assert_sorts(fd, N * 4, UINT64_MAX, keys, 0, 0);
    assert_fails(fd, N * 4 + 1, UINT64_MAX, HAC_FAILED,
                 "keys.bin is 120000 bytes, nothing lies at byte 120001");
    assert_fails(fd, 4, N, HAC_FAILED,
                 "keys.bin is 120000 bytes, too short for 30000 keys (u32) from byte 4 on");
    assert_fails(fd, 0, UINT64_MAX / 2, HAC_FAILED,
                 "keys.bin is 120000 bytes, too short for 9223372036854775807 keys (u32) from byte 0 on");
    assert_fails(fd, 1, UINT64_MAX, HAC_FAILED,
                 "keys.bin has 119999 bytes from byte 1 on, not a multiple of 4 (u32)");
    assert_fails(fd, UINT64_MAX, UINT64_MAX, HAC_INVALID, "byte 18446744073709551615 lies in no file");
    assert_int_equal(lseek(fd, 0, SEEK_CUR), N * 4); /* the file offset is unchanged */
    close(fd);
    free(keys);
}

/* Shared between this thread and the fake daemon's thread. */
static _Atomic Hac__Client__Input__WhereCase seen_where;
static atomic_bool refuse;

static bool look_at_sort(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT)
        return false;
    bool refused = refuse;
    seen_where = request->submit_sort->input->where_case;
    if (refused)
        fake_send_failure(session, request->serial, HAC_REFUSED, "too many jobs");
    return refused;
}

/* The client sends a small file in the message, unless the options choose a method. The id and refusals are
 * reported as for a large file. */
static void test_small_files(void **state)
{
    (void)state;
    enum { MAX = 32 * 1024 / 4 };
    the_daemon = fake_start(look_at_sort, NULL);
    client = fake_connect(the_daemon);
    uint32_t *keys = make_keys(MAX + 1);
    int fd = hac_test_file(keys, (MAX + 1) * 4);
    const size_t sizes[] = {0, 1, 2, MAX - 1, MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_sorts(fd, 4, sizes[i], keys, 1, sizes[i]);
        assert_int_equal(seen_where, HAC__CLIENT__INPUT__WHERE_DATA);
    }
    assert_sorts(fd, 0, MAX + 1, keys, 0, MAX + 1);
    assert_int_equal(seen_where, HAC__CLIENT__INPUT__WHERE_DESCRIPTOR);
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    hac_job *job = NULL;
    assert_int_equal(hac_sort_fd(client, fd, 0, 5, NULL, &options, &job, NULL), HAC_OK);
    assert_int_equal(seen_where, HAC__CLIENT__INPUT__WHERE_DATA);
    assert_true(hac_job_id(job) != 0);
    hac_job_free(job);
    options.algorithm = HAC_SORT_BITONIC;
    assert_int_equal(hac_sort_fd(client, fd, 0, 5, NULL, &options, &job, NULL), HAC_OK);
    assert_int_equal(seen_where, HAC__CLIENT__INPUT__WHERE_DESCRIPTOR);
    hac_job_free(job);
    refuse = true;
    assert_fails(fd, 0, 5, HAC_REFUSED, "too many jobs");
    refuse = false;
    close(fd);
    hac_client_free(client);
    fake_stop(the_daemon);
    free(keys);
}

static void test_odd_size(void **state)
{
    (void)state;
    int fd = hac_test_file("0123456789", 10);
    assert_fails(fd, 0, UINT64_MAX, HAC_FAILED, "keys.bin is 10 bytes, not a multiple of 4 (u32)");
    close(fd);
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], "0123456789", 10), 10);
    close(pipes[1]);
    assert_fails(pipes[0], 0, UINT64_MAX, HAC_FAILED, "keys.bin is 10 bytes, not a multiple of 4 (u32)");
    close(pipes[0]);
}

static void test_not_readable(void **state)
{
    (void)state;
    int fd = open("/tmp", O_RDONLY | O_DIRECTORY);
    assert_fails(fd, 0, UINT64_MAX, HAC_FAILED, "keys.bin is a directory");
    close(fd);
    fd = open("/dev/null", O_WRONLY);
    assert_fails(fd, 0, UINT64_MAX, HAC_FAILED, "keys.bin is not open for reading");
    close(fd);
    fd = open("/etc/passwd", O_PATH);
    assert_fails(fd, 0, UINT64_MAX, HAC_FAILED, "keys.bin is not open for reading");
    close(fd);
    assert_fails(-1, 0, UINT64_MAX, HAC_FAILED, "cannot read keys.bin: Bad file descriptor");
}

typedef struct writer {
    int fd;
    const uint8_t *data;
    size_t bytes, step;
} writer;

static void *write_all(void *context)
{
    writer *w = context;
    for (size_t done = 0; done < w->bytes;) {
        size_t left = w->bytes - done;
        ssize_t n = write(w->fd, w->data + done, left < w->step ? left : w->step);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    close(w->fd);
    return NULL;
}

/* Sizes around the sizes of the growing buffer, pieces of odd size, a non-blocking pipe, a socket. */
static void test_streams(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 1000, 262143, 262144, 262145, 1500000};
    for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t n = sizes[i / 2];
        uint32_t *keys = make_keys(n);
        int ends[2];
        if (i % 2 == 0)
            assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        else
            assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        if (i % 4 == 0)
            assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
        writer w = {ends[1], (const uint8_t *)keys, n * 4, 77777};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, write_all, &w), 0);
        assert_sorts(ends[0], 0, UINT64_MAX, keys, 0, n);
        pthread_join(thread, NULL);
        close(ends[0]);
        free(keys);
    }
}

static void test_part_of_a_stream(void **state)
{
    (void)state;
    enum { N = 10000 };
    uint32_t *keys = make_keys(N);
    int pipes[2];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pipe(pipes), 0);
        assert_int_equal(write(pipes[1], keys, N * 4), N * 4);
        close(pipes[1]);
        if (i == 0)
            assert_sorts(pipes[0], 40, 100, keys, 10, 100);
        else if (i == 1)
            assert_fails(pipes[0], 0, N + 1, HAC_FAILED,
                         "keys.bin is 40000 bytes, too short for 10001 keys (u32) from byte 0 on");
        else
            assert_fails(pipes[0], 50000, UINT64_MAX, HAC_FAILED, "keys.bin ends before byte 50000");
        close(pipes[0]);
    }
    free(keys);
}

/* A file of size 0 that has bytes. */
static void test_file_without_a_size(void **state)
{
    (void)state;
    hac_job *job = NULL;
    int fd = open("/proc/self/auxv", O_RDONLY | O_CLOEXEC); /* pairs of words */
    assert_int_equal(sort_fd(fd, 0, UINT64_MAX, &job, NULL), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_true(hac_job_bytes(job) > 0);
    hac_job_free(job);
    close(fd);
}

/* The client reads and allocates at most the job's limit. */
static void test_stream_over_its_limit(void **state)
{
    (void)state;
    enum { LIMIT = 3 << 20 };
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    options.type = HAC_TYPE_U32;
    options.job.memory_limit = LIMIT;
    largest_grown = 0;
    assert_int_equal(hac_sort_fd(client, zero, 0, UINT64_MAX, "zeros", &options, &job, &err), HAC_REFUSED);
    assert_string_equal(err.message, "zeros is a stream, sorted in memory: the job needs at least 3145729 "
                                     "bytes in all, above its limit of 3145728 bytes");
    assert_int_equal(hac_sort_fd(client, zero, 8, LIMIT / 4 + 1, "zeros", &options, &job, &err), HAC_REFUSED);
    assert_null(job);
    assert_in_range(largest_grown, LIMIT + 1, LIMIT + 65536);
    assert_int_equal(hac_sort_fd(client, zero, 8, LIMIT / 4, "zeros", &options, &job, &err), HAC_OK);
    assert_int_equal(hac_job_wait(job, -1, NULL), HAC_OK);
    assert_int_equal(hac_job_bytes(job), LIMIT);
    hac_job_free(job);
    options.job.memory_limit = UINT64_MAX;
    assert_int_equal(hac_sort_fd(client, zero, 0, 100, "zeros", &options, &job, &err), HAC_OK);
    hac_job_free(job);
    close(zero);
}

static bool grow_refused(fake_session *session, const Hac__Client__Request *request, hac_frame *frame)
{
    (void)frame;
    if (request->what_case != HAC__CLIENT__REQUEST__WHAT_BUFFER_GROW)
        return false;
    fake_send_failure(session, request->serial, HAC_REFUSED, "over quota");
    return true;
}

static void test_stream_over_quota(void **state)
{
    (void)state;
    the_daemon = fake_start(grow_refused, NULL);
    client = fake_connect(the_daemon);
    int zero = open("/dev/zero", O_RDONLY); /* endless, so the quota ends the read */
    assert_fails(zero, 0, UINT64_MAX, HAC_REFUSED, "keys.bin, after 1048576 bytes: over quota");
    close(zero);
    hac_client_free(client);
    fake_stop(the_daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DAEMON(test_files),
        WITH_DAEMON(test_odd_size),
        WITH_DAEMON(test_not_readable),
        WITH_DAEMON(test_streams),
        WITH_DAEMON(test_part_of_a_stream),
        FDS(test_stream_over_quota),
        cmocka_unit_test_setup_teardown(test_stream_over_its_limit, start_noting, stop),
        FDS(test_small_files),
        WITH_DAEMON(test_file_without_a_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
