/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/interrupt.h"

#define PIECE_BYTES   (UINT64_C(1) << 30) /* MPI counts with an int */
#define PAUSE_MIN     10000UL             /* ns */
#define PAUSE_MAX     1000000UL
#define PAUSE_SHARE   16     /* a pause is this part of the wait so far */
#define SLACK         5000UL /* ns that the kernel may add to a pause */
#define AWAKE_NS      200000 /* before the first pause: the neighbour may be almost there */
#define GRACE_SECONDS 1.0    /* for the others to reach the end, too */
#define LINE_MAX      512
#define LINES_WAITING 64 /* lines that rank 0 has not taken yet */
#define TAG_LINE      1
#define TAG_DATA      2

struct hac_mpi {
    hac_ranks ranks;
    MPI_Comm work, end, log; /* for waits at the end, separate from what other ranks still exchange */
    FILE *file;              /* rank 0: of the process log */
    bool logs;
    uint64_t lines; /* lines of this rank; rank 0: lines taken from the others */
    char text[LINES_WAITING][LINE_MAX];
    MPI_Request sent[LINES_WAITING];
};

/* ---- waiting ---- */

static void pause_after(uint64_t waited_ns)
{
    uint64_t pause = waited_ns / PAUSE_SHARE;
    pause = pause > PAUSE_MIN ? pause : PAUSE_MIN;
    pause = pause < PAUSE_MAX ? pause : PAUSE_MAX;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)pause}, NULL);
}

static void take_lines(hac_mpi *mpi);

/* Waits until all requests are done. `seconds` < 0: without limit. HAC_AGAIN: the time is up. */
static hac_status wait_until(hac_mpi *mpi, MPI_Request *requests, int n, double seconds, hac_error *err)
{
    uint64_t start = hac_now_ns();
    for (;;) {
        int done = 0;
        MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
        if (done)
            return HAC_OK;
        if (seconds >= 0 && hac_seconds_since(start) > seconds)
            return HAC_AGAIN;
        if (seconds < 0 && hac_interrupt_count() > 0)
            return hac_fail(err, HAC_CANCELLED, "cancelled");
        uint64_t waited = hac_now_ns() - start;
        if (waited < AWAKE_NS) {
            sched_yield();
            continue;
        }
        take_lines(mpi);
        pause_after(waited);
    }
}

static hac_status wait_for(hac_mpi *mpi, MPI_Request *request, hac_error *err)
{
    return wait_until(mpi, request, 1, -1, err);
}

/* ---- begin ---- */

hac_mpi *hac_mpi_begin(int *argc, char ***argv, hac_mpi_query *query)
{
    int rank = 0, ranks = 0;
    MPI_Init(argc, argv);
    hac_mpi *mpi = calloc(1, sizeof *mpi);
    if (mpi == NULL) {
        hac_cli_report(&(hac_error){HAC_NO_MEMORY, "out of memory"});
        MPI_Abort(MPI_COMM_WORLD, hac_status_exit_code(HAC_NO_MEMORY));
        return NULL;
    }
    (void)prctl(PR_SET_TIMERSLACK, SLACK, 0, 0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi->work);
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi->end);
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi->log);
    mpi->ranks = (hac_ranks){.rank = (unsigned)rank,
                             .ranks = (unsigned)ranks,
                             .context = mpi,
                             .share = hac_mpi_share,
                             .exchange = hac_mpi_exchange,
                             .query = query,
                             .agree = hac_mpi_agree};
    for (size_t i = 0; i < LINES_WAITING; i++)
        mpi->sent[i] = MPI_REQUEST_NULL;
    return mpi;
}

const hac_ranks *hac_mpi_ranks(const hac_mpi *mpi)
{
    return &mpi->ranks;
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
    unsigned n = mpi->ranks.ranks;
    hac_autofree int *counts = calloc(n, sizeof *counts);
    hac_autofree int *places = calloc(n, sizeof *places);
    hac_status status = counts == NULL || places == NULL ? hac_fail_no_memory(err) : HAC_OK;
    for (uint64_t at = offsets[0]; at < offsets[n] && status == HAC_OK;) {
        uint64_t end = offsets[n] - at > PIECE_BYTES ? at + PIECE_BYTES : offsets[n];
        MPI_Request request;
        for (unsigned r = 0; r < n; r++)
            counts[r] = overlap(offsets[r], offsets[r + 1], at, end, &places[r]);
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, (char *)memory + at, counts, places, MPI_BYTE,
                        mpi->work, &request);
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

/* What ranks agree on. */
typedef struct verdict {
    /* The worst status and the lowest rank that has it; whether any rank succeeded. */
    uint64_t own[2], all[2];
    char message[HAC_ERROR_MESSAGE_SIZE];
} verdict;

static unsigned rank_of(const verdict *v)
{
    return UINT32_MAX - (uint32_t)v->all[0];
}

/* The message names the rank only if not all ranks fail. */
static void write_message(const hac_mpi *mpi, verdict *v, const hac_error *err)
{
    bool some = v->all[1] != 0 && strncmp(err->message, "rank ", 5) != 0;
    char prefix[32] = "";
    if (some)
        snprintf(prefix, sizeof prefix, "rank %u: ", mpi->ranks.rank);
    snprintf(v->message, sizeof v->message, "%s%.460s", prefix,
             err->message[0] != '\0' ? err->message : hac_status_name(err->code));
}

/* The worst status of all ranks and its message, on every rank. `seconds` < 0: without limit. HAC_OK:
 * *ret_worst is known. */
static hac_status judge(hac_mpi *mpi, MPI_Comm comm, hac_status status, double seconds, hac_status *ret_worst,
                        hac_error *err)
{
    MPI_Request request;
    static verdict v; /* MPI may still write into it after this function has returned */
    v = (verdict){{(uint64_t)status << 32 | (UINT32_MAX - mpi->ranks.rank), status == HAC_OK}, {0, 0}, ""};
    MPI_Iallreduce(v.own, v.all, 2, MPI_UINT64_T, MPI_MAX, comm, &request);
    hac_status waited = wait_until(mpi, &request, 1, seconds, err);
    *ret_worst = (hac_status)(v.all[0] >> 32);
    if (waited != HAC_OK || *ret_worst == HAC_OK)
        return waited;
    if (mpi->ranks.rank == rank_of(&v))
        write_message(mpi, &v, err);
    MPI_Ibcast(v.message, sizeof v.message, MPI_CHAR, (int)rank_of(&v), comm, &request);
    waited = wait_until(mpi, &request, 1, seconds, err);
    return waited == HAC_OK ? (hac_fail(err, *ret_worst, "%s", v.message), HAC_OK) : waited;
}

hac_status hac_mpi_agree(void *context, hac_status status, hac_error *err)
{
    hac_error own = HAC_ERROR_NONE;
    hac_status worst = HAC_OK;
    if (err == NULL)
        err = &own;
    hac_status waited = judge(context, ((hac_mpi *)context)->work, status, -1, &worst, err);
    return waited == HAC_OK ? worst : waited;
}

/* ---- exchange ---- */

/* The requests for all pieces of one direction. */
static size_t count_pieces(const uint64_t *offsets, unsigned ranks)
{
    size_t n = 0;
    for (unsigned r = 0; r < ranks; r++)
        n += (size_t)((offsets[r + 1] - offsets[r] + PIECE_BYTES - 1) / PIECE_BYTES);
    return n;
}

static int piece_bytes(uint64_t left)
{
    return (int)(left < PIECE_BYTES ? left : PIECE_BYTES);
}

hac_status hac_mpi_exchange(void *context, const void *send, const uint64_t *to, void *receive,
                            const uint64_t *from, hac_error *err)
{
    hac_mpi *mpi = context;
    unsigned n = mpi->ranks.ranks, own = mpi->ranks.rank;
    size_t pieces = count_pieces(to, n) + count_pieces(from, n), used = 0;
    hac_autofree MPI_Request *requests = calloc(pieces + 1, sizeof(MPI_Request));
    if (requests == NULL)
        return hac_fail_no_memory(err);
    for (unsigned r = 0; r < n; r++)
        for (uint64_t at = from[r]; at < from[r + 1] && r != own; at += PIECE_BYTES)
            MPI_Irecv((char *)receive + at, piece_bytes(from[r + 1] - at), MPI_BYTE, (int)r, TAG_DATA,
                      mpi->work, &requests[used++]);
    for (unsigned r = 0; r < n; r++)
        for (uint64_t at = to[r]; at < to[r + 1] && r != own; at += PIECE_BYTES)
            MPI_Isend((const char *)send + at, piece_bytes(to[r + 1] - at), MPI_BYTE, (int)r, TAG_DATA,
                      mpi->work, &requests[used++]);
    memmove((char *)receive + from[own], (const char *)send + to[own], to[own + 1] - to[own]);
    return wait_until(mpi, requests, (int)used, -1, err);
}

/* ---- the process log ---- */

hac_status hac_mpi_log_open(hac_mpi *mpi, const char *path, hac_error *err)
{
    mpi->logs = path != NULL;
    if (path == NULL || mpi->ranks.rank != 0)
        return HAC_OK;
    mpi->file = strcmp(path, "-") == 0 ? stderr : fopen(path, "we");
    if (mpi->file == NULL)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s cannot be written", path);
    setvbuf(mpi->file, NULL, _IOLBF, 0);
    return HAC_OK;
}

static void take_line(hac_mpi *mpi, const MPI_Status *status)
{
    char line[LINE_MAX];
    MPI_Recv(line, sizeof line, MPI_CHAR, status->MPI_SOURCE, TAG_LINE, mpi->log, MPI_STATUS_IGNORE);
    line[sizeof line - 1] = '\0';
    fprintf(mpi->file, "rank %d: %s\n", status->MPI_SOURCE, line);
    mpi->lines++;
}

/* Takes the lines that have arrived, if there is a file. */
static void take_lines(hac_mpi *mpi)
{
    MPI_Status status;
    int there = mpi->file != NULL;
    while (there) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_LINE, mpi->log, &there, &status);
        if (there)
            take_line(mpi, &status);
    }
}

void hac_mpi_log(void *context, const char *line)
{
    hac_mpi *mpi = context;
    if (!mpi->logs)
        return;
    if (mpi->ranks.rank == 0) {
        fprintf(mpi->file, "rank 0: %s\n", line);
        take_lines(mpi);
        return;
    }
    size_t slot = mpi->lines++ % LINES_WAITING;
    hac_error none = HAC_ERROR_NONE;
    if (wait_for(mpi, &mpi->sent[slot], &none) != HAC_OK)
        return;
    snprintf(mpi->text[slot], LINE_MAX, "%s", line);
    MPI_Isend(mpi->text[slot], (int)strlen(mpi->text[slot]) + 1, MPI_CHAR, 0, TAG_LINE, mpi->log,
              &mpi->sent[slot]);
}

/* ---- end ---- */

/* Waits until all lines are at rank 0, before any rank leaves. */
static hac_status end_log(hac_mpi *mpi, double seconds)
{
    uint64_t own = mpi->ranks.rank > 0 ? mpi->lines : 0, all = 0;
    MPI_Request request;
    MPI_Iallreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, mpi->end, &request);
    hac_status status = wait_until(mpi, &request, 1, seconds, NULL);
    while (status == HAC_OK && mpi->file != NULL && mpi->lines < all) {
        take_lines(mpi);
        pause_after(0);
    }
    if (mpi->file != NULL && mpi->file != stderr)
        (void)fclose(mpi->file);
    mpi->file = NULL;
    return status == HAC_OK ? wait_until(mpi, mpi->sent, LINES_WAITING, seconds, NULL) : status;
}

/* The other ranks are elsewhere and wait for this rank. */
static void end_alone(const hac_mpi *mpi, hac_error *err)
{
    if (mpi->ranks.ranks > 1 && strncmp(err->message, "rank ", 5) != 0)
        (void)hac_error_prefix(err, "rank %u", mpi->ranks.rank);
    hac_cli_report(err);
    MPI_Abort(MPI_COMM_WORLD, hac_status_exit_code(err->code));
}

int hac_mpi_end(hac_mpi *mpi, hac_status status, hac_error *err)
{
    double seconds = status == HAC_OK ? -1 : GRACE_SECONDS;
    hac_status worst = HAC_OK;
    hac_error own = *err;
    own.code = status;
    hac_status waited = judge(mpi, mpi->end, status, seconds, &worst, err);
    if (waited == HAC_OK && worst != HAC_OK && mpi->ranks.rank == 0)
        hac_cli_report(err);
    if (waited == HAC_OK)
        waited = end_log(mpi, seconds);
    if (waited != HAC_OK)
        end_alone(mpi, status != HAC_OK ? &own : err);
    MPI_Comm_free(&mpi->work);
    MPI_Comm_free(&mpi->end);
    MPI_Comm_free(&mpi->log);
    MPI_Finalize();
    free(mpi);
    return hac_status_exit_code(worst);
}
