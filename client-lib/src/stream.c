/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define FIRST_BYTES (UINT64_C(1) << 20)
#define PIPE_BYTES  (1 << 20) /* a pipe of the default 64 KiB moves a third as much a second */
#define READ_MOST   (UINT64_C(1) << 30)

hac_status hac_stream_look(const hac_stream *stream, bool *ret_is_stream, uint64_t *ret_bytes, hac_error *err)
{
    struct stat st;
    uint8_t byte;
    int flags = fcntl(stream->fd, F_GETFL);
    if (flags < 0 || fstat(stream->fd, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "cannot read %s", stream->name);
    if (S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%s is a directory", stream->name);
    if ((flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_WRONLY)
        return hac_fail(err, HAC_FAILED, "%s is not open for reading", stream->name);
    *ret_is_stream =
        !S_ISREG(st.st_mode) || (st.st_size == 0 && pread(stream->fd, &byte, sizeof(byte), 0) > 0);
    *ret_bytes = (uint64_t)st.st_size;
    return HAC_OK;
}

/* Reads at most `room` bytes; *ret 0: the end. */
static hac_status read_some(const hac_stream *stream, uint8_t *at, uint64_t room, uint64_t *ret,
                            hac_error *err)
{
    for (;;) {
        ssize_t n = read(stream->fd, at, (size_t)(room < READ_MOST ? room : READ_MOST));
        if (n >= 0) {
            *ret = (uint64_t)n;
            return HAC_OK;
        }
        if (errno == EAGAIN) {
            struct pollfd p = {stream->fd, POLLIN, 0};
            (void)poll(&p, 1, -1);
        } else if (errno != EINTR) {
            return hac_fail_errno(err, HAC_FAILED, errno, "cannot read %s", stream->name);
        }
    }
}

static hac_status pass_over(const hac_stream *stream, uint64_t bytes, hac_buffer *buffer, hac_error *err)
{
    uint64_t room = hac_buffer_bytes(buffer);
    for (uint64_t left = bytes; left > 0;) {
        uint64_t n;
        hac_status status = read_some(stream, hac_buffer_data(buffer), left < room ? left : room, &n, err);
        if (status != HAC_OK)
            return status;
        if (n == 0)
            return hac_fail(err, HAC_FAILED, "%s ends before byte %" PRIu64, stream->name, bytes);
        left -= n;
    }
    return HAC_OK;
}

/* The buffer grows by doubling. */
static hac_status read_all(const hac_stream *stream, hac_buffer *buffer, uint64_t most, uint64_t *ret_bytes,
                           hac_error *err)
{
    uint64_t filled = 0, n = 1;
    while (n > 0 && filled < most) {
        uint64_t room = hac_buffer_bytes(buffer);
        if (filled == room) {
            hac_status status = hac_buffer_grow(buffer, room < INT64_MAX / 2 ? room * 2 : INT64_MAX, err);
            if (status != HAC_OK) {
                (void)hac_error_prefix(err, "%s, after %" PRIu64 " bytes", stream->name, filled);
                return status;
            }
            room = hac_buffer_bytes(buffer);
        }
        if (room > most)
            room = most;
        hac_status status =
            read_some(stream, (uint8_t *)hac_buffer_data(buffer) + filled, room - filled, &n, err);
        if (status != HAC_OK)
            return status;
        filled += n;
    }
    *ret_bytes = filled;
    return HAC_OK;
}

hac_status hac_stream_read(hac_client *client, const hac_stream *stream, uint64_t skip, uint64_t most,
                           hac_buffer **ret_buffer, uint64_t *ret_bytes, hac_error *err)
{
    hac_cleanup(hac_buffer_free_cleanup) hac_buffer *buffer = NULL;
    (void)fcntl(stream->fd, F_SETPIPE_SZ, PIPE_BYTES); /* no pipe, or not allowed: slower */
    hac_status status = hac_buffer_alloc_growable(client, FIRST_BYTES, &buffer, err);
    if (status == HAC_OK)
        status = pass_over(stream, skip, buffer, err);
    if (status == HAC_OK)
        status = read_all(stream, buffer, most, ret_bytes, err);
    if (status == HAC_OK)
        *ret_buffer = hac_steal_ptr(buffer);
    return status;
}
