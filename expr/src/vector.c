/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/vector.h"

const char *hac_row_state_text(unsigned state)
{
    static const char *const texts[] = {"", "the value is null", "the result is out of range (overflow)",
                                        "the value does not fit the type", "the text is no such value"};
    return state < sizeof texts / sizeof *texts ? texts[state] : "unknown error";
}

hac_repr hac_repr_of(hac_value_type type)
{
    switch (type.kind) {
    case HAC_KIND_BOOL:
        return HAC_REPR_BOOL;
    case HAC_KIND_I8:
    case HAC_KIND_I16:
    case HAC_KIND_I32:
    case HAC_KIND_I64:
    case HAC_KIND_DATE:
    case HAC_KIND_TIMESTAMP:
        return HAC_REPR_I64;
    case HAC_KIND_U8:
    case HAC_KIND_U16:
    case HAC_KIND_U32:
    case HAC_KIND_U64:
        return HAC_REPR_U64;
    case HAC_KIND_F32:
        return HAC_REPR_F32;
    case HAC_KIND_F64:
        return HAC_REPR_F64;
    case HAC_KIND_DECIMAL:
        return type.precision <= HAC_DECIMAL_DIGITS_64 ? HAC_REPR_I64 : HAC_REPR_I128;
    case HAC_KIND_STRING:
    case HAC_KIND_BYTES:
        return HAC_REPR_STRING;
    default:
        return HAC_REPR_NONE;
    }
}

size_t hac_repr_size(hac_repr repr)
{
    static const uint8_t sizes[HAC_REPR_END] = {0, 1, 8, 8, 4, 8, 16, sizeof(hac_string_ref)};
    return repr < HAC_REPR_END ? sizes[repr] : 0;
}

uint64_t hac_vector_string_bytes(const hac_vector *v, size_t rows)
{
    const hac_string_ref *refs = v->values;
    uint64_t sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += v->states != NULL && v->states[i] != 0 ? 0 : refs[i].length;
    return sum;
}
