/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a chunk of text that end with a newline: finds them, and where their fields are, up to
 * HAC_BATCH_ROWS at a time. A chunk owns the records that start in it, wherever they end.
 */
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
    size_t first;            /* first record that was not given out: it begins at marks[ends[first]] */
    size_t scanned;          /* bytes of the window */
    uint64_t end;            /* of the chunk */
    bool skipping;           /* in a record that belongs to the chunk before */
    bool through;            /* no record follows those that were found */
    const char *unskippable; /* after an error that skip_errors does not help with: why */
} hac_records;

/* For the records of `place`; scan->what, delimiter and special are set. */
HAC_MUST_USE hac_status hac_records_init(hac_records *records, const hac_source_place *place, hac_scan scan,
                                         hac_error *err);
void hac_records_clear(hac_records *records);

/* Begins a chunk. `whole`: a record starts at `first` for certain. */
HAC_MUST_USE hac_status hac_records_begin(hac_records *records, uint64_t first, uint64_t end,
                                          bool inside_quotes, bool whole, hac_error *err);

/* Record i begins at marks[ends[i]]; each field ends one byte before the next mark, the last one before
 * marks[ends[i + 1]]. */
typedef struct hac_record_view {
    size_t n;
    const uint32_t *ends, *marks;
    uint8_t *data;
    uint64_t base; /* where in the source data[0] is */
    bool special;  /* quotes or escapes may be in them */
} hac_record_view;

/*
 * The next records, at most HAC_BATCH_ROWS, valid until the next call; hac_records_take says how many of them
 * were used, the others come again. HAC_NOT_FOUND: no more. HAC_FAILED: the input cannot be read, a record is
 * too long, a quote stands where none may be; with the line.
 */
HAC_MUST_USE hac_status hac_records_next(hac_records *records, hac_record_view *ret, hac_error *err);
void hac_records_take(hac_records *records, size_t n);

/* The line of a byte, from 1, by counting from the source's start; 0: the source cannot be read. */
uint64_t hac_line_number(const hac_source_place *place, uint64_t position);
/* Prefixes err with "line N: " for the byte at `position`. Returns HAC_FAILED. */
HAC_MUST_USE hac_status hac_line_error(const hac_source_place *place, uint64_t position, hac_error *err);

#endif
