/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_buffers.h"

#include <string.h>

#include "scheduler.h"
#include "stream_memory.h"

/* Sorted payloads lie behind the sorted keys in one result buffer, from the next multiple of 64 bytes on. */
static uint64_t payload_place(const hac_job *job)
{
    return (job->plan->buffers[job->plan->result_buffer].bytes + 63) & ~UINT64_C(63);
}

static const hac_plan_buffer *payload_result(const hac_job *job)
{
    for (size_t i = 0; i < job->plan->n_buffers; i++)
        if (strcmp(job->plan->buffers[i].name, "payload_out") == 0)
            return &job->plan->buffers[i];
    return NULL;
}

/* Bytes to allocate for a buffer: the result's has room for the payload, too. */
static uint64_t bytes_of(const hac_job *job, size_t index)
{
    const hac_plan_buffer *payload = payload_result(job);
    if (payload == NULL || (int)index != job->plan->result_buffer)
        return job->plan->buffers[index].bytes;
    return payload_place(job) + payload->bytes;
}

uint64_t hac_scheduler_result_bytes(const hac_job *job)
{
    return bytes_of(job, (size_t)job->plan->result_buffer);
}

static hac_status attach_buffer(hac_job *job, size_t index, hac_error *err)
{
    const hac_plan_buffer *wanted = &job->plan->buffers[index];
    hac_run *run = &job->run;
    uint64_t bytes = bytes_of(job, index);
    bool payload = strcmp(wanted->name, "payload") == 0;
    hac_pool_buffer *own = job->kind->buffer != NULL ? job->kind->buffer(job, wanted) : NULL;
    if (own != NULL) {
        run->offsets[index] = 0;
        hac_pool_hold(own);
        run->buffers[index] = own;
        return HAC_OK;
    }
    if (wanted->role == HAC_BUFFER_INPUT && !wanted->from_descriptor) {
        hac_pool_buffer *buffer = payload ? job->payload : job->input;
        if (buffer == NULL)
            return hac_fail(err, HAC_INTERNAL, "the plan wants an input that the job has not");
        run->offsets[index] = payload ? job->payload_offset : job->input_offset;
        hac_pool_hold(buffer);
        run->buffers[index] = buffer;
        return HAC_OK;
    }
    if (wanted->role == HAC_BUFFER_SHARED) {
        if (job->shared[index] == NULL)
            return hac_fail(err, HAC_INTERNAL, "the plan wants a vector that the job has not");
        hac_pool_hold(job->shared[index]);
        run->buffers[index] = job->shared[index];
        run->offsets[index] = 0;
        return HAC_OK;
    }
    if (wanted == payload_result(job)) { /* behind the keys; the result buffer comes before it in the plan */
        run->buffers[index] = run->buffers[job->plan->result_buffer];
        run->offsets[index] = payload_place(job);
        hac_pool_hold(run->buffers[index]);
        return HAC_OK;
    }
    run->offsets[index] = 0;
    hac_reservation *reservation = job->stream != NULL ? &job->stream->plan : NULL;
    hac_status status = hac_pool_alloc_on(job->user, reservation, bytes, false, &run->buffers[index], err);
    if (status == HAC_OK)
        run->buffers[index]->whole = wanted->whole;
    return status;
}

hac_status hac_scheduler_over_limit(const hac_job *job, uint64_t needed, hac_error *err)
{
    return hac_fail(err, HAC_REFUSED,
                    "the job needs %llu KiB in all, above its limit of %llu KiB; give it more memory",
                    (unsigned long long)(needed + 1023) >> 10, (unsigned long long)job->memory_limit >> 10);
}

/* All of the job's memory together against its own limit: what is not late, what it holds, and `late`. */
static hac_status check_limit(hac_job *job, int late, hac_error *err)
{
    uint64_t all = 0;
    for (size_t i = 0; i < job->plan->n_buffers; i++)
        if (!job->plan->buffers[i].late || job->run.buffers[i] != NULL || (int)i == late)
            all += job->plan->buffers[i].bytes;
    if (job->memory_limit == 0 || all <= job->memory_limit)
        return HAC_OK;
    return job->kind->over_limit != NULL ? job->kind->over_limit(job, all, err)
                                         : hac_scheduler_over_limit(job, all, err);
}

/* What was refused may come with time, but not if the job wants more in all than its user ever gets. */
static hac_status refused(const hac_job *job, hac_error *err)
{
    uint64_t all = hac_plan_memory(job->plan), most = hac_user_alone(job->user, HAC_SLOT_MEMORY);
    if (all <= most || job->stream != NULL || job->user->refusal.hopeless)
        return HAC_REFUSED;
    job->user->refusal.hopeless = true;
    return hac_fail(err, HAC_REFUSED,
                    "the job needs %llu MiB in all, above this user's limit of %llu MiB of memory; hacd.yaml "
                    "has the limits",
                    (unsigned long long)(all >> 20), (unsigned long long)(most >> 20));
}

hac_status hac_plan_buffers_attach(hac_job *job, hac_error *err)
{
    hac_status status = check_limit(job, -1, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; status == HAC_OK && i < job->plan->n_buffers; i++)
        if (!job->plan->buffers[i].late)
            status = attach_buffer(job, i, err);
    return status == HAC_REFUSED ? refused(job, err) : status;
}

hac_status hac_scheduler_attach(hac_job *job, int buffer, hac_error *err)
{
    hac_pool_buffer **held = &job->run.buffers[buffer];
    hac_pool_clear(held);
    hac_status status = check_limit(job, buffer, err);
    return status == HAC_OK ? attach_buffer(job, (size_t)buffer, err) : status;
}
