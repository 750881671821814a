/* SPDX-License-Identifier: Apache-2.0 */
/* <hac/mpi.h>: what a program passes in, checked on each rank before ranks wait for each other. */
#include <hac/mpi.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/type.h"
#include "rank_query.h"
#include "rank_sort.h"

HAC_DEFINE_CLEANUP(hac_mpi *, hac_mpi_close)

/* The options of a program that was built with an older header are shorter. */
static hac_status read_options(const void *options, size_t size, void *ret, size_t known, hac_error *err)
{
    if (options == NULL || size == 0 || size > known)
        return hac_fail(err, HAC_INVALID, "the options are NULL, not initialised, or of a newer <hac/hac.h>");
    memcpy(ret, options, size);
    memcpy(ret, &known, sizeof known);
    return HAC_OK;
}

static hac_status check_common(const hac_client *client, const hac_job_options *job, hac_error *err)
{
    if (client == NULL)
        return hac_fail(err, HAC_NO_DAEMON, "there is no connection to a daemon");
    if (job->detach != 0)
        return hac_fail(err, HAC_INVALID,
                        "detach is not possible: each rank has its own job and waits for it");
    return HAC_OK;
}

/* ---- sort ---- */

/* Collects the part of the result in memory. */
typedef struct collected {
    hac_mpi_sorted part;
    size_t width;
    uint64_t used; /* bytes */
} collected;

static hac_status begin_part(void *context, uint64_t first, uint64_t items, size_t width, hac_error *err)
{
    collected *c = context;
    c->part = (hac_mpi_sorted){.items = malloc(items * width + 1), .n = items, .first = first};
    c->width = width;
    return c->part.items == NULL ? hac_fail_no_memory(err) : HAC_OK;
}

static hac_status take_items(void *context, const void *items, uint64_t n, hac_error *err)
{
    collected *c = context;
    (void)err;
    memcpy((char *)c->part.items + c->used, items, n * c->width);
    c->used += n * c->width;
    return HAC_OK;
}

static hac_status check_sort(const hac_client *client, const void *keys, uint64_t items,
                             const hac_sort_options *options, hac_error *err)
{
    uint64_t bytes;
    if (hac_type_size(options->type) == 0)
        return hac_fail(err, HAC_INVALID, "the options have no type of keys");
    if (keys == NULL && items > 0)
        return hac_fail(err, HAC_INVALID, "keys is NULL");
    if (__builtin_mul_overflow(items, hac_type_size(options->type), &bytes) || bytes > SIZE_MAX / 2)
        return hac_fail(err, HAC_INVALID, "there cannot be so many items in memory");
    return check_common(client, &options->job, err);
}

hac_status hac_mpi_sort(MPI_Comm comm, hac_client *client, const void *keys, uint64_t items,
                        const hac_sort_options *options, hac_mpi_sorted *ret, hac_error *err)
{
    hac_cleanup(hac_mpi_close_cleanup) hac_mpi *mpi = NULL;
    hac_error own_error = HAC_ERROR_NONE;
    hac_sort_options own = HAC_SORT_OPTIONS_INIT;
    collected part = {.used = 0};
    const hac_mpi_keys from = {.memory = keys, .fd = -1, .items = items};
    const hac_mpi_sink sink = {begin_part, take_items, &part};
    if (err == NULL)
        err = &own_error;
    hac_status status = hac_mpi_open(comm, NULL, &mpi, err);
    if (status != HAC_OK)
        return status;
    status = read_options(options, options != NULL ? options->size : 0, &own, sizeof own, err);
    if (status == HAC_OK)
        status = check_sort(client, keys, items, &own, err);
    status = hac_mpi_sort_keys(mpi, client, &from, &own, &sink, status, err);
    if (status == HAC_OK)
        *ret = part.part;
    else
        free(part.part.items);
    return status;
}

void hac_mpi_sorted_clear(hac_mpi_sorted *sorted)
{
    if (sorted == NULL)
        return;
    free(sorted->items);
    *sorted = (hac_mpi_sorted){.items = NULL};
}

/* ---- query ---- */

typedef struct given_files {
    const char *names[HAC_QUERY_FILES_MAX];
    uint64_t bytes[HAC_QUERY_FILES_MAX];
} given_files;

static hac_status measure_files(const int *fds, const char *const *names, size_t n_files, given_files *ret,
                                hac_error *err)
{
    if (fds == NULL || n_files == 0 || n_files > HAC_QUERY_FILES_MAX)
        return hac_fail(err, HAC_INVALID, "ranks query 1 to %d files, not %zu", HAC_QUERY_FILES_MAX, n_files);
    for (size_t i = 0; i < n_files; i++) {
        struct stat st;
        ret->names[i] = names != NULL && names[i] != NULL ? names[i] : "the input";
        if (fstat(fds[i], &st) != 0)
            return hac_fail_errno(err, HAC_FAILED, errno, "%s", ret->names[i]);
        if (!S_ISREG(st.st_mode))
            return hac_fail(err, HAC_INVALID, "%s is not a regular file, so ranks cannot read parts of it",
                            ret->names[i]);
        ret->bytes[i] = (uint64_t)st.st_size;
    }
    return HAC_OK;
}

static hac_status check_query(const hac_client *client, const hac_query_options *options, hac_error *err)
{
    if (options->input_format <= HAC_INPUT_NONE || options->input_format >= HAC_INPUT_END ||
        options->input_format == HAC_INPUT_TABLE)
        return hac_fail(err, HAC_INVALID, "input_format is none of files");
    if (options->path_columns != NULL || options->summary != HAC_SUMMARY_NONE)
        return hac_fail(err, HAC_UNSUPPORTED, "ranks have no %s",
                        options->summary != HAC_SUMMARY_NONE ? "summary" : "path_columns");
    return check_common(client, &options->job, err);
}

hac_status hac_mpi_query(MPI_Comm comm, hac_client *client, const int *fds, const char *const *names,
                         size_t n_files, const hac_query_options *options, hac_job **ret_job, hac_error *err)
{
    hac_cleanup(hac_mpi_close_cleanup) hac_mpi *mpi = NULL;
    hac_error own_error = HAC_ERROR_NONE;
    hac_query_options own = HAC_QUERY_OPTIONS_INIT;
    hac_job *job = NULL;
    hac_autofree given_files *files = malloc(sizeof *files);
    if (err == NULL)
        err = &own_error;
    hac_status status = hac_mpi_open(comm, NULL, &mpi, err);
    if (status != HAC_OK)
        return status;
    status = read_options(options, options != NULL ? options->size : 0, &own, sizeof own, err);
    if (status == HAC_OK)
        status = check_query(client, &own, err);
    if (status == HAC_OK && files == NULL)
        status = hac_fail_no_memory(err);
    if (status == HAC_OK)
        status = measure_files(fds, names, n_files, files, err);
    const hac_mpi_input input = {.options = &own,
                                 .fds = fds,
                                 .names = files != NULL ? files->names : NULL,
                                 .bytes = files != NULL ? files->bytes : NULL,
                                 .n_files = n_files};
    status = hac_mpi_query_input(mpi, client, &input, &own, NULL, NULL, status, &job, err);
    if (status == HAC_OK)
        *ret_job = job;
    return status;
}
