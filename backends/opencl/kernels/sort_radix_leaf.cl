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
    uint low; /* so many low bits are the same in all keys, as of whole numbers kept as floats */
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

/* One digit of a least-significant-digit sort, stable. `from` can lie in memory that others write to: counts
 * that it has left since then end at n. */
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
            uint p = min(at[d], n - 1);
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

/* So many bins are a group, whose keys lie in one register of most processors: with wider vectors the network
 * would have more rows than there are registers. 64-bit rows are signed, as processors can compare those. */
#if HAC_KEY_BITS == 64
#define GROUP 4
typedef long4 row;
typedef uint4 row_ids;
#define ROW_MAX                   LONG_MAX
#define TO_ROW(v)                 as_long4((v) ^ ((key)1 << 63))
#define ROW_NUMBERS               (row_ids)(0, 1, 2, 3)
#define WIDE(v)                   ((uint16)((v), (uint4)0, (uint8)0))
#define ROW_BELOW(n, limit, then) select((row)ROW_MAX, then, convert_long4((limit) > (row_ids)(n)))
#define FROM_ROW(v)               (as_ulong4(v) ^ ((key)1 << 63))
#else
#define GROUP                     8
typedef uint8 row;
typedef uint8 row_ids;
#define ROW_MAX                   UINT_MAX
#define TO_ROW(v)                 (v)
#define ROW_NUMBERS               (row_ids)(0, 1, 2, 3, 4, 5, 6, 7)
#define WIDE(v)                   ((uint16)((v), (uint8)0))
#define ROW_BELOW(n, limit, then) select((row)ROW_MAX, then, (limit) > (row_ids)(n))
#define FROM_ROW(v)               (v)
#endif
typedef row_ids loose_row_ids __attribute__((aligned(4)));
#define LOAD_ROW_KEYS(p)    (*(__global const loose_part *)(p))
#define STORE_ROW_OWN(v, p) (*(loose_part *)(p) = (v))
#define LOAD_ROW_IDS(p)     (*(const loose_row_ids *)(p))
#define STORE_ROW_IDS(v, p) (*(loose_row_ids *)(p) = (v))

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
    C(6, 7) C(8, 9) C(10, 11) C(12, 13) C(14, 15) C(0, 2) C(1, 3) C(4, 6) C(5, 7) C(8, 10) C(9, 11)          \
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
            at[b] = p + GROUP;
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
        at[b] = p + GROUP;
        slots[p] = v[k];
    }
#endif
}

/*
 * Keys into bins of SLOTS slots, by value. Slots of GROUP neighbouring bins are interleaved, so that a row of
 * them is one vector. Nothing stops a bin in the inner loop: it runs on into the slots of the next group,
 * and the caller is told after at most BIN_BLOCK keys (the slots have room for that).
 */
inline bool fill_bins(__global const key *a, uint n, binning by, uint *at, __global key *restrict slots)
{
    row_ids first = ROW_NUMBERS;
    for (uint g = 0; g < by.bins; g += GROUP, first += (row_ids)(SLOTS * GROUP))
        STORE_ROW_IDS(first, at + g);
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
        row_ids over = 0, end = ROW_NUMBERS + (row_ids)(SLOTS * GROUP);
        for (uint g = 0; g < by.bins; g += GROUP, end += (row_ids)(SLOTS * GROUP))
            over |= max(LOAD_ROW_IDS(at + g), end) ^ end;
        if (nonzero(WIDE(over)))
            return false;
    }
    return true;
}

/* A square of rows becomes columns: STORE_COLUMN(j, v) has GROUP keys of bin j. Shuffles within halves of a
 * register first, as that is what most processors do at once. */
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
#define TRANSPOSE                                                                                            \
    SQUARE(0, r0, r1, r2, r3)                                                                                \
    SQUARE(4, r4, r5, r6, r7) SQUARE(8, r8, r9, r10, r11) SQUARE(12, r12, r13, r14, r15)
#else
#define LOW_OF(a, b)     (row)((a).s0, (b).s0, (a).s1, (b).s1, (a).s4, (b).s4, (a).s5, (b).s5)
#define HIGH_OF(a, b)    (row)((a).s2, (b).s2, (a).s3, (b).s3, (a).s6, (b).s6, (a).s7, (b).s7)
#define LOW_PAIRS(a, b)  (row)((a).s01, (b).s01, (a).s45, (b).s45)
#define HIGH_PAIRS(a, b) (row)((a).s23, (b).s23, (a).s67, (b).s67)
#define SQUARE(n, a, b, c, d, e, f, g, h)                                                                    \
    {                                                                                                        \
        row x0 = LOW_OF(a, b), x1 = HIGH_OF(a, b), x2 = LOW_OF(c, d), x3 = HIGH_OF(c, d);                    \
        row x4 = LOW_OF(e, f), x5 = HIGH_OF(e, f), x6 = LOW_OF(g, h), x7 = HIGH_OF(g, h);                    \
        row y0 = LOW_PAIRS(x0, x2), y1 = HIGH_PAIRS(x0, x2), y2 = LOW_PAIRS(x1, x3);                         \
        row y3 = HIGH_PAIRS(x1, x3), y4 = LOW_PAIRS(x4, x6), y5 = HIGH_PAIRS(x4, x6);                        \
        row y6 = LOW_PAIRS(x5, x7), y7 = HIGH_PAIRS(x5, x7);                                                 \
        STORE_COLUMN(0, n, (row)(y0.lo, y4.lo))                                                              \
        STORE_COLUMN(1, n, (row)(y1.lo, y5.lo))                                                              \
        STORE_COLUMN(2, n, (row)(y2.lo, y6.lo))                                                              \
        STORE_COLUMN(3, n, (row)(y3.lo, y7.lo))                                                              \
        STORE_COLUMN(4, n, (row)(y0.hi, y4.hi))                                                              \
        STORE_COLUMN(5, n, (row)(y1.hi, y5.hi))                                                              \
        STORE_COLUMN(6, n, (row)(y2.hi, y6.hi))                                                              \
        STORE_COLUMN(7, n, (row)(y3.hi, y7.hi))                                                              \
    }
#define TRANSPOSE SQUARE(0, r0, r1, r2, r3, r4, r5, r6, r7) SQUARE(8, r8, r9, r10, r11, r12, r13, r14, r15)
#endif
#define STORE_COLUMN(j, n, v) STORE_ROW_OWN(FROM_ROW(v), columns[j] + n);

/* Sorts the bins of a group; columns: the first ROWS keys of each. */
inline void sort_group(__global const key *slots, row_ids filled, key (*columns)[ROWS])
{
    row r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15;
#define LOAD_ROW(k) r##k = ROW_BELOW(k, filled, TO_ROW(LOAD_ROW_KEYS(slots + k * GROUP)));
    EACH_ROW(LOAD_ROW)
    SORT16
    TRANSPOSE
}

inline void unmap_columns(key (*columns)[ROWS], key_order o)
{
    for (uint j = 0; j < GROUP; j++)
        for (uint k = 0; k < ROWS; k += LANES)
            STORE_OWN(unmap_keys(LOAD_OWN(columns[j] + k), o), columns[j] + k);
}

/* Whole columns: what is too much of one, the next one overwrites. Returns the keys that are left of them. */
inline uint store_columns(key (*columns)[ROWS], const uint *size, __global key *restrict out)
{
    uint p = 0;
#pragma unroll
    for (uint j = 0; j < GROUP; j++) {
        for (uint k = 0; k < ROWS; k += LANES)
            STORE(LOAD_OWN(columns[j] + k), out + p + k);
        p += size[j];
    }
    return p;
}

/* Keys that the network did not see go into those that it sorted, which are un-mapped already. */
inline void store_bin(const key *column, __global const key *slots, uint size, __global key *out, key_order o)
{
    for (uint k = 0; k < min(size, (uint)ROWS); k++)
        out[k] = column[k];
    for (uint k = ROWS; k < size; k++) {
        key m = slots[k * GROUP];
        uint i = k;
        for (; i > 0 && map_key(out[i - 1], o) > m; i--)
            out[i] = out[i - 1];
        out[i] = unmap_key(m, o);
    }
}

/* Bins that may have more than ROWS keys, or no room behind them. */
inline uint store_bins(key (*columns)[ROWS], const uint *size, __global const key *slots, __global key *out,
                       key_order o)
{
    uint p = 0;
    for (uint j = 0; j < GROUP; j++) {
        store_bin(columns[j], slots + j, size[j], out + p, o);
        p += size[j];
    }
    return p;
}

/* Sorts the bins and writes them one behind the other. */
inline void drain_bins(__global const key *restrict slots, const uint *at, uint bins,
                       __global key *restrict out, uint n, key_order o, bool identity)
{
    uint p = 0;
    for (uint g = 0; g < bins; g += GROUP, slots += SLOTS * GROUP) {
        key columns[GROUP][ROWS];
        uint size[GROUP];
        row_ids filled = (LOAD_ROW_IDS(at + g) - (row_ids)(g * SLOTS)) / (row_ids)GROUP;
        STORE_ROW_IDS(filled, size);
        sort_group(slots, filled, columns);
        if (!identity)
            unmap_columns(columns, o);
        bool full = nonzero(WIDE(max(filled, (row_ids)ROWS) ^ (row_ids)ROWS));
        p += full || n - p < GROUP * ROWS ? store_bins(columns, size, slots, out + p, o)
                                          : store_columns(columns, size, out + p);
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
        ulong slots = (ulong)by.bins * SLOTS + BIN_BLOCK * GROUP;
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
