/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes of the bitonic sort over a task's range: windows, kernel arguments, launches. bitonic.c decides
 * which passes a task needs. Positions are items of the whole array.
 */
#ifndef CODELETS_BITONIC_PASS_H
#define CODELETS_BITONIC_PASS_H

#include "base/bitonic_layout.h"
#include "codelet/codelet.h"
#include "opencl/device.h"

/* An open window from element `first` of a span on, or a copy of the elements where a window cannot begin
 * there. */
typedef struct hac_bitonic_view {
    cl_mem mem; /* NULL: closed */
    uint64_t first, count;
    uint64_t base; /* the element at which mem begins */
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
    uint32_t n, b; /* number of subsets; log2 of the block */
    uint32_t item_bytes, key_bytes, final_bytes;
    uint32_t local, fused; /* work-items of a group; steps of a merge pass */
    hac_key_order order;
    uint64_t nan;
    hac_span in, work, final;
    hac_bitonic_view in_view, work_view, final_view;
    uint64_t launches;
    bool unmapped; /* the last pass has run: WORK or INDEX holds the result */
} hac_bitonic_job;

/* The task must have been checked. */
void hac_bitonic_job_init(hac_bitonic_job *job, hac_device *device, const hac_task *task);

/* Whether [first, end) fits one window. If so, opens it, so that all passes on parts of the range find it
 * open. With `fresh` IN is opened, too, and the coming passes must write WORK's whole range. */
bool hac_bitonic_job_fits(const hac_bitonic_job *job, uint64_t first, uint64_t end);
HAC_MUST_USE hac_status hac_bitonic_job_open(hac_bitonic_job *job, uint64_t first, uint64_t end, bool fresh,
                                             hac_error *err);

/* Closes what is open, which waits for the device. Returns `status`, or the first thing that went wrong. */
HAC_MUST_USE hac_status hac_bitonic_job_finish(hac_bitonic_job *job, hac_status status, hac_error *err);

/* Makes items from keys, or keys or indices from items, in [first, end). */
HAC_MUST_USE hac_status hac_bitonic_pass_map(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                             hac_error *err);
HAC_MUST_USE hac_status hac_bitonic_pass_unmap(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                               hac_error *err);

/* Subsets 1 … b in blocks of 2^b: from IN to WORK. */
HAC_MUST_USE hac_status hac_bitonic_pass_block(hac_bitonic_job *job, uint64_t first, uint64_t end, uint32_t b,
                                               hac_error *err);

/* The last t steps of subset q in blocks of 2^b, where t is 0 or tile … b. With `last` it also unmaps. */
HAC_MUST_USE hac_status hac_bitonic_pass_tail(hac_bitonic_job *job, uint64_t first, uint64_t end, uint32_t q,
                                              uint32_t b, uint32_t t, bool last, hac_error *err);

/* Some steps of one subset. */
typedef struct hac_bitonic_steps {
    uint32_t subset;
    uint32_t from, to; /* strides 2^(from-1) … 2^to */
    bool mirror;       /* the first of these steps is the subset's first step; `from` is then the subset */
    uint32_t slice, slices;
} hac_bitonic_steps;

/* Steps with strides of at least a tile; at most job->fused steps. */
HAC_MUST_USE hac_status hac_bitonic_pass_merge(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                               const hac_bitonic_steps *steps, hac_error *err);

/* One step of any stride: from = to + 1. */
HAC_MUST_USE hac_status hac_bitonic_pass_step(hac_bitonic_job *job, uint64_t first, uint64_t end,
                                              const hac_bitonic_steps *step, hac_error *err);

#endif
