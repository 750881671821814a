/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where results go. A regular file (or a path where nothing is yet) is written under a temporary name beside
 * it and gets its own name only when it is whole: readers never see half of it, OUT may be IN, and a failure,
 * a full disk or Ctrl-C leaves what was there before and nothing else. Standard output, pipes, terminals,
 * /dev/null and the like are written straight. When the reader of standard output has gone the process ends,
 * quietly (hac_interrupt_broken_pipe).
 *
 *     hac_output_open(path, &out, err)        // says early that a directory is missing or closed to us
 *     hac_output_reserve(out, bytes, err)     // says early that the disk is full; optional
 *     hac_output_write(out, data, bytes, err) // as often as needed
 *     hac_output_commit(out, err)             // now it is there
 *     hac_output_free(out)                    // without commit: as if never opened
 *
 * A file that exists keeps its permissions; a symbolic link stays and its target is replaced.
 */
#ifndef HACCTL_OUTPUT_H
#define HACCTL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

/* Bytes of one write. */
#define HAC_OUTPUT_PIECE (8u * 1024 * 1024)

typedef struct hac_output hac_output;

/* `path` NULL or "-" is standard output. HAC_FAILED says why it cannot be written. */
HAC_MUST_USE hac_status hac_output_open(const char *path, hac_output **ret, hac_error *err);
void hac_output_free(hac_output *output);
HAC_DEFINE_CLEANUP(hac_output *, hac_output_free)

/* The open descriptor that a path means: standard output's, "/dev/stdout", "/dev/fd/3" … -1: another path. */
int hac_output_descriptor(const char *path);

/* A reader of standard output that has gone is HAC_NOT_FOUND from here on, and does not end the process. */
void hac_output_outlive_reader(hac_output *output);

/* For messages. */
const char *hac_output_name(const hac_output *output);
bool hac_output_is_terminal(const hac_output *output);

/* Where the temporary file is, for others who write their parts of it; malloc'ed. HAC_INVALID: there is none,
 * it is written straight. */
HAC_MUST_USE hac_status hac_output_temporary(const hac_output *output, char **ret, hac_error *err);

HAC_MUST_USE hac_status hac_output_reserve(hac_output *output, uint64_t bytes, hac_error *err);
HAC_MUST_USE hac_status hac_output_write(hac_output *output, const void *data, uint64_t bytes,
                                         hac_error *err);
/* A text; a line feed is added where its end lacks one. */
HAC_MUST_USE hac_status hac_output_write_text(hac_output *output, const char *text, hac_error *err);
HAC_MUST_USE hac_status hac_output_commit(hac_output *output, hac_error *err);

#endif
