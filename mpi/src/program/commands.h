/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of hacctl that ranks run together. They take the same arguments, and each rank does its part.
 * cli->ranks are the ranks. */
#ifndef MPI_COMMANDS_H
#define MPI_COMMANDS_H

#include "cli/cli.h"

/* Sorts a raw array. Each rank sorts its part with its daemon. A sample of keys divides the result; each
 * part of it goes to its rank, which merges it and writes it at its place in OUT. */
HAC_MUST_USE hac_status hac_mpi_cmd_sort(hac_cli *cli, const hac_args *args, hac_error *err);

/* Runs a query. Each rank aggregates its part of the files. Rank 0 gets the results, combines them with
 * its own daemon, and writes the result. */
HAC_MUST_USE hac_status hac_mpi_cmd_mapreduce(hac_cli *cli, const hac_args *args, hac_error *err);
HAC_MUST_USE hac_status hac_mpi_cmd_parquet(hac_cli *cli, const hac_args *args, hac_error *err);

#endif
