/* SPDX-License-Identifier: Apache-2.0 */
#include "input_job.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/json_find.h"
#include "run/state/run_base.h"

HAC_DEFINE_CLEANUP(hac_job *, hac_job_free)
HAC_DEFINE_CLEANUP(hac_buffer *, hac_buffer_free)

static const char prefix[] = "job:";

bool hac_run_is_job(const char *path)
{
    const char *number = path + sizeof prefix - 1;
    return strncmp(path, prefix, sizeof prefix - 1) == 0 && *number != '\0' &&
           number[strspn(number, "0123456789")] == '\0';
}

/* Checks what the daemon says of the job: that it is done, and the form of its result. */
static hac_status check_job(const char *path, const char *show, const hac_query_options *options,
                            hac_error *err)
{
    const char *state = NULL, *at = "fixed", *format = hac_formats[options->input_format].name;
    size_t length = 0;
    if (!hac_json_find_string(show, "state", &state, &length) || length != strlen("done") ||
        memcmp(state, "done", length) != 0)
        return hac_fail(err, HAC_AGAIN, "%s: the job has no result: it has not ended, or not well", path);
    length = strlen(at);
    if (!hac_json_find_string(show, "receipt.query.output_format", &at, &length) &&
        options->input_format != HAC_INPUT_FIXED)
        return hac_fail(err, HAC_INVALID, "%s: is a raw array, and the input is %s; state `parse: fixed`",
                        path, format);
    bool lines = options->input_format == HAC_INPUT_JSONL && length == 4 && memcmp(at, "json", length) == 0;
    if (lines || (strlen(format) == length && memcmp(at, format, length) == 0))
        return HAC_OK;
    return hac_fail(err, HAC_INVALID, "%s: its result is %.*s, and the input is %s", path, (int)length, at,
                    format);
}

hac_status hac_run_query_job(const hac_logic_run_state *run, const char *path,
                             const hac_query_options *options, hac_job **ret, hac_error *err)
{
    hac_autofree char *show = NULL;
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_cleanup(hac_buffer_free_cleanup) hac_buffer *buffer = NULL;
    uint64_t id = strtoull(path + sizeof prefix - 1, NULL, 10);
    if (id == 0 || id == ULLONG_MAX)
        return hac_fail(err, HAC_INVALID, "%s: is no number of a job", path);
    hac_status status = hac_client_query(run->client, HAC_TOPIC_SHOW, id, HAC_PLAN_JSON, &show, err);
    if (status == HAC_OK)
        status = check_job(path, show, options, err);
    if (status == HAC_OK)
        status = hac_job_attach(run->client, id, &job, err);
    if (status == HAC_OK)
        status = hac_run_wait_for_job(run, job, err);
    if (status != HAC_OK)
        return status;
    if (hac_job_bytes(job) == 0)
        return hac_query_memory(run->client, "", 0, options, ret, err);
    status = hac_job_as_input(job, &buffer, err);
    return status == HAC_OK ? hac_query_buffer(run->client, buffer, 0, hac_job_bytes(job), options, ret, err)
                            : status;
}
