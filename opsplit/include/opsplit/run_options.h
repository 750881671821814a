/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of a logic file is given, and what it reports (opsplit/run.h). */
#ifndef OPSPLIT_RUN_OPTIONS_H
#define OPSPLIT_RUN_OPTIONS_H

#include <hac/hac.h>

#include "opsplit/logic.h"
#include "opsplit/placement.h"

typedef hac_status hac_take_answer(void *taker, hac_job *job, hac_error *err);

/* The ranks that run a file together, and how they exchange data. All ranks make the same calls in the
 * same order. Each call succeeds on all ranks or fails on all ranks. */
typedef struct hac_ranks {
    unsigned rank, ranks;
    void *context;
    /* Rank r has bytes [offsets[r], offsets[r + 1]) of `memory`. Afterwards every rank has all bytes. */
    hac_status (*share)(void *context, void *memory, const uint64_t *offsets, hac_error *err);
    /* Bytes [to[r], to[r + 1]) of `send` go to rank r. What rank r sends lies at from[r] of `receive`
     * afterwards. The bytes that a rank keeps may lie there already; otherwise `send` and `receive` do not
     * overlap. */
    hac_status (*exchange)(void *context, const void *send, const uint64_t *to, void *receive,
                           const uint64_t *from, hac_error *err);
    /* Runs the query over this rank's part of the first `bytes` of a regular file. Parts are consecutive
     * records, in the order of ranks. A large part is read in pieces. `take` gets the answer of each
     * piece, whose job has ended and is freed afterwards; it is not called for an empty part. `path` is
     * for messages. */
    hac_status (*query)(void *context, hac_client *client, int fd, const char *path, uint64_t bytes,
                        const hac_query_options *options, hac_take_answer *take, void *taker, hac_error *err);
    /* The worst `status` of all ranks, on every rank. *err has its message and rank. */
    hac_status (*agree)(void *context, hac_status status, hac_error *err);
} hac_ranks;

/* --input NAME=FILE, or a vector that a program passes in. */
typedef struct hac_run_input {
    const char *name, *path;       /* path NULL: it is a vector */
    const hac_op_operand *operand; /* of a vector: its layout */
    const void *data;              /* of a vector: its memory; the offsets and indices are checked */
} hac_run_input;

typedef struct hac_run_options {
    const hac_run_input *inputs;
    size_t n_inputs;
    const char *output; /* a folder, made if need be; NULL: no outputs are written */
    /* Vectors of the file that the caller wants at the end. `result` is called once for each, in this
     * order. */
    const char *const *results;
    size_t n_results;
    hac_status (*result)(void *context, size_t number, const hac_op_operand *operand, const void *data,
                         hac_error *err);
    hac_op_policy policy;
    uint64_t threshold;     /* of the rule, in bytes; 0: the default */
    int kernels;            /* OpenCL kernels also where C codelets could run */
    unsigned components;    /* of vectors that do not state a split; 0: the devices decide */
    hac_job_options job;    /* devices, determinism, priority … */
    const hac_ranks *ranks; /* NULL: this process is alone */
    /* The process log, one line at a time: round, sub-operators, rows, seconds, the values of a condition.
     * It is also the log of the job. Each rank has its own. May be NULL, on all ranks or on none. */
    void (*log)(void *context, const char *line);
    /* Called once when there is a job: before the first graph, or, if there is no graph, before outputs
     * are written. NULL: no job is made for a run without graphs. */
    void (*begun)(void *context, uint64_t job);
    void *context;
    const hac_simulated_device *machine; /* of hac_run_placement: the simulated machine; NULL: hacd's own */
    size_t n_machine;
    int stop_fd; /* if it becomes readable, the run is given up (HAC_CANCELLED); -1: none */
} hac_run_options;

#define HAC_RUN_OPTIONS_INIT                                                                                 \
    {                                                                                                        \
        .inputs = NULL, .stop_fd = -1                                                                        \
    }

/* What a run reports. */
typedef struct hac_run_report {
    uint64_t job;           /* number of the job; 0: there was none */
    uint64_t graphs, tasks; /* of sub-operators, including rounds that turned out useless */
    uint64_t rounds;        /* of all loops */
    uint64_t rows_loaded;
    double seconds, loading_seconds, writing_seconds;
    uint64_t bytes_shared; /* between ranks */
} hac_run_report;

#endif
