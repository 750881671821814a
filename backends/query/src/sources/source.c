/* SPDX-License-Identifier: Apache-2.0 */
#include "query/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/query_layout.h"
#include "path_values.h"
#include "source_parts.h"
#include "unnest.h"

HAC_DEFINE_CLEANUP(hac_source *, hac_source_free)

static const hac_source_format *format_of(hac_input_format format)
{
    static const hac_source_format *const formats[HAC_INPUT_END] = {
        [HAC_INPUT_TABLE] = &hac_format_table,
        [HAC_INPUT_CSV] = &hac_format_delimited,
        [HAC_INPUT_TSV] = &hac_format_delimited,
        [HAC_INPUT_JSONL] = &hac_format_jsonl,
        [HAC_INPUT_LINES] = &hac_format_lines,
        [HAC_INPUT_WORDS] = &hac_format_words,
        [HAC_INPUT_KV] = &hac_format_lines,
        [HAC_INPUT_FIXED] = &hac_format_fixed,
        [HAC_INPUT_PARQUET] = &hac_format_parquet,
        [HAC_INPUT_LENGTHS] = &hac_format_lengths,
        [HAC_INPUT_TYPEDBYTES] = &hac_format_typedbytes,
        [HAC_INPUT_CLF] = &hac_format_log_lines,
        [HAC_INPUT_LOGFMT] = &hac_format_logfmt,
        [HAC_INPUT_SYSLOG] = &hac_format_log_lines,
    };
    return format > HAC_INPUT_NONE && format < HAC_INPUT_END ? formats[format] : NULL;
}

/* Whether a batch has refs into text, which hac_source_convert turns into values. */
static bool has_text(const hac_source *source)
{
    return hac_formats[source->query->source.format].text;
}

/* Size of a column's arrays, a multiple of 64. */
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
    size_t n = hac_query_columns_in_file(query), bytes = 0;
    source->columns = calloc(n + 1, sizeof *source->columns);
    source->batch_columns = calloc(query->columns.n_fields + 1, sizeof *source->batch_columns);
    if (source->columns == NULL || source->batch_columns == NULL)
        return hac_fail_no_memory(err);
    source->n_columns = n;
    for (size_t i = 0; i < n; i++) {
        const hac_field *field = &query->columns.fields[i];
        source->columns[i] = (hac_source_column){.type = field->type,
                                                 .repr = hac_repr_of(field->type),
                                                 .inferred = field->inferred,
                                                 .lacking = field->lacking,
                                                 .member = field->member,
                                                 .part = field->part,
                                                 .argument = field->argument,
                                                 .forms = &query->source.options,
                                                 .name = field->name,
                                                 .name_bytes = strlen(field->name),
                                                 .place = query->positions[i]};
        if (!hac_value_type_valid(field->type))
            return hac_fail(err, HAC_INVALID, "column '%s' has no type", field->name);
        if (field->part == HAC_LIST_UNNEST && query->source.format != HAC_INPUT_PARQUET) {
            source->unnested = i;
            source->columns[i].type = (hac_value_type){.kind = HAC_KIND_STRING};
            source->columns[i].repr = HAC_REPR_STRING;
        }
        bytes += column_bytes(&source->columns[i], has_text(source));
    }
    uint8_t *memory = source->memory = aligned_alloc(64, bytes + 64);
    if (memory == NULL)
        return hac_fail_no_memory(err);
    memset(memory, 0, bytes + 64);
    for (size_t i = 0; i < n; i++) {
        place_arrays(&source->columns[i], has_text(source), memory);
        memory += column_bytes(&source->columns[i], has_text(source));
    }
    return HAC_OK;
}

static hac_status make_path(hac_source *source, hac_error *err)
{
    const hac_source_place *place = &source->place;
    if (source->n_columns == source->query->columns.n_fields)
        return HAC_OK;
    source->path = calloc(1, sizeof *source->path);
    if (source->path == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_path_values_init(source->query, source->path, err);
    return status == HAC_OK ? hac_path_values_set(source->path, place->path, place->path_bytes, err) : status;
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
    source->unnested = SIZE_MAX;
    source->format = format_of(query->source.format);
    if (source->format == NULL)
        return hac_fail(err, HAC_INVALID, "format %d does not exist", (int)query->source.format);
    source->state = calloc(1, source->format->state_bytes + 1);
    if (source->state == NULL)
        return hac_fail_no_memory(err);
    hac_status status = make_columns(source, err);
    if (status == HAC_OK)
        status = make_path(source, err);
    if (status == HAC_OK)
        status = source->format->open(source, err);
    if (status == HAC_OK && source->unnested != SIZE_MAX) {
        source->repeats = true;
        status = hac_unnest_new(source, source->unnested, &source->unnest, err);
    }
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
    hac_unnest_free(source->unnest);
    if (source->state != NULL && source->format->close != NULL)
        source->format->close(source);
    if (source->path != NULL)
        hac_path_values_clear(source->path);
    free(source->path);
    free(source->state);
    free(source->columns);
    free(source->batch_columns);
    free(source->memory);
    free(source);
}

hac_status hac_source_begin(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                            hac_error *err)
{
    source->rows = 0;
    source->late.code = HAC_OK;
    if (source->unnest != NULL)
        hac_unnest_reset(source->unnest);
    return source->format->begin(source, first, end, inside_quotes, err);
}

bool hac_source_take_rows(hac_source *source, uint64_t *ret_rows)
{
    if (source->query->columns.n_fields > 0 || source->query->filter != NULL ||
        source->format->take_rows == NULL)
        return false;
    *ret_rows = source->format->take_rows(source);
    return true;
}

/* Machines read whole batches, so strings behind the last row are set to empty ones. */
static void give_batch(hac_source *source, hac_batch *ret)
{
    hac_source_column *columns =
        source->unnest != NULL ? hac_unnest_columns(source->unnest) : source->columns;
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_source_column *column = &columns[i];
        source->batch_columns[i] = (hac_column){.type = column->type};
        if (column->missing)
            continue;
        if (column->repr == HAC_REPR_STRING)
            memset((hac_string_ref *)column->values + source->rows, 0,
                   (HAC_BATCH_ROWS - source->rows) * sizeof(hac_string_ref));
        source->batch_columns[i] =
            (hac_column){.type = column->type,
                         .values = column->values,
                         .states = column->marked ? column->states : NULL,
                         .bytes = column->repr == HAC_REPR_STRING ? column->bytes : NULL,
                         .dictionary = column->dictionary,
                         .codes = column->dictionary != 0 ? column->codes : NULL,
                         .entries = column->entries};
    }
    if (source->path != NULL)
        hac_path_values_give(source->path, source->batch_columns + source->n_columns);
    *ret = (hac_batch){
        .rows = source->rows, .n_columns = source->query->columns.n_fields, .columns = source->batch_columns};
}

static void clear_batch(hac_source *source)
{
    source->rows = 0;
    for (size_t i = 0; i < source->n_columns; i++) {
        source->columns[i].marked = false;
        source->columns[i].dictionary = 0;
        memset(source->columns[i].states, 0, HAC_BATCH_ROWS);
    }
}

/* Reports the postponed error. */
static hac_status report(hac_source *source, hac_error *err)
{
    char where[32];
    hac_source_name_position(source, source->late_at, where);
    return hac_fail(err, source->late.code, "%s%s", where, source->late.message);
}

/* With skip_errors, the message also says why this error could not be skipped. */
static void explain_failure(const hac_source *source, hac_error *err)
{
    if (err == NULL || !source->query->source.options.skip_errors || source->records.unskippable == NULL)
        return;
    hac_error what = *err;
    (void)!hac_fail(err, what.code, "%s; it cannot be skipped, as %s", what.message,
                    source->records.unskippable);
}

/* Reads a batch of one row at least. */
static hac_status read_batch(hac_source *source, hac_error *err)
{
    for (;;) {
        clear_batch(source);
        if (source->late.code != HAC_OK)
            return report(source, err);
        hac_status status = source->format->next(source, err);
        if (status == HAC_FAILED)
            explain_failure(source, err);
        if (status == HAC_OK && has_text(source))
            status = hac_source_convert(source, err);
        if (status != HAC_OK)
            return status;
        hac_source_drop(source);
        if (source->rows > 0)
            return HAC_OK;
    }
}

static hac_status unnest_batch(hac_source *source, hac_error *err)
{
    hac_status status = HAC_OK;
    do {
        if (!hac_unnest_has_rows(source->unnest)) {
            status = read_batch(source, err);
            if (status == HAC_OK)
                hac_unnest_take(source->unnest, source);
        }
        if (status == HAC_OK)
            status = hac_unnest_next(source->unnest, source, err);
    } while (status == HAC_OK && source->rows == 0);
    return status;
}

hac_status hac_source_next(hac_source *source, hac_batch *ret, hac_error *err)
{
    hac_status status = source->unnest != NULL ? unnest_batch(source, err) : read_batch(source, err);
    if (status == HAC_OK)
        give_batch(source, ret);
    return status;
}

bool hac_source_filtered(const hac_source *source)
{
    return source->filtered;
}

void hac_source_reads(hac_source *source, const hac_program *program)
{
    if (source->format->reads != NULL)
        source->format->reads(source, program);
}

hac_status hac_source_answer(hac_source *source, const uint8_t *wants, hac_error *err)
{
    return source->format->answer != NULL ? source->format->answer(source, wants, err) : HAC_OK;
}

bool hac_source_is_answered(const hac_source *source, size_t group)
{
    return source->format->is_answered != NULL && source->format->is_answered(source, group);
}

hac_status hac_source_next_answer(hac_source *source, hac_batch *ret, uint64_t *ret_rows, uint64_t *ret_nulls)
{
    clear_batch(source);
    if (source->format->next_answer == NULL || !source->format->next_answer(source, ret_rows, ret_nulls))
        return HAC_NOT_FOUND;
    for (size_t i = 0; source->path != NULL && i < source->path->n; i++)
        ret_nulls[source->n_columns + i] = source->path->columns[i].marked ? *ret_rows : 0;
    give_batch(source, ret);
    return HAC_OK;
}

bool hac_source_may_cut(const hac_source *source, size_t column)
{
    return column < source->n_columns && source->format->may_cut != NULL &&
           source->format->may_cut(source, column);
}

bool hac_source_rank(const hac_source *source, size_t column, bool descending, uint64_t rows,
                     hac_constant *ret, const uint8_t **ret_bytes)
{
    return column < source->n_columns && source->format->rank != NULL &&
           source->format->rank(source, column, descending, rows, ret, ret_bytes);
}

hac_status hac_source_set_cut(hac_source *source, const hac_source_cut *cut, hac_error *err)
{
    return source->format->set_cut(source, cut, err);
}

uint64_t *hac_source_numbers(hac_source *source)
{
    return source->format->want != NULL && !source->repeats ? source->starts : NULL;
}

void hac_source_want(hac_source *source, const uint64_t *numbers, size_t n)
{
    source->format->want(source, numbers, n);
}

void hac_source_count(const hac_source *source, hac_source_counters *counters)
{
    counters->skipped += source->skipped;
    if (source->format->counters != NULL)
        source->format->counters(source, counters);
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
    ret[HAC_READ_GROUPS_ANSWERED] = counters->groups_answered;
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
    hac_records_view view;
    uint64_t end;
    hac_status status = hac_records_init(&records, place, hac_delimited_scan(options), err);
    if (status == HAC_OK)
        status = hac_source_read_header(&records, &view, &end, err);
    if (status != HAC_OK)
        return status;
    return hac_delimited_names(options, &view, ret, err);
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
