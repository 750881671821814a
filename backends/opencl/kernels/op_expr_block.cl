/* SPDX-License-Identifier: Apache-2.0 */
/* Program op.expr.block: runs programs over vectors, and reduces their values. */
#define OP_BLOCK_STYLE
#define EXPR_TABLES
/* clang-format off */
#include "op_lanes.cl"
#include "expr_device_ops.cl"
#include "expr_table.cl"
#include "expr_block.cl"
#include "expr_ops.cl"
#include "expr_block_run.cl"
#include "op_store.cl"
#include "op_filter.cl"
#define OP_NUMBER 0
#include "op_number.cl"
#include "op_reduce.cl"
#ifdef cl_khr_fp64
#undef OP_NUMBER
#define OP_NUMBER 1
#include "op_number.cl"
#include "op_reduce.cl"
#endif
#undef OP_NUMBER
#define OP_NUMBER 2
#include "op_number.cl"
#include "op_reduce.cl"
#undef OP_NUMBER
#define OP_NUMBER 3
#include "op_number.cl"
#include "op_reduce.cl"
/* clang-format on */

/* `null_is_false` is for filters. A work-item takes every n-th batch. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
op_map(__global const ulong *plan, ulong first, ulong rows, __global uchar *scratch, ulong scratch_bytes,
       __global uchar *y, uint kind, uint null_is_false, volatile __global uint *fail, OP_TABLES)
{
    machine own, *m = &own;
    machine_begin(m, plan, t0, scratch + get_group_id(0) * scratch_bytes);
    OP_SET_TABLES(m);
    const ulong output = plan[plan[EXPR_PLAN_OUTPUTS]];
    const uint r = (uint)output & 0xffff, narrow = (uint)(output >> 16);
    for (ulong at = get_group_id(0) * (ulong)BATCH; at < rows; at += get_num_groups(0) * (ulong)BATCH) {
        machine_run(m, first + at, (uint)min((ulong)BATCH, rows - at));
        for (uint row = 0; row < m->rows; row++) {
            uint state = m->clean[r] ? 0 : m->states[r * BATCH + row];
            ulong value = narrow ? as_uint(GET_ROW(float, r)) : GET_ROW(ulong, r);
            if (state == ROW_NULL && null_is_false)
                value = state = 0;
            if (state != 0)
                note_failure(fail, OP_FAIL_STATE, (first + at + row) * 8 + state);
            store_value(y, kind, first + at + row, value);
        }
    }
}
