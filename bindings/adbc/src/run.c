/* SPDX-License-Identifier: Apache-2.0 */
/* Runs queries so that another thread may cancel them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"

void hac_adbc_run_begin(hac_adbc_connection *c)
{
    uint64_t count; /* what was asked for before is about an earlier query */
    while (read(c->stop_fd, &count, sizeof(count)) > 0)
        ;
    atomic_store(&c->running, true);
}

void hac_adbc_run_end(hac_adbc_connection *c)
{
    atomic_store(&c->running, false);
}

/* ---- waiting ---- */

/* Waits for the end of the job, or until somebody cancels it. */
static hac_status wait_for(hac_adbc_connection *c, hac_job *job, hac_error *err)
{
    bool cancelled = false;
    for (;;) {
        hac_status status = hac_job_wait(job, 0, err);
        if (status != HAC_AGAIN)
            return status;
        struct pollfd waits[] = {{hac_client_fd(c->client), POLLIN, 0}, {c->stop_fd, POLLIN, 0}};
        if (poll(waits, cancelled ? 1 : 2, -1) < 0 && errno != EINTR) {
            err->code = HAC_IO;
            snprintf(err->message, sizeof(err->message), "cannot wait for hacd: %s", strerror(errno));
            return HAC_IO;
        }
        if (!cancelled && (waits[1].revents & POLLIN) != 0) {
            cancelled = true;
            status = hac_job_cancel(job, err);
            if (status != HAC_OK)
                return status;
        }
    }
}

/* Ends a run that has submitted `job`, or has failed to. */
static hac_status finish(hac_adbc_connection *c, hac_status status, hac_job *job, hac_job **ret,
                         hac_error *err)
{
    if (status == HAC_OK)
        status = wait_for(c, job, err);
    if (status != HAC_OK) {
        hac_job_free(job);
        return status;
    }
    *ret = job;
    return HAC_OK;
}

/* ---- streams ---- */

/* A stream that ends with ECANCELED when the connection's query is cancelled. While the program's own stream
 * makes a batch, nobody can interrupt it. */
typedef struct stopped_stream {
    struct ArrowArrayStream *own;
    int stop_fd;
    bool stopped;
} stopped_stream;

static int stopped_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
    const stopped_stream *s = stream->private_data;
    return s->own->get_schema(s->own, ret);
}

static int stopped_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
    stopped_stream *s = stream->private_data;
    struct pollfd stop = {s->stop_fd, POLLIN, 0};
    s->stopped = poll(&stop, 1, 0) > 0;
    return s->stopped ? ECANCELED : s->own->get_next(s->own, ret);
}

static const char *stopped_error(struct ArrowArrayStream *stream)
{
    const stopped_stream *s = stream->private_data;
    bool asked = !s->stopped && s->own->get_last_error != NULL;
    return asked ? s->own->get_last_error(s->own) : NULL;
}

static void stopped_release(struct ArrowArrayStream *stream)
{
    const stopped_stream *s = stream->private_data;
    s->own->release(s->own);
    stream->release = NULL;
}

hac_status hac_adbc_run_stream(hac_adbc_connection *c, struct ArrowArrayStream *stream,
                               const hac_query_options *options, hac_job **ret, hac_error *err)
{
    hac_job *job = NULL;
    stopped_stream s = {.own = stream, .stop_fd = c->stop_fd};
    struct ArrowArrayStream stopped = {.get_schema = stopped_schema,
                                       .get_next = stopped_next,
                                       .get_last_error = stopped_error,
                                       .release = stopped_release,
                                       .private_data = &s};
    bool whole = stream->release != NULL && stream->get_schema != NULL && stream->get_next != NULL;
    hac_status status =
        hac_query_arrow_stream(c->client, whole ? &stopped : stream, options, &job, err); /* refuses others */
    return finish(c, status, job, ret, err);
}

/* ---- files ---- */

static hac_status open_file(const char *path, int *ret, hac_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        err->code = errno == ENOENT ? HAC_NOT_FOUND : HAC_FAILED;
        snprintf(err->message, sizeof(err->message), "%.300s: %s", path, strerror(errno));
        return err->code;
    }
    *ret = fd;
    return HAC_OK;
}

static hac_status open_split(void *context, size_t index, int *ret_fd, const char **ret_name, hac_error *err)
{
    const hac_adbc_source *source = context;
    *ret_name = hac_files_name(source->files, index);
    return open_file(*ret_name, ret_fd, err);
}

/* Reads any number of files, compressed or not, one after another. */
static hac_status run_splits(hac_adbc_connection *c, const hac_adbc_source *source,
                             const hac_query_options *options, hac_job **ret, hac_error *err)
{
    hac_splits splits = HAC_SPLITS_INIT;
    splits.n_inputs = hac_files_count(source->files);
    splits.open = open_split;
    splits.context = (void *)(uintptr_t)source;
    splits.name = hac_files_name(source->files, 0);
    splits.stop_fd = c->stop_fd;
    hac_job *job = NULL;
    hac_status status = hac_query_splits(c->client, &splits, options, &job, err);
    return finish(c, status, job, ret, err);
}

/* The executors read the files themselves. */
static hac_status run_descriptors(hac_adbc_connection *c, const hac_adbc_source *source,
                                  const hac_query_options *options, hac_job **ret, hac_error *err)
{
    hac_job *job = NULL;
    hac_status status = hac_query_file_list(c->client, source->files, options, &job, err);
    return finish(c, status, job, ret, err);
}

/* The format of a file whose suffix says none. Only Parquet is certain, and nobody would see what is assumed
 * of others. HAC_FAILED: the file has a format that hac does not read. */
static hac_status look_at(const char *path, hac_input_format *ret, hac_error *err)
{
    hac_status status = hac_files_find_format(path, -1, -1, ret, err);
    if (status != HAC_OK || *ret != HAC_INPUT_PARQUET)
        *ret = HAC_INPUT_NONE;
    return status == HAC_FAILED ? status : HAC_OK;
}

/* Finds the format that all suffixes stand for. */
static hac_status find_format(const hac_adbc_source *source, hac_input_format *ret, hac_error *err)
{
    for (size_t i = 0; i < hac_files_count(source->files); i++) {
        const char *path = hac_files_name(source->files, i);
        hac_input_format format = hac_input_format_of(path);
        hac_status status = format == HAC_INPUT_NONE ? look_at(path, &format, err) : HAC_OK;
        if (status != HAC_OK)
            return status;
        if (format == HAC_INPUT_NONE || (i > 0 && format != *ret)) {
            err->code = HAC_INVALID;
            snprintf(err->message, sizeof(err->message),
                     format == HAC_INPUT_NONE
                         ? "%.300s: the suffix says no format; write FROM read_csv('…'), or read_json, "
                           "read_text, read_parquet"
                         : "%.300s: the files of one source must have one format",
                     path);
            return HAC_INVALID;
        }
        *ret = format;
    }
    return HAC_OK;
}

static bool has_streams(const hac_adbc_source *source, hac_input_format format)
{
    struct stat st;
    for (size_t i = 0; i < hac_files_count(source->files); i++)
        if (hac_files_is_compressed(hac_files_name(source->files, i), -1, format) != 0 ||
            (stat(hac_files_name(source->files, i), &st) == 0 && !S_ISREG(st.st_mode)))
            return true;
    return hac_files_count(source->files) > HAC_QUERY_FILES_MAX;
}

hac_status hac_adbc_run_files(hac_adbc_connection *c, const hac_adbc_source *source,
                              const hac_query_options *options, hac_job **ret, hac_error *err)
{
    hac_query_options own = *options;
    hac_status status = HAC_OK;
    if (own.input_format == HAC_INPUT_NONE)
        status = find_format(source, &own.input_format, err);
    if (status != HAC_OK)
        return status;
    status = hac_files_apply(source->files, &own, err);
    if (status != HAC_OK)
        return status;
    own.infer_schema = 1; /* of text without a schema */
    own.stop_fd = c->stop_fd;
    bool parquet = own.input_format == HAC_INPUT_PARQUET;
    if (hac_files_count(source->files) > 0)
        status = hac_files_find_dialect(hac_files_name(source->files, 0), -1, &own, NULL, 0, err);
    if (status != HAC_OK)
        return status;
    if (!parquet && (hac_files_is_dialect(&own) != 0 || has_streams(source, own.input_format)))
        return run_splits(c, source, &own, ret, err);
    status = run_descriptors(c, source, &own, ret, err);
    if (status == HAC_UNSUPPORTED && own.input_format == HAC_INPUT_JSONL) /* a JSON document, not lines */
        status = run_splits(c, source, &own, ret, err);
    return status;
}
