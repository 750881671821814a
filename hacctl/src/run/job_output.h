/* SPDX-License-Identifier: Apache-2.0 */
/* The outputs of a job: its result, and its receipt and trace if they were asked for. */
#ifndef HACCTL_JOB_OUTPUT_H
#define HACCTL_JOB_OUTPUT_H

#include "cli/cli.h"
#include "cli/output.h"
#include "request/result_form.h"
#include "text/box_table.h"

typedef struct hac_job_output {
    hac_output_file *result;  /* NULL: no result is written */
    hac_output_file *receipt; /* NULL: not asked for */
    hac_output_file *trace;
    const char *conversion; /* JSON for the field of that name in the receipt; NULL: none */
    hac_box_table *box;     /* the result is drawn as a table; NULL: it is not */
    hac_text *rows;         /* borrowed: rows that come before the job is done go here; NULL: to the result */
    bool arrow, arrow_file; /* the result is columns, which are written as an Arrow stream, or file */
} hac_job_output;

/* Opens --receipt and --trace, and with `result` also --output (standard output without it), so that an
 * output that cannot be written is reported before the job starts. */
HAC_MUST_USE hac_status hac_job_output_open(hac_job_output *outputs, const hac_args *args, bool result,
                                            hac_error *err);
/* Says that the result is of a form, between the opening and the first rows. Refuses to write a form that is
 * not text to a terminal. */
HAC_MUST_USE hac_status hac_job_output_take(hac_job_output *outputs, hac_result_form form, bool arrow_file,
                                            hac_error *err);
/* Writes rows that come before the job is done, or keeps them for the table. */
HAC_MUST_USE hac_status hac_job_output_rows(hac_job_output *outputs, const void *bytes, uint64_t n,
                                            hac_error *err);
void hac_job_output_close(hac_job_output *outputs);

/* Writes all outputs of a job that is done. No file gets its name before all outputs are written. */
HAC_MUST_USE hac_status hac_job_output_write(hac_job_output *outputs, hac_cli *cli, hac_job *job,
                                             hac_error *err);

/* For --detach: prints the job's id. Abandons the job if the id cannot be printed, since nobody would know
 * it. */
HAC_MUST_USE hac_status hac_job_output_print_id(const hac_cli *cli, hac_job *job, hac_error *err);
/* Only prints the job's id. HAC_NOT_FOUND if the reader has gone. */
HAC_MUST_USE hac_status hac_job_output_write_id(const hac_cli *cli, uint64_t job, hac_error *err);
/* The job was abandoned because its id could not be printed: adds that to the message, or ends the process
 * without a message if the reader has gone. */
hac_status hac_job_output_fail_id(uint64_t job, hac_status status, hac_error *err);

/* HAC_INVALID if --detach comes with an option that needs the job's end, if two outputs are the same file,
 * or if a receipt or trace would overwrite an input. `result`: there is a result, which goes to standard
 * output without --output. */
HAC_MUST_USE hac_status hac_job_output_check(const hac_args *args, bool result, hac_error *err);
/* Whether two paths of outputs (NULL: none) are the same file, so that one would replace the other or mix
 * with it. */
bool hac_job_output_same_file(const char *path, const char *other);
/* HAC_INVALID if a detached command would write to standard output, where the job's id goes. */
HAC_MUST_USE hac_status hac_job_output_check_detached(const hac_args *args, bool result, hac_error *err);

#endif
