/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_buffers.h"

#include <string.h>

#include "resources/pool.h"

/* The sorted payload follows the sorted keys in the result buffer, at the next multiple of 64 bytes. */
static uint64_t payload_place(const hacd_job *job)
{
    return (job->plan->buffers[job->plan->result_buffer].bytes + 63) & ~UINT64_C(63);
}

static const hac_plan_buffer *payload_result(const hacd_job *job)
{
    for (size_t i = 0; i < job->plan->n_buffers; i++)
        if (strcmp(job->plan->buffers[i].name, "payload_out") == 0)
            return &job->plan->buffers[i];
    return NULL;
}

/* Bytes to allocate for a buffer. The result buffer includes the payload. */
static uint64_t bytes_of(const hacd_job *job, size_t index)
{
    const hac_plan_buffer *payload = payload_result(job);
    if (payload == NULL || (int)index != job->plan->result_buffer)
        return job->plan->buffers[index].bytes;
    return payload_place(job) + payload->bytes;
}

uint64_t hac_plan_buffers_result_bytes(const hacd_job *job)
{
    return bytes_of(job, (size_t)job->plan->result_buffer);
}

static hac_status attach_buffer(hacd_job *job, size_t index, hac_error *err)
{
    const hac_plan_buffer *wanted = &job->plan->buffers[index];
    hacd_plan_run *run = &job->run;
    uint64_t bytes = bytes_of(job, index);
    uint64_t offset = 0;
    hac_pool_buffer *own = job->kind->buffer != NULL ? job->kind->buffer(job, wanted, &offset) : NULL;
    if (own == NULL && wanted->role == HAC_BUFFER_INPUT && !wanted->from_descriptor) {
        own = job->input;
        offset = job->input_offset;
        if (own == NULL)
            return hac_fail(err, HAC_INTERNAL, "the plan needs an input that the job does not have");
    }
    if (own == NULL && wanted->role == HAC_BUFFER_SHARED)
        return hac_fail(err, HAC_INTERNAL, "the plan needs a vector that the job does not have");
    if (own != NULL) {
        run->offsets[index] = offset;
        hac_pool_hold(own);
        run->buffers[index] = own;
        return HAC_OK;
    }
    if (wanted == payload_result(job)) { /* after the keys; the result buffer comes earlier in the plan */
        run->buffers[index] = run->buffers[job->plan->result_buffer];
        run->offsets[index] = payload_place(job);
        hac_pool_hold(run->buffers[index]);
        return HAC_OK;
    }
    run->offsets[index] = 0;
    hac_status status =
        hac_pool_alloc_on(job->user, job->reservation, bytes, false, &run->buffers[index], err);
    if (status == HAC_OK)
        run->buffers[index]->whole = wanted->whole;
    return status;
}

hac_status hac_plan_buffers_over_limit(const hacd_job *job, uint64_t needed, hac_error *err)
{
    return hac_fail(err, HAC_REFUSED,
                    "the job needs %llu KiB in all, above its limit of %llu KiB; give it more memory",
                    (unsigned long long)(needed + 1023) >> 10, (unsigned long long)job->memory_limit >> 10);
}

/* Checks all of the job's memory against its limit: buffers that are not late, those that it holds, and
 * `late`. */
static hac_status check_limit(hacd_job *job, int late, hac_error *err)
{
    uint64_t all = 0;
    for (size_t i = 0; i < job->plan->n_buffers; i++)
        if (!job->plan->buffers[i].late || job->run.buffers[i] != NULL || (int)i == late)
            all += job->plan->buffers[i].bytes;
    if (job->memory_limit == 0 || all <= job->memory_limit)
        return HAC_OK;
    return job->kind->over_limit != NULL ? job->kind->over_limit(job, all, err)
                                         : hac_plan_buffers_over_limit(job, all, err);
}

/* A refusal is temporary, unless the job needs more in all than its user can ever have. */
static hac_status refused(const hacd_job *job, hac_error *err)
{
    uint64_t all = hac_plan_memory(job->plan), max = hac_user_max(job->user, HAC_SLOT_MEMORY);
    if (all <= max || job->reservation != NULL || job->user->refusal.hopeless)
        return HAC_REFUSED;
    job->user->refusal.hopeless = true;
    return hac_fail(err, HAC_REFUSED,
                    "the job needs %llu MiB in all, above this user's limit of %llu MiB of memory; hacd.yaml "
                    "has the limits",
                    (unsigned long long)(all >> 20), (unsigned long long)(max >> 20));
}

hac_status hac_plan_buffers_attach(hacd_job *job, hac_error *err)
{
    hac_status status = check_limit(job, -1, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; status == HAC_OK && i < job->plan->n_buffers; i++)
        if (!job->plan->buffers[i].late)
            status = attach_buffer(job, i, err);
    return status == HAC_REFUSED ? refused(job, err) : status;
}

hac_status hac_plan_buffers_attach_late(hacd_job *job, int buffer, hac_error *err)
{
    hac_pool_buffer **held = &job->run.buffers[buffer];
    hac_pool_clear(held);
    hac_status status = check_limit(job, buffer, err);
    return status == HAC_OK ? attach_buffer(job, (size_t)buffer, err) : status;
}
