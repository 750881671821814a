/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"

#define FIRST_BYTES (UINT64_C(1) << 20)

hac_status hac_stream_look(const hac_stream *stream, bool *ret_is_stream, uint64_t *ret_bytes, hac_error *err)
{
    struct stat st;
    int flags = fcntl(stream->fd, F_GETFL);
    if (flags < 0 || fstat(stream->fd, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "cannot read %s", stream->name);
    if (S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%s is a directory", stream->name);
    if ((flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_WRONLY)
        return hac_fail(err, HAC_FAILED, "%s is not open for reading", stream->name);
    *ret_is_stream = !hac_size_is_known(stream->fd, &st);
    *ret_bytes = (uint64_t)st.st_size;
    return HAC_OK;
}

/* Waits until the input has bytes or has ended. HAC_AGAIN: a signal interrupted the wait; stop_fd may be
 * readable. */
static hac_status wait_for(const hac_input *input, int stop_fd, hac_error *err)
{
    struct pollfd p[] = {{hac_input_wants(input), POLLIN, 0}, {stop_fd, POLLIN, 0}};
    int n = poll(p, 2, p[0].fd < 0 ? 0 : -1);
    if (n < 0 && errno == EINTR)
        return HAC_AGAIN;
    if (n < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot wait for %s", hac_input_name(input));
    if (n > 0 && p[1].revents != 0)
        return hac_fail(err, HAC_CANCELLED, "cancelled");
    return HAC_OK;
}

/* Reads at most `capacity` bytes. *ret 0: the end. */
static hac_status read_some(hac_input *input, uint8_t *at, uint64_t capacity, int stop_fd, uint64_t *ret,
                            hac_error *err)
{
    hac_status status;
    do {
        status = hac_input_wants(input) >= 0 || stop_fd >= 0 ? wait_for(input, stop_fd, err) : HAC_OK;
        if (status == HAC_OK)
            status = hac_input_read(input, at, capacity, ret, err);
    } while (status == HAC_AGAIN);
    return status;
}

static hac_status pass_over(hac_input *input, uint64_t bytes, hac_buffer *buffer, int stop_fd, hac_error *err)
{
    uint64_t capacity = hac_buffer_bytes(buffer);
    for (uint64_t left = bytes; left > 0;) {
        uint64_t n;
        hac_status status =
            read_some(input, hac_buffer_data(buffer), left < capacity ? left : capacity, stop_fd, &n, err);
        if (status != HAC_OK)
            return status;
        if (n == 0)
            return hac_fail(err, HAC_FAILED, "%s ends before byte %" PRIu64, hac_input_name(input), bytes);
        left -= n;
    }
    return HAC_OK;
}

/* Doubles the buffer, up to `max` bytes in total. */
static hac_status grow(const hac_input *input, hac_buffer *buffer, uint64_t filled, uint64_t max,
                       hac_error *err)
{
    uint64_t capacity = hac_buffer_bytes(buffer),
             wanted = capacity < INT64_MAX / 2 ? capacity * 2 : INT64_MAX;
    hac_status status = hac_buffer_grow(buffer, wanted < max ? wanted : max, err);
    if (status != HAC_OK)
        (void)hac_error_prefix(err, "%s, after %" PRIu64 " bytes", hac_input_name(input), filled);
    return status;
}

hac_status hac_stream_append(hac_input *input, hac_buffer *buffer, uint64_t *filled, uint64_t max,
                             int stop_fd, hac_error *err)
{
    uint64_t n = 1;
    while (n > 0 && *filled < max) {
        hac_status status = HAC_OK;
        if (*filled == hac_buffer_bytes(buffer))
            status = grow(input, buffer, *filled, max, err);
        uint64_t capacity = hac_buffer_bytes(buffer);
        if (capacity > max)
            capacity = max;
        if (status == HAC_OK)
            status = read_some(input, (uint8_t *)hac_buffer_data(buffer) + *filled, capacity - *filled,
                               stop_fd, &n, err);
        if (status != HAC_OK)
            return status;
        *filled += n;
    }
    return HAC_OK;
}

hac_status hac_stream_buffer(hac_client *client, hac_buffer **ret, hac_error *err)
{
    return hac_buffer_alloc_growable(client, FIRST_BYTES, ret, err);
}

hac_status hac_stream_read(hac_client *client, hac_stream *stream, uint64_t skip, uint64_t max,
                           hac_buffer **ret_buffer, uint64_t *ret_bytes, hac_error *err)
{
    hac_cleanup(hac_buffer_free_cleanup) hac_buffer *buffer = NULL;
    hac_cleanup(hac_input_free_cleanup) hac_input *input = NULL;
    uint64_t filled = 0;
    hac_status status = hac_input_open(stream->fd, stream->name, stream->raw, stream->options, &input, err);
    if (status == HAC_OK)
        status = hac_stream_buffer(client, &buffer, err);
    if (status == HAC_OK)
        status = pass_over(input, skip, buffer, stream->stop_fd, err);
    if (status == HAC_OK)
        status = hac_stream_append(input, buffer, &filled, max, stream->stop_fd, err);
    if (status != HAC_OK)
        return status;
    stream->remark = hac_input_remark(input);
    *ret_buffer = hac_steal_ptr(buffer);
    *ret_bytes = filled;
    return HAC_OK;
}
