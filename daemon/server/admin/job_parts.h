/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of an opsplit run. A run is one job of graphs of sub-operators. The client loads its inputs by
 * queries before that job, and writes its outputs by queries after it: jobs of their own, over the same
 * connection. Status answers say which job they are parts of.
 */
#ifndef SERVER_JOB_PARTS_H
#define SERVER_JOB_PARTS_H

#include "base/text.h"
#include "jobs/job.h"

/* The job of the run that `job` is a part of; NULL: none. */
const hacd_job *hac_job_parts_run(const hacd_job *job);

/* "loads an input" or "writes an output". */
const char *hac_job_parts_role(const hacd_job *job);

/* The record of `job` is saved for the first time: the records of the run that it is a part of, or of the
 * inputs of the run that it is, were saved before they could name it, and are to be saved again. */
void hac_job_parts_renew(hacd_job *job);

/* Adds "parts", the other jobs of the run, if the job is the job of a run. */
void hac_job_parts_print(const hacd_job *job, hac_text *text);

#endif
