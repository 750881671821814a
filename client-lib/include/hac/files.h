/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a query: what names, folders and patterns stand for. Part of libhac; <hac/hac.h> has its
 * rules.
 *
 *     hac_files *files = NULL;
 *
 *     if (hac_files_new(&files, &err) == HAC_OK &&
 *
 *         hac_files_add(files, "sales", HAC_FILES_PATTERNS, &err) == HAC_OK &&
 *
 *         hac_files_apply(files, &options, &err) == HAC_OK)
 *
 *         status = hac_query_file_list(client, files, &options, &job, &err);
 *
 *     hac_files_free(files); // after the query has been submitted
 */
#ifndef HAC_FILES_H
#define HAC_FILES_H

#include <hac/hac.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hac_files hac_files;

enum {
    /* A name that is no file may be a pattern: * ? [a-z], and ** for folders at any depth. */
    HAC_FILES_PATTERNS = 1,
    HAC_FILES_PARQUET = 2, /* of folders only Parquet files are wanted */
    HAC_FILES_TEXT = 4     /* of folders only files that are not Parquet are wanted */
};

/* Makes an empty list of files. */
HAC_API HAC_MUST_USE hac_status hac_files_new(hac_files **ret, hac_error *err);
HAC_API void hac_files_free(hac_files *files);

/*
 * Adds a file, the files of a folder and of its subfolders, or the files that match a pattern, in the byte
 * order of their paths. A folder stands for its Parquet files; if it has none, for its other files. Names in
 * folders that begin with . or _ and links to folders are left out. HAC_FAILED: there is no such file; the
 * folder has no file or cannot be read; or something named like a Parquet file is not a file that can be
 * read.
 */
HAC_API HAC_MUST_USE hac_status hac_files_add(hac_files *files, const char *name, unsigned flags,
                                              hac_error *err);
HAC_API size_t hac_files_count(const hac_files *files);
HAC_API const char *hac_files_name(const hac_files *files, size_t index); /* NULL: there is none */
/* What of the last folder was left out, for people; "": nothing. */
HAC_API const char *hac_files_note(const hac_files *files);

/* The format of a file: by its suffix, else by its first bytes (hac_files_find_format). HAC_INPUT_NONE: not
 * known. */
HAC_API hac_input_format hac_files_format_of(const char *path);

/* Whether a file of this format is compressed, so that libhac has to read it (hac_query_splits): its name
 * ends in .gz or .zst, in upper or lower case, or it begins as gzip or zstd does. Parquet files never are;
 * where records may begin with any bytes (HAC_INPUT_FIXED, HAC_INPUT_LENGTHS), only the name counts. `fd` is
 * the file at its current offset; -1: the file is opened if it is a regular one. */
HAC_API int hac_files_is_compressed(const char *path, int fd, hac_input_format format);

/*
 * Finds the format of an input in its first bytes, which stay to be read: of a compressed input in those that
 * are unpacked. Parquet is certain. JSON (HAC_INPUT_JSONL), access logs (HAC_INPUT_CLF) and syslog are
 * recognised; other text is assumed to be HAC_INPUT_CSV, so say so to the user. `fd` is the input at its
 * current offset, a regular file, a pipe, for whose first bytes the call waits, or a socket; -1: the regular
 * file `name`. HAC_INVALID: the bytes are no text, or cannot be seen before they are read; the message is a
 * clause without the name. HAC_FAILED: the input has another format, which the message names. HAC_CANCELLED:
 * stop_fd is readable; -1: the wait is not given up.
 */
HAC_API HAC_MUST_USE hac_status hac_files_find_format(const char *name, int fd, int stop_fd,
                                                      hac_input_format *ret, hac_error *err);

/*
 * Finds the dialect of csv and tsv in the first bytes of an input, which stay to be read: sets members of
 * options->input_options that are 0: comment if the first lines begin with '#' and cannot be the header;
 * quote and escape if the records only fit so, or a column has all of its values in ' '; and for these the
 * delimiter, if options->find asks for it. Looks only if `find` leaves the delimiter or the header to be
 * found, as a stream is waited for until it has some lines; of a stream with options->schema only the
 * first line is waited for, and nothing is set, as its rows are to come as they are written: the note says
 * what it looks like. `note` tells people what was found and how to say otherwise; "": nothing. The input
 * is the first one of the query; name and fd as for hac_files_find_format. An input whose first bytes
 * cannot be seen has no dialect. HAC_CANCELLED: options->stop_fd is readable.
 */
HAC_API HAC_MUST_USE hac_status hac_files_find_dialect(const char *name, int fd, hac_query_options *options,
                                                       char *note, size_t note_bytes, hac_error *err);

/* Whether input_options say such a dialect, so that libhac has to read any file (hac_query_splits). */
HAC_API int hac_files_is_dialect(const hac_query_options *options);

/*
 * Finds in files of text what hac_query_files would find in them: delimiter, header, forms and types. Sets
 * input_options and infer_schema of the options and clears `find`. *ret_columns is malloc'ed, and for
 * options->columns: with these options, queries of parts of the files read values as a query of all does.
 * *ret_columns is NULL if nothing had to be found. HAC_INVALID: the query cannot be one of these files.
 */
HAC_API HAC_MUST_USE hac_status hac_query_find_columns(hac_client *client, const int *fds,
                                                       const char *const *names, size_t n_files,
                                                       hac_query_options *options, void **ret_columns,
                                                       uint64_t *ret_bytes, hac_error *err);

/* The words of the formats of files and of the engines, as the command line has them: "csv", "device". NULL:
 * the number stands for none, so that a program may list them by counting. */
HAC_API const char *hac_input_format_name(hac_input_format format);
HAC_API const char *hac_engine_name(hac_engine engine);

/*
 * Makes columns of folders' names like year=2024 (docs/formats.md), if all files have the same keys: sets
 * options->path_columns, which belongs to `files`. Values are integers or dates if all of a column's are,
 * else text. Leaves out the files for which options->where cannot be true, all but one, and adds their
 * number to options->files_left_out. Call it when the other options are set, input_format too.
 */
HAC_API HAC_MUST_USE hac_status hac_files_apply(hac_files *files, hac_query_options *options, hac_error *err);

/*
 * hac_query_files of files that the call opens: up to 253 of any format that executors read, and up to
 * 64,009 Parquet files. More than 253 are read in batches: jobs of the same client write the columns that
 * the query needs, of the rows that count, to parts in this process's memory, and the query reads the parts.
 * The call returns when they are written.
 */
HAC_API HAC_MUST_USE hac_status hac_query_file_list(hac_client *client, const hac_files *files,
                                                    const hac_query_options *options, hac_job **ret_job,
                                                    hac_error *err);

#ifdef __cplusplus
}
#endif
#endif
