/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the records of a chunk of text, which end with a newline, and their fields, up to HAC_BATCH_ROWS
 * records at a time. A chunk owns the records that start in it, wherever they end. */
#ifndef QUERY_RECORDS_H
#define QUERY_RECORDS_H

#include "scan.h"
#include "window.h"

#define HAC_RECORD_FIELDS_MAX 65535

typedef struct hac_records {
    hac_window window;
    const hac_scanner *scanner;
    hac_scan scan;
    hac_scan_index index;
    size_t first;            /* first unused record, which begins at marks[ends[first]] */
    size_t scanned;          /* bytes of the window that have been scanned */
    uint64_t end;            /* end of the chunk */
    bool skipping;           /* inside a record of the previous chunk */
    bool through;            /* the last record has been found */
    const char *unskippable; /* after an error that skip_errors cannot skip: the reason */
} hac_records;

/* Begins reading records of `place`; the caller has set scan->what, delimiter and special. */
HAC_MUST_USE hac_status hac_records_init(hac_records *records, const hac_source_place *place, hac_scan scan,
                                         hac_error *err);
void hac_records_clear(hac_records *records);

/* Begins a chunk. `whole`: a record is known to start at `first`. */
HAC_MUST_USE hac_status hac_records_begin(hac_records *records, uint64_t first, uint64_t end,
                                          bool inside_quotes, bool whole, hac_error *err);

/* Record i begins at marks[ends[i]]. Each field ends one byte before the next mark, the last one before
 * marks[ends[i + 1]]. */
typedef struct hac_records_view {
    size_t n;
    const uint32_t *ends, *marks;
    uint8_t *data;
    uint64_t base; /* offset of data[0] in the source */
    bool special;  /* the records may have quotes or escapes */
} hac_records_view;

/* Returns the next records, at most HAC_BATCH_ROWS, valid until the next call. hac_records_take says how many
 * were used; the others are returned again. HAC_NOT_FOUND: no more. HAC_FAILED: the input cannot be read, a
 * record is too long, or a quote is misplaced; the message names the line. */
HAC_MUST_USE hac_status hac_records_next(hac_records *records, hac_records_view *ret, hac_error *err);
void hac_records_take(hac_records *records, size_t n);

/* The line of a byte, counted from 1 by reading the source from its start; 0: the source cannot be read. */
uint64_t hac_line_number(const hac_source_place *place, uint64_t position);
/* Prefixes err with "line N: " for the byte at `position`. Returns HAC_FAILED. */
HAC_MUST_USE hac_status hac_line_error(const hac_source_place *place, uint64_t position, hac_error *err);

#endif
