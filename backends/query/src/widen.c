/* SPDX-License-Identifier: Apache-2.0 */
#include "widen.h"

#include <string.h>

#include "expr/vector.h"

#define WIDEN(to, type)                                                                                      \
    for (size_t r = 0; r < rows; r++) {                                                                      \
        type value;                                                                                          \
        memcpy(&value, from + r * stride, sizeof value);                                                     \
        ((to *)values)[r] = (to)value;                                                                       \
    }

static inline __attribute__((always_inline)) void widen(hac_value_type type, const uint8_t *from,
                                                        size_t stride, size_t rows, void *values)
{
    switch (type.kind) {
    case HAC_KIND_BOOL:
        for (size_t r = 0; r < rows; r++)
            ((uint8_t *)values)[r] = from[r * stride] != 0;
        break;
    case HAC_KIND_I8:
        WIDEN(int64_t, int8_t)
        break;
    case HAC_KIND_I16:
        WIDEN(int64_t, int16_t)
        break;
    case HAC_KIND_I32:
    case HAC_KIND_DATE:
        WIDEN(int64_t, int32_t)
        break;
    case HAC_KIND_U8:
        WIDEN(uint64_t, uint8_t)
        break;
    case HAC_KIND_U16:
        WIDEN(uint64_t, uint16_t)
        break;
    case HAC_KIND_U32:
        WIDEN(uint64_t, uint32_t)
        break;
    case HAC_KIND_F32:
        WIDEN(float, float)
        break;
    default:
        if (hac_repr_of(type) == HAC_REPR_I128)
            WIDEN(__int128, __int128)
        else
            WIDEN(uint64_t, uint64_t)
    }
}

void hac_widen(hac_value_type type, const uint8_t *from, size_t stride, size_t rows, void *ret_values)
{
    size_t size = hac_value_size(type);
    if (stride != size)
        widen(type, from, stride, rows, ret_values);
    else if (size == hac_repr_size(hac_repr_of(type)) && type.kind != HAC_KIND_BOOL)
        memcpy(ret_values, from, rows * size);
    else if (size == 4) /* constants, so that these loops become vectors */
        widen(type, from, 4, rows, ret_values);
    else if (size == 2)
        widen(type, from, 2, rows, ret_values);
    else
        widen(type, from, 1, rows, ret_values);
}
