/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of `hacctl query`: which files it reads, and how it reads them. A folder without Parquet files
 * stands for the text files in it and in its subfolders, in the byte order of their paths; a pattern of a SQL
 * statement (logs/2*.csv) stands for the files that match.
 */
#ifndef HACCTL_QUERY_SOURCE_H
#define HACCTL_QUERY_SOURCE_H

#include <stdbool.h>

#include <hac/hac.h>

#include "base/error.h"

/* Zero-initialised; clear it in every case. */
typedef struct hac_query_source {
    char **paths; /* files, folders of Parquet files, "-" */
    size_t n_paths, capacity;
    hac_input_format format;
    bool splits; /* read as a stream, in splits: standard input, pipes, compressed files, many files */
} hac_query_source;

/* Whether the word is a SQL statement: it has several words and is no file. */
bool hac_query_source_is_sql(const char *word);

/* Finds the files that `word` stands for, and adds them. HAC_FAILED: there is none. */
HAC_MUST_USE hac_status hac_query_source_add(hac_query_source *source, const char *command, const char *word,
                                             bool pattern, hac_error *err);

/* Chooses the format: `format` unless that is HAC_INPUT_NONE, else that of the suffixes; and whether the
 * files are read in splits. */
HAC_MUST_USE hac_status hac_query_source_choose(hac_query_source *source, const char *command,
                                                hac_input_format format, hac_error *err);

void hac_query_source_clear(hac_query_source *source);

#endif
