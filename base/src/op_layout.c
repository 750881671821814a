/* SPDX-License-Identifier: Apache-2.0 */
#include "base/op_layout.h"
#include "base/limits.h"

#include <string.h>

#include "base/op_catalog.h"

/* The public names of a vector's elements are the kinds' numbers. */
_Static_assert((unsigned)HAC_VECTOR_OF_BOOL == HAC_KIND_BOOL && (unsigned)HAC_VECTOR_OF_I32 == HAC_KIND_I32 &&
                   (unsigned)HAC_VECTOR_OF_I64 == HAC_KIND_I64 &&
                   (unsigned)HAC_VECTOR_OF_U32 == HAC_KIND_U32 &&
                   (unsigned)HAC_VECTOR_OF_U64 == HAC_KIND_U64 &&
                   (unsigned)HAC_VECTOR_OF_F32 == HAC_KIND_F32 &&
                   (unsigned)HAC_VECTOR_OF_F64 == HAC_KIND_F64 &&
                   (unsigned)HAC_VECTOR_OF_STRING == HAC_KIND_STRING,
               "the numbers are part of the protocol");

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

/* ---- where parts lie ---- */

static const hac_op_layout layouts[HAC_VECTOR_END] = {
    [HAC_VECTOR_FIX_VALUE] = {.dense = true, .columns = true},
    [HAC_VECTOR_SPARSE_VALUE] = {.index_bytes = 8},
    [HAC_VECTOR_SPARSE_TEXT] = {.offsets = true, .text = true},
    [HAC_VECTOR_VARIABLE_LEN] = {.offsets = true},
    [HAC_VECTOR_VAR] = {.dense = true, .columns = true, .one_row = true},
    [HAC_VECTOR_PVAR] = {.dense = true, .columns = true},
    [HAC_VECTOR_SPARSE_MATRIX] = {.offsets = true, .index_bytes = 4, .columns = true},
};

const hac_op_layout *hac_op_layout_of(unsigned form)
{
    return &layouts[form < HAC_VECTOR_END ? form : HAC_VECTOR_NONE];
}

bool hac_op_form_is_dense(unsigned form)
{
    return hac_op_layout_of(form)->dense;
}

bool hac_op_form_has_entries(unsigned form)
{
    return form > HAC_VECTOR_NONE && form < HAC_VECTOR_END && !hac_op_form_is_dense(form);
}

bool hac_op_part_bytes(const hac_op_operand *operand, hac_op_parts *ret)
{
    const hac_op_layout *layout = hac_op_layout_of(operand->form);
    uint64_t n = operand->entries,
             size = hac_kind_is_text(operand->kind) ? 1 : hac_op_element_size(operand->kind);
    if (operand->rows > INT64_MAX / 8 - 1 ||
        (layout->dense && __builtin_mul_overflow(operand->rows, operand->columns, &n)))
        return false;
    ret->offsets = layout->offsets ? (operand->rows + 1) * 8 : 0;
    return !__builtin_mul_overflow(n, size, &ret->values) &&
           !__builtin_mul_overflow(n, (uint64_t)layout->index_bytes, &ret->indices);
}

/* Adds a part behind the others; false: too large. */
static bool add_part(uint64_t *bytes, uint64_t part, uint64_t *ret_at)
{
    *ret_at = *bytes;
    if (part > INT64_MAX / 4 || *bytes > INT64_MAX / 4)
        return false;
    *bytes += (part + HAC_ALIGNMENT - 1) / HAC_ALIGNMENT * HAC_ALIGNMENT;
    return true;
}

bool hac_op_place(hac_op_operand *operand, uint64_t *ret_bytes)
{
    uint64_t bytes = 0;
    hac_op_parts parts = {0};
    bool fits = hac_op_part_bytes(operand, &parts) && add_part(&bytes, parts.values, &operand->values);
    if (parts.offsets > 0)
        fits = fits && add_part(&bytes, parts.offsets, &operand->offsets);
    if (hac_op_layout_of(operand->form)->index_bytes > 0)
        fits = fits && add_part(&bytes, parts.indices, &operand->indices);
    *ret_bytes = bytes > 0 ? bytes : HAC_ALIGNMENT;
    return fits;
}

static void copy_part(const void *from, uint64_t at, void *to, uint64_t to_at, uint64_t bytes)
{
    if (bytes > 0)
        memcpy((uint8_t *)to + to_at, (const uint8_t *)from + at, bytes);
}

void hac_op_copy_parts(const hac_op_operand *from, const void *data, const hac_op_operand *to, void *ret)
{
    hac_op_parts parts = {0};
    (void)hac_op_part_bytes(from, &parts); /* it is in memory, so it is not too large */
    copy_part(data, from->values, ret, to->values, parts.values);
    copy_part(data, from->offsets, ret, to->offsets, parts.offsets);
    copy_part(data, from->indices, ret, to->indices, parts.indices);
}

/* ---- the type of a task ---- */

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

hac_type hac_op_type(const char *codelet, const hac_op_operand *operands, size_t n)
{
    const hac_op_codelet *info = hac_op_codelet_find(codelet);
    if (info == NULL)
        return HAC_TYPE_NONE;
    if (info->type != HAC_TYPE_NONE)
        return info->type;
    return info->typed_by < n ? type_of(operands[info->typed_by].kind) : HAC_TYPE_NONE;
}
