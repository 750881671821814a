/* SPDX-License-Identifier: Apache-2.0 */
#include "thrift_writer.h"

#include <assert.h>

static void add_byte(hac_thrift_writer *writer, unsigned byte)
{
    uint8_t b = (uint8_t)byte;
    hac_bytes_add(writer->out, &b, 1);
}

static void add_varint(hac_thrift_writer *writer, uint64_t value)
{
    uint8_t bytes[10];
    hac_bytes_add(writer->out, bytes, hac_varint(value, bytes));
}

static void add_signed(hac_thrift_writer *writer, int64_t value)
{
    add_varint(writer, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static void header(hac_thrift_writer *writer, unsigned field, unsigned type)
{
    if (field == 0)
        return;
    unsigned *last = &writer->last[writer->depth];
    assert(field > *last);
    if (field - *last <= 15) {
        add_byte(writer, (field - *last) << 4 | type);
    } else {
        add_byte(writer, type);
        add_signed(writer, field);
    }
    *last = field;
}

void hac_thrift_put_open(hac_thrift_writer *writer, unsigned field)
{
    header(writer, field, HAC_THRIFT_STRUCT);
    assert(writer->depth + 1 < HAC_THRIFT_WRITER_DEPTH);
    writer->last[++writer->depth] = 0;
}

void hac_thrift_put_close(hac_thrift_writer *writer)
{
    add_byte(writer, 0);
    if (writer->depth > 0)
        writer->depth--;
}

void hac_thrift_put_empty(hac_thrift_writer *writer, unsigned field)
{
    hac_thrift_put_open(writer, field);
    hac_thrift_put_close(writer);
}

void hac_thrift_put_list(hac_thrift_writer *writer, unsigned field, hac_thrift_type element, size_t n)
{
    header(writer, field, HAC_THRIFT_LIST);
    if (n < 15) {
        add_byte(writer, (unsigned)n << 4 | (unsigned)element);
    } else {
        add_byte(writer, 0xf0 | (unsigned)element);
        add_varint(writer, n);
    }
}

void hac_thrift_put_bool(hac_thrift_writer *writer, unsigned field, bool value)
{
    unsigned type = value ? HAC_THRIFT_TRUE : HAC_THRIFT_FALSE;
    if (field == 0)
        add_byte(writer, type);
    else
        header(writer, field, type);
}

void hac_thrift_put_i8(hac_thrift_writer *writer, unsigned field, int8_t value)
{
    header(writer, field, HAC_THRIFT_I8);
    add_byte(writer, (uint8_t)value);
}

void hac_thrift_put_i16(hac_thrift_writer *writer, unsigned field, int16_t value)
{
    header(writer, field, HAC_THRIFT_I16);
    add_signed(writer, value);
}

void hac_thrift_put_i32(hac_thrift_writer *writer, unsigned field, int32_t value)
{
    header(writer, field, HAC_THRIFT_I32);
    add_signed(writer, value);
}

void hac_thrift_put_i64(hac_thrift_writer *writer, unsigned field, int64_t value)
{
    header(writer, field, HAC_THRIFT_I64);
    add_signed(writer, value);
}

void hac_thrift_put_binary(hac_thrift_writer *writer, unsigned field, const void *data, size_t bytes)
{
    header(writer, field, HAC_THRIFT_BINARY);
    add_varint(writer, bytes);
    hac_bytes_add(writer->out, data, bytes);
}
