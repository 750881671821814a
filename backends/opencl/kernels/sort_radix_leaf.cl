/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The leaf of the block-style partition sort, included by sort_radix_block.cl. A bucket is sorted in place by
 * the first of these methods that fits:
 *
 *   sorted already, or all keys equal   unmapped only
 *   descending                          reversed
 *   larger than a leaf, mostly one key  divided around that key
 *   evenly spread keys                  bins of about eight keys, each finished by a sorting network
 *   few values                          counted and written anew
 *   anything                            least significant digits first
 */
typedef struct {
    key min, max;
    uint low; /* number of low bits that are equal in all keys, as in whole numbers stored as floats */
    bool sorted, descending;
} extent;

inline extent measure(__global const key *a, uint n)
{
    keys lo = KEY_MAX, hi = 0, down = 0, up = 0, differ = 0;
    key first = a[0], unlike = 0;
    uint i = 0;
    for (; i + LANES < n; i += LANES) {
        keys v = LOAD(a + i);
        keys after = LOAD(a + i + 1);
        lo = min(lo, v);
        hi = max(hi, v);
        down |= max(v, after) ^ after;
        up |= min(v, after) ^ after;
        differ |= v ^ first;
    }
    key l[LANES], h[LANES], d[LANES], g[LANES], u[LANES];
    STORE_OWN(lo, l);
    STORE_OWN(hi, h);
    STORE_OWN(down, d);
    STORE_OWN(up, g);
    STORE_OWN(differ, u);
    extent e = {KEY_MAX, 0, 0, true, true};
    for (uint k = 0; k < LANES; k++) {
        e.min = min(e.min, l[k]);
        e.max = max(e.max, h[k]);
        e.sorted = e.sorted && d[k] == 0;
        e.descending = e.descending && g[k] == 0;
        unlike |= u[k];
    }
    for (; i < n; i++) {
        e.min = min(e.min, a[i]);
        e.max = max(e.max, a[i]);
        e.sorted = e.sorted && (i == 0 || a[i - 1] <= a[i]);
        e.descending = e.descending && (i == 0 || a[i - 1] >= a[i]);
        unlike |= a[i] ^ first;
    }
    if (unlike != 0)
        e.low = (uint)popcount((key)((unlike & (0 - unlike)) - 1));
    return e;
}

#define LEAF_ITEMS 98304 /* HAC_RADIX_LEAF_ITEMS */
#define DIGIT_BITS 12

inline void digit_starts(__global const key *a, uint n, key base, uint shift, uint width, uint *at)
{
    uint digits = 1u << width;
    for (uint d = 0; d < digits; d++)
        at[d] = 0;
    for (size_t i = 0; i < n; i++)
        at[((a[i] - base) >> shift) & (digits - 1)]++;
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

/* One digit of a least-significant-digit sort, stable. Others may write to the memory of `from`: counts that
 * no longer match end at n. */
inline void digit_pass(__global const key *restrict from, __global key *restrict to, uint n, key base,
                       uint shift, uint width, uint *at AND_INDICES)
{
    uint digit[BLOCK];
    key mask = (key)((1u << width) - 1);
    for (uint i = 0; i < n; i += BLOCK) {
        uint some = min((uint)BLOCK, n - i);
        uint k = 0;
        for (; k + LANES <= some; k += LANES)
            STORE_IDS(TO_IDS(((LOAD(from + i + k) - base) >> (keys)shift) & mask), digit + k);
        for (; k < some; k++)
            digit[k] = (uint)(((from[i + k] - base) >> shift) & mask);
        for (size_t j = 0; j < some; j++) {
            size_t d = digit[j];
            uint p = min(at[d], n - 1);
            at[d] = p + 1;
            MOVE_KEY(p, from[i + j], i + j)
        }
    }
}

/* Bits of the range, without the low bits in which no keys differ. */
inline uint significant_bits(extent e)
{
    return HAC_KEY_BITS - (uint)clz((key)((e.max - e.min) >> e.low));
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
        row lower = min(r##i, r##j);                                                                         \
        r##j = max(r##i, r##j);                                                                              \
        r##i = lower;                                                                                        \
    }
#define SORT16                                                                                               \
    C(0, 1)                                                                                                  \
    C(2, 3)                                                                                                  \
    C(4, 5)                                                                                                  \
    C(6, 7)                                                                                                  \
    C(8, 9) C(10, 11) C(12, 13) C(14, 15) C(0, 2) C(1, 3) C(4, 6) C(5, 7) C(8, 10) C(9, 11) C(12, 14)        \
        C(13, 15) C(0, 4) C(1, 5) C(2, 6) C(3, 7) C(8, 12) C(9, 13) C(10, 14) C(11, 15) C(0, 8) C(1, 9)      \
            C(2, 10) C(3, 11) C(4, 12) C(5, 13) C(6, 14) C(7, 15) C(5, 10) C(6, 9) C(3, 12) C(13, 14)        \
                C(4, 8) C(7, 11) C(1, 2) C(1, 4) C(7, 13) C(2, 8) C(11, 14) C(2, 4) C(5, 6) C(9, 10)         \
                    C(11, 13) C(3, 8) C(7, 12) C(6, 8) C(10, 12) C(3, 5) C(7, 9) C(3, 4) C(5, 6) C(7, 8)     \
                        C(9, 10) C(11, 12) C(6, 7) C(8, 9)
#define ROWS 16 /* keys that the network sorts */
/* Slots of a bin. The few bins with more than ROWS keys are finished by insertion. It is no power of two, so
 * that groups of bins do not use the same sets of the cache. */
#define SLOTS      24
/* mean; with random keys 4 of 10^3 bins have more than ROWS, 1 of 10^6 more than SLOTS */
#define KEYS_A_BIN 8

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

typedef uint4 loose_four __attribute__((aligned(4)));
#define LOAD_FOUR(p)     (*(const loose_four *)(p))
#define STORE_FOUR(v, p) (*(loose_four *)(p) = (v))

/* The bin of m is (((m - min) >> shift) · scale) >> 16. All bins are used, and no key gets a bin that is
 * too high, even if it changes meanwhile. No key of a bin is below min + (((bin · inverse) >> 16) <<
 * shift). */
typedef struct {
    key min;
    uint shift, last, scale, inverse, bins;
} binning;

inline binning binning_of(extent e, uint n)
{
    uint bits = HAC_KEY_BITS - (uint)clz(e.max - e.min);
    binning g = {e.min, max(bits, 16u) - 16, 0, 0, 0, (n / KEYS_A_BIN + LANES) / LANES * LANES};
    g.last = (uint)((e.max - e.min) >> g.shift);
    g.scale = (g.bins << 16) / (g.last + 1);
    g.inverse = UINT_MAX / g.scale;
    return g;
}

/* Whether a bin's keys differ from its lowest value by less than 2^16. */
inline bool narrow_bins(binning by)
{
    return HAC_KEY_BITS == 32 && (0x10000 / by.scale + 4) <= 0x10000 >> by.shift;
}

/* A square of rows becomes columns: STORE_COLUMN(j, n, v) gets a row's width of bin j. Shuffles within halves
 * of a register come first, since most processors do them at once. */
#if HAC_KEY_BITS == 64
#define LOW_OF(a, b)  (row)((a).s0, (b).s0, (a).s2, (b).s2)
#define HIGH_OF(a, b) (row)((a).s1, (b).s1, (a).s3, (b).s3)
#define SQUARE(n, a, b, c, d)                                                                                \
    {                                                                                                        \
        row x0 = LOW_OF(a, b), x1 = HIGH_OF(a, b), x2 = LOW_OF(c, d), x3 = HIGH_OF(c, d);                    \
        STORE_COLUMN(0, n, (row)(x0.lo, x2.lo))                                                              \
        STORE_COLUMN(1, n, (row)(x1.lo, x3.lo))                                                              \
        STORE_COLUMN(2, n, (row)(x0.hi, x2.hi))                                                              \
        STORE_COLUMN(3, n, (row)(x1.hi, x3.hi))                                                              \
    }
#else
#define LOW_OF(a, b)     (uint8)((a).s0, (b).s0, (a).s1, (b).s1, (a).s4, (b).s4, (a).s5, (b).s5)
#define HIGH_OF(a, b)    (uint8)((a).s2, (b).s2, (a).s3, (b).s3, (a).s6, (b).s6, (a).s7, (b).s7)
#define LOW_PAIRS(a, b)  (uint8)((a).s01, (b).s01, (a).s45, (b).s45)
#define HIGH_PAIRS(a, b) (uint8)((a).s23, (b).s23, (a).s67, (b).s67)
#define SQUARE(n, low, high, a, b, c, d, e, f, g, h)                                                         \
    {                                                                                                        \
        uint8 x0 = LOW_OF(a, b), x1 = HIGH_OF(a, b), x2 = LOW_OF(c, d), x3 = HIGH_OF(c, d);                  \
        uint8 x4 = LOW_OF(e, f), x5 = HIGH_OF(e, f), x6 = LOW_OF(g, h), x7 = HIGH_OF(g, h);                  \
        uint8 y0 = LOW_PAIRS(x0, x2), y1 = HIGH_PAIRS(x0, x2), y2 = LOW_PAIRS(x1, x3);                       \
        uint8 y3 = HIGH_PAIRS(x1, x3), y4 = LOW_PAIRS(x4, x6), y5 = HIGH_PAIRS(x4, x6);                      \
        uint8 y6 = LOW_PAIRS(x5, x7), y7 = HIGH_PAIRS(x5, x7);                                               \
        STORE_COLUMN(low + 0, n, (uint8)(y0.lo, y4.lo))                                                      \
        STORE_COLUMN(low + 1, n, (uint8)(y1.lo, y5.lo))                                                      \
        STORE_COLUMN(low + 2, n, (uint8)(y2.lo, y6.lo))                                                      \
        STORE_COLUMN(low + 3, n, (uint8)(y3.lo, y7.lo))                                                      \
        STORE_COLUMN(high + 0, n, (uint8)(y0.hi, y4.hi))                                                     \
        STORE_COLUMN(high + 1, n, (uint8)(y1.hi, y5.hi))                                                     \
        STORE_COLUMN(high + 2, n, (uint8)(y2.hi, y6.hi))                                                     \
        STORE_COLUMN(high + 3, n, (uint8)(y3.hi, y7.hi))                                                     \
    }
#define SHORTS(u, v, i, j, k, l, m, n, o, p)                                                                 \
    as_uint8((ushort16)((u).s##i, (v).s##i, (u).s##j, (v).s##j, (u).s##k, (v).s##k, (u).s##l, (v).s##l,      \
                        (u).s##m, (v).s##m, (u).s##n, (v).s##n, (u).s##o, (v).s##o, (u).s##p, (v).s##p))
#define LOW_SHORTS(u, v)  SHORTS(u, v, 0, 1, 2, 3, 8, 9, a, b)
#define HIGH_SHORTS(u, v) SHORTS(u, v, 4, 5, 6, 7, c, d, e, f)
#define NARROW(v)         ((ushort16)(as_ushort16((v).lo).even, as_ushort16((v).hi).even))
#define SLOT_BITS         16
#include "sort_radix_bins.cl"
#undef SLOT_BITS
#endif
#define SLOT_BITS HAC_KEY_BITS
#include "sort_radix_bins.cl"

/* Sorts n keys by all bits of their range. Returns true if the result lies in b. */
inline bool digit_sort(__global key *a, __global key *b, uint n, extent e)
{
    uint at[1 << DIGIT_BITS];
    uint passes = (significant_bits(e) + DIGIT_BITS - 1) / DIGIT_BITS;
    uint width = (significant_bits(e) + passes - 1) / passes;
    for (uint pass = 0; pass < passes; pass++) {
        __global key *from = pass & 1 ? b : a;
        digit_starts(from, n, e.min, e.low + pass * width, width, at);
        digit_pass(from, pass & 1 ? a : b, n, e.min, e.low + pass * width, width, at);
    }
    return passes & 1;
}

/* Keys of a small range are counted and written anew. Counts that somebody else's store to `a` has made wrong
 * end at n. */
inline void sort_few_values(__global key *a, uint n, extent e, key_order o)
{
    uint many[1 << DIGIT_BITS];
    uint values = (uint)((e.max - e.min) >> e.low) + 1;
    for (uint d = 0; d < values; d++)
        many[d] = 0;
    for (size_t i = 0; i < n; i++)
        many[min(a[i] - e.min, e.max - e.min) >> e.low]++;
    uint p = 0;
    for (uint d = 0; d < values; d++) {
        key v = unmap_key(e.min + ((key)d << e.low), o);
        uint end = p + many[d];
        for (; p + LANES <= end; p += LANES)
            STORE((keys)v, a + p);
        for (; p < end; p++)
            a[p] = v;
    }
}

inline void reverse_keys(__global const key *restrict a, __global key *restrict b, uint n)
{
    for (size_t i = 0; i < n; i++)
        b[i] = a[n - 1 - i];
}

/* Sorts and unmaps n mapped keys. scratch has space for at least n. soon: the next keys. */
inline void sort_keys(__global key *a, uint n, __global key *scratch, ulong scratch_items, key_order o,
                      bool identity, __global const key *soon)
{
    extent e = measure(a, n);
    __global key *sorted = a;
    if (e.descending && !e.sorted) {
        reverse_keys(a, scratch, n);
        unmap_run(scratch, a, n, o);
        return;
    }
    if (!e.sorted && n <= LEAF_ITEMS) {
        uint at[MAX_BINS];
        binning by = binning_of(e, n);
        ulong slots = (ulong)by.bins * SLOTS + BIN_BLOCK * GROUP;
        bool spread = slots <= scratch_items && (e.max - e.min) >> e.low >> 4 >= by.bins;
        bool narrow = narrow_bins(by);
#if HAC_KEY_BITS == 32
        __global ushort *shorts = (__global ushort *)scratch;
        if (spread && narrow && fill_bins_16(a, n, by, at, shorts)) {
            drain_bins_16(shorts, at, by, a, n, o, identity, soon);
            return;
        }
#endif
        /* a bin that overflows does so with slots of either width */
        if (spread && !narrow && BINS(fill_bins)(a, n, by, at, scratch)) {
            BINS(drain_bins)(scratch, at, by, a, n, o, identity, soon);
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

/* Keys below v go to the front of b, keys above it to the back; x is how many are below, y how many above. */
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
 * A bucket larger than a leaf is one frequent key and few others, or the sample has missed something. One
 * loop instead of two calls keeps one copy of the code that drivers inline: Mesa's compiler takes minutes for
 * more.
 */
inline void sort_bucket(__global key *a, uint n, __global key *scratch, ulong scratch_items, key_order o,
                        bool identity, __global const key *soon)
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
            sort_keys(a + (part == 0 ? at.x : at.y), some, scratch, scratch_items, o, identity, soon);
    }
}

/* jobs: (first key, keys) of each bucket in `data`; scratch: `scratch_items` for each group. */
__kernel void radix_leaf(__global key *data, __global const uint2 *restrict jobs, uint n_jobs,
                         __global key *scratch, ulong scratch_items, key flip, key sign, key rotate,
                         key reverse, volatile __global uint *restrict next)
{
    key_order o = {flip, sign, rotate, reverse, KEY_MAX};
    bool identity = (flip | sign | rotate | reverse) == 0;
    for (uint j = get_group_id(0), then = 0; j < n_jobs; j = then) {
        then = atomic_inc(next);
        sort_bucket(data + jobs[j].x, jobs[j].y, scratch + get_group_id(0) * scratch_items, scratch_items, o,
                    identity, data + jobs[min(then, n_jobs - 1)].x);
    }
}

#else

/* Sorts n keys and their indices by all bits of the keys' range. The indices end in x; y and b are scratch.
 * The keys are not needed afterwards, so the last pass does not write them. */
inline void sort_indices(__global key *a, __global key *b, uint n, extent e, __global number *x,
                         __global number *y)
{
    uint at[1 << DIGIT_BITS];
    uint passes = (significant_bits(e) + DIGIT_BITS - 1) / DIGIT_BITS;
    uint width = (significant_bits(e) + passes - 1) / passes;
    for (uint pass = 0; pass < passes; pass++) {
        bool back = pass & 1;
        __global key *from = back ? b : a;
        digit_starts(from, n, e.min, e.low + pass * width, width, at);
        digit_pass(from, back ? a : b, n, e.min, e.low + pass * width, width, at, back ? y : x,
                   back ? x : y, pass + 1 < passes);
    }
    if (passes & 1)
        for (size_t i = 0; i < n; i++)
            x[i] = y[i];
}

/* As in the key sort. Indices keep their order in each part. The keys of the equal part are lost. */
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

/* jobs: (first key, keys) of each bucket in `data`; scratches: `scratch_items` for each group. */
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
