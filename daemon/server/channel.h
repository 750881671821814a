/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SOCK_SEQPACKET socket on the loop: frames in, frames out with a bounded queue. Clients and children
 * are both talked to through channels. A peer that does not read fills its own queue and is cut off.
 */
#ifndef SERVER_CHANNEL_H
#define SERVER_CHANNEL_H

#include <stdbool.h>
#include <uv.h>

#include <protobuf-c/protobuf-c.h>

#include "base/list.h"
#include "closer.h"
#include "proto/frame.h"

typedef struct hac_channel hac_channel;

typedef struct hac_channel_events {
    /* One frame has come in; its descriptors are closed afterwards unless taken. May call
     * hac_channel_close. */
    void (*frame)(void *context, hac_frame *frame);
    /* The peer closed (reason NULL), broke the rules, or stopped reading. Called once, not from inside
     * hac_channel_close. The owner then calls hac_channel_close. */
    void (*lost)(void *context, const char *reason);
    /* Whether a frame may be taken in now; one that may not stays in the socket, and it is asked again at the
     * loop's next turn. NULL: always. */
    bool (*may)(void *context);
} hac_channel_events;

/* Takes the socket over (it becomes non-blocking), also on failure. `closing`: what closes it, and the
 * descriptors that came through it or are to go. `queue_max`: bytes that may wait for a
 * slow peer; `batch`: frames taken in per wake-up, so that one busy peer does not starve the others. */
HAC_MUST_USE hac_status hac_channel_open(uv_loop_t *loop, int socket, size_t queue_max, unsigned batch,
                                         const hac_channel_events *events, void *context, hac_closing closing,
                                         hac_channel **ret, hac_error *err);

/* Packs and sends, or queues, one message; descriptors are borrowed. A failure is reported through `lost` on
 * the next turn of the loop, so that callers need not unwind. */
void hac_channel_send(hac_channel *channel, const ProtobufCMessage *message, const int *fds, size_t n_fds);

/* The same without descriptors for messages that are nothing but a list: several become one. It goes with the
 * next other message, with a flush, or when HAC_RUNS_MAX wait. */
void hac_channel_send_later(hac_channel *channel, const ProtobufCMessage *message);
void hac_channel_flush(hac_channel *channel);

/* Leaves what the peer sends unread until it is resumed. */
void hac_channel_pause(hac_channel *channel, bool pause);

/* Takes in, at once, what the peer sent before it died. */
void hac_channel_drain(hac_channel *channel);

/* Closes; no event follows. NULL is allowed. */
void hac_channel_close(hac_channel *channel);

/* For how long messages have waited for a peer that has read none meanwhile; 0: none waits. */
double hac_channel_stalled_seconds(const hac_channel *channel);

size_t hac_channel_queued(const hac_channel *channel);

#endif
