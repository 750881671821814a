/* SPDX-License-Identifier: Apache-2.0 */
#include "type_facts.h"

#define INTEGER(kind)  [HAC_KIND_##kind] = {HAC_REPR_I64, HAC_OP_I64_TO_STRING, HAC_OP_COLUMN}
#define UNSIGNED(kind) [HAC_KIND_##kind] = {HAC_REPR_U64, HAC_OP_U64_TO_STRING, HAC_OP_COLUMN}

const hac_type_facts hac_facts_of_kind[] = {
    [HAC_KIND_NONE] = {.repr = HAC_REPR_NONE},
    [HAC_KIND_BOOL] = {HAC_REPR_BOOL, HAC_OP_BOOL_TO_STRING, HAC_OP_STRING_TO_BOOL},
    INTEGER(I8),
    INTEGER(I16),
    INTEGER(I32),
    INTEGER(I64),
    UNSIGNED(U8),
    UNSIGNED(U16),
    UNSIGNED(U32),
    UNSIGNED(U64),
    [HAC_KIND_F32] = {HAC_REPR_F32, HAC_OP_F32_TO_STRING, HAC_OP_STRING_TO_F32},
    [HAC_KIND_F64] = {HAC_REPR_F64, HAC_OP_F64_TO_STRING, HAC_OP_STRING_TO_F64},
    [HAC_KIND_DATE] = {HAC_REPR_I64, HAC_OP_DATE_TO_STRING, HAC_OP_STRING_TO_DATE},
    [HAC_KIND_TIMESTAMP] = {HAC_REPR_I64, HAC_OP_TIMESTAMP_TO_STRING, HAC_OP_STRING_TO_TIMESTAMP},
    [HAC_KIND_DECIMAL] = {.repr = HAC_REPR_I128},
    [HAC_KIND_STRING] = {.repr = HAC_REPR_STRING},
    [HAC_KIND_BYTES] = {.repr = HAC_REPR_STRING},
};
_Static_assert(sizeof hac_facts_of_kind / sizeof *hac_facts_of_kind == HAC_KIND_END, "each kind has a row");

hac_repr hac_repr_of(hac_value_type type)
{
    if (type.kind == HAC_KIND_DECIMAL && type.precision <= HAC_DECIMAL_DIGITS_64)
        return HAC_REPR_I64;
    return type.kind < HAC_KIND_END ? hac_facts_of_kind[type.kind].repr : HAC_REPR_NONE;
}

bool hac_is_number(hac_value_type type)
{
    return hac_kind_is_number(type.kind);
}

bool hac_is_unsigned(hac_value_type type)
{
    return hac_kind_is_integer(type.kind) && !hac_kinds[type.kind].is_signed;
}

hac_value_type hac_decimal(unsigned precision, unsigned scale)
{
    return (hac_value_type){HAC_KIND_DECIMAL, (uint8_t)precision, (uint8_t)scale};
}

__int128 hac_nines(unsigned digits)
{
    __int128 power = 1;
    for (unsigned i = 0; i < digits; i++)
        power *= 10;
    return power - 1;
}

void hac_integer_range(hac_kind kind, __int128 *ret_min, __int128 *ret_max)
{
    __int128 power = (__int128)1 << hac_kinds[kind].bits;
    *ret_max = power - 1;
    *ret_min = hac_is_unsigned((hac_value_type){(uint8_t)kind, 0, 0}) ? 0 : -power;
}
