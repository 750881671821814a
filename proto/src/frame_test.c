/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/frame.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fuzz/send_raw.h"
#include "base/cleanup.h"
#include "base/test_support.h"

static int pair[2] = {-1, -1};
static uint8_t *out, *in;
static size_t before;

static int set_up(void **state)
{
    if (hac_test_fds_setup(state) != 0)
        return -1;
    out = calloc(1, HAC_FRAME_MAX); /* some tests send it as it is, and valgrind looks at what is sent */
    in = malloc(HAC_FRAME_MAX);     /* exactly: the sanitizer sees a byte more */
    int rc = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair);
    before = hac_test_open_descriptors();
    return rc != 0 || out == NULL || in == NULL;
}

static int tear_down(void **state)
{
    hac_closep(&pair[0]);
    hac_closep(&pair[1]);
    free(out);
    free(in);
    return hac_test_fds_teardown(state);
}

static hac_status send_text(const char *text, const int *fds, size_t n_fds)
{
    memcpy(hac_frame_body(out), text, strlen(text));
    return hac_frame_send(pair[0], out, strlen(text), fds, n_fds, NULL);
}

static void send_bytes(const void *bytes, size_t n, size_t n_fds)
{
    assert_int_equal(send_raw(pair[0], bytes, n, n_fds), n);
}

/* A frame's bytes with a header that says what it likes. */
static void send_claiming(unsigned says_fds, uint32_t says_bytes, size_t body_bytes, size_t n_fds)
{
    static uint8_t bytes[2 * HAC_FRAME_MAX];
    memcpy(bytes, "hac", 3);
    bytes[3] = (uint8_t)says_fds;
    for (int i = 0; i < 4; i++)
        bytes[4 + i] = (uint8_t)(says_bytes >> 8 * i);
    send_bytes(bytes, 8 + body_bytes, n_fds);
}

static void expect(hac_status wanted, const char *message)
{
    hac_frame frame = {.n_fds = 77};
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_frame_receive(pair[1], in, &frame, &err);
    if (status != wanted || strstr(err.message, message) == NULL)
        fail_msg("wanted %s \"%s\", got %s \"%s\"", hac_status_name(wanted), message, hac_status_name(status),
                 err.message);
    assert_int_equal(frame.n_fds, 77); /* outputs are left alone */
    hac_test_assert_descriptors(before);
}

static void test_bodies_of_all_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 7, 8, 9, 4095, 4096, HAC_FRAME_BODY_MAX - 1, HAC_FRAME_BODY_MAX};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint8_t *body = hac_frame_body(out);
        for (size_t i = 0; i < sizes[s]; i++)
            body[i] = (uint8_t)(i * 13 + s);
        assert_int_equal(hac_frame_send(pair[0], out, sizes[s], NULL, 0, NULL), HAC_OK);
        hac_frame frame = {0};
        assert_int_equal(hac_frame_receive(pair[1], in, &frame, NULL), HAC_OK);
        assert_int_equal(frame.body_bytes, sizes[s]);
        assert_int_equal(frame.n_fds, 0);
        assert_memory_equal(frame.body, body, sizes[s]);
        hac_frame_clear(&frame);
    }
}

static void test_descriptors_arrive(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(send_text("two", ends, 2), HAC_OK);
    close(ends[0]);
    close(ends[1]);
    hac_frame frame = {0};
    assert_int_equal(hac_frame_receive(pair[1], in, &frame, NULL), HAC_OK);
    assert_int_equal(frame.n_fds, 2);
    hac_test_assert_descriptors(before + 2);
    hac_autoclose int reader = hac_frame_take_fd(&frame, 0), writer = hac_frame_take_fd(&frame, 1);
    assert_true((fcntl(reader, F_GETFD) & FD_CLOEXEC) != 0);
    assert_int_equal(write(writer, "x", 1), 1);
    char got = 0;
    assert_int_equal(read(reader, &got, 1), 1);
    assert_int_equal(got, 'x');
    assert_int_equal(hac_frame_take_fd(&frame, 0), -1); /* taken already */
    assert_int_equal(hac_frame_take_fd(&frame, 2), -1);
    hac_frame_clear(&frame);
    hac_frame_clear(&frame);
    hac_test_assert_descriptors(before + 2);
}

static void test_clear_closes_what_was_not_taken(void **state)
{
    (void)state;
    int fds[HAC_DESCRIPTORS_MAX];
    for (size_t i = 0; i < HAC_DESCRIPTORS_MAX; i++)
        fds[i] = STDERR_FILENO;
    for (size_t n = 1; n <= HAC_DESCRIPTORS_MAX; n++) {
        assert_int_equal(send_text("many", fds, n), HAC_OK);
        hac_frame frame = {0};
        assert_int_equal(hac_frame_receive(pair[1], in, &frame, NULL), HAC_OK);
        assert_int_equal(frame.n_fds, n);
        hac_close(hac_frame_take_fd(&frame, n / 2));
        hac_frame_clear(&frame);
        hac_test_assert_descriptors(before);
    }
}

static void test_refused_by_the_sender(void **state)
{
    (void)state;
    int fds[HAC_DESCRIPTORS_MAX + 1] = {0};
    assert_int_equal(hac_frame_send(pair[0], out, 0, NULL, 0, NULL), HAC_INTERNAL);
    assert_int_equal(hac_frame_send(pair[0], out, HAC_FRAME_BODY_MAX + 1, NULL, 0, NULL), HAC_INTERNAL);
    assert_int_equal(hac_frame_send(pair[0], out, SIZE_MAX, NULL, 0, NULL), HAC_INTERNAL);
    assert_int_equal(hac_frame_send(pair[0], out, 1, fds, HAC_DESCRIPTORS_MAX + 1, NULL), HAC_INTERNAL);
    int closed = -1;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_frame_send(pair[0], out, 1, &closed, 1, &err), HAC_IO);
    assert_non_null(strstr(err.message, "Bad file descriptor"));
    expect(HAC_AGAIN, "nothing");
}

static void test_wrong_counts_of_descriptors(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        send_claiming(0, 4, 4, 1);
        expect(HAC_PROTOCOL, "1 descriptors came with a message that says 0");
        send_claiming(1, 4, 4, 0);
        expect(HAC_PROTOCOL, "0 descriptors came with a message that says 1");
        send_claiming(64, 4, 4, 65);
        expect(HAC_PROTOCOL, "65 descriptors");
        send_claiming(KERNEL_MAX_FDS - 1, 4, 4, KERNEL_MAX_FDS);
        expect(HAC_PROTOCOL, "253 descriptors came with a message that says 252");
        send_claiming(0, 4, 4, KERNEL_MAX_FDS);
        expect(HAC_PROTOCOL, "253 descriptors");
        send_claiming(255, 4, 4, 16);
        expect(HAC_PROTOCOL, "16 descriptors came with a message that says 255");
    }
}

static void test_wrong_headers(void **state)
{
    (void)state;
    send_claiming(0, 5, 4, 0);
    expect(HAC_PROTOCOL, "a message of 4 bytes says that it has 5");
    send_claiming(0, 3, 4, 1);
    expect(HAC_PROTOCOL, "says that it has 3");
    send_claiming(0, UINT32_MAX, 4, 0);
    expect(HAC_PROTOCOL, "says that it has 4294967295");
    send_claiming(0, 0, 4, 0);
    expect(HAC_PROTOCOL, "says that it has 0");
    send_claiming(0, 0, 0, 0);
    expect(HAC_PROTOCOL, "a message of 8 bytes is too short");
    for (size_t n = 1; n < 8; n++) {
        send_bytes("hac\0\4\0\0", n, n % 3);
        expect(HAC_PROTOCOL, "is too short");
    }
    send_bytes("hax\0\1\0\0\0x", 9, 0);
    expect(HAC_PROTOCOL, "mark");
    send_bytes("GET / HTTP/1.1\r\n", 16, 16);
    expect(HAC_PROTOCOL, "mark");
}

static void test_too_large(void **state)
{
    (void)state;
    send_claiming(0, HAC_FRAME_BODY_MAX + 1, HAC_FRAME_BODY_MAX + 1, 0);
    expect(HAC_PROTOCOL, "larger than 65536");
    send_claiming(2, HAC_FRAME_MAX, 2 * HAC_FRAME_MAX - 8, 2);
    expect(HAC_PROTOCOL, "larger than 65536");
    assert_int_equal(send_text("next", NULL, 0), HAC_OK); /* the rest of it is gone */
    hac_frame frame = {0};
    assert_int_equal(hac_frame_receive(pair[1], in, &frame, NULL), HAC_OK);
    assert_int_equal(frame.body_bytes, 4);
}

/* A message without a byte looks like the end; what came with it must not stay open all the same. */
static void test_empty_messages(void **state)
{
    (void)state;
    send_bytes("", 0, 0);
    expect(HAC_NOT_FOUND, "closed");
    send_bytes("", 0, 1);
    expect(HAC_PROTOCOL, "too short");
    send_bytes("", 0, KERNEL_MAX_FDS);
    expect(HAC_PROTOCOL, "too short");
}

/* valgrind keeps RLIMIT_NOFILE to itself, so the kernel's limit stays as it was. */
static void skip_if_limits_are_valgrinds(void)
{
    if (getenv("HAC_TEST_VALGRIND") != NULL)
        skip();
}

/* At the limit of open descriptors the kernel delivers some and says MSG_CTRUNC. */
static void test_out_of_descriptors(void **state)
{
    (void)state;
    skip_if_limits_are_valgrinds();
    struct rlimit old, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    int lowest_free = dup(STDERR_FILENO);
    close(lowest_free);
    for (rlim_t spare = 0; spare < 5; spare++) {
        send_claiming(16, 4, 4, 16);
        send_claiming(KERNEL_MAX_FDS, 4, 4, KERNEL_MAX_FDS);
        low = old;
        low.rlim_cur = (rlim_t)lowest_free + spare;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
        hac_frame frame = {0};
        hac_error first = HAC_ERROR_NONE, second = HAC_ERROR_NONE;
        hac_status a = hac_frame_receive(pair[1], in, &frame, &first);
        hac_status b = hac_frame_receive(pair[1], in, &frame, &second);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
        static const char says[] =
            "descriptors of a message cannot be taken in: Too many open files; raise the limit (ulimit -n)";
        assert_int_equal(a, HAC_IO); /* the peer has done nothing wrong */
        assert_int_equal(b, HAC_IO);
        assert_string_equal(first.message, says);
        assert_string_equal(second.message, says);
        hac_test_assert_descriptors(before);
    }
}

static void test_full_socket(void **state)
{
    (void)state;
    int fd = STDERR_FILENO;
    size_t sent = 0;
    hac_status status;
    hac_error err = HAC_ERROR_NONE;
    while ((status = hac_frame_send(pair[0], out, 1000, &fd, 1, &err)) == HAC_OK)
        sent++;
    assert_int_equal(status, HAC_AGAIN);
    assert_true(sent > 10);
    hac_frame frame = {0};
    for (size_t i = 0; i < sent; i++) {
        assert_int_equal(hac_frame_receive(pair[1], in, &frame, NULL), HAC_OK);
        hac_frame_clear(&frame);
    }
    expect(HAC_AGAIN, "nothing");
    assert_int_equal(hac_frame_send(pair[0], out, 1000, &fd, 1, &err), HAC_OK); /* there is room again */
    assert_int_equal(hac_frame_receive(pair[1], in, &frame, NULL), HAC_OK);
    hac_frame_clear(&frame);
    hac_test_assert_descriptors(before);
}

/* Runs in a process of its own: 0 if the kernel's bound shows as HAC_REFUSED. */
static int send_until_refused(void)
{
    const struct rlimit low = {32, 32};
    if (setrlimit(RLIMIT_NOFILE, &low) != 0 || (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0))
        return 2; /* CAP_SYS_RESOURCE would lift the bound */
    int fds[HAC_DESCRIPTORS_MAX];
    for (size_t i = 0; i < HAC_DESCRIPTORS_MAX; i++)
        fds[i] = STDERR_FILENO;
    hac_status status = HAC_OK;
    for (int i = 0; i < 10 && status == HAC_OK; i++)
        status = hac_frame_send(pair[0], out, 1, fds, HAC_DESCRIPTORS_MAX, NULL);
    return status == HAC_REFUSED ? 0 : 1;
}

/* The kernel bounds the descriptors on their way by the sender's limit. */
static void test_descriptors_in_flight(void **state)
{
    (void)state;
    skip_if_limits_are_valgrinds();
    pid_t child = fork();
    if (child == 0)
        _exit(send_until_refused());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* SIGPIPE has its default action here: it would end the test. */
static void test_peer_gone(void **state)
{
    (void)state;
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    assert_int_equal(send_text("last words", NULL, 0), HAC_OK);
    hac_closep(&pair[0]);
    hac_frame frame = {0};
    assert_int_equal(hac_frame_receive(pair[1], in, &frame, NULL), HAC_OK); /* still to be had */
    assert_int_equal(frame.body_bytes, 10);
    before--;
    for (int i = 0; i < 3; i++) {
        expect(HAC_NOT_FOUND, "closed");
        hac_error err = HAC_ERROR_NONE;
        int fd = STDERR_FILENO;
        assert_int_equal(hac_frame_send(pair[1], out, 1, &fd, 1, &err), HAC_NOT_FOUND);
        assert_string_equal(err.message, "the peer has closed the connection");
    }
}

/* A peer that left without reading what it was sent. */
static void test_peer_gone_with_unread_frames(void **state)
{
    (void)state;
    int fd = STDERR_FILENO;
    memcpy(hac_frame_body(out), "x", 1);
    assert_int_equal(hac_frame_send(pair[1], out, 1, &fd, 1, NULL), HAC_OK);
    hac_closep(&pair[0]);
    before--;
    expect(HAC_NOT_FOUND, "closed");
    hac_test_assert_descriptors(before);
}

/* … and had something to say itself: why it leaves. */
static void test_last_words_before_a_reset(void **state)
{
    (void)state;
    memcpy(hac_frame_body(out), "x", 1);
    assert_int_equal(hac_frame_send(pair[1], out, 1, NULL, 0, NULL), HAC_OK);
    assert_int_equal(send_text("last words", NULL, 0), HAC_OK);
    hac_closep(&pair[0]);
    before--;
    hac_frame frame = {0};
    assert_int_equal(hac_frame_receive(pair[1], in, &frame, NULL), HAC_OK);
    assert_int_equal(frame.body_bytes, 10);
    assert_memory_equal(frame.body, "last words", 10);
    expect(HAC_NOT_FOUND, "closed");
}

static void test_not_a_socket(void **state)
{
    (void)state;
    hac_frame frame = {0};
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_frame_receive(-1, in, &frame, &err), HAC_IO);
    assert_non_null(strstr(err.message, "Bad file descriptor"));
    assert_int_equal(hac_frame_send(-1, out, 1, NULL, 0, &err), HAC_IO);
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_bodies_of_all_sizes),
        T(test_descriptors_arrive),
        T(test_clear_closes_what_was_not_taken),
        T(test_refused_by_the_sender),
        T(test_wrong_counts_of_descriptors),
        T(test_wrong_headers),
        T(test_too_large),
        T(test_empty_messages),
        T(test_out_of_descriptors),
        T(test_full_socket),
        T(test_descriptors_in_flight),
        T(test_peer_gone),
        T(test_peer_gone_with_unread_frames),
        T(test_last_words_before_a_reset),
        T(test_not_a_socket),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
