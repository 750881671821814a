/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One launch of a sub-operator's kernel. Its arguments are set in turn; memory is passed as the part that the
 * kernel needs, so that devices that copy get no more. After a failure all later steps are skipped.
 */
#ifndef CODELETS_OP_LAUNCH_H
#define CODELETS_OP_LAUNCH_H

#include "common/windows.h"
#include "host/op_call.h"

/* The program that has the kernels of this family; NULL: the device has none for `type`. */
const char *hac_op_expr_program(const hac_device_facts *facts, hac_type type);
const char *hac_op_number_program(const hac_device_facts *facts, hac_type type);
const char *hac_op_move_program(const hac_device_facts *facts, hac_type type);

#define HAC_OP_NO_FAILURE UINT32_MAX

enum { HAC_OP_FAIL_SUM = 0, HAC_OP_FAIL_INDEX, HAC_OP_FAIL_ROW, HAC_OP_FAIL_STATE }; /* kernels/op_lanes.cl */

typedef struct hac_op_launch {
    _Alignas(64) uint32_t fail[16]; /* the lowest row of each kind of failure */
    hac_device *device;
    hac_windows windows;
    hac_arguments a;
    struct {
        uint8_t *copy, *to;
        uint64_t bytes;
    } out[2];
    size_t n_out;
} hac_op_launch;

/* `err` is used until hac_op_end. */
void hac_op_begin(hac_op_launch *l, hac_device *device, const char *program, const char *kernel,
                  hac_error *err);
/* Elements from … from + n - 1 for reading: two arguments, the memory and the index of element `from` in
 * it. */
void hac_op_in(hac_op_launch *l, const void *data, uint64_t from, uint64_t n, uint64_t size);
/* The first `n` elements for reading: one argument, the memory. */
void hac_op_in_all(hac_op_launch *l, const void *data, uint64_t n, uint64_t size);
/* Elements that the kernel writes completely: one argument, memory that begins with element `from`. `again`:
 * the kernel also reads them. */
void hac_op_out(hac_op_launch *l, void *data, uint64_t from, uint64_t n, uint64_t size, bool again);
void hac_op_scratch(hac_op_launch *l, unsigned slot, uint64_t bytes);
void hac_op_u32(hac_op_launch *l, uint32_t value);
void hac_op_u64(hac_op_launch *l, uint64_t value);
void hac_op_f64(hac_op_launch *l, double value);
void hac_op_failures(hac_op_launch *l);
/* Launches `groups` work-groups of `lanes` work-items and copies back what they wrote. */
HAC_MUST_USE hac_status hac_op_end(hac_op_launch *l, uint64_t groups, uint32_t lanes);

/* The number of rows of `row_bytes` that fit a window: a multiple of `grain`, and at least one grain. */
uint64_t hac_op_chunk(const hac_device_facts *facts, uint64_t row_bytes, uint64_t grain);

/* The maximum number of iterations to ask of a work-item on a device that ends loops. The device counts the
 * iterations of all loops together, so a part is left for other loops. */
static inline uint64_t hac_op_loops(const hac_device_facts *facts)
{
    return facts->max_loop_iterations / 4 * 3;
}

static inline uint64_t hac_op_blocks(uint64_t rows, uint64_t block)
{
    return rows / block + (rows % block != 0);
}

/* Work-items of a group: one for each lane in lock-step style, one in block style. */
static inline uint32_t hac_op_lanes(const hac_device_facts *facts)
{
    return facts->style == HAC_STYLE_SIMT ? HAC_OP_LANES : 1;
}

#endif
