/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of parquet.thrift that pages need. */
#ifndef PARQUET_PAGE_FORMAT_H
#define PARQUET_PAGE_FORMAT_H

typedef enum hac_page_type {
    HAC_PAGE_DATA = 0,
    HAC_PAGE_INDEX = 1,
    HAC_PAGE_DICTIONARY = 2,
    HAC_PAGE_DATA_V2 = 3,
} hac_page_type;

typedef enum hac_encoding {
    HAC_ENCODING_PLAIN = 0,
    HAC_ENCODING_PLAIN_DICTIONARY = 2,
    HAC_ENCODING_RLE = 3,
    HAC_ENCODING_BIT_PACKED = 4,
    HAC_ENCODING_DELTA_BINARY_PACKED = 5,
    HAC_ENCODING_DELTA_LENGTH_BYTE_ARRAY = 6,
    HAC_ENCODING_DELTA_BYTE_ARRAY = 7,
    HAC_ENCODING_RLE_DICTIONARY = 8,
    HAC_ENCODING_BYTE_STREAM_SPLIT = 9,
} hac_encoding;

#endif
