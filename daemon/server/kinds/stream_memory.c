/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_memory.h"

#include "base/clock.h"
#include "sessions/session.h"

#define PAGE        UINT64_C(4096)
#define PLAN_PART   4                     /* times a split: partials, groups and rows of a new job */
#define SPLIT_SMALL (UINT64_C(17) << 17)  /* clients do not send splits of half this size */
#define PLAN_MAX    (UINT64_C(640) << 20) /* the most that partials and their merge ever need */
/* times the plan's buffers: what the planner wants besides partials (query_round.c) */
#define PARTIALS_ALL 2.5
#define ASKS_SECONDS 2 /* a client that has not asked for this long does not wait any more */

/* NULL: the job reads no stream, or has ended. */
static hac_stream_memory *memory_of(const hacd_job *job)
{
    return job->reservation != NULL ? hac_container_of(job->reservation, hac_stream_memory, plan) : NULL;
}

void hac_stream_memory_begin(hacd_job *job, hac_stream_memory *memory)
{
    job->reservation = &memory->plan;
    hac_reservation_begin(job->user, &memory->split);
    hac_reservation_begin(job->user, &memory->plan);
}

void hac_stream_memory_end(hacd_job *job)
{
    hac_stream_memory *memory = memory_of(job);
    if (memory == NULL)
        return;
    hac_reservation_end(job->user, &memory->split);
    hac_reservation_end(job->user, &memory->plan);
    job->reservation = NULL;
}

/* ---- who waits ---- */

static bool asks(const hac_stream_memory *memory)
{
    return memory->asked_ns != 0 && hac_seconds_since(memory->asked_ns) < ASKS_SECONDS;
}

static bool has_part(const hac_stream_memory *memory)
{
    return memory->split.bytes > 0 || memory->plan.bytes > 0;
}

bool hac_stream_memory_waits(const hacd_job *job)
{
    const hac_stream_memory *memory = memory_of(job);
    return memory != NULL && !hacd_job_ended(job) && (memory->stuck || asks(memory));
}

static bool comes_before(const hacd_job *a, const hacd_job *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->id < b->id;
}

/* Whether another job of the user waits that goes before this one, or (`any`) any other job. */
static bool somebody_waits(const hacd_job *job, bool any)
{
    const hacd_job *other = NULL;
    hac_list_for_each (other, &job->jobs->list, hacd_job, link)
        if (other->user == job->user && other != job && hac_stream_memory_waits(other) &&
            (any || comes_before(other, job)))
            return true;
    return false;
}

/* Whether another stream will free memory: it goes on; or it waits, too, and is the one that fails when
 * nobody can go on. A job that holds nothing waits for all others. */
static bool another_ends(const hacd_job *job)
{
    const hacd_job *other = NULL;
    hac_list_for_each (other, &job->jobs->list, hacd_job, link) {
        if (other->user != job->user || other == job || other->reservation == NULL || hacd_job_ended(other))
            continue;
        bool holds = has_part(memory_of(other)), waits = hac_stream_memory_waits(other),
             before = comes_before(other, job);
        if (!has_part(memory_of(job))) {
            if (holds || (waits && before))
                return true;
        } else if (holds && (!waits || !before)) { /* of those that hold and wait, the youngest fails */
            return true;
        }
    }
    return false;
}

/* Whether the buffer is the result of an earlier job of that session, which may keep it as long as it likes.
 */
static bool is_kept_by(const hac_jobs *jobs, const struct hac_session *session, const hac_pool_buffer *buffer)
{
    const hacd_job *job = NULL;
    if (hac_session_buffer(session, buffer->id) != NULL)
        return true;
    hac_list_for_each (job, &jobs->list, hacd_job, link)
        if (job->owner == session && job->result == buffer)
            return true;
    return false;
}

/* Whether buffers are held that belong to no stream: by other jobs and clients, or rows that the job's own
 * client is writing. */
static bool others_hold(const hacd_job *job)
{
    const hac_pool_buffer *buffer = NULL;
    hac_list_for_each (buffer, &job->user->buffers, hac_pool_buffer, link)
        if (buffer->reservation == NULL &&
            (buffer->passing || job->owner == NULL || !is_kept_by(job->jobs, job->owner, buffer)))
            return true;
    return false;
}

static bool may_come(const hacd_job *job)
{
    return another_ends(job) || others_hold(job);
}

static void tell(hacd_job *job)
{
    hac_stream_memory *memory = memory_of(job);
    if (!memory->told)
        hacd_job_note(job, "waits for memory: this user's other jobs and buffers have it");
    memory->told = true;
    if (!job->active)
        job->state = HAC_JOB_QUEUED;
}

static void go_on(hacd_job *job)
{
    hac_stream_memory *memory = memory_of(job);
    if (memory->told)
        hacd_job_note(job, "goes on: there is memory");
    if (memory->told && job->state == HAC_JOB_QUEUED && job->started_ns != 0)
        job->state = HAC_JOB_RUNNING;
    memory->told = memory->stuck = false;
    memory->asked_ns = 0;
}

/* ---- splits ---- */

/* Reserves what the job begins with. */
static hac_status reserve(hacd_job *job, uint64_t bytes, hac_error *err)
{
    hac_stream_memory *memory = memory_of(job);
    uint64_t alone = hac_user_max(job->user, HAC_SLOT_MEMORY), split = (bytes + PAGE - 1) / PAGE * PAGE;
    if (bytes > alone / 2) /* what comes of a split needs at least as much again */
        return hac_user_charge(job->user, HAC_SLOT_MEMORY, 2 * bytes, err);
    /* a smaller split leaves more to the plans */
    if (bytes >= SPLIT_SMALL && bytes > alone / (PLAN_PART + 1))
        return hac_user_charge(job->user, HAC_SLOT_MEMORY, (PLAN_PART + 1) * bytes, err);
    uint64_t plan = PLAN_PART * split < alone - split ? PLAN_PART * split : alone - split;
    if (job->memory_limit > split && job->memory_limit - split < plan)
        plan = job->memory_limit - split;
    if (somebody_waits(job, false) || hac_pool_available(job->user) < split + plan)
        return hac_user_refuse_aside(job->user, HAC_SLOT_MEMORY, split + plan, hac_pool_aside(job->user),
                                     err);
    memory->split.bytes = split;
    memory->plan.bytes = plan;
    return HAC_OK;
}

static hac_status take_split(hacd_job *job, uint64_t bytes, bool needed, hac_pool_buffer **ret,
                             hac_error *err)
{
    hac_status status = has_part(memory_of(job)) ? HAC_OK : reserve(job, bytes, err);
    if (status == HAC_OK && !needed && somebody_waits(job, true))
        return hac_fail(err, HAC_REFUSED, "other jobs of this user wait for memory");
    return status == HAC_OK ? hac_pool_alloc_on(job->user, &memory_of(job)->split, bytes, false, ret, err)
                            : status;
}

hac_status hac_stream_memory_split(hacd_job *job, uint64_t bytes, bool needed, hac_pool_buffer **ret,
                                   double *ret_retry, hac_error *err)
{
    hac_status status = take_split(job, bytes, needed, ret, err);
    *ret_retry = -1;
    if (status == HAC_OK && asks(memory_of(job)))
        go_on(job);
    if (status != HAC_REFUSED || !needed)
        return status;
    *ret_retry = !job->user->refusal.hopeless && may_come(job) ? HAC_STREAM_MEMORY_RETRY : 0;
    memory_of(job)->asked_ns = *ret_retry > 0 ? hac_now_ns() : 0;
    if (*ret_retry > 0)
        tell(job);
    return status;
}

void hac_stream_memory_split_came(hacd_job *job)
{
    const hac_stream_memory *memory = memory_of(job);
    if (memory != NULL && memory->asked_ns != 0)
        go_on(job);
}

/* ---- plans ---- */

uint64_t hac_stream_memory_for_plan(const hacd_job *job, hac_stream_memory_step step, uint64_t wanted)
{
    const hac_stream_memory *memory = memory_of(job);
    const hac_reservation *plan = &memory->plan;
    uint64_t all = hac_pool_available_to(job->user, plan) + plan->held;
    uint64_t own = plan->bytes > plan->held ? plan->bytes : plan->held;
    own = own < all ? own : all;
    if (step == HAC_STREAM_MEMORY_ALL || (step == HAC_STREAM_MEMORY_OWN && memory->planned && own >= wanted))
        return step == HAC_STREAM_MEMORY_ALL ? all : own;
    uint64_t half = own + (all - own) / 2, max = wanted > PLAN_MAX ? wanted : PLAN_MAX;
    max = own > max ? own : max;
    return half < max ? half : max;
}

void hac_stream_memory_planned(hacd_job *job, uint64_t memory)
{
    hac_stream_memory *stream = memory_of(job);
    hac_reservation *plan = &stream->plan;
    double bytes = 0;
    for (size_t i = 0; i < job->plan->n_buffers; i++)
        bytes += job->plan->buffers[i].role == HAC_BUFFER_INPUT ? 0 : (double)job->plan->buffers[i].bytes;
    uint64_t wanted = bytes * PARTIALS_ALL < (double)memory ? (uint64_t)(bytes * PARTIALS_ALL) : memory;
    plan->bytes = wanted > plan->bytes ? wanted : plan->bytes;
    stream->planned = true;
    if (stream->stuck)
        go_on(job);
}

bool hac_stream_memory_must_wait(hacd_job *job)
{
    hac_stream_memory *memory = memory_of(job);
    memory->stuck_at = hac_pool_available_to(job->user, &memory->plan) + memory->plan.held;
    bool by_limit = job->memory_limit != 0 && memory->split.held + memory->stuck_at >= job->memory_limit;
    memory->stuck = !by_limit && job->owner != NULL && may_come(job);
    if (!memory->stuck && !by_limit && somebody_waits(job, true))
        hacd_job_note(job,
                      "waits no longer: all jobs of this user that have memory need more, and it came last");
    if (memory->stuck)
        tell(job);
    return memory->stuck;
}

void hac_stream_memory_check(hacd_job *job)
{
    const hac_stream_memory *memory = memory_of(job);
    if (memory == NULL || !memory->stuck || !job->waiting)
        return;
    if (hac_pool_available_to(job->user, &memory->plan) + memory->plan.held > memory->stuck_at ||
        !may_come(job))
        hacd_job_wake(job);
}
