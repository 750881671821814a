/* SPDX-License-Identifier: Apache-2.0 */
#include "base/op_layout.h"

#include <string.h>

size_t hac_op_element_size(unsigned kind)
{
    switch (kind) {
    case HAC_KIND_BOOL:
        return 1;
    case HAC_KIND_I32:
    case HAC_KIND_U32:
    case HAC_KIND_F32:
        return 4;
    case HAC_KIND_I64:
    case HAC_KIND_U64:
    case HAC_KIND_F64:
        return 8;
    default:
        return 0;
    }
}

static hac_type type_of(unsigned kind)
{
    switch (kind) {
    case HAC_KIND_F32:
        return HAC_TYPE_F32;
    case HAC_KIND_F64:
        return HAC_TYPE_F64;
    case HAC_KIND_I32:
    case HAC_KIND_I64:
        return HAC_TYPE_I64;
    default: /* texts, too */
        return HAC_TYPE_U64;
    }
}

/* Codelets whose first operand is not of the kind that is computed with. */
static const struct {
    const char *name;
    unsigned operand;
    hac_type type;
} others[] = {
    {"op.combine", 1, HAC_TYPE_NONE},      {"op.nearest", 1, HAC_TYPE_NONE},
    {"op.arg_rows", 1, HAC_TYPE_NONE},     {"op.filter_copy", 1, HAC_TYPE_NONE},
    {"op.filter_count", 1, HAC_TYPE_NONE}, {"op.histogram", 0, HAC_TYPE_F64},
    {"op.tokenize", 0, HAC_TYPE_U64},      {"op.index", 2, HAC_TYPE_NONE},
};

hac_type hac_op_type(const char *codelet, const hac_op_operand *operands, size_t n)
{
    size_t length = strlen(codelet), operand = 0;
    if (length > 3 && strcmp(codelet + length - 3, ".cl") == 0)
        length -= 3;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strlen(others[i].name) != length || strncmp(codelet, others[i].name, length) != 0)
            continue;
        if (others[i].type != HAC_TYPE_NONE)
            return others[i].type;
        operand = others[i].operand;
    }
    if (strncmp(codelet, "op.", 3) != 0 || operand >= n)
        return HAC_TYPE_NONE;
    return type_of(operands[operand].kind);
}
