/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both styles of the bitonic sort share: keys, items, the order.
 *
 * Built with -D HAC_KEY_BITS=32|64 (the input) and -D HAC_ARGSORT=0|1|2 (0: keys; 1: indices below 2^32; 2:
 * any index). An item is what is sorted in memory between the passes:
 *
 *     keys, 32 bits     uint: the mapped key
 *     keys, 64 bits     ulong: the mapped key
 *     argsort 1, 32     ulong: mapped key << 32 | index, which orders ties by index
 *     argsort 2 or 64   ulong2: mapped key, index
 *
 * Every comparator puts the smaller item at the lower index. Items at and past `valid` are virtual: they
 * compare greater than all others, never move and are never stored.
 */
#if HAC_KEY_BITS == 64
typedef ulong key_t;
typedef long skey_t;
#define KEY_SHIFT 63
#else
typedef uint key_t;
typedef int skey_t;
#define KEY_SHIFT 31
#endif

#if HAC_ARGSORT == 2 || (HAC_ARGSORT == 1 && HAC_KEY_BITS == 64)
#define PAIR 1
#else
#define PAIR 0
#endif

#if PAIR
typedef ulong2 item_t;
#elif HAC_ARGSORT || HAC_KEY_BITS == 64
typedef ulong item_t;
#else
typedef uint item_t;
#endif
#define INLINE static inline __attribute__((always_inline))

/* ---- keys: the map of base/type.h ------------------------------------------------------------- */

typedef struct {
    key_t flip, sign, rotate, reverse;
    key_t nan; /* argsort of floats: bit patterns above it, without the sign bit, are NaNs; else all ones */
} order_t;

INLINE key_t key_map(order_t o, key_t x)
{
    key_t negative = (key_t)((skey_t)x >> KEY_SHIFT);
    key_t m = ((x ^ (negative & o.flip) ^ o.sign) - o.rotate) ^ o.reverse;
#if HAC_ARGSORT
    /* All NaNs are one key. For floats the mask removes the sign bit. */
    m = (x & (o.flip | ~o.sign)) > o.nan ? ~(key_t)0 ^ o.reverse : m;
#endif
    return m;
}

#if !HAC_ARGSORT
INLINE key_t key_unmap(order_t o, key_t m)
{
    key_t y = ((m ^ o.reverse) + o.rotate) ^ o.sign;
    return y ^ ((key_t)((skey_t)y >> KEY_SHIFT) & o.flip);
}
#endif

/* One item from a key of the input and its index. */
INLINE item_t item_make(order_t o, key_t x, ulong index)
{
#if PAIR
    return (ulong2)((ulong)key_map(o, x), index);
#elif HAC_ARGSORT
    return (ulong)key_map(o, x) << 32 | index;
#else
    return key_map(o, x);
#endif
}

INLINE item_t item_last(void)
{
#if PAIR
    return (ulong2)(~0UL, ~0UL);
#else
    return ~(item_t)0;
#endif
}

INLINE int item_greater(item_t a, item_t b)
{
#if PAIR
    return a.x > b.x || (a.x == b.x && a.y > b.y);
#else
    return a > b;
#endif
}

/* The last pass: an item in the form of the result. `wide`: indices are ulong (one program has both). */
INLINE void finish(order_t o, __global uint *final, ulong i, item_t a, uint wide)
{
#if PAIR
    if (wide)
        ((__global ulong *)final)[i] = a.y;
    else
        final[i] = (uint)a.y;
#elif HAC_ARGSORT
    final[i] = (uint)a;
#else
    ((__global key_t *)final)[i] = key_unmap(o, a);
#endif
}

#define ORDER_PARAMS key_t flip, key_t sign, key_t rotate, key_t reverse, key_t nan
#define ORDER                                                                                                 \
    {                                                                                                         \
        flip, sign, rotate, reverse, nan                                                                      \
    }
