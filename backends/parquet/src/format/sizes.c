/* SPDX-License-Identifier: Apache-2.0 */
#include "sizes.h"

size_t hac_parquet_width(uint8_t physical, uint32_t type_length)
{
    switch (physical) {
    case HAC_PARQUET_INT32:
    case HAC_PARQUET_FLOAT:
        return 4;
    case HAC_PARQUET_INT64:
    case HAC_PARQUET_DOUBLE:
        return 8;
    case HAC_PARQUET_INT96:
        return 12;
    case HAC_PARQUET_FIXED:
        return type_length;
    default:
        return 0;
    }
}

unsigned hac_parquet_bits(uint64_t max)
{
    return max == 0 ? 0 : 64 - (unsigned)__builtin_clzll(max);
}
