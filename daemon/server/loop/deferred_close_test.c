/* SPDX-License-Identifier: Apache-2.0 */
/* close() that hangs: sockets that linger, because nobody reads what they sent. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/test_support.h"
#include "deferred_close.h"

#define LINGER_SECONDS 30

/* A connection whose other end, *ret_peer, does not read. Closing it takes LINGER_SECONDS, or until the peer
 * has gone. */
static int lingering(int *ret_peer)
{
    static const char text[1 << 16];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct linger linger = {1, LINGER_SECONDS};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    *ret_peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(*ret_peer >= 0);
    close(listener);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    while (send(fd, text, sizeof text, MSG_DONTWAIT) > 0)
        ;
    return fd;
}

static bool ends_within(int pipe_end, int milliseconds)
{
    struct pollfd p = {.fd = pipe_end, .events = POLLIN};
    return poll(&p, 1, milliseconds) == 1 && (p.revents & POLLHUP) != 0;
}

static void await_none(hac_deferred_close *closer, uint64_t user, double seconds)
{
    uint64_t start = hac_now_ns();
    while (hac_deferred_close_pending(closer, user) > 0) {
        assert_true(hac_seconds_since(start) < seconds);
        usleep(1000);
    }
}

/* One user's hanging descriptors delay only that user, and no caller waits. */
static void test_hanging(void **state)
{
    (void)state;
    enum { HANGING = 5, HANGING_USER = 7, OTHER = 8 };
    hac_deferred_close *closer;
    int peers[HANGING], ends[2];
    assert_int_equal(hac_deferred_close_new(&closer, NULL), HAC_OK);
    uint64_t start = hac_now_ns();
    for (size_t i = 0; i < HANGING; i++)
        hac_deferred_close_fd((hac_fd_owner){closer, HANGING_USER}, lingering(&peers[i]));
    assert_int_equal(hac_deferred_close_pending(closer, HANGING_USER), HANGING);
    assert_int_equal(hac_deferred_close_pending(closer, OTHER), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        hac_deferred_close_fd((hac_fd_owner){closer, OTHER}, ends[1]);
        assert_true(ends_within(ends[0], 10000));
        close(ends[0]);
    }
    await_none(closer, OTHER, 10);
    assert_true(hac_seconds_since(start) < LINGER_SECONDS);
    for (size_t i = 0; i < HANGING; i++) /* closing the peer ends the wait */
        close(peers[i]);
    await_none(closer, HANGING_USER, 3.0 * LINGER_SECONDS);
    hac_deferred_close_free(closer);
}

/* Memfds are closed at once, a socket after its unread messages and their descriptors are discarded. */
static void test_kinds(void **state)
{
    (void)state;
    hac_deferred_close *closer;
    int pair[2];
    char byte = 'x';
    assert_int_equal(hac_deferred_close_new(&closer, NULL), HAC_OK);
    int memory = memfd_create("small", MFD_CLOEXEC);
    hac_deferred_close_fd((hac_fd_owner){closer, 1}, memory);
    assert_int_equal(fcntl(memory, F_GETFD), -1);
    hac_deferred_close_fd((hac_fd_owner){closer, 1}, -1);
    assert_int_equal(hac_deferred_close_pending(closer, 1), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(send(pair[1], &byte, 1, 0), 1);
    assert_int_equal(send(pair[0], &byte, 1, 0), 1);
    hac_deferred_close_socket((hac_fd_owner){closer, 1}, pair[0]);
    await_none(closer, 1, 30);
    assert_int_equal(recv(pair[1], &byte, 1, 0), 1); /* not ECONNRESET */
    assert_int_equal(recv(pair[1], &byte, 1, 0), 0);
    close(pair[1]);
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    hac_deferred_close_fd((hac_fd_owner){.closer = NULL}, file);
    assert_int_equal(fcntl(file, F_GETFD), -1);
    hac_deferred_close_free(closer);
    hac_deferred_close_free(NULL);
}

/* Many threads pass in descriptors at the same time. */
static void *give(void *argument)
{
    static const uint64_t users[] = {1, 2, 3};
    for (size_t i = 0; i < 300; i++)
        hac_deferred_close_fd((hac_fd_owner){argument, users[i % 3]},
                              open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    return NULL;
}

static void test_many(void **state)
{
    (void)state;
    hac_deferred_close *closer;
    pthread_t threads[3];
    assert_int_equal(hac_deferred_close_new(&closer, NULL), HAC_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, give, closer), 0);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (uid_t uid = 1; uid <= 3; uid++)
        await_none(closer, uid, 30);
    hac_deferred_close_free(closer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_hanging, hac_test_fds_setup, hac_test_fds_teardown),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test_setup_teardown(test_many, hac_test_fds_setup, hac_test_fds_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
