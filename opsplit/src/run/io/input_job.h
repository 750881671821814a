/* SPDX-License-Identifier: Apache-2.0 */
/* Results of jobs as inputs of a logic file: job:ID in place of a path. */
#ifndef OPSPLIT_RUN_INPUT_JOB_H
#define OPSPLIT_RUN_INPUT_JOB_H

#include "run/state/run_types.h"

/* Whether the path of an input is job:ID, the result of a job of this user. */
bool hac_run_is_job(const char *path);
/* Queries the rows of that job's result, where they lie. The job must have ended, and its result have the
 * format of the input. */
HAC_MUST_USE hac_status hac_run_query_job(const hac_logic_run_state *run, const char *path,
                                          const hac_query_options *options, hac_job **ret, hac_error *err);

#endif
