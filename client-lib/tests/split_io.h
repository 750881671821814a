/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for tests of hac_query_splits: inputs, a sink for rows, and runs that succeed or fail. */
#ifndef SPLIT_IO_H
#define SPLIT_IO_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_daemon.h"

static hac_client *client;

typedef struct source {
    const char *path; /* a file to open, or NULL */
    const void *data; /* content of a temporary file, or NULL */
    size_t bytes;
    int fd; /* descriptor of a pipe, if `path` and `data` are NULL */
} source;

static struct io_state {
    const source *sources;
    const char *const *names; /* NULL: in0, in1 … */
    size_t n, opened;
    char *written;
    size_t n_written, writes;
    int fail_write_at; /* -1: never */
    void (*on_write)(void);
} io;

static inline hac_status open_source(void *context, size_t index, int *ret_fd, const char **ret_name,
                                     hac_error *err)
{
    static char name[16];
    (void)context;
    assert_true(index < io.n && index == io.opened++);
    const source *s = &io.sources[index];
    if (s->path != NULL) {
        *ret_fd = open(s->path, O_RDONLY | O_CLOEXEC);
        if (*ret_fd < 0) {
            if (err != NULL) {
                err->code = HAC_FAILED;
                snprintf(err->message, sizeof(err->message), "cannot open %s", s->path);
            }
            return HAC_FAILED;
        }
    } else if (s->data != NULL) {
        *ret_fd = hac_test_file(s->data, s->bytes);
        assert_int_equal(lseek(*ret_fd, 0, SEEK_SET), 0);
    } else {
        *ret_fd = s->fd;
    }
    snprintf(name, sizeof(name), "in%zu", index);
    *ret_name = io.names != NULL ? io.names[index] : name;
    return HAC_OK;
}

static inline hac_status write_rows(void *context, const void *bytes, size_t n, hac_error *err)
{
    (void)context;
    if ((int)io.writes++ == io.fail_write_at) {
        err->code = HAC_IO;
        snprintf(err->message, sizeof(err->message), "the disk is full");
        return HAC_IO;
    }
    io.written = realloc(io.written, io.n_written + n + 1);
    assert_non_null(io.written);
    memcpy(io.written + io.n_written, bytes, n);
    io.n_written += n;
    io.written[io.n_written] = '\0';
    if (io.on_write != NULL)
        io.on_write();
    return HAC_OK;
}

static inline hac_splits splits_of(const source *sources, size_t n)
{
    free(io.written);
    io = (struct io_state){.sources = sources, .n = n, .fail_write_at = -1};
    hac_splits splits = HAC_SPLITS_INIT;
    splits.n_inputs = n;
    splits.open = open_source;
    splits.write = write_rows;
    splits.name = "all of it";
    return splits;
}

static inline hac_query_options query(hac_input_format format)
{
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    options.input_format = format;
    return options;
}

/* Waits until the daemon has handled all requests. Afterwards the test may read and change the daemon's
 * state. */
static inline void settle(void)
{
    char *text = NULL;
    hac_status ignored = hac_client_query(client, HAC_TOPIC_STATUS, 0, HAC_PLAN_TEXT, &text, NULL);
    (void)ignored;
    free(text);
}

static inline void run_ok(const hac_splits *splits, const hac_query_options *options, hac_job **ret_job)
{
    hac_error err = HAC_ERROR_NONE;
    if (hac_query_splits(client, splits, options, ret_job, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_non_null(*ret_job);
    assert_int_equal(hac_job_get_state(*ret_job), HAC_JOB_DONE);
    settle();
}

static inline void run_rows(const hac_splits *splits, const hac_query_options *options)
{
    hac_job *job = NULL;
    run_ok(splits, options, &job);
    assert_int_equal(hac_job_bytes(job), 0);
    hac_job_free(job);
}

static inline void run_fails(const hac_splits *splits, const hac_query_options *options, hac_status wanted,
                             const char *says)
{
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    assert_int_equal(hac_query_splits(client, splits, options, &job, &err), wanted);
    hac_test_assert_says(err.message, says);
    hac_job_free(job);
    settle();
}

static inline void assert_written(const char *text)
{
    assert_int_equal(io.n_written, strlen(text));
    assert_memory_equal(io.written, text, strlen(text));
}

#endif
