/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of row groups, collected as they are written: page indexes and the footer. */
#ifndef PARQUET_FOOTER_WRITER_H
#define PARQUET_FOOTER_WRITER_H

#include "column_writer.h"
#include "expr/schema.h"

typedef struct hac_written_chunk {
    uint64_t first_byte, first_data_page; /* in the file */
    uint64_t bytes, uncompressed, nulls;
    uint32_t plain_pages, dictionary_pages;
    bool dictionary;
    hac_extremes extremes;
    uint64_t column_index, offset_index;             /* in the bytes below */
    uint32_t column_index_bytes, offset_index_bytes; /* 0: there is none */
} hac_written_chunk;

typedef struct hac_footer_writer {
    hac_bytes group_rows;                     /* a uint64_t a row group */
    hac_bytes chunks;                         /* a hac_written_chunk a column and row group */
    hac_bytes column_indexes, offset_indexes; /* to be written in this order */
} hac_footer_writer;

void hac_footer_writer_clear(hac_footer_writer *footer);

/* Adds the chunk of a column, which is sealed and lies at `first_byte` of the file; all of a row group's
 * columns in their order, then the row group. */
HAC_MUST_USE hac_status hac_footer_add_chunk(hac_footer_writer *footer, const hac_column_writer *column,
                                             uint64_t first_byte, hac_error *err);
HAC_MUST_USE hac_status hac_footer_add_group(hac_footer_writer *footer, uint64_t rows, hac_error *err);

/* Appends what follows the page indexes, which begin at byte `indexes` of the file: metadata, their length
 * and the magic. */
HAC_MUST_USE hac_status hac_footer_write(const hac_footer_writer *footer, const hac_schema *schema,
                                         const hac_column_writer *columns, hac_parquet_codec codec,
                                         uint64_t indexes, hac_bytes *ret, hac_error *err);

#endif
