/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl's commands as ranks do them: the same arguments, each rank its part. cli->ranks are the ranks. */
#ifndef MPI_COMMANDS_H
#define MPI_COMMANDS_H

#include "cli.h"

/* A raw array: each rank sorts its part with its daemon; parts of the result are cut at keys of a sample,
 * sent to the rank that they belong to, merged there, and written at their place in OUT. */
HAC_MUST_USE hac_status hac_mpi_sort(hac_cli *cli, const hac_args *args, hac_error *err);

/* Queries: each rank aggregates its part of the files; what it has is sent to rank 0, which puts it together
 * with its own daemon, and writes the result. */
HAC_MUST_USE hac_status hac_mpi_mapreduce(hac_cli *cli, const hac_args *args, hac_error *err);
HAC_MUST_USE hac_status hac_mpi_parquet(hac_cli *cli, const hac_args *args, hac_error *err);

#endif
