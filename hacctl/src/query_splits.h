/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query whose input goes to hacd in splits, read by this process while the devices work (flow B). Ctrl-C
 * cancels it; while this waits for a pipe to be opened or for the reader of a result, it ends hacctl at once.
 */
#ifndef HACCTL_QUERY_SPLITS_H
#define HACCTL_QUERY_SPLITS_H

#include "cli.h"
#include "output.h"
#include "query_request.h"
#include "wait.h"

/*
 * Runs the query to its end, with options that may be others than the request's. Rows that come on the way
 * are written to `output`, NULL where none do; a result that comes at the end is the job's, and left to the
 * caller. *ret is set also when it fails, if there was a job.
 */
HAC_MUST_USE hac_status hac_query_splits_run(hac_cli *cli, hac_query_request *request,
                                             const hac_query_options *options, hac_wait *wait,
                                             hac_output *output, hac_job **ret, hac_error *err);

/* Whether a request is to be run so: splice and pipe are, and others whose input is compressed or has no size
 * that is known. */
bool hac_query_splits_wanted(const hac_query_request *request);

#endif
