/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl parquet query, convert, inspect. */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "report/report_parquet.h"
#include "run/detach.h"
#include "run/query_run.h"
#include "run/wait.h"

hac_status hac_cmd_parquet_query(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_status status = hac_query_request_parquet(&request, "parquet query", args, 0, err);
    return status == HAC_OK ? hac_query_run(cli, args, &request, err) : status;
}

/* Copies the answer, which has no NUL at its end. */
static hac_status copy_answer(const hac_job *job, char **ret, hac_error *err)
{
    size_t bytes = (size_t)hac_job_bytes(job);
    *ret = malloc(bytes + 1);
    if (*ret == NULL)
        return hac_fail_no_memory(err);
    memcpy(*ret, hac_job_data(job), bytes);
    (*ret)[bytes] = '\0';
    return HAC_OK;
}

static hac_status describe(hac_cli *cli, const hac_query_input *input, char **ret, hac_error *err)
{
    hac_wait wait;
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    hac_wait_prepare(&wait, cli, &options.job);
    hac_status status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status = hac_describe_parquet(cli->client, input->fds[0], input->names[0], &options.job, &job, err);
    if (status == HAC_OK)
        status = hac_wait_for(&wait, job, true, err);
    return status == HAC_OK ? copy_answer(job, ret, err) : status;
}

/* Prints what `report` makes of an answer. */
static hac_status render(const char *answer, void (*report)(const cJSON *file, hac_text *text), char **ret,
                         hac_error *err)
{
    hac_autojson cJSON *json = NULL;
    hac_text text = HAC_TEXT_NONE;
    hac_status status = hac_json_parse_object(answer, "the file", &json, err);
    if (status != HAC_OK)
        return status;
    report(json, &text);
    return hac_text_finish(&text, ret, NULL, err);
}

/* Prints the inferred columns as --schema takes them, so that the user can correct a wrong type. */
static hac_status say_schema(hac_cli *cli, const char *answer, hac_error *err)
{
    hac_autofree char *schema = NULL;
    hac_status status = render(answer, hac_report_parquet_schema, &schema, err);
    if (status == HAC_OK)
        hac_cli_say(cli, "schema inferred: --schema '%s'", schema);
    return status;
}

static hac_status say_inferred(hac_cli *cli, const char *path, hac_error *err)
{
    hac_cleanup(hac_query_input_clear) hac_query_input input = {.n_files = 0};
    hac_autofree char *answer = NULL;
    char *word = (char *)(uintptr_t)path;
    hac_status status =
        hac_query_input_name(&input, "parquet convert", &word, 1, HAC_INPUT_PARQUET, NULL, err);
    if (status == HAC_OK)
        status = hac_query_input_open(&input, "parquet convert", err);
    if (status == HAC_OK && !input.stream)
        status = describe(cli, &input, &answer, err);
    return status == HAC_OK && answer != NULL ? say_schema(cli, answer, err) : status;
}

hac_status hac_cmd_parquet_convert(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_request_clear) hac_query_request request = {.convert = false};
    hac_args stays = hac_args_without(args, HAC_OPT_DETACH); /* this process writes the output */
    hac_status status = hac_query_request_convert(&request, "parquet convert", &stays, 0, err);
    stays.values[HAC_OPT_OUTPUT] = args->words[1];
    if (status == HAC_OK && hac_args_has(args, HAC_OPT_DETACH))
        status = hac_detach_enter(cli, &stays, true, err);
    if (status == HAC_OK)
        status = hac_query_run(cli, &stays, &request, err);
    bool guessed = request.options.infer_schema && request.options.schema == NULL &&
                   request.input.format != HAC_INPUT_PARQUET;
    if (status == HAC_OK && guessed && !cli->quiet)
        (void)!say_inferred(cli, args->words[1], NULL); /* the file is written, whether this works or not */
    return status;
}

static hac_status print_table(const char *answer, hac_error *err)
{
    hac_autofree char *table = NULL;
    hac_status status = render(answer, hac_report_parquet, &table, err);
    return status == HAC_OK ? hac_cli_print(table, err) : status;
}

hac_status hac_cmd_parquet_inspect(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_query_input_clear) hac_query_input input = {.n_files = 0};
    hac_autofree char *answer = NULL;
    hac_status status =
        hac_query_input_name(&input, "parquet inspect", args->words, 1, HAC_INPUT_PARQUET, NULL, err);
    if (status == HAC_OK && input.n_files > 1)
        return hac_fail(err, HAC_INVALID, "parquet inspect: %.200s has %zu Parquet files; name one of them",
                        args->words[0], input.n_files);
    if (status == HAC_OK)
        status = hac_query_input_open(&input, "parquet inspect", err);
    if (status == HAC_OK && input.stream)
        return hac_fail(err, HAC_FAILED, "%.200s: is not a regular file; save it first", input.names[0]);
    if (status == HAC_OK)
        status = describe(cli, &input, &answer, err);
    if (status != HAC_OK)
        return status;
    return cli->json ? hac_cli_print(answer, err) : print_table(answer, err);
}
