/* SPDX-License-Identifier: Apache-2.0 */
/* A query on the command line, the same vocabulary for every command that takes one → what libhac takes. */
#ifndef HACCTL_QUERY_REQUEST_H
#define HACCTL_QUERY_REQUEST_H

#include "cli.h"
#include "job_request.h"
#include "query_input.h"
#include "split_input.h"
#include "table_query.h"

/* A job that has a name: a query, of which the command line may change any part. */
typedef struct hac_named_job {
    const char *name;
    const char *summary;     /* what it counts, of which input */
    hac_input_format format; /* whatever the suffix says; HAC_INPUT_NONE: by the suffix … */
    const char *schema, *where, *group_by, *select, *order_by; /* NULL: none */
    const char *wants; /* an option without which it makes no sense, NULL: none; of a file: the texts are made
                        * from that */
} hac_named_job;

/* The index-th, NULL behind the last. */
const hac_named_job *hac_named_job_get(size_t index);
const hac_named_job *hac_named_job_find(const char *name); /* NULL: none */

typedef struct hac_query_request {
    hac_query_options options;
    hac_job_request job;
    hac_table_query table; /* texts of `options`, where the job has a table */
    char null_text[32], schema[16];
    hac_query_input input;
    hac_split_input splits;     /* with `in_splits`, instead of `input` */
    bool in_splits;             /* splice and pipe */
    uint64_t split_bytes;       /* 0: as libhac has it */
    bool convert;               /* the input is made a Parquet file first, which is then queried */
    const hac_named_job *named; /* NULL: none */
    bool all_columns;           /* --select is not the user's: all columns are written */
} hac_query_request;

/*
 * The command lines that are queries, from the command's `first` word on, with all options of theirs and of a
 * job. They open the input. HAC_INVALID: usage; HAC_FAILED says which file cannot be read. `command` is named
 * in messages. To be cleared in every case.
 *
 *     mapreduce        [JOBNAME] FILE…
 *     parquet query    FILE…
 *     parquet convert  IN OUT      all columns as they are; OUT is left to the caller
 *     sort             IN          whole rows by --key
 *     splice           IN…         any number of files, "-" among them; they are opened later
 *     pipe                         standard input
 */
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

/* What the compiler says of a text that the user did not write, without the place in it: of the job that has
 * a name, or of --key. */
void hac_query_request_reword(const hac_query_request *request, const hac_args *args, hac_error *err);

/* Whether the suffix of a file's name says nothing else than that such a result is in it: csv, json, parquet;
 * true of all other forms. */
bool hac_query_name_fits(const char *path, const char *form);

/* Whether a sort is one of whole rows. */
bool hac_query_request_is_sort(const hac_args *args);

#endif
