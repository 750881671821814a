/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one task of the radix codelets (sizes, table, open windows), and the launches of its kernels.
 * For radix.c, radix_leaf.c, radix_lsd.c and radix_whole.c. */
#ifndef CODELETS_RADIX_JOB_H
#define CODELETS_RADIX_JOB_H

#include "opencl/device.h"
#include "radix_host.h"

#define HAC_RADIX_MAX_OPEN 12

/* The value of `levels` that tells the block style's kernels that the table is direct. No table has this
 * value itself. */
#define HAC_RADIX_DIRECT 34

typedef struct hac_radix_job {
    hac_device *device;
    const hac_device_facts *facts;
    hac_radix_sizes p;
    hac_radix_order order;
    hac_radix_table table;
    cl_mem cells, splitters; /* after hac_radix_open_table */
    cl_mem open[HAC_RADIX_MAX_OPEN];
    size_t n_open;
    uint32_t *next; /* 64 aligned bytes: the number of the next job of a launch */
} hac_radix_job;

/* `spans` says what the task's spans hold; `table` is the number of the span that is TABLE. Call
 * hac_radix_job_end in any case. */
HAC_MUST_USE hac_status hac_radix_job_begin(hac_radix_job *job, hac_device *device, const hac_task *task,
                                            const hac_span *table, const hac_radix_span *spans,
                                            size_t n_spans, hac_error *err);

/* Closes windows, frees memory, and returns `status`, or what went wrong here. */
HAC_MUST_USE hac_status hac_radix_job_end(hac_radix_job *job, hac_status status, hac_error *err);

/* Opens a window and records it. Data NULL, for a device that copies: memory of the device alone. */
HAC_MUST_USE hac_status hac_radix_open(hac_radix_job *job, void *data, uint64_t bytes, hac_access access,
                                       cl_mem *ret, hac_error *err);

/* Closes `window` and all windows that were opened after it. */
HAC_MUST_USE hac_status hac_radix_close_from(hac_radix_job *job, cl_mem window, hac_error *err);

/* Opens windows over the private copies of cells and splitters. */
HAC_MUST_USE hac_status hac_radix_open_table(hac_radix_job *job, hac_error *err);

/* An argument of the kernels' type `key`. */
HAC_MUST_USE hac_status hac_radix_key_arg(const hac_radix_job *job, cl_kernel kernel, unsigned index,
                                          uint64_t value, hac_error *err);

/* Work-groups for a launch of `jobs`: one for each job if the device limits loops, else as many as run at a
 * time. */
uint64_t hac_radix_groups(const hac_radix_job *job, uint64_t jobs);

/* Launches the kernel for `jobs` chunks or buckets. Argument `next_arg` is the counter. */
HAC_MUST_USE hac_status hac_radix_launch(hac_radix_job *job, cl_kernel kernel, unsigned next_arg,
                                         uint64_t jobs, hac_error *err);

/* ---- radix.c ---- */

/* Chunks first … first + count - 1, which share one set of windows. */
typedef struct hac_radix_stretch {
    uint64_t first, count;
    uint64_t first_item, items;
} hac_radix_stretch;

hac_radix_stretch hac_radix_stretch_of(const hac_radix_sizes *params, uint64_t first, uint64_t count);

/* Where a scatter writes: windows of `items` elements. `starts` holds the stretch's rows of COUNTS. */
typedef struct hac_radix_target {
    cl_mem starts, keys, index;
    uint64_t items;
} hac_radix_target;

/* radix.count and radix.scatter for a stretch whose keys are in window `in`. The table must be open. */
HAC_MUST_USE hac_status hac_radix_count_launch(hac_radix_job *job, hac_type type, const hac_radix_stretch *s,
                                               cl_mem in, cl_mem counts, hac_error *err);
HAC_MUST_USE hac_status hac_radix_scatter_launch(hac_radix_job *job, hac_type type,
                                                 const hac_radix_stretch *s, cl_mem in,
                                                 const hac_radix_target *to, hac_error *err);

/* ---- radix_leaf.c ---- */

/* radix.leaf for all buckets, in the windows `keys` and `index` of OUT and INDEX. Closes both and all windows
 * opened after `keys`. `task` is radix.leaf's. */
HAC_MUST_USE hac_status hac_radix_leaf_windows(hac_radix_job *job, const hac_task *task, cl_mem keys,
                                               cl_mem index, hac_task_result *result, hac_error *err);

/* ---- radix_lsd.c ---- */

/* Sorts all keys of radix.whole's task with these parameters, on a device that has its program.
 * HAC_NO_MEMORY: the device has not enough memory, and nothing was done. */
HAC_MUST_USE hac_status hac_radix_run_lsd(hac_device *device, const hac_task *task,
                                          const hac_radix_sizes *params, hac_error *err);

#endif
