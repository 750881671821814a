/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a query: which files it reads, and how it reads them. hac_files of libhac says what folders
 * and patterns (logs/2*.csv) stand for. */
#ifndef HACCTL_QUERY_SOURCE_H
#define HACCTL_QUERY_SOURCE_H

#include <stdbool.h>

#include <hac/files.h>

#include "base/error.h"

#define HAC_ASSUMED_MAX 320

/* Zero-initialised; clear it in every case. */
typedef struct hac_query_source {
    char **paths; /* files, "-", job:ID */
    size_t n_paths, capacity;
    hac_files *files;              /* owns options->path_columns; NULL: none */
    char note[512];                /* what of a folder was left out; empty: nothing */
    char assumed[HAC_ASSUMED_MAX]; /* the format that was found in first bytes; empty: none */
    hac_input_format format;
    bool splits; /* read as a stream, in splits: standard input, pipes, compressed files, many files */
} hac_query_source;

/* Whether the word is a SQL statement: it has several words and is no file. */
bool hac_query_source_is_sql(const char *word);

/* Whether the word is `DESCRIBE 'file'` or `SUMMARIZE 'file'`, with FROM or TABLE or not. The file's name,
 * which the caller frees, goes to *ret_file; NULL: no memory. */
bool hac_query_source_described(const char *word, bool *ret_summarize, char **ret_file);
/* The statement of "describe select …" or "summarize select …", within `word`; NULL: it is neither. */
const char *hac_query_source_described_select(const char *word, bool *ret_summarize);

/* The HAC_FILES_… flags for folders whose files are to be read as `format`; HAC_INPUT_NONE: as what they
 * are. */
unsigned hac_query_files_of(hac_input_format format);

/* Finds the files that `word` stands for, with HAC_FILES_… flags, and adds them. HAC_FAILED: there is none.
 */
HAC_MUST_USE hac_status hac_query_source_add(hac_query_source *source, const char *command, const char *word,
                                             unsigned flags, hac_error *err);

/* Makes columns of folders with keys (hac_files_apply), and leaves out files that `where` rules out. The
 * other options, among them the format, must be set. */
HAC_MUST_USE hac_status hac_query_source_apply(hac_query_source *source, hac_query_options *options,
                                               hac_error *err);

/* The suffix of the path's name, from its last dot on: ".csv"; "" if it has none. */
const char *hac_query_suffix_of(const char *path);

/* The format of all words: that which the suffix says, without .gz and .zst, else that which the first bytes
 * look like. `assumed` tells people which that is; empty: the suffix says it, or it is certain.
 * HAC_INVALID: the format is not known, or the words have different ones. HAC_FAILED: a file is not there, or
 * is of a foreign format. */
HAC_MUST_USE hac_status hac_query_format_of_words(const char *command, char *const *words, size_t n_words,
                                                  char assumed[HAC_ASSUMED_MAX], hac_input_format *ret,
                                                  hac_error *err);

/* Chooses the format: `format` unless that is HAC_INPUT_NONE, else that of the suffixes; and whether the
 * files are read in splits. */
HAC_MUST_USE hac_status hac_query_source_choose(hac_query_source *source, const char *command,
                                                hac_input_format format, hac_error *err);

void hac_query_source_clear(hac_query_source *source);

#endif
