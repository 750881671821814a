/* SPDX-License-Identifier: Apache-2.0 */
#include "host/io_read.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/io_layout.h"
#include "codelet/progress.h"

/* Blocks of this size stay in a core's cache (256 KiB and 1 MiB measured alike). */
#define BLOCK_BYTES (UINT64_C(1) << 19)

hac_status hac_io_read_check(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    const hac_io_read_params *params = HAC_PARAMS(hac_io_read_params, task);
    uint64_t start, end;
    if (task->fd < 0)
        return hac_fail(err, HAC_INVALID, "io.read needs a descriptor");
    if (__builtin_add_overflow(params->offset, task->first, &start) ||
        __builtin_add_overflow(start, task->count, &end) || end > INT64_MAX)
        return hac_fail(err, HAC_INVALID, "offset %llu + %llu + %llu is out of range",
                        (unsigned long long)params->offset, (unsigned long long)task->first,
                        (unsigned long long)task->count);
    if (task->first > task->spans[0].bytes || task->count > task->spans[0].bytes - task->first)
        return hac_fail(err, HAC_INVALID, "bytes %llu … %llu are outside a span of %llu",
                        (unsigned long long)task->first, (unsigned long long)(task->first + task->count),
                        (unsigned long long)task->spans[0].bytes);
    return HAC_OK;
}

/* One read at `offset`, or at the descriptor's own position if it has no other (a pipe). */
static ssize_t read_some(int fd, uint8_t *data, size_t bytes, uint64_t offset, bool *sequential)
{
    for (;;) {
        size_t max = HAC_FAILPOINT_SHORT("io_read.read", bytes);
        ssize_t n = HAC_FAILPOINT("io_read.read", -1,
                                  *sequential ? read(fd, data, max) : pread(fd, data, max, (off_t)offset));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == ESPIPE && !*sequential && offset == 0) {
            *sequential = true;
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
            continue;
        }
        return n;
    }
}

/* Nothing is left at `at`. The task's whole piece of the input may lie behind the end. */
static hac_status fail_truncated(const hac_task *task, uint64_t at, hac_error *err)
{
    struct stat st;
    if (fstat(task->fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size < at)
        at = (uint64_t)st.st_size;
    return hac_fail(err, HAC_FAILED,
                    "the input ended after %llu of %llu bytes: it was truncated while it was read",
                    (unsigned long long)at, (unsigned long long)HAC_PARAMS(hac_io_read_params, task)->end);
}

hac_status hac_io_read_run(hac_device *device, const hac_task *task, hac_task_result *result, hac_error *err)
{
    (void)device;
    uint64_t start = HAC_PARAMS(hac_io_read_params, task)->offset + task->first, done = 0;
    bool sequential = false;
    while (done < task->count) {
        uint64_t left = task->count - done;
        ssize_t n = read_some(task->fd, task->spans[0].data + task->first + done,
                              (size_t)(left < BLOCK_BYTES ? left : BLOCK_BYTES), start + done, &sequential);
        if (n < 0)
            return hac_fail_errno(err, HAC_FAILED, errno, "the input cannot be read at byte %llu",
                                  (unsigned long long)(start + done));
        if (n == 0)
            return fail_truncated(task, start + done, err);
        done += (uint64_t)n;
        hac_progress_step();
    }
    result->values[0] = done;
    result->n_values = 1;
    return HAC_OK;
}
