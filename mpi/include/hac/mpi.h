/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libhac-mpi: the ranks of an MPI program sort and query together. Each rank does its part with the daemon of
 * its machine. docs/examples/ranks.c is a complete program.
 *
 *     MPI_Init(&argc, &argv);
 *     hac_client *client = NULL; // this rank's
 *     if (hac_client_connect(NULL, &client, &err) != HAC_OK)
 *         ...;
 *     hac_sort_options options = HAC_SORT_OPTIONS_INIT;
 *     options.type = HAC_TYPE_F64;
 *     hac_mpi_sorted sorted; // this rank's part of the result
 *     if (hac_mpi_sort(MPI_COMM_WORLD, client, keys, n, &options, &sorted, &err) != HAC_OK)
 *         die(err.message);
 *     ... sorted.items[0 … sorted.n), which begin at item sorted.first of the result ...
 *     hac_mpi_sorted_clear(&sorted);
 *
 * Build with mpicc and `pkg-config --cflags --libs hac-mpi`, or link CMake's hac::mpi. The rules at the top
 * of <hac/hac.h> hold here too, and:
 *
 * - Calls are collective: all ranks of the communicator make the same calls in the same order, with equal
 *   options. A rank that could not connect passes NULL as its client, so that the others do not wait for it.
 * - A call succeeds on all ranks or fails on all ranks, with one status and one message, which names the rank
 *   unless all ranks failed.
 * - The communicator is duplicated, so messages of the program do not mix with those of the call. Errors of
 *   MPI itself go to the communicator's error handler; MPI's default ends the program.
 * - A rank that waits for others sleeps, up to 1 ms at a time, to leave its core to the devices.
 * - The functions `progress` and `done` of the options are called for every job that a rank makes. A call
 *   waits for its jobs, so they cannot be detached.
 */
#ifndef HAC_MPI_H
#define HAC_MPI_H

#include <hac/hac.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A rank's part of a sorted array. The parts of all ranks, in the order of ranks, are the whole array. They
 * have about the same number of items. */
typedef struct hac_mpi_sorted {
    void *items;    /* keys; with `argsort` numbers of items in the input: u32, u64 from 2^32 items on */
    uint64_t n;     /* items of this part */
    uint64_t first; /* items of the parts of lower ranks */
} hac_mpi_sorted;

/*
 * Sorts an array whose parts the ranks have in their memory: `items` keys each, which may be 0. The input's
 * order, in which ties stay, is that of the parts in the order of ranks. The result has the same items, bit
 * for bit, for any number of ranks. Clear *ret after success.
 */
HAC_API HAC_MUST_USE hac_status hac_mpi_sort(MPI_Comm comm, hac_client *client, const void *keys,
                                             uint64_t items, const hac_sort_options *options,
                                             hac_mpi_sorted *ret, hac_error *err);
HAC_API void hac_mpi_sorted_clear(hac_mpi_sorted *sorted);

/*
 * Queries regular files as hac_query_files does. Every rank has opened the same files, with the same bytes,
 * and its daemon reads a part: row groups of Parquet files, records of fixed width, ranges of text (csv, tsv,
 * JSON lines, lines, words, keys with values), or whole files of other formats. Compressed files cannot be
 * divided. Rank 0 gets the result: a job that is done. On all other ranks *ret_job is NULL. The result does
 * not depend on the number of ranks; without `order_by` the order of its rows is unspecified.
 *
 * For count, sum, min and max each rank sends its groups to rank 0. For other aggregates, and for sums of
 * floats, each rank sends the rows for which `where` is true.
 *
 * Rank 0 finds delimiters, forms and types in all files, and the others read their parts with them.
 *
 * HAC_INVALID: also a rank that passes another query or number of files. HAC_FAILED: also a file that has
 * another size on some rank. HAC_UNSUPPORTED: path_columns, summary.
 */
HAC_API HAC_MUST_USE hac_status hac_mpi_query(MPI_Comm comm, hac_client *client, const int *fds,
                                              const char *const *names, size_t n_files,
                                              const hac_query_options *options, hac_job **ret_job,
                                              hac_error *err);

#ifdef __cplusplus
}
#endif
#endif
