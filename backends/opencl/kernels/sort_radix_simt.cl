/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition sort, lock-step style: a work-group of 64 works on one chunk or bucket at a time, tile by tile,
 * so the sort is stable. Work-groups never wait for each other. The kernels and arguments are those of
 * sort_radix_block.cl (`next` is not used: jobs are assigned to groups in turn), and there are the same two
 * programs. 25 KiB of local memory.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_local_int32_base_atomics : enable

#define GROUP        64
#define MAX_BUCKETS  6144 /* HAC_RADIX_MAX_BUCKETS */
#define MAX_LEVELS   11   /* HAC_RADIX_MAX_LEVELS */
#define CELLS_LINEAR 0
#define VALUES       32 /* levels */
#define REFINED      33
#define LOW_BITS     (HAC_KEY_BITS - 13) /* of a refined map */
#define STRANGE      (1UL << 63)
#define CELLS_LOG    1
#define DIGIT_BITS   8
#define DIGITS       (1 << DIGIT_BITS)
#define NOBODY       0xffffffffu

#include "sort_key.cl"

#if HAC_INDEX_BYTES
#define AND_INDEX(name)                , __global number *name
#define PASS_INDEX(name)               , name
#define PUT_INDEX(index, place, value) index[place] = (number)(value)
#else
#define AND_INDEX(name)
#define PASS_INDEX(name)
#define PUT_INDEX(index, place, value)
#endif

/* base/radix_layout.h */
typedef struct {
    key base;
    uint method, shift, last, scale, levels;
    __global const ushort *table;
    __global const key *splitters;
} cell_map;

inline uint cell_of(key m, cell_map c)
{
    key d = max(m, c.base) - c.base;
    if (c.method == CELLS_LINEAR)
        return ((uint)min(d >> c.shift, (key)c.last) * c.scale) >> 16;
    d = max((key)(d + 1), d);
    uint zeros = (uint)clz(d);
    uint fraction = (uint)((d << zeros) >> (HAC_KEY_BITS - 1 - c.shift)) & ((1u << c.shift) - 1);
    return ((HAC_KEY_BITS - 1 - zeros) << c.shift) | fraction;
}

inline uint place_by_refining(key m, cell_map c)
{
    key d = min((key)(max(m, c.base) - c.base), (key)(KEY_MAX >> c.shift)) << c.shift;
    uint e = ((__global const uint *)c.splitters)[(uint)(d >> LOW_BITS)];
    return (e >> 6) + (uint)((d & (((key)1 << LOW_BITS) - 1)) >> (e & 63));
}

inline uint bucket_of(key m, cell_map c)
{
    if (c.levels == REFINED)
        return c.table[place_by_refining(m, c)];
    uint i = c.table[cell_of(m, c)];
    for (uint step = (1u << c.levels) >> 1; step != 0; step >>= 1)
        i += c.splitters[i + step - 1] < m ? step : 0;
    return i;
}

#if !HAC_RADIX_LEAF && !HAC_INDEX_BYTES
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
radix_count(__global const key *restrict in, ulong items, uint chunk_items, uint chunks,
            __global const ushort *restrict table, __global const key *restrict splitters, key base,
            uint method, uint shift, uint last, uint scale, uint levels, key flip, key sign, key rotate,
            key reverse, key top, uint buckets, uint row_items, __global ulong *restrict counts,
            volatile __global uint *restrict next)
{
    __local uint seen[MAX_BUCKETS];
    __local uint odd;
    bool few = levels == VALUES;
    key_order o = {flip, sign, rotate, reverse, top};
    cell_map c = {base, method, shift, last, scale, few ? 0 : levels, table, splitters};
    uint me = get_local_id(0);
    for (uint chunk = get_group_id(0); chunk < chunks; chunk += get_num_groups(0)) {
        ulong from = (ulong)chunk * chunk_items;
        uint n = (uint)min((ulong)chunk_items, items - from);
        for (uint b = me; b < buckets; b += GROUP)
            seen[b] = 0;
        if (me == 0)
            odd = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = me; i < n; i += GROUP) {
            key m = map_key(in[from + i], o);
            atomic_inc(&seen[bucket_of(m, c)]);
            if (few && m != splitters[cell_of(m, c)])
                atomic_or(&odd, 1u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint b = me; b < buckets; b += GROUP)
            counts[(ulong)chunk * row_items + b] = seen[b] | (b == 0 && odd != 0 ? STRANGE : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif

/*
 * Where this work-item's key goes: the position of `own` in `at`, plus the number of earlier work-items with
 * the same `own`. Advances `at`. NOBODY is for work-items without a key. All work-items call it; `tile` has
 * GROUP elements.
 */
inline uint take_place(uint own, __local uint *tile, __local uint *at)
{
    uint me = get_local_id(0), rank = 0, all = 0, place = 0;
    tile[me] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < GROUP; i += 4) {
        uint4 same = convert_uint4(vload4(0, tile + i) == (uint4)own) & (uint4)1;
        uint4 before = convert_uint4((uint4)i + (uint4)(0, 1, 2, 3) < (uint4)me) & same;
        all += same.x + same.y + same.z + same.w;
        rank += before.x + before.y + before.z + before.w;
    }
    if (own != NOBODY)
        place = at[own] + rank;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own != NOBODY && rank == 0)
        at[own] = place + all;
    return place;
}

#if !HAC_RADIX_LEAF
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
radix_scatter(__global const key *restrict in, ulong items, uint chunk_items, uint chunks,
              __global const ushort *restrict table, __global const key *restrict splitters, key base,
              uint method, uint shift, uint last, uint scale, uint levels, key flip, key sign, key rotate,
              key reverse, key top, uint buckets, uint row_items, __global const ulong *restrict starts,
              volatile __global uint *restrict next, uint limit, ulong first_index,
              __global key *restrict out AND_INDEX(restrict index))
{
    __local uint at[MAX_BUCKETS];
    __local uint tile[GROUP];
    key_order o = {flip, sign, rotate, reverse, top};
    cell_map c = {base, method, shift, last, scale, levels, table, splitters};
    uint me = get_local_id(0);
    for (uint chunk = get_group_id(0); chunk < chunks; chunk += get_num_groups(0)) {
        ulong from = (ulong)chunk * chunk_items;
        uint n = (uint)min((ulong)chunk_items, items - from);
        for (uint b = me; b < buckets; b += GROUP)
            at[b] = (uint)min(starts[(ulong)chunk * row_items + b], (ulong)limit);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = me; i - me < n; i += GROUP) {
            key m = i < n ? map_key(in[from + i], o) : 0;
            uint place = take_place(i < n ? bucket_of(m, c) : NOBODY, tile, at);
            /* counts that do not match the data must not cause a write outside the output */
            if (i < n && place < limit) {
                out[place] = m;
                PUT_INDEX(index, place, first_index + from + i);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#else
typedef struct {
    key min, max;
    bool sorted;
} extent;

/* Of a bucket; equal in all work-items. */
inline extent measure(__global const key *a, uint n, __local key *lows, __local key *highs,
                      __local uint *down)
{
    uint me = get_local_id(0);
    extent e = {KEY_MAX, 0, true};
    for (uint i = me; i < n; i += GROUP) {
        e.min = min(e.min, a[i]);
        e.max = max(e.max, a[i]);
        e.sorted = e.sorted && (i == 0 || a[i - 1] <= a[i]);
    }
    lows[me] = e.min;
    highs[me] = e.max;
    down[me] = !e.sorted;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < GROUP; i++) {
        e.min = min(e.min, lows[i]);
        e.max = max(e.max, highs[i]);
        e.sorted = e.sorted && down[i] == 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* what was read here may be overwritten next */
    return e;
}

/* One digit, stable, from `from` to `to`. */
inline void digit_pass(__global const key *from, __global key *to, uint n, key base, uint shift,
                       __local uint *at, __local uint *tile AND_INDEX(index_from) AND_INDEX(index_to))
{
    uint me = get_local_id(0);
    for (uint d = me; d < DIGITS; d += GROUP)
        at[d] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = me; i < n; i += GROUP)
        atomic_inc(&at[(uint)((from[i] - base) >> shift) & (DIGITS - 1)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) {
        uint sum = 0;
        for (uint d = 0; d < DIGITS; d++) {
            uint many = at[d];
            at[d] = sum;
            sum += many;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = me; i - me < n; i += GROUP) {
        key m = i < n ? from[i] : 0;
        uint place = take_place(i < n ? (uint)((m - base) >> shift) & (DIGITS - 1) : NOBODY, tile, at);
        if (i < n) {
            place = min(place, n - 1); /* others may have written to `from` since its keys were counted */
            to[place] = m;
#if HAC_INDEX_BYTES
            index_to[place] = index_from[i];
#endif
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
radix_leaf(__global key *data, __global const uint2 *restrict jobs, uint n_jobs, __global key *scratch,
           ulong scratch_items, key flip, key sign, key rotate, key reverse,
           volatile __global uint *restrict next AND_INDEX(index) AND_INDEX(index_scratch))
{
    __local uint at[DIGITS];
    __local uint tile[GROUP];
    __local key lows[GROUP], highs[GROUP];
    key_order o = {flip, sign, rotate, reverse, KEY_MAX};
    uint me = get_local_id(0);
    __global key *b = scratch + get_group_id(0) * scratch_items;
    for (uint j = get_group_id(0); j < n_jobs; j += get_num_groups(0)) {
        __global key *a = data + jobs[j].x;
        uint n = jobs[j].y;
        extent e = measure(a, n, lows, highs, tile);
        uint bits = e.sorted ? 0 : HAC_KEY_BITS - (uint)clz(e.max - e.min), back = 0;
#if HAC_INDEX_BYTES
        __global number *x = index + jobs[j].x, *y = index_scratch + get_group_id(0) * scratch_items;
#endif
        for (uint shift = 0; shift < bits; shift += DIGIT_BITS, back ^= 1)
            digit_pass(back ? b : a, back ? a : b, n, e.min, shift, at,
                       tile PASS_INDEX(back ? y : x) PASS_INDEX(back ? x : y));
#if HAC_INDEX_BYTES
        for (uint i = me; back && i < n; i += GROUP)
            x[i] = y[i];
#else
        for (uint i = me; i < n; i += GROUP)
            a[i] = unmap_key(back ? b[i] : a[i], o);
#endif
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
#endif
