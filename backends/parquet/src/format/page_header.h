/* SPDX-License-Identifier: Apache-2.0 */
/* The header before a page. Sizes are checked against each other, but not against the chunk. */
#ifndef PARQUET_PAGE_HEADER_H
#define PARQUET_PAGE_HEADER_H

#include "parquet/file.h"

/* The numbers are those of parquet.thrift. */
enum { HAC_PAGE_DATA = 0, HAC_PAGE_INDEX, HAC_PAGE_DICTIONARY, HAC_PAGE_DATA_V2 };

typedef enum hac_parquet_encoding {
    HAC_ENCODING_PLAIN = 0,
    HAC_ENCODING_PLAIN_DICTIONARY = 2,
    HAC_ENCODING_RLE,
    HAC_ENCODING_BIT_PACKED,
    HAC_ENCODING_DELTA_BINARY_PACKED,
    HAC_ENCODING_DELTA_LENGTH_BYTE_ARRAY,
    HAC_ENCODING_DELTA_BYTE_ARRAY,
    HAC_ENCODING_RLE_DICTIONARY,
    HAC_ENCODING_BYTE_STREAM_SPLIT,
} hac_parquet_encoding;

typedef struct hac_parquet_page_header {
    int32_t type;                      /* unknown types: their bytes are skipped */
    uint32_t compressed, uncompressed; /* bytes of the page, including levels */
    bool has_checksum;
    uint32_t checksum;
    uint32_t values; /* including nulls */
    int32_t encoding, definition_encoding, repetition_encoding;
    /* DATA_V2: levels come first, uncompressed */
    uint32_t repetition_bytes, definition_bytes;
    bool values_compressed;
} hac_parquet_page_header;

/* Returns NULL, or what is wrong: the header may continue behind `bytes`. */
const char *hac_parquet_page_header_read(const uint8_t *data, size_t bytes, hac_parquet_page_header *ret,
                                         size_t *ret_bytes);

#endif
