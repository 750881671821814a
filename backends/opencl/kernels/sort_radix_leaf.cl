/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The leaf of the block-style partition sort, included by sort_radix_block.cl. A bucket is sorted in place by
 * the first of these that fits:
 *
 *   sorted already, or all keys equal   un-mapped only
 *   larger than a leaf, mostly one key  split around that key
 *   keys that spread                    bins of about eight keys, each finished by a sorting network
 *   few values                          counted and written anew
 *   anything                            least significant digits first
 */
typedef struct {
    key least, most;
    uint low; /* so many low bits are the same in all keys: whole numbers as floats, steps of a power of two */
    bool sorted;
} extent;

inline extent measure(__global const key *a, uint n)
{
    keys lo = KEY_MAX, hi = 0, down = 0, differ = 0;
    key first = a[0], unlike = 0;
    uint i = 0;
    for (; i + LANES < n; i += LANES) {
        keys v = LOAD(a + i);
        keys after = LOAD(a + i + 1);
        lo = min(lo, v);
        hi = max(hi, v);
        down |= max(v, after) ^ after;
        differ |= v ^ first;
    }
    key l[LANES], h[LANES], d[LANES], u[LANES];
    STORE_OWN(lo, l);
    STORE_OWN(hi, h);
    STORE_OWN(down, d);
    STORE_OWN(differ, u);
    extent e = {KEY_MAX, 0, 0, true};
    for (uint k = 0; k < LANES; k++) {
        e.least = min(e.least, l[k]);
        e.most = max(e.most, h[k]);
        e.sorted = e.sorted && d[k] == 0;
        unlike |= u[k];
    }
    for (; i < n; i++) {
        e.least = min(e.least, a[i]);
        e.most = max(e.most, a[i]);
        e.sorted = e.sorted && (i == 0 || a[i - 1] <= a[i]);
        unlike |= a[i] ^ first;
    }
    if (unlike != 0)
        e.low = (uint)popcount((key)((unlike & (0 - unlike)) - 1));
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
#define AND_INDICES                                                                                          \
    , __global const number *restrict index_from, __global number *restrict index_to, bool keys_too
#define MOVE_KEY(p, from, i)                                                                                 \
    if (keys_too)                                                                                            \
        to[p] = from;                                                                                        \
    index_to[p] = index_from[i];
#else
#define AND_INDICES
#define MOVE_KEY(p, from, i) to[p] = from;
#endif

/* One digit of a least-significant-digit sort, stable. */
inline void digit_pass(__global const key *restrict from, __global key *restrict to, uint n, key least,
                       uint shift, uint width, uint *at AND_INDICES)
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

/* Of the range, without the low bits in which no keys differ. */
inline uint significant_bits(extent e)
{
    return HAC_KEY_BITS - (uint)clz((key)((e.most - e.least) >> e.low));
}

inline uint count_equal(__global const key *a, uint n, key v)
{
    uint equal = 0;
    for (uint i = 0; i < n; i++)
        equal += a[i] == v;
    return equal;
}

#if HAC_INDEX_BYTES == 0

/* A comparator of M. W. Green's sorting network of 16 rows (60 comparators). Each lane sorts its column. */
#define C(i, j)                                                                                              \
    {                                                                                                        \
        keys lower = min(r##i, r##j);                                                                        \
        r##j = max(r##i, r##j);                                                                              \
        r##i = lower;                                                                                        \
    }
#define SORT16                                                                                               \
    C(0, 1)                                                                                                  \
    C(2, 3)                                                                                                  \
    C(4, 5) C(6, 7) C(8, 9) C(10, 11) C(12, 13) C(14, 15) C(0, 2) C(1, 3) C(4, 6) C(5, 7) C(8, 10) C(9, 11)  \
        C(12, 14) C(13, 15) C(0, 4) C(1, 5) C(2, 6) C(3, 7) C(8, 12) C(9, 13) C(10, 14) C(11, 15) C(0, 8)    \
            C(1, 9) C(2, 10) C(3, 11) C(4, 12) C(5, 13) C(6, 14) C(7, 15) C(5, 10) C(6, 9) C(3, 12)          \
                C(13, 14) C(4, 8) C(7, 11) C(1, 2) C(1, 4) C(7, 13) C(2, 8) C(11, 14) C(2, 4) C(5, 6)        \
                    C(9, 10) C(11, 13) C(3, 8) C(7, 12) C(6, 8) C(10, 12) C(3, 5) C(7, 9) C(3, 4) C(5, 6)    \
                        C(7, 8) C(9, 10) C(11, 12) C(6, 7) C(8, 9)
#define ROWS 16 /* what the network sorts */
/* Of a bin: the few that get more than ROWS keys are finished by insertion. No power of two, so that groups
 * of bins do not meet in the same sets of the cache. */
#define SLOTS      24
#define KEYS_A_BIN 8 /* mean: of random keys 4 bins in 10^3 get more than ROWS, 1 in 10^6 more than SLOTS */

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
#define MAX_BINS  12320 /* of LEAF_ITEMS keys */

/* The bin of m is (((m - least) >> shift) · scale) >> 16: all bins are used, and no key gets a bin too high
 * even if it changes meanwhile. */
typedef struct {
    key least;
    uint shift, last, scale, bins;
} binning;

inline binning binning_of(extent e, uint n)
{
    uint bits = HAC_KEY_BITS - (uint)clz(e.most - e.least);
    binning g = {e.least, max(bits, 16u) - 16, 0, 0, (n / KEYS_A_BIN + LANES) / LANES * LANES};
    g.last = (uint)((e.most - e.least) >> g.shift);
    g.scale = (g.bins << 16) / (g.last + 1);
    return g;
}

/* `bin`: of each key. */
inline void into_bins(__global const key *v, uint n, uint *bin, uint *at, __global key *restrict slots)
{
#if HAC_KEY_BITS == 32
    for (uint from = 0; from < n; from += TOGETHER) { /* as scatter_block */
        uint end = min(n, from + TOGETHER);
#pragma unroll 4
        for (size_t k = from; k < end; k++) {
            size_t b = bin[k];
            uint p = at[b];
            at[b] = p + LANES;
            bin[k] = p;
            FETCH_FOR_WRITE(slots + p);
        }
#pragma unroll 4
        for (size_t k = from; k < end; k++)
            slots[bin[k]] = v[k];
    }
#else
#pragma unroll 4
    for (size_t k = 0; k < n; k++) {
        size_t b = bin[k];
        uint p = at[b];
        at[b] = p + LANES;
        slots[p] = v[k];
    }
#endif
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
            STORE_IDS((TO_IDS(min((LOAD(v + i) - by.least) >> (keys)by.shift, (keys)by.last)) * by.scale) >>
                          (ids)16,
                      bin + i);
        for (; i < some; i++)
            bin[i] = ((uint)min((v[i] - by.least) >> by.shift, (key)by.last) * by.scale) >> 16;
        into_bins(v, some, bin, at, slots);
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
#define DECLARE_ROWS                                                                                         \
    r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, t0, t1, t2, t3, t4, t5, t6, t7,    \
        t8, t9, t10, t11, t12, t13, t14, t15

/* Transposes squares of rows: in each round rows k and k + half are interleaved into rows 2k and 2k + 1. */
#define PAIR(to, i, j, from, k, l)                                                                           \
    to##i = LOW_HALVES(from##k, from##l);                                                                    \
    to##j = HIGH_HALVES(from##k, from##l);
#define KEEP_ROWS(v)                                                                                         \
    KEEP(v##0)                                                                                               \
    KEEP(v##1)                                                                                               \
    KEEP(v##2) KEEP(v##3) KEEP(v##4) KEEP(v##5) KEEP(v##6) KEEP(v##7) KEEP(v##8) KEEP(v##9) KEEP(v##10)      \
        KEEP(v##11) KEEP(v##12) KEEP(v##13) KEEP(v##14) KEEP(v##15)

/* COLUMN(j): the sorted keys of bin g + j; the next column overwrites what is too much of them. */
#if HAC_KEY_BITS == 64
#define LOW_HALVES(a, b)  (keys)((a).s0, (b).s0, (a).s1, (b).s1, (a).s2, (b).s2, (a).s3, (b).s3)
#define HIGH_HALVES(a, b) (keys)((a).s4, (b).s4, (a).s5, (b).s5, (a).s6, (b).s6, (a).s7, (b).s7)
#define ROUND(to, from)                                                                                      \
    PAIR(to, 0, 1, from, 0, 4)                                                                               \
    PAIR(to, 2, 3, from, 1, 5)                                                                               \
    PAIR(to, 4, 5, from, 2, 6) PAIR(to, 6, 7, from, 3, 7) PAIR(to, 8, 9, from, 8, 12)                        \
        PAIR(to, 10, 11, from, 9, 13) PAIR(to, 12, 13, from, 10, 14) PAIR(to, 14, 15, from, 11, 15)          \
            KEEP_ROWS(to)
#define TRANSPOSE ROUND(t, r) ROUND(r, t) ROUND(t, r)
#define EACH_COLUMN(X)                                                                                       \
    X(0, t0, t8)                                                                                             \
    X(1, t1, t9) X(2, t2, t10) X(3, t3, t11) X(4, t4, t12) X(5, t5, t13) X(6, t6, t14) X(7, t7, t15)
#define STORE_COLUMN(j, head, tail)                                                                          \
    STORE(head, out + p);                                                                                    \
    STORE(tail, out + p + LANES);                                                                            \
    p += size[j];
#define KEEP_COLUMN(j, head, tail)                                                                           \
    STORE_OWN(head, columns[j]);                                                                             \
    STORE_OWN(tail, columns[j] + LANES);
#else
#define LOW_HALVES(a, b)                                                                                     \
    (keys)((a).s0, (b).s0, (a).s1, (b).s1, (a).s2, (b).s2, (a).s3, (b).s3, (a).s4, (b).s4, (a).s5, (b).s5,   \
           (a).s6, (b).s6, (a).s7, (b).s7)
#define HIGH_HALVES(a, b)                                                                                    \
    (keys)((a).s8, (b).s8, (a).s9, (b).s9, (a).sa, (b).sa, (a).sb, (b).sb, (a).sc, (b).sc, (a).sd, (b).sd,   \
           (a).se, (b).se, (a).sf, (b).sf)
#define ROUND(to, from)                                                                                      \
    PAIR(to, 0, 1, from, 0, 8)                                                                               \
    PAIR(to, 2, 3, from, 1, 9)                                                                               \
    PAIR(to, 4, 5, from, 2, 10) PAIR(to, 6, 7, from, 3, 11) PAIR(to, 8, 9, from, 4, 12)                      \
        PAIR(to, 10, 11, from, 5, 13) PAIR(to, 12, 13, from, 6, 14) PAIR(to, 14, 15, from, 7, 15)            \
            KEEP_ROWS(to)
#define TRANSPOSE ROUND(t, r) ROUND(r, t) ROUND(t, r) ROUND(r, t)
#define EACH_COLUMN(X)                                                                                       \
    X(0, r0)                                                                                                 \
    X(1, r1)                                                                                                 \
    X(2, r2) X(3, r3) X(4, r4) X(5, r5) X(6, r6) X(7, r7) X(8, r8) X(9, r9) X(10, r10) X(11, r11) X(12, r12) \
        X(13, r13) X(14, r14) X(15, r15)
#define STORE_COLUMN(j, all)                                                                                 \
    STORE(all, out + p);                                                                                     \
    p += size[j];
#define KEEP_COLUMN(j, all) STORE_OWN(all, columns[j]);
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

inline void store_column(const key *column, __global const key *slots, uint first, uint size,
                         __global key *to, key_order o)
{
    for (uint k = 0; k < min(size, (uint)ROWS); k++)
        to[k] = column[k];
    insert_rest(slots, first, size, to, o);
}

/* Sorts the bins and writes them one behind the other. */
inline void drain_bins(__global const key *restrict slots, const uint *at, uint bins,
                       __global key *restrict out, uint n, key_order o, bool identity)
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
            EACH_COLUMN(STORE_COLUMN)
        } else {
            key columns[LANES][ROWS];
            EACH_COLUMN(KEEP_COLUMN)
            for (uint j = 0; j < LANES; j++) {
                store_column(columns[j], slots, g * SLOTS + j, size[j], out + p, o);
                p += size[j];
            }
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
        digit_starts(from, n, e.least, e.low + pass * width, width, at);
        digit_pass(from, pass & 1 ? a : b, n, e.least, e.low + pass * width, width, at);
    }
    return passes & 1;
}

/* Keys of a small range are counted and written anew. Counts that another's store to `a` has made wrong end
 * at n. */
inline void sort_few_values(__global key *a, uint n, extent e, key_order o)
{
    uint many[1 << DIGIT_BITS];
    uint values = (uint)((e.most - e.least) >> e.low) + 1;
    for (uint d = 0; d < values; d++)
        many[d] = 0;
    for (size_t i = 0; i < n; i++)
        many[min(a[i] - e.least, e.most - e.least) >> e.low]++;
    uint p = 0;
    for (uint d = 0; d < values; d++) {
        key v = unmap_key(e.least + ((key)d << e.low), o);
        uint end = p + many[d];
        for (; p + LANES <= end; p += LANES)
            STORE((keys)v, a + p);
        for (; p < end; p++)
            a[p] = v;
    }
}

/* Sorts and un-maps n mapped keys; scratch has room for n at least. */
inline void sort_keys(__global key *a, uint n, __global key *scratch, ulong scratch_items, key_order o,
                      bool identity)
{
    extent e = measure(a, n);
    __global key *sorted = a;
    if (!e.sorted && n <= LEAF_ITEMS) {
        uint at[MAX_BINS];
        binning by = binning_of(e, n);
        ulong slots = (ulong)by.bins * SLOTS + BIN_BLOCK * LANES;
        if (slots <= scratch_items && (e.most - e.least) >> e.low >> 4 >= by.bins &&
            fill_bins(a, n, by, at, scratch)) {
            drain_bins(scratch, at, by.bins, a, n, o, identity);
            return;
        }
    }
    if (!e.sorted && significant_bits(e) <= DIGIT_BITS) {
        sort_few_values(a, n, e, o);
        return;
    }
    if (!e.sorted && digit_sort(a, scratch, n, e))
        sorted = scratch;
    if (sorted != a || !identity)
        unmap_run(sorted, a, n, o);
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

/*
 * A bucket beyond a leaf is one frequent key and little else, or the sample has missed something. The loop,
 * and not two calls, keeps the code that drivers inline at one copy: Mesa's compiler takes minutes for more.
 */
inline void sort_bucket(__global key *a, uint n, __global key *scratch, ulong scratch_items, key_order o,
                        bool identity)
{
    uint2 at = (uint2)(0, n), many = (uint2)(n, 0);
    key v = a[n / 2];
    uint equal = n > LEAF_ITEMS ? count_equal(a, n, v) : 0;
    if (equal != n && equal >= n / 2 && equal != 0) {
        many = split_around(a, scratch, n, v);
        at.y = n - many.y;
        for (uint i = 0; i < many.x; i++)
            a[i] = scratch[i];
        for (uint i = 0; i < many.y; i++)
            a[at.y + i] = scratch[at.y + i];
        for (uint i = many.x; i < at.y; i++)
            a[i] = unmap_key(v, o);
    }
    for (uint part = 0; part < 2; part++) {
        uint some = part == 0 ? many.x : many.y;
        if (some != 0)
            sort_keys(a + (part == 0 ? at.x : at.y), some, scratch, scratch_items, o, identity);
    }
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
inline void sort_indices(__global key *a, __global key *b, uint n, extent e, __global number *x,
                         __global number *y)
{
    uint at[1 << DIGIT_BITS];
    uint passes = (significant_bits(e) + DIGIT_BITS - 1) / DIGIT_BITS;
    uint width = (significant_bits(e) + passes - 1) / passes;
    for (uint pass = 0; pass < passes; pass++) {
        bool back = pass & 1;
        __global key *from = back ? b : a;
        digit_starts(from, n, e.least, e.low + pass * width, width, at);
        digit_pass(from, back ? a : b, n, e.least, e.low + pass * width, width, at, back ? y : x,
                   back ? x : y, pass + 1 < passes);
    }
    if (passes & 1)
        for (size_t i = 0; i < n; i++)
            x[i] = y[i];
}

/* As in the key sort; indices keep their order in each part. The keys of the equal part are lost. */
inline uint2 split_around(__global key *a, __global key *b, uint n, key v, __global number *x,
                          __global number *y)
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

inline void sort_bucket(__global key *a, __global key *b, uint n, __global number *x, __global number *y)
{
    uint2 at = (uint2)(0, n), many = (uint2)(n, 0);
    key v = a[n / 2];
    uint equal = n > LEAF_ITEMS ? count_equal(a, n, v) : 0;
    if (equal != n && equal >= n / 2 && equal != 0) {
        many = split_around(a, b, n, v, x, y);
        at.y = n - many.y;
    }
    for (uint part = 0; part < 2; part++) {
        uint from = part == 0 ? at.x : at.y, some = part == 0 ? many.x : many.y;
        if (some == 0)
            continue;
        extent e = measure(a + from, some);
        if (!e.sorted)
            sort_indices(a + from, b, some, e, x + from, y);
    }
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
