/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines, kv and words; and what all formats share whose records are lines. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "source_parts.h"

/* ---- records that are lines ---- */

hac_status hac_source_open_lines(hac_source *source, hac_error *err)
{
    hac_status status =
        hac_records_init(&source->records, &source->place, (hac_scan){.what = HAC_SCAN_LINES}, err);
    return status == HAC_OK ? hac_source_read_header(&source->records, NULL, &source->data_start, err)
                            : status;
}

hac_status hac_source_begin_lines(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                                  hac_error *err)
{
    (void)inside_quotes; /* a quote does not hide the end of a line */
    uint64_t start = source->data_start;
    return hac_records_begin(&source->records, first < start ? start : first, end, false,
                             source->place.split || first <= start, err);
}

static void clear_records(hac_records *records)
{
    hac_records_clear(records);
}

hac_status hac_source_line_names(const hac_source_options *options, const hac_source_place *place,
                                 uint64_t sample, hac_source_note *note, hac_schema *ret, hac_error *err)
{
    hac_cleanup(clear_records) hac_records records = {0};
    hac_schema schema = {.fields = calloc(HAC_COLUMNS_MAX, sizeof *schema.fields)};
    uint64_t start;
    if (schema.fields == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_records_init(&records, place, (hac_scan){.what = HAC_SCAN_LINES}, err);
    if (status == HAC_OK)
        status = hac_source_read_header(&records, NULL, &start, err);
    if (status == HAC_OK)
        status = hac_records_begin(&records, start, place->bytes, false, true, err);
    if (status == HAC_OK)
        status = note(options, &records, sample, &schema, err);
    if (status != HAC_OK) {
        hac_schema_clear(&schema);
        return status;
    }
    *ret = schema;
    return HAC_OK;
}

/* ---- lines, kv ---- */

static hac_status check_places(const hac_source *source, size_t n, hac_error *err)
{
    for (size_t i = 0; i < source->n_columns; i++)
        if (source->columns[i].place >= n)
            return hac_fail(err, HAC_INVALID, "there is no column '%s': this format has %s",
                            source->columns[i].name, n == 1 ? "one" : "key and value");
    return HAC_OK;
}

/* Opens a source of lines or words with `n_columns` columns. */
static hac_status open_text(hac_source *source, size_t n_columns, hac_error *err)
{
    hac_status status = check_places(source, n_columns, err);
    return status == HAC_OK ? hac_source_open_lines(source, err) : status;
}

static hac_status open_lines(hac_source *source, hac_error *err)
{
    return open_text(source, source->query->source.format == HAC_INPUT_KV ? 2 : 1, err);
}

static inline hac_string_ref line_of(const hac_records_view *view, size_t i)
{
    uint32_t begin = view->marks[view->ends[i]], end = view->marks[view->ends[i + 1]] - 1;
    if (end > begin && view->data[end - 1] == '\r')
        end--;
    return (hac_string_ref){begin, end - begin};
}

/* Splits a line at its first TAB; a line without one has no value. */
static void kv_column(hac_source_column *column, const hac_records_view *view, size_t row,
                      hac_string_ref line)
{
    const uint8_t *begin = view->data + line.offset, *tab = memchr(begin, '\t', line.length);
    uint32_t key = tab != NULL ? (uint32_t)(tab - begin) : line.length;
    if (column->place == 0)
        column->refs[row] = (hac_string_ref){line.offset, key};
    else if (tab != NULL)
        column->refs[row] = (hac_string_ref){line.offset + key + 1, line.length - key - 1};
    else
        hac_source_null(column, row);
}

static hac_status next_lines(hac_source *source, hac_error *err)
{
    hac_records_view view;
    hac_status status = hac_records_next(&source->records, &view, err);
    if (status != HAC_OK)
        return status;
    for (size_t r = 0; r < view.n; r++)
        source->starts[r] = view.base + view.marks[view.ends[r]];
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_source_column *column = &source->columns[i];
        column->bytes = view.data;
        for (size_t r = 0; r < view.n; r++)
            if (source->query->source.format == HAC_INPUT_KV)
                kv_column(column, &view, r, line_of(&view, r));
            else
                column->refs[r] = line_of(&view, r);
    }
    source->rows = view.n;
    hac_records_take(&source->records, view.n);
    return HAC_OK;
}

const hac_source_format hac_format_lines = {
    .open = open_lines, .begin = hac_source_begin_lines, .next = next_lines};

/* ---- words ---- */

/* The index of marks alternates: the start of a word, its end, from marks[first] on. `skipping` means that
 * the chunk began inside a word, which belongs to the previous chunk. */
#define SLICE ((size_t)8192)

static hac_status open_words(hac_source *source, hac_error *err)
{
    return open_text(source, 1, err);
}

static bool is_separator(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static hac_status begin_words(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                              hac_error *err)
{
    (void)inside_quotes;
    hac_records *words = &source->records;
    uint8_t before = ' ';
    hac_status status = HAC_OK;
    first = first < source->data_start ? source->data_start : first;
    words->end = end < source->place.bytes ? end : source->place.bytes;
    words->through = first >= words->end;
    words->first = words->scanned = words->index.n_marks = 0;
    hac_window_seek(&words->window, first);
    if (first > source->data_start && !words->through)
        status = hac_place_read(&source->place, first - 1, &before, 1, err);
    words->skipping = !is_separator(before);
    words->scan.inside = words->skipping;
    return status;
}

static size_t turns(const hac_records *words)
{
    return words->index.n_marks - words->first;
}

/* Scans until it has a batch of words or the window ends. */
static void scan_words(hac_records *words)
{
    hac_window *window = &words->window;
    if (turns(words) > 2 * HAC_BATCH_ROWS || words->scanned == window->bytes)
        return;
    memmove(words->index.marks, words->index.marks + words->first, turns(words) * sizeof *words->index.marks);
    words->index.n_marks = turns(words);
    words->first = 0;
    while (turns(words) <= 2 * HAC_BATCH_ROWS && words->scanned < window->bytes) {
        size_t left = window->bytes - words->scanned, n = left < SLICE ? left : SLICE;
        words->scanner->words(window->data, words->scanned, words->scanned + n, &words->scan.inside,
                              &words->index);
        words->scanned += n;
    }
    if (words->skipping && turns(words) > 0) {
        words->first = 1; /* the end of a word of the previous chunk */
        words->skipping = false;
    }
}

/* The number of scanned words that start within the chunk, at most a batch. */
static size_t owned_words(hac_records *words)
{
    const uint32_t *marks = words->index.marks + words->first;
    size_t n = turns(words) / 2;
    if (turns(words) > 0 && words->window.base + marks[0] >= words->end)
        words->through = true;
    if (n > HAC_BATCH_ROWS)
        n = HAC_BATCH_ROWS;
    while (n > 0 && words->window.base + marks[2 * (n - 1)] >= words->end) {
        words->through = true;
        n--;
    }
    return n;
}

static hac_status read_words(hac_source *source, hac_error *err)
{
    hac_records *words = &source->records;
    hac_window *window = &words->window;
    bool begun = turns(words) > 0;
    size_t start = begun ? words->index.marks[words->first] : window->bytes;
    if (window->bytes - start > HAC_RECORD_MAX) {
        uint64_t position = window->base + start;
        words->unskippable = "its end is not looked for any further";
        hac_fail(err, HAC_FAILED, "a word is longer than 64 MiB");
        return hac_line_error(&source->place, position, err);
    }
    if (window->base + start >= words->end) {
        words->through = true;
        return HAC_OK;
    }
    hac_status status = hac_window_refill(window, start, words->end, err);
    words->first = words->scanned = words->index.n_marks = 0;
    words->scan.inside = words->skipping; /* a word that has begun will be found again */
    return status;
}

static void give_words(hac_source *source, size_t n)
{
    hac_records *words = &source->records;
    const uint32_t *marks = words->index.marks + words->first;
    for (size_t r = 0; r < n; r++)
        source->starts[r] = words->window.base + marks[2 * r];
    for (size_t i = 0; i < source->n_columns; i++) {
        source->columns[i].bytes = words->window.data;
        for (size_t r = 0; r < n; r++)
            source->columns[i].refs[r] = (hac_string_ref){marks[2 * r], marks[2 * r + 1] - marks[2 * r]};
    }
    source->rows = n;
    words->first += 2 * n;
}

static hac_status next_words(hac_source *source, hac_error *err)
{
    hac_records *words = &source->records;
    while (!words->through || turns(words) >= 2) {
        bool through = words->through;
        if (!through)
            scan_words(words);
        bool last = words->scanned == words->window.bytes && hac_window_at_end(&words->window);
        if (last && turns(words) % 2 == 1 && !through)
            words->index.marks[words->index.n_marks++] = (uint32_t)words->window.bytes;
        size_t n = owned_words(words);
        if (n > 0) {
            give_words(source, n);
            return HAC_OK;
        }
        if (words->through || last)
            break;
        hac_status status = read_words(source, err);
        if (status != HAC_OK)
            return status;
    }
    words->through = true;
    words->first = words->index.n_marks;
    return HAC_NOT_FOUND;
}

const hac_source_format hac_format_words = {.open = open_words, .begin = begin_words, .next = next_words};
