/* SPDX-License-Identifier: Apache-2.0 */
#include "header_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "expr/column_names.h"

enum { NAMES_MAX = 65535, FIRST_NAMES = 32 };

typedef struct header_line {
    const uint8_t *at, *end;
    bool whole; /* the input ends at `end` */
    bool quotes;
    uint8_t delimiter;
    bool last; /* the last name of the line has been read */
} header_line;

typedef struct header_name {
    char text[HAC_FIELD_NAME_MAX];
    size_t bytes; /* length of the whole name, including bytes that did not fit */
} header_name;

static void add_byte(header_name *name, uint8_t byte)
{
    if (name->bytes < sizeof(name->text))
        name->text[name->bytes] = (char)byte;
    name->bytes++;
}

/* Truncates a name that is too long, at the boundary of a character. */
static void finish_name(header_name *name)
{
    size_t bytes = name->bytes;
    if (bytes >= sizeof(name->text)) {
        bytes = sizeof(name->text) - 1;
        while (bytes > 0 && ((uint8_t)name->text[bytes] & 0xc0) == 0x80)
            bytes--;
    }
    name->text[bytes] = '\0';
}

/* Returns true if the line ends at `at`. The last line of the input may lack a newline. */
static bool line_ends(const header_line *line, const uint8_t *at)
{
    if (at < line->end && *at == '\r')
        at++;
    return at == line->end ? line->whole : *at == '\n';
}

/* Reads the separator or line end after a name. False: another byte follows, or the data ends. */
static bool end_name(header_line *line)
{
    if (line->at < line->end && *line->at == line->delimiter) {
        line->at++;
        return true;
    }
    line->last = line_ends(line, line->at);
    return line->last;
}

static bool read_quoted(header_line *line, header_name *name)
{
    for (line->at++; line->at < line->end; line->at++) {
        if (*line->at == '"') {
            line->at++;
            if (line->at == line->end || *line->at != '"')
                return end_name(line);
        }
        if (*line->at == '\0')
            return false;
        add_byte(name, *line->at);
    }
    return false;
}

static uint8_t unescaped(uint8_t byte)
{
    return byte == 't' ? '\t' : byte == 'n' ? '\n' : byte == 'r' ? '\r' : byte == '\\' ? '\\' : 0;
}

static bool read_plain(header_line *line, header_name *name)
{
    while (line->at < line->end && *line->at != line->delimiter && !line_ends(line, line->at)) {
        uint8_t byte = *line->at++;
        if (byte == '\0' || byte == '\n' || (byte == '"' && line->quotes))
            return false;
        uint8_t escaped = byte == '\\' && !line->quotes && line->at < line->end ? unescaped(*line->at) : 0;
        line->at += escaped != 0;
        add_byte(name, escaped != 0 ? escaped : byte);
    }
    return end_name(line);
}

static hac_status add_name(const header_name *name, hac_schema *ret, size_t *capacity, hac_error *err)
{
    if (ret->n_fields == *capacity) {
        size_t more = *capacity == 0 ? FIRST_NAMES : 2 * *capacity;
        hac_field *fields = realloc(ret->fields, more * sizeof(*fields));
        if (fields == NULL)
            return hac_fail_no_memory(err);
        ret->fields = fields;
        *capacity = more;
    }
    hac_field *field = &ret->fields[ret->n_fields++];
    *field = (hac_field){.type = {.kind = HAC_KIND_STRING}};
    strcpy(field->name, name->text);
    return HAC_OK;
}

static hac_status read_names(header_line *line, hac_schema *ret, hac_error *err)
{
    size_t capacity = 0;
    while (!line->last) {
        header_name name = {.bytes = 0};
        bool quoted = line->quotes && line->at < line->end && *line->at == '"';
        if (ret->n_fields == NAMES_MAX || !(quoted ? read_quoted(line, &name) : read_plain(line, &name)))
            return HAC_NOT_FOUND;
        finish_name(&name);
        hac_status status = add_name(&name, ret, &capacity, err);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

hac_status hac_header_names(const hac_query_options *options, const uint8_t *data, size_t bytes, bool whole,
                            hac_schema *ret, hac_error *err)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    if (bytes == 0)
        data = mark; /* no arithmetic on NULL */
    header_line line = {.at = data,
                        .end = data + bytes,
                        .whole = whole,
                        .quotes = hac_format_has_quotes(options->input_format),
                        .delimiter =
                            hac_format_delimiter(options->input_format, options->input_options.delimiter)};
    hac_schema schema = {0};
    if (bytes >= sizeof(mark) && memcmp(data, mark, sizeof(mark)) == 0)
        line.at += sizeof(mark);
    if (line_ends(&line, line.at) || options->input_options.trim != 0) /* the reader trims names */
        return HAC_NOT_FOUND;
    hac_status status = read_names(&line, &schema, err);
    if (status == HAC_OK)
        status = hac_column_names_complete(&schema, err);
    if (status == HAC_OK)
        *ret = schema;
    else
        hac_schema_clear(&schema);
    return status;
}
