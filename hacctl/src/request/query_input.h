/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a query reads: files, folders of Parquet files, or one stream. A stream is standard input ("-"), a
 * pipe, a device, or a file of /proc, which is generated when it is read. libhac reads a stream into memory,
 * so a stream cannot be combined with other inputs.
 *
 * hac_files of libhac says what a folder stands for. What of a folder is left out is in a note.
 */
#ifndef HACCTL_QUERY_INPUT_H
#define HACCTL_QUERY_INPUT_H

#include <stdbool.h>

#include <hac/hac.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "job_source.h"
#include "query_source.h"

typedef struct hac_query_input {
    hac_input_format format;
    int fds[HAC_QUERY_FILES_MAX];
    char *names[HAC_QUERY_FILES_MAX]; /* paths, or "standard input" */
    uint64_t bytes[HAC_QUERY_FILES_MAX];
    size_t n_files;
    bool many;       /* more Parquet files than a message has descriptors: only the first one is in `names` */
    char note[512];  /* what of a folder was left out; empty: nothing */
    bool standard;   /* the first input is standard input */
    bool stream;     /* there is one input, of unknown size */
    bool compressed; /* an input is gzip or zstd */
    bool document;   /* an input is a JSON document (base/json_document.h) */
    bool dialect;    /* csv or tsv that libhac turns into the usual form (hac_files_is_dialect) */
    hac_query_source source; /* of the names; owns the columns in names of folders */
    hac_job_source of_job;   /* the only input is the result of a job; names[0] is job:ID */
} hac_query_input;

/* Whether libhac reads the inputs, because hacd's processes cannot. */
static inline bool hac_query_input_by_client(const hac_query_input *input)
{
    return input->stream || input->compressed || input->document || input->dialect;
}

/* Whether a file of this name, read with these options, is read by libhac, because it is compressed, a JSON
 * document or of another dialect. */
bool hac_query_is_for_client(const hac_query_options *options, const char *name, int fd);

/* Opens a file for reading. Waits until a process writes to a pipe, as `cat` does; waits for nothing else. */
int hac_query_open_path(const char *path);

/*
 * Takes the names and determines the format: `format` unless that is HAC_INPUT_NONE, else the format of the
 * suffixes. Reads folders: for Parquet files only if the format is parquet. Sets the columns in names of
 * folders in `options`, which has the query (NULL: none), and leaves out files that its `where` rules out.
 * `command` is for messages. HAC_INVALID: no or too many inputs, a stream beside other inputs, no format or
 * several. HAC_FAILED: a folder cannot be read. Clear *input in every case.
 */
HAC_MUST_USE hac_status hac_query_input_name(hac_query_input *input, const char *command, char *const *words,
                                             size_t n_words, hac_input_format format,
                                             hac_query_options *options, hac_error *err);

/* The same for job:ID, the only input. `format` is what --parse says, or HAC_INPUT_NONE. */
HAC_MUST_USE hac_status hac_query_input_of_job(hac_query_input *input, const char *command, hac_cli *cli,
                                               char *const *words, size_t n_words, hac_input_format format,
                                               hac_error *err);

/* Opens all inputs. HAC_FAILED names the input that cannot be read. */
HAC_MUST_USE hac_status hac_query_input_open(hac_query_input *input, const char *command, hac_error *err);

void hac_query_input_clear(hac_query_input *input);

#endif
