/* SPDX-License-Identifier: Apache-2.0 */
/* What one task of the radix codelets carries along: params, table, open windows; and the launches of its
 * kernels. For radix.c, radix_leaf.c, radix_lsd.c, radix_whole.c. */
#ifndef CODELETS_RADIX_JOB_H
#define CODELETS_RADIX_JOB_H

#include "radix_host.h"

#define HAC_RADIX_MAX_OPEN 12

/* `levels` of the block style's kernels where the table is direct; no table has it itself. */
#define HAC_RADIX_DIRECT 34

typedef struct hac_radix_job {
    hac_device *device;
    const hac_device_facts *facts;
    hac_radix_params p;
    hac_radix_order order;
    hac_radix_table table;
    cl_mem cells, splitters; /* once hac_radix_open_table was called */
    cl_mem open[HAC_RADIX_MAX_OPEN];
    size_t n_open;
    uint32_t *next; /* 64 bytes, aligned: the number of the next job of a launch */
} hac_radix_job;

/* `spans`: what the task's spans are; `table`: the one that is TABLE. End is called in any case. */
HAC_MUST_USE hac_status hac_radix_job_begin(hac_radix_job *job, hac_device *device, const hac_task *task,
                                            const hac_span *table, const hac_radix_span *spans,
                                            size_t n_spans, hac_error *err);

/* Closes what is open, frees, and returns `status`, or what went wrong here. */
HAC_MUST_USE hac_status hac_radix_job_end(hac_radix_job *job, hac_status status, hac_error *err);

/* Opens a window and keeps it in mind. Data NULL, on a device that copies: memory of the device alone. */
HAC_MUST_USE hac_status hac_radix_open(hac_radix_job *job, void *data, uint64_t bytes, hac_access access,
                                       cl_mem *ret, hac_error *err);

/* Closes `window` and all that were opened after it. */
HAC_MUST_USE hac_status hac_radix_close_from(hac_radix_job *job, cl_mem window, hac_error *err);

/* Opens the private copies of cells and splitters. */
HAC_MUST_USE hac_status hac_radix_open_table(hac_radix_job *job, hac_error *err);

/* A value of the kernels' type `key`. */
HAC_MUST_USE hac_status hac_radix_key_arg(const hac_radix_job *job, cl_kernel kernel, unsigned index,
                                          uint64_t value, hac_error *err);

/* Work-groups for a launch of `jobs`: one for each where loops are limited, else as many as run at a time. */
uint64_t hac_radix_groups(const hac_radix_job *job, uint64_t jobs);

/* Launches the kernel on `jobs` chunks or buckets; argument `next_arg` becomes the counter. */
HAC_MUST_USE hac_status hac_radix_launch(hac_radix_job *job, cl_kernel kernel, unsigned next_arg,
                                         uint64_t jobs, hac_error *err);

/* ---- radix.c ---- */

/* Chunks first … first + count - 1, through one set of windows. */
typedef struct hac_radix_stretch {
    uint64_t first, count;
    uint64_t first_item, items;
} hac_radix_stretch;

hac_radix_stretch hac_radix_stretch_of(const hac_radix_params *params, uint64_t first, uint64_t count);

/* Where a scatter writes: windows of `items` elements; starts: of the stretch's rows of COUNTS. */
typedef struct hac_radix_target {
    cl_mem starts, keys, index;
    uint64_t items;
} hac_radix_target;

/* radix.count and radix.scatter of a stretch, of which `in` is the window; the table is open. */
HAC_MUST_USE hac_status hac_radix_count_launch(hac_radix_job *job, hac_type type, const hac_radix_stretch *s,
                                               cl_mem in, cl_mem counts, hac_error *err);
HAC_MUST_USE hac_status hac_radix_scatter_launch(hac_radix_job *job, hac_type type,
                                                 const hac_radix_stretch *s, cl_mem in,
                                                 const hac_radix_target *to, hac_error *err);

/* ---- radix_leaf.c ---- */

/* radix.leaf of all buckets, in the windows `keys` and `index` of OUT and INDEX, which it closes with all
 * that were opened behind `keys`. `task` is radix.leaf's. */
HAC_MUST_USE hac_status hac_radix_leaf_windows(hac_radix_job *job, const hac_task *task, cl_mem keys,
                                               cl_mem index, hac_task_result *result, hac_error *err);

/* ---- radix_lsd.c ---- */

/* Sorts all keys of radix.whole's task, which has these params, on a device that its program is for. Without
 * memory for all of them on the device: HAC_NO_MEMORY, and nothing is done. */
HAC_MUST_USE hac_status hac_radix_run_lsd(hac_device *device, const hac_task *task,
                                          const hac_radix_params *params, hac_error *err);

#endif
