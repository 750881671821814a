/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a query, and what has to be done before it, and writes its result. */
#ifndef HACCTL_QUERY_RUN_H
#define HACCTL_QUERY_RUN_H

#include "cli.h"
#include "query_request.h"

/* The result goes where --output says, the receipt and the trace where they are wanted; with --detach the
 * job's id is printed. */
HAC_MUST_USE hac_status hac_query_run(hac_cli *cli, const hac_args *args, hac_query_request *request,
                                      hac_error *err);

#endif
