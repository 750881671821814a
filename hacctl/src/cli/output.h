/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where results go. A regular file (or a path where nothing exists yet) is written under a temporary name
 * beside it and gets its own name when it is complete. Readers never see an incomplete file, OUT may be IN,
 * and a failure, a full disk or Ctrl-C leaves the old file untouched. Standard output, pipes, terminals and
 * devices are written directly. If the reader of standard output goes away, the process ends without a
 * message (hac_interrupt_broken_pipe).
 *
 *     hac_output_open(path, &out, err)        // fails early if the directory is missing or not writable
 *     hac_output_reserve(out, bytes, err)     // fails early if the disk is too full; optional
 *     hac_output_write(out, data, bytes, err) // as often as needed
 *     hac_output_commit(out, err)             // the file gets its name
 *     hac_output_free(out)                    // without a commit, nothing remains
 *
 * An existing file keeps its permissions; a symbolic link stays, and its target is replaced.
 */
#ifndef HACCTL_OUTPUT_H
#define HACCTL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "text/box_table.h"

/* Bytes of one write */
#define HAC_OUTPUT_PIECE (8u * 1024 * 1024)

typedef struct hac_output_file hac_output_file;

/* `path` NULL or "-" is standard output. HAC_FAILED says why the output cannot be written. */
HAC_MUST_USE hac_status hac_output_open(const char *path, hac_output_file **ret, hac_error *err);
void hac_output_free(hac_output_file *output);
HAC_DEFINE_CLEANUP(hac_output_file *, hac_output_free)

/* The open descriptor that a path names: standard output's, "/dev/stdout", "/dev/fd/3" …; -1 for any other
 * path. */
int hac_output_descriptor(const char *path);

/* From here on, a reader of standard output that goes away makes writes fail with HAC_NOT_FOUND and does
 * not end the process. */
void hac_output_outlive_reader(hac_output_file *output);

/* For messages. */
const char *hac_output_name(const hac_output_file *output);
bool hac_output_is_terminal(const hac_output_file *output);
/* How a table is drawn there: as wide as the terminal, or as COLUMNS says; in colour unless NO_COLOR is set
 * or TERM is dumb. What is no terminal has no limit of the width and no colour. */
hac_box_look hac_output_look(const hac_output_file *output);

/* The path of the temporary file, for other processes that write parts of it; malloc'ed. HAC_INVALID if
 * the output is written directly. */
HAC_MUST_USE hac_status hac_output_temporary(const hac_output_file *output, char **ret, hac_error *err);

HAC_MUST_USE hac_status hac_output_reserve(hac_output_file *output, uint64_t bytes, hac_error *err);
HAC_MUST_USE hac_status hac_output_write(hac_output_file *output, const void *data, uint64_t bytes,
                                         hac_error *err);
/* Writes a text; adds a line feed if the text ends without one. */
HAC_MUST_USE hac_status hac_output_write_text(hac_output_file *output, const char *text, hac_error *err);
HAC_MUST_USE hac_status hac_output_commit(hac_output_file *output, hac_error *err);

#endif
