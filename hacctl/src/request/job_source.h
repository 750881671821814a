/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a job in place of a file: job:ID on the command line. It is rows in a form that queries read,
 * or a raw array. The memory of the result is the input; nothing is copied or written to a file. A file of
 * such a name is named as ./job:ID.
 */
#ifndef HACCTL_JOB_SOURCE_H
#define HACCTL_JOB_SOURCE_H

#include <stdbool.h>

#include <hac/hac.h>

#include "cli/cli.h"

/* Zero-initialised; clear it in every case. */
typedef struct hac_job_source {
    hac_job *job;       /* NULL: the input is not a job's result */
    hac_buffer *buffer; /* NULL: the result is empty */
    uint64_t bytes;
    hac_input_format format; /* of rows; HAC_INPUT_NONE: a raw array, or columns */
    bool columns;            /* a result of HAC_RESULT_TABLE */
} hac_job_source;

/* Whether the word is job:ID. */
bool hac_job_source_is(const char *word);

/* Connects, and takes the result of the job that `word` names. HAC_AGAIN: it has not ended. HAC_NOT_FOUND:
 * this user has no such job, or its result is gone. HAC_INVALID: it failed, or its result is neither rows nor
 * an array. */
HAC_MUST_USE hac_status hac_job_source_open(hac_cli *cli, const char *word, hac_job_source *ret,
                                            hac_error *err);
void hac_job_source_clear(hac_job_source *source);

/* Submits a query of the rows. */
HAC_MUST_USE hac_status hac_job_source_query(hac_cli *cli, const hac_job_source *source,
                                             const hac_query_options *options, hac_job **ret, hac_error *err);

#endif
