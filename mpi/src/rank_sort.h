/* SPDX-License-Identifier: Apache-2.0 */
/* A sample sort of an array whose parts the ranks have. Equal items keep their input order: where keys of
 * different ranks are compared, the item of the lower rank is less, then the earlier one. A key that half of
 * the items have is therefore divided as well. */
#ifndef MPI_RANK_SORT_H
#define MPI_RANK_SORT_H

#include <hac/hac.h>

#include "ranks.h"

/* This rank's part of the input. */
typedef struct hac_mpi_keys {
    const void *memory; /* NULL: the keys are in a file */
    int fd;
    uint64_t offset;  /* of the first key of the part */
    const char *name; /* of the file, for messages */
    uint64_t items;
} hac_mpi_keys;

/* Takes this rank's part of the result: hac_mpi_sorted of <hac/mpi.h>. */
typedef struct hac_mpi_sink {
    /* Called once: the part has `items` items of `width` bytes. */
    hac_status (*begin)(void *context, uint64_t first, uint64_t items, size_t width, hac_error *err);
    /* Called with the items in order, some at a time. */
    hac_status (*take)(void *context, const void *items, uint64_t n, hac_error *err);
    void *context;
} hac_mpi_sink;

/* Collective; succeeds on all ranks or fails on all ranks. `status` is what this rank has met before: unless
 * it is HAC_OK, it is the result, and keys and client are not used. */
HAC_MUST_USE hac_status hac_mpi_sort_keys(hac_mpi *mpi, hac_client *client, const hac_mpi_keys *keys,
                                          const hac_sort_options *options, const hac_mpi_sink *sink,
                                          hac_status status, hac_error *err);

#endif
