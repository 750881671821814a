/* SPDX-License-Identifier: Apache-2.0 */
#include "channel.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "proto/messages.h"

/* What a queued frame costs in addition to its body. Counting it keeps a peer that does not read from making
 * hacd hold thousands of descriptors, or of frames of a few bytes. */
#define FRAME_COST      128
#define DESCRIPTOR_COST 8192
#define HELD_MS         10 /* between attempts while the kernel takes no descriptors */

/* A frame that did not fit into the peer's socket. */
typedef struct waiting_frame {
    hac_link link;
    size_t body_bytes, cost;
    uint8_t *buffer; /* header and body, after the descriptors */
    size_t n_fds;
    int fds[]; /* duplicates that the frame owns */
} waiting_frame;

struct hac_channel {
    uv_poll_t poll;
    uv_idle_t failure; /* calls `lost` from the loop, not from inside a send */
    uv_timer_t retry;
    int socket;
    hac_channel_events events;
    hac_fd_owner closing;
    void *context;
    hac_link waiting;
    uint8_t *later; /* a frame being filled: concatenated message bodies form one body; NULL: none */
    size_t later_bytes;
    unsigned n_later;
    size_t queued, queue_max;
    uint64_t moved_ns; /* when the queue began to fill, or the peer last took a message */
    unsigned batch;
    unsigned open_handles;
    bool closed, lost, paused;
    bool held;     /* until `retry` rings: the kernel takes no descriptors */
    size_t unread; /* descriptors sent since the peer had read everything */
    char reason[160];
};

/* All channels share these two buffers: one frame is handled at a time, on the loop's thread. */
static _Thread_local uint8_t receive_buffer[HAC_FRAME_MAX];
static _Thread_local uint8_t send_buffer[HAC_FRAME_MAX];

static void waiting_free(const hac_channel *channel, waiting_frame *frame)
{
    for (size_t i = 0; i < frame->n_fds; i++)
        hac_deferred_close_fd(channel->closing, frame->fds[i]);
    free(frame);
}

static void drop_waiting(hac_channel *channel)
{
    while (!hac_list_empty(&channel->waiting)) {
        waiting_frame *frame = hac_container_of(channel->waiting.next, waiting_frame, link);
        hac_list_remove(&frame->link);
        waiting_free(channel, frame);
    }
    channel->queued = 0;
}

static void on_failure(uv_idle_t *handle);

static void lose(hac_channel *channel, const char *reason)
{
    if (channel->lost || channel->closed)
        return;
    channel->lost = true;
    snprintf(channel->reason, sizeof channel->reason, "%s", reason != NULL ? reason : "");
    uv_poll_stop(&channel->poll);
    uv_timer_stop(&channel->retry);
    drop_waiting(channel);
    uv_idle_start(&channel->failure, on_failure);
}

static bool receive_frame(hac_channel *channel)
{
    hac_frame frame;
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_frame_receive_all(channel->socket, receive_buffer, &frame, &err);
    if (status == HAC_OK)
        channel->events.frame(channel->context, &frame);
    else if (status != HAC_AGAIN)
        lose(channel, status == HAC_NOT_FOUND ? NULL : err.message);
    for (size_t i = 0; i < frame.n_fds; i++) /* descriptors that nobody took */
        hac_deferred_close_fd(channel->closing, hac_frame_take_fd(&frame, i));
    return status == HAC_OK;
}

static void receive_frames(hac_channel *channel, unsigned max)
{
    for (unsigned i = 0; i < max && !channel->closed && !channel->lost && !channel->paused; i++)
        if (!receive_frame(channel))
            return;
}

/* Reads frame by frame while the owner accepts them. If the peer has gone, reads everything at once. */
static void receive_batch(hac_channel *channel)
{
    for (unsigned i = 0; i < channel->batch && !channel->closed && !channel->lost && !channel->paused; i++)
        if ((channel->events.may != NULL && !channel->events.may(channel->context)) ||
            !receive_frame(channel))
            return;
}

static void on_failure(uv_idle_t *handle)
{
    hac_channel *channel = handle->data;
    uv_idle_stop(handle);
    /* A send found that the peer has gone. What the peer sent before that still counts. */
    while (channel->reason[0] == '\0' && !channel->closed && !channel->paused && receive_frame(channel))
        ;
    if (!channel->closed)
        channel->events.lost(channel->context, channel->reason[0] != '\0' ? channel->reason : NULL);
}

static void on_poll(uv_poll_t *handle, int status, int events);

static void watch(hac_channel *channel)
{
    bool writes = !hac_list_empty(&channel->waiting) && !channel->held;
    int events = (channel->paused ? 0 : UV_READABLE) | (writes ? UV_WRITABLE : 0);
    uv_poll_start(&channel->poll, events | UV_DISCONNECT, on_poll);
}

static void on_retry(uv_timer_t *timer);

/* The kernel takes no descriptors from this user now, though the socket is writable. */
static void hold(hac_channel *channel)
{
    channel->held = true;
    uv_timer_start(&channel->retry, on_retry, HELD_MS, 0);
    watch(channel);
}

static void send_waiting(hac_channel *channel)
{
    while (!hac_list_empty(&channel->waiting)) {
        waiting_frame *frame = hac_container_of(channel->waiting.next, waiting_frame, link);
        hac_error err = HAC_ERROR_NONE;
        hac_status status =
            hac_frame_send(channel->socket, frame->buffer, frame->body_bytes, frame->fds, frame->n_fds, &err);
        if (status == HAC_AGAIN)
            return;
        if (status == HAC_REFUSED) {
            hold(channel);
            return;
        }
        if (status != HAC_OK) {
            lose(channel, status == HAC_NOT_FOUND ? NULL : err.message);
            return;
        }
        hac_list_remove(&frame->link);
        channel->queued -= frame->cost;
        channel->moved_ns = hac_now_ns();
        waiting_free(channel, frame);
    }
    watch(channel);
}

static void on_retry(uv_timer_t *timer)
{
    hac_channel *channel = timer->data;
    channel->held = false;
    watch(channel);
    send_waiting(channel);
}

static void on_poll(uv_poll_t *handle, int status, int events)
{
    hac_channel *channel = handle->data;
    if (status < 0) {
        /* libuv reports an error or hang-up on the socket: the peer has gone. What the peer sent before that
         * still counts. */
        receive_frames(channel, UINT_MAX);
        lose(channel, NULL);
        return;
    }
    if (events & UV_WRITABLE)
        send_waiting(channel);
    if ((events & UV_READABLE) && !channel->lost)
        receive_batch(channel);
    else if ((events & UV_DISCONNECT) && !channel->lost && channel->paused)
        lose(channel, NULL);
}

hac_status hac_channel_open(uv_loop_t *loop, int socket, size_t queue_max, unsigned batch,
                            const hac_channel_events *events, void *context, hac_fd_owner closing,
                            hac_channel **ret, hac_error *err)
{
    hac_autoclose int owned = socket;
    int flags = fcntl(owned, F_GETFL);
    if (flags < 0 || HAC_FAILPOINT("channel.nonblocking", -1, fcntl(owned, F_SETFL, flags | O_NONBLOCK)) != 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot make a socket non-blocking");
    hac_channel *channel = calloc(1, sizeof *channel);
    if (channel == NULL)
        return hac_fail_no_memory(err);
    int r = HAC_FAILPOINT("channel.poll", -errno, uv_poll_init(loop, &channel->poll, owned));
    if (r != 0) {
        free(channel);
        return hac_fail(err, HAC_IO, "cannot watch a socket: %s", uv_strerror(r));
    }
    uv_idle_init(loop, &channel->failure);
    uv_timer_init(loop, &channel->retry);
    channel->poll.data = channel->failure.data = channel->retry.data = channel;
    channel->socket = hac_steal_fd(&owned);
    channel->events = *events;
    channel->context = context;
    channel->closing = closing;
    channel->queue_max = queue_max;
    channel->batch = batch;
    channel->open_handles = 3;
    hac_list_init(&channel->waiting);
    watch(channel);
    *ret = channel;
    return HAC_OK;
}

/* Keeps a copy of the frame until the peer reads. */
static void enqueue(hac_channel *channel, uint8_t *buffer, size_t body_bytes, const int *fds, size_t n_fds)
{
    size_t cost = body_bytes + FRAME_COST + n_fds * DESCRIPTOR_COST;
    if (channel->queued + cost > channel->queue_max) {
        lose(channel, "it does not read its messages");
        return;
    }
    waiting_frame *frame =
        calloc(1, sizeof *frame + n_fds * sizeof *fds + HAC_FRAME_MAX - HAC_FRAME_BODY_MAX + body_bytes);
    if (frame == NULL) {
        lose(channel, "out of memory");
        return;
    }
    frame->buffer = (uint8_t *)(frame->fds + n_fds);
    frame->body_bytes = body_bytes;
    frame->cost = cost;
    memcpy(hac_frame_body(frame->buffer), hac_frame_body(buffer), body_bytes);
    for (size_t i = 0; i < n_fds; i++) {
        int copy = HAC_FAILPOINT("channel.copy", -1, fcntl(fds[i], F_DUPFD_CLOEXEC, 0));
        if (copy < 0) {
            waiting_free(channel, frame);
            lose(channel, "out of descriptors");
            return;
        }
        frame->fds[frame->n_fds++] = copy;
    }
    if (hac_list_empty(&channel->waiting))
        channel->moved_ns = hac_now_ns();
    hac_list_append(&channel->waiting, &frame->link);
    channel->queued += cost;
    watch(channel);
}

static void send_frame(hac_channel *channel, uint8_t *buffer, size_t bytes, const int *fds, size_t n_fds)
{
    hac_error err = HAC_ERROR_NONE;
    channel->unread += n_fds;
    if (!hac_list_empty(&channel->waiting)) {
        enqueue(channel, buffer, bytes, fds, n_fds);
        return;
    }
    hac_status status = hac_frame_send(channel->socket, buffer, bytes, fds, n_fds, &err);
    if (status == HAC_AGAIN || status == HAC_REFUSED)
        enqueue(channel, buffer, bytes, fds, n_fds);
    if (status == HAC_REFUSED && !channel->lost)
        hold(channel);
    else if (status != HAC_OK && status != HAC_AGAIN)
        lose(channel, status == HAC_NOT_FOUND ? NULL : err.message);
}

/* Packs a message into send_buffer. */
static bool encode(hac_channel *channel, const ProtobufCMessage *message, size_t *ret_bytes)
{
    hac_error err = HAC_ERROR_NONE;
    bool good = hac_encode(message, hac_frame_body(send_buffer), ret_bytes, &err) == HAC_OK;
    if (!good)
        lose(channel, err.message);
    return good;
}

void hac_channel_flush(hac_channel *channel)
{
    size_t bytes = channel->later_bytes;
    channel->later_bytes = channel->n_later = 0;
    if (bytes > 0 && !channel->closed && !channel->lost)
        send_frame(channel, channel->later, bytes, NULL, 0);
}

void hac_channel_send(hac_channel *channel, const ProtobufCMessage *message, const int *fds, size_t n_fds)
{
    size_t bytes = 0;
    hac_channel_flush(channel);
    if (!channel->closed && !channel->lost && encode(channel, message, &bytes))
        send_frame(channel, send_buffer, bytes, fds, n_fds);
}

void hac_channel_send_later(hac_channel *channel, const ProtobufCMessage *message)
{
    size_t bytes = 0;
    if (channel->later == NULL)
        channel->later = malloc(HAC_FRAME_MAX);
    if (channel->later == NULL) {
        hac_channel_send(channel, message, NULL, 0);
        return;
    }
    if (channel->closed || channel->lost || !encode(channel, message, &bytes))
        return;
    if (channel->n_later == HAC_RUNS_MAX || channel->later_bytes + bytes > HAC_FRAME_BODY_MAX)
        hac_channel_flush(channel);
    memcpy(hac_frame_body(channel->later) + channel->later_bytes, hac_frame_body(send_buffer), bytes);
    channel->later_bytes += bytes;
    channel->n_later++;
}

void hac_channel_pause(hac_channel *channel, bool pause)
{
    channel->paused = pause;
    if (!channel->closed && !channel->lost)
        watch(channel);
}

void hac_channel_drain(hac_channel *channel)
{
    receive_frames(channel, UINT_MAX); /* stops at end of file */
}

static void on_handle_closed(uv_handle_t *handle)
{
    hac_channel *channel = handle->data;
    if (--channel->open_handles > 0)
        return;
    free(channel->later);
    free(channel);
}

/* Closes all but the socket, and returns that. libuv allows closing it once the poll handle is stopped and
 * closing. */
static int close_handles(hac_channel *channel)
{
    channel->closed = true;
    drop_waiting(channel);
    uv_poll_stop(&channel->poll);
    uv_close((uv_handle_t *)&channel->failure, on_handle_closed);
    uv_close((uv_handle_t *)&channel->retry, on_handle_closed);
    uv_close((uv_handle_t *)&channel->poll, on_handle_closed);
    return hac_steal_fd(&channel->socket);
}

void hac_channel_close(hac_channel *channel)
{
    if (channel == NULL || channel->closed)
        return;
    hac_fd_owner closing = channel->closing;
    hac_deferred_close_socket(closing, close_handles(channel));
}

int hac_channel_close_unread(hac_channel *channel)
{
    int socket = close_handles(channel);
    shutdown(socket, SHUT_RDWR);
    return socket;
}

bool hac_socket_is_read(int socket)
{
    int bytes = 0;
    return ioctl(socket, SIOCOUTQ, &bytes) != 0 || bytes == 0;
}

size_t hac_channel_unread(hac_channel *channel)
{
    if (channel->unread > 0 && hac_list_empty(&channel->waiting) && hac_socket_is_read(channel->socket))
        channel->unread = 0;
    return channel->unread;
}

void hac_channel_give_up(hac_channel *channel, const char *reason)
{
    lose(channel, reason);
}

double hac_channel_stalled_seconds(const hac_channel *channel)
{
    return hac_list_empty(&channel->waiting) || channel->held ? 0 : hac_seconds_since(channel->moved_ns);
}

size_t hac_channel_queued(const hac_channel *channel)
{
    return channel->queued;
}
