/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define PIECE_BYTES (UINT64_C(1) << 30) /* MPI counts with an int */
#define PAUSE_MIN   10000UL             /* ns */
#define PAUSE_MAX   1000000UL
#define PAUSE_SHARE 16     /* a pause is this part of the wait so far */
#define AWAKE_NS    200000 /* before the first pause: the neighbour may be almost there */
#define TAG_DATA    2

/* What ranks agree on. */
typedef struct verdict {
    /* The worst status and the lowest rank that has it; whether any rank succeeded. */
    uint64_t own[2], all[2];
    char message[HAC_ERROR_MESSAGE_SIZE];
} verdict;

struct hac_mpi {
    unsigned rank, ranks;
    MPI_Comm work;
    hac_mpi_waiting waiting;
    verdict verdict; /* MPI may still write into it after a wait was given up */
    int *counts, *places;
    MPI_Request *requests; /* two for each rank */
};

/* ---- waiting ---- */

void hac_mpi_pause(uint64_t waited_ns)
{
    uint64_t pause = waited_ns / PAUSE_SHARE;
    pause = pause > PAUSE_MIN ? pause : PAUSE_MIN;
    pause = pause < PAUSE_MAX ? pause : PAUSE_MAX;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)pause}, NULL);
}

hac_status hac_mpi_wait(hac_mpi *mpi, MPI_Request *requests, int n, double seconds, hac_error *err)
{
    const hac_mpi_waiting *waiting = &mpi->waiting;
    uint64_t start = hac_now_ns();
    for (;;) {
        int done = 0;
        MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
        if (done)
            return HAC_OK;
        if (seconds >= 0 && hac_seconds_since(start) > seconds)
            return HAC_AGAIN;
        if (seconds < 0 && waiting->stopped != NULL && waiting->stopped(waiting->context))
            return hac_fail(err, HAC_CANCELLED, "cancelled");
        uint64_t waited = hac_now_ns() - start;
        if (waited < AWAKE_NS) {
            sched_yield();
            continue;
        }
        if (waiting->pause != NULL)
            waiting->pause(waiting->context);
        hac_mpi_pause(waited);
    }
}

static hac_status wait_for(hac_mpi *mpi, MPI_Request *request, hac_error *err)
{
    return hac_mpi_wait(mpi, request, 1, -1, err);
}

/* ---- open and close ---- */

static void mpi_free(hac_mpi *mpi)
{
    if (mpi == NULL)
        return;
    free(mpi->counts);
    free(mpi->places);
    free(mpi->requests);
    free(mpi);
}

static hac_mpi *allocate(MPI_Comm comm, const hac_mpi_waiting *waiting)
{
    int rank = 0, ranks = 0;
    hac_mpi *mpi = calloc(1, sizeof *mpi);
    if (mpi == NULL)
        return NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    mpi->rank = (unsigned)rank;
    mpi->ranks = (unsigned)ranks;
    if (waiting != NULL)
        mpi->waiting = *waiting;
    mpi->counts = calloc(mpi->ranks, sizeof *mpi->counts);
    mpi->places = calloc(mpi->ranks, sizeof *mpi->places);
    mpi->requests = calloc(2 * (size_t)mpi->ranks, sizeof(MPI_Request));
    if (mpi->counts != NULL && mpi->places != NULL && mpi->requests != NULL)
        return mpi;
    mpi_free(mpi);
    return NULL;
}

hac_status hac_mpi_open(MPI_Comm comm, const hac_mpi_waiting *waiting, hac_mpi **ret, hac_error *err)
{
    hac_mpi nobody = {.ranks = 0}; /* waits where there is no memory for more */
    hac_mpi *mpi = allocate(comm, waiting);
    int own = mpi != NULL, all = 0;
    MPI_Request request;
    MPI_Iallreduce(&own, &all, 1, MPI_INT, MPI_MIN, comm, &request);
    hac_status status = wait_for(own ? mpi : &nobody, &request, err);
    if (status == HAC_OK && !all)
        status =
            own ? hac_fail(err, HAC_NO_MEMORY, "another rank is out of memory") : hac_fail_no_memory(err);
    if (status != HAC_OK) {
        mpi_free(mpi);
        return status;
    }
    MPI_Comm_dup(comm, &mpi->work);
    *ret = mpi;
    return HAC_OK;
}

void hac_mpi_close(hac_mpi *mpi)
{
    if (mpi != NULL)
        MPI_Comm_free(&mpi->work);
    mpi_free(mpi);
}

unsigned hac_mpi_rank(const hac_mpi *mpi)
{
    return mpi->rank;
}

unsigned hac_mpi_size(const hac_mpi *mpi)
{
    return mpi->ranks;
}

void *hac_mpi_context(const hac_mpi *mpi)
{
    return mpi->waiting.context;
}

/* ---- share ---- */

/* The part of [first, end) inside the window, as MPI counts it. */
static int overlap(uint64_t first, uint64_t end, uint64_t window, uint64_t window_end, int *ret_at)
{
    uint64_t from = first > window ? first : window, to = end < window_end ? end : window_end;
    *ret_at = from < to ? (int)(from - window) : 0;
    return from < to ? (int)(to - from) : 0;
}

hac_status hac_mpi_share(void *context, void *memory, const uint64_t *offsets, hac_error *err)
{
    hac_mpi *mpi = context;
    unsigned n = mpi->ranks;
    hac_status status = HAC_OK;
    for (uint64_t at = offsets[0]; at < offsets[n] && status == HAC_OK;) {
        uint64_t end = offsets[n] - at > PIECE_BYTES ? at + PIECE_BYTES : offsets[n];
        MPI_Request request;
        for (unsigned r = 0; r < n; r++)
            mpi->counts[r] = overlap(offsets[r], offsets[r + 1], at, end, &mpi->places[r]);
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, (char *)memory + at, mpi->counts, mpi->places,
                        MPI_BYTE, mpi->work, &request);
        status = wait_for(mpi, &request, err);
        at = end;
    }
    return status;
}

hac_status hac_mpi_share_numbers(hac_mpi *mpi, uint64_t *values, hac_error *err)
{
    MPI_Request request;
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, MPI_UINT64_T, mpi->work, &request);
    return wait_for(mpi, &request, err);
}

/* ---- agree ---- */

static unsigned rank_of(const verdict *v)
{
    return UINT32_MAX - (uint32_t)v->all[0];
}

/* The message names the rank only if not all ranks fail. */
static void write_message(hac_mpi *mpi, const hac_error *err)
{
    verdict *v = &mpi->verdict;
    bool some = v->all[1] != 0 && strncmp(err->message, "rank ", 5) != 0;
    char prefix[32] = "";
    if (some)
        snprintf(prefix, sizeof prefix, "rank %u: ", mpi->rank);
    snprintf(v->message, sizeof v->message, "%s%.460s", prefix,
             err->message[0] != '\0' ? err->message : hac_status_name(err->code));
}

hac_status hac_mpi_judge(hac_mpi *mpi, MPI_Comm comm, hac_status status, double seconds,
                         hac_status *ret_worst, hac_error *err)
{
    MPI_Request request;
    verdict *v = &mpi->verdict;
    *v = (verdict){{(uint64_t)status << 32 | (UINT32_MAX - mpi->rank), status == HAC_OK}, {0, 0}, ""};
    MPI_Iallreduce(v->own, v->all, 2, MPI_UINT64_T, MPI_MAX, comm, &request);
    hac_status waited = hac_mpi_wait(mpi, &request, 1, seconds, err);
    *ret_worst = (hac_status)(v->all[0] >> 32);
    if (waited != HAC_OK || *ret_worst == HAC_OK)
        return waited;
    if (mpi->rank == rank_of(v))
        write_message(mpi, err);
    MPI_Ibcast(v->message, sizeof v->message, MPI_CHAR, (int)rank_of(v), comm, &request);
    waited = hac_mpi_wait(mpi, &request, 1, seconds, err);
    return waited == HAC_OK ? (hac_fail(err, *ret_worst, "%s", v->message), HAC_OK) : waited;
}

hac_status hac_mpi_agree(void *context, hac_status status, hac_error *err)
{
    hac_mpi *mpi = context;
    hac_error own = HAC_ERROR_NONE;
    hac_status worst = HAC_OK;
    if (err == NULL)
        err = &own;
    hac_status waited = hac_mpi_judge(mpi, mpi->work, status, -1, &worst, err);
    return waited == HAC_OK ? worst : waited;
}

/* ---- exchange ---- */

/* The piece of `offsets`' range for rank r that begins `at` bytes behind its begin. */
static int piece_bytes(const uint64_t *offsets, unsigned r, uint64_t at)
{
    uint64_t bytes = offsets[r + 1] - offsets[r];
    uint64_t left = bytes > at ? bytes - at : 0;
    return (int)(left < PIECE_BYTES ? left : PIECE_BYTES);
}

/* Piece by piece, so that the requests have a place. Two ranks send each other as many pieces as both expect;
 * a rank that has less goes on alone. */
hac_status hac_mpi_exchange(void *context, const void *send, const uint64_t *to, void *receive,
                            const uint64_t *from, hac_error *err)
{
    hac_mpi *mpi = context;
    unsigned n = mpi->ranks, own = mpi->rank;
    hac_status status = HAC_OK;
    memmove((char *)receive + from[own], (const char *)send + to[own], to[own + 1] - to[own]);
    for (uint64_t at = 0; status == HAC_OK; at += PIECE_BYTES) {
        int used = 0, bytes;
        for (unsigned r = 0; r < n; r++)
            if (r != own && (bytes = piece_bytes(from, r, at)) > 0)
                MPI_Irecv((char *)receive + from[r] + at, bytes, MPI_BYTE, (int)r, TAG_DATA, mpi->work,
                          &mpi->requests[used++]);
        for (unsigned r = 0; r < n; r++)
            if (r != own && (bytes = piece_bytes(to, r, at)) > 0)
                MPI_Isend((const char *)send + to[r] + at, bytes, MPI_BYTE, (int)r, TAG_DATA, mpi->work,
                          &mpi->requests[used++]);
        if (used == 0)
            return HAC_OK;
        status = hac_mpi_wait(mpi, mpi->requests, used, -1, err);
    }
    return status;
}
