/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the first bytes of an input, which stay to be read. */
#ifndef CLIENT_FIRST_BYTES_H
#define CLIENT_FIRST_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct hac_first_bytes {
    const char *name; /* for messages */
    uint8_t *data;    /* `capacity` bytes of the caller's */
    size_t bytes, capacity;
    bool ended;  /* the input has no more */
    bool stream; /* a pipe or a socket */
    int stop_fd; /* the wait is given up when it becomes readable; -1: none */
} hac_first_bytes;

/* Fills in bytes, ended and stream. Of a pipe or socket, waits until `is_enough`, the capacity or the end.
 * `fd` is the input at its current offset; -1: the regular file `name`, or a descriptor of this process that
 * it names. HAC_CANCELLED: stop_fd is readable. HAC_INVALID: the bytes cannot be seen before they are read;
 * the message is a clause without the name. */
HAC_MUST_USE hac_status hac_first_bytes_look(hac_first_bytes *first, int fd,
                                             bool (*is_enough)(const hac_first_bytes *first), hac_error *err);

/* Replaces the bytes of gzip and zstd by those that are packed in them. */
HAC_MUST_USE hac_status hac_first_bytes_unpack(hac_first_bytes *first, hac_error *err);

#endif
