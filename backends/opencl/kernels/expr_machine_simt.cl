/* SPDX-License-Identifier: Apache-2.0 */
/* Codelet expr.eval, lock-step style; the arguments are those of expr_machine_block.cl. */
/* clang-format off */
#include "expr_device_ops.cl"
#include "expr_table.cl"
#include "expr_simt.cl"
#include "expr_ops.cl"
#include "expr_simt_run.cl"
/* clang-format on */

__kernel void expr_eval(__global const ulong *plan, __global const uchar *table, ulong first, ulong rows,
                        __global uchar *scratch, ulong scratch_bytes, __global ulong *values,
                        __global uchar *states)
{
    machine own, *m = &own;
    machine_begin(m, plan, table, scratch + get_group_id(0) * scratch_bytes);
    uint n_outputs = (uint)plan[EXPR_PLAN_N_OUTPUTS];
    __global const ulong *outputs = plan + plan[EXPR_PLAN_OUTPUTS];
    for (ulong at = get_global_id(0); at < rows; at += get_global_size(0)) {
        machine_run(m, first + at);
        for (uint o = 0; o < n_outputs; o++) {
            uint r = (uint)outputs[o] & 0xffff, narrow = (uint)(outputs[o] >> 16);
            values[o * rows + at] = narrow ? (ulong)GET(uint, r) : GET(ulong, r);
            states[o * rows + at] = STATE(r);
        }
    }
}
