/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes libhac against a hostile daemon. Input: a byte that selects the client's calls (one bit each, see
 * `run`), then the daemon's messages, which are all in the socket before the client starts. A message is a
 * byte (bits 0–1: number of descriptors; bits 2–3: kind of the descriptors), two bytes (length,
 * little-endian) and that many bytes; the fuzzer adds a correct header. Oracles besides the sanitizers: all
 * bytes of a result are readable, and no descriptor leaks.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/memfd.h"
#include "jobs/jobs.h"

enum { MEMFD_BYTES = 8192, MAX_MESSAGES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the lowest free descriptor, which is always the same number unless a descriptor leaks. */
static int lowest_free(void)
{
    int fd = dup(STDERR_FILENO);
    if (fd < 0)
        abort();
    close(fd);
    return fd;
}

static int descriptor_of_kind(unsigned kind)
{
    int fd = -1;
    hac_status status = HAC_OK;
    if (kind == 0)
        status = hac_memfd_create("fuzz", MEMFD_BYTES, false, &fd, NULL);
    else if (kind == 1)
        status = hac_memfd_create("fuzz", MEMFD_BYTES, true, &fd, NULL);
    else
        fd = dup(STDERR_FILENO);
    if (status != HAC_OK || fd < 0)
        abort();
    return fd;
}

/* Writes all messages that fit into the socket. */
static void send_messages(int socket, const uint8_t *data, size_t size)
{
    static uint8_t frame[HAC_FRAME_MAX];
    for (int i = 0; i < MAX_MESSAGES && size >= 3; i++) {
        size_t n_fds = data[0] & 3, bytes = (size_t)data[1] | (size_t)data[2] << 8;
        int fds[3];
        if (bytes > size - 3)
            bytes = size - 3;
        if (bytes > 0 && bytes <= HAC_FRAME_BODY_MAX) {
            memcpy(hac_frame_body(frame), data + 3, bytes);
            for (size_t k = 0; k < n_fds; k++)
                fds[k] = descriptor_of_kind(data[0] >> 2 & 3);
            hac_status ignored = hac_frame_send(socket, frame, bytes, fds, n_fds, NULL);
            (void)ignored;
            for (size_t k = 0; k < n_fds; k++)
                hac_close(fds[k]);
        }
        data += 3 + bytes;
        size -= 3 + bytes;
    }
}

static void read_all(const void *memory, uint64_t bytes)
{
    static volatile uint8_t sink;
    for (uint64_t i = 0; memory != NULL && i < bytes; i++)
        sink = (uint8_t)(sink + ((const uint8_t *)memory)[i]);
}

static void on_progress(void *context, hac_job *job, const hac_progress *progress)
{
    (void)job;
    *(size_t *)context += strlen(progress->stage) + strlen(progress->device) + strlen(progress->note);
}

static void on_done(void *context, hac_job *job)
{
    ++*(size_t *)context;
    read_all(hac_job_data(job), hac_job_bytes(job));
}

static void finish(hac_job *job, bool wait)
{
    if (job == NULL)
        return;
    if (wait && hac_job_wait(job, -1, NULL) == HAC_OK) {
        struct ArrowSchema schema;
        struct ArrowArray array;
        read_all(hac_job_data(job), hac_job_bytes(job));
        if (hac_job_export_arrow(job, &schema, &array, NULL) == HAC_OK) {
            read_all(array.buffers[1], (uint64_t)array.length * 4);
            schema.release(&schema);
            array.release(&array);
        }
    }
    hac_job_free(job);
}

static void use_buffers(hac_client *client)
{
    hac_buffer *a = NULL, *b = NULL;
    if (hac_buffer_alloc_growable(client, 64, &a, NULL) == HAC_OK) {
        hac_status ignored = hac_buffer_grow(a, 128, NULL);
        (void)ignored;
        memset(hac_buffer_data(a), 1, hac_buffer_bytes(a));
    }
    if (hac_buffer_alloc(client, 64, &b, NULL) == HAC_OK)
        memset(hac_buffer_data(b), 1, hac_buffer_bytes(b));
    hac_buffer_free(a);
    hac_buffer_free(b);
}

/* Accepts any status, because the fuzzer only looks for crashes and leaks. */
static void ignore(hac_status status)
{
    (void)status;
}

static void run(hac_client *client, uint8_t script)
{
    static const uint32_t keys[16];
    size_t context = 0;
    hac_job *jobs[3] = {NULL};
    hac_sort_options options = HAC_SORT_OPTIONS_INIT;
    options.type = HAC_TYPE_U32;
    if (script & 1)
        ignore(hac_sort_memory(client, keys, 16, &options, &jobs[0], NULL));
    options.job.done = on_done;
    options.job.progress = on_progress;
    options.job.context = &context;
    options.job.detach = (script & 128) != 0;
    if (script & 2)
        ignore(hac_sort_memory(client, keys, 16, &options, &jobs[1], NULL));
    if (script & 4)
        use_buffers(client);
    if (script & 8)
        ignore(hac_job_attach(client, 1, &jobs[2], NULL));
    if (script & 16) {
        char *text = NULL;
        if (hac_client_query(client, HAC_TOPIC_LOG, 1, HAC_PLAN_TEXT, &text, NULL) == HAC_OK)
            read_all(text, strlen(text));
        free(text);
    }
    if ((script & 32) && jobs[1] != NULL)
        ignore(hac_job_cancel(jobs[1], NULL));
    ignore(hac_client_dispatch(client, NULL));
    for (size_t i = 0; i < 3; i++)
        finish(jobs[i], (script & 64) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2], before = lowest_free();
    hac_client *client = NULL;
    if (size < 1)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        abort();
    send_messages(ends[1], data + 1, size - 1);
    shutdown(ends[1], SHUT_WR); /* the client sees the end of the stream and never waits */
    if (hac_client_new(ends[0], "fuzz", &hac_jobs_handler, &client, NULL) != HAC_OK)
        abort();
    run(client, data[0]);
    hac_client_free(client);
    close(ends[1]);
    if (lowest_free() != before)
        abort();
    return 0;
}
