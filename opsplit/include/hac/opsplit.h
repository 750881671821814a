/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libhac-opsplit: logic files of flow D (docs/flows/opsplit.md) run by a program, with vectors of its own as
 * inputs, and vectors of the file as results. docs/examples/jacobi.c is a complete program.
 *
 *     # solve.yaml
 *     inputs:
 *       a: {template: SparseMatrix, type: f64, columns: a} # as many columns as rows
 *       x: {template: FixValueVector, type: f64, rows: a}
 *     operators:
 *       - spmv: {matrix: a, in: x, out: y}
 *     outputs:
 *       y: {columns: [y]}
 *
 *     hac_vector *a, *x, *y = NULL; // a and x: hac_vector_new, _emit, _finish
 *     const hac_opsplit_input inputs[] = {{.name = "a", .vector = a}, {.name = "x", .vector = x}};
 *     const hac_opsplit_result results[] = {{"y", &y}};
 *     hac_opsplit_options options = HAC_OPSPLIT_OPTIONS_INIT;
 *     options.inputs = inputs;
 *     options.n_inputs = 2;
 *     options.results = results;
 *     options.n_results = 1;
 *     if (hac_opsplit_run(client, "solve.yaml", &options, &err) != HAC_OK)
 *         die(err.message);
 *     ... hac_vector_iter(y, ...); hac_vector_free(y);
 *
 * Build with `pkg-config --cflags --libs hac-opsplit`, or link CMake's hac::opsplit. The rules at the top of
 * <hac/hac.h> hold here, too.
 */
#ifndef HAC_OPSPLIT_H
#define HAC_OPSPLIT_H

#include <hac/vector.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An input of the logic file: a file, or a vector where it says `template`. */
typedef struct hac_opsplit_input {
    const char *name;
    const char *path;         /* a file; with `directory: true` a folder; or … */
    const hac_vector *vector; /* … laid out, of that template and type. Read once, at the beginning, and
                               * checked: whatever wrote its memory is not trusted */
} hac_opsplit_input;

/* A vector of the logic file that is wanted, as it is at the end: one of its results, or an input. */
typedef struct hac_opsplit_result {
    const char *name;
    hac_vector **ret_vector; /* the caller's; written when the whole run has succeeded */
} hac_opsplit_result;

typedef struct hac_opsplit_options {
    size_t size;                     /* sizeof(hac_opsplit_options): set by the INIT macro */
    const hac_opsplit_input *inputs; /* all that the file has */
    size_t n_inputs;
    const hac_opsplit_result *results;
    size_t n_results;
    const char *output;   /* the folder where the file's outputs are written; NULL: they are not */
    hac_op_policy policy; /* where sub-operators run */
    uint64_t threshold;   /* of HAC_OP_POLICY_RULE, in bytes; 0: 3 GiB */
    int kernels;          /* OpenCL kernels also where codelets in C could run */
    unsigned components;  /* of vectors that do not say `split`; 0: as the devices take them; at most 1024 */
    hac_job_options job;  /* devices, determinism, priority …; no callbacks */
    int stop_fd;          /* becomes readable: the run is given up, HAC_CANCELLED; -1: none */
    /* The process log, a line at a time: round, sub-operators, rows, seconds. NULL allowed. */
    void (*log)(void *context, const char *line);
    /* What is wrong with the logic file, "FILE:LINE:COLUMN: …": all of it, of which *err has the first. NULL
     * allowed. */
    void (*problem)(void *context, const char *message);
    void *context;
} hac_opsplit_options;

#define HAC_OPSPLIT_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(hac_opsplit_options), NULL, 0, NULL, 0, NULL, HAC_OP_POLICY_MEASURED, 0, 0, 0,                \
            {NULL, 0, 0, 0, 0.0, 0, 0, NULL, NULL, NULL}, -1, NULL, NULL, NULL                               \
    }

/*
 * Reads the logic file, checks it, runs it to its end. Operators of the user's own are those of `hacctl
 * opsplit op` and `subop`. HAC_INVALID: the file is wrong (FILE:LINE:COLUMN), or an input is missing, is none
 * of the file's, or has another template, type or shape; or there is no such result. HAC_FAILED: a
 * sub-operator failed (which, and where in the file), or a vector that was handed over is none (its offsets
 * or indices). HAC_NOT_FOUND: there is no such file.
 */
HAC_API HAC_MUST_USE hac_status hac_opsplit_run(hac_client *client, const char *path,
                                                const hac_opsplit_options *options, hac_error *err);

#ifdef __cplusplus
}
#endif
#endif
