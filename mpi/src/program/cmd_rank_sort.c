/* SPDX-License-Identifier: Apache-2.0 */
/* hac-mpi sort: the parts of a file, sorted into the parts of another file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/type.h"
#include "cli/output.h"
#include "commands.h"
#include "opsplit/run.h"
#include "rank_sort.h"
#include "request/sort_request.h"

/* ---- OUT ---- */

/* The part of OUT that this rank writes. */
typedef struct part_writer {
    const char *path;
    int fd;
    size_t width;
    uint64_t at; /* bytes */
} part_writer;

static hac_status begin_part(void *context, uint64_t first, uint64_t items, size_t width, hac_error *err)
{
    part_writer *w = context;
    (void)items;
    w->width = width;
    w->at = first * width;
    w->fd = open(w->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    return w->fd >= 0 ? HAC_OK
                      : hac_fail_errno(err, HAC_FAILED, errno,
                                       "%s: OUT has to be in a folder that all ranks share", w->path);
}

static hac_status write_items(void *context, const void *items, uint64_t n, hac_error *err)
{
    part_writer *w = context;
    int errnum = hac_pwrite_all(w->fd, items, n * w->width, w->at);
    if (errnum != 0)
        return hac_fail_errno(err, HAC_FAILED, errnum, "%s", w->path);
    w->at += n * w->width;
    return HAC_OK;
}

/* All ranks write the temporary file of rank 0. */
static hac_status open_output(hac_mpi *mpi, const hac_args *args, hac_output_file **ret, char path[PATH_MAX],
                              hac_error *err)
{
    hac_autofree char *temporary = NULL;
    hac_autofree uint64_t *offsets = calloc(hac_mpi_size(mpi) + 1, sizeof *offsets);
    hac_status status = offsets == NULL ? hac_fail_no_memory(err) : HAC_OK;
    if (hac_mpi_rank(mpi) == 0 && status == HAC_OK) {
        status = hac_output_open(args->values[HAC_OPT_OUTPUT], ret, err);
        if (status == HAC_OK)
            status = hac_output_temporary(*ret, &temporary, err);
        if (status == HAC_OK)
            snprintf(path, PATH_MAX, "%s", temporary);
    }
    status = hac_mpi_agree(mpi, status, err);
    for (unsigned r = 0; status == HAC_OK && r < hac_mpi_size(mpi); r++)
        offsets[r + 1] = PATH_MAX; /* rank 0 writes the whole result */
    return status == HAC_OK ? hac_mpi_share(mpi, path, offsets, err) : status;
}

/* ---- the command ---- */

static hac_status check_usage(const hac_args *args, hac_error *err)
{
    const hac_option_set refused =
        HAC_OPTION_SET(HAC_OPT_DETACH, HAC_OPT_TRACE, HAC_OPT_RECEIPT, HAC_OPT_INPUT_FORMAT, HAC_OPT_KEY);
    hac_status status =
        hac_args_refuse(args, "sort", refused, "not possible: ranks sort arrays and wait for them", err);
    if (status != HAC_OK)
        return status;
    if (!hac_args_has(args, HAC_OPT_OUTPUT) || strcmp(args->values[HAC_OPT_OUTPUT], "-") == 0)
        return hac_fail(err, HAC_INVALID, "sort: ranks write their parts of one file; say which with -o OUT");
    return HAC_OK;
}

/* This rank's part of IN, which stays open. */
static hac_status open_part(const hac_mpi *mpi, hac_cli *cli, const hac_args *args,
                            const hac_sort_options *options, hac_mpi_keys *ret, hac_error *err)
{
    hac_sort_source input = {.fd = -1};
    unsigned __int128 rank = hac_mpi_rank(mpi), ranks = hac_mpi_size(mpi);
    hac_status status = hac_sort_source_open(args->words[0], options, &input, err);
    ret->fd = input.fd;
    if (status == HAC_OK && !input.sized)
        status = hac_fail(err, HAC_INVALID,
                          "sort: %s is not a regular file, so ranks cannot read parts of it", input.name);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status != HAC_OK)
        return status;
    uint64_t first = (uint64_t)(input.items * rank / ranks);
    ret->name = input.name;
    ret->items = (uint64_t)(input.items * (rank + 1) / ranks) - first;
    ret->offset = input.offset + first * hac_type_size(options->type);
    return HAC_OK;
}

hac_status hac_mpi_cmd_sort(hac_cli *cli, const hac_args *args, hac_error *err)
{
    hac_cleanup(hac_sort_request_clear) hac_sort_request request = {.job = {.names = NULL}};
    hac_cleanup(hac_output_free_cleanup) hac_output_file *output = NULL;
    hac_mpi *mpi = cli->ranks->context;
    hac_mpi_keys keys = {.fd = -1};
    char path[PATH_MAX] = "";
    part_writer writer = {.path = path, .fd = -1};
    const hac_mpi_sink sink = {begin_part, write_items, &writer};
    hac_status status = check_usage(args, err);
    if (status == HAC_OK)
        status = hac_sort_request_parse(&request, "sort", args, err);
    if (status == HAC_OK)
        status = open_part(mpi, cli, args, &request.options, &keys, err);
    status = hac_mpi_agree(mpi, status, err);
    if (status == HAC_OK)
        status = open_output(mpi, args, &output, path, err);
    if (status == HAC_OK)
        status = hac_mpi_sort_keys(mpi, cli->client, &keys, &request.options, &sink, HAC_OK, err);
    if (status == HAC_OK && output != NULL)
        status = hac_output_commit(output, err);
    hac_close(writer.fd);
    hac_close(keys.fd);
    return status;
}
