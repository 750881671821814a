/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl query: a query of rows of any kind, as options or as SQL. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- DESCRIBE SELECT …, SUMMARIZE SELECT … ----
 * The rows are written to a file, which is then described. */

typedef struct rows_file {
    char folder[PATH_MAX], path[PATH_MAX + 16];
} rows_file;

static hac_status make_rows_file(rows_file *ret, hac_error *err)
{
    const char *parent = getenv("TMPDIR");
    int n = snprintf(ret->folder, sizeof ret->folder, "%s/hacctl-XXXXXX",
                     parent != NULL && parent[0] == '/' ? parent : "/tmp");
    if (n < 0 || (size_t)n >= sizeof ret->folder || mkdtemp(ret->folder) == NULL) {
        ret->folder[0] = '\0';
        return hac_fail_errno(err, HAC_IO, errno, "query: no folder for the rows of the statement");
    }
    (void)snprintf(ret->path, sizeof ret->path, "%s/rows.parquet", ret->folder);
    return HAC_OK;
}

static void remove_rows_file(rows_file *file)
{
    if (file->folder[0] == '\0')
        return;
    (void)unlink(file->path);
    (void)rmdir(file->folder);
}

/* The statement with one row, if only its columns count: types are the same then. */
static char *first_row_of(const char *statement)
{
    size_t n = strlen(statement);
    while (n > 0 && strchr(" \t\r\n;", statement[n - 1]) != NULL)
        n--;
    char *ret = malloc(n + sizeof "\nlimit 1");
    if (ret != NULL)
        (void)snprintf(ret, n + sizeof "\nlimit 1", "%.*s%s", (int)n, statement,
                       strcasestr(statement, "limit") == NULL ? "\nlimit 1" : "");
    return ret;
}

static hac_status write_rows(hac_cli *cli, const hac_args *args, char *statement, char *path, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_args own = *args;
    own.words = &statement;
    own.n_words = 1;
    own.values[HAC_OPT_OUTPUT] = path;
    own.values[HAC_OPT_OUTPUT_FORMAT] = "parquet";
    own.values[HAC_OPT_JSON] = NULL;
    hac_status status = hac_query_request_query(&request, "query", &own, 0, err);
    return status == HAC_OK ? hac_query_run(cli, &own, &request, err) : status;
}

/* `select` is where the statement begins in the command's word. What stands before it becomes blanks, so that
 * the places in messages stay. */
static hac_status describe_select(hac_cli *cli, const hac_args *args, bool summarize, const char *select,
                                  hac_error *err)
{
    hac_cleanup(remove_rows_file) rows_file file = {.folder = ""};
    const char *word = args->words[0];
    hac_autofree char *statement = summarize ? strdup(word) : first_row_of(word);
    const hac_option_set input = hac_options_in(HAC_SECTION_INPUT);
    hac_args shown = *args;
    for (size_t i = 0; i < HAC_OPT_COUNT; i++)
        if (hac_option_set_has(input, i))
            shown.values[i] = NULL;
    if (statement == NULL)
        return hac_fail_no_memory(err);
    memset(statement, ' ', (size_t)(select - word));
    hac_status status = make_rows_file(&file, err);
    if (status == HAC_OK)
        status = write_rows(cli, args, statement, file.path, err);
    return status == HAC_OK ? describe(cli, &shown, summarize, file.path, err) : status;
}

hac_status hac_cmd_query(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_autofree char *file = NULL;
    bool summarize = false;
    if (args->n_words == 1 && hac_query_source_is_sql(args->words[0]) &&
        hac_query_source_described(args->words[0], &summarize, &file))
        return file != NULL ? describe(cli, args, summarize, file, err) : hac_fail_no_memory(err);
    const char *select =
        args->n_words == 1 ? hac_query_source_described_select(args->words[0], &summarize) : NULL;
    if (select != NULL)
        return describe_select(cli, args, summarize, select, err);
    hac_status status = hac_query_request_query(&request, "query", args, 0, err);
    if (status != HAC_OK || !request.in_splits || !hac_args_has(args, HAC_OPT_DETACH))
        return status == HAC_OK ? hac_query_run(cli, args, &request, err) : status;
    const hac_args stays = hac_args_without(args, HAC_OPT_DETACH);
    status = detach_splits(cli, &stays, &request, err);
    return status == HAC_OK ? hac_query_run(cli, &stays, &request, err) : status;
}
