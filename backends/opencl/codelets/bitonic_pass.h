/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes of the bitonic sort over a task's range: windows, kernel arguments, launches. Used by bitonic.c,
 * which decides which passes a task needs. Positions are items of the whole array.
 */
#ifndef CODELETS_BITONIC_PASS_H
#define CODELETS_BITONIC_PASS_H

#include "base/bitonic_layout.h"
#include "opencl/codelet.h"

/* An open window on elements `first` … of a span, or a copy of them where the window cannot begin there. */
typedef struct hac_bitonic_view {
    cl_mem mem; /* NULL: closed */
    uint64_t first, count;
    uint64_t base; /* element at which mem begins */
    uint8_t *copy, *data;
    uint64_t bytes;
    hac_access access;
} hac_bitonic_view;

/* One task on one device. Made by hac_bitonic_job_init, ended by hac_bitonic_job_finish. */
typedef struct hac_bitonic_job {
    hac_device *device;
    const hac_device_facts *facts;
    hac_type type;
    hac_bitonic_index index;
    const char *program;
    uint64_t m;    /* items of the whole sort */
    uint32_t n, b; /* subsets; log2 of the block */
    uint32_t item_bytes, key_bytes, final_bytes;
    uint32_t local, fused; /* work-items of a group; steps of a merge pass */
    hac_key_order order;
    uint64_t nan;
    hac_span in, work, final;
    hac_bitonic_view in_view, work_view, final_view;
    uint64_t launches;
    bool unmapped; /* the last pass has run: WORK or INDEX holds the result */
} hac_bitonic_job;

/* A job for a task whose spans and params were checked. */
void hac_bitonic_job_init(hac_bitonic_job *job, hac_device *device, const hac_task *task);

/* Whether [first, end) fits one window; opens it, so that all passes on parts of the range find it open. As
 * `fresh`, IN too, and the passes to come write all of WORK's range. */
bool hac_bitonic_job_fits(const hac_bitonic_job *job, uint64_t first, uint64_t end);
HAC_MUST_USE hac_status hac_bitonic_job_open(hac_bitonic_job *job, uint64_t first, uint64_t end, bool fresh,
                                             hac_error *err);

/* Closes what is open, which waits for the device; returns `status` or the first thing that went wrong. */
HAC_MUST_USE hac_status hac_bitonic_job_finish(hac_bitonic_job *job, hac_status status, hac_error *err);

/* Items from keys, and keys or indices from items, in [first, end). */
HAC_MUST_USE hac_status hac_bitonic_pass_map(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                             hac_error *err);
HAC_MUST_USE hac_status hac_bitonic_pass_unmap(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                               hac_error *err);

/* Subsets 1 … b in blocks of 2^b: from IN to WORK. */
HAC_MUST_USE hac_status hac_bitonic_pass_block(hac_bitonic_job *job, uint64_t first, uint64_t end, uint32_t b,
                                               hac_error *err);

/* The last t steps of subset q in blocks of 2^b, t = 0 or a tile … b; as `last` with the unmapping. */
HAC_MUST_USE hac_status hac_bitonic_pass_tail(hac_bitonic_job *job, uint64_t first, uint64_t end, uint32_t q,
                                              uint32_t b, uint32_t t, bool last, hac_error *err);

/* Some steps of one subset. */
typedef struct hac_bitonic_steps {
    uint32_t subset;
    uint32_t from, to; /* strides 2^(from-1) … 2^to */
    bool mirror;       /* the first of them is the subset's first step; then from = subset */
    uint32_t slice, slices;
} hac_bitonic_steps;

/* Steps of strides of a tile and more, at most job->fused of them. */
HAC_MUST_USE hac_status hac_bitonic_pass_merge(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                               const hac_bitonic_steps *steps, hac_error *err);

/* One step of any stride: from = to + 1. */
HAC_MUST_USE hac_status hac_bitonic_pass_step(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                              const hac_bitonic_steps *step, hac_error *err);

#endif
