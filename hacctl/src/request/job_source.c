/* SPDX-License-Identifier: Apache-2.0 */
#include "job_source.h"

#include <string.h>

#include "text/json_fields.h"

static const char prefix[] = "job:";

bool hac_job_source_is(const char *word)
{
    const char *number = word + sizeof prefix - 1;
    return strncmp(word, prefix, sizeof prefix - 1) == 0 && *number != '\0' &&
           number[strspn(number, "0123456789")] == '\0';
}

/* What a result of that form is as an input. False: no query reads it. */
static bool format_of(const char *form, hac_job_source *source)
{
    static const struct {
        const char *form;
        hac_input_format format;
    } rows[] = {{"csv", HAC_INPUT_CSV},
                {"json", HAC_INPUT_JSONL},
                {"parquet", HAC_INPUT_PARQUET},
                {"tsv", HAC_INPUT_TSV},
                {"table", HAC_INPUT_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].form, form) != 0)
            continue;
        source->format = rows[i].format;
        source->columns = source->format == HAC_INPUT_NONE;
        return true;
    }
    return false;
}

static hac_status check_state(const cJSON *show, const char *word, hac_error *err)
{
    const char *state = hac_json_get_string(show, "state"), *message = hac_json_get_string(show, "message");
    if (state != NULL && strcmp(state, "done") == 0)
        return HAC_OK;
    if (state != NULL && (strcmp(state, "failed") == 0 || strcmp(state, "cancelled") == 0))
        return hac_fail(err, HAC_INVALID, "%s: has no result: the job %s%s%s", word,
                        state[0] == 'f' ? "failed" : "was cancelled", message != NULL ? ": " : "",
                        message != NULL ? message : "");
    return hac_fail(err, HAC_AGAIN, "%s: has not ended; wait for it with `hacctl wait %s`", word,
                    word + sizeof prefix - 1);
}

/* Sorts of arrays give arrays; queries give rows in the form that --output-format or OUT said. */
static hac_status check_kind(const cJSON *show, const char *word, hac_job_source *source, hac_error *err)
{
    const cJSON *receipt = cJSON_GetObjectItemCaseSensitive(show, "receipt");
    const char *form =
        hac_json_get_string(cJSON_GetObjectItemCaseSensitive(receipt, "query"), "output_format");
    const char *flow = hac_json_get_string(show, "flow");
    if (form != NULL && format_of(form, source))
        return HAC_OK;
    if (form == NULL && flow != NULL && strcmp(flow, "sort") == 0)
        return HAC_OK;
    return hac_fail(err, HAC_INVALID,
                    "%s: is a job of %s%s%s; rows (csv, tsv, json, parquet) and raw arrays can be read", word,
                    flow != NULL ? flow : "an unknown kind", form != NULL ? " whose result is " : "",
                    form != NULL ? form : "");
}

static hac_status look(hac_cli *cli, const char *word, uint64_t id, hac_job_source *source, hac_error *err)
{
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *show = NULL;
    hac_status status = hac_cli_ask(cli, HAC_TOPIC_SHOW, id, HAC_PLAN_JSON, &answer, err);
    if (status == HAC_OK)
        status = hac_json_parse_object(answer, "the job", &show, err);
    if (status == HAC_OK)
        status = check_state(show, word, err);
    return status == HAC_OK ? check_kind(show, word, source, err) : status;
}

static hac_status take(hac_cli *cli, const char *word, uint64_t id, hac_job_source *source, hac_error *err)
{
    hac_error why = HAC_ERROR_NONE;
    hac_status status = hac_job_attach(cli->client, id, &source->job, &why);
    if (status == HAC_OK)
        status = hac_job_wait(source->job, -1, &why);
    if (status == HAC_NOT_FOUND)
        return hac_fail(err, status,
                        "%s: its result is gone: it was fetched, or is not kept so long; start the job again "
                        "with --detach",
                        word);
    if (status == HAC_OK)
        source->bytes = hac_job_bytes(source->job);
    if (status == HAC_OK && source->bytes > 0)
        status = hac_job_as_input(source->job, &source->buffer, &why);
    return status == HAC_OK ? status : hac_fail(err, status, "%s: %s", word, why.message);
}

hac_status hac_job_source_open(hac_cli *cli, const char *word, hac_job_source *ret, hac_error *err)
{
    uint64_t id = 0;
    hac_status status = hac_cli_job_id(word + sizeof prefix - 1, &id, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK)
        status = look(cli, word, id, ret, err);
    return status == HAC_OK ? take(cli, word, id, ret, err) : status;
}

void hac_job_source_clear(hac_job_source *source)
{
    hac_buffer_free(source->buffer);
    hac_job_free(source->job);
    *source = (hac_job_source){.job = NULL};
}

static void release_schema(struct ArrowSchema *schema)
{
    if (schema->release != NULL)
        schema->release(schema);
}

static void release_array(struct ArrowArray *array)
{
    if (array->release != NULL)
        array->release(array);
}

static hac_status query_columns(hac_cli *cli, const hac_job_source *source, const hac_query_options *options,
                                hac_job **ret, hac_error *err)
{
    hac_cleanup(release_schema) struct ArrowSchema schema = {.release = NULL};
    hac_cleanup(release_array) struct ArrowArray columns = {.release = NULL};
    hac_status status = hac_job_export_arrow_raw(source->job, &schema, &columns, err);
    return status == HAC_OK ? hac_query_arrow(cli->client, &schema, &columns, options, ret, err) : status;
}

hac_status hac_job_source_query(hac_cli *cli, const hac_job_source *source, const hac_query_options *options,
                                hac_job **ret, hac_error *err)
{
    if (source->columns)
        return query_columns(cli, source, options, ret, err);
    if (source->buffer == NULL)
        return hac_query_memory(cli->client, "", 0, options, ret, err);
    return hac_query_buffer(cli->client, source->buffer, 0, source->bytes, options, ret, err);
}
