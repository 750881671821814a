/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a query over splits reads, one input after another: any number of files, pipes and devices, and at
 * most once standard input ("-"). An input is opened when its turn comes, so the number of inputs is not
 * limited. A file is read to the end that it has at that time. Names are borrowed from the command line.
 */
#ifndef HACCTL_SPLIT_INPUT_H
#define HACCTL_SPLIT_INPUT_H

#include <stdbool.h>

#include <hac/hac.h>

#include "base/error.h"
#include "query_source.h"

typedef struct hac_split_input {
    hac_input_format format;
    char *const *words;
    size_t n_words;
    char assumed[HAC_ASSUMED_MAX]; /* the format that was found in first bytes; empty: none */
} hac_split_input;

/*
 * Takes the names and determines the format: `format` unless that is HAC_INPUT_NONE, else the format of the
 * suffixes, without .gz and .zst, or of the first bytes. Checks each name once, so that a wrong name is
 * reported before the first input is read. `command` is for messages. HAC_INVALID: no format, a folder,
 * standard input twice, or a terminal for binary records. HAC_FAILED: a file that does not exist.
 */
HAC_MUST_USE hac_status hac_split_input_name(hac_split_input *input, const char *command, char *const *words,
                                             size_t n_words, hac_input_format format, hac_error *err);

/* Opens the input with this index, for hac_splits. `context` is the hac_split_input. */
HAC_MUST_USE hac_status hac_split_input_open(void *context, size_t index, int *ret_fd, const char **ret_name,
                                             hac_error *err);

/* The bytes of all inputs. HAC_INVALID if the size of an input is not known before it is read. */
HAC_MUST_USE hac_status hac_split_input_bytes(const hac_split_input *input, const char *command,
                                              uint64_t *ret, hac_error *err);

/* A title of all inputs for people: "a.csv and 3 more". */
void hac_split_input_title(const hac_split_input *input, char *ret, size_t bytes);

#endif
