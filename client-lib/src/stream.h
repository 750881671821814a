/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes, sockets and terminals, which devices' processes do not read: they are read into pool memory here. */
#ifndef CLIENT_STREAM_H
#define CLIENT_STREAM_H

#include <stdbool.h>

#include <hac/hac.h>

#include "base/cleanup.h"
#include "input.h"

HAC_DEFINE_CLEANUP(hac_buffer *, hac_buffer_free)

/* What is read, and how messages call it. */
typedef struct hac_stream {
    int fd;
    const char *name;
    bool raw; /* not decompressed, whatever it looks like */
} hac_stream;

/* Whether this has to be read as a stream; HAC_FAILED: a directory, or not open for reading. A regular file
 * without a size that can be read all the same is a stream as well: files of /proc and /sys are made when
 * they are read. Otherwise *ret_bytes is the file's size. */
HAC_MUST_USE hac_status hac_stream_look(const hac_stream *stream, bool *ret_is_stream, uint64_t *ret_bytes,
                                        hac_error *err);

/* Throws away `skip` bytes, then reads up to `most` bytes into a new buffer, to the end of the stream if that
 * comes first. Waits, also on a non-blocking descriptor. HAC_REFUSED: the pool's quota is too small. */
HAC_MUST_USE hac_status hac_stream_read(hac_client *client, const hac_stream *stream, uint64_t skip,
                                        uint64_t most, hac_buffer **ret_buffer, uint64_t *ret_bytes,
                                        hac_error *err);

/* A new buffer for it. */
HAC_MUST_USE hac_status hac_stream_buffer(hac_client *client, hac_buffer **ret, hac_error *err);

/* Reads an input behind the `*filled` bytes of a buffer that can grow, to its end or until there are `most`.
 * HAC_CANCELLED: stop_fd (-1: none) has become readable. */
HAC_MUST_USE hac_status hac_stream_append(hac_input *input, hac_buffer *buffer, uint64_t *filled,
                                          uint64_t most, int stop_fd, hac_error *err);

#endif
