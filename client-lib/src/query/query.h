/* SPDX-License-Identifier: Apache-2.0 */
/* Common code of the front ends of queries (files, memory, buffers, Arrow) and of query plans. */
#ifndef CLIENT_QUERY_H
#define CLIENT_QUERY_H

#include "base/input_options.h"
#include "base/limits.h"
#include "base/query_layout.h"
#include "compile_query.h"
#include "jobs/jobs.h"

/* The wire form of a checked query. It points into the options. */
typedef struct hac_query_wire {
    Hac__Client__QuerySpec spec;
    Hac__Client__QuerySource source;
    Hac__Client__QueryMethod method;
    Hac__Client__JobOptions options;
    uint8_t input_options[HAC_INPUT_OPTIONS_BYTES_MAX];
} hac_query_wire;

/* Reads the caller's options, whatever the version of the caller's header. `options` may be NULL. */
HAC_MUST_USE hac_status hac_query_options_read(const hac_query_options *options, hac_query_options *ret,
                                               hac_error *err);

/* Checks the options and fills in all members but `compiled`. `ret` points into itself, so the caller must
 * not move it. `columns` describes a table; NULL: the source is not a table. */
HAC_MUST_USE hac_status hac_query_encode(const hac_query_options *options, const hac_source_columns *columns,
                                         hac_query_wire *ret, hac_error *err);

/* Encodes the options again with what was found in the first records, if anything was. `found` is memory for
 * the options, into which `ret` points. */
HAC_MUST_USE hac_status hac_query_encode_found(const hac_query_options *options,
                                               const hac_source_columns *columns,
                                               const hac_compiled_query *compiled, hac_query_options *found,
                                               hac_query_wire *ret, hac_error *err);

/* A query that is about to be submitted. */
typedef struct hac_query_call {
    const hac_query_options *options;  /* read by hac_query_options_read */
    Hac__Client__Description describe; /* the description of the source to return, instead of a query */
    unsigned separators; /* of a description: the HAC_SEPARATOR_DATE_… of dates with the told order; 0: all */
    const hac_source_columns *table;    /* NULL: the source is text */
    const hac_compiled_query *compiled; /* NULL: the submission compiles the query */
    const uint8_t *text;                /* an input in memory, `text_bytes` bytes */
    uint64_t text_bytes;
    bool text_goes_on; /* the text is only the beginning of the input */
    size_t unseen;     /* inputs behind the one that the text is of */
    Hac__Client__Input **inputs;
    size_t n_inputs;
    const int *fds; /* descriptors of the inputs that have one, in the order of the inputs */
    size_t n_fds;
    bool splits;        /* the data follows in splits, instead of `inputs` */
    const char *name;   /* the name of the splits */
    hac_mapping *owned; /* memory to give back at the end of the job, or on failure */
    /* columns that the job reads in place: a job that was submitted takes them and releases them at its end;
     * NULL: none */
    struct ArrowArray *borrowed;
} hac_query_call;

/* Sends the call with `wire`, which hac_query_encode filled in from the call's options. `compiled` is NULL if
 * the call only describes the source. */
HAC_MUST_USE hac_status hac_query_send(hac_client *client, const hac_query_call *call,
                                       const hac_compiled_query *compiled, hac_query_wire *wire,
                                       hac_job **ret_job, hac_error *err);

/* Compiles the query of a call. If only the inputs define the columns, the function reads the inputs or asks
 * hacd. The caller frees *ret. */
HAC_MUST_USE hac_status hac_query_call_compile(hac_client *client, const hac_query_call *call,
                                               hac_compiled_query **ret, hac_error *err);

/* What hac_query_find_columns finds for a call on files, whose options `options` are. */
HAC_MUST_USE hac_status hac_query_call_find(hac_client *client, const hac_query_call *call,
                                            hac_query_options *options, void **ret_columns,
                                            uint64_t *ret_bytes, hac_error *err);

/* Compiles a query on the file in `fd`, for a plan. -1: there is no file. The caller frees *ret. */
HAC_MUST_USE hac_status hac_query_compile_file(hac_client *client, int fd, const hac_query_options *options,
                                               hac_compiled_query **ret, hac_error *err);

/* What a query would read of Parquet files, as a job would count it. */
typedef struct hac_query_footers {
    uint64_t values[HAC_QUERY_FILES_MAX * HAC_FOOTER_N_VALUES];
    size_t n; /* 0: the files are not Parquet, or are empty */
} hac_query_footers;

/* Compiles a query on files, for a plan, and asks hacd for their footers if they are Parquet. `names` may be
 * NULL. The caller frees *ret. */
HAC_MUST_USE hac_status hac_query_compile_files(hac_client *client, const int *fds, const char *const *names,
                                                size_t n_files, const hac_query_options *options,
                                                hac_compiled_query **ret, hac_query_footers *ret_footers,
                                                hac_error *err);

/* Compiles the query if call->compiled is NULL, and sends it. */
HAC_MUST_USE hac_status hac_query_submit(hac_client *client, const hac_query_call *call, hac_job **ret_job,
                                         hac_error *err);

/* True if the first bytes of a finished job's result are those of a table. */
bool hac_result_is_table(const hac_job *job);

/* Exports the columns of a result that is a table. HAC_PROTOCOL: the result is damaged. */
HAC_MUST_USE hac_status hac_result_export(hac_job *job, bool raw, struct ArrowSchema *ret_schema,
                                          struct ArrowArray *ret_array, hac_error *err);

#endif
