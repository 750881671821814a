/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/value_text.h"

static size_t print_bool(bool value, char *ret)
{
    memcpy(ret, value ? "true" : "false", 5);
    return value ? 4 : 5;
}

static size_t print_timestamp(hac_value_type type, int64_t value, char *ret)
{
    size_t bytes = hac_print_timestamp(value, ret);
    if (!hac_value_type_has_zone(type))
        return bytes;
    memcpy(ret + bytes, HAC_PRINTED_ZONE, 3);
    return bytes + 3;
}

static size_t print_decimal(hac_value_type type, const void *values, size_t row, char *ret)
{
    __int128 value; /* its 16 bytes may lie at any multiple of 8 */
    if (type.precision <= HAC_DECIMAL_DIGITS_64)
        value = ((const int64_t *)values)[row];
    else
        memcpy(&value, (const uint8_t *)values + row * sizeof value, sizeof value);
    return hac_print_decimal(value, type.scale, ret);
}

size_t hac_print_value(hac_value_type type, const void *values, size_t row, char *ret)
{
    switch (type.kind) {
    case HAC_KIND_BOOL:
        return print_bool(((const uint8_t *)values)[row] != 0, ret);
    case HAC_KIND_U8:
    case HAC_KIND_U16:
    case HAC_KIND_U32:
    case HAC_KIND_U64:
        return hac_print_u64(((const uint64_t *)values)[row], ret);
    case HAC_KIND_F32:
        return hac_print_f32(((const float *)values)[row], ret);
    case HAC_KIND_F64:
        return hac_print_f64(((const double *)values)[row], ret);
    case HAC_KIND_DATE:
        return hac_print_date((int32_t)((const int64_t *)values)[row], ret);
    case HAC_KIND_TIMESTAMP:
        return print_timestamp(type, ((const int64_t *)values)[row], ret);
    case HAC_KIND_DECIMAL:
        return print_decimal(type, values, row, ret);
    default:
        return hac_print_i64(((const int64_t *)values)[row], ret);
    }
}
