/* SPDX-License-Identifier: Apache-2.0 */
#include "admission.h"

#include <math.h>

#include "base/clock.h"
#include "rates.h"

#define RETRY_MIN 0.1
#define RETRY_MAX 3600.0

/* ---- what a job takes --------------------------------------------------------------------------------- */

/* The rate of the fastest device that the job may use; 0: unknown. */
static double best_rate(const hacd_job *job, bool sort)
{
    double best = 0;
    const hac_devices *devices = job->jobs->devices;
    for (size_t i = 0; i < devices->count; i++) {
        const hac_server_device *d = devices->items[i];
        if (!hac_devices_may_use(devices, i, job->user) ||
            (job->device_mask != 0 && (job->device_mask >> i & 1) == 0))
            continue;
        if (sort)
            best = fmax(best, hac_rate_sort(job->jobs->models, d, job->type));
        else
            best = fmax(best, hac_rate_table(job->jobs->models, d, "query.aggregate"));
    }
    return best;
}

/* Predicted seconds of a job that has no plan yet. */
static double guess(const hacd_job *job)
{
    bool sort = job->type != HAC_TYPE_NONE; /* the items of queries are bytes or rows */
    double work = sort ? (double)job->items : (double)job->bytes_in;
    double rate = work > 0 ? best_rate(job, sort) : 0;
    return rate > 0 ? work / rate : 0;
}

/* Predicted seconds that are left of a job that has not ended. */
static double left_of(const hacd_job *job)
{
    /* waits for its client, which owes it something; or is as good as ended */
    if (job->waiting || job->cancelling)
        return 0;
    if (job->plan == NULL || !job->active)
        return guess(job);
    return job->plan->predicted_seconds * (1 - hacd_job_fraction(job));
}

/* ---- what is before it -------------------------------------------------------------------------------- */

/* Sums up each user's backlog, without job `but`. Returns the number of jobs that have not ended. */
static unsigned add_backlogs(const hac_jobs *jobs, const hacd_job *but)
{
    unsigned n = 0;
    hac_user *user = NULL;
    const hacd_job *job = NULL;
    hac_list_for_each (user, &jobs->users->list, hac_user, link)
        user->backlog = 0;
    hac_list_for_each (job, &jobs->list, hacd_job, link) {
        if (hacd_job_ended(job) || job == but)
            continue;
        n++;
        if (but == NULL || job->user != but->user || job->priority >= but->priority)
            job->user->backlog += left_of(job);
    }
    return n;
}

/* What the others get while the user has the devices for `own` seconds. */
static double others_meanwhile(const hac_jobs *jobs, const hac_user *user, double own)
{
    double seconds = 0;
    const hac_user *other = NULL;
    hac_list_for_each (other, &jobs->users->list, hac_user, link)
        if (other != user)
            seconds += fmin(other->backlog, own * other->limits.share / user->limits.share);
    return seconds;
}

hac_forecast hac_admission_forecast(const hacd_job *job)
{
    hac_forecast f = {.wait = 0};
    f.run = guess(job);
    /* without a rate, the estimate would have no measurement behind it */
    if (f.run > 0 && job->kind->estimate != NULL)
        f.run = job->kind->estimate(job);
    f.ahead = add_backlogs(job->jobs, job);
    double before = job->user->backlog;
    f.wait = before + others_meanwhile(job->jobs, job->user, before + f.run);
    return f;
}

hac_status hac_admission_check(const hacd_job *job, double *ret_retry, hac_error *err)
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
    *ret_retry = fmin(fmax(all - job->deadline_seconds, RETRY_MIN), RETRY_MAX);
    return hac_fail(
        err, HAC_REFUSED,
        "the deadline of %.3g s cannot be met now: %.3g s are predicted, %.3g s of waiting beside "
        "%u other jobs and %.3g s to run",
        job->deadline_seconds, all, f.wait, f.ahead, f.run);
}

/* Whether the end of the job frees nothing of what is wanted: a detached job counts as long as it has its
 * result. */
static bool stays_counted(const hacd_job *job, hacd_slot slot)
{
    return slot == HAC_SLOT_JOBS && job->detached && job->kind->has_result;
}

/* Seconds until the first of the user's jobs ends, and until the first detached result expires, if known. */
static void first_to_end(const hac_jobs *jobs, const hac_user *user, hacd_slot slot, double *ret_job,
                         double *ret_result)
{
    const hacd_job *job = NULL;
    *ret_job = *ret_result = INFINITY;
    hac_list_for_each (job, &jobs->list, hacd_job, link) {
        if (user != NULL && job->user != user)
            continue;
        double left = hacd_job_ended(job) ? 0 : left_of(job);
        if (!hacd_job_ended(job) && stays_counted(job, slot))
            *ret_result = fmin(*ret_result, left + jobs->result_expiry);
        else if (!hacd_job_ended(job) && (left > 0 || job->cancelling))
            *ret_job = fmin(*ret_job, left);
        else if (hacd_job_ended(job) && job->counted && job->owner == NULL)
            *ret_result = fmin(*ret_result, jobs->result_expiry - hac_seconds_since(job->ended_ns));
    }
}

double hac_admission_retry(const hac_jobs *jobs, const hac_user *user)
{
    double job = 0, result = 0;
    add_backlogs(jobs, NULL);
    hacd_slot slot = user->refusal.slot;
    if (user->refusal.hopeless)
        return 0;
    first_to_end(jobs, user, slot, &job, &result);
    if (isinf(job) && isinf(result)) /* others hold it, or nothing is known about the jobs */
        first_to_end(jobs, NULL, slot, &job, &result);
    if (!isinf(job))
        job += others_meanwhile(jobs, user, job);
    double first = fmin(job, result);
    return isinf(first) ? 1.0 : fmin(fmax(first, RETRY_MIN), RETRY_MAX);
}
