/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition sort, block style: one work-item in a group; a work-item takes chunks or buckets until none is
 * left. HAC_KEY_BITS is 32 or 64. HAC_INDEX_BYTES is 0 (keys are sorted), 4 or 8 (their indices are sorted).
 * The tables are described in base/radix_layout.h. There are two programs, which are compiled in parallel:
 * with HAC_RADIX_LEAF 1 the leaf, else the others.
 *
 *   radix_count    keys of each bucket in every chunk; also for an index, by the program without one
 *   radix_scatter  stable scatter of the mapped keys (and their indices) to their buckets
 *   radix_leaf     sorts each bucket in place and unmaps its keys, or sorts their indices
 *
 * The machine on which this was measured retires about four instructions a cycle in these loops and cannot
 * overlap more stores than its store queue holds. So everything that vectors can do (map, cell, bin) is done
 * a block at a time into private memory, and the scalar loops contain only table lookups and stores. Where
 * each key is stored by itself, the next lines are prefetched for writing.
 */
#pragma OPENCL FP_CONTRACT OFF

#include "sort_key.cl"

#if HAC_KEY_BITS == 64
typedef ulong8 keys;
typedef ulong4 part; /* 32 bytes: a register of most processors */
typedef uint8 ids;
#define LANES          8
#define AS_SIGNED(v)   as_long8(v)
#define AS_UNSIGNED(v) as_ulong8(v)
#define TO_IDS(v)      convert_uint8(v)
#define TO_BITS(v)     as_uint16(v)
#else
typedef uint16 keys;
typedef uint8 part;
typedef uint16 ids;
#define LANES          16
#define AS_SIGNED(v)   as_int16(v)
#define AS_UNSIGNED(v) as_uint16(v)
#define TO_IDS(v)      (v)
#define TO_BITS(v)     (v)
#endif
/* PoCL makes vloadn and vstoren of quarters and convert_ushortn lane by lane, and LLVM does not always
 * combine them again. So vectors are accessed through under-aligned vector types, and ids stay 32 bits
 * wide. */
typedef keys loose_keys __attribute__((aligned(sizeof(key))));
typedef part loose_part __attribute__((aligned(sizeof(key))));
typedef ids loose_ids __attribute__((aligned(4)));
#define LOAD(p)         (*(__global const loose_keys *)(p))
#define STORE(v, p)     (*(__global loose_keys *)(p) = (v))
#define LOAD_OWN(p)     (*(const loose_keys *)(p))
#define STORE_OWN(v, p) (*(loose_keys *)(p) = (v))
#define LOAD_IDS(p)     (*(const loose_ids *)(p))
#define STORE_IDS(v, p) (*(loose_ids *)(p) = (v))

/* Prefetches a line for reading or writing. A store that misses blocks the head of the store queue; with
 * hundreds of streams prefetching halves the time of a scatter. Never faults, whatever p is. */
#if defined(__x86_64__) && defined(__clang__)
#define FETCH(p)           __asm__ volatile("prefetcht1 %0" : : "m"(*(p)))
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

#define BLOCK        256  /* keys whose cells are computed together */
#define TOGETHER     64   /* keys whose lines are prefetched for writing before the first of them is stored */
#define MAX_BUCKETS  6144 /* HAC_RADIX_MAX_BUCKETS */
#define CELLS_LINEAR 0
#define VALUES       32 /* levels */
#define REFINED      33
#define DIRECT       34
#define LOW_BITS     (HAC_KEY_BITS - 13) /* of a refined map */
#define STRANGE      (1UL << 63)
#define CELLS_LOG    1

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

#if HAC_RADIX_LEAF
#include "sort_radix_leaf.cl"
#else

/* How a mapped key finds its cell: base/radix_layout.h. Integers only, so that all devices agree. */
typedef struct {
    key base;
    uint method, shift, last, scale, levels;
    __global const ushort *table; /* the bucket of a cell, or of its first key if there is a search */
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
    /* A floating-point number holds the answer in its upper bits, and processors without a vector clz can
     * convert. The first bit that does not fit the fraction is cleared, so that d cannot be rounded up. */
#if HAC_KEY_BITS == 32
    return (as_uint16(convert_float16(d & ~(d >> 24))) >> (uint16)(23 - c.shift)) - (127u << c.shift);
#elif defined(cl_khr_fp64)
    keys e = as_ulong8(convert_double8(d & ~(d >> (keys)53)));
    return TO_IDS((e >> (keys)(52 - c.shift)) - ((key)1023 << c.shift));
#else
    keys zeros = clz(d);
    keys fraction = ((d << zeros) >> (keys)(HAC_KEY_BITS - 1 - c.shift)) & (keys)((1u << c.shift) - 1);
    return TO_IDS((((keys)(HAC_KEY_BITS - 1) - zeros) << (keys)c.shift) | fraction);
#endif
}

/* Continues from the cells of a refined map to buckets. */
inline void refine(const key *low, cell_map c, uint *cells)
{
    __global const uint *entries = (__global const uint *)c.splitters;
    for (uint i = 0; i < BLOCK; i++) {
        uint e = entries[cells[i]];
        cells[i] = c.table[(e >> 6) + (uint)(low[i] >> (e & 63))];
    }
}

/* Continues from cells to buckets, for four keys at a time, which hides the latency of the steps. */
inline void search(const key *m, cell_map c, uint *cells)
{
    size_t i[4];
#pragma unroll
    for (uint k = 0; k < 4; k++)
        i[k] = c.table[cells[k]];
    for (size_t step = ((size_t)1 << c.levels) >> 1; step != 0; step >>= 1)
#pragma unroll
        for (uint k = 0; k < 4; k++) {
            size_t next = i[k] + step;
            i[k] = c.splitters[next - 1] < m[k] ? next : i[k];
        }
#pragma unroll
    for (uint k = 0; k < 4; k++)
        cells[k] = (uint)i[k];
}

/* Loads up to a block of keys. A short block is filled up with its last key, so that the same code works. */
inline void load_block(__global const key *in, uint items, key *block)
{
    if (items == BLOCK)
        for (uint i = 0; i < BLOCK; i += LANES)
            STORE_OWN(LOAD(in + i), block + i);
    else
        for (uint i = 0; i < BLOCK; i++)
            block[i] = in[min(i, items - 1)];
}

/* A block is read at once, and then nothing for a while: the hardware's prefetcher does not follow that. */
inline void fetch_block(__global const key *in, uint from, uint n)
{
    if (from + BLOCK <= n)
        for (uint k = 0; k < BLOCK; k += 64 / sizeof(key))
            FETCH(in + from + k);
}

/* The minimum and maximum cell, or bucket, of a block. */
typedef struct {
    uint first, last;
} cell_range;

inline cell_range range_of(ids low, ids high)
{
#if LANES == 16
    uint8 l = min(low.lo, low.hi), m = max(high.lo, high.hi);
#else
    uint8 l = low, m = high;
#endif
    uint4 l4 = min(l.lo, l.hi), m4 = max(m.lo, m.hi);
    uint2 l2 = min(l4.lo, l4.hi), m2 = max(m4.lo, m4.hi);
    cell_range r = {min(l2.x, l2.y), max(m2.x, m2.y)};
    return r;
}

inline cell_range cells_by(const uint method, key *block, key_order o, cell_map c, uint *cells)
{
    ids low = ~(ids)0, high = 0;
    for (uint i = 0; i < BLOCK; i += LANES) {
        keys m = map_keys(LOAD_OWN(block + i), o);
        STORE_OWN(m, block + i);
        ids cell = method == CELLS_LINEAR ? linear_cells(m, c) : log_cells(m, c);
        low = min(low, cell);
        high = max(high, cell);
        STORE_IDS(cell, cells + i);
    }
    return range_of(low, high);
}

inline cell_range range_of_block(const uint *cells)
{
    ids low = LOAD_IDS(cells), high = low;
    for (uint i = LANES; i < BLOCK; i += LANES) {
        low = min(low, LOAD_IDS(cells + i));
        high = max(high, LOAD_IDS(cells + i));
    }
    return range_of(low, high);
}

inline cell_range buckets_by_refining(key *block, key_order o, cell_map c, uint *cells)
{
    key low[BLOCK];
    for (uint i = 0; i < BLOCK; i += LANES) {
        keys m = map_keys(LOAD_OWN(block + i), o);
        STORE_OWN(m, block + i);
        keys d = min(max(m, (keys)c.base) - c.base, (keys)(KEY_MAX >> c.shift)) << (keys)c.shift;
        STORE_IDS(TO_IDS(d >> (keys)LOW_BITS), cells + i);
        STORE_OWN(d & (keys)(((key)1 << LOW_BITS) - 1), low + i);
    }
    refine(low, c, cells);
    return range_of_block(cells);
}

/* Maps the keys of a block in place and finds their cells, or their buckets if levels is not 0. Returns the
 * first and the last bucket. */
inline cell_range block_cells(key *block, key_order o, cell_map c, uint *cells)
{
    if (c.levels == REFINED)
        return buckets_by_refining(block, o, c, cells);
    cell_range r = c.method == CELLS_LINEAR ? cells_by(CELLS_LINEAR, block, o, c, cells)
                                            : cells_by(CELLS_LOG, block, o, c, cells);
    if (c.levels == DIRECT)
        return r;
    if (c.levels == 0) {
        cell_range buckets = {c.table[r.first], c.table[r.last]};
        return buckets;
    }
    for (uint i = 0; i < BLOCK; i += 4)
        search(block + i, c, cells + i);
    return range_of_block(cells);
}

/* Continues from the result of block_cells to a bucket. */
inline size_t bucket_of(uint cell, cell_map c)
{
    return c.levels == 0 ? c.table[cell] : cell;
}

/* Not 0: a key of the block is not its cell's value. */
inline key strangers(const key *block, const uint *cells, __global const key *values)
{
    key odd = 0;
    for (uint i = 0; i < BLOCK; i++)
        odd |= block[i] ^ values[cells[i]];
    return odd;
}

/* PoCL compiles a kernel's own code three times. */
#if !HAC_INDEX_BYTES
#define ONE_HISTOGRAM_FROM 1024 /* buckets */

__attribute__((noinline)) void count_chunk(__global const key *restrict in, uint n, key_order o, cell_map c,
                                           uint buckets, bool few, __global ulong *restrict row)
{
    uint histogram[2][MAX_BUCKETS];
    /* Equal neighbours would wait for each other's count. With many buckets, two sets of counts would leave
     * no space for a table in the first-level cache. */
    bool one = buckets >= ONE_HISTOGRAM_FROM && c.levels != DIRECT;
    uint *even = histogram[0], *uneven = histogram[one ? 0 : 1];
    uint cells[BLOCK];
    key block[BLOCK];
    key odd = 0;
    for (uint b = 0; b < buckets; b++)
        histogram[0][b] = histogram[1][b] = 0;
    for (uint at = 0; at < n; at += BLOCK) {
        uint some = min((uint)BLOCK, n - at);
        load_block(in + at, some, block);
        fetch_block(in, at + 2 * BLOCK, n);
        cell_range r = block_cells(block, o, c, cells);
        if (few)
            odd |= strangers(block, cells, c.splitters);
        if (r.first == r.last) {
            histogram[0][r.first] += some;
        } else if (some == BLOCK) {
            for (size_t i = 0; i < BLOCK; i += 4) {
                even[bucket_of(cells[i], c)]++;
                uneven[bucket_of(cells[i + 1], c)]++;
                even[bucket_of(cells[i + 2], c)]++;
                uneven[bucket_of(cells[i + 3], c)]++;
            }
        } else {
            for (size_t i = 0; i < some; i++)
                histogram[0][bucket_of(cells[i], c)]++;
        }
    }
    for (uint b = 0; b < buckets; b++)
        row[b] = (ulong)histogram[0][b] + histogram[1][b];
    if (odd != 0)
        row[0] |= STRANGE;
}

/* `next` starts at the number of groups: each group takes the job of its own number first, then the next free
 * job. */
__kernel void radix_count(__global const key *restrict in, ulong items, uint chunk_items, uint chunks,
                          __global const ushort *restrict table, __global const key *restrict splitters,
                          key base, uint method, uint shift, uint last, uint scale, uint levels, key flip,
                          key sign, key rotate, key reverse, key top, uint buckets, uint row_items,
                          __global ulong *restrict counts, volatile __global uint *restrict next)
{
    key_order o = {flip, sign, rotate, reverse, top};
    bool few = levels == VALUES;
    cell_map c = {base, method, shift, last, scale, few ? 0 : levels, table, splitters};
    for (uint chunk = get_group_id(0); chunk < chunks; chunk = atomic_inc(next)) {
        ulong first = (ulong)chunk * chunk_items;
        uint n = (uint)min((ulong)chunk_items, items - first);
        count_chunk(in + first, n, o, c, buckets, few, counts + (ulong)chunk * row_items);
    }
}
#endif

/*
 * What keeps a scatter inside the output without a test for every key. Buckets below `critical` have `room`
 * keys before the end of the output; a block whose keys all go there needs no test. Empty buckets at the end,
 * and the last bucket of the last chunk, are critical.
 */
typedef struct {
    uint critical, room;
} fence;

inline fence build_fence(const uint *at, uint buckets, uint limit)
{
    uint near = max(limit, (uint)(4 * BLOCK)) - 4 * BLOCK, furthest = 0, b = 0;
    while (b < buckets && at[b] < near) {
        furthest = max(furthest, at[b]);
        b++;
    }
    fence f = {b, limit - furthest};
    return f;
}

#if HAC_INDEX_BYTES
#define AND_INDEX(restrictness) , __global number *restrictness index
#define PUT_INDEX(place, value) index[place] = (number)(value)
#define FETCH_INDEX(place)      FETCH_FOR_WRITE(index + (place) + 64 / HAC_INDEX_BYTES)
#define PASS_INDEX              , index
#else
#define AND_INDEX(restrictness)
#define PUT_INDEX(place, value)
#define FETCH_INDEX(place)
#define PASS_INDEX
#endif

/* A whole block whose keys all go to one bucket. */
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
#if HAC_KEY_BITS == 32 && !HAC_INDEX_BYTES
inline void scatter_block(const key *block, const uint *cells, cell_map c, uint *at,
                          __global key *restrict out, ulong first)
{
    uint place[TOGETHER];
    for (size_t from = 0; from < BLOCK; from += TOGETHER) {
#pragma unroll 4
        for (size_t i = 0; i < TOGETHER; i++) {
            size_t b = bucket_of(cells[from + i], c);
            uint p = at[b];
            at[b] = p + 1;
            place[i] = p;
            FETCH_FOR_WRITE(out + p); /* it has left the first-level cache since the bucket's last key */
        }
#pragma unroll 4
        for (size_t i = 0; i < TOGETHER; i++) {
            uint p = place[i];
            out[p] = block[from + i];
            FETCH_FOR_WRITE(out + p + 64 / sizeof(key));
        }
    }
}
#else
/* With lines of eight keys, or two stores for each key, a separate step for positions costs more than it
 * saves. */
inline void scatter_block(const key *block, const uint *cells, cell_map c, uint *at,
                          __global key *restrict out, ulong first AND_INDEX(restrict))
{
#pragma unroll 4
    for (size_t i = 0; i < BLOCK; i++) {
        size_t b = bucket_of(cells[i], c);
        uint p = at[b];
        at[b] = p + 1;
        out[p] = block[i];
        FETCH_FOR_WRITE(out + p + 64 / sizeof(key));
        PUT_INDEX(p, first + i);
        FETCH_INDEX(p);
    }
}
#endif

/* A partial block, or one that might not fit. Counts that do not match the data (others can write to their
 * memory) must not cause a write outside the output, so keys beyond `limit` are dropped. */
inline void scatter_checked(const key *block, const uint *cells, cell_map c, uint some, uint limit, uint *at,
                            __global key *restrict out, ulong first AND_INDEX(restrict))
{
    for (uint i = 0; i < some; i++) {
        size_t b = bucket_of(cells[i], c);
        uint p = at[b];
        if (p >= limit)
            continue;
        at[b] = p + 1;
        out[p] = block[i];
        PUT_INDEX(p, first + i);
    }
}

inline void scatter_chunk(__global const key *restrict in, uint n, ulong first, key_order o, cell_map c,
                          uint buckets, __global const ulong *restrict starts, uint limit,
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
        /* One block ahead: a load of what was just stored would wait behind the scatter's stores that are
         * still on their way to memory. */
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
        if (some < BLOCK || r.last >= f.critical) {
            scatter_checked(block[turn], cells[turn], c, some, limit, at, out, first + i PASS_INDEX);
        } else if (r.first == r.last) {
            scatter_run(block[turn], at[r.first], out, first + i PASS_INDEX);
            at[r.first] += BLOCK;
        } else {
            scatter_block(block[turn], cells[turn], c, at, out, first + i PASS_INDEX);
        }
        r = next_r;
    }
}

#if !HAC_INDEX_BYTES
/* Stores a line of 64 bytes that is not read soon: past the caches, which would have to read it first. Only
 * the fence orders such stores. LLVM turns a vector's non-temporal store into stores of 8 bytes. */
#if defined(__x86_64__) && defined(__clang__) && defined(__AVX__)
inline void store_line(const key *from, __global key *to)
{
#ifdef __AVX512F__
    __asm__ volatile("vmovdqu64 (%0), %%zmm16\n\tvmovntdq %%zmm16, (%1)"
                     :
                     : "r"(from), "r"(to)
                     : "memory", "xmm16");
#else
    __asm__ volatile("vmovdqu (%0), %%ymm0\n\tvmovntdq %%ymm0, (%1)\n\t"
                     "vmovdqu 32(%0), %%ymm0\n\tvmovntdq %%ymm0, 32(%1)"
                     :
                     : "r"(from), "r"(to)
                     : "memory", "xmm0");
#endif
}
#define FENCE_OF_LINES() __asm__ volatile("sfence" ::: "memory")
#else
inline void store_line(const key *from, __global key *to)
{
    STORE(LOAD_OWN(from), to);
}
#define FENCE_OF_LINES()
#endif

/* Lines pay with this many buckets, or with fewer if the output leaves the caches before it is read. */
#define LINES_FROM       1024
#define LINES_FROM_LARGE 48
#define LARGE            ((32u << 20) / sizeof(key))
#define MOST_LINES       4
#define SOON             (4 * BLOCK) /* keys */
#define LINES_ROOM       (MAX_BUCKETS * LANES * 2)

/* Keys of each bucket that have not been written yet, in lines as they will lie in `out`: `each` keys, in as
 * many lines as there is space for. They begin at `written`; `fill` is the position of the next key, in 16
 * bits, so that the positions of all buckets leave the first-level cache to the lines. */
typedef struct {
    key keys[LINES_ROOM] __attribute__((aligned(64)));
    ushort fill[MAX_BUCKETS];
    uint written[MAX_BUCKETS];
    uint each, limit;
} lines;

inline void begin_lines(lines *l, uint buckets, __global const ulong *restrict starts, uint limit)
{
    l->limit = limit;
    l->each = LANES;
    while (l->each < MOST_LINES * LANES && buckets * l->each * 2 <= LINES_ROOM)
        l->each *= 2;
    for (uint b = 0; b < buckets; b++) {
        l->written[b] = (uint)min(starts[b], (ulong)limit);
        l->fill[b] = (ushort)(l->written[b] & (l->each - 1));
    }
}

/* Writes what a bucket has up to `end` of its lines. Positions beyond the limit do not exist. */
inline void write_some(lines *l, uint b, uint end, __global key *restrict out)
{
    const key *own = l->keys + b * l->each;
    uint p = l->written[b], i = p & (l->each - 1);
    end = i + min(max(end, i) - i, l->limit - p);
    while (i < end) {
        if (i % LANES == 0 && end - i >= LANES) {
            store_line(own + i, out + p);
            i += LANES;
            p += LANES;
        } else {
            out[p++] = own[i++];
        }
    }
    l->written[b] = p;
}

/* Writes the full lines of a bucket. */
inline void write_lines(lines *l, uint b, __global key *restrict out)
{
    uint p = l->written[b], each = l->each;
    const key *own = l->keys + b * each;
    l->fill[b] = 0;
    if ((p & (each - 1)) != 0 || l->limit - p < each) {
        write_some(l, b, each, out);
        return;
    }
    for (uint i = 0; i < each; i += LANES)
        store_line(own + i, out + p + i);
    l->written[b] = p + each;
}

/* soon: a block that is read later. Its lines are prefetched one by one: all at once would take the few line
 * buffers of a core from the lines that are written. */
inline void scatter_into_lines(const key *block, const uint *cells, cell_map c, uint some, lines *l,
                               __global key *restrict out, __global const key *soon)
{
    size_t each = l->each;
    for (size_t from = 0; from < some; from += LANES) {
        size_t end = min(from + LANES, (size_t)some);
        FETCH(soon + from);
        for (size_t i = from; i < end; i++) {
            size_t b = bucket_of(cells[i], c), next = l->fill[b];
            l->keys[b * each + next] = block[i];
            l->fill[b] = (ushort)(next + 1);
            if (next + 1 == each)
                write_lines(l, (uint)b, out);
        }
    }
}

/* A whole block whose keys all go to one bucket. */
inline void scatter_run_of_lines(const key *block, lines *l, uint b, __global key *restrict out)
{
    write_some(l, b, l->fill[b], out);
    uint p = l->written[b];
    scatter_run(block, p, out, 0);
    l->written[b] = p + BLOCK;
    l->fill[b] = (ushort)((p + BLOCK) & (l->each - 1));
}

inline bool by_lines(uint buckets, uint limit, __global const key *out)
{
    return buckets >= (limit > LARGE ? LINES_FROM_LARGE : LINES_FROM) && ((size_t)out & 63) == 0;
}

/* A store of a key reads its line first. With thousands of buckets it also goes to another page than the last
 * stores, which costs a walk through the page tables. Here lines are filled in cache and stored whole. */
inline void scatter_chunk_by_lines(__global const key *restrict in, uint n, key_order o, cell_map c,
                                   uint buckets, __global const ulong *restrict starts, uint limit,
                                   __global key *restrict out)
{
    lines l;
    uint cells[BLOCK];
    key block[BLOCK];
    begin_lines(&l, buckets, starts, limit);
    for (uint i = 0; i < n; i += BLOCK) {
        uint some = min((uint)BLOCK, n - i);
        load_block(in + i, some, block);
        cell_range r = block_cells(block, o, c, cells);
        uint b = r.first;
        if (r.first == r.last && some == BLOCK && limit - l.written[b] >= 2 * BLOCK)
            scatter_run_of_lines(block, &l, b, out);
        else
            scatter_into_lines(block, cells, c, some, &l, out, in + min(i + SOON, n - some));
    }
    for (uint b = 0; b < buckets; b++)
        write_some(&l, b, l.fill[b], out);
    FENCE_OF_LINES();
}
#endif

/* The next chunks of a group are consecutive: a bucket's keys of one chunk begin where those of the previous
 * chunk end. So a run of chunks is scattered like one chunk, from its first row of starts, and lines are not
 * divided between chunks. Runs become shorter. `next` starts at the number of groups (radix_count). */
inline uint2 next_run(uint chunks, volatile __global uint *next)
{
    uint groups = (uint)get_num_groups(0);
    uint left = chunks - min(*next - groups, chunks);
    uint many = max(groups == 1 ? left : left / (2 * groups), 1u);
    uint first = min(atomic_add(next, many) - groups, chunks);
    return (uint2)(first, min(many, chunks - first));
}

/* out holds `limit` keys; starts are positions in it. first_index: of in[0]. */
__kernel void radix_scatter(__global const key *restrict in, ulong items, uint chunk_items, uint chunks,
                            __global const ushort *restrict table, __global const key *restrict splitters,
                            key base, uint method, uint shift, uint last, uint scale, uint levels, key flip,
                            key sign, key rotate, key reverse, key top, uint buckets, uint row_items,
                            __global const ulong *restrict starts, volatile __global uint *restrict next,
                            uint limit, ulong first_index, __global key *restrict out AND_INDEX(restrict))
{
    key_order o = {flip, sign, rotate, reverse, top};
    cell_map c = {base, method, shift, last, scale, levels, table, splitters};
    bool once = get_num_groups(0) >= chunks; /* for drivers that count a group's loops: one chunk each */
    uint2 none = 0;
    for (uint2 run = next_run(chunks, next); run.y != 0; run = once ? none : next_run(chunks, next)) {
        ulong from = (ulong)run.x * chunk_items;
        uint n = (uint)min((ulong)run.y * chunk_items, items - from);
        __global const ulong *row = starts + (ulong)run.x * row_items;
#if !HAC_INDEX_BYTES
        if (by_lines(buckets, limit, out)) {
            scatter_chunk_by_lines(in + from, n, o, c, buckets, row, limit, out);
            continue;
        }
#endif
        scatter_chunk(in + from, n, first_index + from, o, c, buckets, row, limit, out PASS_INDEX);
    }
}
#endif
