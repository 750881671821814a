/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a query reads: files, folders of Parquet files, or one stream. A stream is standard input ("-"), a
 * pipe, a device, or a file of /proc that is made when it is read; libhac reads it into memory, so it stands
 * alone.
 *
 * A folder stands for its regular files *.parquet, those of its subfolders among them, in the order of their
 * paths' bytes; names that begin with . or _ are left out (_SUCCESS, _metadata, .crc), and links to folders.
 */
#ifndef HACCTL_QUERY_INPUT_H
#define HACCTL_QUERY_INPUT_H

#include <stdbool.h>

#include <hac/hac.h>

#include "base/cleanup.h"
#include "base/error.h"

typedef struct hac_query_input {
    hac_input_format format;
    int fds[HAC_QUERY_FILES_MAX];
    char *names[HAC_QUERY_FILES_MAX]; /* paths, or "standard input" */
    uint64_t bytes[HAC_QUERY_FILES_MAX];
    size_t n_files;
    bool standard;   /* the first one is standard input */
    bool stream;     /* there is one input, of unknown size */
    bool compressed; /* one of them at least is gzip or zstd */
} hac_query_input;

/* "csv", "parquet" …; HAC_INPUT_NONE: no such format. */
hac_input_format hac_query_format_of(const char *name);
const char *hac_query_format_name(hac_input_format format);

/* The end of the path's name, ".csv", from its last dot on; "": it has none. */
const char *hac_query_suffix_of(const char *path);

/* The format that the suffixes of all say, .gz and .zst left out; of a folder: parquet. HAC_INVALID: none, or
 * different ones. */
HAC_MUST_USE hac_status hac_query_format_by_suffixes(const char *command, char *const *words, size_t n_words,
                                                     hac_input_format *ret, hac_error *err);

/* Whether its numbers may look like the beginning of gzip: then the name has to say that it is. */
bool hac_query_may_begin_like_gzip(hac_input_format format);
/* Whether a file of that name and format is to be decompressed. */
bool hac_query_is_compressed(hac_input_format format, const char *name, int fd);

/* Opens to read. A pipe is waited for until somebody writes to it, as `cat` does; nothing else is. */
int hac_query_open_path(const char *path);

/*
 * Takes in the names, and with them the format: `format` unless that is HAC_INPUT_NONE, else as the suffixes
 * say (of a folder: parquet). Folders are read already. `command` is named in messages. HAC_INVALID: there is
 * none or too many, a stream beside others, no format or several. HAC_FAILED: a folder cannot be read. To be
 * cleared in every case.
 */
HAC_MUST_USE hac_status hac_query_input_name(hac_query_input *input, const char *command, char *const *words,
                                             size_t n_words, hac_input_format format, hac_error *err);

/* Opens all of them. HAC_FAILED says which cannot be read. */
HAC_MUST_USE hac_status hac_query_input_open(hac_query_input *input, const char *command, hac_error *err);

void hac_query_input_clear(hac_query_input *input);

#endif
