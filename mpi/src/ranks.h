/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks over MPI: how the processes that run a logic file, sort or query together exchange data.
 *
 * A waiting rank sleeps. Collectives are the non-blocking ones, tested again after a pause that grows up to 1
 * ms, so that the rank leaves its core to the devices. A signal ends the wait (HAC_CANCELLED).
 *
 * All ranks make *collective* calls, in the same order. A rank that cannot go on says so in hac_mpi_agree, or
 * leaves through hac_mpi_end, which also ends the others.
 */
#ifndef MPI_RANKS_H
#define MPI_RANKS_H

#include <stdint.h>

#include "base/error.h"
#include "opsplit/run.h"

typedef struct hac_mpi hac_mpi;

/* hac_ranks.query: how ranks read a file together. */
typedef hac_status hac_mpi_query(void *mpi, hac_client *client, int fd, const char *path, uint64_t bytes,
                                 const hac_query_options *options, hac_take_answer *take, void *taker,
                                 hac_error *err);

/* Calls MPI_Init. hac_mpi_end has to be called afterwards in any case. A failure of MPI ends all ranks
 * with MPI's message, here and in all functions below. */
hac_mpi *hac_mpi_begin(int *argc, char ***argv, hac_mpi_query *query);

/* The ranks for the libraries; valid until hac_mpi_end. */
const hac_ranks *hac_mpi_ranks(const hac_mpi *mpi);

/* Ends MPI, and returns the exit code. Collective, as the last call. It waits for the other ranks and
 * prints the message of the worst rank on standard error, once. If the other ranks do not expect the
 * failure of this rank and wait elsewhere, this rank prints its message itself after a second, and ends
 * all of them. */
HAC_MUST_USE int hac_mpi_end(hac_mpi *mpi, hac_status status, hac_error *err);

/* ---- collective exchanges ---- */

/* As in hac_ranks. Offsets have ranks + 1 elements. */
HAC_MUST_USE hac_status hac_mpi_share(void *mpi, void *memory, const uint64_t *offsets, hac_error *err);
HAC_MUST_USE hac_status hac_mpi_agree(void *mpi, hac_status status, hac_error *err);
HAC_MUST_USE hac_status hac_mpi_exchange(void *mpi, const void *send, const uint64_t *to, void *receive,
                                         const uint64_t *from, hac_error *err);

/* Shares one number of each rank: all ranks get values[r] of rank r. */
HAC_MUST_USE hac_status hac_mpi_share_numbers(hac_mpi *mpi, uint64_t *values, hac_error *err);

/* ---- the process log ---- */

/* Opens the file for the lines of all ranks on rank 0, as they come: "rank 2: …". "-": standard error;
 * NULL: no log. Not collective. */
HAC_MUST_USE hac_status hac_mpi_log_open(hac_mpi *mpi, const char *path, hac_error *err);
/* Sends a line of this rank to rank 0, without waiting. */
void hac_mpi_log(void *mpi, const char *line);

#endif
