/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl wait, result, cancel: commands about jobs that another hacctl or program started. */
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd.h"
#include "request/query_request.h"
#include "run/wait.h"
#include "text/json_fields.h"

static hac_status attach(hac_cli *cli, const hac_args *args, hac_job **ret, hac_error *err)
{
    uint64_t id;
    hac_status status = hac_cli_job_id(args->words[0], &id, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    return status == HAC_OK ? hac_job_attach(cli->client, id, ret, err) : status;
}

static hac_status wait_for(hac_cli *cli, hac_job *job, hac_error *err)
{
    hac_wait wait;
    hac_wait_prepare(&wait, cli, NULL);
    return hac_wait_for(&wait, job, false, err);
}

hac_status hac_cmd_wait(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_status status = attach(cli, args, &job, err);
    if (status == HAC_OK)
        status = wait_for(cli, job, err);
    /* the job is done, and its result was fetched already: it ended well */
    bool gone = status == HAC_NOT_FOUND && job != NULL && hac_job_get_state(job) == HAC_JOB_DONE;
    return gone ? HAC_OK : status;
}

/* Releases the job's result, which is written completely. If the client that started the job still exists,
 * that client has to release it. */
static void release(hac_cli *cli, hac_job *job)
{
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_job_release(job, &err);
    if (status != HAC_OK && status != HAC_INVALID)
        hac_cli_say(cli, "the result is written, but the daemon keeps it: %s", err.message);
}

/* The form of the result was decided when the job was started. Refuses an OUT whose suffix promises
 * another form; a form that is not known (as of an array) fits any name. */
static hac_status check_name(hac_cli *cli, const hac_args *args, const hac_job *job, hac_error *err)
{
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *receipt = NULL;
    const char *path = args->values[HAC_OPT_OUTPUT];
    if (path == NULL ||
        hac_cli_ask(cli, HAC_TOPIC_RECEIPT, hac_job_id(job), HAC_PLAN_JSON, &answer, NULL) != HAC_OK ||
        hac_json_parse_object(answer, "the job", &receipt, NULL) != HAC_OK)
        return HAC_OK;
    const char *form =
        hac_json_get_string(cJSON_GetObjectItemCaseSensitive(receipt, "query"), "output_format");
    if (form == NULL || hac_result_form_fits(path, form))
        return HAC_OK;
    return hac_fail(err, HAC_INVALID,
                    "result: the result of job %s is %s, but the suffix of %.200s says otherwise; choose "
                    "another name, or start the job with another --output-format",
                    args->words[0], form, path);
}

hac_status hac_cmd_result(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_output_free_cleanup) hac_output_file *output = NULL;
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_status status = hac_output_open(args->values[HAC_OPT_OUTPUT], &output, err);
    if (status == HAC_OK && hac_output_is_terminal(output) && !hac_args_has(args, HAC_OPT_OUTPUT))
        return hac_fail(err, HAC_INVALID,
                        "result: will not write raw data to a terminal; say where with -o OUT");
    if (status == HAC_OK)
        status = attach(cli, args, &job, err);
    if (status == HAC_OK)
        status = check_name(cli, args, job, err);
    if (status == HAC_OK)
        status = wait_for(cli, job, err);
    if (status != HAC_OK)
        return status;
    uint64_t bytes = hac_job_bytes(job);
    status = hac_output_reserve(output, bytes, err);
    if (status == HAC_OK)
        status = hac_output_write(output, hac_job_data(job), bytes, err);
    bool report = *hac_job_text(job) == '{'; /* a report, or a query's remark */
    if (*hac_job_text(job) != '\0' && !report)
        hac_cli_say(cli, "%s", hac_job_text(job));
    if (status == HAC_OK && bytes == 0 && report)
        status = hac_output_write_text(output, hac_job_text(job), err);
    if (status == HAC_OK)
        status = hac_output_commit(output, err);
    if (status == HAC_OK)
        release(cli, job);
    return status;
}

/* Releases the result of a job that has ended already: the user who cancels the job does not want it. */
static hac_status release_ended(hac_cli *cli, const hac_args *args, bool *ret_released, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_error ignored = HAC_ERROR_NONE;
    hac_status status = attach(cli, args, &job, err);
    if (status != HAC_OK)
        return status;
    bool held = wait_for(cli, job, &ignored) == HAC_OK && hac_job_bytes(job) > 0;
    *ret_released = held && hac_job_release(job, &ignored) == HAC_OK;
    return HAC_OK;
}

hac_status hac_cmd_cancel(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    const char *before = NULL, *after = NULL;
    uint64_t id = 0;
    hac_status status = hac_cli_job_id(args->words[0], &id, err);
    if (status == HAC_OK)
        status = hac_cli_ask_end(cli, id, &before, err);
    if (status == HAC_OK && before == NULL)
        status = attach(cli, args, &job, err);
    if (status == HAC_OK && job != NULL)
        status = hac_job_cancel(job, err);
    if (status == HAC_OK && job != NULL) /* it may have ended first; a cancelled job ends later */
        status = hac_cli_ask_end(cli, id, &after, err);
    const char *end = before != NULL                                     ? before
                      : after != NULL && strcmp(after, "cancelled") != 0 ? after
                                                                         : NULL;
    bool released = false;
    if (status == HAC_OK && end != NULL && strcmp(end, "done") == 0)
        status = release_ended(cli, args, &released, err);
    if (status == HAC_OK && end != NULL && *end != '\0')
        hac_cli_say(cli, "job %llu has ended already (%s): %s", (unsigned long long)id, end,
                    released ? "its result is released" : "there is nothing to cancel");
    return status;
}
