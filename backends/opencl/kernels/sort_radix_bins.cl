/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A leaf's bins of about KEYS_A_BIN keys: filled by value, sorted by a network, written one after the other.
 * sort_radix_leaf.cl includes this file once for each width of slots. SLOT_BITS is the width of a key, or 16
 * if the keys of a bin differ in 16 bits at most: then half as many cache lines wait for their next key, and
 * a row of the network has twice the bins. BINS(name) is a name with the width.
 *
 * A group is as many bins as fit a row in one register of most processors: with wider vectors the network
 * would have more rows than there are registers. 64-bit rows are signed, since processors can compare signed
 * rows.
 */
#undef BINS
#undef GROUP
#undef ROW_MAX
#undef TO_ROW
#undef FROM_ROW
#undef ROW_NUMBERS
#undef TO_LIMITS
#undef WIDE
#undef TRANSPOSE
#undef STORE_COLUMN
#undef VALUES_OF
#undef KEYS_OF
#undef KEY_OF

#if SLOT_BITS == 16
#define BINS(name) name##_16
#define GROUP      16
typedef ushort BINS(slot);
typedef ushort16 BINS(row);
typedef uint16 BINS(row_ids);
#define ROW_MAX      USHRT_MAX
#define TO_ROW(v)    (v)
#define FROM_ROW(v)  as_ushort16(v)
#define ROW_NUMBERS  (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define TO_LIMITS(v) NARROW(v)
#define WIDE(v)      (v)
#elif SLOT_BITS == 32
#define BINS(name)   name##_32
#define GROUP        8
typedef uint BINS(slot);
typedef uint8 BINS(row);
typedef uint8 BINS(row_ids);
#define ROW_MAX      UINT_MAX
#define TO_ROW(v)    (v)
#define FROM_ROW(v)  (v)
#define ROW_NUMBERS  (uint8)(0, 1, 2, 3, 4, 5, 6, 7)
#define TO_LIMITS(v) (v)
#define WIDE(v)      ((uint16)((v), (uint8)0))
#else
#define BINS(name)   name##_64
#define GROUP        4
typedef ulong BINS(slot);
typedef long4 BINS(row);
typedef uint4 BINS(row_ids);
#define ROW_MAX      LONG_MAX
#define TO_ROW(v)    as_long4((v) ^ ((key)1 << 63))
#define FROM_ROW(v)  (as_ulong4(v) ^ ((key)1 << 63))
#define ROW_NUMBERS  (uint4)(0, 1, 2, 3)
#define TO_LIMITS(v) convert_long4(v)
#define WIDE(v)      ((uint16)((v), (uint4)0, (uint8)0))
#endif

#if SLOT_BITS == 16
typedef ushort16 BINS(loose_row) __attribute__((aligned(2)));
#define VALUES_OF const ushort *
/* A slot holds the difference between a key and its bin's lowest value. */
#define KEY_OF(value, lowest)   ((key)(value) + (lowest))
#define KEYS_OF(column, lowest) (convert_uint16(*(const BINS(loose_row) *)(column)) + (keys)(lowest))
#else
typedef loose_part BINS(loose_row);
#define VALUES_OF               __global const key *
#define KEY_OF(value, lowest)   (value)
#define KEYS_OF(column, lowest) LOAD_OWN(column)
#endif
typedef BINS(row_ids) BINS(loose_ids) __attribute__((aligned(4)));

/* `bin`: of each value. Positions are computed first, four at a time, and their lines are prefetched;
 * otherwise each store would wait. */
inline void BINS(into_bins)(VALUES_OF v, uint n, uint *bin, uint *at, __global BINS(slot) *restrict slots)
{
    size_t k = 0;
    for (; k + TOGETHER <= n; k += TOGETHER) {
        uint *place = bin + k;
        for (size_t i = 0; i < TOGETHER; i += 4) {
            uint4 b = LOAD_FOUR(place + i), p;
            p.x = at[b.x];
            at[b.x] = p.x + GROUP;
            p.y = at[b.y];
            at[b.y] = p.y + GROUP;
            p.z = at[b.z];
            at[b.z] = p.z + GROUP;
            p.w = at[b.w];
            at[b.w] = p.w + GROUP;
            FETCH_FOR_WRITE(slots + p.x);
            FETCH_FOR_WRITE(slots + p.y);
            FETCH_FOR_WRITE(slots + p.z);
            FETCH_FOR_WRITE(slots + p.w);
            STORE_FOUR(p, place + i);
        }
#pragma unroll 4
        for (size_t i = 0; i < TOGETHER; i++)
            slots[place[i]] = v[k + i];
    }
#pragma unroll 4
    for (; k < n; k++) {
        size_t b = bin[k];
        uint p = at[b];
        at[b] = p + GROUP;
        slots[p] = v[k];
    }
}

/*
 * Puts keys into bins of SLOTS slots by value. Slots of GROUP neighbouring bins are interleaved, so that a
 * row of them is one vector. The inner loop does not check for full bins: a bin runs on into the slots of the
 * next group, and the caller learns it after at most BIN_BLOCK keys, for which the slots have space.
 */
inline bool BINS(fill_bins)(__global const key *a, uint n, binning by, uint *at,
                            __global BINS(slot) *restrict slots)
{
    BINS(row_ids) first = ROW_NUMBERS;
    for (uint g = 0; g < by.bins; g += GROUP, first += (BINS(row_ids))(SLOTS * GROUP))
        *(BINS(loose_ids) *)(at + g) = first;
    uint bin[BIN_BLOCK];
#if SLOT_BITS == 16
    ushort low[BIN_BLOCK];
#endif
    for (uint from = 0; from < n; from += BIN_BLOCK) {
        uint some = min((uint)BIN_BLOCK, n - from);
        __global const key *v = a + from;
        uint i = 0;
        for (; i + LANES <= some; i += LANES) {
            keys d = LOAD(v + i) - by.min;
            ids b = (TO_IDS(min(d >> (keys)by.shift, (keys)by.last)) * by.scale) >> (ids)16;
            STORE_IDS(b, bin + i);
#if SLOT_BITS == 16
            *(BINS(loose_row) *)(low + i) = NARROW(d - (((b * by.inverse) >> (ids)16) << (ids)by.shift));
#endif
        }
        for (; i < some; i++) {
            key d = v[i] - by.min;
            bin[i] = ((uint)min(d >> by.shift, (key)by.last) * by.scale) >> 16;
#if SLOT_BITS == 16
            low[i] = (ushort)(d - (((bin[i] * by.inverse) >> 16) << by.shift));
#endif
        }
#if SLOT_BITS == 16
        BINS(into_bins)(low, some, bin, at, slots);
#else
        BINS(into_bins)(v, some, bin, at, slots);
#endif
        BINS(row_ids) over = 0, end = ROW_NUMBERS + (BINS(row_ids))(SLOTS * GROUP);
        for (uint g = 0; g < by.bins; g += GROUP, end += (BINS(row_ids))(SLOTS * GROUP))
            over |= max(*(const BINS(loose_ids) *)(at + g), end) ^ end;
        if (nonzero(WIDE(over)))
            return false;
    }
    return true;
}

#define STORE_COLUMN(j, n, v) *(BINS(loose_row) *)(columns[j] + n) = FROM_ROW(v);
#if SLOT_BITS == 64
#define TRANSPOSE                                                                                            \
    SQUARE(0, r0, r1, r2, r3)                                                                                \
    SQUARE(4, r4, r5, r6, r7) SQUARE(8, r8, r9, r10, r11) SQUARE(12, r12, r13, r14, r15)
#elif SLOT_BITS == 32
#define TRANSPOSE                                                                                            \
    SQUARE(0, 0, 4, r0, r1, r2, r3, r4, r5, r6, r7) SQUARE(8, 0, 4, r8, r9, r10, r11, r12, r13, r14, r15)
#else
#define TRANSPOSE                                                                                            \
    SQUARE(0, 0, 8, LOW_SHORTS(r0, r1), LOW_SHORTS(r2, r3), LOW_SHORTS(r4, r5), LOW_SHORTS(r6, r7),          \
           LOW_SHORTS(r8, r9), LOW_SHORTS(r10, r11), LOW_SHORTS(r12, r13), LOW_SHORTS(r14, r15))             \
    SQUARE(0, 4, 12, HIGH_SHORTS(r0, r1), HIGH_SHORTS(r2, r3), HIGH_SHORTS(r4, r5), HIGH_SHORTS(r6, r7),     \
           HIGH_SHORTS(r8, r9), HIGH_SHORTS(r10, r11), HIGH_SHORTS(r12, r13), HIGH_SHORTS(r14, r15))
#endif

/* Sorts the bins of a group; columns: the first ROWS values of each. */
inline void BINS(sort_group)(__global const BINS(slot) * slots, BINS(row_ids) filled,
                             BINS(slot) (*columns)[ROWS])
{
    typedef BINS(row) row;
    row r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15;
    row limit = TO_LIMITS(filled);
#define LOAD_ROW(k)                                                                                          \
    r##k = select((row)ROW_MAX, TO_ROW(*(__global const BINS(loose_row) *)(slots + k * GROUP)),              \
                  limit > (row)(k));
    EACH_ROW(LOAD_ROW)
#undef LOAD_ROW
    SORT16
    TRANSPOSE
}

/* Writes whole columns; the surplus of one is overwritten by the next. Returns the number of keys that
 * remain. */
inline uint BINS(store_columns)(BINS(slot) (*columns)[ROWS], const uint *size, const uint *lowest,
                                __global key *restrict out, key_order o, bool identity)
{
    uint p = 0;
#pragma unroll
    for (uint j = 0; j < GROUP; j++) {
        for (uint k = 0; k < ROWS; k += LANES) {
            keys v = KEYS_OF(columns[j] + k, lowest[j]);
            STORE(identity ? v : unmap_keys(v, o), out + p + k);
        }
        p += size[j];
    }
    return p;
}

/* Inserts the keys that the network did not see into the sorted ones. */
inline void BINS(store_bin)(const BINS(slot) * column, __global const BINS(slot) * slots, uint size,
                            uint lowest, __global key *out, key_order o)
{
    for (uint k = 0; k < min(size, (uint)ROWS); k++)
        out[k] = unmap_key(KEY_OF(column[k], lowest), o);
    for (uint k = ROWS; k < size; k++) {
        key m = KEY_OF(slots[k * GROUP], lowest);
        uint i = k;
        for (; i > 0 && map_key(out[i - 1], o) > m; i--)
            out[i] = out[i - 1];
        out[i] = unmap_key(m, o);
    }
}

/* Bins that may have more than ROWS keys, or no space after them. */
inline uint BINS(store_bins)(BINS(slot) (*columns)[ROWS], const uint *size, const uint *lowest,
                             __global const BINS(slot) * slots, __global key *out, key_order o)
{
    uint p = 0;
    for (uint j = 0; j < GROUP; j++) {
        BINS(store_bin)(columns[j], slots + j, size[j], lowest[j], out + p, o);
        p += size[j];
    }
    return p;
}

/* Sorts the bins and writes them one after the other. `soon` is read next. */
inline void BINS(drain_bins)(__global const BINS(slot) *restrict slots, const uint *at, binning by,
                             __global key *restrict out, uint n, key_order o, bool identity,
                             __global const key *soon)
{
    uint p = 0;
    BINS(row_ids) number = ROW_NUMBERS;
    for (uint g = 0; g < by.bins; g += GROUP, slots += SLOTS * GROUP, number += GROUP) {
        BINS(slot) columns[GROUP][ROWS];
        uint size[GROUP], lowest[GROUP] = {0};
        for (uint k = 0; k < GROUP * KEYS_A_BIN; k += 64 / sizeof(key))
            FETCH(soon + g * KEYS_A_BIN + k);
        BINS(row_ids)
        filled = (*(const BINS(loose_ids) *)(at + g) - (BINS(row_ids))(g * SLOTS)) / (BINS(row_ids))GROUP;
        *(BINS(loose_ids) *)size = filled;
#if SLOT_BITS == 16
        *(BINS(loose_ids) *)lowest = (((number * by.inverse) >> (ids)16) << (ids)by.shift) + by.min;
#endif
        BINS(sort_group)(slots, filled, columns);
        bool full = nonzero(WIDE(max(filled, (BINS(row_ids))ROWS) ^ (BINS(row_ids))ROWS));
        p += full || n - p < GROUP * ROWS ? BINS(store_bins)(columns, size, lowest, slots, out + p, o)
                                          : BINS(store_columns)(columns, size, lowest, out + p, o, identity);
    }
}
