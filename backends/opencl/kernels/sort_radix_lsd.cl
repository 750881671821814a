/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LSD radix sort, lock-step style: all keys by one digit after the other, the least significant digit first,
 * from one buffer to the other and back. In all kernels of a digit a work-group has the same stretch of the
 * keys, which it processes tile by tile. Work-groups never wait for each other. 28.2 KiB of local memory.
 *
 *   lsd_bits     the bits in which keys differ; digits in which no keys differ are left out
 *   lsd_count    how often each digit occurs in a group's stretch: counts[digit][group]
 *   lsd_scatter  a tile is sorted by its digits in local memory, stable; then equal digits, which lie side by side, go
 *                to their place in the output
 *
 * The first scatter maps keys, and the last one unmaps them; otherwise `o` and `back` change nothing.
 */
#include "sort_key.cl"

#define GROUP  256
#define DIGITS 16
#if HAC_KEY_BITS == 32 && HAC_INDEX_BYTES
#define RUN 16 /* neighbouring keys of a tile for each work-item: measured */
#else
#define RUN 8
#endif
#define TILE     (GROUP * RUN)
#define LANES    (GROUP / DIGITS)  /* work-items for one digit */
#define PLACE(i) ((i) + (i) / RUN) /* runs begin in different banks of local memory */

inline uint digit_of(key m, uint shift)
{
    return (uint)(m >> shift) & (DIGITS - 1);
}

/* The total of what the work-items for digit `d` have put into `sums`. */
inline uint sum_of_digit(__local const uint *sums, uint d)
{
    uint all = 0;
    for (uint i = 0; i < LANES; i++)
        all += sums[d * LANES + i];
    return all;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
lsd_bits(__global const key *restrict in, uint items, uint group_items, key flip, key sign, key rotate,
         key reverse, key top, __global key *restrict bits)
{
    __local key found[GROUP];
    key_order o = {flip, sign, rotate, reverse, top};
    uint me = get_local_id(0), from = get_group_id(0) * group_items, end = min(items, from + group_items);
    key first = map_key(in[0], o), differ = 0;
    for (uint i = from + me; i < end; i += GROUP)
        differ |= map_key(in[i], o) ^ first;
    found[me] = differ;
    for (uint half_of = GROUP / 2; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < half_of)
            found[me] |= found[me + half_of];
    }
    if (me == 0)
        bits[get_group_id(0)] = found[0];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
lsd_count(__global const key *restrict in, uint items, uint group_items, key flip, key sign, key rotate,
          key reverse, key top, uint shift, __global uint *restrict counts)
{
    __local uint seen[DIGITS * GROUP]; /* a column belongs to one work-item */
    __local uint sums[GROUP];
    key_order o = {flip, sign, rotate, reverse, top};
    uint me = get_local_id(0), from = get_group_id(0) * group_items, end = min(items, from + group_items);
    for (uint d = 0; d < DIGITS; d++)
        seen[d * GROUP + me] = 0;
    for (uint i = from + me; i < end; i += GROUP)
        seen[digit_of(map_key(in[i], o), shift) * GROUP + me]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0;
    for (uint i = me % LANES; i < GROUP; i += LANES)
        sum += seen[me / LANES * GROUP + i];
    sums[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < DIGITS)
        counts[me * get_num_groups(0) + get_group_id(0)] = sum_of_digit(sums, me);
}

/* begin[d]: where this group's keys with digit d go. Ends with a barrier. `sums` and `before` have GROUP
 * elements. */
inline void find_begins(__global const uint *restrict counts, __local uint *sums, __local uint *before,
                        __local uint *begin)
{
    uint me = get_local_id(0), groups = get_num_groups(0), all = 0, mine = 0;
    for (uint g = me % LANES; g < groups; g += LANES) {
        uint many = counts[me / LANES * groups + g];
        all += many;
        mine += g < get_group_id(0) ? many : 0;
    }
    sums[me] = all;
    before[me] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < DIGITS) {
        uint at = sum_of_digit(before, me);
        for (uint i = 0; i < me * LANES; i++)
            at += sums[i];
        begin[me] = at;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/*
 * Input: at[digit][work-item] is how many keys with that digit a work-item has. Output: the position of the
 * first of them in the tile; for each digit, many[d] is their number and start[d] their first position.
 * Barriers before and after.
 */
inline void find_places(__local ushort *at, __local uint *sums, __local uint *many, __local uint *start)
{
    uint me = get_local_id(0), sum = 0;
    ushort own[DIGITS];
    barrier(CLK_LOCAL_MEM_FENCE);
    vstore16(*(__local const ushort16 *)(at + me * DIGITS), 0, own);
#pragma unroll
    for (uint i = 0; i < DIGITS; i++) {
        uint here = own[i];
        own[i] = (ushort)sum;
        sum += here;
    }
    sums[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < DIGITS)
        many[me] = sum_of_digit(sums, me);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint place = 0;
    for (uint d = 0; d < me / LANES; d++)
        place += many[d];
    if (me % LANES == 0)
        start[me / LANES] = place;
    for (uint i = me - me % LANES; i < me; i++)
        place += sums[i];
    *(__local ushort16 *)(at + me * DIGITS) = vload16(0, own) + (ushort16)((ushort)place);
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
lsd_scatter(__global const key *restrict in, uint items, uint group_items, key flip, key sign, key rotate,
            key reverse, key top, uint shift, __global const uint *restrict counts, key back_flip,
            key back_sign, key back_rotate, key back_reverse, __global key *restrict out
#if HAC_INDEX_BYTES
            ,
            uint first, __global const number *restrict index_in, __global number *restrict index_out
#endif
)
{
    __local key keys[PLACE(TILE)];
    __local ushort at[DIGITS * GROUP] __attribute__((aligned(32)));
    __local uint sums[GROUP], before[GROUP], begin[DIGITS], many[DIGITS], start[DIGITS];
    key_order o = {flip, sign, rotate, reverse, top};
    key_order back = {back_flip, back_sign, back_rotate, back_reverse, KEY_MAX};
    uint me = get_local_id(0), from = get_group_id(0) * group_items, end = min(items, from + group_items);
    find_begins(counts, sums, before, begin);
    for (uint tile = from; tile < end; tile += TILE) {
        uint n = min((uint)TILE, end - tile), place[RUN], to[RUN];
        key own[RUN];
        /* the padding of the last tile is greatest in each digit, and last */
#pragma unroll
        for (uint r = 0; r < RUN; r++) {
            uint i = r * GROUP + me;
            keys[PLACE(i)] = i < n ? map_key(in[tile + i], o) : KEY_MAX;
        }
        for (uint d = 0; d < DIGITS; d++)
            at[d * GROUP + me] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint r = 0; r < RUN; r++) {
            own[r] = keys[me * (RUN + 1) + r];
            place[r] = at[digit_of(own[r], shift) * GROUP + me]++;
        }
        find_places(at, sums, many, start);
#pragma unroll
        for (uint r = 0; r < RUN; r++) {
            place[r] += at[digit_of(own[r], shift) * GROUP + me];
            keys[PLACE(place[r])] = own[r];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint r = 0; r < RUN; r++) {
            uint i = r * GROUP + me;
            key m = keys[PLACE(i)];
            uint d = digit_of(m, shift);
            to[r] = i < n ? begin[d] + i - start[d] : items;
            if (to[r] < items) /* counts that do not match the keys write nothing outside */
                out[to[r]] = unmap_key(m, back);
        }
#if HAC_INDEX_BYTES
        /* the indices in the same way, through the same memory */
        __local number *numbers = (__local number *)keys;
        number next[RUN];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint r = 0; r < RUN; r++) {
            uint i = r * GROUP + me;
            numbers[PLACE(i)] = first ? (number)(tile + i) : i < n ? index_in[tile + i] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint r = 0; r < RUN; r++)
            next[r] = numbers[me * (RUN + 1) + r];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint r = 0; r < RUN; r++)
            numbers[PLACE(place[r])] = next[r];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint r = 0; r < RUN; r++)
            if (to[r] < items)
                index_out[to[r]] = numbers[PLACE(r * GROUP + me)];
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < DIGITS)
            begin[me] += many[me];
    }
}
