/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a query reads: files, folders of Parquet files, or one stream. A stream is standard input ("-"), a
 * pipe, a device, or a file of /proc, which is generated when it is read. libhac reads a stream into memory,
 * so a stream cannot be combined with other inputs.
 *
 * A folder stands for its regular files *.parquet, those that begin as Parquet files do, and those of its
 * subfolders, in the byte order of their paths. Names that begin with . or _ (_SUCCESS, _metadata, .crc) and
 * links to folders are left out silently, other files with a note.
 */
#ifndef HACCTL_QUERY_INPUT_H
#define HACCTL_QUERY_INPUT_H

#include <stdbool.h>

#include <hac/hac.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "job_source.h"

typedef struct hac_query_input {
    hac_input_format format;
    int fds[HAC_QUERY_FILES_MAX];
    char *names[HAC_QUERY_FILES_MAX]; /* paths, or "standard input" */
    uint64_t bytes[HAC_QUERY_FILES_MAX];
    size_t n_files;
    char note[512];        /* what of a folder was left out; empty: nothing */
    bool standard;         /* the first input is standard input */
    bool stream;           /* there is one input, of unknown size */
    bool compressed;       /* an input is gzip or zstd */
    bool document;         /* an input is a JSON document (base/json_document.h) */
    hac_job_source of_job; /* the only input is the result of a job; names[0] is job:ID */
} hac_query_input;

/* Whether libhac reads the inputs, because hacd's processes cannot. */
static inline bool hac_query_input_by_client(const hac_query_input *input)
{
    return input->stream || input->compressed || input->document;
}

/* The suffix of the path's name, from its last dot on: ".csv"; "" if it has none. */
const char *hac_query_suffix_of(const char *path);

/* The format that the suffixes of all words agree on, without .gz and .zst; parquet for a folder, and for a
 * file without such a suffix that begins as Parquet files do.
 * HAC_INVALID: no suffix names a format, or they differ. */
HAC_MUST_USE hac_status hac_query_format_by_suffixes(const char *command, char *const *words, size_t n_words,
                                                     hac_input_format *ret, hac_error *err);

/* The format that the suffix names: parquet for a folder, and for a file without such a suffix that begins as
 * Parquet files do. HAC_INPUT_NONE: not known. */
hac_input_format hac_query_format_of(const char *path);

/* Whether the numbers of a format may look like the beginning of gzip, so that only the file's name can
 * tell that it is compressed. */
bool hac_query_may_begin_like_gzip(hac_input_format format);
/* Whether a file of this name and format has to be decompressed. */
bool hac_query_is_compressed(hac_input_format format, const char *name, int fd);

/* Whether a file of this name and format is read by libhac, because it is compressed or a JSON document. */
bool hac_query_is_for_client(hac_input_format format, const char *name, int fd);

/* Opens a file for reading. Waits until a process writes to a pipe, as `cat` does; waits for nothing else. */
int hac_query_open_path(const char *path);

/*
 * Takes the names and determines the format: `format` unless that is HAC_INPUT_NONE, else the format of the
 * suffixes (parquet for a folder). Reads folders. `command` is for messages. HAC_INVALID: no or too many
 * inputs, a stream beside other inputs, no format or several. HAC_FAILED: a folder cannot be read. Clear
 * *input in every case.
 */
HAC_MUST_USE hac_status hac_query_input_name(hac_query_input *input, const char *command, char *const *words,
                                             size_t n_words, hac_input_format format, hac_error *err);

/* The same for job:ID, the only input. `format` is what --parse says, or HAC_INPUT_NONE. */
HAC_MUST_USE hac_status hac_query_input_of_job(hac_query_input *input, const char *command, hac_cli *cli,
                                               char *const *words, size_t n_words, hac_input_format format,
                                               hac_error *err);

/* Opens all inputs. HAC_FAILED names the input that cannot be read. */
HAC_MUST_USE hac_status hac_query_input_open(hac_query_input *input, const char *command, hac_error *err);

void hac_query_input_clear(hac_query_input *input);

#endif
