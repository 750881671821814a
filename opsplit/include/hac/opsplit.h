/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libhac-opsplit: a program runs logic files (docs/flows/opsplit.md) with its own vectors as inputs, and gets
 * vectors of the file as results. docs/examples/jacobi.c is a complete program.
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
 * <hac/hac.h> hold here too.
 */
#ifndef HAC_OPSPLIT_H
#define HAC_OPSPLIT_H

#include <hac/vector.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An input of the logic file: a file, or a vector if the input has a `template`. */
typedef struct hac_opsplit_input {
    const char *name;
    const char *path; /* a file, or a folder for `directory: true`; NULL: `vector` */
    /* A finished vector of that template and type. It is read once, at the beginning, and checked: its
     * memory is not trusted. */
    const hac_vector *vector;
} hac_opsplit_input;

/* A vector of the logic file whose value at the end is wanted: a result, or an input. */
typedef struct hac_opsplit_result {
    const char *name;
    hac_vector **ret_vector; /* belongs to the caller; set only if the whole run succeeds */
} hac_opsplit_result;

/* What hac_opsplit_run reads, and what it returns. */
typedef struct hac_opsplit_options {
    size_t size;                     /* sizeof(hac_opsplit_options); HAC_OPSPLIT_OPTIONS_INIT sets it */
    const hac_opsplit_input *inputs; /* all inputs of the file */
    size_t n_inputs;
    const hac_opsplit_result *results;
    size_t n_results;
    const char *output;   /* the folder for the outputs of the file; NULL: no outputs are written */
    hac_op_policy policy; /* where sub-operators run */
    uint64_t threshold;   /* of HAC_OP_POLICY_RULE, in bytes; 0: 3 GiB */
    int kernels;          /* OpenCL kernels also where C codelets could run */
    unsigned components;  /* of vectors that do not state `split`, at most 1024; 0: the devices decide */
    hac_job_options job;  /* devices, determinism, priority …; no callbacks */
    int stop_fd;          /* if it becomes readable, the run is given up (HAC_CANCELLED); -1: none */
    /* The process log, one line at a time: round, sub-operators, rows, seconds. May be NULL. */
    void (*log)(void *context, const char *line);
    /* Called with each problem of the logic file, "FILE:LINE:COLUMN: …". *err has the first one. May be
     * NULL. */
    void (*problem)(void *context, const char *message);
    void *context;
} hac_opsplit_options;

#define HAC_OPSPLIT_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(hac_opsplit_options), NULL, 0, NULL, 0, NULL, HAC_OP_POLICY_MEASURED, 0, 0, 0,                \
            {NULL, 0, 0, 0, 0.0, 0, 0, NULL, NULL, NULL}, -1, NULL, NULL, NULL                               \
    }

/*
 * Reads, checks and runs a logic file. It may use the operators that `hacctl opsplit op` and `subop` keep for
 * this user.
 *
 * HAC_INVALID: the file is wrong (the message has FILE:LINE:COLUMN); an input is missing, is not of the file,
 * or has another template, type or shape; the file has no such result. HAC_FAILED: a sub-operator failed (the
 * message names it and its place in the file), or an input vector has wrong offsets or indices.
 * HAC_NOT_FOUND: the file does not exist.
 */
HAC_API HAC_MUST_USE hac_status hac_opsplit_run(hac_client *client, const char *path,
                                                const hac_opsplit_options *options, hac_error *err);

#ifdef __cplusplus
}
#endif
#endif
