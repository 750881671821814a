/* SPDX-License-Identifier: Apache-2.0 */
#include "typed_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/typed_bytes.h"
#include "base/value_text.h"

hac_status hac_typed_open(hac_source *source, hac_error *err)
{
    hac_typed_source *typed = source->state;
    size_t n = source->query->schema_columns;
    typed->record = (hac_typed_record){.cells = calloc(n + 1, sizeof(hac_typed_cell)), .capacity = n};
    typed->texts = calloc(source->n_columns + 1, sizeof *typed->texts);
    return typed->record.cells != NULL && typed->texts != NULL ? HAC_OK : hac_fail_no_memory(err);
}

void hac_typed_close(hac_source *source)
{
    hac_typed_source *typed = source->state;
    for (size_t i = 0; typed->texts != NULL && i < source->n_columns; i++)
        free(typed->texts[i].data);
    free(typed->texts);
    free(typed->record.cells);
}

hac_typed_record *hac_typed_begin(hac_source *source)
{
    hac_typed_source *typed = source->state;
    for (size_t i = 0; i < source->n_columns; i++) {
        typed->texts[i].used = false;
        typed->texts[i].bytes = 0;
        source->columns[i].bytes = source->records.window.data;
    }
    return &typed->record;
}

/* ---- strings ---- */

static hac_status add_text(hac_typed_text *text, const void *data, size_t bytes, hac_string_ref *ret,
                           hac_error *err)
{
    if (bytes > text->capacity - text->bytes) {
        size_t capacity =
            2 * text->capacity > text->bytes + bytes ? 2 * text->capacity : text->bytes + bytes + 4096;
        uint8_t *larger = realloc(text->data, capacity);
        if (larger == NULL)
            return hac_fail_no_memory(err);
        text->data = larger;
        text->capacity = capacity;
    }
    if (bytes > 0)
        memcpy(text->data + text->bytes, data, bytes);
    *ret = (hac_string_ref){(uint32_t)text->bytes, (uint32_t)bytes};
    text->bytes += bytes;
    return HAC_OK;
}

/* Copies the column's strings of this batch so far to its own memory. */
static hac_status use_own_text(hac_source *source, hac_source_column *column, hac_typed_text *text,
                               size_t row, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t r = 0; r < row && status == HAC_OK; r++)
        if (column->states[r] == HAC_ROW_OK && !source->dropped[r])
            status = add_text(text, source->records.window.data + column->refs[r].offset,
                              column->refs[r].length, &column->refs[r], err);
    text->used = true;
    return status;
}

static hac_status put_string(hac_source *source, hac_source_column *column, size_t row, const void *data,
                             size_t bytes, bool in_window, hac_error *err)
{
    hac_typed_text *text = &((hac_typed_source *)source->state)->texts[column - source->columns];
    const uint8_t *window = source->records.window.data;
    hac_status status = HAC_OK;
    if (!in_window && !text->used)
        status = use_own_text(source, column, text, row, err);
    if (status == HAC_OK && text->used)
        status = add_text(text, data, bytes, &column->refs[row], err);
    else if (status == HAC_OK)
        column->refs[row] = (hac_string_ref){(uint32_t)((const uint8_t *)data - window), (uint32_t)bytes};
    column->bytes = text->used ? text->data : window;
    return status;
}

/* ---- numbers ---- */

static uint64_t load_number(const uint8_t *from, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | from[i];
    return value;
}

static int64_t integer_of(const hac_typed_cell *cell, const uint8_t *from)
{
    return cell->code == HAC_TYPED_BYTE  ? (int8_t)from[0]
           : cell->code == HAC_TYPED_INT ? (int32_t)load_number(from, 4)
                                         : (int64_t)load_number(from, 8);
}

static float float_of(const uint8_t *from)
{
    uint32_t bits = (uint32_t)load_number(from, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double double_of(const uint8_t *from)
{
    uint64_t bits = load_number(from, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool fits_signed(hac_kind kind, int64_t value)
{
    unsigned bits = kind == HAC_KIND_I8 ? 8 : kind == HAC_KIND_I16 ? 16 : kind == HAC_KIND_I32 ? 32 : 64;
    return bits == 64 || (value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1));
}

static bool fits_unsigned(hac_kind kind, int64_t value)
{
    unsigned bits = kind == HAC_KIND_U8 ? 8 : kind == HAC_KIND_U16 ? 16 : kind == HAC_KIND_U32 ? 32 : 64;
    return value >= 0 && (bits == 64 || value < INT64_C(1) << bits);
}

/* Below 2^63, so that the conversion back to an integer is defined. */
static bool is_exact(double real, int64_t value)
{
    return real < 0x1p63 && (int64_t)real == value;
}

static bool put_decimal(const hac_source_column *column, size_t row, int64_t integer)
{
    __int128 value = integer, limit = 1;
    for (unsigned i = 0; i < column->type.precision; i++)
        limit *= 10;
    for (unsigned i = 0; i < column->type.scale; i++)
        if (__builtin_mul_overflow(value, 10, &value))
            return false;
    if (value >= limit || value <= -limit)
        return false;
    if (column->repr == HAC_REPR_I128)
        ((__int128 *)column->values)[row] = value;
    else
        ((int64_t *)column->values)[row] = (int64_t)value;
    return true;
}

/* The result of converting an object to a column's type. */
typedef enum put {
    PUT,
    PUT_UNFIT, /* the column does not take objects of this type */
    PUT_RANGE, /* the object's value is not in the column's range */
} put;

static put put_integer(const hac_source_column *column, size_t row, int64_t value)
{
    hac_kind kind = (hac_kind)column->type.kind;
    void *values = column->values;
    if (kind >= HAC_KIND_I8 && kind <= HAC_KIND_I64) {
        ((int64_t *)values)[row] = value;
        return fits_signed(kind, value) ? PUT : PUT_RANGE;
    }
    if (kind >= HAC_KIND_U8 && kind <= HAC_KIND_U64) {
        ((uint64_t *)values)[row] = (uint64_t)value;
        return fits_unsigned(kind, value) ? PUT : PUT_RANGE;
    }
    if (kind == HAC_KIND_F32) {
        ((float *)values)[row] = (float)value;
        return is_exact((double)(float)value, value) ? PUT : PUT_RANGE;
    }
    if (kind == HAC_KIND_F64) {
        ((double *)values)[row] = (double)value;
        return is_exact((double)value, value) ? PUT : PUT_RANGE;
    }
    if (kind == HAC_KIND_DECIMAL)
        return put_decimal(column, row, value) ? PUT : PUT_RANGE;
    return PUT_UNFIT;
}

static put put_real(const hac_source_column *column, size_t row, double value)
{
    if (column->type.kind == HAC_KIND_F64) {
        ((double *)column->values)[row] = value;
        return PUT;
    }
    if (column->type.kind != HAC_KIND_F32)
        return PUT_UNFIT;
    float narrow = (float)value;
    ((float *)column->values)[row] = narrow;
    return isinf(narrow) && !isinf(value) ? PUT_RANGE : PUT;
}

static size_t print_number(const hac_typed_cell *cell, const uint8_t *from, char ret[HAC_PRINT_MAX])
{
    switch (cell->code) {
    case HAC_TYPED_BOOL:
        memcpy(ret, from[0] != 0 ? "true" : "false", 5);
        return from[0] != 0 ? 4 : 5;
    case HAC_TYPED_FLOAT:
        return hac_print_f32(float_of(from), ret);
    case HAC_TYPED_DOUBLE:
        return hac_print_f64(double_of(from), ret);
    default:
        return hac_print_i64(integer_of(cell, from), ret);
    }
}

static put put_number(const hac_source_column *column, size_t row, const hac_typed_cell *cell,
                      const uint8_t *from)
{
    switch (cell->code) {
    case HAC_TYPED_BOOL:
        if (column->type.kind != HAC_KIND_BOOL)
            return PUT_UNFIT;
        ((uint8_t *)column->values)[row] = from[0] != 0;
        return PUT;
    case HAC_TYPED_FLOAT:
        return put_real(column, row, (double)float_of(from));
    case HAC_TYPED_DOUBLE:
        return put_real(column, row, double_of(from));
    default:
        return put_integer(column, row, integer_of(cell, from));
    }
}

/* ---- cells ---- */

static const char *name_of(uint8_t code)
{
    static const char *const names[] = {"bytes",    "a byte", "a bool",   "an int", "a long", "a float",
                                        "a double", "text",   "a vector", "a list", "a map"};
    return code < sizeof names / sizeof *names ? names[code] : "bytes";
}

static void bad_number(hac_source *source, hac_source_column *column, size_t row, const hac_typed_cell *cell,
                       const uint8_t *from, put why)
{
    char type[HAC_VALUE_TYPE_NAME_MAX], text[HAC_PRINT_MAX];
    size_t n = print_number(cell, from, text);
    hac_value_type_name(column->type, type);
    if (why == PUT_UNFIT)
        hac_source_bad_value(source, row, column, "%s (%.*s) is no %s", name_of(cell->code), (int)n, text,
                             type);
    else
        hac_source_bad_value(source, row, column, "%.*s is not a value of %s", (int)n, text, type);
}

static bool is_text(uint8_t code)
{
    return code == HAC_TYPED_BYTES || code == HAC_TYPED_STRING || code >= HAC_TYPED_APPLICATION_FIRST;
}

static void set_null(hac_source_column *column, size_t row)
{
    column->states[row] = HAC_ROW_NULL;
    column->marked = true;
    if (column->repr == HAC_REPR_STRING)
        column->refs[row] = (hac_string_ref){0, 0};
}

/* Parses text for a column that is not a string; for bytes, hexadecimal digits are converted in place. */
static hac_status parse_text(hac_source *source, hac_source_column *column, size_t row, uint8_t *from,
                             size_t bytes, hac_error *err)
{
    char problem[HAC_TEXT_PROBLEM_MAX];
    if (column->type.kind == HAC_KIND_BYTES) {
        if (hac_parse_hex((const char *)from, bytes, from) == HAC_TEXT_OK)
            return put_string(source, column, row, from, bytes / 2, true, err);
        hac_source_bad_value(
            source, row, column, "%s",
            hac_source_text_problem(column, (const char *)from, bytes, HAC_TEXT_MALFORMED, problem));
        return HAC_OK;
    }
    hac_text_status status = hac_source_parse(column, (const char *)from, bytes, row);
    if (status != HAC_TEXT_OK)
        hac_source_bad_value(source, row, column, "%s",
                             hac_source_text_problem(column, (const char *)from, bytes, status, problem));
    return HAC_OK;
}

static hac_status put_text(hac_source *source, hac_source_column *column, size_t row,
                           const hac_typed_cell *cell, uint8_t *from, hac_error *err)
{
    char type[HAC_VALUE_TYPE_NAME_MAX];
    bool string = cell->code == HAC_TYPED_STRING;
    if (column->type.kind == HAC_KIND_STRING || (column->type.kind == HAC_KIND_BYTES && !string))
        return put_string(source, column, row, from, cell->n, true, err);
    if (cell->n == 0 && column->type.kind != HAC_KIND_BYTES)
        set_null(column, row);
    else if (string)
        return parse_text(source, column, row, from, cell->n, err);
    else
        hac_source_bad_value(source, row, column, "bytes where %s is wanted",
                             hac_value_type_name(column->type, type));
    return HAC_OK;
}

static hac_status put_cell(hac_source *source, hac_source_column *column, size_t row,
                           const hac_typed_cell *cell, hac_error *err)
{
    uint8_t *from = source->records.window.data + cell->at;
    char text[HAC_PRINT_MAX], type[HAC_VALUE_TYPE_NAME_MAX];
    if (is_text(cell->code))
        return put_text(source, column, row, cell, from, err);
    if (cell->code > HAC_TYPED_DOUBLE) {
        hac_source_bad_value(source, row, column, "%s where %s is wanted", name_of(cell->code),
                             hac_value_type_name(column->type, type));
        return HAC_OK;
    }
    if (column->type.kind == HAC_KIND_STRING)
        return put_string(source, column, row, text, print_number(cell, from, text), false, err);
    put what = put_number(column, row, cell, from);
    if (what != PUT)
        bad_number(source, column, row, cell, from, what);
    return HAC_OK;
}

/* Checks that the value has no more elements than the schema has columns for it. */
static bool check_parts(hac_source *source, size_t row)
{
    const hac_typed_record *record = &((const hac_typed_source *)source->state)->record;
    uint64_t position = source->starts[row];
    if (record->capacity > 2 && !record->many)
        (void)!hac_source_bad_record(source, position, NULL,
                                     "the value is %s where a vector or a list of %zu columns is wanted",
                                     name_of(record->cells[1].code), record->capacity - 1);
    else if (record->many && record->elements >= record->capacity)
        (void)!hac_source_bad_record(source, position, NULL, "the value has %llu elements instead of %zu",
                                     (unsigned long long)record->elements, record->capacity - 1);
    else
        return true;
    source->rows = row;
    return false;
}

hac_status hac_typed_put(hac_source *source, size_t row, hac_error *err)
{
    const hac_typed_record *record = &((const hac_typed_source *)source->state)->record;
    if (!check_parts(source, row))
        return HAC_OK;
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_source_column *column = &source->columns[i];
        hac_status status = HAC_OK;
        if (column->place > record->elements)
            set_null(column, row);
        else
            status = put_cell(source, column, row, &record->cells[column->place], err);
        if (status != HAC_OK || source->late.code != HAC_OK || source->dropped[row])
            return status;
    }
    return HAC_OK;
}
