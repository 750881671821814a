/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codelets: the named computations that tasks of a plan run. This header is the contract between the executor
 * and a codelet. Each module has a table of its codelets; executor/codelets.h finds a codelet in all tables.
 *
 * The executor calls codelets from one thread, one task at a time. A codelet keeps no state between tasks
 * except through hac_device_scratch. When it returns, its results are in host memory.
 */
#ifndef CODELET_CODELET_H
#define CODELET_CODELET_H

#include <stddef.h>

#include <hac/type.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/task_params.h"
#include "codelet/facts.h"

/*
 * One task as the executor received it. The executor has checked that the spans are 64-byte aligned, that
 * they lie inside registered buffers, and that the numbers of spans and parameters are right. The codelet's
 * `check` must judge everything else before `run` is called: nothing in a task may be trusted.
 */
typedef struct hac_task {
    hac_type type;
    bool descending;
    /* Range tasks: the items [first, first + count). An item is a chunk, a block or a group, depending on the
     * codelet. */
    uint64_t first, count;
    hac_span spans[HAC_SPANS_MAX];
    size_t n_spans;
    uint64_t params[HAC_TASK_PARAMS_MAX]; /* the codelet's struct: HAC_PARAMS(type, task) */
    size_t n_params;                      /* hac_codelet.params */
    int fd;                               /* a client's descriptor to read from; -1: none */
    /* Input that came inside the message: at most HAC_QUERY_INLINE_MAX bytes for a query, HAC_INLINE_MAX
     * bytes for other tasks. */
    const uint8_t *inline_in;
    size_t inline_in_bytes;
    const char
        *path; /* folders of the input that have keys (base/folder_keys.h), at most HAC_FOLDER_KEYS_BYTES */
    size_t path_bytes;
} hac_task;

#define HAC_CODELET_MAX_PARTS 4

/* What a task returns besides what it wrote into its spans. */
typedef struct hac_task_result {
    uint8_t *inline_out; /* a buffer of HAC_INLINE_MAX bytes, provided by the executor */
    size_t inline_out_bytes;
    /* Figures for the planner and the receipt. The header of the codelet's layout in base/ lists them. */
    uint64_t values[HAC_TASK_VALUES_MAX];
    size_t n_values;
} hac_task_result;

typedef struct hac_codelet {
    const char *name;
    unsigned min_spans, max_spans;
    unsigned params; /* HAC_PARAMS_COUNT of the codelet's struct; 0: it takes no parameters */
    /* Checks a task completely. NULL: the numbers of spans and parameters are all there is to check. */
    hac_status (*check)(const hac_device_facts *facts, const hac_task *task, hac_error *err);
    /* Runs the task. If hac_device_kernel returns HAC_NOT_FOUND (a program is missing), so does this
     * function. */
    hac_status (*run)(hac_device *device, const hac_task *task, hac_task_result *result, hac_error *err);
    /* The name of the program with this codelet's kernels for `type` on a device with these facts. NULL:
     * there is no such program. */
    const char *(*program)(const hac_device_facts *facts, hac_type type);
    /*
     * Known-answer test with the full block size of this device. The builder runs the test before the
     * codelet's first use on a device. HAC_DEVICE: the answer was wrong; the message has the difference. NULL
     * for host codelets.
     */
    hac_status (*known_answer)(hac_device *device, hac_type type, hac_error *err);
    /* Names of other codelets whose kernels this codelet launches, ended by NULL. Their programs must be
     * built, and their known-answer tests must pass, too. */
    const char *parts[HAC_CODELET_MAX_PARTS + 1];
} hac_codelet;

#endif
