/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to hacd: commands in, reports out, on an inherited blocking SOCK_SEQPACKET socket. The
 * executor waits for nothing else, so a command costs one blocking recvmsg and no poll.
 */
#ifndef EXECUTOR_PARENT_H
#define EXECUTOR_PARENT_H

#include <stdbool.h>

#include "proto/frame.h"
#include "proto/messages.h"

#define HAC_PARENT_FD 3 /* the descriptor that hacd uses for the socket */

typedef struct hac_parent {
    int socket; /* borrowed */
    hac_decoder *decoder;
    uint8_t in[HAC_FRAME_MAX], out[HAC_FRAME_MAX];
    uint8_t later[HAC_FRAME_MAX]; /* answers that have not been sent; their bodies in sequence are one body */
    size_t later_bytes;
    unsigned n_later;
} hac_parent;

HAC_MUST_USE hac_status hac_parent_open(int socket, hac_parent **ret, hac_error *err);
void hac_parent_free(hac_parent *parent);

/*
 * Waits for a command. *ret and the frame's body are valid until the next call. The caller takes or clears
 * the frame's descriptors. HAC_NOT_FOUND: hacd has closed the connection. HAC_PROTOCOL: the message is
 * malformed.
 */
HAC_MUST_USE hac_status hac_parent_receive(hac_parent *parent, Hac__Executor__Command **ret, hac_frame *frame,
                                           hac_error *err);

/* Whether a command has arrived already. */
bool hac_parent_has_command(const hac_parent *parent);

/* Sends a report; waits while the socket is full. HAC_NOT_FOUND: hacd has closed the connection. */
HAC_MUST_USE hac_status hac_parent_send(hac_parent *parent, const Hac__Executor__Report *report,
                                        hac_error *err);

/* Sends `dones`. They may wait for more of them until a report of another kind or a flush. */
HAC_MUST_USE hac_status hac_parent_send_later(hac_parent *parent, const Hac__Executor__Report *report,
                                              hac_error *err);
HAC_MUST_USE hac_status hac_parent_flush(hac_parent *parent, hac_error *err);

/* Reports why this process is about to exit. */
void hac_parent_send_fatal(hac_parent *parent, const hac_error *err);

#endif
