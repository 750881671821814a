/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a job as the input of another one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "jobs.h"

/* Copies a result that came in a message. */
static hac_status copy_result(hac_job *job, hac_buffer **ret_buffer, hac_error *err)
{
    hac_buffer *buffer = NULL;
    hac_status status = hac_buffer_alloc(job->client, job->bytes, &buffer, err);
    if (status != HAC_OK)
        return status;
    memcpy(hac_buffer_data(buffer), job->data, (size_t)job->bytes);
    *ret_buffer = buffer;
    return HAC_OK;
}

static hac_status hold_result(hac_job *job, hac_buffer **ret_buffer, hac_error *err)
{
    hac_autofree hac_buffer *buffer = calloc(1, sizeof(*buffer));
    if (buffer == NULL)
        return hac_fail_no_memory(err);
    Hac__Client__JobRef ref = HAC__CLIENT__JOB_REF__INIT;
    ref.job = job->id;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_HOLD;
    request.hold = &ref;
    hac_job_ref(job);
    hac_status status =
        hac_client_call(job->client, &request, HAC__CLIENT__RESPONSE__WHAT_OK, UINT64_MAX, NULL, err);
    if (status == HAC_OK) {
        buffer->client = hac_client_ref(job->client);
        buffer->mapping = job->result;
        hac_mappings_share(job->result);
        *ret_buffer = hac_steal_ptr(buffer);
    }
    hac_job_unref(job);
    return status;
}

hac_status hac_job_as_input(hac_job *job, hac_buffer **ret_buffer, hac_error *err)
{
    if (job->flying)
        return hac_fail(err, HAC_AGAIN, "job %" PRIu64 " has not ended", job->id);
    if (job->error.code != HAC_OK)
        return hac_fail(err, HAC_INVALID, "job %" PRIu64 " has no result: %s", job->id, job->error.message);
    if (job->released)
        return hac_fail(err, HAC_NOT_FOUND, "the result of job %" PRIu64 " was released", job->id);
    if (job->bytes == 0)
        return hac_fail(err, HAC_INVALID, "the result of job %" PRIu64 " has no bytes", job->id);
    return job->result != NULL ? hold_result(job, ret_buffer, err) : copy_result(job, ret_buffer, err);
}
