/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl splice: a query over inputs of any length. */
#include "cmd.h"
#include "run/detach.h"
#include "run/query_run.h"

hac_status hac_cmd_splice(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    const hac_args stays = hac_args_without(args, HAC_OPT_DETACH); /* this process reads the input */
    bool detach = hac_args_has(args, HAC_OPT_DETACH);
    hac_status status = hac_query_request_splice(&request, "splice", &stays, 0, err);
    if (status == HAC_OK && detach && !hac_args_has(args, HAC_OPT_OUTPUT))
        status = hac_fail(err, HAC_INVALID,
                          "splice: --detach leaves the terminal; say where the result goes: -o OUT");
    if (status == HAC_OK && detach)
        status = hac_detach_enter(cli, &stays, true, err);
    return status == HAC_OK ? hac_query_run(cli, &stays, &request, err) : status;
}
