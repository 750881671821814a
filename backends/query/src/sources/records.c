/* SPDX-License-Identifier: Apache-2.0 */
#include "records.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that are scanned at a time: their marks stay in the first-level cache. */
#define SLICE     ((size_t)8192)
#define MARKS_MAX (HAC_RECORD_FIELDS_MAX + 2 * SLICE + 8 + HAC_SCAN_SPARE)
#define ENDS_MAX  (HAC_BATCH_ROWS + SLICE + 8)

hac_status hac_records_init(hac_records *records, const hac_source_place *place, hac_scan scan,
                            hac_error *err)
{
    /* a source of n bytes has at most n + 2 marks, but slices are scanned completely */
    size_t max = place->bytes < MARKS_MAX ? (size_t)place->bytes + 8 + HAC_SCAN_SPARE : MARKS_MAX;
    size_t max_ends = max < ENDS_MAX ? max : ENDS_MAX;
    *records = (hac_records){.scanner = hac_scanner_best(), .scan = scan};
    records->index.marks = malloc(max * sizeof(uint32_t));
    records->index.ends = malloc(max_ends * sizeof(uint32_t));
    if (records->index.marks == NULL || records->index.ends == NULL)
        return hac_fail_no_memory(err);
    return hac_window_init(&records->window, place, err);
}

void hac_records_clear(hac_records *records)
{
    free(records->index.marks);
    free(records->index.ends);
    hac_window_clear(&records->window);
}

/* A record begins at the window's first byte, and nothing has been scanned yet. */
static void restart_index(hac_records *records)
{
    records->index.marks[0] = 0;
    records->index.ends[0] = 0;
    records->index.n_marks = records->index.n_ends = 1;
    records->first = records->scanned = 0;
    records->scan.inside = records->scan.closed = 0;
    records->scan.opens = 1;
    records->scan.misquoted = records->scan.special_seen = false;
}

hac_status hac_records_begin(hac_records *records, uint64_t first, uint64_t end, bool inside_quotes,
                             bool whole, hac_error *err)
{
    const hac_source_place *place = records->window.place;
    records->end = end < place->bytes ? end : place->bytes;
    records->through = first >= records->end;
    records->skipping = false;
    restart_index(records);
    hac_window_seek(&records->window, first);
    if (records->through || whole)
        return HAC_OK;
    uint8_t before = 0;
    hac_status status = hac_place_read(place, first - 1, &before, 1, err);
    records->skipping = before != '\n' || inside_quotes;
    records->scan.inside = inside_quotes ? ~UINT64_C(0) : 0;
    return status;
}

/* The number of records whose newline has been found. */
static size_t found(const hac_records *records)
{
    return records->index.n_ends - 1 - records->first;
}

/* Moves the marks of unused records to the front of the index. */
static void compact_index(hac_records *records)
{
    hac_scan_index *index = &records->index;
    uint32_t dropped = index->ends[records->first];
    index->n_marks -= dropped;
    index->n_ends -= records->first;
    memmove(index->marks, index->marks + dropped, index->n_marks * sizeof *index->marks);
    for (size_t i = 0; i < index->n_ends; i++)
        index->ends[i] = index->ends[i + records->first] - dropped;
    records->first = 0;
}

/* Scans on until it has a batch or the window ends. */
static void scan_on(hac_records *records)
{
    hac_window *window = &records->window;
    if (found(records) >= HAC_BATCH_ROWS || records->scanned == window->bytes)
        return;
    compact_index(records);
    records->scan.known = window->bytes;
    while (found(records) < HAC_BATCH_ROWS && records->scanned < window->bytes &&
           records->index.n_marks <= HAC_RECORD_FIELDS_MAX + SLICE) {
        size_t left = window->bytes - records->scanned, n = left < SLICE ? left : SLICE;
        if (records->skipping && found(records) == 0)
            records->index.n_marks = 1;
        records->scanner->fields(&records->scan, window->data, records->scanned, records->scanned + n,
                                 &records->index);
        records->scanned += n;
    }
}

/* The start of the first unused record. */
static size_t first_start(const hac_records *records)
{
    return records->index.marks[records->index.ends[records->first]];
}

/* The last record of a source may have no newline: adds a mark where it would be. */
static void end_last_record(hac_records *records)
{
    hac_scan_index *index = &records->index;
    size_t bytes = records->window.bytes;
    records->through = true;
    if (index->marks[index->ends[index->n_ends - 1]] >= bytes)
        return;
    index->ends[index->n_ends++] = (uint32_t)index->n_marks;
    index->marks[index->n_marks++] = (uint32_t)bytes + 1;
    if (records->scan.inside != 0 && !records->scan.misquoted) {
        records->scan.misquoted = true;
        records->scan.misquoted_at = bytes;
    }
}

static hac_status fail_first(hac_records *records, const char *what, const char *unskippable, hac_error *err)
{
    records->unskippable = unskippable;
    uint64_t position = records->window.base + first_start(records);
    hac_fail(err, HAC_FAILED, "%s", what);
    return hac_line_error(records->window.place, position, err);
}

#define LOST "nobody can tell where the next record begins"
#define LONG "its end is not looked for any further"

/* skip_errors does not apply: after a surplus quote, the next record cannot be found. */
static hac_status fail_misquoted(hac_records *records, hac_error *err)
{
    records->unskippable = LOST;
    uint64_t position = records->window.base + records->scan.misquoted_at;
    if (records->scan.misquoted_at == records->window.bytes)
        return fail_first(records, "a quoted field that begins in this record has no closing quote", LOST,
                          err);
    hac_fail(err, HAC_FAILED,
             "a double quote inside a field: such a field must be in quotes, with each of its own "
             "quotes doubled");
    return hac_line_error(records->window.place, position, err);
}

/* The window has no complete record: reads more. */
static hac_status read_on(hac_records *records, hac_error *err)
{
    hac_window *window = &records->window;
    if (records->skipping) {
        /* no byte so far belongs to the chunk, but the state of quotes is kept */
        uint64_t inside = records->scan.inside;
        hac_status status = hac_window_refill(window, window->bytes, records->end, err);
        restart_index(records);
        records->scan.inside = inside;
        return status;
    }
    size_t start = first_start(records);
    if (records->scan.misquoted)
        return fail_misquoted(records, err);
    if (records->scanned < window->bytes)
        return fail_first(records, "a record has more than 65535 fields", LONG, err);
    if (window->bytes - start > HAC_RECORD_MAX)
        return fail_first(records,
                          records->scan.inside != 0
                              ? "a record is longer than 64 MiB: perhaps a quoted field is not closed"
                              : "a record is longer than 64 MiB",
                          LONG, err);
    hac_status status = hac_window_refill(window, start, records->end, err);
    restart_index(records);
    return status;
}

/* The record that began before the chunk ends at the first newline. Without a newline, the chunk has no
 * records. */
static void skip_first(hac_records *records)
{
    if (found(records) > 0) {
        records->first++;
        records->skipping = false;
        if (records->scan.misquoted && records->scan.misquoted_at < first_start(records))
            records->scan.misquoted = false; /* the previous chunk reports it */
    } else if (records->window.base + records->window.bytes >= records->end) {
        records->through = true;
    }
}

/* The number of scanned records that start within the chunk. */
static size_t owned(hac_records *records)
{
    const hac_scan_index *index = &records->index;
    size_t n = found(records);
    uint64_t base = records->window.base;
    if (n > HAC_BATCH_ROWS)
        n = HAC_BATCH_ROWS;
    while (n > 0 && base + index->marks[index->ends[records->first + n - 1]] >= records->end) {
        records->through = true;
        n--;
    }
    if (base + first_start(records) >= records->end)
        records->through = true;
    return n;
}

/* The first n records, up to one with a misplaced quote. */
static hac_status view(hac_records *records, size_t n, hac_records_view *ret, hac_error *err)
{
    const hac_scan_index *index = &records->index;
    if (records->scan.misquoted) {
        while (n > 0 && index->marks[index->ends[records->first + n]] > records->scan.misquoted_at)
            n--;
        if (n == 0)
            return fail_misquoted(records, err);
    }
    *ret = (hac_records_view){.n = n,
                              .ends = index->ends + records->first,
                              .marks = index->marks,
                              .data = records->window.data,
                              .base = records->window.base,
                              .special = records->scan.special_seen};
    return HAC_OK;
}

hac_status hac_records_next(hac_records *records, hac_records_view *ret, hac_error *err)
{
    for (;;) {
        bool through = records->through;
        if (!through)
            scan_on(records);
        if (records->skipping)
            skip_first(records);
        if (!through && !records->skipping && records->scanned == records->window.bytes &&
            hac_window_at_end(&records->window) && found(records) < HAC_BATCH_ROWS)
            end_last_record(records);
        size_t n = records->skipping ? 0 : owned(records);
        if (n > 0)
            return view(records, n, ret, err);
        if (records->through)
            return HAC_NOT_FOUND;
        hac_status status = read_on(records, err);
        if (status != HAC_OK)
            return status;
    }
}

void hac_records_take(hac_records *records, size_t n)
{
    records->first += n;
}

uint64_t hac_line_number(const hac_source_place *place, uint64_t position)
{
    uint8_t block[16384];
    const hac_scanner *scanner = hac_scanner_best();
    uint64_t lines = 1, at = 0;
    if (position >= place->head) { /* the header of a split is the same in all splits */
        lines += place->lines_before;
        at = place->head;
    }
    while (at < position) {
        uint64_t left = position - at;
        size_t n = left < sizeof block ? (size_t)left : sizeof block;
        if (hac_place_read(place, at, block, n, NULL) != HAC_OK)
            return 0;
        lines += scanner->count(block, n, '\n');
        at += n;
    }
    return lines;
}

hac_status hac_line_error(const hac_source_place *place, uint64_t position, hac_error *err)
{
    if (err == NULL)
        return HAC_FAILED;
    uint64_t line = hac_line_number(place, position);
    if (line > 0)
        return hac_error_prefix(err, "line %llu", (unsigned long long)line);
    return hac_error_prefix(err, "byte %llu", (unsigned long long)position);
}
