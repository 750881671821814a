/* SPDX-License-Identifier: Apache-2.0 */
#include "query/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/query_layout.h"
#include "source_parts.h"

HAC_DEFINE_CLEANUP(hac_source *, hac_source_free)

static const hac_source_format *format_of(hac_format format)
{
    static const hac_source_format *const formats[HAC_FORMAT_END] = {
        [HAC_FORMAT_TABLE] = &hac_format_table,
        [HAC_FORMAT_CSV] = &hac_format_delimited,
        [HAC_FORMAT_TSV] = &hac_format_delimited,
        [HAC_FORMAT_JSONL] = &hac_format_jsonl,
        [HAC_FORMAT_LINES] = &hac_format_lines,
        [HAC_FORMAT_WORDS] = &hac_format_words,
        [HAC_FORMAT_KV] = &hac_format_lines,
        [HAC_FORMAT_FIXED] = &hac_format_fixed,
        [HAC_FORMAT_PARQUET] = &hac_format_parquet,
        [HAC_FORMAT_LENGTHS] = &hac_format_lengths,
        [HAC_FORMAT_TYPEDBYTES] = &hac_format_typedbytes,
    };
    return format > HAC_FORMAT_NONE && format < HAC_FORMAT_END ? formats[format] : NULL;
}

/* Bytes of a column's arrays, each a multiple of 64. */
static size_t column_bytes(const hac_source_column *column, bool text)
{
    size_t refs = text && column->repr != HAC_REPR_STRING ? sizeof(hac_string_ref) : 0;
    return HAC_BATCH_ROWS * (hac_repr_size(column->repr) + 1 + refs);
}

static void place_arrays(hac_source_column *column, bool text, uint8_t *memory)
{
    size_t values = HAC_BATCH_ROWS * hac_repr_size(column->repr);
    column->values = memory;
    column->states = memory + values;
    if (column->repr == HAC_REPR_STRING)
        column->refs = column->values;
    else if (text)
        column->refs = (void *)(memory + values + HAC_BATCH_ROWS);
}

static hac_status make_columns(hac_source *source, hac_error *err)
{
    const hac_query *query = source->query;
    size_t n = query->columns.n_fields, bytes = 0;
    source->columns = calloc(n + 1, sizeof *source->columns);
    source->vectors = calloc(n + 1, sizeof *source->vectors);
    if (source->columns == NULL || source->vectors == NULL)
        return hac_fail_no_memory(err);
    source->n_columns = n;
    for (size_t i = 0; i < n; i++) {
        const hac_field *field = &query->columns.fields[i];
        source->columns[i] = (hac_source_column){.type = field->type,
                                                 .repr = hac_repr_of(field->type),
                                                 .name = field->name,
                                                 .name_bytes = strlen(field->name),
                                                 .place = query->positions[i]};
        if (!hac_value_type_valid(field->type))
            return hac_fail(err, HAC_INVALID, "column '%s' has no type", field->name);
        bytes += column_bytes(&source->columns[i], source->format->text);
    }
    uint8_t *memory = source->memory = aligned_alloc(64, bytes + 64);
    if (memory == NULL)
        return hac_fail_no_memory(err);
    memset(memory, 0, bytes + 64);
    for (size_t i = 0; i < n; i++) {
        place_arrays(&source->columns[i], source->format->text, memory);
        memory += column_bytes(&source->columns[i], source->format->text);
    }
    return HAC_OK;
}

hac_status hac_source_open(const hac_query *query, const hac_source_place *place, const hac_table *table,
                           hac_source **ret, hac_error *err)
{
    hac_cleanup(hac_source_free_cleanup) hac_source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return hac_fail_no_memory(err);
    source->query = query;
    source->place = *place;
    source->table = table;
    source->format = format_of(query->source.format);
    if (source->format == NULL)
        return hac_fail(err, HAC_INVALID, "format %d does not exist", (int)query->source.format);
    hac_status status = make_columns(source, err);
    if (status == HAC_OK)
        status = source->format->open(source, err);
    if (status == HAC_OK)
        status = hac_source_begin(source, 0, 0, false, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(source);
    return status;
}

void hac_source_free(hac_source *source)
{
    if (source == NULL)
        return;
    hac_records_clear(&source->records);
    hac_parquet_source_free(source);
    hac_typed_free(source->typed);
    free(source->lengths);
    free(source->keys);
    free(source->columns);
    free(source->vectors);
    free(source->memory);
    free(source);
}

hac_status hac_source_begin(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                            hac_error *err)
{
    source->rows = 0;
    source->late.code = HAC_OK;
    return source->format->begin(source, first, end, inside_quotes, err);
}

hac_status hac_source_begin_whole(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                                  hac_error *err)
{
    (void)inside_quotes;
    if (first > 0 && !source->place.split)
        return hac_fail(
            err, HAC_INVALID,
            "an input of lengths or typedbytes cannot be cut into chunks, as records are found from "
            "its start only: read it with `hacctl splice`");
    source->end = end < source->place.bytes ? end : source->place.bytes;
    source->next = first;
    hac_window_seek(&source->records.window, first < source->end ? first : source->end);
    return HAC_OK;
}

static void fail_later(hac_source *source, uint64_t position, const char *column, const char *fmt,
                       va_list args) HAC_PRINTF(4, 0);

/* Puts an error off until the rows before it are through; where it is, is found out then. */
HAC_PRINTF(4, 0)
static void fail_later(hac_source *source, uint64_t position, const char *column, const char *fmt,
                       va_list args)
{
    char message[384];
    vsnprintf(message, sizeof message, fmt, args);
    source->late_at = position;
    hac_fail(&source->late, HAC_FAILED, "%s%s: %s", column != NULL ? ", column " : "",
             column != NULL ? column : "", message);
}

bool hac_source_bad_record(hac_source *source, uint64_t position, const char *column, const char *fmt, ...)
{
    if (source->query->source.skip_errors) {
        source->skipped++;
        return true;
    }
    va_list args;
    va_start(args, fmt);
    fail_later(source, position, column, fmt, args);
    va_end(args);
    return false;
}

void hac_source_bad_value(hac_source *source, size_t row, const hac_source_column *column, const char *fmt,
                          ...)
{
    if (source->query->source.skip_errors) {
        source->n_dropped += !source->dropped[row];
        source->dropped[row] = true;
        return;
    }
    va_list args;
    va_start(args, fmt);
    fail_later(source, source->starts[row], column->name, fmt, args);
    va_end(args);
    source->rows = row;
}

void hac_source_lost(hac_source *source, uint64_t position, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail_later(source, position, NULL, fmt, args);
    va_end(args);
    hac_error why = source->late;
    if (source->query->source.skip_errors)
        hac_fail(&source->late, HAC_FAILED, "%s" HAC_LOST_TEXT, why.message);
}

/* What lies behind the last row is read by machines that work on whole batches: empty strings. */
static void give_batch(hac_source *source, hac_batch *ret)
{
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_source_column *column = &source->columns[i];
        source->vectors[i] = (hac_vector){.type = column->type};
        if (column->missing)
            continue;
        if (column->repr == HAC_REPR_STRING)
            memset((hac_string_ref *)column->values + source->rows, 0,
                   (HAC_BATCH_ROWS - source->rows) * sizeof(hac_string_ref));
        source->vectors[i] = (hac_vector){.type = column->type,
                                          .values = column->values,
                                          .states = column->marked ? column->states : NULL,
                                          .bytes = column->repr == HAC_REPR_STRING ? column->bytes : NULL};
    }
    *ret = (hac_batch){.rows = source->rows, .n_columns = source->n_columns, .columns = source->vectors};
}

static void clear_batch(hac_source *source)
{
    source->rows = 0;
    for (size_t i = 0; i < source->n_columns; i++) {
        source->columns[i].marked = false;
        memset(source->columns[i].states, 0, HAC_BATCH_ROWS);
    }
}

static void name_position(hac_source *source, uint64_t position, char *ret)
{
    hac_format format = source->query->source.format;
    bool lines = source->format->number == NULL;
    if (format == HAC_FORMAT_TABLE || format == HAC_FORMAT_PARQUET) {
        snprintf(ret, 32, "row %llu", (unsigned long long)position + 1);
        return;
    }
    uint64_t number =
        lines ? hac_line_number(&source->place, position) : source->format->number(source, position);
    snprintf(ret, 32, "%s %llu",
             number == 0 ? "byte"
             : lines     ? "line"
                         : "record",
             (unsigned long long)(number == 0 ? position : number));
}

/* What was put off. */
static hac_status report(hac_source *source, hac_error *err)
{
    char where[32];
    name_position(source, source->late_at, where);
    return hac_fail(err, source->late.code, "%s%s", where, source->late.message);
}

/* Who asked for errors to be skipped is told why this one was not. */
static void explain_failure(const hac_source *source, hac_error *err)
{
    if (err == NULL || !source->query->source.skip_errors || source->records.unskippable == NULL)
        return;
    hac_error what = *err;
    (void)!hac_fail(err, what.code, "%s; it cannot be skipped, as %s", what.message,
                    source->records.unskippable);
}

hac_status hac_source_next(hac_source *source, hac_batch *ret, hac_error *err)
{
    for (;;) {
        clear_batch(source);
        if (source->late.code != HAC_OK)
            return report(source, err);
        hac_status status = source->format->next(source, err);
        if (status == HAC_FAILED)
            explain_failure(source, err);
        if (status == HAC_OK && source->format->text)
            status = hac_source_convert(source, err);
        if (status != HAC_OK)
            return status;
        hac_source_drop(source);
        if (source->rows > 0)
            break;
    }
    give_batch(source, ret);
    return HAC_OK;
}

void hac_source_where(hac_source *source, size_t row, char *ret)
{
    name_position(source, source->starts[row < HAC_BATCH_ROWS ? row : 0], ret);
}

uint64_t hac_source_skipped(const hac_source *source)
{
    return source->skipped;
}

hac_stage hac_source_reading(const hac_source *source)
{
    return source->records.window.reading;
}

void hac_source_put_counters(const hac_source_counters *counters, uint64_t *ret)
{
    const hac_parquet_counters *columns = &counters->columns;
    const hac_parquet_pruned *pruned = &counters->pruned;
    ret[HAC_READ_PASSED_OVER] = counters->passed_over - pruned->rows;
    ret[HAC_READ_GROUPS_BY_STATISTICS] = pruned->groups_by_statistics;
    ret[HAC_READ_GROUPS_BY_BLOOM] = pruned->groups_by_bloom;
    ret[HAC_READ_GROUPS_BY_PAGES] = pruned->groups_by_pages;
    ret[HAC_READ_ROWS_PRUNED] = pruned->rows;
    ret[HAC_READ_BYTES_PRUNED] = counters->bytes_pruned + columns->bytes_skipped;
    ret[HAC_READ_PAGES] = columns->pages - columns->pages_skipped;
    ret[HAC_READ_PAGES_SKIPPED] = columns->pages_skipped;
    ret[HAC_READ_BYTES] = columns->bytes_read;
    ret[HAC_READ_BYTES_DECOMPRESSED] = columns->bytes_decompressed;
    ret[HAC_READ_BYTES_DECODED] = columns->bytes_decoded;
    ret[HAC_READ_NS] = (uint64_t)(columns->read_seconds * 1e9);
    ret[HAC_READ_DECOMPRESS_NS] = (uint64_t)(columns->decompress_seconds * 1e9);
    ret[HAC_READ_DECODE_NS] = (uint64_t)(columns->decode_seconds * 1e9);
}

/* ---- without a source ---- */

static void clear_records(hac_records *records)
{
    hac_records_clear(records);
}

hac_status hac_source_header(const hac_source_options *options, const hac_source_place *place,
                             hac_schema *ret, hac_error *err)
{
    hac_cleanup(clear_records) hac_records records = {0};
    hac_record_view view;
    uint64_t end;
    bool null;
    hac_status status = hac_records_init(&records, place, hac_delimited_scan(options), err);
    if (status == HAC_OK)
        status = hac_source_read_header(&records, &view, &end, err);
    if (status != HAC_OK)
        return status;
    size_t n = view.ends[1] - view.ends[0];
    hac_schema schema = {.fields = calloc(n, sizeof *schema.fields), .n_fields = n};
    if (schema.fields == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        hac_header_name(&view, hac_delimited_field(options, &view, view.ends[0], i, n, &null),
                        schema.fields[i].name);
        schema.fields[i].type.kind = HAC_KIND_STRING;
    }
    *ret = schema;
    return HAC_OK;
}

#define QUOTES_BLOCK ((size_t)1 << 18)

hac_status hac_source_quotes(const hac_source_place *place, uint64_t first_byte, uint64_t end_byte,
                             uint64_t *ret, hac_error *err)
{
    const hac_scanner *scanner = hac_scanner_best();
    uint64_t end = end_byte < place->bytes ? end_byte : place->bytes, count = 0;
    if (place->fd < 0) {
        *ret = first_byte < end ? scanner->count(place->memory + first_byte, (size_t)(end - first_byte), '"')
                                : 0;
        return HAC_OK;
    }
    hac_autofree uint8_t *block = malloc(QUOTES_BLOCK);
    if (block == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t at = first_byte; at < end;) {
        size_t n = end - at < QUOTES_BLOCK ? (size_t)(end - at) : QUOTES_BLOCK;
        hac_status status = hac_place_read(place, at, block, n, err);
        if (status != HAC_OK)
            return status;
        count += scanner->count(block, n, '"');
        at += n;
    }
    *ret = count;
    return HAC_OK;
}
