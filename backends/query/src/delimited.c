/* SPDX-License-Identifier: Apache-2.0 */
/* csv (RFC 4180) and tsv (escapes, no quotes). */
#include <string.h>

#include "base/text.h"
#include "source_parts.h"

hac_scan hac_delimited_scan(const hac_source_options *options)
{
    if (options->format == HAC_FORMAT_TSV)
        return (hac_scan){.what = HAC_SCAN_FIELDS, .delimiter = '\t', .special = '\\'};
    return (hac_scan){.what = HAC_SCAN_QUOTED, .delimiter = options->delimiter ? options->delimiter : ','};
}

/* A quoted field without its quotes, each "" made one. That quotes are in order has been seen to. */
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

/* \t \n \r \\ made what they stand for; a backslash before anything else stays. */
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

static inline uint32_t field_end(const hac_record_view *view, uint32_t ordinal, size_t field, size_t n_fields)
{
    uint32_t end = view->marks[ordinal + field + 1] - 1;
    if (field + 1 == n_fields && end > view->marks[ordinal + field] && view->data[end - 1] == '\r')
        end--;
    return end;
}

hac_string_ref hac_delimited_field(const hac_source_options *options, const hac_record_view *view,
                                   uint32_t ordinal, size_t field, size_t n_fields, bool *ret_null)
{
    uint32_t begin = view->marks[ordinal + field], end = field_end(view, ordinal, field, n_fields);
    *ret_null = false;
    if (options->format == HAC_FORMAT_TSV) {
        *ret_null = end - begin == 2 && view->data[begin] == '\\' && view->data[begin + 1] == 'N';
        return view->special ? unescape(view->data, begin, end) : (hac_string_ref){begin, end - begin};
    }
    *ret_null = begin == end;
    return view->special && begin < end && view->data[begin] == '"' ? unquote(view->data, begin, end)
                                                                    : (hac_string_ref){begin, end - begin};
}

/* ---- the header ---- */

void hac_header_name(const hac_record_view *view, hac_string_ref ref, char ret[HAC_FIELD_NAME_MAX])
{
    const char *text = (const char *)view->data + ref.offset;
    size_t bytes = ref.length;
    if (bytes >= HAC_FIELD_NAME_MAX) { /* cut between characters, the same wherever names are compared */
        bytes = HAC_FIELD_NAME_MAX - 1;
        while (bytes > 0 && ((uint8_t)text[bytes] & 0xc0) == 0x80)
            bytes--;
    }
    memcpy(ret, text, bytes);
    ret[bytes] = 0;
}

hac_status hac_source_read_header(hac_records *records, hac_record_view *ret, uint64_t *ret_end,
                                  hac_error *err)
{
    const hac_source_place *place = records->window.place;
    uint8_t mark[3] = {0};
    hac_status status = HAC_OK;
    if (place->bytes >= sizeof mark && (status = hac_place_read(place, 0, mark, sizeof mark, err)) != HAC_OK)
        return status;
    bool begins = place->lines_before == 0 || place->head != 0; /* else it is a record's */
    uint64_t start = begins && memcmp(mark, "\xef\xbb\xbf", sizeof mark) == 0 ? sizeof mark : 0;
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

#define UNPLACED SIZE_MAX

static hac_status match_names(hac_source *source, const hac_record_view *view, hac_error *err)
{
    char name[HAC_FIELD_NAME_MAX];
    bool null;
    for (size_t i = 0; i < source->n_columns; i++)
        source->columns[i].place = UNPLACED;
    for (size_t f = 0; f < source->n_fields; f++) {
        hac_header_name(
            view,
            hac_delimited_field(&source->query->source, view, view->ends[0], f, source->n_fields, &null),
            name);
        for (size_t i = 0; i < source->n_columns; i++) {
            if (strcmp(source->columns[i].name, name) != 0)
                continue;
            if (source->columns[i].place != UNPLACED)
                return hac_fail(
                    err, HAC_INVALID,
                    "the header names two columns '%s'; rename one, or leave them out of --schema", name);
            source->columns[i].place = f;
        }
    }
    for (size_t i = 0; i < source->n_columns; i++)
        if (source->columns[i].place == UNPLACED)
            return hac_fail(err, HAC_INVALID, "the header has no column '%s'", source->columns[i].name);
    return HAC_OK;
}

static hac_status open_delimited(hac_source *source, hac_error *err)
{
    const hac_source_options *options = &source->query->source;
    hac_scan scan = hac_delimited_scan(options);
    hac_record_view view;
    if (scan.delimiter == '"' || scan.delimiter == '\n' || scan.delimiter == '\r')
        return hac_fail(err, HAC_INVALID, "a quote or an end of line cannot be the delimiter");
    hac_status status = hac_records_init(&source->records, &source->place, scan, err);
    if (status == HAC_OK)
        status = hac_source_read_header(&source->records, options->header ? &view : NULL, &source->data_start,
                                        err);
    if (status != HAC_OK)
        return status;
    source->n_fields = options->header ? view.ends[1] - view.ends[0] : source->query->schema_columns;
    source->null_bytes = strnlen(options->null_text, sizeof options->null_text);
    if (options->header)
        return match_names(source, &view, err);
    for (size_t i = 0; i < source->n_columns; i++)
        if (source->columns[i].place >= source->n_fields)
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

/* The fields as they stand. Returns whether some are empty: the loop has no branch of its own, for they are
 * short and what is decided here is decided for each of them. */
static bool raw_fields(const hac_source *source, hac_source_column *column, const hac_record_view *view,
                       const uint32_t *ordinals)
{
    const uint32_t *marks = view->marks + column->place;
    const uint8_t *data = view->data;
    hac_string_ref *refs = column->refs;
    bool last = column->place + 1 == source->n_fields, empty = false;
    for (size_t r = 0; r < source->rows; r++) {
        uint32_t begin = marks[ordinals[r]], n = marks[ordinals[r] + 1] - 1 - begin;
        refs[r] = (hac_string_ref){begin, n};
        empty |= n == 0;
    }
    for (size_t r = 0; last && r < source->rows; r++) {
        refs[r].length -= refs[r].length > 0 && data[refs[r].offset + refs[r].length - 1] == '\r';
        empty |= refs[r].length == 0;
    }
    return empty;
}

static void csv_column(const hac_source *source, hac_source_column *column, const hac_record_view *view,
                       const uint32_t *ordinals)
{
    const char *null_text = source->query->source.null_text;
    const size_t null_bytes = source->null_bytes;
    hac_string_ref *refs = column->refs;
    if (raw_fields(source, column, view, ordinals) || null_bytes > 0)
        for (size_t r = 0; r < source->rows; r++)
            if (refs[r].length == 0 || (refs[r].length == null_bytes &&
                                        memcmp(view->data + refs[r].offset, null_text, null_bytes) == 0))
                hac_source_null(column, r);
    for (size_t r = 0; view->special && r < source->rows; r++)
        if (refs[r].length > 0 && view->data[refs[r].offset] == '"')
            refs[r] = unquote(view->data, refs[r].offset, refs[r].offset + refs[r].length);
}

static void tsv_column(const hac_source *source, hac_source_column *column, const hac_record_view *view,
                       const uint32_t *ordinals)
{
    hac_string_ref *refs = column->refs;
    if (raw_fields(source, column, view, ordinals) && column->repr != HAC_REPR_STRING)
        for (size_t r = 0; r < source->rows; r++)
            if (refs[r].length == 0)
                hac_source_null(column, r);
    for (size_t r = 0; view->special && r < source->rows; r++) {
        const uint8_t *text = view->data + refs[r].offset;
        if (refs[r].length == 2 && text[0] == '\\' && text[1] == 'N')
            hac_source_null(column, r);
        else
            refs[r] = unescape(view->data, refs[r].offset, refs[r].offset + refs[r].length);
    }
}

static bool is_blank(const hac_record_view *view, size_t i)
{
    return view->ends[i + 1] - view->ends[i] == 1 &&
           field_end(view, view->ends[i], 0, 1) == view->marks[view->ends[i]];
}

/* The records that have as many fields as they should, up to one in error. Empty lines do not count where
 * there is more than one column. */
static void choose_records(hac_source *source, const hac_record_view *view, uint32_t *ordinals)
{
    size_t used = 0, rows = 0;
    for (; used < view->n; used++) {
        size_t fields = view->ends[used + 1] - view->ends[used];
        uint64_t position = view->base + view->marks[view->ends[used]];
        if (fields != source->n_fields) {
            if (is_blank(view, used) ||
                hac_source_bad_record(source, position, NULL, "%zu field%s instead of %zu", fields,
                                      fields == 1 ? "" : "s", source->n_fields))
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
    hac_record_view view;
    uint32_t ordinals[HAC_BATCH_ROWS];
    hac_status status = hac_records_next(&source->records, &view, err);
    if (status != HAC_OK)
        return status;
    choose_records(source, &view, ordinals);
    for (size_t i = 0; i < source->n_columns; i++) {
        source->columns[i].bytes = view.data;
        if (source->query->source.format == HAC_FORMAT_TSV)
            tsv_column(source, &source->columns[i], &view, ordinals);
        else
            csv_column(source, &source->columns[i], &view, ordinals);
    }
    return HAC_OK;
}

const hac_source_format hac_format_delimited = {true, open_delimited, begin_delimited, next_delimited, NULL};
