/* SPDX-License-Identifier: Apache-2.0 */
/* csv (RFC 4180) and tsv (escapes, no quotes).
 *
 * Ends of lines: a record ends at LF. The scanner (scan_body.h) finds LF and delimiters, outside quotes if
 * the format is csv; scan.c also reports a byte behind a closing quote that is no separator. This file
 * removes one CR before the LF from the last field (field_end, raw_fields). Any other CR belongs to its
 * field. lines.c treats the ends of lines and kv records in the same way. In libhac, input/text_begin.c
 * refuses an input whose first line ends in CR alone or in CR CR LF, and record_cut.c cuts inputs at LF. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/input_options.h"
#include "base/text.h"
#include "expr/column_names.h"
#include "null_words.h"
#include "source_parts.h"

typedef struct delimited_source {
    size_t n_fields; /* of a record */
    hac_null_words nulls;
} delimited_source;

hac_scan hac_delimited_scan(const hac_source_options *options)
{
    uint8_t delimiter = hac_format_delimiter(options->format, options->options.delimiter);
    if (hac_format_has_quotes(options->format))
        return (hac_scan){.what = HAC_SCAN_QUOTED, .delimiter = delimiter};
    return (hac_scan){.what = HAC_SCAN_FIELDS, .delimiter = delimiter, .special = '\\'};
}

/* Removes a field's quotes and turns each "" into one quote. The scanner has checked that quotes are
 * balanced. */
static hac_string_ref unquote(uint8_t *data, uint32_t begin, uint32_t end)
{
    begin++;
    end -= end > begin;
    uint8_t *to = memchr(data + begin, '"', end - begin);
    if (to == NULL)
        return (hac_string_ref){begin, end - begin};
    for (const uint8_t *from = to; from < data + end; from++) {
        *to++ = *from;
        from += *from == '"';
    }
    return (hac_string_ref){begin, (uint32_t)(to - data) - begin};
}

static uint8_t unescaped(uint8_t byte)
{
    return byte == 't' ? '\t' : byte == 'n' ? '\n' : byte == 'r' ? '\r' : byte == '\\' ? '\\' : 0;
}

/* Replaces \t \n \r \\ by the characters they stand for; a backslash before any other character stays. */
static hac_string_ref unescape(uint8_t *data, uint32_t begin, uint32_t end)
{
    uint8_t *to = memchr(data + begin, '\\', end - begin);
    if (to == NULL)
        return (hac_string_ref){begin, end - begin};
    for (const uint8_t *from = to; from < data + end; from++) {
        uint8_t byte = *from == '\\' && from + 1 < data + end ? unescaped(from[1]) : 0;
        *to++ = byte != 0 ? byte : *from;
        from += byte != 0;
    }
    return (hac_string_ref){begin, (uint32_t)(to - data) - begin};
}

/* A field without the spaces around it. A field that begins with a quote stays. */
static hac_string_ref trimmed(const uint8_t *data, hac_string_ref field)
{
    while (field.length > 0 && data[field.offset + field.length - 1] == ' ')
        field.length--;
    while (field.length > 0 && data[field.offset] == ' ') {
        field.offset++;
        field.length--;
    }
    return field;
}

static inline uint32_t field_end(const hac_records_view *view, uint32_t ordinal, size_t field,
                                 size_t n_fields)
{
    uint32_t end = view->marks[ordinal + field + 1] - 1;
    if (field + 1 == n_fields && end > view->marks[ordinal + field] && view->data[end - 1] == '\r')
        end--;
    return end;
}

hac_string_ref hac_delimited_field(const hac_source_options *options, const hac_records_view *view,
                                   uint32_t ordinal, size_t field, size_t n_fields, bool *ret_null)
{
    uint32_t begin = view->marks[ordinal + field], end = field_end(view, ordinal, field, n_fields);
    *ret_null = false;
    if (options->options.trim != 0) {
        hac_string_ref inner = trimmed(view->data, (hac_string_ref){begin, end - begin});
        begin = inner.offset;
        end = begin + inner.length;
    }
    if (options->format == HAC_INPUT_TSV) {
        *ret_null = end - begin == 2 && view->data[begin] == '\\' && view->data[begin + 1] == 'N';
        return view->special ? unescape(view->data, begin, end) : (hac_string_ref){begin, end - begin};
    }
    *ret_null = begin == end;
    return view->special && begin < end && view->data[begin] == '"' ? unquote(view->data, begin, end)
                                                                    : (hac_string_ref){begin, end - begin};
}

/* ---- the header ---- */

void hac_header_name(const hac_records_view *view, hac_string_ref ref, char ret[HAC_FIELD_NAME_MAX])
{
    const char *text = (const char *)view->data + ref.offset;
    size_t bytes = ref.length;
    if (bytes >= HAC_FIELD_NAME_MAX) { /* cut between characters, as wherever names are compared */
        bytes = HAC_FIELD_NAME_MAX - 1;
        while (bytes > 0 && ((uint8_t)text[bytes] & 0xc0) == 0x80)
            bytes--;
    }
    for (size_t i = 0; i < bytes; i++)
        ret[i] = text[i] != '\0' ? text[i] : '?'; /* names are C strings */
    ret[bytes] = 0;
}

hac_status hac_delimited_names(const hac_source_options *options, const hac_records_view *view,
                               hac_schema *ret, hac_error *err)
{
    bool null;
    size_t n = view->ends[1] - view->ends[0];
    hac_schema schema = {.fields = calloc(n + 1, sizeof *schema.fields), .n_fields = n};
    if (schema.fields == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        hac_header_name(view, hac_delimited_field(options, view, view->ends[0], i, n, &null),
                        schema.fields[i].name);
        schema.fields[i].type.kind = HAC_KIND_STRING;
    }
    hac_status status = hac_column_names_complete(&schema, err);
    if (status == HAC_OK)
        *ret = schema;
    else
        hac_schema_clear(&schema);
    return status;
}

hac_status hac_source_read_header(hac_records *records, hac_records_view *ret, uint64_t *ret_end,
                                  hac_error *err)
{
    const hac_source_place *place = records->window.place;
    uint8_t mark[3] = {0};
    hac_status status = HAC_OK;
    if (place->bytes >= sizeof mark && (status = hac_place_read(place, 0, mark, sizeof mark, err)) != HAC_OK)
        return status;
    /* the client has left it out of splits, most of which come from the middle of an input */
    uint64_t start = !place->split && memcmp(mark, "\xef\xbb\xbf", sizeof mark) == 0 ? sizeof mark : 0;
    *ret_end = start;
    if (ret == NULL)
        return HAC_OK;
    status = hac_records_begin(records, start, start + 1, false, true, err);
    if (status == HAC_OK)
        status = hac_records_next(records, ret, err);
    if (status == HAC_NOT_FOUND)
        return hac_fail(err, HAC_FAILED,
                        "the input is empty: its first line should name the columns (--no-header: it has "
                        "none)");
    if (status != HAC_OK)
        return status;
    if (ret->ends[1] - ret->ends[0] > HAC_RECORD_FIELDS_MAX)
        return hac_fail(err, HAC_FAILED, "the header has more than %d columns", HAC_RECORD_FIELDS_MAX);
    uint64_t end = ret->base + ret->marks[ret->ends[1]];
    *ret_end = end < place->bytes ? end : place->bytes;
    return HAC_OK;
}

static void clear_names(hac_schema *names)
{
    hac_schema_clear(names);
}

/* Whether the header is one field that looks like several. */
static bool is_joined(const hac_schema *names)
{
    return names->n_fields == 1 && strpbrk(names->fields[0].name, ",;\t|") != NULL;
}

static hac_status fail_no_column(const hac_schema *names, const char *name, hac_error *err)
{
    if (!is_joined(names))
        return hac_fail(err, HAC_INVALID, "the header has no column '%s'", name);
    return hac_fail(err, HAC_INVALID,
                    "the header has no column '%s', but one field, '%.100s': files of one query have one "
                    "delimiter; query this one by itself",
                    name, names->fields[0].name);
}

static bool has_name(const hac_source *source, const char *name)
{
    const hac_schema *columns = &source->query->columns;
    for (size_t i = 0; i < columns->n_fields; i++)
        if (strcmp(columns->fields[i].name, name) == 0)
            return true;
    return false;
}

/* A query for all columns fails with the first one that it does not know: libhac describes all files that it
 * can read at any place, but not those that are compressed. */
static hac_status check_all_known(const hac_source *source, const hac_schema *names, hac_error *err)
{
    for (size_t i = 0; hac_source_takes_all(source) && i < names->n_fields; i++)
        if (!has_name(source, names->fields[i].name))
            return hac_fail(err, HAC_FAILED,
                            "the header has a column '%s', which the first file has not; name the columns%s",
                            names->fields[i].name, source->place.split ? ", or unpack the files" : "");
    return HAC_OK;
}

/* Finds the query's columns in the header. */
static hac_status match_names(hac_source *source, const hac_records_view *view, hac_error *err)
{
    hac_cleanup(clear_names) hac_schema names = {0};
    hac_status status = hac_delimited_names(&source->query->source, view, &names, err);
    for (size_t i = 0; i < source->n_columns && status == HAC_OK; i++) {
        hac_source_column *column = &source->columns[i];
        int place = hac_schema_find(&names, column->name, column->name_bytes);
        if (place < 0 && (!column->lacking || is_joined(&names)))
            return fail_no_column(&names, column->name, err);
        column->place = place < 0 ? SIZE_MAX : (size_t)place;
    }
    return status == HAC_OK ? check_all_known(source, &names, err) : status;
}

static hac_status open_delimited(hac_source *source, hac_error *err)
{
    delimited_source *s = source->state;
    const hac_source_options *options = &source->query->source;
    bool header = !options->options.no_header;
    hac_scan scan = hac_delimited_scan(options);
    hac_records_view view;
    if (scan.delimiter == '"' || scan.delimiter == '\n' || scan.delimiter == '\r')
        return hac_fail(err, HAC_INVALID, "a quote or an end of line cannot be the delimiter");
    if (hac_input_is_dialect(options->format, &options->options))
        return hac_fail(err, HAC_INVALID, "libhac reads text with another quote, an escape or comments");
    hac_status status = hac_records_init(&source->records, &source->place, scan, err);
    if (status == HAC_OK)
        status = hac_source_read_header(&source->records, header ? &view : NULL, &source->data_start, err);
    if (status != HAC_OK)
        return status;
    s->n_fields = header ? view.ends[1] - view.ends[0] : source->query->schema_columns;
    s->nulls = hac_null_words_of(options->options.null_text);
    if (header)
        return match_names(source, &view, err);
    for (size_t i = 0; i < source->n_columns; i++)
        if (source->columns[i].place >= s->n_fields)
            return hac_fail(err, HAC_INVALID, "column '%s' is not in the schema", source->columns[i].name);
    return HAC_OK;
}

static hac_status begin_delimited(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                                  hac_error *err)
{
    bool whole = source->place.split || first <= source->data_start;
    return hac_records_begin(&source->records, first < source->data_start ? source->data_start : first, end,
                             !whole && inside_quotes, whole, err);
}

/* ---- records ---- */

/* Makes refs to the unchanged fields. Returns whether some are empty. The loop has no branches: fields are
 * short, so every instruction here is executed once a field. */
static bool raw_fields(const hac_source *source, hac_source_column *column, const hac_records_view *view,
                       const uint32_t *ordinals)
{
    const uint32_t *marks = view->marks + column->place;
    const uint8_t *data = view->data;
    hac_string_ref *refs = column->refs;
    bool last = column->place + 1 == ((const delimited_source *)source->state)->n_fields, empty = false;
    for (size_t r = 0; r < source->rows; r++) {
        uint32_t begin = marks[ordinals[r]], n = marks[ordinals[r] + 1] - 1 - begin;
        refs[r] = (hac_string_ref){begin, n};
        empty |= n == 0;
    }
    for (size_t r = 0; last && r < source->rows; r++) {
        refs[r].length -= refs[r].length > 0 && data[refs[r].offset + refs[r].length - 1] == '\r';
        empty |= refs[r].length == 0;
    }
    for (size_t r = 0; source->query->source.options.trim != 0 && r < source->rows; r++) {
        refs[r] = trimmed(data, refs[r]);
        empty |= refs[r].length == 0;
    }
    return empty;
}

/* The column before `column` that reads the same field as text; NULL: there is none. */
static const hac_source_column *text_of(const hac_source *source, const hac_source_column *column)
{
    bool again = column->part == HAC_LIST_VALUE || column->part == HAC_LIST_UNNEST;
    for (const hac_source_column *c = source->columns; again && c != column; c++)
        if (c->place == column->place && c->repr == HAC_REPR_STRING)
            return c;
    return NULL;
}

/* A field is unquoted in place, and so only once. */
static void copy_column(const hac_source *source, const hac_source_column *from, hac_source_column *to)
{
    memcpy(to->refs, from->refs, source->rows * sizeof *to->refs);
    memcpy(to->states, from->states, source->rows);
    to->marked = from->marked;
}

static void csv_column(const hac_source *source, hac_source_column *column, const hac_records_view *view,
                       const uint32_t *ordinals)
{
    const delimited_source *s = source->state;
    hac_string_ref *refs = column->refs;
    if (raw_fields(source, column, view, ordinals) || s->nulls.n > 0)
        for (size_t r = 0; r < source->rows; r++)
            if (refs[r].length == 0 ||
                hac_null_words_have(&s->nulls, view->data + refs[r].offset, refs[r].length))
                hac_source_null(column, r);
    for (size_t r = 0; view->special && r < source->rows; r++)
        if (refs[r].length > 0 && view->data[refs[r].offset] == '"')
            refs[r] = unquote(view->data, refs[r].offset, refs[r].offset + refs[r].length);
}

static void tsv_column(const hac_source *source, hac_source_column *column, const hac_records_view *view,
                       const uint32_t *ordinals)
{
    const delimited_source *s = source->state;
    hac_string_ref *refs = column->refs;
    bool empty_is_null = column->repr != HAC_REPR_STRING;
    if ((raw_fields(source, column, view, ordinals) && empty_is_null) || s->nulls.n > 0)
        for (size_t r = 0; r < source->rows; r++)
            if (refs[r].length == 0
                    ? empty_is_null
                    : hac_null_words_have(&s->nulls, view->data + refs[r].offset, refs[r].length))
                hac_source_null(column, r);
    for (size_t r = 0; view->special && r < source->rows; r++) {
        const uint8_t *text = view->data + refs[r].offset;
        if (refs[r].length == 2 && text[0] == '\\' && text[1] == 'N')
            hac_source_null(column, r);
        else
            refs[r] = unescape(view->data, refs[r].offset, refs[r].offset + refs[r].length);
    }
}

/* A column that this file has not. */
static void null_column(const hac_source *source, hac_source_column *column)
{
    for (size_t r = 0; r < source->rows; r++)
        hac_source_null(column, r);
}

static bool is_blank(const hac_records_view *view, size_t i)
{
    return view->ends[i + 1] - view->ends[i] == 1 &&
           field_end(view, view->ends[i], 0, 1) == view->marks[view->ends[i]];
}

/* Hadoop Streaming gives a reducer a key without a value as `key TAB`: for one column, that is its field. */
static bool is_lone_key(const hac_source *source, const hac_records_view *view, size_t i, size_t n_fields)
{
    uint32_t first = view->ends[i];
    return source->query->source.format == HAC_INPUT_TSV && n_fields == 1 && view->ends[i + 1] - first == 2 &&
           field_end(view, first, 1, 2) == view->marks[first + 1];
}

/* Chooses the records with the right number of fields, up to the first one in error. Empty lines are skipped
 * if there is more than one column. */
static void choose_records(hac_source *source, const hac_records_view *view, uint32_t *ordinals)
{
    const size_t n_fields = ((const delimited_source *)source->state)->n_fields;
    size_t used = 0, rows = 0;
    for (; used < view->n; used++) {
        size_t fields = view->ends[used + 1] - view->ends[used];
        uint64_t position = view->base + view->marks[view->ends[used]];
        if (fields != n_fields && !is_lone_key(source, view, used, n_fields)) {
            if (is_blank(view, used) ||
                hac_source_bad_record(source, position, NULL, "%zu field%s instead of %zu", fields,
                                      fields == 1 ? "" : "s", n_fields))
                continue;
            break;
        }
        ordinals[rows] = view->ends[used];
        source->starts[rows++] = position;
    }
    hac_records_take(&source->records, used);
    source->rows = rows;
}

static hac_status next_delimited(hac_source *source, hac_error *err)
{
    hac_records_view view;
    uint32_t ordinals[HAC_BATCH_ROWS];
    hac_status status = hac_records_next(&source->records, &view, err);
    if (status != HAC_OK)
        return status;
    choose_records(source, &view, ordinals);
    for (size_t i = 0; i < source->n_columns; i++) {
        const hac_source_column *text = text_of(source, &source->columns[i]);
        source->columns[i].bytes = view.data;
        if (source->columns[i].place == SIZE_MAX)
            null_column(source, &source->columns[i]);
        else if (text != NULL)
            copy_column(source, text, &source->columns[i]);
        else if (source->query->source.format == HAC_INPUT_TSV)
            tsv_column(source, &source->columns[i], &view, ordinals);
        else
            csv_column(source, &source->columns[i], &view, ordinals);
    }
    return HAC_OK;
}

const hac_source_format hac_format_delimited = {.state_bytes = sizeof(delimited_source),
                                                .open = open_delimited,
                                                .begin = begin_delimited,
                                                .next = next_delimited};
