/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitonic sort, block style: a work-item (local size 1) owns a block and works on whole 512-bit vectors.
 *
 * A tile is 16 vectors in registers. Inside a tile, strides of whole vectors are min and max. Shorter strides
 * work on pairs of vectors: one shuffle for each vector swaps "which vector" with one lane bit, so that each
 * stride is a min and a max again (pair_merge); one shuffle at the end restores the lanes. Longer strides go
 * four at a time over 16 registers (group), on memory that is in cache.
 */
#include "sort_bitonic_item.cl"
#include "sort_bitonic_vector.cl"

/* ---- tiles ------------------------------------------------------------------------------------ */

typedef struct {
    vec_t r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, ra, rb, rc, rd, re, rf;
} tile_t;

#define EACH(F)                                                                                               \
    F(r0, 0)                                                                                                  \
    F(r1, 1)                                                                                                  \
    F(r2, 2)                                                                                                  \
    F(r3, 3)                                                                                                  \
    F(r4, 4)                                                                                                  \
    F(r5, 5)                                                                                                  \
    F(r6, 6)                                                                                                  \
    F(r7, 7)                                                                                                  \
    F(r8, 8)                                                                                                  \
    F(r9, 9)                                                                                                  \
    F(ra, 10)                                                                                                 \
    F(rb, 11)                                                                                                 \
    F(rc, 12)                                                                                                 \
    F(rd, 13)                                                                                                 \
    F(re, 14)                                                                                                 \
    F(rf, 15)

#define CX(a, b) cx(&t->r##a, &t->r##b);

/* Strides of 8, 4, 2, 1 vectors. */
INLINE void stride8(tile_t *t)
{
    CX(0, 8) CX(1, 9) CX(2, a) CX(3, b) CX(4, c) CX(5, d) CX(6, e) CX(7, f)
}
INLINE void stride4(tile_t *t)
{
    CX(0, 4) CX(1, 5) CX(2, 6) CX(3, 7) CX(8, c) CX(9, d) CX(a, e) CX(b, f)
}
INLINE void stride2(tile_t *t)
{
    CX(0, 2) CX(1, 3) CX(4, 6) CX(5, 7) CX(8, a) CX(9, b) CX(c, e) CX(d, f)
}
INLINE void stride1(tile_t *t)
{
    CX(0, 1) CX(2, 3) CX(4, 5) CX(6, 7) CX(8, 9) CX(a, b) CX(c, d) CX(e, f)
}
/* Mirrors in runs of 4, 8, 16 vectors (of 2: stride1). */
INLINE void mirror4(tile_t *t)
{
    CX(0, 3) CX(1, 2) CX(4, 7) CX(5, 6) CX(8, b) CX(9, a) CX(c, f) CX(d, e)
}
INLINE void mirror8(tile_t *t)
{
    CX(0, 7) CX(1, 6) CX(2, 5) CX(3, 4) CX(8, f) CX(9, e) CX(a, d) CX(b, c)
}
INLINE void mirror16(tile_t *t)
{
    CX(0, f) CX(1, e) CX(2, d) CX(3, c) CX(4, b) CX(5, a) CX(6, 9) CX(7, 8)
}

/* All strides below LANES, in both vectors. */
INLINE void pair_merge(vec_t *a, vec_t *b)
{
    vec_t x = v_half_lo(*a, *b), y = v_half_hi(*a, *b);
    cx(&x, &y);
    vec_t u = v_quarter_lo(x, y), v = v_quarter_hi(x, y);
    cx(&u, &v);
    x = v_couple_lo(u, v);
    y = v_couple_hi(u, v);
    cx(&x, &y);
#if LANES == 16
    u = v_single_lo(x, y);
    v = v_single_hi(x, y);
    cx(&u, &v);
    *a = v_restore_a(u, v);
    *b = v_restore_b(u, v);
#else
    *a = v_restore_a(x, y);
    *b = v_restore_b(x, y);
#endif
}

INLINE void lanes_merge(tile_t *t)
{
    pair_merge(&t->r0, &t->r1);
    pair_merge(&t->r2, &t->r3);
    pair_merge(&t->r4, &t->r5);
    pair_merge(&t->r6, &t->r7);
    pair_merge(&t->r8, &t->r9);
    pair_merge(&t->ra, &t->rb);
    pair_merge(&t->rc, &t->rd);
    pair_merge(&t->re, &t->rf);
}

/* The last TILE_LOG2 steps of a subset. */
INLINE void tile_merge(tile_t *t)
{
    stride8(t);
    stride4(t);
    stride2(t);
    stride1(t);
    lanes_merge(t);
}

#define SWAP(f, a, b)                                                                                         \
    {                                                                                                         \
        vec_t x = v_##f##_lo(t->r##a, t->r##b), y = v_##f##_hi(t->r##a, t->r##b);                             \
        t->r##a = x;                                                                                          \
        t->r##b = y;                                                                                          \
    }

/* Sorted columns become runs of 16 items. */
INLINE void tile_transpose(tile_t *t)
{
#if LANES == 16
    SWAP(half, 0, 8) SWAP(half, 1, 9) SWAP(half, 2, a) SWAP(half, 3, b)
    SWAP(half, 4, c) SWAP(half, 5, d) SWAP(half, 6, e) SWAP(half, 7, f)
    SWAP(swap2, 0, 4) SWAP(swap2, 1, 5) SWAP(swap2, 2, 6) SWAP(swap2, 3, 7)
    SWAP(swap2, 8, c) SWAP(swap2, 9, d) SWAP(swap2, a, e) SWAP(swap2, b, f)
    SWAP(couple, 0, 2) SWAP(couple, 1, 3) SWAP(couple, 4, 6) SWAP(couple, 5, 7)
    SWAP(couple, 8, a) SWAP(couple, 9, b) SWAP(couple, c, e) SWAP(couple, d, f)
    SWAP(swap0, 0, 1) SWAP(swap0, 2, 3) SWAP(swap0, 4, 5) SWAP(swap0, 6, 7)
    SWAP(swap0, 8, 9) SWAP(swap0, a, b) SWAP(swap0, c, d) SWAP(swap0, e, f)
#else
    SWAP(half, 0, 4) SWAP(half, 1, 5) SWAP(half, 2, 6) SWAP(half, 3, 7)
    SWAP(half, 8, c) SWAP(half, 9, d) SWAP(half, a, e) SWAP(half, b, f)
    SWAP(swap1, 0, 2) SWAP(swap1, 1, 3) SWAP(swap1, 4, 6) SWAP(swap1, 5, 7)
    SWAP(swap1, 8, a) SWAP(swap1, 9, b) SWAP(swap1, c, e) SWAP(swap1, d, f)
    SWAP(couple, 0, 1) SWAP(couple, 2, 3) SWAP(couple, 4, 5) SWAP(couple, 6, 7)
    SWAP(couple, 8, 9) SWAP(couple, a, b) SWAP(couple, c, d) SWAP(couple, e, f)
    /* Column l is in vectors l and 8 + l now: move it to 2 l and 2 l + 1. */
    tile_t c = *t;
    t->r1 = c.r8;
    t->r2 = c.r1;
    t->r3 = c.r9;
    t->r4 = c.r2;
    t->r5 = c.ra;
    t->r6 = c.r3;
    t->r7 = c.rb;
    t->r8 = c.r4;
    t->r9 = c.rc;
    t->ra = c.r5;
    t->rb = c.rd;
    t->rc = c.r6;
    t->rd = c.re;
    t->re = c.r7;
#endif
}

#define REVERSE(a) t->r##a = v_reverse(t->r##a);

/*
 * Sorts a tile. If the subset is finished at once, the lanes of an upper half may stay reversed after the
 * mirror step: strides of whole vectors do not see it, and shorter strides sort either way.
 */
INLINE void tile_sort(tile_t *t)
{
    stride1(t);
    mirror4(t);
    stride1(t);
    mirror8(t);
    stride2(t);
    stride1(t);
    mirror16(t);
    stride4(t);
    stride2(t);
    stride1(t);
    tile_transpose(t);
#if LANES == 16
    REVERSE(1) REVERSE(3) REVERSE(5) REVERSE(7) REVERSE(9) REVERSE(b) REVERSE(d) REVERSE(f)
    stride1(t);
    lanes_merge(t);
#endif
    REVERSE(2) REVERSE(3) REVERSE(6) REVERSE(7) REVERSE(a) REVERSE(b) REVERSE(e) REVERSE(f)
    mirror4(t);
    stride1(t);
    lanes_merge(t);
    REVERSE(4) REVERSE(5) REVERSE(6) REVERSE(7) REVERSE(c) REVERSE(d) REVERSE(e) REVERSE(f)
    mirror8(t);
    stride2(t);
    stride1(t);
    lanes_merge(t);
    REVERSE(8) REVERSE(9) REVERSE(a) REVERSE(b) REVERSE(c) REVERSE(d) REVERSE(e) REVERSE(f)
    mirror16(t);
    stride4(t);
    stride2(t);
    stride1(t);
    lanes_merge(t);
}

/*
 * A group: `k` steps (1 … 4) on 2^k rows, `rows` items apart, over 16 >> k neighbouring vectors from column
 * `column`. With `mirror`, the first step compares row j with row 2^k - 1 - j and column c with column rows -
 * 1 - c: the upper rows are taken from the mirrored column, with their lanes reversed.
 */
#define ROW(v) ((v) >> (4 - k))
#define COL(v) (column + ((v) & ((16 >> k) - 1)) * LANES)
#define UPPER(v) (mirror && ROW(v) >= 1 << (k - 1))
#define AT(v) (ROW(v) * rows + (UPPER(v) ? rows - LANES - COL(v) : COL(v)))

INLINE void group_steps(tile_t *t, const int k, const int mirror)
{
    if (mirror && k == 4)
        mirror16(t);
    else if (mirror && k == 3) {
        CX(0, e) CX(1, f) CX(2, c) CX(3, d) CX(4, a) CX(5, b) CX(6, 8) CX(7, 9)
    } else if (mirror && k == 2) {
        CX(0, c) CX(1, d) CX(2, e) CX(3, f) CX(4, 8) CX(5, 9) CX(6, a) CX(7, b)
    } else
        stride8(t);
    if (k >= 2)
        stride4(t);
    if (k >= 3)
        stride2(t);
    if (k >= 4)
        stride1(t);
}

/* In place, if the subset is finished afterwards: lanes stay reversed. */
INLINE void group_in_block(__global item_t *x, uint rows, uint column, const int k, const int mirror)
{
    tile_t t;
#define F(r, v)                                                                                               \
    t.r = v_load(x + AT(v));                                                                                  \
    if (UPPER(v))                                                                                             \
        t.r = v_reverse(t.r);
    EACH(F)
#undef F
    group_steps(&t, k, mirror);
#define F(r, v) v_store(x + AT(v), t.r);
    EACH(F)
#undef F
}

#define GROUP_LOOP(k, mirror)                                                                                 \
    for (uint base = 0; base < items; base += rows << k)                                                      \
        for (uint c = 0; c < rows; c += (16 >> k) * LANES)                                                    \
            group_in_block(x + base, rows, c, k, mirror);

/* k steps on every run of rows << k items of x. */
INLINE void groups_in_block(__global item_t *x, uint items, uint rows, uint k, uint mirror)
{
    switch (k << 1 | mirror) {
    case 2:
        GROUP_LOOP(1, 0)
        break;
    case 3:
        GROUP_LOOP(1, 1)
        break;
    case 4:
        GROUP_LOOP(2, 0)
        break;
    case 5:
        GROUP_LOOP(2, 1)
        break;
    case 6:
        GROUP_LOOP(3, 0)
        break;
    case 7:
        GROUP_LOOP(3, 1)
        break;
    case 8:
        GROUP_LOOP(4, 0)
        break;
    default:
        GROUP_LOOP(4, 1)
        break;
    }
}

/* The steps of strides 2^(from-1) … 2^to. With `mirror`, the first of them is a mirror in runs of 2^from. */
static void strides_in_block(__global item_t *x, uint items, uint from, uint to, uint mirror)
{
    while (from > to) {
        uint passes = (from - to + 3) / 4, k = (from - to + passes - 1) / passes;
        groups_in_block(x, items, 1u << (from - k), k, mirror);
        from -= k;
        mirror = 0;
    }
}

static void tiles_merge(__global item_t *x, uint items)
{
    for (uint i = 0; i < items; i += TILE) {
        tile_t t;
#define F(r, v) t.r = v_load(x + i + v * LANES);
        EACH(F)
#undef F
        tile_merge(&t);
#define F(r, v) v_store(x + i + v * LANES, t.r);
        EACH(F)
#undef F
    }
}

/*
 * On 2^b items: with `mirror` the subsets from … b, else the last `from` steps of one subset. Subsets that
 * fit a chunk are done chunk by chunk. Each further subset takes its strides above a chunk first (i = -1),
 * then chunks. It is one loop, since compilers copy the passes into every place that calls them.
 */
static void block_passes(__global item_t *x, uint b, uint from, uint mirror)
{
    const uint chunk = min(b, (uint)CHUNK_LOG2), end = mirror ? b : from;
    for (uint p = from; p <= end;) {
        const uint next = p <= chunk ? min(end, chunk) + 1 : p + 1;
        for (int i = p <= chunk ? 0 : -1; i < 1 << (b - chunk); i++)
            for (uint q = p; q < next; q++) {
                const uint above = i < 0, items = above ? 1u << b : 1u << chunk;
                __global item_t *part = x + (above ? 0 : (uint)i << chunk);
                strides_in_block(part, items, above || q <= chunk ? q : chunk, above ? chunk : TILE_LOG2,
                                 mirror && (above || q <= chunk));
                if (!above)
                    tiles_merge(part, items);
            }
        p = next;
    }
}

/* ---- the end of a buffer ---------------------------------------------------------------------- */

INLINE vec_t v_load_part(const __global item_t *x, ulong i, ulong valid)
{
    item_t part[LANES];
    for (uint l = 0; l < LANES; l++)
        part[l] = i + l < valid ? x[i + l] : item_last();
#if PAIR
    vec_t r;
    r.k = (ulong8)(part[0].x, part[1].x, part[2].x, part[3].x, part[4].x, part[5].x, part[6].x, part[7].x);
    r.i = (ulong8)(part[0].y, part[1].y, part[2].y, part[3].y, part[4].y, part[5].y, part[6].y, part[7].y);
    return r;
#elif LANES == 16
    return vload16(0, part);
#else
    return vload8(0, part);
#endif
}

INLINE void v_store_part(__global item_t *x, ulong i, ulong valid, vec_t a)
{
    item_t part[LANES];
#if PAIR
    ulong k[LANES], n[LANES];
    vstore8(a.k, 0, k);
    vstore8(a.i, 0, n);
    for (uint l = 0; l < LANES; l++)
        part[l] = (ulong2)(k[l], n[l]);
#elif LANES == 16
    vstore16(a, 0, part);
#else
    vstore8(a, 0, part);
#endif
    for (uint l = 0; l < LANES && i + l < valid; l++)
        x[i + l] = part[l];
}

static vec_t v_load_slow(const __global item_t *x, ulong i, ulong valid)
{
    return i < valid ? v_load_part(x, i, valid) : v_last();
}

static void v_store_slow(__global item_t *x, ulong i, ulong valid, vec_t a)
{
    if (i < valid)
        v_store_part(x, i, valid, a);
}

/* ---- long strides through a scratch that the cache holds ---------------------------------------- */

/* A unit of bitonic_merge: `chunk` columns from `column` of the rows x[i * row] (i < 2^steps), of which items
 * at and past `valid` are virtual. In the scratch a row has `chunk` items. If `valid` divides one of its
 * vectors, the unit is `careful`. There are few such units, so the code for a part of a vector need not
 * follow each load and store, for which compilers took seconds. */
typedef struct {
    __global item_t *x;
    ulong valid, row, column;
    uint steps, chunk, mirror, careful;
} unit_t;

INLINE uint unit_is_cut(const unit_t *u)
{
    ulong cut = u->valid / LANES * LANES, r = cut / u->row, c = cut % u->row;
    if (cut == u->valid || r >> u->steps != 0)
        return 0;
    if (u->mirror && r >> (u->steps - 1) != 0)
        c = u->row - LANES - c;
    return c >= u->column && c < u->column + u->chunk;
}

/* The item of column `c` of the unit in row `r`; counted from the other end in the upper half of a mirror. */
INLINE ulong unit_at(const unit_t *u, uint r, uint c, int upper)
{
    return r * u->row + (upper ? u->row - LANES - (u->column + c) : u->column + c);
}

INLINE vec_t unit_load(const unit_t *u, uint r, uint c, int upper, int careful)
{
    ulong i = unit_at(u, r, c, upper);
    vec_t a = i + LANES <= u->valid ? v_load(u->x + i) : careful ? v_load_slow(u->x, i, u->valid) : v_last();
    return upper ? v_reverse(a) : a;
}

INLINE void unit_store(const unit_t *u, uint r, uint c, int upper, vec_t a, int careful)
{
    ulong i = unit_at(u, r, c, upper);
    if (upper)
        a = v_reverse(a);
    if (i + LANES <= u->valid)
        v_store(u->x + i, a);
    else if (careful)
        v_store_slow(u->x, i, u->valid, a);
}

/* Vector v of a group of k steps: its row and its column. Groups have rows j * apart + offset; in the upper
 * half of a mirror the offset is mirrored, too. */
#define U_UPPER(v) (mirror && ROW(v) >= 1 << (k - 1))
#define U_ROW(v) (ROW(v) * apart + (U_UPPER(v) ? apart - 1 - offset : offset))
#define U_COL(v) (c + ((v) & ((16 >> k) - 1)) * LANES)

/* A tile of a careful unit, one vector after the other. */
#define PUT_PART(r, v)  t.r = part[v];
#define TAKE_PART(r, v) part[v] = t.r;
#define CAREFUL_LOAD(row_of_v, upper_of_v)                                                                    \
    vec_t part[16];                                                                                           \
    for (uint v = 0; v < 16; v++)                                                                             \
        part[v] = unit_load(u, row_of_v, U_COL(v), upper_of_v, 1);                                            \
    EACH(PUT_PART)
#define CAREFUL_STORE(row_of_v, upper_of_v)                                                                   \
    vec_t part[16];                                                                                           \
    EACH(TAKE_PART)                                                                                           \
    for (uint v = 0; v < 16; v++)                                                                             \
        unit_store(u, row_of_v, U_COL(v), upper_of_v, part[v], 1);

/* The first k steps of the unit: from memory to the scratch, or to memory if there are no more. */
INLINE void unit_first(const unit_t *u, __local item_t *scratch, const int k, const int mirror, const int all)
{
    const uint apart = 1u << (u->steps - k);
    for (uint offset = 0; offset < apart; offset++)
        for (uint c = 0; c < u->chunk; c += (16 >> k) * LANES) {
            tile_t t;
            if (u->careful) {
                CAREFUL_LOAD(U_ROW(v), U_UPPER(v))
            } else {
#define F(r, v) t.r = unit_load(u, U_ROW(v), U_COL(v), U_UPPER(v), 0);
                EACH(F)
#undef F
            }
            group_steps(&t, k, mirror);
            if (all && u->careful) {
                CAREFUL_STORE(U_ROW(v), U_UPPER(v))
            } else if (all) {
#define F(r, v) unit_store(u, U_ROW(v), U_COL(v), U_UPPER(v), t.r, 0);
                EACH(F)
#undef F
            } else {
#define F(r, v) v_store_local(scratch + U_ROW(v) * u->chunk + U_COL(v), t.r);
                EACH(F)
#undef F
            }
        }
}

/* The last k steps of the unit: from the scratch to memory. */
INLINE void unit_second(const unit_t *u, const __local item_t *scratch, const int k)
{
    const uint rows = 1u << u->steps;
    for (uint base = 0; base < rows; base += 1u << k) {
        const int upper = u->mirror && base >= rows / 2;
        for (uint c = 0; c < u->chunk; c += (16 >> k) * LANES) {
            tile_t t;
#define F(r, v) t.r = v_load_local(scratch + (base + ROW(v)) * u->chunk + U_COL(v));
            EACH(F)
#undef F
            group_steps(&t, k, 0);
            if (u->careful) {
                CAREFUL_STORE(base + ROW(v), upper)
            } else {
#define F(r, v) unit_store(u, base + ROW(v), U_COL(v), upper, t.r, 0);
                EACH(F)
#undef F
            }
        }
    }
}

static void unit_short(const unit_t *u, __local item_t *scratch)
{
    switch (u->steps << 1 | u->mirror) {
    case 2:
        unit_first(u, scratch, 1, 0, 1);
        break;
    case 3:
        unit_first(u, scratch, 1, 1, 1);
        break;
    case 4:
        unit_first(u, scratch, 2, 0, 1);
        break;
    case 5:
        unit_first(u, scratch, 2, 1, 1);
        break;
    case 6:
        unit_first(u, scratch, 3, 0, 1);
        break;
    case 7:
        unit_first(u, scratch, 3, 1, 1);
        break;
    case 8:
        unit_first(u, scratch, 4, 0, 1);
        break;
    default:
        unit_first(u, scratch, 4, 1, 1);
        break;
    }
}

static void unit_long(const unit_t *u, __local item_t *scratch)
{
    if (u->steps >= 7) {
        if (u->mirror)
            unit_first(u, scratch, 4, 1, 0);
        else
            unit_first(u, scratch, 4, 0, 0);
    } else if (u->mirror)
        unit_first(u, scratch, 3, 1, 0);
    else
        unit_first(u, scratch, 3, 0, 0);
    if (u->steps == 8)
        unit_second(u, scratch, 4);
    else if (u->steps == 5)
        unit_second(u, scratch, 2);
    else
        unit_second(u, scratch, 3);
}

/* ---- kernels ----------------------------------------------------------------------------------
 *
 * Local size 1. A buffer is a window on an array and comes with a number: `…_first`, the window's item at
 * which the launch's range begins (64-byte aligned, a multiple of a block), or, in the kernels for single
 * steps, `…_base`, the item of the array at which the window begins. `valid` counts from the range's start.
 */
/* log2 of the part of a block that its items need. Later subsets and strides find only virtual partners. */
INLINE uint block_needed(uint b, uint have)
{
    while (b > TILE_LOG2 && have <= 1u << (b - 1))
        b--;
    return b;
}

/* Subsets 1 … b in every block of 2^b items, b >= TILE_LOG2, from keys to items. `index` is the number of the
 * range's first item. The scratch holds one block, for the incomplete block. */
__kernel void bitonic_block(__global const key_t *in, __global item_t *data, __global item_t *scratch,
                            ulong in_first, ulong data_first, ulong valid, ulong index, uint b, ORDER_PARAMS)
{
    const order_t o = ORDER;
    const ulong first = (ulong)get_group_id(0) << b;
    const uint have = (uint)min((ulong)1 << b, valid - first);
    b = block_needed(b, have);
    const uint items = 1u << b;
    __global item_t *x = have == items ? data + data_first + first : scratch;
    in += in_first + first;
    index += first;
    for (uint i = have / TILE * TILE; i < items; i++)
        x[i] = i < have ? item_make(o, in[i], index + i) : item_last();
    for (uint i = 0; i < items; i += TILE) {
        tile_t t;
        if (i + TILE <= have) {
#define F(r, v) t.r = v_make(o, in + i + v * LANES, index + i + v * LANES);
            EACH(F)
#undef F
        } else {
#define F(r, v) t.r = v_load(x + i + v * LANES);
            EACH(F)
#undef F
        }
        tile_sort(&t);
#define F(r, v) v_store(x + i + v * LANES, t.r);
        EACH(F)
#undef F
    }
    block_passes(x, b, TILE_LOG2 + 1, 1);
    if (have < items)
        for (uint i = 0; i < have; i++)
            data[data_first + first + i] = x[i];
}

/* The last t steps of a subset in every block of 2^b items; TILE_LOG2 <= t <= b, or t = 0. With `last`, items
 * go to `final` as keys or indices (keys may use the same memory). */
__kernel void bitonic_tail(__global item_t *data, __global uint *final, __global item_t *scratch,
                           ulong data_first, ulong final_first, ulong valid, uint b, uint t, uint last,
                           uint wide, ORDER_PARAMS)
{
    const order_t o = ORDER;
    const ulong first = (ulong)get_group_id(0) << b;
    const uint have = (uint)min((ulong)1 << b, valid - first);
    b = block_needed(b, have);
    t = min(t, b);
    const uint items = 1u << b;
    __global item_t *block = data + data_first + first, *x = have == items || t == 0 ? block : scratch;
    if (x == scratch)
        for (uint i = 0; i < items; i++)
            x[i] = i < have ? block[i] : item_last();
    if (t != 0)
        block_passes(x, b, t, 0);
    final_first += first;
    if (last) {
        for (uint i = 0; i < have / LANES * LANES; i += LANES)
            v_finish(o, final, final_first + i, v_load(x + i), wide);
        for (uint i = have / LANES * LANES; i < have; i++)
            finish(o, final, final_first + i, x[i], wide);
    } else if (x == scratch)
        for (uint i = 0; i < have; i++)
            block[i] = x[i];
}

/* Steps of strides 2^(from-1) … 2^to in runs of 2^from items; 1 <= from - to <= 8, to >= TILE_LOG2. With
 * `mirror`, the first step is a mirror in the run. A work-item takes one unit: `chunk` columns of one run (a
 * multiple of 8 vectors that divides 2^to; of 4 vectors from five steps on). Units are numbered run by run.
 * Scratch: chunk << (from - to) items if there are more than four steps. */
__kernel void bitonic_merge(__global item_t *data, __local item_t *scratch, ulong data_first, ulong valid,
                            ulong first_unit, uint from, uint to, uint mirror, uint chunk)
{
    const ulong row = (ulong)1 << to, units = row / chunk, number = first_unit + get_group_id(0);
    const ulong run = number / units << from;
    unit_t u;
    u.x = data + data_first + run;
    u.valid = valid - run;
    u.row = row;
    u.column = number % units * chunk;
    u.steps = from - to;
    u.chunk = chunk;
    u.mirror = mirror;
    u.careful = unit_is_cut(&u);
    if (u.steps <= 4)
        unit_short(&u, scratch);
    else
        unit_long(&u, scratch);
}

/* ---- any single step, any alignment ------------------------------------------------------------- */

/* Comparators first … first + count - 1 of the step of stride 2^log2 (with `mirror`: of the mirror in runs of
 * 2^(log2 + 1)), numbered through the array; `per` for each work-item. `valid` is the array's length. */
__kernel void bitonic_step(__global item_t *lo, __global item_t *hi, ulong lo_base, ulong hi_base,
                           ulong valid, ulong first, ulong count, uint per, uint log2, uint mirror)
{
    const ulong from = (ulong)get_group_id(0) * per, to = min(from + per, count);
    const ulong stride = (ulong)1 << log2;
    for (ulong c = first + from; c < first + to; c++) {
        const ulong run = c >> log2 << (log2 + 1), offset = c & (stride - 1);
        const ulong i = run + offset, j = run + (mirror ? 2 * stride - 1 - offset : stride + offset);
        if (j >= valid)
            continue;
        const item_t a = lo[i - lo_base], b = hi[j - hi_base];
        if (item_greater(a, b)) {
            lo[i - lo_base] = b;
            hi[j - hi_base] = a;
        }
    }
}

/* Items first … first + count - 1 from their keys, `per` for each work-item. */
__kernel void bitonic_map(__global const key_t *in, __global item_t *data, ulong in_base, ulong data_base,
                          ulong first, ulong count, uint per, ORDER_PARAMS)
{
    const order_t o = ORDER;
    const ulong from = (ulong)get_group_id(0) * per, to = min(from + per, count);
    for (ulong i = first + from; i < first + to; i++)
        data[i - data_base] = item_make(o, in[i - in_base], i);
}

/* Keys or indices from items. */
__kernel void bitonic_unmap(__global const item_t *data, __global uint *final, ulong data_base,
                            ulong final_base, ulong first, ulong count, uint per, uint wide, ORDER_PARAMS)
{
    const order_t o = ORDER;
    const ulong from = (ulong)get_group_id(0) * per, to = min(from + per, count);
    for (ulong i = first + from; i < first + to; i++)
        finish(o, final, i - final_base, data[i - data_base], wide);
}
