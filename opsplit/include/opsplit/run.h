/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a logic file (flow D): inputs are loaded into vectors in pool memory, steps become jobs of
 * sub-operators, results are written as the outputs that the file names.
 *
 * Ranks: under MPI every rank runs the same file with a daemon of its own machine. Each reads its part of the
 * inputs and works on its part of the rows; what a sub-operator needs whole is exchanged first. Results do
 * not depend on their number.
 */
#ifndef OPSPLIT_RUN_H
#define OPSPLIT_RUN_H

#include <hac/hac.h>

#include "opsplit/logic.h"
#include "opsplit/placement.h"

typedef hac_status hac_take_answer(void *taker, hac_job *job, hac_error *err);

/* The ranks that run a file together, and how they exchange. All ranks make the same calls in the same order;
 * each call ends on all of them or fails on all of them. */
typedef struct hac_ranks {
    unsigned rank, ranks;
    void *context;
    /* Rank r has bytes [offsets[r], offsets[r + 1]) of `memory`; afterwards every rank has all. */
    hac_status (*share)(void *context, void *memory, const uint64_t *offsets, hac_error *err);
    /* Bytes [to[r], to[r + 1]) of `send` go to rank r, and what rank r has sent lies at from[r] of `receive`
     * afterwards. What a rank keeps may lie there already; else the two do not overlap. */
    hac_status (*exchange)(void *context, const void *send, const uint64_t *to, void *receive,
                           const uint64_t *from, hac_error *err);
    /* The query over this rank's part of the first `bytes` of a regular file: consecutive records, in the
     * ranks' order. A part that is large is asked for piece by piece: `take` gets each answer, whose job has
     * ended and is freed afterwards; none where there is no part. `path` is for messages. */
    hac_status (*query)(void *context, hac_client *client, int fd, const char *path, uint64_t bytes,
                        const hac_query_options *options, hac_take_answer *take, void *taker, hac_error *err);
    /* What the worst of all ranks' `status` is, on every rank, with its message and rank in *err. */
    hac_status (*agree)(void *context, hac_status status, hac_error *err);
} hac_ranks;

/* --input NAME=FILE, or a vector that a program hands over. */
typedef struct hac_run_input {
    const char *name, *path;       /* path NULL: a vector: … */
    const hac_op_operand *operand; /* … how it lies … */
    const void *data;              /* … from here on; its offsets and indices are in order */
} hac_run_input;

typedef struct hac_run_options {
    const hac_run_input *inputs;
    size_t n_inputs;
    const char *output; /* a folder, made if need be; NULL: nothing is written */
    /* Vectors of the file that are given back at the end, in this order, each by a call of `result`. */
    const char *const *results;
    size_t n_results;
    hac_status (*result)(void *context, size_t number, const hac_op_operand *operand, const void *data,
                         hac_error *err);
    hac_op_policy policy;
    uint64_t threshold;     /* bytes; of the rule; 0: its default */
    int kernels;            /* OpenCL kernels also where host codelets could run */
    unsigned components;    /* of what has no split of its own; 0: as the machine's devices take them */
    hac_job_options job;    /* devices, determinism, priority … */
    const hac_ranks *ranks; /* NULL: alone */
    /* The process log, a line at a time: round, sub-operators, rows, seconds, what a condition reads. It is
     * the log of the job, too. Each rank has its own. NULL allowed, of all ranks or none. */
    void (*log)(void *context, const char *line);
    /* There is a job: once, before its first graph, or where it has none before outputs are written. NULL
     * allowed: there is no job without graphs then. */
    void (*begun)(void *context, uint64_t job);
    void *context;
    const hac_simulated_device *machine; /* hac_run_placement: of this machine; NULL: of hacd's own */
    size_t n_machine;
    int stop_fd; /* becomes readable: the run is given up (HAC_CANCELLED); -1: none */
} hac_run_options;

#define HAC_RUN_OPTIONS_INIT                                                                                 \
    {                                                                                                        \
        .inputs = NULL, .stop_fd = -1                                                                        \
    }

/* What came of it. */
typedef struct hac_run_report {
    uint64_t job;           /* its number with the daemon; 0: there was none */
    uint64_t graphs, tasks; /* of sub-operators; those of rounds that were sent in vain, too */
    uint64_t rounds;        /* of all loops */
    uint64_t rows_loaded;
    double seconds, loading_seconds, writing_seconds;
    uint64_t bytes_shared; /* between ranks */
} hac_run_report;

/* HAC_INVALID: an input that is missing or has other columns; the message names it. Failures of sub-operators
 * name them, with file and line. */
HAC_MUST_USE hac_status hac_run_logic(hac_client *client, const hac_logic *logic,
                                      const hac_run_options *options, hac_run_report *ret, hac_error *err);

/*
 * Where its sub-operators would run (opsplit/placement.h). Inputs may be missing: what needs them is open.
 * What a run would fail of is said where it would; the call fails of inputs that cannot be loaded, and where
 * hacd or memory does. `options->output`, `ranks`, `log` and `stop_fd` are not used.
 */
HAC_MUST_USE hac_status hac_run_placement(hac_client *client, const hac_logic *logic,
                                          const hac_run_options *options, hac_plan_reader *read_plan,
                                          hac_placement **ret, hac_error *err);

#endif
