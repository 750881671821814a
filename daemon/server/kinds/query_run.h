/* SPDX-License-Identifier: Apache-2.0 */
/* A job's query while it runs, for the kinds that run queries: job_query.c, job_splits.c and job_calibrate.c.
 */
#ifndef SERVER_QUERY_RUN_H
#define SERVER_QUERY_RUN_H

#include "jobs/job.h"
#include "parquet_footers.h"
#include "planner/query_plan.h"

/* The reports of the current plan's tasks, summed up. For a job with splits, rows and partial groups are
 * those of all its plans. */
typedef struct hac_query_totals {
    uint64_t rows, kept, skipped, partial_groups, needed;
    uint64_t groups, group_region, output_bytes; /* of the merges */
    uint64_t group_bytes;                        /* of all regions, as far as they are filled */
    uint64_t part_region, part_bytes; /* largest region of a part; bytes of all parts in the result */
    uint64_t result_rows, result_bytes;
    uint64_t passed; /* rows of the result, and those before them that an offset leaves out */
    uint64_t reading[HAC_READ_N_VALUES];
} hac_query_totals;

typedef struct hacd_query {
    hac_query_spec spec;
    bool parquet, writes_parquet;
    bool asks_footers;  /* the job ends when the footers are read: they are its result */
    const char *output; /* the result's format; NULL: none */
    hac_parquet_footers footers;
    uint8_t *source; /* inline */
    size_t source_bytes;
    uint8_t *query; /* compiled; or the request for a description */
    size_t query_bytes;
    char *names[HAC_DESCRIPTORS_MAX]; /* of the sources; NULL: none */
    hac_query_totals totals;
    unsigned tries;
    uint64_t result_capacity; /* bytes of the result's span */
    uint64_t groups_before;   /* totals.partial_groups of the rounds before this one */
    bool planned;   /* the plan that answers the query has been made, not only the one that reads footers */
    bool in_turn;   /* with a limit, after a failure: the input is read from its start on, piece by piece */
    bool in_splits; /* the input comes in splits; else all of it is there */
    uint64_t files_left_out; /* by the client: for the receipt */
} hacd_query;

/* The beginning of kind_state in the kinds that run queries. */
typedef struct hac_query_holder {
    hacd_query *query; /* NULL: none */
} hac_query_holder;

static inline hacd_query *hac_query_of(const hacd_job *job)
{
    return ((const hac_query_holder *)job->kind_state)->query;
}

/* Fills the planner's specification from a request, except for the sources. */
void hac_query_spec_read(const Hac__Client__QuerySpec *from, hac_query_spec *ret);

/* A query over a table that hacd makes, for hac_query_run_begin. */
typedef struct hac_query_over {
    const Hac__Client__CompiledQuery *compiled; /* over a table in job->input ... */
    uint64_t rows, bytes;                       /* ... of so many rows, and the bytes of these */
    uint64_t table_bytes;                       /* the table's size in job->input */
    uint64_t groups;                            /* at most */
} hac_query_over;
HAC_MUST_USE hac_status hac_query_run_begin(hacd_job *job, const hac_query_over *query, bool kernels,
                                            hac_error *err);
HAC_MUST_USE hac_status hac_query_run_next_plan(hacd_job *job, uint32_t device_mask, hac_error *err);
void hac_query_run_task_done(hacd_job *job, uint32_t index, const Hac__Executor__Done *done);
bool hac_query_run_did_all(const hacd_job *job, uint32_t index, const Hac__Executor__Done *done);
HAC_MUST_USE hac_status hac_query_run_task_ended(hacd_job *job, uint32_t index, hac_error *err);
/* Whether the task's failure is one of the source: its data, or how it is read. */
bool hac_query_is_of_source(const hac_plan_task *task, const Hac__Executor__Done *done);
bool hac_query_run_task_failed(hacd_job *job, uint32_t index, const Hac__Executor__Done *done);
/* Frees the query, and the data that is sent with its tasks. */
void hac_query_run_end(hacd_job *job);

/* Makes the job's query from a specification, with a seed, but without sources. */
HAC_MUST_USE hac_status hac_query_run_take_spec(hacd_job *job, const Hac__Client__QuerySpec *spec,
                                                hac_error *err);
/* Sets what is sent with every task. */
HAC_MUST_USE hac_status hac_query_run_set_data(hacd_job *job, hac_error *err);
void hac_query_run_note_plan(hacd_job *job);
/* Notes skipped records and requests that could not be met, in the log and for the client. */
void hac_query_run_note_remarks(hacd_job *job);
void hac_query_run_fail(hacd_job *job, hac_status code, const char *message);
/* HAC_REFUSED, with advice: the number of groups of a stream is not known in advance. */
hac_status hac_query_run_too_many_groups(hacd_job *job, hac_error *err);
/* Gives the merge's output another size, in bytes per partition. */
HAC_MUST_USE hac_status hac_query_run_resize_groups(hacd_job *job, uint64_t region, hac_error *err);
/* Whether all tasks of that kind but this one have ended. */
bool hac_query_run_last_of_its_kind(const hacd_job *job, uint32_t index);
/* Adds the members of the receipt's "query". */
void hac_query_run_receipt(const hacd_job *job, hac_text *text);

/* Copies a message's bytes. Returns false if memory is lacking. */
bool hac_query_keep_bytes(uint8_t **ret, size_t *ret_bytes, const ProtobufCBinaryData *data);

bool hac_query_is_codelet(const hac_plan_task *task, const char *name);
/* Whether the task makes partials, or rows. */
bool hac_query_makes_partials(const hac_plan_task *task);

#endif
