/* SPDX-License-Identifier: Apache-2.0 */
/* A query on the command line → what libhac takes. All commands that take a query share these options. */
#ifndef HACCTL_QUERY_REQUEST_H
#define HACCTL_QUERY_REQUEST_H

#include "base/limits.h"
#include "cli/cli.h"
#include "constant_query.h"
#include "job_request.h"
#include "query_input.h"
#include "query_source.h"
#include "result_form.h"
#include "split_input.h"

/* A named job: a query, any part of which options may change. */
typedef struct hac_named_job {
    const char *name;
    const char *summary;     /* what it computes, from which input */
    hac_input_format format; /* overrides the suffix; HAC_INPUT_NONE: the suffix decides */
    const char *schema, *where, *group_by, *select, *order_by; /* NULL: none */
    /* An option that the job requires; NULL: none. If the option names a file, the texts above are made
     * from the file. */
    const char *wants;
} hac_named_job;

/* The job with this index; NULL behind the last one. */
const hac_named_job *hac_named_job_get(size_t index);
const hac_named_job *hac_named_job_find(const char *name); /* NULL: none */

typedef struct hac_query_request {
    hac_query_options options;
    hac_job_request job;
    hac_constant_query table; /* owns texts of `options` if the job has a table */
    char schema[16];
    hac_query_input input;
    hac_split_input splits;     /* used instead of `input` if in_splits */
    bool in_splits;             /* splice and pipe */
    uint64_t split_bytes;       /* 0: libhac's default */
    bool convert;               /* the input is converted to a Parquet file first, which is then queried */
    const hac_named_job *named; /* NULL: none */
    hac_query_source source;    /* of `query` */
    hac_sql *sql;               /* NULL: none */
    hac_result_form form;       /* of the result; options.result_format is what libhac is asked for */
    bool arrow_file;            /* an Arrow result is a file, not a stream */
    bool finds_nothing;         /* pipe: a task has only a part of the input */
    char dialect[256];          /* what was found of the dialect of csv, for people; empty: nothing */
    bool all_columns;           /* all columns are written; the user gave no --select */
} hac_query_request;

/*
 * Parse the command lines that are queries, from the command's word with index `first` on, with all their
 * options, and open the input. HAC_INVALID: usage; HAC_FAILED names the file that cannot be read. `command`
 * is for messages. Clear *request in every case.
 *
 *     query            IN… or a SQL statement: read like parquet query, splice or mapreduce
 *     mapreduce        [JOBNAME] FILE…
 *     parquet query    FILE…
 *     parquet convert  IN OUT      all columns as they are; the caller handles OUT
 *     sort             IN          whole rows by --key
 *     splice           IN…         any number of files, "-" among them; opened later
 *     pipe                         standard input
 */
HAC_MUST_USE hac_status hac_query_request_query(hac_query_request *request, const char *command,
                                                const hac_args *args, size_t first, hac_error *err);
HAC_MUST_USE hac_status hac_query_request_parse(hac_query_request *request, const char *command,
                                                const hac_args *args, size_t first, hac_error *err);
HAC_MUST_USE hac_status hac_query_request_parquet(hac_query_request *request, const char *command,
                                                  const hac_args *args, size_t first, hac_error *err);
HAC_MUST_USE hac_status hac_query_request_convert(hac_query_request *request, const char *command,
                                                  const hac_args *args, size_t first, hac_error *err);
HAC_MUST_USE hac_status hac_query_request_sort(hac_query_request *request, const char *command,
                                               const hac_args *args, size_t first, hac_error *err);
HAC_MUST_USE hac_status hac_query_request_splice(hac_query_request *request, const char *command,
                                                 const hac_args *args, size_t first, hac_error *err);
HAC_MUST_USE hac_status hac_query_request_pipe(hac_query_request *request, const char *command,
                                               const hac_args *args, hac_error *err);
void hac_query_request_clear(hac_query_request *request);

/* Finds the dialect of csv in the first input that has bytes: of files while a request is parsed, and of a
 * stream, for whose bytes the call waits, before the query runs. */
HAC_MUST_USE hac_status hac_query_request_find_dialect(hac_query_request *request, bool stream,
                                                       hac_error *err);

/* What was assumed about the format of the input, for people; "": nothing. */
const char *hac_query_request_assumed(const hac_query_request *request);

/* Makes the query one of Parquet: clears the options that say how text becomes rows. */
void hac_query_reads_parquet(hac_query_options *options);

/* Rewords the compiler's message about a text that the user did not write (a named job's, or --key)
 * without the position in that text. */
void hac_query_request_reword(const hac_query_request *request, const hac_args *args, hac_error *err);

/* Whether a sort is one of whole rows. */
bool hac_query_request_is_sort(const hac_args *args);

#endif
