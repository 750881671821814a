/* SPDX-License-Identifier: Apache-2.0 */
#include "query/output.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/value_text.h"
#include "output_parts.h"

/* What one value of a fixed width takes at most: its text, quotes, a separator. */
#define VALUE_MAX (HAC_PRINT_MAX + 4)

/* ---- values of fixed width ---- */

static size_t print_bool(bool value, char *ret)
{
    memcpy(ret, value ? "true" : "false", 5);
    return value ? 4 : 5;
}

static size_t print_decimal(const hac_vector *column, size_t row, char *ret)
{
    __int128 value = column->type.precision <= HAC_DECIMAL_DIGITS_64
                         ? ((const int64_t *)column->values)[row]
                         : ((const __int128 *)column->values)[row];
    return hac_print_decimal(value, column->type.scale, ret);
}

size_t hac_output_print(const hac_vector *column, size_t row, char *ret)
{
    const void *values = column->values;
    switch (column->type.kind) {
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
        return hac_print_timestamp(((const int64_t *)values)[row], ret);
    case HAC_KIND_DECIMAL:
        return print_decimal(column, row, ret);
    default:
        return hac_print_i64(((const int64_t *)values)[row], ret);
    }
}

/* JSON has no dates, and no numbers that are not finite: those are strings. */
static bool json_quotes(const hac_vector *column, size_t row)
{
    switch (column->type.kind) {
    case HAC_KIND_DATE:
    case HAC_KIND_TIMESTAMP:
        return true;
    case HAC_KIND_F32:
        return !isfinite(((const float *)column->values)[row]);
    case HAC_KIND_F64:
        return !isfinite(((const double *)column->values)[row]);
    default:
        return false;
    }
}

/* Straight into the output where there is room for the longest. */
static void put_value(hac_output *output, const hac_vector *column, size_t row, bool quotes)
{
    char buffer[VALUE_MAX];
    bool fits = output->bytes + VALUE_MAX <= output->room;
    char *text = fits ? (char *)output->data + output->bytes : buffer;
    size_t n = 0;
    if (quotes)
        text[n++] = '"';
    n += hac_output_print(column, row, text + n);
    if (quotes)
        text[n++] = '"';
    if (fits)
        output->bytes += n;
    else
        hac_output_put(output, text, n);
}

/* ---- strings ---- */

/* 16 bytes at a time: all ones where a byte equals `c`. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));

static inline bytes16 load16(const uint8_t *data)
{
    bytes16 v;
    memcpy(&v, data, sizeof v);
    return v;
}

static inline bool any16(bytes16 v)
{
    uint64_t halves[2];
    memcpy(halves, &v, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

static bool csv_plain_byte(uint8_t c)
{
    return c != ',' && c != '"' && c != '\n' && c != '\r';
}

static bool csv_is_plain(const uint8_t *text, size_t bytes)
{
    size_t i = 0;
    for (; bytes - i >= 16; i += 16) {
        bytes16 v = load16(text + i);
        if (any16((bytes16)((v == ',') | (v == '"') | (v == '\n') | (v == '\r'))))
            return false;
    }
    while (i < bytes && csv_plain_byte(text[i]))
        i++;
    return i == bytes;
}

/* An empty string is "", so that it is not null. */
static void csv_string(hac_output *output, const uint8_t *text, size_t bytes)
{
    if (bytes > 0 && csv_is_plain(text, bytes)) {
        hac_output_put(output, text, bytes);
        return;
    }
    hac_output_byte(output, '"');
    for (size_t i = 0; i < bytes;) {
        const uint8_t *quote = memchr(text + i, '"', bytes - i);
        size_t n = quote != NULL ? (size_t)(quote - text) - i + 1 : bytes - i;
        hac_output_put(output, text + i, n);
        if (quote != NULL)
            hac_output_byte(output, '"');
        i += n;
    }
    hac_output_byte(output, '"');
}

/* Length of what needs neither escape nor check: printable ASCII but " and \. */
static size_t json_plain(const uint8_t *text, size_t bytes)
{
    size_t i = 0;
    for (; bytes - i >= 16; i += 16) {
        bytes16 v = load16(text + i);
        if (any16((bytes16)((v < 0x20) | (v > 0x7e) | (v == '"') | (v == '\\'))))
            break;
    }
    while (i < bytes && text[i] >= 0x20 && text[i] <= 0x7e && text[i] != '"' && text[i] != '\\')
        i++;
    return i;
}

static void json_escape(hac_output *output, uint8_t byte)
{
    static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt", digits[] = "0123456789abcdef";
    const char *found = byte != 0 ? strchr(named, byte) : NULL;
    if (found != NULL) {
        hac_output_put(output, (const char[]){'\\', names[found - named]}, 2);
        return;
    }
    hac_output_put(output, (const char[]){'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]}, 6);
}

/* Bytes that are no UTF-8 become U+FFFD, one each. */
static void json_string(hac_output *output, const uint8_t *text, size_t bytes)
{
    hac_output_byte(output, '"');
    for (size_t i = 0; i < bytes;) {
        size_t n = json_plain(text + i, bytes - i);
        hac_output_put(output, text + i, n);
        i += n;
        if (i == bytes)
            break;
        if (text[i] < 0x80) {
            json_escape(output, text[i++]);
            continue;
        }
        n = hac_utf8_sequence((const char *)text + i, bytes - i);
        hac_output_put(output, n > 0 ? (const char *)text + i : "\xef\xbf\xbd", n > 0 ? n : 3);
        i += n > 0 ? n : 1;
    }
    hac_output_byte(output, '"');
}

/* What a field of tsv cannot hold as it is. */
static char tsv_escape(uint8_t byte)
{
    return byte == '\t' ? 't' : byte == '\n' ? 'n' : byte == '\r' ? 'r' : byte == '\\' ? '\\' : 0;
}

static size_t tsv_plain(const uint8_t *text, size_t bytes)
{
    size_t i = 0;
    for (; bytes - i >= 16; i += 16) {
        bytes16 v = load16(text + i);
        if (any16((bytes16)((v == '\t') | (v == '\n') | (v == '\r') | (v == '\\'))))
            break;
    }
    while (i < bytes && tsv_escape(text[i]) == 0)
        i++;
    return i;
}

static void tsv_string(hac_output *output, const uint8_t *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        size_t n = tsv_plain(text + i, bytes - i);
        hac_output_put(output, text + i, n);
        i += n;
        if (i < bytes)
            hac_output_put(output, (const char[]){'\\', tsv_escape(text[i])}, 2);
    }
}

/* Lower case, two digits a byte. In csv no bytes are "", so that they are not null. */
static void put_hex(hac_output *output, const uint8_t *data, size_t bytes, bool quotes)
{
    char block[256];
    if (quotes || bytes == 0)
        hac_output_byte(output, '"');
    for (size_t i = 0, n; i < bytes; i += n) {
        n = bytes - i < sizeof block / 2 ? bytes - i : sizeof block / 2;
        hac_print_hex(data + i, n, block);
        hac_output_put(output, block, 2 * n);
    }
    if (quotes || bytes == 0)
        hac_output_byte(output, '"');
}

/* ---- rows ---- */

static void put_cell(hac_output *output, bool json, const hac_vector *column, size_t row)
{
    if (column->states != NULL && column->states[row] != HAC_ROW_OK) {
        if (json)
            hac_output_put(output, "null", 4);
        return;
    }
    if (!hac_kind_is_text(column->type.kind)) {
        put_value(output, column, row, json && json_quotes(column, row));
        return;
    }
    hac_string_ref ref = ((const hac_string_ref *)column->values)[row];
    const uint8_t *text = ref.length > 0 ? column->bytes + ref.offset : (const uint8_t *)"";
    if (column->type.kind == HAC_KIND_BYTES)
        put_hex(output, text, ref.length, json);
    else if (json)
        json_string(output, text, ref.length);
    else
        csv_string(output, text, ref.length);
}

void hac_output_header(hac_output *output, hac_output_format format, const hac_schema *schema,
                       size_t n_visible)
{
    if (format != HAC_OUTPUT_CSV)
        return;
    for (size_t i = 0; i < n_visible; i++) {
        const char *name = schema->fields[i].name;
        if (i > 0)
            hac_output_byte(output, ',');
        csv_string(output, (const uint8_t *)name, strlen(name));
    }
    hac_output_byte(output, '\n');
}

static void csv_row(hac_output *output, size_t n_visible, const hac_vector *columns, size_t row)
{
    for (size_t i = 0; i < n_visible; i++) {
        if (i > 0)
            hac_output_byte(output, ',');
        put_cell(output, false, &columns[i], row);
    }
    hac_output_byte(output, '\n');
}

/* A value with a line feed is an expression's. */
static void plain_string(hac_output *output, const uint8_t *text, size_t bytes)
{
    const uint8_t *end = text + bytes, *feed;
    for (; (feed = memchr(text, '\n', (size_t)(end - text))) != NULL; text = feed + 1) {
        hac_output_put(output, text, (size_t)(feed - text));
        hac_output_put(output, "\\n", 2);
    }
    hac_output_put(output, text, (size_t)(end - text));
}

static void tsv_row(hac_output *output, bool escapes, size_t n_visible, const hac_vector *columns, size_t row)
{
    for (size_t i = 0; i < n_visible; i++) {
        const hac_vector *column = &columns[i];
        hac_string_ref ref;
        if (i > 0)
            hac_output_byte(output, '\t');
        if (column->states != NULL && column->states[row] != HAC_ROW_OK) {
            hac_output_put(output, "\\N", 2);
        } else if (!hac_kind_is_text(column->type.kind)) {
            put_value(output, column, row, false);
        } else if ((ref = ((const hac_string_ref *)column->values)[row]).length > 0) {
            if (column->type.kind == HAC_KIND_BYTES)
                put_hex(output, column->bytes + ref.offset, ref.length, false);
            else if (escapes)
                tsv_string(output, column->bytes + ref.offset, ref.length);
            else
                plain_string(output, column->bytes + ref.offset, ref.length);
        }
    }
    hac_output_byte(output, '\n');
}

static void json_row(hac_output *output, const hac_schema *schema, size_t n_visible,
                     const hac_vector *columns, size_t row)
{
    for (size_t i = 0; i < n_visible; i++) {
        const char *name = schema->fields[i].name;
        hac_output_byte(output, i > 0 ? ',' : '{');
        json_string(output, (const uint8_t *)name, strlen(name));
        hac_output_byte(output, ':');
        put_cell(output, true, &columns[i], row);
    }
    hac_output_put(output, n_visible > 0 ? "}\n" : "{}\n", n_visible > 0 ? 2 : 3);
}

void hac_output_rows(hac_output *output, hac_output_format format, const hac_schema *schema, size_t n_visible,
                     const hac_vector *columns, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        if (format == HAC_OUTPUT_JSON)
            json_row(output, schema, n_visible, columns, row);
        else if (format == HAC_OUTPUT_TSV || format == HAC_OUTPUT_TEXT)
            tsv_row(output, format == HAC_OUTPUT_TSV, n_visible, columns, row);
        else if (format == HAC_OUTPUT_TYPEDBYTES)
            hac_output_typed_row(output, n_visible, columns, row);
        else
            csv_row(output, n_visible, columns, row);
    }
}
