/* SPDX-License-Identifier: Apache-2.0 */
/* What the code needs to know of an element type: its size, its name, its order. */
#ifndef BASE_TYPE_H
#define BASE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/type.h>

/* Size of one element in bytes; 0 for HAC_TYPE_NONE and for values that are no type. */
size_t hac_type_size(hac_type type);

/* "u32" …; "none" for what is no type. */
const char *hac_type_name(hac_type type);

/* The type of that name, or HAC_TYPE_NONE. */
hac_type hac_type_from_name(const char *name);

bool hac_type_is_float(hac_type type);

/*
 * Sort order as unsigned integers. Every key is mapped to an unsigned integer of its own width so that
 * unsigned comparison is the job's order; the map is a bijection, four operations, the same in C and in
 * the kernels:
 *
 *     m = ((x ^ (negative(x) ? flip : 0) ^ sign) - rotate) ^ reverse
 *
 * Floats: `flip` and `sign` give the IEEE total order; `rotate` (the number of negative NaN patterns)
 * then moves the negative NaNs from below -infinity to above the positive NaNs. -0.0 comes before +0.0.
 * `reverse` is all ones for descending. NaNs compare by their bits under this map; the sort flow puts
 * them back into input order where they differ (ties keep their input order).
 */
typedef struct hac_key_order {
    uint64_t flip;
    uint64_t sign;
    uint64_t rotate;
    uint64_t reverse;
} hac_key_order;

/* The order of `type`; masks are within the type's width. */
hac_key_order hac_key_order_of(hac_type type, bool descending);

static inline uint32_t hac_key_map32(hac_key_order o, uint32_t x)
{
    uint32_t negative = (uint32_t)((int32_t)x >> 31);
    return ((x ^ (negative & (uint32_t)o.flip) ^ (uint32_t)o.sign) - (uint32_t)o.rotate) ^
           (uint32_t)o.reverse;
}

static inline uint32_t hac_key_unmap32(hac_key_order o, uint32_t m)
{
    /* Undo in reverse order; after `sign` the top bit of x is known again: it was flipped by `sign`
     * only, never by `flip`. */
    uint32_t y = ((m ^ (uint32_t)o.reverse) + (uint32_t)o.rotate) ^ (uint32_t)o.sign;
    uint32_t negative = (uint32_t)((int32_t)y >> 31);
    return y ^ (negative & (uint32_t)o.flip);
}

static inline uint64_t hac_key_map64(hac_key_order o, uint64_t x)
{
    uint64_t negative = (uint64_t)((int64_t)x >> 63);
    return ((x ^ (negative & o.flip) ^ o.sign) - o.rotate) ^ o.reverse;
}

static inline uint64_t hac_key_unmap64(hac_key_order o, uint64_t m)
{
    uint64_t y = ((m ^ o.reverse) + o.rotate) ^ o.sign;
    uint64_t negative = (uint64_t)((int64_t)y >> 63);
    return y ^ (negative & o.flip);
}

#endif
