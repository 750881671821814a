/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl query: a query of rows of any kind, as options or as SQL. */
#include "cmd.h"
#include "run/detach.h"
#include "run/query_run.h"

/* A query over splits is read by this process, which leaves the terminal instead. */
static hac_status detach_splits(hac_cli *cli, const hac_args *stays, hac_query_request *request,
                                hac_error *err)
{
    request->options.job.detach = 0;
    if (!hac_args_has(stays, HAC_OPT_OUTPUT))
        return hac_fail(err, HAC_INVALID,
                        "query: --detach leaves the terminal; say where the result goes: -o OUT");
    return hac_detach_enter(cli, stays, true, err);
}

hac_status hac_cmd_query(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_status status = hac_query_request_query(&request, "query", args, 0, err);
    if (status != HAC_OK || !request.in_splits || !hac_args_has(args, HAC_OPT_DETACH))
        return status == HAC_OK ? hac_query_run(cli, args, &request, err) : status;
    const hac_args stays = hac_args_without(args, HAC_OPT_DETACH);
    status = detach_splits(cli, &stays, &request, err);
    return status == HAC_OK ? hac_query_run(cli, &stays, &request, err) : status;
}
