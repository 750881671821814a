/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl show, why, log, trace: questions about one job. */
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "drawing/plan_drawing.h"
#include "report/report.h"
#include "text/text_table.h"

/* The job that the first word names; without a word the user's newest one. */
static hac_status find_job(hac_cli *cli, const hac_args *args, uint64_t *ret, hac_error *err)
{
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *json = NULL;
    if (args->n_words > 0)
        return hac_cli_job_id(args->words[0], ret, err);
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_SHOW, 0, HAC_PLAN_JSON, &answer, err);
    if (status == HAC_OK)
        status = hac_json_parse_object(answer, "the job", &json, err);
    if (status != HAC_OK)
        return status;
    double id = hac_json_get_number(json, "id");
    if (!(id >= 1 && id < 1e15))
        return hac_fail(err, HAC_FAILED, "the daemon does not say which job is the newest");
    *ret = (uint64_t)id;
    return HAC_OK;
}

/* Prints the job's fields, and below them the plan if the daemon still has it. */
static hac_status show_text(hac_cli *cli, uint64_t job, hac_error *err)
{
    hac_autofree char *answer = NULL, *plan = NULL, *all = NULL;
    hac_autojson cJSON *json = NULL;
    hac_text text = HAC_TEXT_NONE;
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_SHOW, job, HAC_PLAN_JSON, &answer, err);
    if (status == HAC_OK)
        status = hac_json_parse_object(answer, "the job", &json, err);
    if (status != HAC_OK)
        return status;
    hac_report_job(json, time(NULL), &text);
    if (hac_cli_ask(cli, HAC_TOPIC_PLAN, job, HAC_PLAN_TEXT, &plan, NULL) == HAC_OK && *plan != '\0')
        hac_text_addf(&text, "\n%s", plan);
    status = hac_text_finish(&text, &all, NULL, err);
    return status == HAC_OK ? hac_cli_print(all, err) : status;
}

/* Draws the plan, and what device kernels did. */
static hac_status show_drawing(hac_cli *cli, uint64_t job, hac_error *err)
{
    hac_autofree char *answer = NULL, *drawing = NULL;
    hac_autojson cJSON *json = NULL;
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_SHOW, job, HAC_PLAN_JSON, &answer, err);
    if (status == HAC_OK)
        status = hac_json_parse_object(answer, "the job", &json, err);
    if (status != HAC_OK)
        return status;
    const cJSON *plan = cJSON_GetObjectItemCaseSensitive(json, "plan");
    const cJSON *receipt = cJSON_GetObjectItemCaseSensitive(json, "receipt");
    if (!cJSON_IsObject(plan))
        return hac_fail(err, HAC_NOT_FOUND, "job %llu has no plan (any more)", (unsigned long long)job);
    status = hac_plan_drawing(plan, cJSON_GetObjectItemCaseSensitive(receipt, "query"), &drawing, err);
    return status == HAC_OK ? hac_cli_print(drawing, err) : status;
}

hac_status hac_cmd_show(hac_cli *cli, const hac_args *args, hac_error *err)
{
    uint64_t job;
    hac_autofree char *answer = NULL;
    const char *receipt = args->values[HAC_OPT_RECEIPT];
    hac_form form = hac_cli_form(cli, args);
    hac_status status = find_job(cli, args, &job, err);
    if (status != HAC_OK)
        return status;
    if (receipt != NULL) {
        status = hac_cli_ask(cli, HAC_TOPIC_RECEIPT, job, HAC_PLAN_JSON, &answer, err);
        return status == HAC_OK ? hac_cli_print_to(receipt, answer, err) : status;
    }
    if (form == HAC_FORM_TEXT)
        return show_text(cli, job, err);
    if (form == HAC_FORM_SVG)
        return show_drawing(cli, job, err);
    status = hac_cli_ask(cli, HAC_TOPIC_SHOW, job, HAC_PLAN_JSON, &answer, err);
    return status == HAC_OK ? hac_cli_print(answer, err) : status;
}

hac_status hac_cmd_why(hac_cli *cli, const hac_args *args, hac_error *err)
{
    uint64_t job;
    hac_autofree char *answer = NULL, *wrapped = NULL;
    hac_text text = HAC_TEXT_NONE;
    hac_status status = find_job(cli, args, &job, err);
    if (status == HAC_OK)
        status = hac_cli_ask(cli, HAC_TOPIC_WHY, job, HAC_PLAN_TEXT, &answer, err);
    if (status != HAC_OK)
        return status;
    if (!cli->json) {
        hac_text_table_sanitise(answer, true);
        return hac_cli_print(answer, err);
    }
    hac_json_open(&text, NULL, '{');
    hac_json_unsigned(&text, "job", job);
    hac_json_string(&text, "why", answer);
    hac_json_close(&text, '}');
    status = hac_text_finish(&text, &wrapped, NULL, err);
    return status == HAC_OK ? hac_cli_print(wrapped, err) : status;
}

hac_status hac_cmd_trace(hac_cli *cli, const hac_args *args, hac_error *err)
{
    uint64_t job;
    hac_autofree char *answer = NULL;
    hac_status status = find_job(cli, args, &job, err);
    if (status == HAC_OK)
        status = hac_cli_ask(cli, HAC_TOPIC_TRACE, job, HAC_PLAN_JSON, &answer, err);
    return status == HAC_OK ? hac_cli_print_to(args->values[HAC_OPT_OUTPUT], answer, err) : status;
}

/* The part of the log that was not printed yet; the whole log if the daemon has dropped old lines. */
static const char *news(const char *log, const char *before)
{
    size_t printed = before != NULL ? strlen(before) : 0;
    return printed != 0 && strncmp(log, before, printed) == 0 ? log + printed : log;
}

static hac_status follow(hac_cli *cli, uint64_t job, hac_error *err)
{
    hac_autofree char *before = NULL;
    const char *end = NULL;
    for (;;) {
        hac_autofree char *log = NULL;
        bool same = false;
        /* ask for the state first, so that the log that is read last contains the job's last lines */
        hac_status status = hac_cli_ask_end(cli, job, &end, err);
        if (status == HAC_OK)
            status = hac_cli_ask(cli, HAC_TOPIC_LOG, job, HAC_PLAN_TEXT, &log, err);
        if (status != HAC_OK)
            return status;
        hac_text_table_sanitise(log, true);
        same = before != NULL && strcmp(log, before) == 0;
        if (!same)
            status = hac_cli_print(news(log, before), err);
        if (status != HAC_OK || end != NULL)
            return status;
        free(before);
        before = hac_steal_ptr(log);
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    }
}

hac_status hac_cmd_log(hac_cli *cli, const hac_args *args, hac_error *err)
{
    uint64_t job;
    hac_autofree char *answer = NULL;
    hac_status status = find_job(cli, args, &job, err);
    if (status != HAC_OK)
        return status;
    if (hac_args_has(args, HAC_OPT_FOLLOW))
        return follow(cli, job, err);
    status = hac_cli_ask(cli, HAC_TOPIC_LOG, job, HAC_PLAN_TEXT, &answer, err);
    if (status != HAC_OK)
        return status;
    hac_text_table_sanitise(answer, true);
    return hac_cli_print(answer, err);
}
