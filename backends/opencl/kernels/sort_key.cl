/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of HAC_KEY_BITS bits in the form of radix sorts, and indices of HAC_INDEX_BYTES bytes beside them (0:
 * none). */
#if HAC_KEY_BITS == 64
typedef ulong key;
#else
typedef uint key;
#endif
#define KEY_MAX ((key) ~(key)0)

#if HAC_INDEX_BYTES == 8
typedef ulong number;
#elif HAC_INDEX_BYTES == 4
typedef uint number;
#endif

/* base/type.h: four masks that make unsigned comparison the job's order. `top` makes all NaNs one key if only
 * the order of indices is wanted (all ones: keep them). */
typedef struct {
    key flip, sign, rotate, reverse, top;
} key_order;

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
