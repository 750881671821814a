/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition sort, block style: one work-item a group, a work-item is a worker that takes chunks or
 * buckets until none is left. HAC_KEY_BITS is 32 or 64; HAC_INDEX_BYTES is 0 (keys are sorted), 4 or 8 (their
 * indices are). What the tables hold: base/radix_layout.h.
 *
 *   radix_count    keys of each bucket in every chunk
 *   radix_scatter  stable scatter of the mapped keys (and their indices) to their buckets
 *   radix_leaf     sorts each bucket in place and un-maps its keys, or sorts their indices
 *
 * The machine this was measured on retires about four instructions a cycle in these loops and cannot
 * overlap more stores than its store queue holds. So: everything that vectors can do (map, cell, bin) is
 * done a block at a time into private memory, the scalar loops hold nothing but table look-ups and
 * stores, and the lines that a scatter will touch next are fetched for writing ahead of time.
 */
#pragma OPENCL FP_CONTRACT OFF

#if HAC_KEY_BITS == 64
typedef ulong key;
typedef ulong8 keys;
typedef uint8 ids;
#define LANES 8
#define AS_SIGNED(v) as_long8(v)
#define AS_UNSIGNED(v) as_ulong8(v)
#define WIDE(v) ((uint16)(as_uint8(v), (uint8)0))
#define TO_IDS(v) convert_uint8(v)
#define LANE_NUMBERS (ids)(0, 1, 2, 3, 4, 5, 6, 7)
#define BELOW(n, limit, then, otherwise) select(otherwise, then, convert_long8((limit) > (ids)(n)))
#define TO_BITS(v) as_uint16(v)
#define LOG_FRACTION 7 /* bits */
#else
typedef uint key;
typedef uint16 keys;
typedef uint16 ids;
#define LANES 16
#define AS_SIGNED(v) as_int16(v)
#define AS_UNSIGNED(v) as_uint16(v)
#define WIDE(v) as_uint16(v)
#define TO_IDS(v) (v)
#define LANE_NUMBERS (ids)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define BELOW(n, limit, then, otherwise) select(otherwise, then, (limit) > (ids)(n))
#define TO_BITS(v) (v)
#define LOG_FRACTION 8
#endif
/* PoCL builds vloadn and vstoren from quarters and convert_ushortn lane by lane, and LLVM does not always
 * put them together again: vectors are moved through under-aligned vector types, ids stay 32 bits wide. */
typedef keys loose_keys __attribute__((aligned(sizeof(key))));
typedef ids loose_ids __attribute__((aligned(4)));
#define LOAD(p) (*(__global const loose_keys *)(p))
#define STORE(v, p) (*(__global loose_keys *)(p) = (v))
#define LOAD_OWN(p) (*(const loose_keys *)(p))
#define STORE_OWN(v, p) (*(loose_keys *)(p) = (v))
#define LOAD_IDS(p) (*(const loose_ids *)(p))
#define STORE_IDS(v, p) (*(loose_ids *)(p) = (v))
#define LOG_MASK ((key)((1 << LOG_FRACTION) - 1))
#define KEY_MAX ((key)~(key)0)

#if HAC_INDEX_BYTES == 8
typedef ulong number;
#elif HAC_INDEX_BYTES == 4
typedef uint number;
#endif

/* A line that will be written soon. A store that misses waits at the head of the store queue; with
 * hundreds of streams this halves the time of a scatter. Never faults. */
#if defined(__x86_64__) && defined(__clang__)
#define FETCH(p) __asm__ volatile("prefetcht0 %0" : : "m"(*(p)))
#define FETCH_FOR_WRITE(p) __asm__ volatile("prefetchw %0" : : "m"(*(p)))
#else
#define FETCH(p)
#define FETCH_FOR_WRITE(p)
#endif

/* any(v) is compiled lane by lane as well. */
inline bool nonzero(uint16 v)
{
    uint8 w = v.lo | v.hi;
    uint4 x = w.lo | w.hi;
    uint2 y = x.lo | x.hi;
    return (y.x | y.y) != 0;
}

#define BLOCK 256        /* keys whose cells are computed together */
#define MAX_BUCKETS 6144 /* HAC_RADIX_MAX_BUCKETS */
#define CELLS_LINEAR 0
#define CELLS_LOG 1
#define CELLS_TREE 2

/* base/type.h: four masks that make unsigned comparison the job's order; `top` makes all NaNs one key
 * where only the order of indices is wanted (all ones: keep them). */
typedef struct {
    key flip, sign, rotate, reverse, top;
} key_order;

inline keys map_keys(keys x, key_order o)
{
    keys negative = AS_UNSIGNED(AS_SIGNED(x) >> (HAC_KEY_BITS - 1));
    return min((x ^ (negative & o.flip) ^ o.sign) - o.rotate, (keys)o.top) ^ o.reverse;
}

inline keys unmap_keys(keys m, key_order o)
{
    keys y = ((m ^ o.reverse) + o.rotate) ^ o.sign;
    keys negative = AS_UNSIGNED(AS_SIGNED(y) >> (HAC_KEY_BITS - 1));
    return y ^ (negative & o.flip);
}

inline key map_key(key x, key_order o)
{
    key negative = x >> (HAC_KEY_BITS - 1) ? KEY_MAX : 0;
    return min((x ^ (negative & o.flip) ^ o.sign) - o.rotate, o.top) ^ o.reverse;
}

inline key unmap_key(key m, key_order o)
{
    key y = ((m ^ o.reverse) + o.rotate) ^ o.sign;
    key negative = y >> (HAC_KEY_BITS - 1) ? KEY_MAX : 0;
    return y ^ (negative & o.flip);
}

/* How a mapped key finds its cell: base/radix_layout.h. Integers only, so that every device agrees. */
typedef struct {
    key base;
    uint method, shift, last, scale, levels;
    __global const key *splitters;
} cell_map;

inline ids linear_cells(keys m, cell_map c)
{
    keys d = max(m, (keys)c.base) - c.base;
    return (TO_IDS(min(d >> (keys)c.shift, (keys)c.last)) * c.scale) >> (ids)16;
}

inline ids log_cells(keys m, cell_map c)
{
    keys d = max(m, (keys)c.base) - c.base;
    d = max(d + (key)1, d); /* 1 … all ones */
    keys zeros = clz(d);
    keys fraction = ((d << zeros) >> (keys)(HAC_KEY_BITS - 1 - LOG_FRACTION)) & LOG_MASK;
    return TO_IDS((((keys)(HAC_KEY_BITS - 1) - zeros) << (keys)LOG_FRACTION) | fraction);
}

/* Twice the number of splitters below m, plus one if m is the next splitter; for four keys, which hides the
 * latency of the steps. */
inline void tree_cells(const key *m, cell_map c, uint *cells)
{
    size_t i[4] = {0, 0, 0, 0};
    for (size_t step = ((size_t)1 << c.levels) >> 1; step != 0; step >>= 1)
#pragma unroll
        for (uint k = 0; k < 4; k++) {
            size_t next = i[k] + step;
            i[k] = c.splitters[next - 1] < m[k] ? next : i[k];
        }
#pragma unroll
    for (uint k = 0; k < 4; k++)
        cells[k] = (uint)(2 * i[k]) + (c.splitters[i[k]] == m[k] ? 1 : 0);
}

/* Up to a block of keys; a short one is filled up with its last key so that the same code serves it. */
inline void load_block(__global const key *in, uint items, key *block)
{
    if (items == BLOCK)
        for (uint i = 0; i < BLOCK; i += LANES)
            STORE_OWN(LOAD(in + i), block + i);
    else
        for (uint i = 0; i < BLOCK; i++)
            block[i] = in[min(i, items - 1)];
}

/* A block is read at once and then nothing for a while, which the hardware's prefetcher does not follow. */
inline void fetch_block(__global const key *in, uint from, uint n)
{
    if (from + BLOCK <= n)
        for (uint k = 0; k < BLOCK; k += 64 / sizeof(key))
            FETCH(in + from + k);
}

/* The smallest and the largest cell of a block. */
typedef struct {
    uint first, last;
} cell_range;

inline cell_range range_of(ids least, ids most)
{
#if LANES == 16
    uint8 l = min(least.lo, least.hi), m = max(most.lo, most.hi);
#else
    uint8 l = least, m = most;
#endif
    uint4 l4 = min(l.lo, l.hi), m4 = max(m.lo, m.hi);
    uint2 l2 = min(l4.lo, l4.hi), m2 = max(m4.lo, m4.hi);
    cell_range r = {min(l2.x, l2.y), max(m2.x, m2.y)};
    return r;
}

inline cell_range cells_by(const uint method, key *block, key_order o, cell_map c, uint *cells)
{
    ids least = ~(ids)0, most = 0;
    for (uint i = 0; i < BLOCK; i += LANES) {
        keys m = map_keys(LOAD_OWN(block + i), o);
        STORE_OWN(m, block + i);
        if (method == CELLS_TREE) {
            for (uint k = 0; k < LANES; k += 4)
                tree_cells(block + i + k, c, cells + i + k);
        } else {
            STORE_IDS(method == CELLS_LINEAR ? linear_cells(m, c) : log_cells(m, c), cells + i);
        }
        ids cell = LOAD_IDS(cells + i);
        least = min(least, cell);
        most = max(most, cell);
    }
    return range_of(least, most);
}

/* Maps the keys of a block in place and finds their cells. */
inline cell_range block_cells(key *block, key_order o, cell_map c, uint *cells)
{
    if (c.method == CELLS_LINEAR)
        return cells_by(CELLS_LINEAR, block, o, c, cells);
    if (c.method == CELLS_LOG)
        return cells_by(CELLS_LOG, block, o, c, cells);
    return cells_by(CELLS_TREE, block, o, c, cells);
}

/* `next` begins at the number of groups: each takes the job of its own number first, then the next free one. */
__kernel void radix_count(__global const key *restrict in, ulong items, uint chunk_items, uint chunks,
                          __global const ushort *restrict table, __global const key *restrict splitters,
                          key base, uint method, uint shift, uint last, uint scale, uint levels,
                          key flip, key sign, key rotate, key reverse, key top,
                          uint buckets, uint row_items, __global ulong *restrict counts,
                          volatile __global uint *restrict next)
{
    key_order o = {flip, sign, rotate, reverse, top};
    cell_map c = {base, method, shift, last, scale, levels, splitters};
    uint histogram[2][MAX_BUCKETS];
    uint cells[BLOCK];
    key block[BLOCK];
    for (uint chunk = get_group_id(0); chunk < chunks; chunk = atomic_inc(next)) {
        ulong first = (ulong)chunk * chunk_items;
        uint n = (uint)min((ulong)chunk_items, items - first);
        for (uint b = 0; b < buckets; b++)
            histogram[0][b] = histogram[1][b] = 0;
        for (uint at = 0; at < n; at += BLOCK) {
            uint some = min((uint)BLOCK, n - at);
            load_block(in + first + at, some, block);
            fetch_block(in + first, at + 2 * BLOCK, n);
            cell_range r = block_cells(block, o, c, cells);
            if (r.first == r.last) {
                histogram[0][table[r.first]] += some;
            } else if (some == BLOCK) {
                for (uint i = 0; i < BLOCK; i += 4) {
                    histogram[0][table[cells[i]]]++;
                    histogram[1][table[cells[i + 1]]]++;
                    histogram[0][table[cells[i + 2]]]++;
                    histogram[1][table[cells[i + 3]]]++;
                }
            } else {
                for (uint i = 0; i < some; i++)
                    histogram[0][table[cells[i]]]++;
            }
        }
        __global ulong *row = counts + (ulong)chunk * row_items;
        for (uint b = 0; b < buckets; b++)
            row[b] = (ulong)histogram[0][b] + histogram[1][b];
    }
}

/*
 * What keeps a scatter inside the output without a test of every key. Buckets below `critical` have `room` keys
 * before the end of the output; a block whose keys all go there needs no test. Empty buckets at the end and the
 * last one of the last chunk are critical.
 */
typedef struct {
    uint critical, room;
} fence;

inline fence build_fence(const uint *at, uint buckets, uint limit)
{
    uint near = max(limit, (uint)(4 * BLOCK)) - 4 * BLOCK, most = 0, b = 0;
    while (b < buckets && at[b] < near) {
        most = max(most, at[b]);
        b++;
    }
    fence f = {b, limit - most};
    return f;
}

#if HAC_INDEX_BYTES
#define AND_INDEX(restrictness) , __global number *restrictness index
#define PUT_INDEX(place, value) index[place] = (number)(value)
#define FETCH_INDEX(place) FETCH_FOR_WRITE(index + (place) + 64 / HAC_INDEX_BYTES)
#define PASS_INDEX , index
#else
#define AND_INDEX(restrictness)
#define PUT_INDEX(place, value)
#define FETCH_INDEX(place)
#define PASS_INDEX
#endif

/* A whole block whose keys all go into one bucket. */
inline void scatter_run(const key *block, uint p, __global key *restrict out, ulong first AND_INDEX(restrict))
{
    for (uint i = 0; i < BLOCK; i += LANES)
        STORE(LOAD_OWN(block + i), out + p + i);
#if HAC_INDEX_BYTES
    for (uint i = 0; i < BLOCK; i++)
        PUT_INDEX(p + i, first + i);
#endif
}

/* A whole block. `first` is the index of its first key. */
inline void scatter_block(const key *block, const uint *cells, __global const ushort *restrict table, uint *at,
                          __global key *restrict out, ulong first AND_INDEX(restrict))
{
#pragma unroll 4
    for (size_t i = 0; i < BLOCK; i++) {
        size_t b = table[cells[i]];
        uint p = at[b];
        at[b] = p + 1;
        out[p] = block[i];
        FETCH_FOR_WRITE(out + p + 64 / sizeof(key));
        PUT_INDEX(p, first + i);
        FETCH_INDEX(p);
    }
}

/* Part of a block, or one that might not fit: counts that do not agree with the data (they lie in memory that
 * others can write) must not become a write outside the output, so what lies behind `limit` is dropped. */
inline void scatter_checked(const key *block, const uint *cells, uint some, uint limit,
                            __global const ushort *restrict table, uint *at, __global key *restrict out,
                            ulong first AND_INDEX(restrict))
{
    for (uint i = 0; i < some; i++) {
        uint b = table[cells[i]], p = at[b];
        if (p >= limit)
            continue;
        at[b] = p + 1;
        out[p] = block[i];
        PUT_INDEX(p, first + i);
    }
}

inline void scatter_chunk(__global const key *restrict in, uint n, ulong first,
                          __global const ushort *restrict table, key_order o, cell_map c, uint buckets,
                          __global const ulong *restrict starts, uint limit,
                          __global key *restrict out AND_INDEX(restrict))
{
    uint at[MAX_BUCKETS];
    uint cells[2][BLOCK];
    key block[2][BLOCK];
    for (uint b = 0; b < buckets; b++)
        at[b] = (uint)min(starts[b], (ulong)limit);
    fence f = build_fence(at, buckets, limit);
    load_block(in, min((uint)BLOCK, n), block[0]);
    cell_range r = block_cells(block[0], o, c, cells[0]);
    for (uint i = 0, turn = 0; i < n; i += BLOCK, turn ^= 1) {
        /* One block ahead: a load of what was just stored would wait behind the stores of the scatter
         * that are still on their way to memory. */
        cell_range next_r = r;
        if (n - i > BLOCK) {
            load_block(in + i + BLOCK, min((uint)BLOCK, n - i - BLOCK), block[turn ^ 1]);
            next_r = block_cells(block[turn ^ 1], o, c, cells[turn ^ 1]);
        }
        fetch_block(in, i + 2 * BLOCK, n);
        uint some = min((uint)BLOCK, n - i);
        if (f.room < BLOCK)
            f = build_fence(at, buckets, limit);
        f.room -= BLOCK;
        if (some < BLOCK || table[r.last] >= f.critical) {
            scatter_checked(block[turn], cells[turn], some, limit, table, at, out, first + i PASS_INDEX);
        } else if (r.first == r.last) {
            uint b = table[r.first];
            scatter_run(block[turn], at[b], out, first + i PASS_INDEX);
            at[b] += BLOCK;
        } else {
            scatter_block(block[turn], cells[turn], table, at, out, first + i PASS_INDEX);
        }
        r = next_r;
    }
}

/* out holds `limit` keys; starts are places in it. first_index: of in[0]. */
__kernel void radix_scatter(__global const key *restrict in, ulong items, uint chunk_items, uint chunks,
                            __global const ushort *restrict table, __global const key *restrict splitters,
                            key base, uint method, uint shift, uint last, uint scale, uint levels,
                            key flip, key sign, key rotate, key reverse, key top,
                            uint buckets, uint row_items, __global const ulong *restrict starts,
                            volatile __global uint *restrict next, uint limit, ulong first_index,
                            __global key *restrict out AND_INDEX(restrict))
{
    key_order o = {flip, sign, rotate, reverse, top};
    cell_map c = {base, method, shift, last, scale, levels, splitters};
    for (uint chunk = get_group_id(0); chunk < chunks; chunk = atomic_inc(next)) {
        ulong from = (ulong)chunk * chunk_items;
        scatter_chunk(in + from, (uint)min((ulong)chunk_items, items - from), first_index + from, table, o, c,
                      buckets, starts + (ulong)chunk * row_items, limit, out PASS_INDEX);
    }
}

/* ---- leaf ---- */

typedef struct {
    key least, most;
    bool sorted;
} extent;

inline extent measure(__global const key *a, uint n)
{
    keys lo = KEY_MAX, hi = 0, down = 0;
    uint i = 0;
    for (; i + LANES < n; i += LANES) {
        keys v = LOAD(a + i);
        keys after = LOAD(a + i + 1);
        lo = min(lo, v);
        hi = max(hi, v);
        down |= max(v, after) ^ after;
    }
    key l[LANES], h[LANES], d[LANES];
    STORE_OWN(lo, l);
    STORE_OWN(hi, h);
    STORE_OWN(down, d);
    extent e = {KEY_MAX, 0, true};
    for (uint k = 0; k < LANES; k++) {
        e.least = min(e.least, l[k]);
        e.most = max(e.most, h[k]);
        e.sorted = e.sorted && d[k] == 0;
    }
    for (; i < n; i++) {
        e.least = min(e.least, a[i]);
        e.most = max(e.most, a[i]);
        e.sorted = e.sorted && (i == 0 || a[i - 1] <= a[i]);
    }
    return e;
}

#define LEAF_ITEMS 98304 /* HAC_RADIX_LEAF_ITEMS */
#define DIGIT_BITS 12

inline void digit_starts(__global const key *a, uint n, key least, uint shift, uint width, uint *at)
{
    uint digits = 1u << width;
    for (uint d = 0; d < digits; d++)
        at[d] = 0;
    for (size_t i = 0; i < n; i++)
        at[((a[i] - least) >> shift) & (digits - 1)]++;
    uint sum = 0;
    for (uint d = 0; d < digits; d++) {
        uint c = at[d];
        at[d] = sum;
        sum += c;
    }
}

#if HAC_INDEX_BYTES
#define AND_INDICES , __global const number *restrict index_from, __global number *restrict index_to, bool keys_too
#define MOVE_KEY(p, from, i) \
    if (keys_too)            \
        to[p] = from;        \
    index_to[p] = index_from[i];
#else
#define AND_INDICES
#define MOVE_KEY(p, from, i) to[p] = from;
#endif

/* One digit of a least-significant-digit sort, stable. */
inline void digit_pass(__global const key *restrict from, __global key *restrict to, uint n, key least, uint shift,
                       uint width, uint *at AND_INDICES)
{
    uint digit[BLOCK];
    key mask = (key)((1u << width) - 1);
    for (uint i = 0; i < n; i += BLOCK) {
        uint some = min((uint)BLOCK, n - i);
        uint k = 0;
        for (; k + LANES <= some; k += LANES)
            STORE_IDS(TO_IDS(((LOAD(from + i + k) - least) >> (keys)shift) & mask), digit + k);
        for (; k < some; k++)
            digit[k] = (uint)(((from[i + k] - least) >> shift) & mask);
        for (size_t j = 0; j < some; j++) {
            size_t d = digit[j];
            uint p = at[d];
            at[d] = p + 1;
            MOVE_KEY(p, from[i + j], i + j)
        }
    }
}

inline uint significant_bits(extent e)
{
    return HAC_KEY_BITS - (uint)clz(e.most - e.least);
}

#if HAC_INDEX_BYTES == 0

/* A comparator of M. W. Green's sorting network of 16 rows (60 comparators). Each lane sorts its column. */
#define C(i, j)                      \
    {                                \
        keys lower = min(r##i, r##j); \
        r##j = max(r##i, r##j);      \
        r##i = lower;                \
    }
#define SORT16 \
    C(0, 1) C(2, 3) C(4, 5) C(6, 7) C(8, 9) C(10, 11) \
    C(12, 13) C(14, 15) C(0, 2) C(1, 3) C(4, 6) C(5, 7) \
    C(8, 10) C(9, 11) C(12, 14) C(13, 15) C(0, 4) C(1, 5) \
    C(2, 6) C(3, 7) C(8, 12) C(9, 13) C(10, 14) C(11, 15) \
    C(0, 8) C(1, 9) C(2, 10) C(3, 11) C(4, 12) C(5, 13) \
    C(6, 14) C(7, 15) C(5, 10) C(6, 9) C(3, 12) C(13, 14) \
    C(4, 8) C(7, 11) C(1, 2) C(1, 4) C(7, 13) C(2, 8) \
    C(11, 14) C(2, 4) C(5, 6) C(9, 10) C(11, 13) C(3, 8) \
    C(7, 12) C(6, 8) C(10, 12) C(3, 5) C(7, 9) C(3, 4) \
    C(5, 6) C(7, 8) C(9, 10) C(11, 12) C(6, 7) C(8, 9)
#define ROWS 16       /* what the network sorts */
/* Of a bin: the few that get more than ROWS keys are finished by insertion. No power of two, so that groups
 * of bins do not meet in the same sets of the cache. */
#define SLOTS 24
#define KEYS_A_BIN 7  /* mean: of random keys 1 bin in 10^3 gets more than ROWS, 1 in 10^7 more than SLOTS */

#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

inline void unmap_run(__global const key *from, __global key *to, uint n, key_order o)
{
    uint i = 0;
    for (; i + LANES <= n; i += LANES)
        STORE(unmap_keys(LOAD(from + i), o), to + i);
    if (i == n)
        return;
    key rest[LANES];
    for (uint k = 0; k < n - i; k++)
        rest[k] = from[i + k];
    STORE_OWN(unmap_keys(LOAD_OWN(rest), o), rest);
    for (uint k = 0; k < n - i; k++)
        to[i + k] = rest[k];
}

#define BIN_BLOCK 2048
#define MAX_BINS 14080 /* of LEAF_ITEMS keys */

/* The bin of m is (((m - least) >> shift) · scale) >> 16: all bins are used, and no key gets a bin too high even
 * if it changes meanwhile. */
typedef struct {
    key least;
    uint shift, last, scale, bins;
} binning;

inline binning binning_of(extent e, uint n)
{
    uint bits = significant_bits(e);
    binning g = {e.least, max(bits, 16u) - 16, 0, 0, (n / KEYS_A_BIN + LANES) / LANES * LANES};
    g.last = (uint)((e.most - e.least) >> g.shift);
    g.scale = (g.bins << 16) / (g.last + 1);
    return g;
}

/*
 * Keys into bins of SLOTS slots, by value. Slots of LANES neighbouring bins are interleaved, so that a row of
 * them is one vector. Nothing stops a bin in the inner loop: it runs on into the slots of the next group,
 * and the caller is told after at most BIN_BLOCK keys (the slots have room for that).
 */
inline bool fill_bins(__global const key *a, uint n, binning by, uint *at, __global key *restrict slots)
{
    ids number = LANE_NUMBERS;
    for (uint i = 0; i < by.bins; i += LANES, number += (ids)(SLOTS * LANES))
        STORE_IDS(number, at + i);
    uint bin[BIN_BLOCK];
    for (uint from = 0; from < n; from += BIN_BLOCK) {
        uint some = min((uint)BIN_BLOCK, n - from);
        __global const key *v = a + from;
        uint i = 0;
        for (; i + LANES <= some; i += LANES)
            STORE_IDS((TO_IDS(min((LOAD(v + i) - by.least) >> (keys)by.shift, (keys)by.last)) * by.scale) >> (ids)16,
                      bin + i);
        for (; i < some; i++)
            bin[i] = ((uint)min((v[i] - by.least) >> by.shift, (key)by.last) * by.scale) >> 16;
#define INTO_BIN(k)             \
    {                           \
        size_t b = bin[k];      \
        uint p = at[b];         \
        at[b] = p + LANES;      \
        slots[p] = v[k];        \
    }
        size_t k = 0;
        for (; k + 4 <= some; k += 4) {
            INTO_BIN(k)
            INTO_BIN(k + 1)
            INTO_BIN(k + 2)
            INTO_BIN(k + 3)
        }
        for (; k < some; k++)
            INTO_BIN(k)
        ids over = 0;
        number = LANE_NUMBERS + (ids)(SLOTS * LANES);
        for (uint g = 0; g < by.bins; g += LANES, number += (ids)(SLOTS * LANES))
            over |= max(LOAD_IDS(at + g), number) ^ number;
        if (nonzero(WIDE(over)))
            return false;
    }
    return true;
}
/* LLVM folds rounds of shuffles into each other and so makes four times as many of them. */
#if defined(__x86_64__) && defined(__clang__) && defined(__AVX512F__)
#define KEEP(v) __asm__("" : "+v"(v));
#else
#define KEEP(v)
#endif
#define DECLARE_ROWS r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, \
    t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15
#if HAC_KEY_BITS == 64
#define LOW_HALVES(a, b) (keys)((a).s0, (b).s0, (a).s1, (b).s1, (a).s2, (b).s2, (a).s3, (b).s3)
#define HIGH_HALVES(a, b) (keys)((a).s4, (b).s4, (a).s5, (b).s5, (a).s6, (b).s6, (a).s7, (b).s7)
#define TRANSPOSE \
    t0 = LOW_HALVES(r0, r4); t1 = HIGH_HALVES(r0, r4); \
    t2 = LOW_HALVES(r1, r5); t3 = HIGH_HALVES(r1, r5); \
    t4 = LOW_HALVES(r2, r6); t5 = HIGH_HALVES(r2, r6); \
    t6 = LOW_HALVES(r3, r7); t7 = HIGH_HALVES(r3, r7); \
    KEEP(t0) KEEP(t1) KEEP(t2) KEEP(t3) KEEP(t4) KEEP(t5) KEEP(t6) KEEP(t7) \
    r0 = LOW_HALVES(t0, t4); r1 = HIGH_HALVES(t0, t4); \
    r2 = LOW_HALVES(t1, t5); r3 = HIGH_HALVES(t1, t5); \
    r4 = LOW_HALVES(t2, t6); r5 = HIGH_HALVES(t2, t6); \
    r6 = LOW_HALVES(t3, t7); r7 = HIGH_HALVES(t3, t7); \
    KEEP(r0) KEEP(r1) KEEP(r2) KEEP(r3) KEEP(r4) KEEP(r5) KEEP(r6) KEEP(r7) \
    t0 = LOW_HALVES(r0, r4); t1 = HIGH_HALVES(r0, r4); \
    t2 = LOW_HALVES(r1, r5); t3 = HIGH_HALVES(r1, r5); \
    t4 = LOW_HALVES(r2, r6); t5 = HIGH_HALVES(r2, r6); \
    t6 = LOW_HALVES(r3, r7); t7 = HIGH_HALVES(r3, r7); \
    KEEP(t0) KEEP(t1) KEEP(t2) KEEP(t3) KEEP(t4) KEEP(t5) KEEP(t6) KEEP(t7) \
    t8 = LOW_HALVES(r8, r12); t9 = HIGH_HALVES(r8, r12); \
    t10 = LOW_HALVES(r9, r13); t11 = HIGH_HALVES(r9, r13); \
    t12 = LOW_HALVES(r10, r14); t13 = HIGH_HALVES(r10, r14); \
    t14 = LOW_HALVES(r11, r15); t15 = HIGH_HALVES(r11, r15); \
    KEEP(t8) KEEP(t9) KEEP(t10) KEEP(t11) KEEP(t12) KEEP(t13) KEEP(t14) KEEP(t15) \
    r8 = LOW_HALVES(t8, t12); r9 = HIGH_HALVES(t8, t12); \
    r10 = LOW_HALVES(t9, t13); r11 = HIGH_HALVES(t9, t13); \
    r12 = LOW_HALVES(t10, t14); r13 = HIGH_HALVES(t10, t14); \
    r14 = LOW_HALVES(t11, t15); r15 = HIGH_HALVES(t11, t15); \
    KEEP(r8) KEEP(r9) KEEP(r10) KEEP(r11) KEEP(r12) KEEP(r13) KEEP(r14) KEEP(r15) \
    t8 = LOW_HALVES(r8, r12); t9 = HIGH_HALVES(r8, r12); \
    t10 = LOW_HALVES(r9, r13); t11 = HIGH_HALVES(r9, r13); \
    t12 = LOW_HALVES(r10, r14); t13 = HIGH_HALVES(r10, r14); \
    t14 = LOW_HALVES(r11, r15); t15 = HIGH_HALVES(r11, r15); \
    KEEP(t8) KEEP(t9) KEEP(t10) KEEP(t11) KEEP(t12) KEEP(t13) KEEP(t14) KEEP(t15)
#define STORE_COLUMNS \
    STORE(t0, out + p + 0); STORE(t8, out + p + 8); p += size[0]; \
    STORE(t1, out + p + 0); STORE(t9, out + p + 8); p += size[1]; \
    STORE(t2, out + p + 0); STORE(t10, out + p + 8); p += size[2]; \
    STORE(t3, out + p + 0); STORE(t11, out + p + 8); p += size[3]; \
    STORE(t4, out + p + 0); STORE(t12, out + p + 8); p += size[4]; \
    STORE(t5, out + p + 0); STORE(t13, out + p + 8); p += size[5]; \
    STORE(t6, out + p + 0); STORE(t14, out + p + 8); p += size[6]; \
    STORE(t7, out + p + 0); STORE(t15, out + p + 8); p += size[7];
#define STORE_COLUMNS_WITH_CARE \
    key column[ROWS]; \
    STORE_OWN(t0, column + 0); STORE_OWN(t8, column + 8); store_column(column, slots, g * SLOTS + 0, size[0], out + p, o); p += size[0]; \
    STORE_OWN(t1, column + 0); STORE_OWN(t9, column + 8); store_column(column, slots, g * SLOTS + 1, size[1], out + p, o); p += size[1]; \
    STORE_OWN(t2, column + 0); STORE_OWN(t10, column + 8); store_column(column, slots, g * SLOTS + 2, size[2], out + p, o); p += size[2]; \
    STORE_OWN(t3, column + 0); STORE_OWN(t11, column + 8); store_column(column, slots, g * SLOTS + 3, size[3], out + p, o); p += size[3]; \
    STORE_OWN(t4, column + 0); STORE_OWN(t12, column + 8); store_column(column, slots, g * SLOTS + 4, size[4], out + p, o); p += size[4]; \
    STORE_OWN(t5, column + 0); STORE_OWN(t13, column + 8); store_column(column, slots, g * SLOTS + 5, size[5], out + p, o); p += size[5]; \
    STORE_OWN(t6, column + 0); STORE_OWN(t14, column + 8); store_column(column, slots, g * SLOTS + 6, size[6], out + p, o); p += size[6]; \
    STORE_OWN(t7, column + 0); STORE_OWN(t15, column + 8); store_column(column, slots, g * SLOTS + 7, size[7], out + p, o); p += size[7];
#else
#define LOW_HALVES(a, b) (keys)((a).s0, (b).s0, (a).s1, (b).s1, (a).s2, (b).s2, (a).s3, (b).s3, (a).s4, (b).s4, (a).s5, (b).s5, (a).s6, (b).s6, (a).s7, (b).s7)
#define HIGH_HALVES(a, b) (keys)((a).s8, (b).s8, (a).s9, (b).s9, (a).sa, (b).sa, (a).sb, (b).sb, (a).sc, (b).sc, (a).sd, (b).sd, (a).se, (b).se, (a).sf, (b).sf)
#define TRANSPOSE \
    t0 = LOW_HALVES(r0, r8); t1 = HIGH_HALVES(r0, r8); \
    t2 = LOW_HALVES(r1, r9); t3 = HIGH_HALVES(r1, r9); \
    t4 = LOW_HALVES(r2, r10); t5 = HIGH_HALVES(r2, r10); \
    t6 = LOW_HALVES(r3, r11); t7 = HIGH_HALVES(r3, r11); \
    t8 = LOW_HALVES(r4, r12); t9 = HIGH_HALVES(r4, r12); \
    t10 = LOW_HALVES(r5, r13); t11 = HIGH_HALVES(r5, r13); \
    t12 = LOW_HALVES(r6, r14); t13 = HIGH_HALVES(r6, r14); \
    t14 = LOW_HALVES(r7, r15); t15 = HIGH_HALVES(r7, r15); \
    KEEP(t0) KEEP(t1) KEEP(t2) KEEP(t3) KEEP(t4) KEEP(t5) KEEP(t6) KEEP(t7) KEEP(t8) KEEP(t9) KEEP(t10) KEEP(t11) KEEP(t12) KEEP(t13) KEEP(t14) KEEP(t15) \
    r0 = LOW_HALVES(t0, t8); r1 = HIGH_HALVES(t0, t8); \
    r2 = LOW_HALVES(t1, t9); r3 = HIGH_HALVES(t1, t9); \
    r4 = LOW_HALVES(t2, t10); r5 = HIGH_HALVES(t2, t10); \
    r6 = LOW_HALVES(t3, t11); r7 = HIGH_HALVES(t3, t11); \
    r8 = LOW_HALVES(t4, t12); r9 = HIGH_HALVES(t4, t12); \
    r10 = LOW_HALVES(t5, t13); r11 = HIGH_HALVES(t5, t13); \
    r12 = LOW_HALVES(t6, t14); r13 = HIGH_HALVES(t6, t14); \
    r14 = LOW_HALVES(t7, t15); r15 = HIGH_HALVES(t7, t15); \
    KEEP(r0) KEEP(r1) KEEP(r2) KEEP(r3) KEEP(r4) KEEP(r5) KEEP(r6) KEEP(r7) KEEP(r8) KEEP(r9) KEEP(r10) KEEP(r11) KEEP(r12) KEEP(r13) KEEP(r14) KEEP(r15) \
    t0 = LOW_HALVES(r0, r8); t1 = HIGH_HALVES(r0, r8); \
    t2 = LOW_HALVES(r1, r9); t3 = HIGH_HALVES(r1, r9); \
    t4 = LOW_HALVES(r2, r10); t5 = HIGH_HALVES(r2, r10); \
    t6 = LOW_HALVES(r3, r11); t7 = HIGH_HALVES(r3, r11); \
    t8 = LOW_HALVES(r4, r12); t9 = HIGH_HALVES(r4, r12); \
    t10 = LOW_HALVES(r5, r13); t11 = HIGH_HALVES(r5, r13); \
    t12 = LOW_HALVES(r6, r14); t13 = HIGH_HALVES(r6, r14); \
    t14 = LOW_HALVES(r7, r15); t15 = HIGH_HALVES(r7, r15); \
    KEEP(t0) KEEP(t1) KEEP(t2) KEEP(t3) KEEP(t4) KEEP(t5) KEEP(t6) KEEP(t7) KEEP(t8) KEEP(t9) KEEP(t10) KEEP(t11) KEEP(t12) KEEP(t13) KEEP(t14) KEEP(t15) \
    r0 = LOW_HALVES(t0, t8); r1 = HIGH_HALVES(t0, t8); \
    r2 = LOW_HALVES(t1, t9); r3 = HIGH_HALVES(t1, t9); \
    r4 = LOW_HALVES(t2, t10); r5 = HIGH_HALVES(t2, t10); \
    r6 = LOW_HALVES(t3, t11); r7 = HIGH_HALVES(t3, t11); \
    r8 = LOW_HALVES(t4, t12); r9 = HIGH_HALVES(t4, t12); \
    r10 = LOW_HALVES(t5, t13); r11 = HIGH_HALVES(t5, t13); \
    r12 = LOW_HALVES(t6, t14); r13 = HIGH_HALVES(t6, t14); \
    r14 = LOW_HALVES(t7, t15); r15 = HIGH_HALVES(t7, t15); \
    KEEP(r0) KEEP(r1) KEEP(r2) KEEP(r3) KEEP(r4) KEEP(r5) KEEP(r6) KEEP(r7) KEEP(r8) KEEP(r9) KEEP(r10) KEEP(r11) KEEP(r12) KEEP(r13) KEEP(r14) KEEP(r15)
#define STORE_COLUMNS \
    STORE(r0, out + p + 0); p += size[0]; \
    STORE(r1, out + p + 0); p += size[1]; \
    STORE(r2, out + p + 0); p += size[2]; \
    STORE(r3, out + p + 0); p += size[3]; \
    STORE(r4, out + p + 0); p += size[4]; \
    STORE(r5, out + p + 0); p += size[5]; \
    STORE(r6, out + p + 0); p += size[6]; \
    STORE(r7, out + p + 0); p += size[7]; \
    STORE(r8, out + p + 0); p += size[8]; \
    STORE(r9, out + p + 0); p += size[9]; \
    STORE(r10, out + p + 0); p += size[10]; \
    STORE(r11, out + p + 0); p += size[11]; \
    STORE(r12, out + p + 0); p += size[12]; \
    STORE(r13, out + p + 0); p += size[13]; \
    STORE(r14, out + p + 0); p += size[14]; \
    STORE(r15, out + p + 0); p += size[15];
#define STORE_COLUMNS_WITH_CARE \
    key column[ROWS]; \
    STORE_OWN(r0, column + 0); store_column(column, slots, g * SLOTS + 0, size[0], out + p, o); p += size[0]; \
    STORE_OWN(r1, column + 0); store_column(column, slots, g * SLOTS + 1, size[1], out + p, o); p += size[1]; \
    STORE_OWN(r2, column + 0); store_column(column, slots, g * SLOTS + 2, size[2], out + p, o); p += size[2]; \
    STORE_OWN(r3, column + 0); store_column(column, slots, g * SLOTS + 3, size[3], out + p, o); p += size[3]; \
    STORE_OWN(r4, column + 0); store_column(column, slots, g * SLOTS + 4, size[4], out + p, o); p += size[4]; \
    STORE_OWN(r5, column + 0); store_column(column, slots, g * SLOTS + 5, size[5], out + p, o); p += size[5]; \
    STORE_OWN(r6, column + 0); store_column(column, slots, g * SLOTS + 6, size[6], out + p, o); p += size[6]; \
    STORE_OWN(r7, column + 0); store_column(column, slots, g * SLOTS + 7, size[7], out + p, o); p += size[7]; \
    STORE_OWN(r8, column + 0); store_column(column, slots, g * SLOTS + 8, size[8], out + p, o); p += size[8]; \
    STORE_OWN(r9, column + 0); store_column(column, slots, g * SLOTS + 9, size[9], out + p, o); p += size[9]; \
    STORE_OWN(r10, column + 0); store_column(column, slots, g * SLOTS + 10, size[10], out + p, o); p += size[10]; \
    STORE_OWN(r11, column + 0); store_column(column, slots, g * SLOTS + 11, size[11], out + p, o); p += size[11]; \
    STORE_OWN(r12, column + 0); store_column(column, slots, g * SLOTS + 12, size[12], out + p, o); p += size[12]; \
    STORE_OWN(r13, column + 0); store_column(column, slots, g * SLOTS + 13, size[13], out + p, o); p += size[13]; \
    STORE_OWN(r14, column + 0); store_column(column, slots, g * SLOTS + 14, size[14], out + p, o); p += size[14]; \
    STORE_OWN(r15, column + 0); store_column(column, slots, g * SLOTS + 15, size[15], out + p, o); p += size[15];
#endif
/* The keys of a bin that the network did not see, into those that it sorted (un-mapped already). */
inline void insert_rest(__global const key *slots, uint first, uint size, __global key *to, key_order o)
{
    for (uint k = ROWS; k < size; k++) {
        key m = slots[first + k * LANES];
        uint i = k;
        for (; i > 0 && map_key(to[i - 1], o) > m; i--)
            to[i] = to[i - 1];
        to[i] = unmap_key(m, o);
    }
}

inline void store_column(const key *column, __global const key *slots, uint first, uint size, __global key *to,
                         key_order o)
{
    for (uint k = 0; k < min(size, (uint)ROWS); k++)
        to[k] = column[k];
    insert_rest(slots, first, size, to, o);
}

/* Sorts the bins and writes them one behind the other. */
inline void drain_bins(__global const key *restrict slots, const uint *at, uint bins, __global key *restrict out,
                       uint n, key_order o, bool identity)
{
    uint p = 0;
    for (uint g = 0; g < bins; g += LANES) {
        ids filled = (LOAD_IDS(at + g) - (ids)(g * SLOTS)) / (ids)LANES;
        __global const key *row = slots + (size_t)g * SLOTS;
        keys DECLARE_ROWS;
#define LOAD_ROW(k) r##k = BELOW(k, filled, LOAD(row + k * LANES), (keys)KEY_MAX);
        EACH_ROW(LOAD_ROW)
        SORT16
        if (!identity) {
#define UNMAP_ROW(k) r##k = unmap_keys(r##k, o);
            EACH_ROW(UNMAP_ROW)
        }
        TRANSPOSE
        uint size[LANES];
        STORE_IDS(filled, size);
        if (p + SLOTS * LANES <= n && !nonzero(WIDE(filled > (ids)ROWS))) {
            STORE_COLUMNS
        } else {
            STORE_COLUMNS_WITH_CARE
        }
    }
}

/* Sorts n keys by all bits of their range; true if the result lies in b. */
inline bool digit_sort(__global key *a, __global key *b, uint n, extent e)
{
    uint at[1 << DIGIT_BITS];
    uint passes = (significant_bits(e) + DIGIT_BITS - 1) / DIGIT_BITS;
    uint width = (significant_bits(e) + passes - 1) / passes;
    for (uint pass = 0; pass < passes; pass++) {
        __global key *from = pass & 1 ? b : a;
        digit_starts(from, n, e.least, pass * width, width, at);
        digit_pass(from, pass & 1 ? a : b, n, e.least, pass * width, width, at);
    }
    return passes & 1;
}

/* Keys of a small range are counted and written anew. Counts that another's store to `a` has made wrong end at n. */
inline void sort_few_values(__global key *a, uint n, extent e, key_order o)
{
    uint many[1 << DIGIT_BITS];
    uint values = (uint)(e.most - e.least) + 1;
    for (uint d = 0; d < values; d++)
        many[d] = 0;
    for (size_t i = 0; i < n; i++)
        many[min(a[i] - e.least, e.most - e.least)]++;
    uint p = 0;
    for (uint d = 0; d < values; d++) {
        key v = unmap_key(e.least + d, o);
        uint end = p + many[d];
        for (; p + LANES <= end; p += LANES)
            STORE((keys)v, a + p);
        for (; p < end; p++)
            a[p] = v;
    }
}

/* Sorts and un-maps n mapped keys; scratch has room for n at least. */
inline void sort_keys(__global key *a, uint n, extent e, __global key *scratch, ulong scratch_items, key_order o,
                      bool identity)
{
    if (e.sorted) {
        if (!identity)
            unmap_run(a, a, n, o);
        return;
    }
    if (n <= LEAF_ITEMS) {
        uint at[MAX_BINS];
        binning by = binning_of(e, n);
        ulong slots = (ulong)by.bins * SLOTS + BIN_BLOCK * LANES;
        if (slots <= scratch_items && (e.most - e.least) >> 4 >= by.bins && fill_bins(a, n, by, at, scratch)) {
            drain_bins(scratch, at, by.bins, a, n, o, identity);
            return;
        }
    }
    if (significant_bits(e) <= DIGIT_BITS)
        sort_few_values(a, n, e, o);
    else if (digit_sort(a, scratch, n, e))
        unmap_run(scratch, a, n, o);
    else if (!identity)
        unmap_run(a, a, n, o);
}

/* Keys below v to the front of b, keys above it to the back; how many of each (x below, y above). */
inline uint2 split_around(__global const key *a, __global key *b, uint n, key v)
{
    uint2 many = (uint2)0;
    for (uint i = 0; i < n;) {
        if (n - i >= LANES && !nonzero(TO_BITS(LOAD(a + i) ^ v))) {
            i += LANES;
            continue;
        }
        for (uint end = min(n, i + LANES); i < end; i++) {
            if (a[i] < v)
                b[many.x++] = a[i];
            else if (a[i] > v)
                b[n - ++many.y] = a[i];
        }
    }
    return many;
}

/* A bucket beyond a leaf is one frequent key and little else, or the sample has missed something. */
inline void sort_bucket(__global key *a, uint n, __global key *scratch, ulong scratch_items, key_order o,
                        bool identity)
{
    extent e = measure(a, n);
    if (n > LEAF_ITEMS && !e.sorted) {
        key v = a[n / 2];
        uint2 many = split_around(a, scratch, n, v);
        uint equal = n - many.x - many.y;
        if (equal >= n / 2) {
            __global key *above = a + many.x + equal;
            for (uint i = 0; i < many.x; i++)
                a[i] = scratch[i];
            for (uint i = 0; i < many.y; i++)
                above[i] = scratch[n - many.y + i];
            for (uint i = 0; i < equal; i++)
                a[many.x + i] = unmap_key(v, o);
            sort_keys(a, many.x, measure(a, many.x), scratch, scratch_items, o, identity);
            sort_keys(above, many.y, measure(above, many.y), scratch, scratch_items, o, identity);
            return;
        }
    }
    sort_keys(a, n, e, scratch, scratch_items, o, identity);
}

/* jobs: (first key, keys) of each bucket in `data`; scratch: `scratch_items` a group. */
__kernel void radix_leaf(__global key *data, __global const uint2 *restrict jobs, uint n_jobs,
                         __global key *scratch, ulong scratch_items, key flip, key sign, key rotate,
                         key reverse, volatile __global uint *restrict next)
{
    key_order o = {flip, sign, rotate, reverse, KEY_MAX};
    bool identity = (flip | sign | rotate | reverse) == 0;
    for (uint j = get_group_id(0); j < n_jobs; j = atomic_inc(next))
        sort_bucket(data + jobs[j].x, jobs[j].y, scratch + get_group_id(0) * scratch_items, scratch_items, o,
                    identity);
}

#else

/* Sorts n keys and their indices by all bits of the keys' range: the indices end in x; y and b are scratch.
 * The keys are of no use afterwards, so that the last pass leaves them. */
inline void sort_indices(__global key *a, __global key *b, uint n, extent e, __global number *x, __global number *y)
{
    uint at[1 << DIGIT_BITS];
    uint passes = (significant_bits(e) + DIGIT_BITS - 1) / DIGIT_BITS;
    uint width = (significant_bits(e) + passes - 1) / passes;
    for (uint pass = 0; pass < passes; pass++) {
        bool back = pass & 1;
        __global key *from = back ? b : a;
        digit_starts(from, n, e.least, pass * width, width, at);
        digit_pass(from, back ? a : b, n, e.least, pass * width, width, at, back ? y : x, back ? x : y,
                   pass + 1 < passes);
    }
    if (passes & 1)
        for (size_t i = 0; i < n; i++)
            x[i] = y[i];
}

/* As in the key sort; indices keep their order in each part. The keys of the equal part are lost. */
inline uint2 split_around(__global key *a, __global key *b, uint n, key v, __global number *x, __global number *y)
{
    uint2 many = (uint2)0;
    uint equal = 0;
    for (uint i = 0; i < n; i++) {
        if (a[i] < v) {
            b[many.x] = a[i];
            y[many.x++] = x[i];
        } else if (a[i] > v) {
            b[n - ++many.y] = a[i];
            y[n - many.y] = x[i];
        } else {
            x[equal++] = x[i];
        }
    }
    for (uint i = equal; many.x != 0 && i > 0; i--)
        x[many.x + i - 1] = x[i - 1];
    for (uint i = 0; i < many.x; i++) {
        a[i] = b[i];
        x[i] = y[i];
    }
    for (uint i = 0; i < many.y; i++) {
        a[many.x + equal + i] = b[n - 1 - i];
        x[many.x + equal + i] = y[n - 1 - i];
    }
    return many;
}

inline void sort_part(__global key *a, __global key *b, uint n, __global number *x, __global number *y)
{
    extent e = measure(a, n);
    if (!e.sorted)
        sort_indices(a, b, n, e, x, y);
}

inline uint count_equal(__global const key *a, uint n, key v)
{
    uint equal = 0;
    for (uint i = 0; i < n; i++)
        equal += a[i] == v;
    return equal;
}

inline void sort_bucket(__global key *a, __global key *b, uint n, __global number *x, __global number *y)
{
    if (n > LEAF_ITEMS && count_equal(a, n, a[n / 2]) >= n / 2 && !measure(a, n).sorted) {
        uint2 many = split_around(a, b, n, a[n / 2], x, y);
        uint above = n - many.y;
        sort_part(a, b, many.x, x, y);
        sort_part(a + above, b, many.y, x + above, y);
        return;
    }
    sort_part(a, b, n, x, y);
}

/* jobs: (first key, keys) of each bucket in `data`; scratches: `scratch_items` a group. */
__kernel void radix_leaf(__global key *data, __global const uint2 *restrict jobs, uint n_jobs,
                         __global key *scratch, ulong scratch_items, key flip, key sign, key rotate,
                         key reverse, volatile __global uint *restrict next, __global number *index,
                         __global number *index_scratch)
{
    ulong own = get_group_id(0) * scratch_items;
    for (uint j = get_group_id(0); j < n_jobs; j = atomic_inc(next)) {
        uint first = jobs[j].x;
        sort_bucket(data + first, scratch + own, jobs[j].y, index + first, index_scratch + own);
    }
}

#endif
