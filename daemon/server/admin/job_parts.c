/* SPDX-License-Identifier: Apache-2.0 */
#include "job_parts.h"

static bool is_run(const hacd_job *job)
{
    return job->kind->flow == HAC_FLOW_OPSPLIT;
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

static bool beside(const hacd_job *job, const hacd_job *other)
{
    return other->connection == job->connection && other->user == job->user;
}

/* The link of the run before this one on its connection, or the head of the list: the run's inputs were
 * loaded since. */
static hac_link *run_before(const hacd_job *run)
{
    hac_link *at = run->link.previous;
    for (; at != &run->jobs->list; at = at->previous) {
        const hacd_job *other = hac_container_of(at, hacd_job, link);
        if (beside(run, other) && is_run(other))
            break;
    }
    return at;
}

void hac_job_parts_renew(hacd_job *job)
{
    if (!is_run(job)) {
        const hacd_job *run = hac_job_parts_run(job);
        hacd_job *found = run != NULL ? hacd_job_find(job->jobs, run->id) : NULL;
        if (found != NULL && found->saved)
            found->unsaved = true;
        return;
    }
    for (hac_link *at = run_before(job)->next; at != &job->link; at = at->next) {
        hacd_job *part = hac_container_of(at, hacd_job, link);
        if (beside(job, part) && loads(part) && part->saved)
            part->unsaved = true;
    }
}

static void print_part(const hacd_job *part, hac_text *text)
{
    hac_json_open(text, NULL, '{');
    hac_json_unsigned(text, "job", part->id);
    hac_json_string(text, "does", hac_job_parts_role(part));
    hac_json_string(text, "name", part->name);
    hac_json_number(text, "seconds", hacd_job_seconds(part));
    hac_json_close(text, '}');
}

void hac_job_parts_print(const hacd_job *job, hac_text *text)
{
    if (!is_run(job))
        return;
    bool after = false;
    hac_json_open(text, "parts", '[');
    for (hac_link *at = run_before(job)->next; at != &job->jobs->list; at = at->next) {
        const hacd_job *other = hac_container_of(at, hacd_job, link);
        if (!beside(job, other))
            continue;
        if (after && is_run(other))
            break;
        if (other != job && loads(other) != after)
            print_part(other, text);
        after |= other == job;
    }
    hac_json_close(text, ']');
}
