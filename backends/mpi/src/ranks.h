/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks over MPI: how those who run a logic file together, or sort or query together, exchange what they
 * have.
 *
 * Who waits sleeps: collectives are the non-blocking ones, tested again after a pause that grows up to 1 ms,
 * so that a rank leaves its core to the devices meanwhile. A signal that came ends a wait (HAC_CANCELLED).
 *
 * Calls that are *collective* are made by all ranks, in the same order. A rank that cannot go on says so in
 * hac_mpi_agree, or leaves through hac_mpi_end, which ends the others, too.
 */
#ifndef MPI_RANKS_H
#define MPI_RANKS_H

#include <stdint.h>

#include "base/error.h"
#include "opsplit/run.h"

typedef struct hac_mpi hac_mpi;

/* How ranks read a file together: hac_ranks.query. */
typedef hac_status hac_mpi_query(void *mpi, hac_client *client, int fd, const char *path, uint64_t bytes,
                                 const hac_query_options *options, hac_take_answer *take, void *taker,
                                 hac_error *err);

/* MPI_Init. Afterwards hac_mpi_end has to be called, whatever happens. What MPI cannot do ends all ranks with
 * a message of its own, here and everywhere. */
hac_mpi *hac_mpi_begin(int *argc, char ***argv, hac_mpi_query *query);

/* The ranks as libraries see them; valid until hac_mpi_end. */
const hac_ranks *hac_mpi_ranks(const hac_mpi *mpi);

/*
 * Collective at the end of everything: waits for the others, says what the worst rank has to say on standard
 * error, once, and ends MPI. A rank that fails where the others did not expect it finds them elsewhere: after
 * a second it says what is wrong itself and ends all of them. Returns the exit code.
 */
HAC_MUST_USE int hac_mpi_end(hac_mpi *mpi, hac_status status, hac_error *err);

/* ---- collective exchanges ---- */

/* As hac_ranks has them; offsets have ranks + 1 entries. */
HAC_MUST_USE hac_status hac_mpi_share(void *mpi, void *memory, const uint64_t *offsets, hac_error *err);
HAC_MUST_USE hac_status hac_mpi_agree(void *mpi, hac_status status, hac_error *err);
HAC_MUST_USE hac_status hac_mpi_exchange(void *mpi, const void *send, const uint64_t *to, void *receive,
                                         const uint64_t *from, hac_error *err);

/* One number of each rank: values[own rank] becomes known to all. */
HAC_MUST_USE hac_status hac_mpi_share_numbers(hac_mpi *mpi, uint64_t *values, hac_error *err);

/* ---- the process log ---- */

/* Where rank 0 writes the lines of all ranks, as they come: "rank 2: …"; "-" is standard error. NULL:
 * nowhere. Not collective. */
HAC_MUST_USE hac_status hac_mpi_log_open(hac_mpi *mpi, const char *path, hac_error *err);
/* A line of this rank's, on its way to rank 0; nobody waits for it. */
void hac_mpi_log(void *mpi, const char *line);

#endif
