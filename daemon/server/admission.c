/* SPDX-License-Identifier: Apache-2.0 */
#include "admission.h"

#include <math.h>

#include "answers.h"
#include "base/clock.h"
#include "server.h"

#define RETRY_LEAST 0.1
#define RETRY_MOST  3600.0

/* ---- what a job takes --------------------------------------------------------------------------------- */

/* Of the fastest device that the job may use; 0: nothing is known. */
static double best_rate(const hac_job *job, bool sort)
{
    double best = 0;
    const hac_devices *devices = &job->server->devices;
    for (size_t i = 0; i < devices->count; i++) {
        const hac_server_device *d = devices->items[i];
        if (!hac_device_usable(d) || (job->device_mask != 0 && (job->device_mask >> i & 1) == 0))
            continue;
        if (sort)
            best = fmax(best, hac_answer_sort_rate(job->server, d, job->spec.type));
        else
            best = fmax(best, hac_answer_table_rate(job->server, d, "query.aggregate"));
    }
    return best;
}

/* A job that has no plan yet. */
static double guess(const hac_job *job)
{
    bool sort = job->spec.items > 0;
    double work = sort ? (double)job->spec.items : (double)job->bytes_in;
    double rate = work > 0 ? best_rate(job, sort) : 0;
    return rate > 0 ? work / rate : 0;
}

/* Seconds that are left of a job that has not ended. */
static double left_of(const hac_job *job)
{
    if (job->waiting || job->cancelling) /* for its client, who owes it something; or as good as ended */
        return 0;
    if (job->plan == NULL || !job->active)
        return guess(job);
    return job->plan->predicted_seconds * (1 - hac_job_fraction(job));
}

/* ---- what is before it -------------------------------------------------------------------------------- */

/* Adds up what users wait for, but `but`; returns how many jobs that are. */
static unsigned add_backlogs(const hac_server *server, const hac_job *but)
{
    unsigned n = 0;
    hac_user *user = NULL;
    const hac_job *job = NULL;
    hac_list_for_each (user, &server->users.list, hac_user, link)
        user->backlog = 0;
    hac_list_for_each (job, &server->jobs, hac_job, link) {
        if (hac_job_ended(job) || job == but)
            continue;
        n++;
        if (but == NULL || job->user != but->user || job->priority >= but->priority)
            job->user->backlog += left_of(job);
    }
    return n;
}

/* What the others get while the user has `own` seconds of the devices. */
static double others_meanwhile(const hac_server *server, const hac_user *user, double own)
{
    double seconds = 0;
    const hac_user *other = NULL;
    hac_list_for_each (other, &server->users.list, hac_user, link)
        if (other != user)
            seconds += fmin(other->backlog, own * other->limits.share / user->limits.share);
    return seconds;
}

hac_forecast hac_admission_forecast(const hac_job *job)
{
    hac_forecast f = {.wait = 0};
    f.run = guess(job);
    if (f.run > 0 && job->kind->estimate != NULL) /* else it would be made up, not measured */
        f.run = job->kind->estimate(job);
    f.ahead = add_backlogs(job->server, job);
    double before = job->user->backlog;
    f.wait = before + others_meanwhile(job->server, job->user, before + f.run);
    return f;
}

hac_status hac_admission_check(const hac_job *job, double *ret_retry, hac_error *err)
{
    *ret_retry = 0;
    if (job->deadline_seconds <= 0)
        return HAC_OK;
    hac_forecast f = hac_admission_forecast(job);
    double all = f.wait + f.run;
    if (all <= job->deadline_seconds)
        return HAC_OK;
    if (f.run > job->deadline_seconds)
        return hac_fail(err, HAC_REFUSED,
                        "the deadline of %.3g s cannot be met: the job is predicted to take %.3g s alone",
                        job->deadline_seconds, f.run);
    *ret_retry = fmin(fmax(all - job->deadline_seconds, RETRY_LEAST), RETRY_MOST);
    return hac_fail(
        err, HAC_REFUSED,
        "the deadline of %.3g s cannot be met now: %.3g s are predicted, %.3g s of waiting beside "
        "%u other jobs and %.3g s to run",
        job->deadline_seconds, all, f.wait, f.ahead, f.run);
}

/* Whether the job's end gives nothing back of what is wanted: a detached one is counted with its result. */
static bool stays_counted(const hac_job *job, hac_slot slot)
{
    return slot == HAC_SLOT_JOBS && job->detached && job->kind->has_result;
}

/* Seconds until the first of the user's jobs would be done, and until the first detached result expires, as
 * far as that is known. */
static void first_to_end(const hac_server *server, const hac_user *user, hac_slot slot, double *ret_job,
                         double *ret_result)
{
    const hac_job *job = NULL;
    *ret_job = *ret_result = INFINITY;
    hac_list_for_each (job, &server->jobs, hac_job, link) {
        if (user != NULL && job->user != user)
            continue;
        double left = hac_job_ended(job) ? 0 : left_of(job);
        if (!hac_job_ended(job) && stays_counted(job, slot))
            *ret_result = fmin(*ret_result, left + server->config.result_expiry);
        else if (!hac_job_ended(job) && (left > 0 || job->cancelling))
            *ret_job = fmin(*ret_job, left);
        else if (hac_job_ended(job) && job->counted && job->owner == NULL)
            *ret_result = fmin(*ret_result, server->config.result_expiry - hac_seconds_since(job->ended_ns));
    }
}

double hac_admission_retry(const hac_server *server, const hac_user *user)
{
    double job = 0, result = 0;
    add_backlogs(server, NULL);
    hac_slot slot = user->refusal.slot;
    if (user->refusal.hopeless)
        return 0;
    first_to_end(server, user, slot, &job, &result);
    if (isinf(job) && isinf(result)) /* it is others who hold it, or nothing is known of the jobs */
        first_to_end(server, NULL, slot, &job, &result);
    if (!isinf(job))
        job += others_meanwhile(server, user, job);
    double first = fmin(job, result);
    return isinf(first) ? 1.0 : fmin(fmax(first, RETRY_LEAST), RETRY_MOST);
}
