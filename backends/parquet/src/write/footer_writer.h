/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata of row groups, collected while they are written: page indexes and the footer. */
#ifndef PARQUET_FOOTER_WRITER_H
#define PARQUET_FOOTER_WRITER_H

#include "column_writer.h"
#include "expr/schema.h"

typedef struct hac_written_chunk {
    uint64_t first_byte, first_data_page; /* in the file */
    uint64_t bytes, uncompressed, nulls;
    uint32_t plain_pages, dictionary_pages;
    bool dictionary;
    hac_min_max min_max;
    uint64_t column_index, offset_index;             /* offset in the bytes below */
    uint32_t column_index_bytes, offset_index_bytes; /* 0: there is none */
} hac_written_chunk;

typedef struct hac_footer_writer {
    hac_bytes group_rows;                     /* a uint64_t for each row group */
    hac_bytes chunks;                         /* a hac_written_chunk for each column of each row group */
    hac_bytes column_indexes, offset_indexes; /* written in this order */
} hac_footer_writer;

void hac_footer_writer_clear(hac_footer_writer *footer);

/* A sealed chunk as the footer sees it. */
typedef struct hac_chunk_facts {
    hac_stored stored;
    const hac_written_page *pages; /* offsets count from the end of the dictionary's page */
    size_t n_pages;
    uint64_t bytes, uncompressed; /* with the dictionary */
    uint64_t dictionary_bytes;    /* of its page; 0: there is no dictionary */
} hac_chunk_facts;

hac_chunk_facts hac_chunk_facts_of(const hac_column_writer *column);

/* Adds a chunk that begins at byte `first_byte` of the file. Add all columns of a row group in their order,
 * then the row group. */
HAC_MUST_USE hac_status hac_footer_add_chunk(hac_footer_writer *footer, const hac_chunk_facts *facts,
                                             uint64_t first_byte, hac_error *err);
HAC_MUST_USE hac_status hac_footer_add_group(hac_footer_writer *footer, uint64_t rows, hac_error *err);

/* Appends the rest of the file after the page indexes, which begin at byte `indexes`: metadata, its length
 * and the magic. */
HAC_MUST_USE hac_status hac_footer_write(const hac_footer_writer *footer, const hac_schema *schema,
                                         const hac_column_writer *columns, hac_parquet_codec codec,
                                         uint64_t indexes, hac_bytes *ret, hac_error *err);

#endif
