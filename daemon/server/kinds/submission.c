/* SPDX-License-Identifier: Apache-2.0 */
#include "submission.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "jobs/job_clients.h"
#include "loop/foreign_file.h"
#include "scheduler/admission.h"

#define LEAVING_RETRY_SECONDS 1.0 /* hacd may be about to restart */

hac_status hac_submission_find_job(const hac_submission *from, uint64_t id, const hacd_job_kind *kind,
                                   const char *what, hacd_job **ret, hac_error *err)
{
    hacd_job *job = hacd_job_find(from->jobs, id);
    if (job == NULL || job->kind != kind || job->owner != from->session)
        return hac_fail(err, HAC_NOT_FOUND, "this connection has no job %llu that takes %s",
                        (unsigned long long)id, what);
    *ret = job;
    return HAC_OK;
}

hac_status hac_submission_take_buffer(hac_session *session, uint32_t id, uint64_t offset, uint64_t bytes,
                                      const char *what, hac_pool_buffer **ret, hac_error *err)
{
    hac_pool_buffer *buffer = hac_session_buffer(session, id);
    uint64_t end = 0;
    if (buffer == NULL)
        return hac_fail(err, HAC_INVALID, "%s: this connection holds no buffer %u", what, id);
    if (__builtin_add_overflow(offset, bytes, &end) || end > buffer->bytes)
        return hac_fail(err, HAC_INVALID, "%s: bytes %llu … %llu are outside buffer %u of %llu bytes", what,
                        (unsigned long long)offset, (unsigned long long)(offset + bytes), id,
                        (unsigned long long)buffer->bytes);
    hac_status status = hac_pool_seal(buffer, err);
    if (status != HAC_OK)
        return status;
    hac_pool_hold(buffer);
    *ret = buffer;
    return HAC_OK;
}

/* *ret_size: UINT64_MAX for anything but a regular file. */
static hac_status check_descriptor(const char *name, int fd, uint64_t *ret_size, hac_error *err)
{
    uint32_t mode = 0;
    uint64_t size = 0;
    if (!HAC_FAILPOINT("job.descriptor", false, hac_foreign_stat(fd, &mode, &size)))
        return hac_fail(err, HAC_INVALID, "%s: no usable descriptor came with the request", name);
    if (!S_ISREG(mode) && !S_ISBLK(mode))
        return hac_fail(err, HAC_FAILED, "%s is not a regular file; pass a stream's content through a buffer",
                        name);
    *ret_size = S_ISREG(mode) ? size : UINT64_MAX;
    return HAC_OK;
}

static hac_status check_size(const Hac__Client__Input *input, const char *name, uint64_t size, hac_error *err)
{
    if (size < input->offset || size - input->offset < input->bytes)
        return hac_fail(err, HAC_FAILED, "%s has %llu bytes; %llu from byte %llu on are wanted", name,
                        (unsigned long long)size, (unsigned long long)input->bytes,
                        (unsigned long long)input->offset);
    return HAC_OK;
}

/* Moves the descriptor out of the frame, as the job's `index`th. */
static hac_status keep_descriptor(hacd_job *job, size_t index, hac_frame *frame, size_t in_frame,
                                  hac_error *err)
{
    hac_status status = hacd_job_put_descriptor(job, index, hac_frame_fd(frame, in_frame), err);
    if (status == HAC_OK)
        (void)hac_frame_take_fd(frame, in_frame);
    return status;
}

hac_status hac_submission_take_file(hacd_job *job, size_t index, const char *name, hac_frame *frame,
                                    hac_error *err)
{
    uint64_t size;
    hac_status status = check_descriptor(name, hac_frame_fd(frame, 0), &size, err);
    return status == HAC_OK ? keep_descriptor(job, index, frame, 0, err) : status;
}

hac_status hac_submission_take_descriptor(hacd_job *job, const Hac__Client__Input *input, const char *name,
                                          hac_frame *frame, hac_error *err)
{
    uint64_t size = 0;
    hac_status status = check_descriptor(name, hac_frame_fd(frame, input->descriptor), &size, err);
    if (status == HAC_OK)
        status = check_size(input, name, size, err);
    return status == HAC_OK ? keep_descriptor(job, job->n_descriptors, frame, input->descriptor, err)
                            : status;
}

static hac_status take_options(hacd_job *job, const Hac__Client__JobOptions *options, hac_error *err)
{
    if (options == NULL)
        return HAC_OK;
    job->detached = options->detach;
    job->progress = options->progress && !options->detach;
    job->priority = options->priority;
    job->deadline_seconds = options->deadline_seconds;
    job->memory_limit = options->memory_limit;
    job->fast = options->determinism == 1;
    return hac_devices_mask(job->jobs->devices, options->devices, options->n_devices, &job->device_mask, err);
}

static hac_status fill(hac_submission *from, hacd_job *job, const Hac__Client__JobOptions *options,
                       hac_error *err)
{
    size_t bytes = job->kind->state_bytes;
    job->kind_state = bytes > 0 ? calloc(1, bytes) : NULL;
    if (job->kind_state == NULL && bytes > 0)
        return hac_fail_no_memory(err);
    hac_status status = take_options(job, options, err);
    if (status == HAC_OK)
        status = job->kind->fill(from, job, err);
    /* What the job keeps of its request: queries are long. Sorts have charged their input. */
    if (status == HAC_OK && job->charged_inline == 0)
        status = hacd_job_charge_inline(job, from->frame->body_bytes, err);
    return status == HAC_OK ? hac_admission_check(job, &from->session->retry_seconds, err) : status;
}

static void send_accepted(const hac_submission *from, const hacd_job *job)
{
    Hac__Client__JobAccepted accepted = HAC__CLIENT__JOB_ACCEPTED__INIT;
    accepted.job = job->id;
    accepted.split_bytes = from->split_bytes;
    accepted.range_bytes = from->range_bytes;
    Hac__Client__Response response = HAC__CLIENT__RESPONSE__INIT;
    response.serial = job->serial;
    response.what_case = HAC__CLIENT__RESPONSE__WHAT_ACCEPTED;
    response.accepted = &accepted;
    hac_session_send(from->session, &response, NULL, 0);
}

static void start(const hac_submission *from, hacd_job *job, const Hac__Client__JobOptions *options)
{
    const hac_session *session = from->session;
    job->owner = job->detached ? NULL : from->session;
    job->serial = from->request->serial;
    job->connection = session->number;
    job->quick =
        from->inline_input && !job->detached && !job->progress && (options == NULL || !options->acknowledge);
    if (!job->quick) {
        hacd_job_note(job, "submitted by uid %u, pid %d: %s", session->user->uid, (int)session->pid,
                      from->what);
        send_accepted(from, job);
    }
    hacd_job_submit(job);
}

hac_status hac_submission_submit(hac_submission *from, const hacd_job_kind *kind,
                                 const Hac__Client__JobOptions *options, hac_error *err)
{
    hacd_job *job = NULL;
    if (from->jobs->draining) {
        from->session->retry_seconds = LEAVING_RETRY_SECONDS;
        return hac_fail(err, HAC_REFUSED, "hacd is about to leave and takes no new jobs");
    }
    hac_status status = hacd_job_new(from->jobs, kind, from->session->user, &job, err);
    if (status == HAC_OK)
        status = fill(from, job, options, err);
    if (status != HAC_OK) {
        hacd_job_free(job);
        return status;
    }
    start(from, job, options);
    return HAC_OK;
}
