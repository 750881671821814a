/* SPDX-License-Identifier: Apache-2.0 */
#include "parent.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"

hac_status hac_parent_open(int socket, hac_parent **ret, hac_error *err)
{
    int type = 0;
    socklen_t bytes = sizeof type;
    if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0 || type != SOCK_SEQPACKET)
        return hac_fail(err, HAC_INVALID,
                        "descriptor %d is no SOCK_SEQPACKET socket: hac-executor is started by hacd only",
                        socket);
    hac_parent *parent = malloc(sizeof *parent);
    if (parent == NULL)
        return hac_fail_no_memory(err);
    parent->later_bytes = parent->n_later = 0;
    parent->socket = socket;
    hac_status status = hac_decoder_new(&parent->decoder, err);
    if (status != HAC_OK)
        free(parent);
    else
        *ret = parent;
    return status;
}

void hac_parent_free(hac_parent *parent)
{
    if (parent == NULL)
        return;
    hac_decoder_free(parent->decoder);
    free(parent);
}

static void wait_for(const hac_parent *parent, short events)
{
    struct pollfd p = {.fd = parent->socket, .events = events};
    poll(&p, 1, -1);
}

hac_status hac_parent_receive(hac_parent *parent, Hac__Executor__Command **ret, hac_frame *frame,
                              hac_error *err)
{
    hac_status status;
    /* HAC_AGAIN happens only if somebody made the socket non-blocking. */
    while ((status = hac_frame_receive(parent->socket, parent->in, frame, err)) == HAC_AGAIN)
        wait_for(parent, POLLIN);
    if (status != HAC_OK)
        return status;
    status = hac_decode_command(parent->decoder, frame->body, frame->body_bytes, frame->n_fds, ret, err);
    if (status != HAC_OK)
        hac_frame_clear(frame);
    return status;
}

bool hac_parent_has_command(const hac_parent *parent)
{
    struct pollfd p = {.fd = parent->socket, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

static hac_status send_frame(const hac_parent *parent, uint8_t *frame, size_t bytes, hac_error *err)
{
    hac_status status;
    while ((status = hac_frame_send(parent->socket, frame, bytes, NULL, 0, err)) == HAC_AGAIN)
        wait_for(parent, POLLOUT);
    return status;
}

hac_status hac_parent_send(hac_parent *parent, const Hac__Executor__Report *report, hac_error *err)
{
    size_t bytes = 0;
    hac_status status = hac_parent_flush(parent, err);
    if (status == HAC_OK)
        status = hac_encode(&report->base, hac_frame_body(parent->out), &bytes, err);
    return status == HAC_OK ? send_frame(parent, parent->out, bytes, err) : status;
}

hac_status hac_parent_flush(hac_parent *parent, hac_error *err)
{
    size_t bytes = parent->later_bytes;
    parent->later_bytes = parent->n_later = 0;
    return bytes > 0 ? send_frame(parent, parent->later, bytes, err) : HAC_OK;
}

hac_status hac_parent_send_later(hac_parent *parent, const Hac__Executor__Report *report, hac_error *err)
{
    size_t bytes = 0;
    hac_status status = hac_encode(&report->base, hac_frame_body(parent->out), &bytes, err);
    if (status == HAC_OK &&
        (parent->n_later == HAC_RUNS_MAX || parent->later_bytes + bytes > HAC_FRAME_BODY_MAX))
        status = hac_parent_flush(parent, err);
    if (status != HAC_OK)
        return status;
    memcpy(hac_frame_body(parent->later) + parent->later_bytes, hac_frame_body(parent->out), bytes);
    parent->later_bytes += bytes;
    parent->n_later++;
    return HAC_OK;
}

void hac_parent_send_fatal(hac_parent *parent, const hac_error *err)
{
    char text[HAC_ERROR_MESSAGE_SIZE];
    memcpy(text, err->message, sizeof text);
    Hac__Executor__Report report;
    hac__executor__report__init(&report);
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_FATAL;
    report.fatal = text;
    (void)!hac_parent_send(parent, &report, NULL);
}
