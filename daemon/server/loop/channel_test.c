/* SPDX-License-Identifier: Apache-2.0 */
/* Channels over a socket pair: order, back-pressure, slow and vanished peers, and leaked descriptors. */
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test_support.h"
#include "channel.h"
#include "proto/messages.h"

typedef struct side {
    unsigned frames;
    unsigned lost;
    char reason[160];
    uint64_t last;
    hac_decoder *decoder;
} side;

static void on_frame(void *context, hac_frame *frame)
{
    side *s = context;
    Hac__Executor__Command *command = NULL;
    assert_int_equal(
        hac_decode_command(s->decoder, frame->body, frame->body_bytes, frame->n_fds, &command, NULL), HAC_OK);
    s->frames++;
    for (size_t i = 0; i < command->n_runs; i++)
        assert_int_equal(command->runs[i]->task, ++s->last);
    if (command->n_runs > 0)
        return;
    assert_int_equal(command->what_case, HAC__EXECUTOR__COMMAND__WHAT_PING);
    assert_int_equal(command->ping->serial, s->last + 1); /* in order, none missing */
    s->last = command->ping->serial;
}

static void on_lost(void *context, const char *reason)
{
    side *s = context;
    s->lost++;
    snprintf(s->reason, sizeof s->reason, "%s", reason != NULL ? reason : "");
}

static const hac_channel_events events = {on_frame, on_lost, NULL};
static const hac_fd_owner no_closer; /* without a deferred_close, descriptors are closed at once */

static void send_ping(hac_channel *channel, uint64_t serial)
{
    Hac__Executor__Ping ping = HAC__EXECUTOR__PING__INIT;
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    ping.serial = serial;
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_PING;
    command.ping = &ping;
    hac_channel_send(channel, &command.base, NULL, 0);
}

static void send_run_later(hac_channel *channel, uint64_t task, size_t data)
{
    static uint8_t bytes[HAC_INLINE_MAX];
    static char codelet[] = "op.map";
    Hac__Executor__Run run = HAC__EXECUTOR__RUN__INIT, *runs[] = {&run};
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    run.task = task;
    run.codelet = codelet;
    run.data = (ProtobufCBinaryData){data, bytes};
    command.runs = runs;
    command.n_runs = 1;
    hac_channel_send_later(channel, &command.base);
}

typedef struct fixture {
    uv_loop_t loop;
    int pair[2];
    side a, b;
} fixture;

static void open_pair(fixture *f)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(uv_loop_init(&f->loop), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, f->pair), 0);
    assert_int_equal(hac_decoder_new(&f->a.decoder, NULL), HAC_OK);
    assert_int_equal(hac_decoder_new(&f->b.decoder, NULL), HAC_OK);
}

static void close_pair(fixture *f)
{
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0); /* no handle is left */
    hac_decoder_free(f->a.decoder);
    hac_decoder_free(f->b.decoder);
}

static void run_some(fixture *f)
{
    for (int i = 0; i < 200; i++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
}

static void test_order_under_back_pressure(void **state)
{
    (void)state;
    fixture f;
    hac_channel *from = NULL, *to = NULL;
    open_pair(&f);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[0], 1 << 20, 4, &events, &f.a, no_closer, &from, NULL),
                     HAC_OK);
    for (uint64_t i = 1; i <= 5000; i++) /* far more than the socket's buffer takes */
        send_ping(from, i);
    assert_true(hac_channel_queued(from) > 0);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[1], 1 << 20, 4, &events, &f.b, no_closer, &to, NULL),
                     HAC_OK);
    for (int i = 0; i < 100 && f.b.frames < 5000; i++)
        run_some(&f);
    assert_int_equal(f.b.frames, 5000);
    assert_int_equal(hac_channel_queued(from), 0);
    hac_channel_close(from);
    hac_channel_close(to);
    close_pair(&f);
}

static void test_peer_that_does_not_read(void **state)
{
    (void)state;
    fixture f;
    hac_channel *channel = NULL;
    open_pair(&f);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[0], 4096, 4, &events, &f.a, no_closer, &channel, NULL),
                     HAC_OK);
    for (uint64_t i = 1; i <= 20000; i++)
        send_ping(channel, i);
    assert_int_equal(f.a.lost, 0); /* reported from the loop, not from inside a send */
    run_some(&f);
    assert_int_equal(f.a.lost, 1);
    assert_non_null(strstr(f.a.reason, "does not read"));
    hac_channel_close(channel);
    close(f.pair[1]);
    close_pair(&f);
}

static void test_peer_that_leaves(void **state)
{
    (void)state;
    fixture f;
    hac_channel *from = NULL, *to = NULL;
    open_pair(&f);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[0], 1 << 20, 4, &events, &f.a, no_closer, &from, NULL),
                     HAC_OK);
    for (uint64_t i = 1; i <= 50; i++)
        send_ping(from, i);
    hac_channel_close(from);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[1], 1 << 20, 4, &events, &f.b, no_closer, &to, NULL),
                     HAC_OK);
    run_some(&f);
    assert_int_equal(f.b.frames, 50); /* what the peer sent before still counts */
    assert_int_equal(f.b.lost, 1);
    assert_string_equal(f.b.reason, "");
    hac_channel_close(to);
    close_pair(&f);
}

/* As above, but a send is the first to notice that the peer has gone. */
static void test_last_words_after_a_failed_send(void **state)
{
    (void)state;
    fixture f;
    hac_channel *from = NULL, *to = NULL;
    open_pair(&f);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[0], 1 << 20, 4, &events, &f.a, no_closer, &from, NULL),
                     HAC_OK);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[1], 1 << 20, 4, &events, &f.b, no_closer, &to, NULL),
                     HAC_OK);
    for (uint64_t i = 1; i <= 50; i++)
        send_ping(from, i);
    hac_channel_close(from);
    send_ping(to, 1);
    run_some(&f);
    assert_int_equal(f.b.frames, 50);
    assert_int_equal(f.b.lost, 1);
    assert_string_equal(f.b.reason, "");
    hac_channel_close(to);
    close_pair(&f);
}

/* Messages are merged until another message follows, a flush, 32 of them wait, or a frame is full. */
static void test_later(void **state)
{
    (void)state;
    fixture f;
    hac_channel *from = NULL, *to = NULL;
    uint64_t next = 1;
    open_pair(&f);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[0], 1 << 20, 4, &events, &f.a, no_closer, &from, NULL),
                     HAC_OK);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[1], 1 << 20, 4, &events, &f.b, no_closer, &to, NULL),
                     HAC_OK);
    for (int i = 0; i < 3; i++)
        send_run_later(from, next++, 0);
    run_some(&f);
    assert_int_equal(f.b.frames, 0);
    send_ping(from, next++);
    run_some(&f);
    assert_int_equal(f.b.frames, 2);
    for (int i = 0; i < 33; i++)
        send_run_later(from, next++, 0);
    run_some(&f);
    assert_int_equal(f.b.frames, 3);
    hac_channel_flush(from);
    hac_channel_flush(from); /* nothing is left to send */
    run_some(&f);
    assert_int_equal(f.b.frames, 4);
    for (int i = 0; i < 3; i++)
        send_run_later(from, next++, HAC_INLINE_MAX);
    hac_channel_flush(from);
    run_some(&f);
    assert_int_equal(f.b.frames, 7);
    assert_int_equal(f.b.last, next - 1);
    send_run_later(from, next++, 0); /* not sent: it is freed with the channel */
    hac_channel_close(from);
    hac_channel_close(to);
    close_pair(&f);
}

/* More messages than the socket's buffer takes stay in order, too. */
static void test_later_under_back_pressure(void **state)
{
    (void)state;
    fixture f;
    hac_channel *from = NULL, *to = NULL;
    open_pair(&f);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[0], 8 << 20, 4, &events, &f.a, no_closer, &from, NULL),
                     HAC_OK);
    for (uint64_t i = 1; i <= 500; i++)
        if (i % 7 == 0)
            send_ping(from, i);
        else
            send_run_later(from, i, 10000);
    hac_channel_flush(from);
    assert_true(hac_channel_queued(from) > 0);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[1], 1 << 20, 4, &events, &f.b, no_closer, &to, NULL),
                     HAC_OK);
    for (int i = 0; i < 100 && f.b.last < 500; i++)
        run_some(&f);
    assert_int_equal(f.b.last, 500);
    hac_channel_close(from);
    hac_channel_close(to);
    close_pair(&f);
}

static void test_garbage(void **state)
{
    (void)state;
    fixture f;
    hac_channel *channel = NULL;
    open_pair(&f);
    assert_int_equal(hac_channel_open(&f.loop, f.pair[0], 4096, 4, &events, &f.a, no_closer, &channel, NULL),
                     HAC_OK);
    assert_int_equal(send(f.pair[1], "nonsense that is no frame", 25, 0), 25);
    run_some(&f);
    assert_int_equal(f.a.frames, 0);
    assert_int_equal(f.a.lost, 1);
    hac_channel_close(channel);
    close(f.pair[1]);
    close_pair(&f);
}

/* The first loop of a process creates libuv's signal pipe, which stays open. */
static int warm_up(void **state)
{
    (void)state;
    uv_loop_t loop;
    return uv_loop_init(&loop) != 0 || uv_loop_close(&loop) != 0;
}

#define NEED(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            _exit(__LINE__ & 0xff);                                                                          \
    } while (0)

static void run_for(fixture *f, unsigned ms)
{
    for (unsigned i = 0; i < ms; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
}

/* In a process of its own without privileges, because the kernel does not limit root. */
static _Noreturn void send_too_many_descriptors(void)
{
    static uint8_t frame[HAC_FRAME_MAX];
    const struct rlimit few = {64, 64};
    const int fd = STDERR_FILENO;
    fixture f;
    int other[2], n = 0;
    hac_channel *channel = NULL;
    hac_frame got;
    hac_status status = HAC_OK;
    NEED(geteuid() != 0 || setresuid(60204, 60204, 60204) == 0);
    NEED(setrlimit(RLIMIT_NOFILE, &few) == 0);
    open_pair(&f);
    NEED(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, other) == 0);
    for (; n < 1000 && status == HAC_OK; n++)
        status = hac_frame_send(other[0], frame, 1, &fd, 1, NULL);
    NEED(status == HAC_REFUSED);
    NEED(hac_channel_open(&f.loop, f.pair[0], 1 << 20, 4, &events, &f.a, no_closer, &channel, NULL) ==
         HAC_OK);
    Hac__Executor__DescriptorAdd add = HAC__EXECUTOR__DESCRIPTOR_ADD__INIT;
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    add.descriptor = 1;
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_DESCRIPTOR_ADD;
    command.descriptor_add = &add;
    hac_channel_send(channel, &command.base, &fd, 1);
    send_ping(channel, 1);
    run_for(&f, 50);
    NEED(f.a.lost == 0 && hac_channel_queued(channel) > 0); /* it waits, and what follows behind it */
    NEED(hac_channel_stalled_seconds(channel) == 0 && hac_channel_unread(channel) == 1);
    while (hac_frame_receive(other[1], frame, &got, NULL) == HAC_OK)
        hac_frame_clear(&got);
    for (int i = 0; i < 100 && hac_channel_queued(channel) > 0; i++)
        run_for(&f, 10);
    NEED(hac_channel_queued(channel) == 0 && hac_channel_unread(channel) == 1);
    NEED(hac_frame_receive(f.pair[1], frame, &got, NULL) == HAC_OK && got.n_fds == 1);
    NEED(hac_channel_unread(channel) == 1); /* the second message is unread still */
    NEED(hac_frame_receive(f.pair[1], frame, &got, NULL) == HAC_OK && got.n_fds == 0);
    NEED(hac_channel_unread(channel) == 0);
    _exit(0);
}

/* Descriptors that other peers have not read are not the fault of the peer that gets the next one. */
static void test_too_many_descriptors(void **state)
{
    (void)state;
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        send_too_many_descriptors();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order_under_back_pressure, hac_test_fds_setup,
                                        hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_peer_that_does_not_read, hac_test_fds_setup,
                                        hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_peer_that_leaves, hac_test_fds_setup, hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_last_words_after_a_failed_send, hac_test_fds_setup,
                                        hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_later, hac_test_fds_setup, hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_later_under_back_pressure, hac_test_fds_setup,
                                        hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_too_many_descriptors, hac_test_fds_setup, hac_test_fds_teardown),
        cmocka_unit_test_setup_teardown(test_garbage, hac_test_fds_setup, hac_test_fds_teardown),
    };
    return cmocka_run_group_tests(tests, warm_up, NULL);
}
