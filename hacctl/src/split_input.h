/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a query over splits reads: files, pipes, devices, any number of them, one after another, and once
 * among them standard input ("-"). Each is opened when it is its turn, so that their number costs nothing,
 * and a file is read to the end that it has by then. Names are borrowed: they are words of the command line.
 */
#ifndef HACCTL_SPLIT_INPUT_H
#define HACCTL_SPLIT_INPUT_H

#include <stdbool.h>

#include <hac/hac.h>

#include "base/error.h"

typedef struct hac_split_input {
    hac_input_format format;
    char *const *words;
    size_t n_words;
} hac_split_input;

/*
 * Takes in the names: `format` unless that is HAC_INPUT_NONE, else as the suffixes say, without .gz and .zst.
 * Looks at each once, so that a name that is wrong is known before the first is read. `command` is named in
 * messages. HAC_INVALID: no format, a folder, standard input twice, or a terminal for binary records.
 * HAC_FAILED: a file that is not there.
 */
HAC_MUST_USE hac_status hac_split_input_name(hac_split_input *input, const char *command, char *const *words,
                                             size_t n_words, hac_input_format format, hac_error *err);

/* For hac_splits: opens the index-th. `context` is the hac_split_input. */
HAC_MUST_USE hac_status hac_split_input_open(void *context, size_t index, int *ret_fd, const char **ret_name,
                                             hac_error *err);

/* Bytes of all of them. HAC_INVALID: one of them has no size that is known before it is read. */
HAC_MUST_USE hac_status hac_split_input_bytes(const hac_split_input *input, const char *command,
                                              uint64_t *ret, hac_error *err);

/* Of all of them, for people: "a.csv and 3 more". */
void hac_split_input_title(const hac_split_input *input, char *ret, size_t bytes);

#endif
