/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_memory.h"

#include "base/clock.h"
#include "scheduler.h"
#include "server.h"
#include "session.h"

#define PAGE        UINT64_C(4096)
#define PLAN_PART   4 /* of a split: partials, groups and rows of a job that has just begun */
#define SPLIT_SMALL (UINT64_C(17) << 17) /* whose half would be less than clients make */
#define PLAN_MOST                                                                                            \
    (UINT64_C(640) << 20) /* as large as partials ever want to be, and what is merged beside them */
#define PARTIALS_ALL 2.5  /* of a plan's buffers: what the planner wants beside partials (query_round.c) */
#define ASKS_SECONDS 2    /* a client that has not asked for so long waits no more */

void hac_stream_memory_begin(hac_job *job, hac_stream_memory *memory)
{
    job->stream = memory;
    hac_reservation_begin(job->user, &memory->split);
    hac_reservation_begin(job->user, &memory->plan);
}

void hac_stream_memory_end(hac_job *job)
{
    if (job->stream == NULL)
        return;
    hac_reservation_end(job->user, &job->stream->split);
    hac_reservation_end(job->user, &job->stream->plan);
    job->stream = NULL;
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

bool hac_stream_memory_waits(const hac_job *job)
{
    return job->stream != NULL && !hac_job_ended(job) && (job->stream->stuck || asks(job->stream));
}

static bool comes_before(const hac_job *a, const hac_job *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->id < b->id;
}

/* Whether somebody of the user waits who comes before the job, or, with `any`, anybody else. */
static bool somebody_waits(const hac_job *job, bool any)
{
    const hac_job *other = NULL;
    hac_list_for_each (other, &job->server->jobs, hac_job, link)
        if (other->user == job->user && other != job && hac_stream_memory_waits(other) &&
            (any || comes_before(other, job)))
            return true;
    return false;
}

/* Whether another stream gives memory back some time: it goes on; or it waits as well, and is the one that
 * fails when nobody goes on. Who holds nothing waits for all. */
static bool another_ends(const hac_job *job)
{
    const hac_job *other = NULL;
    hac_list_for_each (other, &job->server->jobs, hac_job, link) {
        if (other->user != job->user || other == job || other->stream == NULL || hac_job_ended(other))
            continue;
        bool waits = hac_stream_memory_waits(other), before = comes_before(other, job);
        if (has_part(other->stream) ? !has_part(job->stream) || !waits || !before
                                    : !has_part(job->stream) && waits && before)
            return true;
    }
    return false;
}

/* Whether the result of an earlier job of that session, which it may keep for as long as it likes. */
static bool is_kept_by(const struct hac_session *session, const hac_pool_buffer *buffer)
{
    const hac_job *job = NULL;
    if (hac_session_buffer(session, buffer->id) != NULL)
        return true;
    hac_list_for_each (job, &session->server->jobs, hac_job, link)
        if (job->owner == session && job->result == buffer)
            return true;
    return false;
}

/* Whether buffers are held that are no stream's: by other jobs and clients, or rows that the job's own client
 * writes. */
static bool others_hold(const hac_job *job)
{
    const hac_pool_buffer *buffer = NULL;
    hac_list_for_each (buffer, &job->user->buffers, hac_pool_buffer, link)
        if (buffer->reservation == NULL &&
            (buffer->passing || job->owner == NULL || !is_kept_by(job->owner, buffer)))
            return true;
    return false;
}

static bool may_come(const hac_job *job)
{
    return another_ends(job) || others_hold(job);
}

static void tell(hac_job *job)
{
    if (!job->stream->told)
        hac_job_note(job, "waits for memory: this user's other jobs and buffers have it");
    job->stream->told = true;
    if (!job->active)
        job->state = HAC_JOB_QUEUED;
}

static void go_on(hac_job *job)
{
    hac_stream_memory *memory = job->stream;
    if (memory->told)
        hac_job_note(job, "goes on: there is memory");
    if (memory->told && job->state == HAC_JOB_QUEUED && job->started_ns != 0)
        job->state = HAC_JOB_RUNNING;
    memory->told = memory->stuck = false;
    memory->asked_ns = 0;
}

/* ---- splits ---- */

/* What the job begins with. */
static hac_status reserve(hac_job *job, uint64_t bytes, hac_error *err)
{
    hac_stream_memory *memory = job->stream;
    uint64_t alone = hac_user_alone(job->user, HAC_SLOT_MEMORY), split = (bytes + PAGE - 1) / PAGE * PAGE;
    if (bytes > alone / 2) /* as much again is the least for what comes of it: never */
        return hac_user_charge(job->user, HAC_SLOT_MEMORY, 2 * bytes, err);
    if (bytes >= SPLIT_SMALL && bytes > alone / (PLAN_PART + 1)) /* a smaller one leaves its plans more */
        return hac_user_charge(job->user, HAC_SLOT_MEMORY, (PLAN_PART + 1) * bytes, err);
    uint64_t plan = PLAN_PART * split < alone - split ? PLAN_PART * split : alone - split;
    if (job->memory_limit > split && job->memory_limit - split < plan)
        plan = job->memory_limit - split;
    if (somebody_waits(job, false) || hac_pool_room(job->user) < split + plan)
        return hac_user_refuse_aside(job->user, HAC_SLOT_MEMORY, split + plan, hac_pool_aside(job->user),
                                     err);
    memory->split.bytes = split;
    memory->plan.bytes = plan;
    return HAC_OK;
}

static hac_status take_split(hac_job *job, uint64_t bytes, bool needed, hac_pool_buffer **ret, hac_error *err)
{
    hac_status status = has_part(job->stream) ? HAC_OK : reserve(job, bytes, err);
    if (status == HAC_OK && !needed && somebody_waits(job, true))
        return hac_fail(err, HAC_REFUSED, "other jobs of this user wait for memory");
    return status == HAC_OK ? hac_pool_alloc_on(job->user, &job->stream->split, bytes, false, ret, err)
                            : status;
}

hac_status hac_stream_memory_split(hac_job *job, uint64_t bytes, bool needed, hac_pool_buffer **ret,
                                   double *ret_retry, hac_error *err)
{
    hac_status status = take_split(job, bytes, needed, ret, err);
    *ret_retry = -1;
    if (status == HAC_OK && asks(job->stream))
        go_on(job);
    if (status != HAC_REFUSED || !needed)
        return status;
    *ret_retry = !job->user->refusal.hopeless && may_come(job) ? HAC_STREAM_MEMORY_RETRY : 0;
    job->stream->asked_ns = *ret_retry > 0 ? hac_now_ns() : 0;
    if (*ret_retry > 0)
        tell(job);
    return status;
}

void hac_stream_memory_split_came(hac_job *job)
{
    if (job->stream != NULL && job->stream->asked_ns != 0)
        go_on(job);
}

/* ---- plans ---- */

uint64_t hac_stream_memory_for_plan(const hac_job *job, hac_stream_memory_step step, uint64_t wanted)
{
    const hac_stream_memory *memory = job->stream;
    const hac_reservation *plan = &memory->plan;
    uint64_t all = hac_pool_room_on(job->user, plan) + plan->held;
    uint64_t own = plan->bytes > plan->held ? plan->bytes : plan->held;
    own = own < all ? own : all;
    if (step == HAC_STREAM_MEMORY_ALL || (step == HAC_STREAM_MEMORY_OWN && memory->planned && own >= wanted))
        return step == HAC_STREAM_MEMORY_ALL ? all : own;
    uint64_t half = own + (all - own) / 2, most = wanted > PLAN_MOST ? wanted : PLAN_MOST;
    most = own > most ? own : most;
    return half < most ? half : most;
}

void hac_stream_memory_planned(hac_job *job, uint64_t memory)
{
    hac_reservation *plan = &job->stream->plan;
    double bytes = 0;
    for (size_t i = 0; i < job->plan->n_buffers; i++)
        bytes += job->plan->buffers[i].role == HAC_BUFFER_INPUT ? 0 : (double)job->plan->buffers[i].bytes;
    uint64_t wanted = bytes * PARTIALS_ALL < (double)memory ? (uint64_t)(bytes * PARTIALS_ALL) : memory;
    plan->bytes = wanted > plan->bytes ? wanted : plan->bytes;
    job->stream->planned = true;
    if (job->stream->stuck)
        go_on(job);
}

bool hac_stream_memory_must_wait(hac_job *job)
{
    hac_stream_memory *memory = job->stream;
    memory->stuck_at = hac_pool_room_on(job->user, &memory->plan) + memory->plan.held;
    bool by_limit = job->memory_limit != 0 && memory->split.held + memory->stuck_at >= job->memory_limit;
    memory->stuck = !by_limit && job->owner != NULL && may_come(job);
    if (!memory->stuck && !by_limit && somebody_waits(job, true))
        hac_job_note(job,
                     "waits no longer: all jobs of this user that have memory need more, and it came last");
    if (memory->stuck)
        tell(job);
    return memory->stuck;
}

void hac_stream_memory_check(hac_server *server)
{
    hac_job *job = NULL;
    hac_list_for_each (job, &server->jobs, hac_job, link) {
        hac_stream_memory *memory = job->stream;
        if (memory == NULL || !memory->stuck || !job->waiting)
            continue;
        if (hac_pool_room_on(job->user, &memory->plan) + memory->plan.held > memory->stuck_at ||
            !may_come(job))
            hac_scheduler_wake(job);
    }
}
