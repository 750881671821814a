/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_SEND_RAW_H
#define FUZZ_SEND_RAW_H

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KERNEL_MAX_FDS 253 /* a message */

/* Sends bytes unchanged, with `n_fds` copies of one descriptor. Returns the result of sendmsg. */
static inline ssize_t send_raw(int socket, const void *bytes, size_t n, size_t n_fds)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(KERNEL_MAX_FDS * sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = n};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (n_fds > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        for (size_t i = 0; i < n_fds; i++)
            memcpy(CMSG_DATA(c) + i * sizeof(int), &(int){STDERR_FILENO}, sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

#endif
