/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a query's input that a rank reads: consecutive rows of the whole input, in the order of
 * ranks. Parquet files are divided by row groups, records of fixed width by their number. Text whose
 * records are lines is divided by bytes, at the ends of records; csv first needs the number of quotes
 * before each part. Other formats are divided by files. */
#ifndef MPI_QUERY_PARTS_H
#define MPI_QUERY_PARTS_H

#include <hac/files.h>

#include "opsplit/run_options.h"
#include "ranks.h"

/* Regular files, which are one source, and how they become rows. */
typedef struct hac_mpi_input {
    const hac_query_options *options; /* of which the input's format, schema and options are used */
    const int *fds;
    const char *const *names; /* for messages */
    const uint64_t *bytes;
    size_t n_files; /* at most HAC_QUERY_FILES_MAX */
} hac_mpi_input;

/* Consecutive whole files, or a range of one file. */
typedef struct hac_mpi_piece {
    size_t file, files; /* files > 1: from `file` on, all of them whole */
    bool whole;
    uint64_t first, count; /* row groups or bytes */
    uint64_t header;       /* bytes of the file's first line, which is put before a range that lacks it */
} hac_mpi_piece;

enum { HAC_MPI_PIECES = 3 }; /* the end of a file, whole files, the begin of another file */

typedef struct hac_mpi_part {
    hac_mpi_piece pieces[HAC_MPI_PIECES];
    size_t n;
    /* The input's options with what rank 0 has found in all files: its queries read parts with them. */
    hac_query_options options;
    void *columns; /* owned; of the options */
} hac_mpi_part;

void hac_mpi_part_clear(hac_mpi_part *part);

/* Finds this rank's part. Collective; fails on all ranks if they were called with other files, sizes or
 * queries. HAC_INVALID: also, the input cannot be divided. */
HAC_MUST_USE hac_status hac_mpi_divide(hac_mpi *mpi, hac_client *client, const hac_mpi_input *input,
                                       hac_mpi_part *ret, hac_error *err);

/* A piece with all columns and few rows: the first line of the first text file that is not
 * empty, or else the first file. */
HAC_MUST_USE hac_status hac_mpi_head(const hac_mpi_input *input, hac_mpi_piece *ret, hac_error *err);

/* Runs the query of `options` over a piece. *ret has ended. */
HAC_MUST_USE hac_status hac_mpi_query_piece(hac_client *client, const hac_mpi_input *input,
                                            const hac_mpi_piece *piece, const hac_query_options *options,
                                            hac_job **ret, hac_error *err);

/* hac_ranks.query of opsplit/run_options.h. Collective. */
HAC_MUST_USE hac_status hac_mpi_query_part(void *mpi, hac_client *client, int fd, const char *path,
                                           uint64_t bytes, const hac_query_options *options,
                                           hac_take_answer *take, void *taker, hac_error *err);

#endif
