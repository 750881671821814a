/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a Parquet file, from front to end: what every reader reads. Version 1, v1 data pages, LogicalType
 * and ConvertedType, dictionary (PLAIN_DICTIONARY is never written) with a fallback to PLAIN within a chunk,
 * page CRCs, statistics of chunks, page index.
 *
 * Row groups are sized by the bytes that they take in the file: none is above `group_bytes`, all but the last
 * are at most 5 % below, and none crosses a multiple of `block_bytes` (the file is padded where one would).
 * So that this can be, rows are encoded in slabs, and the last slab of a group is cut where it stops fitting.
 *
 *   type                 stored as
 *   bool                 BOOLEAN
 *   i8 … i32, u8 … u32   INT32, INT(bits, signed)
 *   i64, u64             INT64; u64 with INT(64, unsigned)
 *   f32, f64             FLOAT, DOUBLE
 *   date                 INT32, DATE
 *   timestamp            INT64, TIMESTAMP(micros, adjusted to UTC: false)
 *   decimal(p,s)         INT32 up to 9 digits, INT64 up to 18, else FIXED of the least width
 *   string               BYTE_ARRAY, STRING; without the annotation where a value is no UTF-8
 *   bytes                BYTE_ARRAY
 */
#ifndef PARQUET_WRITER_H
#define PARQUET_WRITER_H

#include "expr/schema.h"
#include "expr/vector.h"
#include "parquet/file.h"

typedef struct hac_parquet_writer hac_parquet_writer;

/* 0: the default. */
typedef struct hac_parquet_write_options {
    uint8_t codec;        /* hac_parquet_codec: UNCOMPRESSED, SNAPPY, GZIP, ZSTD, LZ4_RAW; as it stands */
    uint64_t group_bytes; /* 128 MiB; at least 4 KiB */
    uint64_t block_bytes; /* 0: row groups may lie anywhere; at least group_bytes */
    uint64_t page_bytes;  /* uncompressed, about: 1 MiB */
    uint64_t dictionary_bytes; /* a larger one is given up: 1 MiB */
    bool no_dictionary;
    unsigned threads; /* that encode columns side by side: 1 */
} hac_parquet_write_options;

/* Takes the file's bytes in order. */
typedef hac_status (*hac_parquet_sink)(void *context, const uint8_t *data, size_t bytes, hac_error *err);

/* Columns are the first n_columns of the schema, which is copied. HAC_INVALID: the options or the columns
 * cannot be (no column, two of a name). */
HAC_MUST_USE hac_status hac_parquet_writer_new(const hac_schema *schema, size_t n_columns,
                                               const hac_parquet_write_options *options,
                                               hac_parquet_sink sink, void *context, hac_parquet_writer **ret,
                                               hac_error *err);
void hac_parquet_writer_free(hac_parquet_writer *writer);

/* Adds rows; all states are HAC_ROW_OK or HAC_ROW_NULL. What was said of a writer that has failed is not a
 * file.
 */
HAC_MUST_USE hac_status hac_parquet_writer_add(hac_parquet_writer *writer, const hac_vector *columns,
                                               size_t rows, hac_error *err);

/* Writes what is left and the footer. *ret_bytes: of the file. */
HAC_MUST_USE hac_status hac_parquet_writer_end(hac_parquet_writer *writer, uint64_t *ret_bytes,
                                               hac_error *err);

#endif
