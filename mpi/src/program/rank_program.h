/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of mpirun as a program of their own: begin, end, and the process log. A signal ends every wait
 * (HAC_CANCELLED). A rank that cannot go on leaves through hac_mpi_end, which also ends the others. */
#ifndef MPI_RANK_PROGRAM_H
#define MPI_RANK_PROGRAM_H

#include "opsplit/run.h"
#include "ranks.h"

typedef struct hac_mpi_program hac_mpi_program;

/* Calls MPI_Init. hac_mpi_end has to be called afterwards in any case. A failure of MPI ends all ranks with
 * MPI's message, here and in all functions below. */
hac_mpi_program *hac_mpi_begin(int *argc, char ***argv);

/* The ranks for the libraries, whose context is a hac_mpi; valid until hac_mpi_end. */
const hac_ranks *hac_mpi_ranks(const hac_mpi_program *program);

/* Ends MPI, and returns the exit code. Collective, as the last call. It waits for the other ranks and
 * prints the message of the worst rank on standard error, once. If the other ranks do not expect the
 * failure of this rank and wait elsewhere, this rank prints its message itself after a second, and ends
 * all of them. */
HAC_MUST_USE int hac_mpi_end(hac_mpi_program *program, hac_status status, hac_error *err);

/* Opens the file for the lines of all ranks on rank 0, as they come: "rank 2: …". "-": standard error;
 * NULL: no log. Not collective. */
HAC_MUST_USE hac_status hac_mpi_log_open(hac_mpi_program *program, const char *path, hac_error *err);
/* Sends a line of this rank to rank 0, without waiting. `mpi` is the context of hac_mpi_ranks. */
void hac_mpi_log(void *mpi, const char *line);

#endif
