/* SPDX-License-Identifier: Apache-2.0 */
/* Writes results as typed bytes. */
#include "base/typed_bytes.h"
#include "base/value_text.h"
#include "output_parts.h"

/* Writes a code and the low `size` bytes of a number. */
static void put_number(hac_output_buffer *output, uint8_t code, uint64_t number, size_t size)
{
    uint8_t data[1 + sizeof number] = {code};
    for (size_t i = 0; i < size; i++)
        data[1 + i] = (uint8_t)(number >> (8 * (size - 1 - i)));
    hac_output_put(output, data, 1 + size);
}

static void put_bytes(hac_output_buffer *output, uint8_t code, const void *data, size_t bytes)
{
    put_number(output, code, bytes, 4);
    if (bytes > 0)
        hac_output_put(output, data, bytes);
}

static void put_float(hac_output_buffer *output, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(output, HAC_TYPED_FLOAT, bits, 4);
}

static void put_double(hac_output_buffer *output, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(output, HAC_TYPED_DOUBLE, bits, 8);
}

static void put_printed(hac_output_buffer *output, const hac_column *column, size_t row)
{
    char text[HAC_PRINT_MAX];
    put_bytes(output, HAC_TYPED_STRING, text, hac_print_value(column->type, column->values, row, text));
}

static void put_text(hac_output_buffer *output, const hac_column *column, size_t row)
{
    hac_string_ref ref = ((const hac_string_ref *)column->values)[row];
    put_bytes(output, column->type.kind == HAC_KIND_BYTES ? HAC_TYPED_BYTES : HAC_TYPED_STRING,
              ref.length > 0 ? column->bytes + ref.offset : NULL, ref.length);
}

static void put_object(hac_output_buffer *output, const hac_column *column, size_t row)
{
    const uint64_t *words = column->values;
    if (column->states != NULL && column->states[row] != HAC_ROW_OK) {
        put_bytes(output, HAC_TYPED_BYTES, NULL, 0);
        return;
    }
    switch (column->type.kind) {
    case HAC_KIND_BOOL:
        put_number(output, HAC_TYPED_BOOL, ((const uint8_t *)column->values)[row] != 0, 1);
        break;
    case HAC_KIND_I8:
        put_number(output, HAC_TYPED_BYTE, words[row], 1);
        break;
    case HAC_KIND_I16:
    case HAC_KIND_I32:
    case HAC_KIND_U8:
    case HAC_KIND_U16:
        put_number(output, HAC_TYPED_INT, words[row], 4);
        break;
    case HAC_KIND_I64:
    case HAC_KIND_U32:
        put_number(output, HAC_TYPED_LONG, words[row], 8);
        break;
    case HAC_KIND_U64:
        if (words[row] <= INT64_MAX)
            put_number(output, HAC_TYPED_LONG, words[row], 8);
        else
            put_printed(output, column, row);
        break;
    case HAC_KIND_F32:
        put_float(output, ((const float *)column->values)[row]);
        break;
    case HAC_KIND_F64:
        put_double(output, ((const double *)column->values)[row]);
        break;
    case HAC_KIND_STRING:
    case HAC_KIND_BYTES:
        put_text(output, column, row);
        break;
    default:
        put_printed(output, column, row);
    }
}

void hac_output_typed_row(hac_output_buffer *output, size_t n_visible, const hac_column *columns, size_t row)
{
    if (n_visible > 0)
        put_object(output, &columns[0], row);
    if (n_visible <= 1)
        put_bytes(output, HAC_TYPED_STRING, NULL, 0);
    if (n_visible > 2)
        put_number(output, HAC_TYPED_VECTOR, n_visible - 1, 4);
    for (size_t i = 1; i < n_visible; i++)
        put_object(output, &columns[i], row);
}
