/* SPDX-License-Identifier: Apache-2.0 */
/* op.gemv, op.gemm, op.spmv, op.row_reduce, op.arg_rows. Included after op_number.cl. */

#define GEMM_ROWS  16
#define GEMM_DEPTH 64

#if OP_NUMBER < 3
/* y[u] = row u of A times x. */
LANE_KERNEL op_gemv(__global const T *a, ulong a_at, __global const T *x, ulong columns, __global T *y,
                    volatile __global uint *fail)
{
    OWN(T, sum);
    SHARED(T, lane, OP_LANES);
    EACH_LANE
    {
        uint bad = 0;
        MY(sum) = 0;
        for (ulong c = l; c < columns; c += OP_LANES)
            MY(sum) = ADD(MY(sum), PRODUCT(a[a_at + UNIT * columns + c], x[c], &bad), &bad);
        lane[l] = MY(sum);
        if (bad)
            note_failure(fail, OP_FAIL_SUM, UNIT);
    }
    for (uint s = OP_LANES / 2; s > 0; s /= 2) {
        SYNC;
        EACH_LANE
        {
            uint bad = 0;
            if (l < s)
                lane[l] = ADD(lane[l], lane[l + s], &bad);
            if (bad)
                note_failure(fail, OP_FAIL_SUM, UNIT);
        }
    }
    EACH_LANE
    {
        if (l == 0)
            y[UNIT] = TIDIED(lane[0]);
    }
}

/* A unit is GEMM_ROWS rows of 64 columns of C. `rows` rows of A begin at a_at. */
LANE_KERNEL op_gemm(__global const T *a, ulong a_at, __global const T *b, ulong rows, ulong depth, ulong columns,
                    __global T *c, volatile __global uint *fail)
{
    const ulong across = (columns + OP_LANES - 1) / OP_LANES;
    const ulong row = UNIT / across * GEMM_ROWS, column = UNIT % across * OP_LANES;
    const uint n = (uint)min((ulong)GEMM_ROWS, rows - row);
    SHARED(T, tile, GEMM_ROWS * GEMM_DEPTH);
#ifdef OP_BLOCK_STYLE
    T sum[OP_LANES][GEMM_ROWS];
    uint failed[OP_LANES];
#define MY_SUM sum[l]
#define MY_BAD failed[l]
#else
    const uint l = (uint)get_local_id(0);
    T sum[GEMM_ROWS];
    uint failed;
#define MY_SUM sum
#define MY_BAD failed
#endif
    EACH_LANE
    {
        for (uint r = 0; r < GEMM_ROWS; r++)
            MY_SUM[r] = 0;
        MY_BAD = 0;
    }
    for (ulong k = 0; k < depth; k += GEMM_DEPTH) {
        const uint deep = (uint)min((ulong)GEMM_DEPTH, depth - k);
        SYNC;
        EACH_LANE
        {
            for (uint r = 0; r < n && l < deep; r++)
                tile[r * GEMM_DEPTH + l] = a[a_at + (row + r) * depth + k + l];
        }
        SYNC;
        EACH_LANE
        {
            uint bad = 0;
            for (uint i = 0; i < deep && column + l < columns; i++) {
                T with = b[(k + i) * columns + column + l];
                for (uint r = 0; r < n; r++)
                    MY_SUM[r] = ADD(MY_SUM[r], PRODUCT(tile[r * GEMM_DEPTH + i], with, &bad), &bad);
            }
            MY_BAD |= bad;
        }
    }
    EACH_LANE
    {
        for (uint r = 0; r < n && column + l < columns; r++)
            c[(row + r) * columns + column + l] = TIDIED(MY_SUM[r]);
        if (MY_BAD)
            note_failure(fail, OP_FAIL_SUM, row);
    }
}

/*
 * Rows of a sparse matrix: `offsets` has one more than `rows`; entries `base` … base + entries - 1 are at
 * `indices` + i_at and `values` + v_at. Returns false if the offsets descend or lie outside.
 */
inline bool row_at(__global const ulong *offsets, ulong o_at, ulong row, ulong base, ulong entries, ulong *from,
                   ulong *to)
{
    ulong a = offsets[o_at + row], b = offsets[o_at + row + 1];
    *from = a - base;
    *to = b - base;
    return a >= base && a <= b && b - base <= entries;
}

/* A row's sum of floats has four lanes (hac/op.h). A sum of integers has one, since it may overflow. */
#if OP_NUMBER < 2
#define SPMV_LANES 4
#else
#define SPMV_LANES 1
#endif
__kernel void op_spmv(__global const ulong *offsets, ulong o_at, __global const uint *indices, ulong i_at,
                      __global const T *values, ulong v_at, uint ones, ulong base, ulong entries,
                      __global const T *x, ulong columns, ulong rows, __global T *y, volatile __global uint *fail)
{
    const ulong row = get_global_id(0);
    ulong from, to;
    uint bad = 0;
    T sum[SPMV_LANES] = {0};
    if (row >= rows)
        return;
    if (!row_at(offsets, o_at, row, base, entries, &from, &to)) {
        note_failure(fail, OP_FAIL_ROW, row);
        return;
    }
    for (ulong e = from; e < to; e += SPMV_LANES) {
#pragma unroll
        for (uint l = 0; l < SPMV_LANES; l++) {
            if (e + l >= to)
                break;
            uint column = indices[i_at + e + l];
            if (column >= columns) {
                note_failure(fail, OP_FAIL_INDEX, row);
                return;
            }
            sum[l] = ADD(sum[l], ones ? x[column] : PRODUCT(values[v_at + e + l], x[column], &bad), &bad);
        }
    }
#if SPMV_LANES == 4
    sum[0] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
#endif
    y[row] = TIDIED(sum[0]);
    if (bad)
        note_failure(fail, OP_FAIL_SUM, row);
}
#else
inline bool row_at(__global const ulong *offsets, ulong o_at, ulong row, ulong base, ulong entries, ulong *from,
                   ulong *to)
{
    ulong a = offsets[o_at + row], b = offsets[o_at + row + 1];
    *from = a - base;
    *to = b - base;
    return a >= base && a <= b && b - base <= entries;
}
#endif

/* `columns` 0: rows are found by `offsets`. `ones`: all values are 1 and not stored. `counts`: y is u64, the
 * number of entries. */
__kernel void op_row_reduce(__global const ulong *offsets, ulong o_at, __global const uchar *values, ulong v_at,
                            uint ones, uint kind, ulong base, ulong entries, ulong columns, ulong rows, uint function,
                            uint counts, __global T *y, volatile __global uint *fail)
{
    const ulong row = get_global_id(0);
    ulong from = row * columns, to = from + columns;
    uint bad = 0;
    T sum = 0;
    if (row >= rows)
        return;
    if (columns == 0 && !row_at(offsets, o_at, row, base, entries, &from, &to)) {
        note_failure(fail, OP_FAIL_ROW, row);
        return;
    }
    if (counts) {
        y[row] = (T)(to - from);
        return;
    }
    for (ulong e = from; e < to; e++) {
        T v = NAME(term)(function, ones ? (T)1 : NAME(number_at)(values, kind, v_at + e), &bad);
        sum = e == from && !NAME(is_sum)(function) ? v : NAME(join)(function, sum, v, &bad);
    }
    y[row] = TIDIED(sum);
    if (bad)
        note_failure(fail, OP_FAIL_SUM, row);
}

__kernel void op_arg_rows(__global const T *a, ulong a_at, ulong columns, ulong rows, uint function,
                          __global uint *y)
{
    const ulong row = get_global_id(0);
    if (row >= rows)
        return;
    T best = a[a_at + row * columns];
    uint at = 0;
    for (ulong c = 1; c < columns; c++) {
        T v = a[a_at + row * columns + c];
        if (NAME(replaces)(function, v, best)) {
            best = v;
            at = (uint)c;
        }
    }
    y[row] = at;
}
