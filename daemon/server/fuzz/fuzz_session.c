/* SPDX-License-Identifier: Apache-2.0 */
/* Whole sessions: hacd's own objects on its loop, clients at the other ends of socket pairs, fake children
 * (fake_child.h). The input is a sequence of steps: a byte that selects the step, then its parameters
 * (below). Checks besides the sanitizers: every answer, event and command is valid; hacd's own assertions
 * hold, among them that each user's account balances at the end; the loop ends; no descriptor stays open. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "admin/shutdown.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "fake_child.h"
#include "proto/frame.h"
#include "server.h"
#include "sessions/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CLIENTS    4
#define CHILDREN   8
#define TURNS      3
#define KINDS      4
#define VALUES     8
#define FRAME_HEAD 8

enum { FRAME, PACKET, CONNECT, CLOSE, REPORT, ANSWER, DIE, TICK, STEPS };

typedef struct input {
    const uint8_t *at, *end;
} input;

typedef struct world {
    hac_server *server;
    int clients[CLIENTS];
    int foreign[KINDS]; /* descriptors that clients send */
} world;

static unsigned take(input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static unsigned take_u16(input *in)
{
    unsigned low = take(in);
    return low | take(in) << 8;
}

/* At most *bytes of the rest. */
static const uint8_t *take_bytes(input *in, size_t *bytes)
{
    const uint8_t *at = in->at;
    if (*bytes > (size_t)(in->end - in->at))
        *bytes = (size_t)(in->end - in->at);
    in->at += *bytes;
    return at;
}

static void need(bool condition)
{
    if (!condition)
        abort();
}

/* ---- clients ------------------------------------------------------------------------------------------ */

static void send_packet(const world *w, unsigned client, const uint8_t *packet, size_t bytes, unsigned n_fds)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(HAC_DESCRIPTORS_MAX * sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)packet, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (w->clients[client] < 0)
        return;
    if (n_fds > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        for (size_t i = 0; i < n_fds; i++)
            memcpy(CMSG_DATA(c) + i * sizeof(int), &w->foreign[i % KINDS], sizeof(int));
    }
    (void)sendmsg(w->clients[client], &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void send_frame(const world *w, unsigned client, const uint8_t *body, size_t bytes, unsigned n_fds)
{
    static uint8_t packet[FRAME_HEAD + UINT16_MAX];
    const uint8_t head[FRAME_HEAD] = {'h', 'a', 'c', (uint8_t)n_fds, (uint8_t)bytes, (uint8_t)(bytes >> 8)};
    memcpy(packet, head, FRAME_HEAD);
    memcpy(packet + FRAME_HEAD, body, bytes);
    send_packet(w, client, packet, FRAME_HEAD + bytes, n_fds);
}

static void greet(const world *w, unsigned client)
{
    static char software[] = "fuzz";
    static uint8_t body[HAC_FRAME_BODY_MAX];
    size_t bytes = 0;
    Hac__Client__Hello hello = HAC__CLIENT__HELLO__INIT;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    hello.version = HAC_CLIENT_PROTOCOL_VERSION;
    hello.software = software;
    request.serial = 1;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_HELLO;
    request.hello = &hello;
    need(hac_encode(&request.base, body, &bytes, NULL) == HAC_OK);
    send_frame(w, client, body, bytes, 0);
}

static void connect_client(world *w, unsigned client, bool greets)
{
    int pair[2];
    if (w->clients[client] >= 0 || w->server->jobs.draining)
        return;
    need(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
    w->clients[client] = pair[0];
    hac_session_accept(&w->server->sessions, pair[1], false);
    if (greets)
        greet(w, client);
}

/* Reads one message from hacd. Returns false if there is none, or the connection has ended. */
static bool read_answer(world *w, unsigned client)
{
    static uint8_t buffer[HAC_FRAME_MAX];
    static hac_decoder *decoder;
    hac_frame frame = {0};
    Hac__Client__Response *response = NULL;
    need(decoder != NULL || hac_decoder_new(&decoder, NULL) == HAC_OK);
    hac_status status = hac_frame_receive(w->clients[client], buffer, &frame, NULL);
    if (status == HAC_NOT_FOUND)
        hac_close(hac_steal_fd(&w->clients[client]));
    need(status == HAC_OK || status == HAC_AGAIN || status == HAC_NOT_FOUND);
    if (status == HAC_OK)
        need(hac_decode_response(decoder, frame.body, frame.body_bytes, frame.n_fds, &response, NULL) ==
             HAC_OK);
    hac_frame_clear(&frame);
    return status == HAC_OK;
}

static void turn(world *w)
{
    hac_log_set_level((hac_log_level)-1); /* not even errors; a reload sets the level again */
    for (int i = 0; i < TURNS; i++) {
        uv_run(&w->server->loop, UV_RUN_NOWAIT);
        fake_children_start_up();
        for (unsigned c = 0; c < CLIENTS; c++)
            while (w->clients[c] >= 0 && read_answer(w, c))
                ;
    }
}

/* ---- steps -------------------------------------------------------------------------------------------- */

/* Client, descriptors, length (2 bytes), body. */
static void step_frame(world *w, input *in)
{
    unsigned client = take(in) % CLIENTS, n_fds = take(in) % (HAC_DESCRIPTORS_MAX + 1);
    size_t bytes = take_u16(in);
    const uint8_t *body = take_bytes(in, &bytes);
    send_frame(w, client, body, bytes, n_fds);
}

/* The same without a valid frame header. */
static void step_packet(world *w, input *in)
{
    unsigned client = take(in) % CLIENTS, n_fds = take(in) % (HAC_DESCRIPTORS_MAX + 1);
    size_t bytes = take_u16(in);
    const uint8_t *packet = take_bytes(in, &bytes);
    send_packet(w, client, packet, bytes, n_fds);
}

static void step_close(world *w, input *in)
{
    unsigned client = take(in) % CLIENTS;
    if (w->clients[client] >= 0)
        hac_close(hac_steal_fd(&w->clients[client]));
}

/* Child, length (2 bytes), a report. */
static void step_report(input *in)
{
    unsigned child = take(in) % CHILDREN;
    size_t bytes = take_u16(in);
    const uint8_t *body = take_bytes(in, &bytes);
    fake_child_report(child, body, bytes);
}

/* Child, code, number of values, the values (2 bytes each), length, data. */
static void step_answer(input *in)
{
    uint64_t values[VALUES];
    uint8_t data[UINT8_MAX];
    unsigned child = take(in) % CHILDREN, code = take(in);
    size_t n_values = take(in) % (VALUES + 1);
    for (size_t i = 0; i < n_values; i++)
        values[i] = take_u16(in);
    size_t bytes = take(in);
    const uint8_t *from = take_bytes(in, &bytes);
    if (bytes > 0)
        memcpy(data, from, bytes);
    fake_child_answer(child, code, values, n_values, data, bytes);
}

static void step_tick(world *w)
{
    if (!uv_is_closing((uv_handle_t *)&w->server->tick))
        w->server->tick.timer_cb(&w->server->tick);
}

static void step(world *w, input *in)
{
    unsigned what = take(in);
    switch (what % STEPS) {
    case FRAME:
        step_frame(w, in);
        break;
    case PACKET:
        step_packet(w, in);
        break;
    case CONNECT:
        connect_client(w, take(in) % CLIENTS, what < UINT8_MAX / 2);
        break;
    case CLOSE:
        step_close(w, in);
        break;
    case REPORT:
        step_report(in);
        break;
    case ANSWER:
        step_answer(in);
        break;
    case DIE:
        fake_child_die(take(in) % CHILDREN, what >> 4, what < UINT8_MAX / 2 ? SIGSEGV : 0);
        break;
    default:
        step_tick(w);
    }
}

/* ---- start and end ------------------------------------------------------------------------------------ */

static int listener(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX}; /* the kernel chooses a name */
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    need(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address.sun_family) == 0 &&
         listen(fd, 1) == 0);
    return fd;
}

static void world_begin(world *w)
{
    static const hac_server_options options = {.scratch_lock = -1,
                                               .state_directory = "/nonexistent/state",
                                               .cache_directory = "/nonexistent/cache",
                                               .scratch_directory = "/nonexistent/scratch",
                                               .executor_program = "/nonexistent/executor"};
    int page = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING), ends[2];
    need(page >= 0 && ftruncate(page, 4096) == 0 && pipe2(ends, O_CLOEXEC) == 0);
    *w = (world){.clients = {-1, -1, -1, -1},
                 .foreign = {page, ends[0], ends[1], open("/dev/null", O_RDWR | O_CLOEXEC)}};
    hac_server_options own = options;
    own.listener = listener();
    own.admin_listener = -1;
    need(hac_server_open(&own, &w->server, NULL) == HAC_OK);
    turn(w);
    turn(w);
    connect_client(w, 0, true);
    turn(w);
}

static void world_end(world *w)
{
    for (size_t i = 0; i < CLIENTS; i++)
        if (w->clients[i] >= 0)
            hac_close(w->clients[i]);
    hac_shutdown_now(w->server);
    uv_run(&w->server->loop, UV_RUN_DEFAULT);
    need(fake_children() == 0);
    hac_server_close(w->server);
    for (size_t i = 0; i < KINDS; i++)
        hac_close(w->foreign[i]);
}

/* The lowest free descriptor: it does not change as long as none leaks. */
static int lowest_free(void)
{
    int fd = dup(STDERR_FILENO);
    need(fd >= 0);
    close(fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ran;
    world w;
    int free_before = lowest_free();
    input in = {data, data + size};
    world_begin(&w);
    while (in.at < in.end) {
        step(&w, &in);
        turn(&w);
    }
    world_end(&w);
    need(!ran || lowest_free() == free_before); /* libuv keeps a few descriptors after the first run */
    ran = true;
    return 0;
}
