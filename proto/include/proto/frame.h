/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames on a SOCK_SEQPACKET socket, with descriptors. No other file of the project uses SCM_RIGHTS.
 *
 * A frame is an 8-byte header (magic, number of descriptors, length of the body) and a body of at most
 * HAC_FRAME_BODY_MAX bytes. One sendmsg sends a frame, one recvmsg receives it. Descriptors arrive
 * close-on-exec.
 *
 * Receiving fails with HAC_PROTOCOL if the magic or a length is wrong, if the number of descriptors is not
 * the number in the header, or if the kernel truncated the frame (MSG_TRUNC, MSG_CTRUNC). hac_frame_receive
 * then closes the received descriptors, and the caller closes the connection.
 */
#ifndef PROTO_FRAME_H
#define PROTO_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"

#define HAC_FRAME_MAX      65536
#define HAC_FRAME_BODY_MAX (HAC_FRAME_MAX - 8)

typedef struct hac_frame {
    const uint8_t *body; /* inside the caller's buffer */
    size_t body_bytes;
    int fds[HAC_DESCRIPTORS_MAX]; /* owned by the frame until taken */
    size_t n_fds;
} hac_frame;

/* Closes the descriptors that nobody has taken. */
void hac_frame_clear(hac_frame *frame);

/* Descriptor number `index`; the frame keeps it. -1: there is no such descriptor, or it was taken. */
static inline int hac_frame_fd(const hac_frame *frame, size_t index)
{
    return index < frame->n_fds ? frame->fds[index] : -1;
}

/* Descriptor number `index`; the caller owns it from now on. -1 as above. */
int hac_frame_take_fd(hac_frame *frame, size_t index);

/*
 * Receives one frame into `buffer` (HAC_FRAME_MAX bytes). Never blocks on a non-blocking socket. HAC_AGAIN:
 * there is no frame. HAC_NOT_FOUND: the peer has closed the connection. HAC_PROTOCOL: see above. HAC_IO: the
 * process's limit of descriptors is reached, or the kernel failed; the caller closes the connection.
 */
HAC_MUST_USE hac_status hac_frame_receive(int socket, uint8_t *buffer, hac_frame *ret, hac_error *err);

/* As hac_frame_receive, but closes no descriptors: *ret owns the received descriptors, also after a failure.
 */
HAC_MUST_USE hac_status hac_frame_receive_all(int socket, uint8_t *buffer, hac_frame *ret, hac_error *err);

/*
 * Sends one frame. `buffer` has HAC_FRAME_MAX bytes, with the body at hac_frame_body(buffer); this function
 * writes the header. Descriptors are borrowed. HAC_AGAIN: the socket is full. HAC_NOT_FOUND: the peer has
 * closed the connection. HAC_REFUSED: the kernel takes no more descriptors from this process's user, until
 * peers have read those on their way (ETOOMANYREFS); the socket may be writable meanwhile.
 */
HAC_MUST_USE hac_status hac_frame_send(int socket, uint8_t *buffer, size_t body_bytes, const int *fds,
                                       size_t n_fds, hac_error *err);

static inline uint8_t *hac_frame_body(uint8_t *buffer)
{
    return buffer + 8;
}

#endif
