/* SPDX-License-Identifier: Apache-2.0 */
#include "load_values.h"

#include <stdbool.h>
#include <string.h>

#include "expr/column.h"

static inline uint16_t swap16(uint16_t v)
{
    return __builtin_bswap16(v);
}

static inline uint32_t swap32(uint32_t v)
{
    return __builtin_bswap32(v);
}

static inline uint64_t swap64(uint64_t v)
{
    return __builtin_bswap64(v);
}

static inline unsigned __int128 swap128(unsigned __int128 v)
{
    return (unsigned __int128)__builtin_bswap64((uint64_t)v) << 64 | __builtin_bswap64((uint64_t)(v >> 64));
}

static inline uint8_t swap8(uint8_t v)
{
    return v;
}

/* `bits` is the unsigned type of the value's size. */
#define WIDEN(to, type, bits, swap)                                                                          \
    for (size_t r = 0; r < rows; r++) {                                                                      \
        bits raw;                                                                                            \
        type value;                                                                                          \
        memcpy(&raw, from + r * stride, sizeof raw);                                                         \
        raw = big ? swap(raw) : raw;                                                                         \
        memcpy(&value, &raw, sizeof value);                                                                  \
        ((to *)values)[r] = (to)value;                                                                       \
    }

static inline __attribute__((always_inline)) void load(hac_value_type type, const uint8_t *from,
                                                       size_t stride, size_t rows, bool big, void *values)
{
    const hac_kind_info *kind = &hac_kinds[type.kind];
    size_t size = hac_value_size(type);
    if (kind->class == HAC_CLASS_BOOL) {
        for (size_t r = 0; r < rows; r++)
            ((uint8_t *)values)[r] = from[r * stride] != 0;
    } else if (size == 16) {
        WIDEN(__int128, __int128, unsigned __int128, swap128)
    } else if (size == 8) {
        WIDEN(uint64_t, uint64_t, uint64_t, swap64)
    } else if (kind->class == HAC_CLASS_FLOAT) {
        WIDEN(float, float, uint32_t, swap32)
    } else if (kind->is_signed && size == 4) {
        WIDEN(int64_t, int32_t, uint32_t, swap32)
    } else if (kind->is_signed && size == 2) {
        WIDEN(int64_t, int16_t, uint16_t, swap16)
    } else if (kind->is_signed) {
        WIDEN(int64_t, int8_t, uint8_t, swap8)
    } else if (size == 4) {
        WIDEN(uint64_t, uint32_t, uint32_t, swap32)
    } else if (size == 2) {
        WIDEN(uint64_t, uint16_t, uint16_t, swap16)
    } else {
        WIDEN(uint64_t, uint8_t, uint8_t, swap8)
    }
}

/* If values are adjacent, the stride is a constant, so that the compiler vectorises these loops. */
static inline __attribute__((always_inline)) void load_all(hac_value_type type, const uint8_t *from,
                                                           size_t stride, size_t rows, bool big, void *values)
{
    size_t size = hac_value_size(type);
    if (stride != size)
        load(type, from, stride, rows, big, values);
    else if (!big && size == hac_repr_size(hac_repr_of(type)) && type.kind != HAC_KIND_BOOL)
        memcpy(values, from, rows * size);
    else if (size == 16)
        load(type, from, 16, rows, big, values);
    else if (size == 8)
        load(type, from, 8, rows, big, values);
    else if (size == 4)
        load(type, from, 4, rows, big, values);
    else if (size == 2)
        load(type, from, 2, rows, big, values);
    else
        load(type, from, 1, rows, big, values);
}

void hac_load_values(hac_value_type type, const uint8_t *from, size_t stride, size_t rows, void *ret_values)
{
    load_all(type, from, stride, rows, false, ret_values);
}

void hac_load_values_big_endian(hac_value_type type, const uint8_t *from, size_t stride, size_t rows,
                                void *ret_values)
{
    load_all(type, from, stride, rows, true, ret_values);
}
