/* SPDX-License-Identifier: Apache-2.0 */
#include "base/type.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
    bool is_float;
    bool is_signed;
} types[HAC_TYPE_COUNT] = {
    [HAC_TYPE_NONE] = {"none", 0, false, false}, [HAC_TYPE_U32] = {"u32", 4, false, false},
    [HAC_TYPE_I32] = {"i32", 4, false, true},    [HAC_TYPE_F32] = {"f32", 4, true, true},
    [HAC_TYPE_U64] = {"u64", 8, false, false},   [HAC_TYPE_I64] = {"i64", 8, false, true},
    [HAC_TYPE_F64] = {"f64", 8, true, true},
};

static hac_type known(hac_type type)
{
    return (unsigned)type < HAC_TYPE_COUNT ? type : HAC_TYPE_NONE;
}

size_t hac_type_size(hac_type type)
{
    return types[known(type)].size;
}

const char *hac_type_name(hac_type type)
{
    return types[known(type)].name;
}

bool hac_type_is_float(hac_type type)
{
    return types[known(type)].is_float;
}

hac_type hac_type_from_name(const char *name)
{
    for (int i = HAC_TYPE_NONE + 1; i < HAC_TYPE_COUNT; i++)
        if (strcmp(types[i].name, name) == 0)
            return (hac_type)i;
    return HAC_TYPE_NONE;
}

hac_key_order hac_key_order_of(hac_type type, bool descending)
{
    hac_key_order order = {0, 0, 0, 0};
    bool wide = hac_type_size(type) == 8;
    uint64_t sign = wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
    if (types[known(type)].is_signed)
        order.sign = sign;
    if (hac_type_is_float(type)) {
        order.flip = sign - 1;
        /* negative NaNs: mantissa patterns but zero, all below -infinity after flip and sign */
        order.rotate = wide ? (UINT64_C(1) << 52) - 1 : (UINT64_C(1) << 23) - 1;
    }
    if (descending)
        order.reverse = wide ? UINT64_MAX : UINT32_MAX;
    return order;
}
