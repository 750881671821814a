/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How ranks exchange data over MPI.
 *
 * A waiting rank sleeps. Collectives are the non-blocking ones, tested again after a pause that grows up to 1
 * ms, so that the rank leaves its core to the devices.
 *
 * All ranks make *collective* calls, in the same order. Only hac_mpi_open and hac_mpi_agree may fail because
 * of one rank; a rank that cannot go on says so in hac_mpi_agree. Memory for the others is allocated when
 * the ranks are opened, so that no rank leaves the others in a collective. A failure of MPI ends all ranks
 * with MPI's message, unless the communicator has another error handler.
 */
#ifndef MPI_RANKS_H
#define MPI_RANKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct hac_mpi hac_mpi;

/* What a rank does while it waits; the functions may be NULL. */
typedef struct hac_mpi_waiting {
    bool (*stopped)(void *context); /* true ends the wait with HAC_CANCELLED */
    void (*pause)(void *context);   /* called before each pause */
    void *context;
} hac_mpi_waiting;

/* Collective over `comm`, which is duplicated. `waiting` may be NULL. */
HAC_MUST_USE hac_status hac_mpi_open(MPI_Comm comm, const hac_mpi_waiting *waiting, hac_mpi **ret,
                                     hac_error *err);
/* Collective. */
void hac_mpi_close(hac_mpi *mpi);

unsigned hac_mpi_rank(const hac_mpi *mpi);
unsigned hac_mpi_size(const hac_mpi *mpi); /* the number of ranks */
void *hac_mpi_context(const hac_mpi *mpi); /* of hac_mpi_waiting */

/* ---- collective exchanges; `mpi` is a hac_mpi, as in hac_ranks of opsplit/run_options.h ---- */

/* Rank r has bytes [offsets[r], offsets[r + 1]) of `memory`. Afterwards every rank has all bytes. */
HAC_MUST_USE hac_status hac_mpi_share(void *mpi, void *memory, const uint64_t *offsets, hac_error *err);
/* The worst `status` of all ranks, on every rank. *err has its message and rank. */
HAC_MUST_USE hac_status hac_mpi_agree(void *mpi, hac_status status, hac_error *err);
/* Bytes [to[r], to[r + 1]) of `send` go to rank r, what rank r sends to [from[r], from[r + 1]) of
 * `receive`. */
HAC_MUST_USE hac_status hac_mpi_exchange(void *mpi, const void *send, const uint64_t *to, void *receive,
                                         const uint64_t *from, hac_error *err);

/* Shares one number of each rank: all ranks get values[r] of rank r. */
HAC_MUST_USE hac_status hac_mpi_share_numbers(hac_mpi *mpi, uint64_t *values, hac_error *err);

/* ---- for the end of a program, where other ranks may never come ---- */

/* Waits until all requests are done. `seconds` < 0: without limit. HAC_AGAIN: the time is up. */
HAC_MUST_USE hac_status hac_mpi_wait(hac_mpi *mpi, MPI_Request *requests, int n, double seconds,
                                     hac_error *err);
/* hac_mpi_agree over another communicator of the same ranks. HAC_OK: *ret_worst is known. */
HAC_MUST_USE hac_status hac_mpi_judge(hac_mpi *mpi, MPI_Comm comm, hac_status status, double seconds,
                                      hac_status *ret_worst, hac_error *err);
void hac_mpi_pause(uint64_t waited_ns);

#endif
