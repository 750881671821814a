/* SPDX-License-Identifier: Apache-2.0 */
/* lengths: records that begin with their length. A record consists of segments: columns of fixed width, then
 * a text with its own length. The starts of segments are found record by record; then columns are read one by
 * one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load_values.h"
#include "source_parts.h"

#define LENGTH_BYTES 4u

/* Where a column of the schema is: its segment, and its offset from the segment's start. */
typedef struct column_place {
    uint32_t segment, offset;
} column_place;

typedef struct lengths_source {
    size_t n_texts; /* texts with their own length: each segment but the last ends with one */
    bool tail;      /* the last column is text: the rest of the record */
    column_place places[HAC_COLUMNS_MAX];
    uint32_t fixed[HAC_COLUMNS_MAX + 1]; /* for each segment, bytes of its columns of fixed width */
    bool uniform;                        /* the batch's records are adjacent and have the same length */
    uint32_t ends[HAC_BATCH_ROWS];       /* ends of the batch's records in the window */
    uint32_t *starts;                    /* starts of segments: HAC_BATCH_ROWS for each segment */
} lengths_source;

/* ---- opening ---- */

static size_t count_texts(const hac_query *query)
{
    size_t n = 0;
    for (size_t i = 0; i + 1 < query->schema_columns; i++)
        n += query->widths[i] == 0;
    return n;
}

static hac_status check_columns(const hac_source *source, hac_error *err)
{
    const hac_query *query = source->query;
    if (query->widths == NULL || query->schema_columns == 0 || query->schema_columns > HAC_COLUMNS_MAX)
        return hac_fail(err, HAC_INVALID, "a record with its length in front has 1 to %d columns",
                        HAC_COLUMNS_MAX);
    for (size_t i = 0; i < source->n_columns; i++) {
        const hac_source_column *column = &source->columns[i];
        if (column->place >= query->schema_columns ||
            query->widths[column->place] != hac_value_size(column->type))
            return hac_fail(err, HAC_INVALID, "column '%s' is not in the schema", column->name);
    }
    return HAC_OK;
}

static hac_status open_lengths(hac_source *source, hac_error *err)
{
    const hac_query *query = source->query;
    hac_status status = check_columns(source, err);
    if (status != HAC_OK)
        return status;
    size_t n_texts = count_texts(query), n = query->schema_columns;
    lengths_source *l = source->state;
    l->starts = calloc((n_texts + 1) * HAC_BATCH_ROWS, sizeof *l->starts);
    if (l->starts == NULL)
        return hac_fail_no_memory(err);
    l->tail = query->widths[n - 1] == 0;
    for (size_t i = 0; i < n; i++) {
        l->places[i] = (column_place){(uint32_t)l->n_texts, l->fixed[l->n_texts]};
        l->fixed[l->n_texts] += query->widths[i];
        l->n_texts += query->widths[i] == 0 && i + 1 < n;
    }
    status = hac_window_init(&source->records.window, &source->place, err);
    source->records.window.max += LENGTH_BYTES;
    return status;
}

static void close_lengths(hac_source *source)
{
    lengths_source *l = source->state;
    free(l->starts);
}

/* ---- one record ---- */

static uint32_t load_length(const hac_source *source, const uint8_t *from)
{
    uint32_t length;
    memcpy(&length, from, sizeof length);
    return source->query->source.options.big_endian ? __builtin_bswap32(length) : length;
}

/* Finds the segments of the record [at, end); false: it does not match the schema. */
static bool find_segments(const hac_source *source, uint32_t at, uint32_t end, size_t row)
{
    lengths_source *l = source->state;
    const uint8_t *data = source->records.window.data;
    uint32_t *starts = l->starts + row;
    l->ends[row] = end;
    for (size_t i = 0; i < l->n_texts; i++, starts += HAC_BATCH_ROWS) {
        *starts = at;
        if (end - at < l->fixed[i] + LENGTH_BYTES)
            return false;
        at += l->fixed[i] + LENGTH_BYTES;
        uint32_t length = load_length(source, data + at - LENGTH_BYTES);
        if (length > end - at)
            return false;
        at += length;
    }
    *starts = at;
    return l->tail ? end - at >= l->fixed[l->n_texts] : end - at == l->fixed[l->n_texts];
}

/* The name of a column for messages; a column that the query does not read has only a number. */
static const char *column_name(const hac_source *source, size_t place, char ret[HAC_FIELD_NAME_MAX])
{
    for (size_t i = 0; i < source->n_columns; i++)
        if (source->columns[i].place == place)
            return source->columns[i].name;
    snprintf(ret, HAC_FIELD_NAME_MAX, "%zu", place + 1);
    return ret;
}

/* Reports what is wrong with a record that find_segments has refused. */
static bool bad_record(hac_source *source, uint64_t position, uint32_t at, uint32_t end)
{
    const hac_query *query = source->query;
    char name[HAC_FIELD_NAME_MAX];
    for (size_t i = 0; i < query->schema_columns; i++) {
        bool text = query->widths[i] == 0;
        uint32_t width = text ? LENGTH_BYTES : query->widths[i];
        if (text && i + 1 == query->schema_columns)
            break;
        if (end - at < width)
            return hac_source_bad_record(source, position, column_name(source, i, name),
                                         "the record ends after %u byte%s of %u%s", end - at,
                                         end - at == 1 ? "" : "s", width, text ? " (its length)" : "");
        at += width;
        if (!text)
            continue;
        uint32_t length = load_length(source, source->records.window.data + at - LENGTH_BYTES);
        if (length > end - at)
            return hac_source_bad_record(source, position, column_name(source, i, name),
                                         "the record ends after %u byte%s of %u", end - at,
                                         end - at == 1 ? "" : "s", length);
        at += length;
    }
    return hac_source_bad_record(source, position, NULL,
                                 "%u byte%s left over behind the record's last column", end - at,
                                 end - at == 1 ? " is" : "s are");
}

/* ---- the records of a batch ---- */

typedef enum found { FOUND, FOUND_NOT_WHOLE, FOUND_LOST } found;

/* Finds the record at source->next, if the window has all of it. The length is checked against the source
 * first, so that nothing is read for an impossible one. */
static found find_record(hac_source *source, uint32_t *ret_begin, uint32_t *ret_length)
{
    const hac_window *window = &source->records.window;
    uint64_t left = source->place.bytes - source->next;
    size_t at = (size_t)(source->next - window->base), have = window->bytes - at;
    if (left < LENGTH_BYTES) {
        hac_source_lost(source, source->next, "the input ends after %llu of the 4 bytes of its length",
                        (unsigned long long)left);
        return FOUND_LOST;
    }
    if (have < LENGTH_BYTES)
        return FOUND_NOT_WHOLE;
    uint32_t length = load_length(source, window->data + at);
    *ret_begin = (uint32_t)at + LENGTH_BYTES;
    *ret_length = length;
    if (length <= have - LENGTH_BYTES && length <= HAC_RECORD_MAX)
        return FOUND;
    if (length > HAC_RECORD_MAX) {
        hac_source_lost(source, source->next,
                        "its length is %u bytes, and a record has at most 64 MiB (are lengths %s-endian?)",
                        length, source->query->source.options.big_endian ? "little" : "big");
        return FOUND_LOST;
    }
    if (length > left - LENGTH_BYTES) {
        hac_source_lost(source, source->next, "its length is %u bytes, and the input ends after %llu", length,
                        (unsigned long long)(left - LENGTH_BYTES));
        return FOUND_LOST;
    }
    return FOUND_NOT_WHOLE;
}

/* Finds the records that the window has completely. Takes at least one, or moves the window. */
static hac_status find_records(hac_source *source, hac_error *err)
{
    hac_window *window = &source->records.window;
    lengths_source *l = source->state;
    const uint64_t first = source->next;
    uint32_t begin, length;
    l->uniform = true;
    while (source->rows < HAC_BATCH_ROWS && source->next < source->end) {
        uint64_t position = source->next;
        found what = find_record(source, &begin, &length);
        if (what == FOUND_LOST)
            return HAC_OK;
        if (what == FOUND_NOT_WHOLE && position != first)
            return HAC_OK;
        if (what == FOUND_NOT_WHOLE)
            return hac_window_refill(window, (size_t)(position - window->base), source->end, err);
        source->next += LENGTH_BYTES + length;
        if (!find_segments(source, begin, begin + length, source->rows)) {
            l->uniform = false;
            if (!bad_record(source, position, begin, begin + length))
                return HAC_OK;
            continue;
        }
        l->uniform = l->uniform && l->n_texts == 0 && !l->tail;
        source->starts[source->rows++] = position;
    }
    return HAC_OK;
}

/* ---- columns ---- */

static void read_text(const hac_source *source, hac_source_column *column)
{
    const lengths_source *l = source->state;
    column_place place = l->places[column->place];
    const uint32_t *starts = l->starts + place.segment * (size_t)HAC_BATCH_ROWS;
    bool tail = place.segment == l->n_texts;
    const uint32_t *ends = tail ? l->ends : starts + HAC_BATCH_ROWS;
    uint32_t skip = l->fixed[place.segment] + (tail ? 0 : LENGTH_BYTES);
    for (size_t r = 0; r < source->rows; r++)
        column->refs[r] = (hac_string_ref){starts[r] + skip, ends[r] - starts[r] - skip};
}

#define GATHER(bytes)                                                                                        \
    for (size_t r = 0; r < rows; r++)                                                                        \
        memcpy(ret + r * (bytes), from + starts[r], (bytes));

/* Copies values of `size` bytes next to each other. */
static void gather(const uint8_t *from, const uint32_t *starts, size_t size, size_t rows, uint8_t *ret)
{
    switch (size) {
    case 1:
        GATHER(1)
        break;
    case 2:
        GATHER(2)
        break;
    case 4:
        GATHER(4)
        break;
    case 8:
        GATHER(8)
        break;
    default:
        GATHER(16)
    }
}

static void read_fixed(const hac_source *source, const hac_source_column *column)
{
    const lengths_source *l = source->state;
    _Alignas(64) uint8_t gathered[HAC_BATCH_ROWS * 16];
    column_place place = l->places[column->place];
    const uint32_t *starts = l->starts + place.segment * (size_t)HAC_BATCH_ROWS;
    const uint8_t *from = source->records.window.data + place.offset;
    size_t stride = hac_value_size(column->type);
    if (l->uniform) {
        stride = l->fixed[0] + LENGTH_BYTES;
        from += starts[0];
    } else {
        gather(from, starts, stride, source->rows, gathered);
        from = gathered;
    }
    if (source->query->source.options.big_endian)
        hac_load_values_big_endian(column->type, from, stride, source->rows, column->values);
    else
        hac_load_values(column->type, from, stride, source->rows, column->values);
}

static hac_status next_lengths(hac_source *source, hac_error *err)
{
    if (source->next >= source->end)
        return HAC_NOT_FOUND;
    hac_status status = find_records(source, err);
    if (status != HAC_OK || source->rows == 0)
        return status;
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_source_column *column = &source->columns[i];
        column->bytes = source->records.window.data;
        if (column->repr == HAC_REPR_STRING)
            read_text(source, column);
        else
            read_fixed(source, column);
        hac_source_check_decimals(source, column);
    }
    return HAC_OK;
}

/* Counts the records before it, from length to length. */
static uint64_t lengths_number(hac_source *source, uint64_t position)
{
    uint64_t number = 1, at = 0;
    uint8_t length[LENGTH_BYTES];
    for (; at < position; number++) {
        if (source->place.bytes - at < LENGTH_BYTES ||
            hac_place_read(&source->place, at, length, sizeof length, NULL) != HAC_OK)
            return 0;
        at += LENGTH_BYTES + (uint64_t)load_length(source, length);
    }
    return at == position ? source->place.lines_before + number : 0;
}

const hac_source_format hac_format_lengths = {.state_bytes = sizeof(lengths_source),
                                              .open = open_lengths,
                                              .begin = hac_source_begin_whole,
                                              .next = next_lengths,
                                              .number = lengths_number,
                                              .close = close_lengths};
