/* SPDX-License-Identifier: Apache-2.0 */
#include "query/output.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/value_text.h"
#include "output_parts.h"

/* Maximum size of one value of fixed width: its text, quotes and a separator. */
#define VALUE_MAX (HAC_PRINT_MAX + 4)

/* ---- values of fixed width ---- */

/* JSON has no dates and no non-finite numbers: they are written as strings. */
static bool json_quotes(const hac_column *column, size_t row)
{
    if (column->type.kind == HAC_KIND_F32)
        return !isfinite(((const float *)column->values)[row]);
    if (column->type.kind == HAC_KIND_F64)
        return !isfinite(((const double *)column->values)[row]);
    return hac_kinds[column->type.kind].class == HAC_CLASS_TIME;
}

/* Writes directly to the output if it has room for the longest text. */
static void put_value(hac_output_buffer *output, const hac_column *column, size_t row, bool quotes)
{
    char buffer[VALUE_MAX];
    bool fits = output->bytes + VALUE_MAX <= output->capacity;
    char *text = fits ? (char *)output->data + output->bytes : buffer;
    size_t n = 0;
    if (quotes)
        text[n++] = '"';
    n += hac_print_value(column->type, column->values, row, text + n);
    if (quotes)
        text[n++] = '"';
    if (fits)
        output->bytes += n;
    else
        hac_output_put(output, text, n);
}

/* ---- strings ---- */

/* Compares 16 bytes: all ones where a byte equals `c`. */
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

/* An empty string is written as "" to distinguish it from null. */
static void csv_string(hac_output_buffer *output, const uint8_t *text, size_t bytes)
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

/* Length of the prefix that needs neither an escape nor a check: printable ASCII except " and \. */
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

static void json_escape(hac_output_buffer *output, uint8_t byte)
{
    static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt", digits[] = "0123456789abcdef";
    const char *found = byte != 0 ? strchr(named, byte) : NULL;
    if (found != NULL) {
        hac_output_put(output, (const char[]){'\\', names[found - named]}, 2);
        return;
    }
    hac_output_put(output, (const char[]){'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]}, 6);
}

/* Bytes that are not UTF-8 become U+FFFD, one for each byte. */
static void json_string(hac_output_buffer *output, const uint8_t *text, size_t bytes)
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

/* Characters that a tsv field cannot contain. */
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

static void tsv_string(hac_output_buffer *output, const uint8_t *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        size_t n = tsv_plain(text + i, bytes - i);
        hac_output_put(output, text + i, n);
        i += n;
        if (i < bytes)
            hac_output_put(output, (const char[]){'\\', tsv_escape(text[i])}, 2);
    }
}

/* Lower case, two digits a byte. In csv, empty bytes are written as "" to distinguish them from null. */
static void put_hex(hac_output_buffer *output, const uint8_t *data, size_t bytes, bool quotes)
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

static void put_cell(hac_output_buffer *output, bool json, const hac_column *column, size_t row)
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

/* Text in a cell of a Markdown table: | and \ would end the cell or the escape, < and & begin HTML, and a
 * line feed ends the row. */
static void markdown_string(hac_output_buffer *output, const uint8_t *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char *instead = text[i] == '|'    ? "\\|"
                              : text[i] == '\\' ? "\\\\"
                              : text[i] == '<'  ? "&lt;"
                              : text[i] == '&'  ? "&amp;"
                              : text[i] == '\n' ? "<br>"
                              : text[i] == '\r' ? ""
                                                : NULL;
        if (instead != NULL)
            hac_output_put(output, instead, strlen(instead));
        else
            hac_output_byte(output, (char)text[i]);
    }
}

static void csv_header(hac_output_buffer *output, const hac_schema *schema, size_t n_visible)
{
    for (size_t i = 0; i < n_visible; i++) {
        const char *name = schema->fields[i].name;
        if (i > 0)
            hac_output_byte(output, ',');
        csv_string(output, (const uint8_t *)name, strlen(name));
    }
    hac_output_byte(output, '\n');
}

static void tsv_header(hac_output_buffer *output, const hac_schema *schema, size_t n_visible)
{
    for (size_t i = 0; i < n_visible; i++) {
        const char *name = schema->fields[i].name;
        if (i > 0)
            hac_output_byte(output, '\t');
        tsv_string(output, (const uint8_t *)name, strlen(name));
    }
    hac_output_byte(output, '\n');
}

/* The second line of a Markdown table aligns numbers on the right. */
static void markdown_header(hac_output_buffer *output, const hac_schema *schema, size_t n_visible)
{
    for (size_t i = 0; i < n_visible; i++) {
        const char *name = schema->fields[i].name;
        hac_output_put(output, "| ", 2);
        markdown_string(output, (const uint8_t *)name, strlen(name));
        hac_output_byte(output, ' ');
    }
    hac_output_put(output, "|\n", 2);
    for (size_t i = 0; i < n_visible; i++)
        hac_output_put(output, hac_kind_is_number((hac_kind)schema->fields[i].type.kind) ? "|--:" : "|---",
                       4);
    hac_output_put(output, "|\n", 2);
}

void hac_output_header(hac_output_buffer *output, hac_result_format format, const hac_schema *schema,
                       size_t n_visible)
{
    if (format == HAC_RESULT_CSV)
        csv_header(output, schema, n_visible);
    else if (format == HAC_RESULT_TSV_NAMED)
        tsv_header(output, schema, n_visible);
    else if (format == HAC_RESULT_MARKDOWN)
        markdown_header(output, schema, n_visible);
}

static void csv_row(hac_output_buffer *output, size_t n_visible, const hac_column *columns, size_t row)
{
    for (size_t i = 0; i < n_visible; i++) {
        if (i > 0)
            hac_output_byte(output, ',');
        put_cell(output, false, &columns[i], row);
    }
    hac_output_byte(output, '\n');
}

/* A value that contains a line feed comes from an expression. */
static void plain_string(hac_output_buffer *output, const uint8_t *text, size_t bytes)
{
    const uint8_t *end = text + bytes, *feed;
    for (; (feed = memchr(text, '\n', (size_t)(end - text))) != NULL; text = feed + 1) {
        hac_output_put(output, text, (size_t)(feed - text));
        hac_output_put(output, "\\n", 2);
    }
    hac_output_put(output, text, (size_t)(end - text));
}

static void tsv_row(hac_output_buffer *output, bool escapes, size_t n_visible, const hac_column *columns,
                    size_t row)
{
    for (size_t i = 0; i < n_visible; i++) {
        const hac_column *column = &columns[i];
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

static void json_row(hac_output_buffer *output, const hac_schema *schema, size_t n_visible,
                     const hac_column *columns, size_t row)
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

static void markdown_row(hac_output_buffer *output, size_t n_visible, const hac_column *columns, size_t row)
{
    for (size_t i = 0; i < n_visible; i++) {
        const hac_column *column = &columns[i];
        hac_output_put(output, "| ", 2);
        if (column->states != NULL && column->states[row] != HAC_ROW_OK)
            continue;
        if (!hac_kind_is_text(column->type.kind)) {
            put_value(output, column, row, false);
        } else {
            hac_string_ref ref = ((const hac_string_ref *)column->values)[row];
            if (ref.length > 0 && column->type.kind == HAC_KIND_BYTES)
                put_hex(output, column->bytes + ref.offset, ref.length, false);
            else if (ref.length > 0)
                markdown_string(output, column->bytes + ref.offset, ref.length);
        }
        hac_output_byte(output, ' ');
    }
    hac_output_put(output, "|\n", 2);
}

void hac_output_rows(hac_output_buffer *output, hac_result_format format, const hac_schema *schema,
                     size_t n_visible, const hac_column *columns, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        if (format == HAC_RESULT_JSON)
            json_row(output, schema, n_visible, columns, row);
        else if (format == HAC_RESULT_TSV || format == HAC_RESULT_TSV_NAMED || format == HAC_RESULT_TEXT)
            tsv_row(output, format != HAC_RESULT_TEXT, n_visible, columns, row);
        else if (format == HAC_RESULT_MARKDOWN)
            markdown_row(output, n_visible, columns, row);
        else if (format == HAC_RESULT_TYPEDBYTES)
            hac_output_typed_row(output, n_visible, columns, row);
        else
            csv_row(output, n_visible, columns, row);
    }
}
