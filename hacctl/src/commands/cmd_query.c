/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl query: a query of rows of any kind, as options or as SQL. */
#include "base/cleanup.h"
#include "cmd.h"
#include "request/query_source.h"
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

/* DESCRIBE 'file' and SUMMARIZE 'file' are the commands of these names. */
static hac_status describe(hac_cli *cli, const hac_args *args, bool summarize, char *file, hac_error *err)
{
    hac_args own = *args;
    own.words = &file;
    own.n_words = 1;
    if (hac_args_has(args, HAC_OPT_JSON) && !hac_args_has(args, HAC_OPT_OUTPUT_FORMAT) &&
        !hac_args_has(args, HAC_OPT_OUTPUT))
        own.values[HAC_OPT_OUTPUT_FORMAT] = "json";
    hac_status status =
        hac_args_refuse(args, "query", hac_option_set_others(hac_options_for(HAC_FOR_SUMMARY)),
                        "not possible beside DESCRIBE and SUMMARIZE", err);
    if (status != HAC_OK)
        return status;
    return summarize ? hac_cmd_summarize(cli, &own, err) : hac_cmd_describe(cli, &own, err);
}

hac_status hac_cmd_query(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_autofree char *file = NULL;
    bool summarize = false;
    if (args->n_words == 1 && hac_query_source_is_sql(args->words[0]) &&
        hac_query_source_described(args->words[0], &summarize, &file))
        return file != NULL ? describe(cli, args, summarize, file, err) : hac_fail_no_memory(err);
    hac_status status = hac_query_request_query(&request, "query", args, 0, err);
    if (status != HAC_OK || !request.in_splits || !hac_args_has(args, HAC_OPT_DETACH))
        return status == HAC_OK ? hac_query_run(cli, args, &request, err) : status;
    const hac_args stays = hac_args_without(args, HAC_OPT_DETACH);
    status = detach_splits(cli, &stays, &request, err);
    return status == HAC_OK ? hac_query_run(cli, &stays, &request, err) : status;
}
