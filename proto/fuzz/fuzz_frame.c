/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiving from a hostile peer. Input: messages, each of a byte (number of descriptors sent with it), two
 * bytes (length, little-endian) and that many bytes, sent as they are. Oracle besides the sanitizers: what is
 * taken has the header's shape, and no descriptor stays open.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "proto/frame.h"
#include "send_raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The lowest descriptor that is free: as long as none leaks, always the same. */
static int lowest_free(void)
{
    int fd = dup(STDERR_FILENO);
    if (fd < 0)
        abort();
    close(fd);
    return fd;
}

static void receive(int socket, const uint8_t *sent, size_t n, size_t n_fds)
{
    static uint8_t buffer[HAC_FRAME_MAX];
    hac_frame frame = {0};
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_frame_receive(socket, buffer, &frame, &err);
    if (status == HAC_OK) {
        if (n < 9 || frame.n_fds != n_fds || n_fds != sent[3] || frame.body_bytes != n - 8 ||
            memcmp(frame.body, sent + 8, n - 8) != 0)
            abort();
        hac_close(hac_frame_take_fd(&frame, n_fds / 2));
    } else if (status != HAC_PROTOCOL && !(status == HAC_NOT_FOUND && n == 0))
        abort();
    hac_frame_clear(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int pair[2] = {-1, -1};
    if (pair[0] < 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        abort();
    int free_before = lowest_free();
    while (size >= 3) {
        size_t n_fds = data[0] % 254, n = (size_t)data[1] | (size_t)data[2] << 8;
        data += 3;
        size -= 3;
        n = n < size ? n : size;
        if (send_raw(pair[0], data, n, n_fds) < 0 && errno != EAGAIN)
            abort();
        receive(pair[1], data, n, n_fds);
        data += n;
        size -= n;
    }
    if (lowest_free() != free_before)
        abort();
    return 0;
}
