/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries over more Parquet files than one message has descriptors. The files are read in batches: a query
 * of each batch writes the columns that are needed, of the rows that count, to a Parquet file in memory (a
 * part), and the query itself reads the parts. So its result is that of all files, whatever the query is.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "base/text.h"
#include "expr/query_blob.h"
#include "files/files.h"
#include "query.h"

enum { PARTS_MAX = HAC_QUERY_FILES_MAX };

HAC_DEFINE_CLEANUP(hac_query *, hac_query_free)
HAC_DEFINE_CLEANUP(hac_job *, hac_job_free)

/* Descriptors that are closed together. */
typedef struct open_files {
    int fds[HAC_QUERY_FILES_MAX];
    const char *names[HAC_QUERY_FILES_MAX];
    size_t n;
} open_files;

static void close_files(open_files *files)
{
    while (files->n > 0)
        hac_close(files->fds[--files->n]);
}

static hac_status open_some(const hac_files *list, size_t first, size_t n, open_files *ret, hac_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = list->names[first + i];
        int fd = hac_open_read(name);
        if (fd < 0)
            return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", name);
        ret->names[ret->n] = name;
        ret->fds[ret->n++] = fd;
    }
    return HAC_OK;
}

/* ---- what is needed of the files ---- */

/* The columns that the query reads, as items of a select; a constant if it reads none. Columns that
 * `exclude` names must be there, too. */
static hac_status find_select(hac_client *client, const hac_query_options *options, int fd, char **ret,
                              hac_error *err)
{
    hac_autofree hac_compiled_query *compiled = NULL;
    hac_cleanup(hac_query_free_cleanup) hac_query *query = NULL;
    hac_table table = {0};
    hac_text text = HAC_TEXT_NONE;
    hac_status status = hac_query_compile_file(client, fd, options, &compiled, err);
    if (status == HAC_OK)
        status = hac_query_blob_read(compiled->bytes, compiled->message.query.len, &query, &table, err);
    if (status != HAC_OK)
        return status;
    free(table.columns);
    if (hac_query_excludes_columns(options))
        hac_text_add(&text, "*");
    for (size_t i = 0; i < query->columns.n_fields && text.bytes != 1; i++) {
        hac_text_add(&text, i > 0 ? ", " : "");
        hac_text_add_name(&text, query->columns.fields[i].name);
    }
    if (text.bytes == 0)
        hac_text_add(&text, "1 as rows");
    return hac_text_finish(&text, ret, NULL, err);
}

/* The query of a batch: columns of the rows that count. Names of items are not known in its `where`. */
static hac_query_options part_options(const hac_query_options *options, const char *select)
{
    bool with = options->with_select != NULL && options->with_select[0] != '\0';
    hac_query_options part = *options;
    part.where = with ? options->with_where : options->where;
    part.with_select = part.with_where = part.group_by = part.having = part.order_by = part.limit_by = NULL;
    part.select = select;
    part.select_only = part.distinct = part.sort_rows = part.summary = 0;
    part.limit = part.limit_each = UINT64_MAX;
    part.offset = 0;
    part.result_format = HAC_RESULT_PARQUET;
    part.parquet = (hac_parquet_output){.compression = HAC_COMPRESSION_NONE}; /* it is read only once */
    part.job.detach = 0;
    part.job.progress = NULL;
    part.job.done = NULL;
    return part;
}

/* The query of the parts, whose columns have the types that the query asks for. */
static hac_query_options whole_options(const hac_query_options *options)
{
    hac_query_options whole = *options;
    whole.schema = NULL;
    whole.path_columns = NULL;
    return whole;
}

/* ---- parts ---- */

static hac_status run_part(hac_client *client, const open_files *files, hac_query_options *options,
                           hac_job **ret, hac_error *err)
{
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_status status = hac_query_files(client, files->fds, files->names, files->n, options, &job, err);
    if (status == HAC_INVALID &&
        options->where != NULL) { /* it may name an item, so that all rows are needed */
        options->where = NULL;
        status = hac_query_files(client, files->fds, files->names, files->n, options, &job, err);
    }
    if (status == HAC_OK)
        status = hac_job_wait(job, -1, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(job);
    return status;
}

/* Reads a batch of files into a part. */
static hac_status add_part(hac_client *client, const hac_files *list, size_t first, size_t n,
                           hac_query_options *options, open_files *parts, hac_error *err)
{
    hac_cleanup(close_files) open_files files = {.n = 0};
    hac_cleanup(hac_job_free_cleanup) hac_job *job = NULL;
    hac_autoclose int fd = memfd_create("hac part", MFD_CLOEXEC);
    if (fd < 0)
        return hac_fail_errno(err, HAC_IO, errno, "no memory for a part of the files");
    hac_status status = open_some(list, first, n, &files, err);
    if (status == HAC_OK)
        status = run_part(client, &files, options, &job, err);
    if (status != HAC_OK)
        return status;
    int errnum = hac_write_all(fd, hac_job_data(job), hac_job_bytes(job), NULL);
    if (errnum != 0)
        return hac_fail_errno(err, HAC_IO, errnum, "cannot keep a part of the files in memory");
    parts->names[parts->n] = list->names[first];
    parts->fds[parts->n++] = hac_steal_fd(&fd);
    return HAC_OK;
}

static hac_status run_parts(hac_client *client, const hac_files *list, const hac_query_options *options,
                            hac_job **ret_job, hac_error *err)
{
    hac_cleanup(close_files) open_files parts = {.n = 0};
    hac_autofree char *select = NULL;
    hac_cleanup(close_files) open_files first = {.n = 0};
    hac_status status = open_some(list, 0, 1, &first, err);
    if (status == HAC_OK)
        status = find_select(client, options, first.fds[0], &select, err);
    hac_query_options part = part_options(options, select), whole = whole_options(options);
    for (size_t i = 0; i < list->n && status == HAC_OK; i += HAC_QUERY_FILES_MAX) {
        size_t n = list->n - i < HAC_QUERY_FILES_MAX ? list->n - i : HAC_QUERY_FILES_MAX;
        status = add_part(client, list, i, n, &part, &parts, err);
    }
    if (status != HAC_OK)
        return status;
    return hac_query_files(client, parts.fds, parts.names, parts.n, &whole, ret_job, err);
}

hac_status hac_query_file_list(hac_client *client, const hac_files *files, const hac_query_options *options,
                               hac_job **ret_job, hac_error *err)
{
    hac_cleanup(close_files) open_files all = {.n = 0};
    hac_query_options known;
    hac_status status = hac_query_options_read(options, &known, err);
    size_t n = files->n;
    if (status == HAC_OK && known.summary == HAC_SUMMARY_COLUMNS && n > HAC_QUERY_FILES_MAX)
        n = HAC_QUERY_FILES_MAX;
    bool many = n > HAC_QUERY_FILES_MAX;
    if (status == HAC_OK && many && known.input_format != HAC_INPUT_PARQUET)
        return hac_fail(err, HAC_INVALID,
                        "%zu files of text are given, up to %d can be; hac_query_splits reads more", n,
                        HAC_QUERY_FILES_MAX);
    if (status == HAC_OK && n > (size_t)PARTS_MAX * HAC_QUERY_FILES_MAX)
        return hac_fail(err, HAC_INVALID, "%zu files are too many for one query, which reads up to %d", n,
                        PARTS_MAX * HAC_QUERY_FILES_MAX);
    if (status == HAC_OK && many)
        return run_parts(client, files, &known, ret_job, err);
    if (status == HAC_OK)
        status = open_some(files, 0, n, &all, err);
    return status == HAC_OK ? hac_query_files(client, all.fds, all.names, all.n, &known, ret_job, err)
                            : status;
}
