/* SPDX-License-Identifier: Apache-2.0 */
/* What the front ends of queries (files, memory, buffers, Arrow) and their plans have in common. */
#ifndef CLIENT_QUERY_H
#define CLIENT_QUERY_H

#include "jobs.h"

/* The wire form of a query, checked; borrows from the options. */
typedef struct hac_query_wire {
    Hac__Client__QuerySpec spec;
    Hac__Client__QuerySource source;
    Hac__Client__QueryMethod method;
    Hac__Client__ParquetOutput parquet;
    Hac__Client__JobOptions options;
} hac_query_wire;

/* The caller's options, whatever the version of its header; NULL: none. */
HAC_MUST_USE hac_status hac_query_options_read(const hac_query_options *options, hac_query_options *ret,
                                               hac_error *err);

/* `ret` points into itself: it must stay where it is. `table`: the source is one, else NULL. */
HAC_MUST_USE hac_status hac_query_encode(const hac_query_options *options, Hac__Client__QueryTable *table,
                                         hac_query_wire *ret, hac_error *err);

/* A query that is about to be submitted. */
typedef struct hac_query_call {
    const hac_query_options *options; /* read by hac_query_options_read */
    bool describe;                    /* a Parquet file, instead of a query */
    Hac__Client__QueryTable *table;   /* NULL: text */
    Hac__Client__Input **inputs;
    size_t n_inputs;
    const int *fds; /* of inputs in descriptors, in their order */
    size_t n_fds;
    bool splits; /* instead of inputs: they follow, and are called `name` */
    const char *name;
    hac_mapping *owned; /* memory to give back when the job has ended; given back on failure, too */
} hac_query_call;

HAC_MUST_USE hac_status hac_query_submit(hac_client *client, const hac_query_call *call, hac_job **ret_job,
                                         hac_error *err);

/* Whether the query gives a row for each row of the source that its filter keeps. */
bool hac_query_gives_rows(const hac_query_options *options);

/* Whether the result of a job that is done is a table, as far as its first bytes say. */
bool hac_result_is_table(const hac_job *job);

/* Columns of such a result; HAC_PROTOCOL: it is damaged. */
HAC_MUST_USE hac_status hac_result_export(hac_job *job, struct ArrowSchema *ret_schema,
                                          struct ArrowArray *ret_array, hac_error *err);

#endif
