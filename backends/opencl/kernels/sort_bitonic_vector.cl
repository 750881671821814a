/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of items for the block style of the bitonic sort: 512 bits of keys (16 or 8 lanes), and as many
 * bits of indices if an item is a pair. Included after sort_bitonic_item.cl.
 */
#if !PAIR && !HAC_ARGSORT && HAC_KEY_BITS == 32
#define LANES_LOG2 4
#else
#define LANES_LOG2 3
#endif
#define LANES (1 << LANES_LOG2)
#define TILE_LOG2 (4 + LANES_LOG2)
#define TILE (1 << TILE_LOG2)
/* Items of a chunk that fits the first-level cache (32 KiB). */
#define CHUNK_LOG2 (PAIR ? 11 : 9 + LANES_LOG2)

#if LANES == 16
typedef uint16 lanes_t;
#else
typedef ulong8 lanes_t;
#endif

/* Lanes of a, then of b, by number. The built-in is one shuffle for LLVM; shuffle2 and literals made of parts
 * become several. */
#ifdef __clang__
#define SHUFFLE8(i, j, k, l, m, n, o, p) __builtin_shufflevector(a, b, i, j, k, l, m, n, o, p)
#define SHUFFLE16(i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)                                               \
    __builtin_shufflevector(a, b, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
#else
#define SHUFFLE8(i, j, k, l, m, n, o, p) shuffle2(a, b, (lanes_t)(i, j, k, l, m, n, o, p))
#define SHUFFLE16(i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)                                               \
    shuffle2(a, b, (lanes_t)(i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x))
#endif

#if PAIR
typedef struct {
    ulong8 k, i;
} vec_t;
#else
typedef lanes_t vec_t;
#endif

/* ---- vectors ---------------------------------------------------------------------------------- */

#if LANES == 16
INLINE lanes_t lanes_reverse(lanes_t a)
{
    return a.sfedcba9876543210;
}
INLINE lanes_t half_lo(lanes_t a, lanes_t b)
{
    return SHUFFLE16(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}
INLINE lanes_t half_hi(lanes_t a, lanes_t b)
{
    return SHUFFLE16(8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}
/* 128-bit quarters 0 and 2 of a, then of b: one instruction. */
INLINE lanes_t quarter_lo(lanes_t a, lanes_t b)
{
    return SHUFFLE16(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
}
INLINE lanes_t quarter_hi(lanes_t a, lanes_t b)
{
    return SHUFFLE16(4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}
INLINE lanes_t couple_lo(lanes_t a, lanes_t b)
{
    return SHUFFLE16(0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
}
INLINE lanes_t couple_hi(lanes_t a, lanes_t b)
{
    return SHUFFLE16(2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
}
INLINE lanes_t single_lo(lanes_t a, lanes_t b)
{
    return SHUFFLE16(0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30);
}
INLINE lanes_t single_hi(lanes_t a, lanes_t b)
{
    return SHUFFLE16(1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
}
/* Undo half, quarter, couple, single. */
INLINE lanes_t restore_a(lanes_t a, lanes_t b)
{
    return SHUFFLE16(0, 16, 2, 18, 1, 17, 3, 19, 8, 24, 10, 26, 9, 25, 11, 27);
}
INLINE lanes_t restore_b(lanes_t a, lanes_t b)
{
    return SHUFFLE16(4, 20, 6, 22, 5, 21, 7, 23, 12, 28, 14, 30, 13, 29, 15, 31);
}
/* For the transpose: exact swaps of "which vector" with lane bits 2 and 0. */
INLINE lanes_t swap2_lo(lanes_t a, lanes_t b)
{
    return SHUFFLE16(0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
}
INLINE lanes_t swap2_hi(lanes_t a, lanes_t b)
{
    return SHUFFLE16(4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
}
INLINE lanes_t swap0_lo(lanes_t a, lanes_t b)
{
    return SHUFFLE16(0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
}
INLINE lanes_t swap0_hi(lanes_t a, lanes_t b)
{
    return SHUFFLE16(1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
}
#else
INLINE lanes_t lanes_reverse(lanes_t a)
{
    return a.s76543210;
}
INLINE lanes_t half_lo(lanes_t a, lanes_t b)
{
    return SHUFFLE8(0, 1, 2, 3, 8, 9, 10, 11);
}
INLINE lanes_t half_hi(lanes_t a, lanes_t b)
{
    return SHUFFLE8(4, 5, 6, 7, 12, 13, 14, 15);
}
INLINE lanes_t quarter_lo(lanes_t a, lanes_t b)
{
    return SHUFFLE8(0, 1, 4, 5, 8, 9, 12, 13);
}
INLINE lanes_t quarter_hi(lanes_t a, lanes_t b)
{
    return SHUFFLE8(2, 3, 6, 7, 10, 11, 14, 15);
}
INLINE lanes_t couple_lo(lanes_t a, lanes_t b)
{
    return SHUFFLE8(0, 8, 2, 10, 4, 12, 6, 14);
}
INLINE lanes_t couple_hi(lanes_t a, lanes_t b)
{
    return SHUFFLE8(1, 9, 3, 11, 5, 13, 7, 15);
}
/* Undo half, quarter, couple. */
INLINE lanes_t restore_a(lanes_t a, lanes_t b)
{
    return SHUFFLE8(0, 8, 1, 9, 4, 12, 5, 13);
}
INLINE lanes_t restore_b(lanes_t a, lanes_t b)
{
    return SHUFFLE8(2, 10, 3, 11, 6, 14, 7, 15);
}
INLINE lanes_t swap1_lo(lanes_t a, lanes_t b)
{
    return SHUFFLE8(0, 1, 8, 9, 4, 5, 12, 13);
}
INLINE lanes_t swap1_hi(lanes_t a, lanes_t b)
{
    return SHUFFLE8(2, 3, 10, 11, 6, 7, 14, 15);
}
#endif

#if PAIR
#define LIFT2(f)                                                                                              \
    INLINE vec_t v_##f(vec_t a, vec_t b)                                                                      \
    {                                                                                                         \
        vec_t r;                                                                                              \
        r.k = f(a.k, b.k);                                                                                    \
        r.i = f(a.i, b.i);                                                                                    \
        return r;                                                                                             \
    }
#else
#define LIFT2(f)                                                                                              \
    INLINE vec_t v_##f(vec_t a, vec_t b)                                                                      \
    {                                                                                                         \
        return f(a, b);                                                                                       \
    }
#endif
LIFT2(half_lo)
LIFT2(half_hi)
LIFT2(quarter_lo)
LIFT2(quarter_hi)
LIFT2(couple_lo)
LIFT2(couple_hi)
LIFT2(restore_a)
LIFT2(restore_b)
#if LANES == 16
LIFT2(single_lo)
LIFT2(single_hi)
LIFT2(swap2_lo)
LIFT2(swap2_hi)
LIFT2(swap0_lo)
LIFT2(swap0_hi)
#else
LIFT2(swap1_lo)
LIFT2(swap1_hi)
#endif

INLINE vec_t v_reverse(vec_t a)
{
#if PAIR
    a.k = lanes_reverse(a.k);
    a.i = lanes_reverse(a.i);
    return a;
#else
    return lanes_reverse(a);
#endif
}

/* The comparator on all lanes: the smaller item goes to *a. */
INLINE void cx(vec_t *a, vec_t *b)
{
#if PAIR
    long8 swap = (a->k > b->k) | ((a->k == b->k) & (a->i > b->i));
    ulong8 k = select(a->k, b->k, swap), i = select(a->i, b->i, swap);
    b->k = select(b->k, a->k, swap);
    b->i = select(b->i, a->i, swap);
    a->k = k;
    a->i = i;
#else
    vec_t lo = min(*a, *b);
    *b = max(*a, *b);
    *a = lo;
#endif
}

/* Access to vectors at items that are a multiple of LANES. */
#if PAIR
#define DEFINE_ACCESS(space, suffix)                                                                          \
    INLINE vec_t v_load##suffix(const space item_t *p)                                                        \
    {                                                                                                         \
        ulong8 x = ((const space ulong8 *)p)[0], y = ((const space ulong8 *)p)[1];                            \
        vec_t r;                                                                                              \
        r.k = (ulong8)(x.even, y.even);                                                                       \
        r.i = (ulong8)(x.odd, y.odd);                                                                         \
        return r;                                                                                             \
    }                                                                                                         \
    INLINE void v_store##suffix(space item_t *p, vec_t a)                                                     \
    {                                                                                                         \
        ((space ulong8 *)p)[0] =                                                                              \
            (ulong8)(a.k.s0, a.i.s0, a.k.s1, a.i.s1, a.k.s2, a.i.s2, a.k.s3, a.i.s3);                         \
        ((space ulong8 *)p)[1] =                                                                              \
            (ulong8)(a.k.s4, a.i.s4, a.k.s5, a.i.s5, a.k.s6, a.i.s6, a.k.s7, a.i.s7);                         \
    }
#else
#define DEFINE_ACCESS(space, suffix)                                                                          \
    INLINE vec_t v_load##suffix(const space item_t *p)                                                        \
    {                                                                                                         \
        return *(const space vec_t *)p;                                                                       \
    }                                                                                                         \
    INLINE void v_store##suffix(space item_t *p, vec_t a)                                                     \
    {                                                                                                         \
        *(space vec_t *)p = a;                                                                                \
    }
#endif
DEFINE_ACCESS(__global, )
DEFINE_ACCESS(__local, _local)

INLINE void v_finish(order_t o, __global uint *final, ulong i, vec_t a, uint wide)
{
#if PAIR
    if (wide)
        *(__global ulong8 *)((__global ulong *)final + i) = a.i;
    else
        *(__global uint8 *)(final + i) = convert_uint8(a.i);
#elif HAC_ARGSORT
    *(__global uint8 *)(final + i) = convert_uint8(a & 0xffffffffUL);
#elif LANES == 16
    uint16 y = ((a ^ o.reverse) + o.rotate) ^ o.sign;
    *(__global uint16 *)(final + i) = y ^ (as_uint16(as_int16(y) >> KEY_SHIFT) & o.flip);
#else
    ulong8 y = ((a ^ o.reverse) + o.rotate) ^ o.sign;
    *(__global ulong8 *)((__global ulong *)final + i) = y ^ (as_ulong8(as_long8(y) >> KEY_SHIFT) & o.flip);
#endif
}

INLINE vec_t v_last(void)
{
#if PAIR
    vec_t r;
    r.k = ~0UL;
    r.i = ~0UL;
    return r;
#else
    return ~(vec_t)0;
#endif
}

/* Keys of the input to items; `in` is at a multiple of LANES. */
INLINE vec_t v_make(order_t o, const __global key_t *in, ulong index)
{
#if LANES == 16
    uint16 x = *(const __global uint16 *)in;
    uint16 negative = as_uint16(as_int16(x) >> KEY_SHIFT);
    return ((x ^ (negative & o.flip) ^ o.sign) - o.rotate) ^ o.reverse;
#else
#if HAC_KEY_BITS == 64
    ulong8 x = *(const __global ulong8 *)in;
    ulong8 negative = as_ulong8(as_long8(x) >> KEY_SHIFT);
    ulong8 m = ((x ^ (negative & o.flip) ^ o.sign) - o.rotate) ^ o.reverse;
#if HAC_ARGSORT
    m = select(m, (ulong8)(~0UL ^ o.reverse), as_long8((x & (o.flip | ~o.sign)) > o.nan));
#endif
#else
    uint8 x = *(const __global uint8 *)in;
    uint8 negative = as_uint8(as_int8(x) >> KEY_SHIFT);
    uint8 n = ((x ^ (negative & o.flip) ^ o.sign) - o.rotate) ^ o.reverse;
    n = select(n, (uint8)(~0U ^ o.reverse), as_int8((x & (o.flip | ~o.sign)) > o.nan));
    ulong8 m = convert_ulong8(n);
#endif
#if PAIR
    vec_t r;
    r.k = m;
    r.i = (ulong8)(0, 1, 2, 3, 4, 5, 6, 7) + index;
    return r;
#elif HAC_ARGSORT
    return m << 32 | ((ulong8)(0, 1, 2, 3, 4, 5, 6, 7) + index);
#else
    return m;
#endif
#endif
}
