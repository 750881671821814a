/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/frame.h"

#include <endian.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/failpoint.h"

/* The kernel's limit of descriptors in one message (SCM_MAX_FD). The control buffer has space for all of
 * them, so that the number that a hostile peer sent is known exactly. */

/* Little-endian on the wire. */
typedef struct frame_header {
    uint8_t magic[3];
    uint8_t n_fds;
    uint32_t body_bytes;
} frame_header;

_Static_assert(sizeof(frame_header) == HAC_FRAME_MAX - HAC_FRAME_BODY_MAX, "the header is 8 bytes");

static const uint8_t magic[3] = {'h', 'a', 'c'};

void hac_frame_clear(hac_frame *frame)
{
    for (size_t i = 0; i < frame->n_fds; i++)
        hac_closep(&frame->fds[i]);
    *frame = (hac_frame){0};
}

int hac_frame_take_fd(hac_frame *frame, size_t index)
{
    return index < frame->n_fds ? hac_steal_fd(&frame->fds[index]) : -1;
}

/* Keeps the first descriptors of a message, closes those beyond the limit; returns how many there were. */
static size_t collect_fds(struct msghdr *message, int fds[HAC_DESCRIPTORS_MAX])
{
    size_t n = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++, n++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (n < HAC_DESCRIPTORS_MAX)
                fds[n] = fd;
            else
                hac_close(fd);
        }
    }
    return n;
}

static hac_status receive_errno(int errnum, hac_error *err)
{
    if (errnum == EAGAIN)
        return hac_fail(err, HAC_AGAIN, "nothing to receive");
    if (errnum == ECONNRESET)
        return hac_fail(err, HAC_NOT_FOUND, "the peer has closed the connection");
    return hac_fail_errno(err, errnum == ENOMEM ? HAC_NO_MEMORY : HAC_IO, errnum, "cannot receive a message");
}

/* Descriptors were lost (MSG_CTRUNC). Tells whether this process has reached its limit of descriptors, which
 * is no fault of the peer, or whether the peer sent too many or a security module removed some: the received
 * descriptors are still open, so the limit is reached if one more cannot be opened. */
static hac_status fail_lost(int socket, hac_error *err)
{
    int one = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (one < 0)
        return hac_fail_errno(err, HAC_IO, errno, "descriptors of a message cannot be taken in");
    hac_close(one);
    return hac_fail(err, HAC_PROTOCOL, "descriptors of a message were lost");
}

/* Checks that `bytes` bytes with `n_fds` descriptors are a frame. */
static hac_status check_frame(const uint8_t *buffer, size_t bytes, size_t n_fds, int flags, hac_error *err)
{
    if ((flags & MSG_TRUNC) != 0)
        return hac_fail(err, HAC_PROTOCOL, "a message is larger than %d bytes", HAC_FRAME_MAX);
    frame_header header;
    if (bytes <= sizeof header)
        return hac_fail(err, HAC_PROTOCOL, "a message of %zu bytes is too short", bytes);
    memcpy(&header, buffer, sizeof header);
    if (memcmp(header.magic, magic, sizeof magic) != 0)
        return hac_fail(err, HAC_PROTOCOL, "a message does not start with hac's mark");
    if (le32toh(header.body_bytes) != bytes - sizeof header)
        return hac_fail(err, HAC_PROTOCOL, "a message of %zu bytes says that it has %lu",
                        bytes - sizeof header, (unsigned long)le32toh(header.body_bytes));
    if (header.n_fds != n_fds)
        return hac_fail(err, HAC_PROTOCOL, "%zu descriptors came with a message that says %u", n_fds,
                        header.n_fds);
    return HAC_OK;
}

hac_status hac_frame_receive_all(int socket, uint8_t *buffer, hac_frame *ret, hac_error *err)
{
    ret->n_fds = 0;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(HAC_DESCRIPTORS_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {.iov_base = buffer, .iov_len = HAC_FRAME_MAX};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n;
    bool reset = false;
    do {
        n = HAC_FAILPOINT("frame.receive", -1, recvmsg(socket, &message, MSG_CMSG_CLOEXEC));
        /* The peer closed its socket with unread messages. The kernel reports this once, before the last
         * messages of the peer. */
        if (n >= 0 || errno != ECONNRESET || reset)
            continue;
        reset = true;
        errno = EINTR;
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return receive_errno(errno, err);

    size_t n_fds = collect_fds(&message, ret->fds);
    ret->n_fds = n_fds < HAC_DESCRIPTORS_MAX ? n_fds : HAC_DESCRIPTORS_MAX;
    if (n == 0 && n_fds == 0 && (message.msg_flags & MSG_CTRUNC) == 0)
        return hac_fail(err, HAC_NOT_FOUND, "the peer has closed the connection");
    hac_status status = (message.msg_flags & MSG_CTRUNC) != 0
                            ? fail_lost(socket, err)
                            : check_frame(buffer, (size_t)n, n_fds, message.msg_flags, err);
    ret->body = buffer + sizeof(frame_header);
    ret->body_bytes = status == HAC_OK ? (size_t)n - sizeof(frame_header) : 0;
    return status;
}

hac_status hac_frame_receive(int socket, uint8_t *buffer, hac_frame *ret, hac_error *err)
{
    hac_frame frame;
    hac_status status = hac_frame_receive_all(socket, buffer, &frame, err);
    if (status == HAC_OK)
        *ret = frame;
    else
        hac_frame_clear(&frame);
    return status;
}

static hac_status send_errno(int errnum, hac_error *err)
{
    switch (errnum) {
    case EAGAIN:
        return hac_fail(err, HAC_AGAIN, "the socket is full");
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
        return hac_fail(err, HAC_NOT_FOUND, "the peer has closed the connection");
    case ETOOMANYREFS: /* not HAC_AGAIN: the socket stays writable, a loop would spin */
        return hac_fail(err, HAC_REFUSED, "too many descriptors are on their way to peers");
    default:
        return hac_fail_errno(err, errnum == ENOMEM || errnum == ENOBUFS ? HAC_NO_MEMORY : HAC_IO, errnum,
                              "cannot send a message");
    }
}

hac_status hac_frame_send(int socket, uint8_t *buffer, size_t body_bytes, const int *fds, size_t n_fds,
                          hac_error *err)
{
    if (body_bytes == 0 || body_bytes > HAC_FRAME_BODY_MAX || n_fds > HAC_DESCRIPTORS_MAX)
        return hac_fail(err, HAC_INTERNAL, "a message of %zu bytes with %zu descriptors cannot be sent",
                        body_bytes, n_fds);
    frame_header header = {.n_fds = (uint8_t)n_fds, .body_bytes = htole32((uint32_t)body_bytes)};
    memcpy(header.magic, magic, sizeof magic);
    memcpy(buffer, &header, sizeof header);
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(HAC_DESCRIPTORS_MAX * sizeof(int))];
    } control = {.bytes = {0}}; /* all of it: {0} need not set more than the first member */
    struct iovec part = {.iov_base = buffer, .iov_len = sizeof header + body_bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (n_fds > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    }
    ssize_t n;
    do
        n = HAC_FAILPOINT("frame.send", -1, sendmsg(socket, &message, MSG_NOSIGNAL));
    while (n < 0 && errno == EINTR);
    return n < 0 ? send_errno(errno, err) : HAC_OK;
}
