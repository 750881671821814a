/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An input that is read from its current offset to its end: a file, pipe, socket, terminal or file of /proc.
 *
 * A regular file with a size is read up to the size it has at the open; later appends are ignored. A file
 * that is truncated during the read is an error.
 */
#ifndef CLIENT_INPUT_H
#define CLIENT_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <hac/hac.h>

#include "base/cleanup.h"

typedef struct hac_input hac_input;

/* Opens an input on `fd`. The caller keeps the descriptor. Without `raw`, an input that begins like gzip or
 * zstd is decompressed, and an input whose name ends in .gz or .zst must be compressed. `name` is copied and
 * appears in messages. `options` is borrowed: the query that the input is for. The first bytes are then
 * checked (text_begin.h), those of text unless `raw`, and the decompressor keeps within the query's memory.
 * JSON documents become jsonl, and csv and tsv of another dialect (csv_front.h) that of their format.
 * NULL: there is no query. HAC_FAILED: `fd` is a directory, or not open for reading. */
HAC_MUST_USE hac_status hac_input_open(int fd, const char *name, bool raw, const hac_query_options *options,
                                       hac_input **ret, hac_error *err);
void hac_input_free(hac_input *input);
HAC_DEFINE_CLEANUP(hac_input *, hac_input_free)

/* The name for messages. It ends in the remark, if there is one. */
const char *hac_input_name(const hac_input *input);

/* What a front did to lines, so that their numbers are not those of the input, as the name says as well:
 * JSON records got lines of their own, or comments were left out. NULL: nothing. */
const char *hac_input_remark(const hac_input *input);

/* Returns the descriptor that the caller polls for readability before the next hac_input_read. -1: the caller
 * need not wait. */
int hac_input_wants(const hac_input *input);

/* True if another process can read the rest of the input directly from the file, and the rest is large enough
 * to be worth it. The rest is *ret_bytes bytes at *ret_offset. Call this before the first hac_input_read. */
bool hac_input_in_file(const hac_input *input, uint64_t *ret_offset, uint64_t *ret_bytes);

/* Gives back all bytes that were read so far, so that hac_input_read returns them again. A caller that peeks
 * at an input uses this, at most once for an input. The function takes ownership of `bytes`, which is
 * malloc'ed. The first read after these bytes fails with `failure`, unless its code is HAC_OK. */
void hac_input_unread(hac_input *input, uint8_t *bytes, size_t n, const hac_error *failure);

/* Reads the next bytes, at most `capacity` (> 0). *ret is the number of bytes; 0 is the end. May block if
 * the caller did not wait for hac_input_wants. HAC_AGAIN: no bytes are available yet. HAC_FAILED: the input
 * cannot be read, or is damaged; the message begins with the input's name. */
HAC_MUST_USE hac_status hac_input_read(hac_input *input, uint8_t *at, uint64_t capacity, uint64_t *ret,
                                       hac_error *err);

#endif
