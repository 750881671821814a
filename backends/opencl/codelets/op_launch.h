/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One launch of a kernel of sub-operators: its arguments are given one after the other, memory as the part
 * that it needs and no more, so that devices with memory of their own get no more than that. What fails
 * sticks.
 */
#ifndef CODELETS_OP_LAUNCH_H
#define CODELETS_OP_LAUNCH_H

#include "host/op_call.h"
#include "windows.h"

#define HAC_OP_NO_FAILURE UINT32_MAX

enum { HAC_OP_FAIL_SUM = 0, HAC_OP_FAIL_INDEX, HAC_OP_FAIL_ROW, HAC_OP_FAIL_STATE }; /* kernels/op_lanes.cl */

typedef struct hac_op_launch {
    _Alignas(64) uint32_t fail[16]; /* lowest row of each kind of failure */
    hac_device *device;
    hac_windows windows;
    hac_arguments a;
    struct {
        uint8_t *copy, *to;
        uint64_t bytes;
    } out[2];
    size_t n_out;
} hac_op_launch;

/* `err` is used until the end. */
void hac_op_begin(hac_op_launch *l, hac_device *device, const char *program, const char *kernel,
                  hac_error *err);
/* Elements from … from + n - 1 that are read: the memory and the number of the first in it. */
void hac_op_in(hac_op_launch *l, const void *data, uint64_t from, uint64_t n, uint64_t size);
/* `n` elements from the front: the memory alone. */
void hac_op_in_all(hac_op_launch *l, const void *data, uint64_t n, uint64_t size);
/* Elements that are written, all of them: the memory, which begins with the first. `again`: it is read, too.
 */
void hac_op_out(hac_op_launch *l, void *data, uint64_t from, uint64_t n, uint64_t size, bool again);
void hac_op_scratch(hac_op_launch *l, unsigned slot, uint64_t bytes);
void hac_op_u32(hac_op_launch *l, uint32_t value);
void hac_op_u64(hac_op_launch *l, uint64_t value);
void hac_op_f64(hac_op_launch *l, double value);
void hac_op_failures(hac_op_launch *l);
/* Launches `groups` of `lanes` and brings back what was written. */
HAC_MUST_USE hac_status hac_op_end(hac_op_launch *l, uint64_t groups, uint32_t lanes);

/* Rows of `row_bytes` that a window takes, a multiple of `grain`; at least one grain. */
uint64_t hac_op_chunk(const hac_device_facts *facts, uint64_t row_bytes, uint64_t grain);

/* Iterations that are asked of a work-item at most on a device that ends loops: all of its loops count
 * together, and what ends a loop counts, too. */
static inline uint64_t hac_op_loops(const hac_device_facts *facts)
{
    return facts->max_loop_iterations / 4 * 3;
}

static inline uint64_t hac_op_blocks(uint64_t rows, uint64_t block)
{
    return rows / block + (rows % block != 0);
}

/* Work-items of a group that has a lane each, in the device's style. */
static inline uint32_t hac_op_lanes(const hac_device_facts *facts)
{
    return facts->style == HAC_STYLE_SIMT ? HAC_OP_LANES : 1;
}

#endif
