/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the pages of a column chunk in order, in windows of the file. Bytes are copied before they are
 * checked: a file in shared memory may change. */
#ifndef PARQUET_PAGES_H
#define PARQUET_PAGES_H

#include "format/page_header.h"
#include "parquet/column.h"

typedef struct hac_parquet_pages {
    const hac_parquet_file *file;
    const hac_parquet_chunk *chunk;
    hac_parquet_counters *counters;
    uint64_t at, end; /* offsets in the file: the next page's header; the chunk's end */
    hac_parquet_page_header header;
    uint64_t payload;                   /* offset of the page's bytes */
    const hac_parquet_chunk *announced; /* the last chunk that the kernel was told to read ahead */
    bool looked_at;                     /* by hac_parquet_pages_stored */
    uint8_t *window; /* file bytes [first, first + bytes); HAC_PARQUET_SLACK more are readable */
    uint64_t first;
    size_t bytes, capacity;
} hac_parquet_pages;

void hac_parquet_pages_clear(hac_parquet_pages *pages);

/* Begins a chunk; `next` (may be NULL) is the chunk that will be read after it. */
void hac_parquet_pages_begin(hac_parquet_pages *pages, const hac_parquet_chunk *chunk,
                             const hac_parquet_chunk *next);

/* Reads the header of the next page, dictionary or data. HAC_NOT_FOUND: the chunk has no more. */
HAC_MUST_USE hac_status hac_parquet_pages_next(hac_parquet_pages *pages, hac_error *err);

/* Reads the page's stored bytes and checks their CRC; valid until the next call. */
HAC_MUST_USE hac_status hac_parquet_pages_stored(hac_parquet_pages *pages, const uint8_t **ret,
                                                 hac_error *err);

/* Reads a part of the page's bytes, without checking the CRC. */
HAC_MUST_USE hac_status hac_parquet_pages_part(hac_parquet_pages *pages, size_t first, size_t bytes,
                                               const uint8_t **ret, hac_error *err);

/* Replaces what `memory` (may be NULL) has counted for one holder, *counted, by `held` bytes, of which the
 * first HAC_PARQUET_COLUMN_BYTES are free. HAC_FAILED: above the limit. */
HAC_MUST_USE hac_status hac_parquet_memory_count(hac_parquet_memory *memory, uint64_t *counted, uint64_t held,
                                                 hac_error *err);
/* Forgets what was counted for a holder. */
void hac_parquet_memory_leave(hac_parquet_memory *memory, uint64_t counted);

#endif
