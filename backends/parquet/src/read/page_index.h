/* SPDX-License-Identifier: Apache-2.0 */
/* The page index of a column chunk: where its data pages are and which rows they have (offset index), and the
 * bounds of their values (column index). Both are untrusted; an index that contradicts itself or the footer
 * is ignored. Only for leaves that are not repeated. */
#ifndef PARQUET_PAGE_INDEX_H
#define PARQUET_PAGE_INDEX_H

#include "format/interval.h"
#include "format/thrift.h"

typedef struct hac_parquet_page_place {
    uint64_t offset, bytes; /* in the file, including the header; pages are consecutive in the chunk */
    uint64_t first_row;     /* in the row group; not below that of the previous page */
} hac_parquet_page_place;

/* *ret is owned, and has a page at least; the first one's first row is 0. HAC_NOT_FOUND: there is none.
 * HAC_IO, HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_parquet_page_places(const hac_parquet_file *file, size_t group, size_t leaf,
                                                hac_parquet_page_place **ret, size_t *ret_n, hac_error *err);

typedef struct hac_parquet_column_index {
    uint8_t *data; /* owned */
    size_t pages;
    hac_thrift null_pages, min, max;
    hac_thrift nulls, nans; /* at == NULL: absent */
} hac_parquet_column_index;

/* HAC_NOT_FOUND: there is none, or its number of pages is different. */
HAC_MUST_USE hac_status hac_parquet_column_index_read(const hac_parquet_file *file, size_t group, size_t leaf,
                                                      size_t pages, hac_parquet_column_index *ret,
                                                      hac_error *err);
void hac_parquet_column_index_clear(hac_parquet_column_index *index);

/* Reads the statistics of the next page, which has that many rows. False: the index is damaged from here
 * on. */
bool hac_parquet_column_index_next(hac_parquet_column_index *index, const hac_parquet_leaf *leaf,
                                   uint64_t rows, hac_parquet_interval *ret, hac_parquet_counts *ret_counts);

#endif
