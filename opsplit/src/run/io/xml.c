/* SPDX-License-Identifier: Apache-2.0 */
#include "xml.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "base/value_text.h"

#define NO_CHARACTER "\xef\xbf\xbd" /* U+FFFD */

/* Errors stick; text that is added later is dropped. */
typedef struct xml_writer {
    hac_xml_sink *sink;
    void *context;
    hac_error *err;
    hac_status status;
    size_t used;
    char block[HAC_XML_BLOCK];
} xml_writer;

static void flush(xml_writer *w)
{
    if (w->status == HAC_OK && w->used > 0)
        w->status = w->sink(w->context, w->block, w->used, w->err);
    w->used = 0;
}

static void add_bytes(xml_writer *w, const char *text, size_t bytes)
{
    while (bytes > 0) {
        size_t n = sizeof w->block - w->used;
        n = n < bytes ? n : bytes;
        memcpy(w->block + w->used, text, n);
        w->used += n;
        text += n;
        bytes -= n;
        if (w->used == sizeof w->block)
            flush(w);
    }
}

static void add(xml_writer *w, const char *text)
{
    add_bytes(w, text, strlen(text));
}

/* The escape of a byte; NULL: none is needed. A reader would turn CR into LF, and LF and TAB in an
 * attribute into blanks. */
static const char *escape(unsigned char c, bool name)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\r':
        return "&#13;";
    case '\t':
        return name ? "&#9;" : NULL;
    case '\n':
        return name ? "&#10;" : NULL;
    default:
        return c < 0x20 ? NO_CHARACTER : NULL;
    }
}

/* Bytes of the character at `text`, if XML allows it; 0: it does not. */
static size_t plain(const char *text, size_t bytes, bool name)
{
    size_t length = hac_utf8_sequence(text, bytes);
    if (length == 1)
        return escape((unsigned char)text[0], name) == NULL;
    bool none = length == 3 && (memcmp(text, "\xef\xbf\xbe", 3) == 0 || memcmp(text, "\xef\xbf\xbf", 3) == 0);
    return none ? 0 : length;
}

static void add_text(xml_writer *w, const char *text, size_t bytes, bool name)
{
    while (bytes > 0 && w->status == HAC_OK) {
        size_t n = 0, length;
        while (n < bytes && (length = plain(text + n, bytes - n, name)) > 0)
            n += length;
        add_bytes(w, text, n);
        if (n < bytes) {
            length = hac_utf8_sequence(text + n, bytes - n);
            add(w, length == 1 ? escape((unsigned char)text[n], name) : NO_CHARACTER);
            n += length > 0 ? length : 1;
        }
        text += n;
        bytes -= n;
    }
}

static size_t print_number(const void *values, char format, int64_t at, char *ret)
{
    switch (format) {
    case 'i':
        return hac_print_i64(((const int32_t *)values)[at], ret);
    case 'l':
        return hac_print_i64(((const int64_t *)values)[at], ret);
    case 'I':
        return hac_print_u64(((const uint32_t *)values)[at], ret);
    case 'L':
        return hac_print_u64(((const uint64_t *)values)[at], ret);
    case 'f':
        return hac_print_f32(((const float *)values)[at], ret);
    case 'g':
        return hac_print_f64(((const double *)values)[at], ret);
    default:
        return 0;
    }
}

static void add_value(xml_writer *w, const struct ArrowArray *column, char format, int64_t row)
{
    const void *values = column->buffers[1];
    int64_t at = row + column->offset, first, end;
    char number[HAC_PRINT_MAX];
    if (format == 'b') {
        add(w, ((const uint8_t *)values)[at / 8] >> (at % 8) & 1 ? "true" : "false");
    } else if (format == 'u' || format == 'U') {
        first = format == 'u' ? ((const int32_t *)values)[at] : ((const int64_t *)values)[at];
        end = format == 'u' ? ((const int32_t *)values)[at + 1] : ((const int64_t *)values)[at + 1];
        add_text(w, (const char *)column->buffers[2] + first, (size_t)(end - first), false);
    } else {
        add_bytes(w, number, print_number(values, format, at, number));
    }
}

static hac_status check(const struct ArrowSchema *schema, hac_error *err)
{
    for (int64_t c = 0; c < schema->n_children; c++) {
        const char *format = schema->children[c]->format;
        if (strlen(format) != 1 || strchr("bilILfguU", format[0]) == NULL)
            return hac_fail(err, HAC_INTERNAL,
                            "column %s has the Arrow type %s, which cannot be written as XML",
                            schema->children[c]->name, format);
    }
    return HAC_OK;
}

hac_status hac_xml_write(const struct ArrowSchema *schema, const struct ArrowArray *array, hac_xml_sink *sink,
                         void *context, hac_error *err)
{
    hac_status status = check(schema, err);
    if (status != HAC_OK)
        return status;
    hac_autofree xml_writer *w = malloc(sizeof *w);
    if (w == NULL)
        return hac_fail_no_memory(err);
    w->sink = sink;
    w->context = context;
    w->err = err;
    w->status = HAC_OK;
    w->used = 0;
    add(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rows>\n");
    for (int64_t r = 0; r < array->length && w->status == HAC_OK; r++) {
        add(w, "  <row>");
        for (int64_t c = 0; c < array->n_children; c++) {
            const char *name = schema->children[c]->name;
            add(w, "<value name=\"");
            add_text(w, name, strlen(name), true);
            add(w, "\">");
            add_value(w, array->children[c], schema->children[c]->format[0], r);
            add(w, "</value>");
        }
        add(w, "</row>\n");
    }
    add(w, "</rows>\n");
    flush(w);
    return w->status;
}
