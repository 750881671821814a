/* SPDX-License-Identifier: Apache-2.0 */
/* One SOCK_SEQPACKET socket on the loop: frames in, frames out, with a bounded queue. hacd talks to clients
 * and to its children through channels. A peer that does not read fills its own queue and is cut off.
 *
 * The kernel limits the descriptors that a user has sent and nobody has read yet (ETOOMANYREFS). The
 * receiver is not at fault, so the message waits, and is tried again soon. */
#ifndef SERVER_CHANNEL_H
#define SERVER_CHANNEL_H

#include <stdbool.h>
#include <uv.h>

#include <protobuf-c/protobuf-c.h>

#include "base/list.h"
#include "deferred_close.h"
#include "proto/frame.h"

typedef struct hac_channel hac_channel;

typedef struct hac_channel_events {
    /* A frame has arrived. Descriptors that the callee does not take are closed afterwards. The callee may
     * call hac_channel_close. */
    void (*frame)(void *context, hac_frame *frame);
    /* The peer closed the connection (reason NULL), broke the protocol, or stopped reading. Called once,
     * never from inside hac_channel_close. The owner then calls hac_channel_close. */
    void (*lost)(void *context, const char *reason);
    /* Whether a frame may be read now. If not, the frame stays in the socket, and the channel asks again in
     * the loop's next turn. NULL: always. */
    bool (*may)(void *context);
} hac_channel_events;

/* Takes ownership of the socket, also on failure, and makes it non-blocking. `closing` closes the socket and
 * the descriptors that pass through it. `queue_max` is the number of bytes that may wait for a slow peer.
 * `batch` is the number of frames read per wake-up: it keeps a busy peer from starving the others. */
HAC_MUST_USE hac_status hac_channel_open(uv_loop_t *loop, int socket, size_t queue_max, unsigned batch,
                                         const hac_channel_events *events, void *context,
                                         hac_fd_owner closing, hac_channel **ret, hac_error *err);

/* Packs one message and sends or queues it. Descriptors are borrowed. A failure is reported through `lost` in
 * the next turn of the loop, so callers need not unwind. */
void hac_channel_send(hac_channel *channel, const ProtobufCMessage *message, const int *fds, size_t n_fds);

/* For messages without descriptors that consist of one repeated field: several of them become one message. It
 * is sent with the next other message, with hac_channel_flush, or when HAC_RUNS_MAX are waiting. */
void hac_channel_send_later(hac_channel *channel, const ProtobufCMessage *message);
void hac_channel_flush(hac_channel *channel);

/* While paused, what the peer sends stays in the socket. */
void hac_channel_pause(hac_channel *channel, bool pause);

/* Reads, at once, everything that the peer sent before it died. */
void hac_channel_drain(hac_channel *channel);

/* Closes the channel; no event follows. NULL is allowed. */
void hac_channel_close(hac_channel *channel);

/* How long messages have been waiting for a peer that reads nothing; 0: none waits. */
double hac_channel_stalled_seconds(const hac_channel *channel);

size_t hac_channel_queued(const hac_channel *channel);

/* Descriptors that were sent, or wait, since the peer had last read everything; 0: it has read everything. */
size_t hac_channel_unread(hac_channel *channel);

/* Gives the peer up: `lost` follows with that reason, in the next turn of the loop. */
void hac_channel_give_up(hac_channel *channel, const char *reason);

/* hac_channel_close of a peer that leaves descriptors unread: they stay on their way until the peer reads
 * them or closes its socket. Returns the socket, shut down, which tells (hac_socket_is_read); the caller
 * closes it. */
int hac_channel_close_unread(hac_channel *channel);
/* Whether the peer of a socket has read, or dropped, all that it was sent. */
bool hac_socket_is_read(int socket);

#endif
