/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitonic sort, lock-step style: neighbouring work-items work on neighbouring items. A work-group sorts and
 * merges a block in local memory. Long strides go up to three at a time in registers, one column for each
 * work-item. The kernels and their parameters are those of sort_bitonic_block.cl, with any local size. All
 * work-items of a group reach each barrier, since loop bounds do not depend on the work-item.
 */
#include "sort_bitonic_item.cl"

INLINE void local_order(__local item_t *x, uint i, uint j)
{
    const item_t a = x[i], b = x[j];
    if (item_greater(a, b)) {
        x[i] = b;
        x[j] = a;
    }
}

/* The step of stride 2^log2 (or the mirror in runs of 2^(log2+1)) on 2^b items. */
INLINE void local_step(__local item_t *x, uint b, uint log2, uint mirror)
{
    const uint stride = 1u << log2;
    for (uint c = get_local_id(0); c < 1u << (b - 1); c += get_local_size(0)) {
        const uint run = c >> log2 << (log2 + 1), offset = c & (stride - 1);
        local_order(x, run + offset, run + (mirror ? 2 * stride - 1 - offset : stride + offset));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel void bitonic_block(__global const key_t *in, __global item_t *data, __local item_t *scratch,
                            ulong in_first, ulong data_first, ulong valid, ulong index, uint b, ORDER_PARAMS)
{
    const order_t o = ORDER;
    const ulong first = (ulong)get_group_id(0) << b;
    const uint items = 1u << b, have = (uint)min((ulong)items, valid - first);
    in += in_first + first;
    data += data_first + first;
    for (uint i = get_local_id(0); i < items; i += get_local_size(0))
        scratch[i] = i < have ? item_make(o, in[i], index + first + i) : item_last();
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint p = 1; p <= b; p++)
        for (uint j = p; j-- > 0;)
            local_step(scratch, b, j, j == p - 1);
    for (uint i = get_local_id(0); i < have; i += get_local_size(0))
        data[i] = scratch[i];
}

__kernel void bitonic_tail(__global item_t *data, __global uint *final, __local item_t *scratch,
                           ulong data_first, ulong final_first, ulong valid, uint b, uint t, uint last,
                           uint wide, ORDER_PARAMS)
{
    const order_t o = ORDER;
    const ulong first = (ulong)get_group_id(0) << b;
    const uint items = 1u << b, have = (uint)min((ulong)items, valid - first);
    data += data_first + first;
    final_first += first;
    for (uint i = get_local_id(0); i < items; i += get_local_size(0))
        scratch[i] = i < have ? data[i] : item_last();
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = t; j-- > 0;)
        local_step(scratch, b, j, 0);
    for (uint i = get_local_id(0); i < have; i += get_local_size(0)) {
        if (last)
            finish(o, final, final_first + i, scratch[i], wide);
        else
            data[i] = scratch[i];
    }
}

/* ---- long strides ------------------------------------------------------------------------------- */

INLINE void order(item_t *a, item_t *b)
{
    const item_t x = *a, y = *b;
    const int swap = item_greater(x, y);
    *a = swap ? y : x;
    *b = swap ? x : y;
}

/* The item of row `r` of 2^steps. Upper rows of a mirror are taken from the mirrored column. */
INLINE ulong row_item(uint r, uint rows, ulong row, ulong column, uint mirror)
{
    return r * row + (mirror && r >= rows / 2 ? row - 1 - column : column);
}

/* `steps` steps on one column of 8 rows in registers; rows at and above 2^steps do not exist. */
INLINE void column_steps(__global item_t *x, ulong valid, ulong row, ulong column, uint steps, uint mirror)
{
    const uint rows = 1u << steps;
    item_t r[8];
    for (uint i = 0; i < 8; i++) {
        const ulong at = row_item(i, rows, row, column, mirror);
        r[i] = i < rows && at < valid ? x[at] : item_last();
    }
    for (uint s = steps; s-- > 0;)
        for (uint c = 0; c < rows / 2; c++) {
            const uint i = (c >> s << (s + 1)) + (c & ((1u << s) - 1));
            const uint j = mirror && s == steps - 1 ? rows - 1 - i : i + (1u << s);
            order(&r[i], &r[j]);
        }
    for (uint i = 0; i < rows; i++) {
        const ulong at = row_item(i, rows, row, column, mirror);
        if (at < valid)
            x[at] = r[i];
    }
}

/* A work-group takes `chunk` columns (at most its local size) of one run. The scratch is not used. */
__kernel void bitonic_merge(__global item_t *data, __local item_t *scratch, ulong data_first, ulong valid,
                            ulong first_unit, uint from, uint to, uint mirror, uint chunk)
{
    const ulong row = (ulong)1 << to, units = row / chunk, number = first_unit + get_group_id(0);
    const ulong run = number / units << from, column = number % units * chunk + get_local_id(0);
    __global item_t *x = data + data_first + run;
    if (get_local_id(0) >= chunk)
        return;
    /* A constant number of steps lets the compiler keep the rows in registers. */
    if (from - to == 3)
        column_steps(x, valid - run, row, column, 3, mirror);
    else if (from - to == 2)
        column_steps(x, valid - run, row, column, 2, mirror);
    else
        column_steps(x, valid - run, row, column, 1, mirror);
}

/* ---- any single step, any alignment ------------------------------------------------------------- */

__kernel void bitonic_step(__global item_t *lo, __global item_t *hi, ulong lo_base, ulong hi_base,
                           ulong valid, ulong first, ulong count, uint per, uint log2, uint mirror)
{
    const ulong from = (ulong)get_group_id(0) * per, to = min(from + per, count);
    const ulong stride = (ulong)1 << log2;
    for (ulong c = first + from + get_local_id(0); c < first + to; c += get_local_size(0)) {
        const ulong run = c >> log2 << (log2 + 1), offset = c & (stride - 1);
        const ulong i = run + offset, j = run + (mirror ? 2 * stride - 1 - offset : stride + offset);
        if (j < valid) {
            const item_t a = lo[i - lo_base], b = hi[j - hi_base];
            if (item_greater(a, b)) {
                lo[i - lo_base] = b;
                hi[j - hi_base] = a;
            }
        }
    }
}

__kernel void bitonic_map(__global const key_t *in, __global item_t *data, ulong in_base, ulong data_base,
                          ulong first, ulong count, uint per, ORDER_PARAMS)
{
    const order_t o = ORDER;
    const ulong from = (ulong)get_group_id(0) * per, to = min(from + per, count);
    for (ulong i = first + from + get_local_id(0); i < first + to; i += get_local_size(0))
        data[i - data_base] = item_make(o, in[i - in_base], i);
}

__kernel void bitonic_unmap(__global const item_t *data, __global uint *final, ulong data_base,
                            ulong final_base, ulong first, ulong count, uint per, uint wide, ORDER_PARAMS)
{
    const order_t o = ORDER;
    const ulong from = (ulong)get_group_id(0) * per, to = min(from + per, count);
    for (ulong i = first + from + get_local_id(0); i < first + to; i += get_local_size(0))
        finish(o, final, i - final_base, data[i - data_base], wide);
}
