/* SPDX-License-Identifier: Apache-2.0 */
/* Reads pipes, sockets and terminals into pool memory, because the devices' processes cannot read them. */
#ifndef CLIENT_STREAM_H
#define CLIENT_STREAM_H

#include <stdbool.h>

#include <hac/hac.h>

#include "input.h"
#include "jobs/buffers.h"

/* A stream to read. */
typedef struct hac_stream {
    int fd;
    const char *name;                 /* for messages */
    bool raw;                         /* never decompress the stream */
    const hac_query_options *options; /* the query that the stream is for; NULL: none */
    int stop_fd;                      /* reading is given up when it becomes readable; -1: none */
    const char *remark;               /* hac_stream_read sets it: see hac_input_remark */
} hac_stream;

/* Decides whether the descriptor must be read as a stream. A regular file of size 0 that has bytes is a
 * stream, too: /proc and /sys generate such files at each read. For any other regular file *ret_bytes is the
 * size. HAC_FAILED: the descriptor is a directory, or not open for reading. */
HAC_MUST_USE hac_status hac_stream_look(const hac_stream *stream, bool *ret_is_stream, uint64_t *ret_bytes,
                                        hac_error *err);

/* Discards `skip` bytes, then reads at most `max` bytes, or up to the end of the stream, into a new buffer.
 * Waits also on a non-blocking descriptor. HAC_REFUSED: the pool's quota is too small. HAC_CANCELLED: stop_fd
 * is readable. */
HAC_MUST_USE hac_status hac_stream_read(hac_client *client, hac_stream *stream, uint64_t skip, uint64_t max,
                                        hac_buffer **ret_buffer, uint64_t *ret_bytes, hac_error *err);

/* Allocates a buffer for the bytes of a stream. */
HAC_MUST_USE hac_status hac_stream_buffer(hac_client *client, hac_buffer **ret, hac_error *err);

/* Appends an input to the `*filled` bytes of a growing buffer, up to the end of the input or until *filled is
 * `max`. HAC_CANCELLED: stop_fd is readable; -1 means no stop_fd. */
HAC_MUST_USE hac_status hac_stream_append(hac_input *input, hac_buffer *buffer, uint64_t *filled,
                                          uint64_t max, int stop_fd, hac_error *err);

#endif
