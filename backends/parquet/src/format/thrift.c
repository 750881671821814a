/* SPDX-License-Identifier: Apache-2.0 */
#include "thrift.h"

#define VARINT_BYTES 10 /* of 64 bits */
#define DEPTH_MAX    32 /* nesting of skipped values; parquet.thrift needs 6 */

void hac_thrift_begin(hac_thrift *t, const uint8_t *data, size_t bytes)
{
    *t = (hac_thrift){data, data + bytes, NULL};
}

void hac_thrift_break(hac_thrift *t, const char *why)
{
    if (t->broken == NULL)
        t->broken = why;
    t->at = t->end;
}

static uint8_t take_byte(hac_thrift *t)
{
    if (t->at == t->end) {
        hac_thrift_break(t, "it ends too early");
        return 0;
    }
    return *t->at++;
}

static uint64_t take_varint(hac_thrift *t)
{
    uint64_t ret = 0;
    for (unsigned i = 0; i < VARINT_BYTES; i++) {
        uint8_t byte = take_byte(t);
        if (i == VARINT_BYTES - 1 && byte > 1)
            break;
        ret |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80)
            return ret;
    }
    hac_thrift_break(t, "a number has more than 64 bits");
    return 0;
}

static int64_t take_integer(hac_thrift *t, int64_t min, int64_t max)
{
    uint64_t zigzag = take_varint(t);
    int64_t ret = (int64_t)(zigzag >> 1 ^ (0 - (zigzag & 1)));
    if (ret >= min && ret <= max)
        return ret;
    hac_thrift_break(t, "a number has more bits than its type");
    return 0;
}

static hac_parquet_slice take_binary(hac_thrift *t)
{
    uint64_t bytes = take_varint(t);
    if (bytes > (uint64_t)(t->end - t->at) || bytes > UINT32_MAX)
        hac_thrift_break(t, "it ends too early");
    if (t->broken != NULL)
        return (hac_parquet_slice){NULL, 0};
    hac_parquet_slice ret = {t->at, (uint32_t)bytes};
    t->at += bytes;
    return ret;
}

bool hac_thrift_next(hac_thrift *t, hac_thrift_field *field)
{
    uint8_t byte = take_byte(t);
    field->type = byte & 0x0f;
    if (t->broken != NULL || field->type == HAC_THRIFT_STOP)
        return false;
    if (field->type > HAC_THRIFT_UUID) {
        hac_thrift_break(t, "a field has a type that does not exist");
        return false;
    }
    int64_t id = byte >> 4 != 0 ? field->id + (byte >> 4) : take_integer(t, INT16_MIN, INT16_MAX);
    if (id > INT16_MAX)
        hac_thrift_break(t, "a field's number is too high");
    field->id = (int16_t)id;
    return t->broken == NULL;
}

/* True if the field has that type; otherwise skips it. */
static bool has_type(hac_thrift *t, const hac_thrift_field *field, hac_thrift_type type)
{
    if (field->type == type)
        return true;
    hac_thrift_skip(t, field);
    return false;
}

bool hac_thrift_bool(hac_thrift *t, const hac_thrift_field *field, bool *ret)
{
    if (field->type != HAC_THRIFT_FALSE && !has_type(t, field, HAC_THRIFT_TRUE))
        return false;
    *ret = field->type == HAC_THRIFT_TRUE;
    return true;
}

bool hac_thrift_i8(hac_thrift *t, const hac_thrift_field *field, int8_t *ret)
{
    if (!has_type(t, field, HAC_THRIFT_I8))
        return false;
    uint8_t value = take_byte(t);
    if (t->broken == NULL)
        *ret = (int8_t)value;
    return t->broken == NULL;
}

/* An integer field that is sent as a varint. */
static bool get_integer(hac_thrift *t, const hac_thrift_field *field, hac_thrift_type type, int64_t min,
                        int64_t max, int64_t *ret)
{
    if (!has_type(t, field, type))
        return false;
    *ret = take_integer(t, min, max);
    return t->broken == NULL;
}

bool hac_thrift_i16(hac_thrift *t, const hac_thrift_field *field, int16_t *ret)
{
    int64_t value;
    if (!get_integer(t, field, HAC_THRIFT_I16, INT16_MIN, INT16_MAX, &value))
        return false;
    *ret = (int16_t)value;
    return true;
}

bool hac_thrift_i32(hac_thrift *t, const hac_thrift_field *field, int32_t *ret)
{
    int64_t value;
    if (!get_integer(t, field, HAC_THRIFT_I32, INT32_MIN, INT32_MAX, &value))
        return false;
    *ret = (int32_t)value;
    return true;
}

bool hac_thrift_i64(hac_thrift *t, const hac_thrift_field *field, int64_t *ret)
{
    int64_t value;
    if (!get_integer(t, field, HAC_THRIFT_I64, INT64_MIN, INT64_MAX, &value))
        return false;
    *ret = value;
    return true;
}

bool hac_thrift_binary(hac_thrift *t, const hac_thrift_field *field, hac_parquet_slice *ret)
{
    if (!has_type(t, field, HAC_THRIFT_BINARY))
        return false;
    hac_parquet_slice value = take_binary(t);
    if (t->broken == NULL)
        *ret = value;
    return t->broken == NULL;
}

bool hac_thrift_struct(hac_thrift *t, const hac_thrift_field *field)
{
    return has_type(t, field, HAC_THRIFT_STRUCT);
}

/* Reads the header of a list or a set. Every element takes at least one byte. */
static size_t take_list_head(hac_thrift *t, uint8_t *ret_element)
{
    uint8_t head = take_byte(t);
    uint64_t n = head >> 4;
    *ret_element = head & 0x0f;
    if (n == 15)
        n = take_varint(t);
    if (n > (uint64_t)(t->end - t->at))
        hac_thrift_break(t, "a list claims more elements than there are bytes");
    return t->broken == NULL ? (size_t)n : 0;
}

bool hac_thrift_list(hac_thrift *t, const hac_thrift_field *field, hac_thrift_type element, size_t *ret_n)
{
    if (!has_type(t, field, HAC_THRIFT_LIST))
        return false;
    uint8_t type;
    size_t n = take_list_head(t, &type);
    if (type == HAC_THRIFT_FALSE) /* both codes are used for lists of bools */
        type = HAC_THRIFT_TRUE;
    if (n > 0 && type != element)
        hac_thrift_break(t, "a list has elements of another type");
    if (t->broken != NULL)
        return false;
    *ret_n = n;
    return true;
}

static void skip_value(hac_thrift *t, uint8_t type, bool element, unsigned depth);

static void skip_struct(hac_thrift *t, unsigned depth)
{
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field))
        skip_value(t, field.type, false, depth);
}

static void skip_list(hac_thrift *t, unsigned depth)
{
    uint8_t element;
    size_t n = take_list_head(t, &element);
    for (size_t i = 0; i < n && t->broken == NULL; i++)
        skip_value(t, element, true, depth);
}

static void skip_map(hac_thrift *t, unsigned depth)
{
    uint64_t n = take_varint(t);
    uint8_t types = n == 0 ? 0 : take_byte(t);
    for (uint64_t i = 0; i < n && t->broken == NULL; i++) { /* every entry takes a byte or sets `broken` */
        skip_value(t, types >> 4, true, depth);
        skip_value(t, types & 0x0f, true, depth);
    }
}

static void skip_bytes(hac_thrift *t, size_t bytes)
{
    if (bytes > (size_t)(t->end - t->at))
        hac_thrift_break(t, "it ends too early");
    else
        t->at += bytes;
}

/* A bool takes one byte as an element, and none as a field. */
static void skip_value(hac_thrift *t, uint8_t type, bool element, unsigned depth)
{
    if (depth >= DEPTH_MAX) {
        hac_thrift_break(t, "it is nested too deep");
        return;
    }
    switch (type) {
    case HAC_THRIFT_TRUE:
    case HAC_THRIFT_FALSE:
        skip_bytes(t, element ? 1 : 0);
        break;
    case HAC_THRIFT_I8:
        skip_bytes(t, 1);
        break;
    case HAC_THRIFT_I16:
    case HAC_THRIFT_I32:
    case HAC_THRIFT_I64:
        take_varint(t);
        break;
    case HAC_THRIFT_DOUBLE:
        skip_bytes(t, 8);
        break;
    case HAC_THRIFT_BINARY:
        take_binary(t);
        break;
    case HAC_THRIFT_LIST:
    case HAC_THRIFT_SET:
        skip_list(t, depth + 1);
        break;
    case HAC_THRIFT_MAP:
        skip_map(t, depth + 1);
        break;
    case HAC_THRIFT_STRUCT:
        skip_struct(t, depth + 1);
        break;
    case HAC_THRIFT_UUID:
        skip_bytes(t, 16);
        break;
    default:
        hac_thrift_break(t, "a value has a type that does not exist");
    }
}

void hac_thrift_skip(hac_thrift *t, const hac_thrift_field *field)
{
    skip_value(t, field->type, false, 0);
}

bool hac_thrift_bool_element(hac_thrift *t)
{
    return take_byte(t) == 1; /* false is 0 or 2, depending on the version of the specification */
}

int32_t hac_thrift_i32_element(hac_thrift *t)
{
    return (int32_t)take_integer(t, INT32_MIN, INT32_MAX);
}

int64_t hac_thrift_i64_element(hac_thrift *t)
{
    return take_integer(t, INT64_MIN, INT64_MAX);
}

hac_parquet_slice hac_thrift_binary_element(hac_thrift *t)
{
    return take_binary(t);
}
