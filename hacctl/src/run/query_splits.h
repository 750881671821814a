/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query whose input goes to hacd in splits: this process reads the next split while the devices work on
 * one. Ctrl-C cancels the job; while this process waits for a pipe to be opened, or for the reader of the
 * result, Ctrl-C ends it at once.
 */
#ifndef HACCTL_QUERY_SPLITS_H
#define HACCTL_QUERY_SPLITS_H

#include "cli/cli.h"
#include "job_output.h"
#include "request/query_request.h"
#include "wait.h"

/*
 * Runs the query to its end with `options`, which may differ from the request's. Rows that arrive while the
 * job runs go to `outputs`; NULL if there are none. A result at the end is the job's, and the caller writes
 * it. *ret is set even on failure if there was a job.
 */
HAC_MUST_USE hac_status hac_query_splits_run(hac_cli *cli, hac_query_request *request,
                                             const hac_query_options *options, hac_wait *wait,
                                             hac_job_output *outputs, hac_job **ret, hac_error *err);

/* Whether a request runs over splits: splice and pipe do, and other queries whose input is compressed, a JSON
 * document, or has no known size. */
bool hac_query_splits_wanted(const hac_query_request *request);

#endif
