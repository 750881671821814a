/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "query_parts.h"

#define SLACK         5000UL /* ns that the kernel may add to a pause */
#define GRACE_SECONDS 1.0    /* for the others to reach the end, too */
#define LINE_MAX      512
#define LINES_WAITING 64 /* lines that rank 0 has not taken yet */
#define TAG_LINE      1

struct hac_mpi_program {
    hac_mpi *mpi;
    hac_ranks ranks;
    MPI_Comm end, log; /* for waits at the end, separate from what other ranks still exchange */
    FILE *file;        /* rank 0: of the process log */
    bool logs;
    uint64_t lines; /* lines of this rank; rank 0: lines taken from the others */
    char text[LINES_WAITING][LINE_MAX];
    MPI_Request sent[LINES_WAITING];
};

static void take_lines(void *context);

/* ---- begin ---- */

static bool stopped(void *context)
{
    (void)context;
    return hac_interrupt_count() > 0;
}

hac_mpi_program *hac_mpi_begin(int *argc, char ***argv)
{
    hac_error err = HAC_ERROR_NONE;
    MPI_Init(argc, argv);
    hac_mpi_program *program = calloc(1, sizeof *program);
    const hac_mpi_waiting waiting = {.stopped = stopped, .pause = take_lines, .context = program};
    hac_status status = program == NULL ? hac_fail_no_memory(&err) : HAC_OK;
    if (status == HAC_OK)
        status = hac_mpi_open(MPI_COMM_WORLD, &waiting, &program->mpi, &err);
    if (status != HAC_OK) {
        hac_cli_report(&err);
        MPI_Abort(MPI_COMM_WORLD, hac_status_exit_code(status));
        exit(hac_status_exit_code(status)); /* never reached */
    }
    (void)prctl(PR_SET_TIMERSLACK, SLACK, 0, 0, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &program->end);
    MPI_Comm_dup(MPI_COMM_WORLD, &program->log);
    program->ranks = (hac_ranks){.rank = hac_mpi_rank(program->mpi),
                                 .ranks = hac_mpi_size(program->mpi),
                                 .context = program->mpi,
                                 .share = hac_mpi_share,
                                 .exchange = hac_mpi_exchange,
                                 .query = hac_mpi_query_part,
                                 .agree = hac_mpi_agree};
    for (size_t i = 0; i < LINES_WAITING; i++)
        program->sent[i] = MPI_REQUEST_NULL;
    return program;
}

const hac_ranks *hac_mpi_ranks(const hac_mpi_program *program)
{
    return &program->ranks;
}

/* ---- the process log ---- */

hac_status hac_mpi_log_open(hac_mpi_program *program, const char *path, hac_error *err)
{
    program->logs = path != NULL;
    if (path == NULL || program->ranks.rank != 0)
        return HAC_OK;
    program->file = strcmp(path, "-") == 0 ? stderr : fopen(path, "we");
    if (program->file == NULL)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s cannot be written", path);
    setvbuf(program->file, NULL, _IOLBF, 0);
    return HAC_OK;
}

static void take_line(hac_mpi_program *program, const MPI_Status *status)
{
    char line[LINE_MAX];
    MPI_Recv(line, sizeof line, MPI_CHAR, status->MPI_SOURCE, TAG_LINE, program->log, MPI_STATUS_IGNORE);
    line[sizeof line - 1] = '\0';
    fprintf(program->file, "rank %d: %s\n", status->MPI_SOURCE, line);
    program->lines++;
}

/* Takes the lines that have arrived, if there is a file. */
static void take_lines(void *context)
{
    hac_mpi_program *program = context;
    MPI_Status status;
    int there = program->file != NULL;
    while (there) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_LINE, program->log, &there, &status);
        if (there)
            take_line(program, &status);
    }
}

void hac_mpi_log(void *mpi, const char *line)
{
    hac_mpi_program *program = hac_mpi_context(mpi);
    if (!program->logs)
        return;
    if (program->ranks.rank == 0) {
        fprintf(program->file, "rank 0: %s\n", line);
        take_lines(program);
        return;
    }
    size_t slot = program->lines++ % LINES_WAITING;
    hac_error none = HAC_ERROR_NONE;
    if (hac_mpi_wait(program->mpi, &program->sent[slot], 1, -1, &none) != HAC_OK)
        return;
    snprintf(program->text[slot], LINE_MAX, "%s", line);
    MPI_Isend(program->text[slot], (int)strlen(program->text[slot]) + 1, MPI_CHAR, 0, TAG_LINE, program->log,
              &program->sent[slot]);
}

/* ---- end ---- */

/* Waits until all lines are at rank 0, before any rank leaves. */
static hac_status end_log(hac_mpi_program *program, double seconds)
{
    uint64_t own = program->ranks.rank > 0 ? program->lines : 0, all = 0;
    MPI_Request request;
    MPI_Iallreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, program->end, &request);
    hac_status status = hac_mpi_wait(program->mpi, &request, 1, seconds, NULL);
    while (status == HAC_OK && program->file != NULL && program->lines < all) {
        take_lines(program);
        hac_mpi_pause(0);
    }
    if (program->file != NULL && program->file != stderr)
        (void)fclose(program->file);
    program->file = NULL;
    return status == HAC_OK ? hac_mpi_wait(program->mpi, program->sent, LINES_WAITING, seconds, NULL)
                            : status;
}

/* The other ranks are elsewhere and wait for this rank. */
static void end_alone(const hac_mpi_program *program, hac_error *err)
{
    if (program->ranks.ranks > 1 && strncmp(err->message, "rank ", 5) != 0)
        (void)hac_error_prefix(err, "rank %u", program->ranks.rank);
    hac_cli_report(err);
    MPI_Abort(MPI_COMM_WORLD, hac_status_exit_code(err->code));
}

int hac_mpi_end(hac_mpi_program *program, hac_status status, hac_error *err)
{
    double seconds = status == HAC_OK ? -1 : GRACE_SECONDS;
    hac_status worst = HAC_OK;
    hac_error own = *err;
    own.code = status;
    hac_status waited = hac_mpi_judge(program->mpi, program->end, status, seconds, &worst, err);
    if (waited == HAC_OK && worst != HAC_OK && program->ranks.rank == 0)
        hac_cli_report(err);
    if (waited == HAC_OK)
        waited = end_log(program, seconds);
    if (waited != HAC_OK)
        end_alone(program, status != HAC_OK ? &own : err);
    hac_mpi_close(program->mpi);
    MPI_Comm_free(&program->end);
    MPI_Comm_free(&program->log);
    MPI_Finalize();
    free(program);
    return hac_status_exit_code(worst);
}
