/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries that ranks do together. The daemon of each rank queries the rank's part of the input. The answers,
 * small Parquet files in memory, go to rank 0, whose daemon combines them.
 *
 * A query that can be split (expr/partial.h) aggregates in its parts. For any other query rank 0 gets all
 * rows, as one tab-separated text that does not depend on the ranks. It also gets all rows where floats are
 * added up, because a sum of rounded sums is not the exact one.
 */
#ifndef MPI_RANK_QUERY_H
#define MPI_RANK_QUERY_H

#include "query_parts.h"

/* Runs the query. Collective; succeeds on all ranks or fails on all ranks. `status` is what this rank has met
 * before: unless it is HAC_OK, it is the result. *ret is the job on rank 0, which is done; NULL elsewhere.
 * `say` gets the remarks about the jobs of this rank; NULL drops them. */
HAC_MUST_USE hac_status hac_mpi_query_input(hac_mpi *mpi, hac_client *client, const hac_mpi_input *input,
                                            const hac_query_options *options,
                                            void (*say)(void *context, const char *remark), void *context,
                                            hac_status status, hac_job **ret, hac_error *err);

#endif
