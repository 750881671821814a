/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames on a SOCK_SEQPACKET socket, with descriptors. The one file of the project that touches SCM_RIGHTS.
 *
 * A frame is an 8-byte header (magic, count of descriptors, body length) and a body of at most
 * HAC_FRAME_MAX - 8 bytes; one sendmsg, one recvmsg. Rules: MSG_TRUNC or MSG_CTRUNC, a wrong magic or
 * length, or another number of descriptors than the header says is HAC_PROTOCOL, and everything received
 * is closed; the caller closes the connection. Descriptors arrive close-on-exec.
 */
#ifndef PROTO_FRAME_H
#define PROTO_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define HAC_FRAME_MAX      65536
#define HAC_FRAME_BODY_MAX (HAC_FRAME_MAX - 8)
#define HAC_FRAME_MAX_FDS  253 /* more the kernel does not send */

typedef struct hac_frame {
    const uint8_t *body; /* inside the caller's buffer */
    size_t body_bytes;
    int fds[HAC_FRAME_MAX_FDS]; /* owned by the frame until taken */
    size_t n_fds;
} hac_frame;

/* Closes the descriptors that were not taken. */
void hac_frame_clear(hac_frame *frame);

/* The index-th descriptor, which stays the frame's; -1 if there is none (any more). */
static inline int hac_frame_fd(const hac_frame *frame, size_t index)
{
    return index < frame->n_fds ? frame->fds[index] : -1;
}

/* Takes it out. */
int hac_frame_take_fd(hac_frame *frame, size_t index);

/*
 * Receives one frame into `buffer` (HAC_FRAME_MAX bytes). Never blocks when the socket does not.
 * HAC_AGAIN: nothing there. HAC_NOT_FOUND: the peer has closed. HAC_PROTOCOL: see above. HAC_IO: this process
 * may not have as many descriptors open as came, or the kernel failed; the caller closes the connection, too.
 */
HAC_MUST_USE hac_status hac_frame_receive(int socket, uint8_t *buffer, hac_frame *ret, hac_error *err);

/* The same, but nothing is closed: *ret has the descriptors that came, whatever is returned. */
HAC_MUST_USE hac_status hac_frame_receive_all(int socket, uint8_t *buffer, hac_frame *ret, hac_error *err);

/*
 * Sends one frame. `buffer` has HAC_FRAME_MAX bytes of which body starts at hac_frame_body(buffer); the
 * header is filled in here. Descriptors are borrowed. HAC_AGAIN: the socket is full. HAC_NOT_FOUND: the peer
 * is gone.
 */
HAC_MUST_USE hac_status hac_frame_send(int socket, uint8_t *buffer, size_t body_bytes, const int *fds,
                                       size_t n_fds, hac_error *err);

static inline uint8_t *hac_frame_body(uint8_t *buffer)
{
    return buffer + 8;
}

#endif
