/* SPDX-License-Identifier: Apache-2.0 */
#include "job_parts.h"

#include <string.h>

static bool is_run(const hacd_job *job)
{
    return strcmp(job->kind->flow, "opsplit") == 0;
}

/* Inputs are read from files, outputs from memory of the run. */
static bool loads(const hacd_job *job)
{
    return job->from_descriptor;
}

const char *hac_job_parts_role(const hacd_job *job)
{
    return loads(job) ? "loads an input" : "writes an output";
}

/* Inputs are loaded before the next run of the connection, outputs written after the last one. */
const hacd_job *hac_job_parts_run(const hacd_job *job)
{
    const hacd_job *other = NULL, *before = NULL;
    if (is_run(job))
        return NULL;
    hac_list_for_each (other, &job->jobs->list, hacd_job, link) {
        if (other->connection != job->connection || other->user != job->user || !is_run(other))
            continue;
        if (other->id > job->id)
            return loads(job) ? other : before;
        before = other;
    }
    return loads(job) ? NULL : before;
}

void hac_job_parts_print(const hacd_job *job, hac_text *text)
{
    const hacd_job *other = NULL;
    if (!is_run(job))
        return;
    hac_json_open(text, "parts", '[');
    hac_list_for_each (other, &job->jobs->list, hacd_job, link) {
        if (other->connection != job->connection || hac_job_parts_run(other) != job)
            continue;
        hac_json_open(text, NULL, '{');
        hac_json_unsigned(text, "job", other->id);
        hac_json_string(text, "does", hac_job_parts_role(other));
        hac_json_string(text, "name", other->name);
        hac_json_number(text, "seconds", hacd_job_seconds(other));
        hac_json_close(text, '}');
    }
    hac_json_close(text, ']');
}
