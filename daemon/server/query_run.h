/* SPDX-License-Identifier: Apache-2.0 */
/* A job's query while it runs, for the job kinds that run one: job_query.c, which is its owner, and
 * job_splits.c. */
#ifndef SERVER_QUERY_RUN_H
#define SERVER_QUERY_RUN_H

#include "job_query.h"
#include "parquet_reading.h"

/* What the tasks of the current plan have reported; of a job with splits rows and partial groups are those
 * of all its plans. */
typedef struct hac_query_totals {
    uint64_t rows, kept, skipped, partial_groups, needed;
    uint64_t groups, group_region, output_bytes; /* of the merges */
    uint64_t result_rows, result_bytes;
    uint64_t reading[HAC_READ_N_VALUES];
} hac_query_totals;

struct hac_splits;

struct hac_query_run {
    hac_query_spec spec;
    bool compiled;
    bool parquet, writes_parquet;
    const char *output; /* the result's format; NULL: none */
    hac_parquet_reading footers;
    uint8_t *text; /* the packed specification */
    size_t text_bytes;
    uint8_t *source; /* inline */
    size_t source_bytes;
    uint8_t *query; /* compiled */
    size_t query_bytes;
    char *names[HAC_QUERY_SOURCES_MAX]; /* of the sources; NULL: none */
    hac_query_totals totals;
    unsigned tries;
    uint64_t result_room;      /* bytes of the result's span */
    uint64_t groups_before;    /* totals.partial_groups of the rounds before this one */
    bool planned;              /* the plan that answers it was made; else at most the one that compiles it */
    struct hac_splits *rounds; /* the input comes in splits; NULL: all of it is there */
};

/* A new job->query for the specification, with a seed; all but its sources. */
HAC_MUST_USE hac_status hac_query_run_take_spec(hac_job *job, const Hac__Client__QuerySpec *spec,
                                                hac_error *err);
/* The plan that compiles it. */
HAC_MUST_USE hac_status hac_query_run_plan_compile(hac_job *job, hac_error *err);
/* What goes with every task: the compiled query, or else its specification. */
HAC_MUST_USE hac_status hac_query_run_set_data(hac_job *job, hac_error *err);
void hac_query_run_note_plan(hac_job *job);
/* Records that were left out, wishes that were not met: for the log, and the client. */
void hac_query_run_note_remarks(hac_job *job);
void hac_query_run_fail(hac_job *job, hac_status code, const char *message);
/* HAC_REFUSED, with what can be done: nobody knows how many groups a stream will have. */
hac_status hac_query_run_too_many_groups(hac_job *job, hac_error *err);
/* Gives the merge's output another size, in bytes a partition. */
HAC_MUST_USE hac_status hac_query_run_resize_groups(hac_job *job, uint64_t region, hac_error *err);
/* Whether all tasks of that kind but this one have ended. */
bool hac_query_run_last_of_its_kind(const hac_job *job, uint32_t index);
/* The members of the receipt's "query". */
void hac_query_run_receipt(const hac_job *job, hac_text *text);

bool hac_query_is_codelet(const hac_plan_task *task, const char *name);
/* Or rows. */
bool hac_query_makes_partials(const hac_plan_task *task);

#endif
