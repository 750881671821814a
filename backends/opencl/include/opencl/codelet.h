/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codelets: the named computations that tasks of a plan run. This header is the contract between the
 * executor and a codelet; the table itself is hac_codelets() in opencl/codelets/table.c.
 *
 * Called by: the executor's loop, on its one thread, one task at a time. A codelet keeps no state between
 * tasks other than through hac_device_scratch. It returns when its results are in host memory.
 */
#ifndef OPENCL_CODELET_H
#define OPENCL_CODELET_H

#include <hac/type.h>

#include "opencl/device.h"

#define HAC_TASK_MAX_SPANS  16
#define HAC_TASK_MAX_PARAMS 18

/* Where the task's work may run: CODELET_OPENCL uses the device's kernels, CODELET_HOST is C. */
typedef enum hac_codelet_engine { HAC_ENGINE_OPENCL = 1, HAC_ENGINE_HOST = 2 } hac_codelet_engine;

/*
 * One task as an executor received it. Spans lie inside registered buffers and are 64-byte aligned: the
 * executor has checked that. Everything else is the codelet's `check` to judge before `run` is called:
 * nothing about it may be trusted.
 */
typedef struct hac_task {
    hac_type type;
    bool descending;
    uint64_t first, count; /* the part of a range task: chunks, blocks, groups; see each codelet */
    hac_span spans[HAC_TASK_MAX_SPANS];
    size_t n_spans;
    uint64_t params[HAC_TASK_MAX_PARAMS];
    size_t n_params;
    int fd;                   /* a foreign descriptor to read from, -1 if none */
    const uint8_t *inline_in; /* input that came in the message: at most HAC_INLINE_MAX bytes,
                               * of queries HAC_QUERY_INLINE_MAX */
    size_t inline_in_bytes;
} hac_task;

#define HAC_TASK_MAX_VALUES   96
#define HAC_CODELET_MAX_PARTS 4

/* What a task gives back besides what it wrote into its spans. */
typedef struct hac_task_result {
    uint8_t *inline_out; /* HAC_INLINE_MAX bytes of room, given by the executor */
    size_t inline_out_bytes;
    uint64_t values[HAC_TASK_MAX_VALUES]; /* small figures for the planner and the receipt, by codelet */
    size_t n_values;
} hac_task_result;

#define HAC_INLINE_MAX 32768

typedef struct hac_codelet {
    const char *name;
    hac_codelet_engine engine;
    unsigned min_spans, max_spans, min_params, max_params;
    /* Full validation of a task against this codelet; may be NULL when the counts above are all. */
    hac_status (*check)(const hac_device_facts *facts, const hac_task *task, hac_error *err);
    /* Runs the task. HAC_NOT_FOUND from hac_device_kernel is handed on unchanged. */
    hac_status (*run)(hac_device *device, const hac_task *task, hac_task_result *result, hac_error *err);
    /* Name of the program whose kernels this codelet uses for `type` on such a device; NULL: none. */
    const char *(*program)(const hac_device_facts *facts, hac_type type);
    /*
     * Known-answer test at the full block size this device would be given; run by the builder before the
     * codelet's first use on a device (and PoCL compiles a kernel at its first launch).
     * NULL for host codelets. HAC_DEVICE with a message that says what came out wrong.
     */
    hac_status (*known_answer)(hac_device *device, hac_type type, hac_error *err);
    /* Names of other codelets whose kernels it runs, NULL behind the last: their programs have to be built,
     * and their known-answer tests are its. */
    const char *parts[HAC_CODELET_MAX_PARTS + 1];
} hac_codelet;

/* The table, ended by an entry whose name is NULL. */
const hac_codelet *hac_codelets(void);

/* The codelet of that name, NULL if there is none. */
const hac_codelet *hac_codelet_find(const char *name);

#endif
