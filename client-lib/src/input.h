/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An input that is read from where it is to its end: a file, a pipe, a socket, a terminal, what /proc makes.
 *
 * Of a regular file with a size what it has when it is opened is read; what is appended later is not. One
 * that is truncated while it is read is an error.
 */
#ifndef CLIENT_INPUT_H
#define CLIENT_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <hac/error.h>

#include "base/cleanup.h"

typedef struct hac_input hac_input;

/* Borrows the descriptor. Unless it is `raw`, an input that begins like gzip or zstd is decompressed, and one
 * whose name ends in .gz or .zst has to be. `name` (copied) is used in messages. HAC_FAILED: a directory, or
 * not open for reading. */
HAC_MUST_USE hac_status hac_input_open(int fd, const char *name, bool raw, hac_input **ret, hac_error *err);
void hac_input_free(hac_input *input);
HAC_DEFINE_CLEANUP(hac_input *, hac_input_free)

const char *hac_input_name(const hac_input *input);

/* The descriptor that has to be readable before the next hac_input_read; -1: no need to wait. */
int hac_input_wants(const hac_input *input);

/* Whether what is left of the input lies in a file as it is, so that others can read it there, and is worth
 * it: *ret_bytes from *ret_offset on. Before the first hac_input_read. */
bool hac_input_in_file(const hac_input *input, uint64_t *ret_offset, uint64_t *ret_bytes);

/* The next bytes, at most `room` (> 0); *ret 0: the end. HAC_AGAIN: nothing yet. May block where it was not
 * waited for. HAC_FAILED: it cannot be read, or is damaged; the message begins with the name. */
HAC_MUST_USE hac_status hac_input_read(hac_input *input, uint8_t *at, uint64_t room, uint64_t *ret,
                                       hac_error *err);

#endif
