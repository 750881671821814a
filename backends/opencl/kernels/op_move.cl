/* SPDX-License-Identifier: Apache-2.0 */
/* Program op.move: op.gather, op.scatter. A work-item moves one element. */
/* clang-format off */
#include "op_lanes.cl"
/* clang-format on */

inline void copy_element(__global uchar *to, ulong i, __global const uchar *from, ulong j, uint size)
{
    switch (size) {
    case 1:
        to[i] = from[j];
        break;
    case 4:
        ((__global uint *)to)[i] = ((__global const uint *)from)[j];
        break;
    default:
        ((__global ulong *)to)[i] = ((__global const ulong *)from)[j];
        break;
    }
}

__kernel void op_gather(__global const uchar *x, ulong x_rows, __global const uchar *index, ulong i_at, uint kind,
                        ulong rows, ulong columns, uint size, __global uchar *y, volatile __global uint *fail)
{
    const ulong at = get_global_id(0), row = at / columns;
    if (row >= rows)
        return;
    ulong from = index_at(index, kind, i_at + row);
    if (from >= x_rows) {
        note_failure(fail, OP_FAIL_INDEX, row);
        return;
    }
    copy_element(y, at, x, from * columns + at % columns, size);
}

__kernel void op_winners_clear(__global uint *winners, ulong rows)
{
    if (get_global_id(0) < rows)
        winners[get_global_id(0)] = 0;
}

/* For each row of y: 1 + the last row of x that goes there. */
__kernel void op_winners(__global const uchar *index, uint kind, ulong x_rows, ulong rows,
                         volatile __global uint *winners, volatile __global uint *fail)
{
    const ulong i = get_global_id(0);
    if (i >= x_rows)
        return;
    ulong to = index_at(index, kind, i);
    if (to < rows)
        atomic_max(&winners[to], (uint)i + 1);
    else
        note_failure(fail, OP_FAIL_INDEX, i);
}

__kernel void op_scatter(__global const uchar *x, __global const uint *winners, ulong rows, ulong columns, uint size,
                         __global uchar *y)
{
    const ulong at = get_global_id(0), row = at / columns;
    if (row >= rows)
        return;
    uint winner = winners[row];
    if (winner != 0)
        copy_element(y, at, x, (winner - 1UL) * columns + at % columns, size);
    else if (size == 1)
        y[at] = 0;
    else if (size == 4)
        ((__global uint *)y)[at] = 0;
    else
        ((__global ulong *)y)[at] = 0;
}
