/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of a column chunk, one after the other, read in windows. Bytes are copied out of the file before
 * they are looked at: a file in shared memory may change.
 */
#ifndef PARQUET_PAGES_H
#define PARQUET_PAGES_H

#include "page_header.h"
#include "parquet/column.h"

typedef struct hac_parquet_pages {
    const hac_parquet_file *file;
    const hac_parquet_chunk *chunk;
    hac_parquet_counters *counters;
    uint64_t at, end; /* of the file: the next page's header; the chunk's end */
    hac_parquet_page_header header;
    uint64_t payload;                   /* where the page's bytes are */
    const hac_parquet_chunk *announced; /* the last one the kernel was told to read ahead */
    bool looked_at;                     /* by hac_parquet_pages_stored */
    uint8_t *window; /* file bytes [first, first + bytes); HAC_PARQUET_SLACK more are readable */
    uint64_t first;
    size_t bytes, room;
} hac_parquet_pages;

void hac_parquet_pages_clear(hac_parquet_pages *pages);

/* Begins a chunk; `next` (NULL allowed) is the chunk that will be wanted after it. */
void hac_parquet_pages_begin(hac_parquet_pages *pages, const hac_parquet_chunk *chunk,
                             const hac_parquet_chunk *next);

/* The header of the next page, dictionary or data. HAC_NOT_FOUND: the chunk has no more. */
HAC_MUST_USE hac_status hac_parquet_pages_next(hac_parquet_pages *pages, hac_error *err);

/* The page's bytes as stored, their checksum compared; valid until the next call. */
HAC_MUST_USE hac_status hac_parquet_pages_stored(hac_parquet_pages *pages, const uint8_t **ret,
                                                 hac_error *err);

/* Some of those bytes, for pages that need not be had whole; no checksum is compared. They lie in the page.
 */
HAC_MUST_USE hac_status hac_parquet_pages_part(hac_parquet_pages *pages, size_t first, size_t bytes,
                                               const uint8_t **ret, hac_error *err);

#endif
