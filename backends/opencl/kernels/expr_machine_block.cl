/* SPDX-License-Identifier: Apache-2.0 */
/* Codelet expr.eval, block style: a work-item takes every n-th batch of rows (codelets/expr/expr_eval.h). */
/* clang-format off */
#include "expr_device_ops.cl"
#include "expr_table.cl"
#include "expr_block.cl"
#include "expr_ops.cl"
#include "expr_block_run.cl"
/* clang-format on */

/*
 * Output o of row i is at values + (o × rows + i) × 8 bytes (an f32 in the first four) and states + o × rows
 * + i. `first` and `rows` count rows of the table; row 0 of the outputs is row `first`.
 */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
expr_eval(__global const ulong *plan, __global const uchar *table, ulong first, ulong rows,
          __global uchar *scratch, ulong scratch_bytes, __global ulong *values, __global uchar *states)
{
    machine own, *m = &own;
    machine_begin(m, plan, table, scratch + get_group_id(0) * scratch_bytes);
    uint n_outputs = (uint)plan[EXPR_PLAN_N_OUTPUTS];
    __global const ulong *outputs = plan + plan[EXPR_PLAN_OUTPUTS];
    for (ulong at = get_group_id(0) * (ulong)BATCH; at < rows; at += get_num_groups(0) * (ulong)BATCH) {
        machine_run(m, first + at, (uint)min((ulong)BATCH, rows - at));
        for (uint o = 0; o < n_outputs; o++) {
            uint r = (uint)outputs[o] & 0xffff, narrow = (uint)(outputs[o] >> 16);
            for (uint row = 0; row < m->rows; row++) {
                ulong value = narrow ? as_uint(GET_ROW(float, r)) : GET_ROW(ulong, r);
                values[o * rows + at + row] = value;
                states[o * rows + at + row] = m->clean[r] ? 0 : m->states[r * BATCH + row];
            }
        }
    }
}
