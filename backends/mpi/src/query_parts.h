/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a query's input that a rank reads: consecutive rows of the whole, in the ranks' order. Parquet
 * files are dealt by row groups, records of fixed width by their number. Text whose records end with lines is
 * dealt by bytes and cut at records, which of csv takes the quotes of all that lies before; other formats are
 * dealt by files.
 */
#ifndef MPI_QUERY_PARTS_H
#define MPI_QUERY_PARTS_H

#include "query_request.h"
#include "ranks.h"

/* A run of whole files, or a range of one. */
typedef struct hac_mpi_piece {
    size_t file, files; /* files > 1: from `file` on, all whole */
    bool whole;
    uint64_t first, count; /* row groups, or bytes */
    uint64_t header;       /* bytes of the file's first line, which stand in front of a range that lacks it */
} hac_mpi_piece;

enum { HAC_MPI_PIECES = 3 }; /* the end of a file, whole files, the beginning of another one */

typedef struct hac_mpi_part {
    hac_mpi_piece pieces[HAC_MPI_PIECES];
    size_t n;
} hac_mpi_part;

/* Collective: hac_ranks.query of opsplit. */
HAC_MUST_USE hac_status hac_mpi_query_part(void *mpi, hac_client *client, int fd, const char *path,
                                           uint64_t bytes, const hac_query_options *options,
                                           hac_take_answer *take, void *taker, hac_error *err);

/* Collective. HAC_INVALID: an input that cannot be dealt. */
HAC_MUST_USE hac_status hac_mpi_deal(hac_mpi *mpi, hac_client *client, const hac_query_request *request,
                                     hac_mpi_part *ret, hac_error *err);

/* A piece that has all columns and hardly a row: the first line of a file of lines, else the first file. */
HAC_MUST_USE hac_status hac_mpi_head(const hac_query_request *request, hac_mpi_piece *ret, hac_error *err);

/* Runs the query of `options` over a piece; *ret has ended. */
HAC_MUST_USE hac_status hac_mpi_query_piece(hac_client *client, const hac_query_request *request,
                                            const hac_mpi_piece *piece, const hac_query_options *options,
                                            hac_job **ret, hac_error *err);

#endif
