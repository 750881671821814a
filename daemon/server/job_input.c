/* SPDX-License-Identifier: Apache-2.0 */
#include "job_input.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "admission.h"
#include "base/cleanup.h"
#include "base/failpoint.h"
#include "server.h"

#define LEAVING_RETRY_SECONDS 1.0 /* it may be on its way to start anew */

hac_status hac_job_begin(hac_session *session, const hac_job_kind *kind, size_t state_bytes, hac_job **ret,
                         hac_error *err)
{
    hac_job *job = NULL;
    if (session->server->draining) {
        session->retry_seconds = LEAVING_RETRY_SECONDS;
        return hac_fail(err, HAC_REFUSED, "hacd is about to leave and takes no new jobs");
    }
    hac_status status = hac_job_new(session->server, kind, session->user, &job, err);
    if (status != HAC_OK)
        return status;
    job->kind_state = state_bytes > 0 ? calloc(1, state_bytes) : NULL;
    if (job->kind_state == NULL && state_bytes > 0) {
        hac_job_free(job);
        return hac_fail_no_memory(err);
    }
    *ret = job;
    return HAC_OK;
}

hac_status hac_job_of_session(const hac_session *session, uint64_t id, const hac_job_kind *kind,
                              const char *what, hac_job **ret, hac_error *err)
{
    hac_job *job = hac_job_find(session->server, id);
    if (job == NULL || job->kind != kind || job->owner != session)
        return hac_fail(err, HAC_NOT_FOUND, "this connection has no job %llu that takes %s",
                        (unsigned long long)id, what);
    *ret = job;
    return HAC_OK;
}

hac_status hac_job_take_buffer(hac_session *session, uint32_t id, uint64_t offset, uint64_t bytes,
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

bool hac_foreign_stat(int fd, uint32_t *ret_mode, uint64_t *ret_size)
{
    /* What the kernel has at hand: to ask the file's server (NFS, FUSE) may take for ever. */
    struct statx info;
    if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, &info) != 0)
        return false;
    *ret_mode = info.stx_mode;
    *ret_size = info.stx_size;
    return true;
}

/* *ret_size: UINT64_MAX of what is no file. */
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

/* Out of the frame, as the job's `index`th. */
static hac_status keep_descriptor(hac_job *job, size_t index, hac_frame *frame, size_t in_frame,
                                  hac_error *err)
{
    hac_status status = hac_job_put_descriptor(job, index, hac_frame_fd(frame, in_frame), err);
    if (status == HAC_OK)
        (void)hac_frame_take_fd(frame, in_frame);
    return status;
}

hac_status hac_job_take_file(hac_job *job, size_t index, const char *name, hac_frame *frame, hac_error *err)
{
    uint64_t size;
    hac_status status = check_descriptor(name, hac_frame_fd(frame, 0), &size, err);
    return status == HAC_OK ? keep_descriptor(job, index, frame, 0, err) : status;
}

hac_status hac_job_take_descriptor(hac_job *job, const Hac__Client__Input *input, const char *name,
                                   hac_frame *frame, hac_error *err)
{
    uint64_t size = 0;
    hac_status status = check_descriptor(name, hac_frame_fd(frame, input->descriptor), &size, err);
    if (status == HAC_OK)
        status = check_size(input, name, size, err);
    return status == HAC_OK ? keep_descriptor(job, job->n_descriptors, frame, input->descriptor, err)
                            : status;
}

hac_status hac_job_take_options(hac_job *job, const Hac__Client__JobOptions *options, hac_error *err)
{
    if (options == NULL)
        return HAC_OK;
    job->detached = options->detach;
    job->progress = options->progress && !options->detach;
    job->priority = options->priority;
    job->deadline_seconds = options->deadline_seconds;
    job->memory_limit = options->memory_limit;
    job->fast = options->determinism == 1;
    return hac_devices_mask(&job->server->devices, options->devices, options->n_devices, &job->device_mask,
                            err);
}

hac_status hac_job_admit(hac_session *session, const hac_job *job, hac_error *err)
{
    return hac_admission_check(job, &session->retry_seconds, err);
}

void hac_job_start(hac_session *session, uint64_t serial, hac_job *job, bool input_in_message,
                   const Hac__Client__JobOptions *options, const char *what)
{
    job->owner = job->detached ? NULL : session;
    job->serial = serial;
    job->quick =
        input_in_message && !job->detached && !job->progress && (options == NULL || !options->acknowledge);
    if (!job->quick) {
        hac_job_note(job, "submitted by uid %u, pid %d: %s", session->user->uid, (int)session->pid, what);
        hac_session_send_accepted(session, serial, job);
    }
    hac_job_submit(job);
}
