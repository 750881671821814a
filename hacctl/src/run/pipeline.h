/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines: YAML files with named steps. A step is the command line of a job: one key names the command and
 * its input, `output` the file for its result, and the others are the command's options.
 *
 *     name: revenue
 *     steps:
 *       groups:
 *         query: sales.csv
 *         group-by: city
 *         select: [city, sum(quantity * price) as revenue]
 *       top:
 *         query: job:groups
 *         order-by: revenue desc
 *         limit: 3
 *         output: top.csv
 *
 * job:STEP as an input, or as a source of SQL, stands for the result of that step. Messages are
 * "FILE:LINE:COLUMN: …".
 */
#ifndef HACCTL_PIPELINE_H
#define HACCTL_PIPELINE_H

#include <stdbool.h>

#include "cli/command.h"

#define HAC_PIPELINE_STEPS_MAX 64
#define HAC_STEP_ARGS_MAX      64 /* bits of a mask */

typedef struct hac_pipeline_step {
    char *name;
    const hac_command *command;
    unsigned line, column;
    char *argv[HAC_STEP_ARGS_MAX]; /* owned; [0] is the command's name */
    size_t argc;
    uint64_t may_refer; /* bit mask of the elements of argv that are inputs, where job:STEP is replaced */
    uint64_t needs;     /* bit mask of the steps whose results it reads */
    bool kept;          /* its result stays with the daemon, for other steps */
    uint64_t job;       /* once it has run; 0: not yet */
    hac_job *result;    /* of a kept step: holds the result; NULL: it has not run */
} hac_pipeline_step;

typedef struct hac_job_pipeline {
    char *name;
    hac_pipeline_step steps[HAC_PIPELINE_STEPS_MAX];
    size_t n_steps;
    size_t order[HAC_PIPELINE_STEPS_MAX]; /* the file's, but steps whose results one reads come before it */
    bool to_standard;                     /* a step writes standard output */
} hac_job_pipeline;

/* Reads and checks the file. `receipt` is where the receipt goes; NULL: nowhere. HAC_INVALID: an error in it,
 * or two outputs are the same file, or an output would overwrite the file, or the receipt an input. *ret is
 * malloc'ed. */
HAC_MUST_USE hac_status hac_pipeline_read(const hac_command *commands, const char *path, const char *receipt,
                                          hac_job_pipeline **ret, hac_error *err);
void hac_pipeline_free(hac_job_pipeline *pipeline);

/* A copy of an element of a step's argv, with the numbers of the jobs in place of the names of the steps,
 * which have run. NULL: no memory. */
char *hac_pipeline_resolve(const hac_job_pipeline *pipeline, const hac_pipeline_step *step, size_t index);

#endif
