/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl mapreduce: a query of files, or a named job. */
#include "cmd.h"
#include "run/query_run.h"

hac_status hac_cmd_mapreduce(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_status status = hac_query_request_parse(&request, "mapreduce", args, 0, err);
    return status == HAC_OK ? hac_query_run(cli, args, &request, err) : status;
}
