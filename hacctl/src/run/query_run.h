/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a query, converts its input before if need be, and writes its result. */
#ifndef HACCTL_QUERY_RUN_H
#define HACCTL_QUERY_RUN_H

#include "cli/cli.h"
#include "request/query_request.h"

/* The result goes to --output, receipt and trace to their files; with --detach the job's id is printed. */
HAC_MUST_USE hac_status hac_query_run(hac_cli *cli, const hac_args *args, hac_query_request *request,
                                      hac_error *err);

/* Runs the request to its end and gives the job, whose result is not written; rows that come before its end
 * are added to `rows`. `notes`: says what the user should know about the columns. */
HAC_MUST_USE hac_status hac_query_run_job(hac_cli *cli, hac_query_request *request, bool notes,
                                          hac_text *rows, hac_job **ret, hac_error *err);

#endif
