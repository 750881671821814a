/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a Parquet file sequentially, in a form that every reader supports: version 1, v1 data pages,
 * LogicalType and ConvertedType, dictionary encoding (never PLAIN_DICTIONARY) with a fallback to PLAIN within
 * a chunk, CRCs of pages, statistics of chunks, page index.
 *
 * Row groups are sized by their bytes in the file (their chunks' total_compressed_size). None is above
 * `group_bytes`, all but the last are at most 5 % below, and none crosses a multiple of `block_bytes` (zeros
 * pad the file where one would). To achieve this, rows are encoded in portions, and the last portion of a
 * group is cut where it stops fitting. Exceptions: a row larger than 5 % of `group_bytes` may leave its group
 * emptier; a row larger than `group_bytes` gets a larger group of its own; and since a page takes at least
 * about 50 bytes, groups of very many columns and few bytes (below 8 KiB a column) may stay emptier.
 *
 * Memory: the stored bytes of one row group, two portions of rows (20 480 rows, or about 16 MiB of values, or
 * one row), about 200 bytes for each page of the group, and the footer.
 *
 *   type                 stored as
 *   bool                 BOOLEAN
 *   i8 … i32, u8 … u32   INT32, INT(bits, signed)
 *   i64, u64             INT64; u64 with INT(64, unsigned)
 *   f32, f64             FLOAT, DOUBLE
 *   date                 INT32, DATE
 *   timestamp            INT64, TIMESTAMP(micros, adjusted to UTC: of timestamptz)
 *   decimal(p,s)         INT32 up to 9 digits, INT64 up to 18, else FIXED of the smallest width
 *   string               BYTE_ARRAY, STRING; without the annotation if a value is not UTF-8
 *   bytes                BYTE_ARRAY
 *
 * All columns are optional. A page has at most 20 480 rows.
 */
#ifndef PARQUET_WRITER_H
#define PARQUET_WRITER_H

#include "expr/column.h"
#include "expr/schema.h"
#include "parquet/file.h"

typedef struct hac_parquet_writer hac_parquet_writer;

/* 0: the default. */
typedef struct hac_parquet_write_options {
    uint8_t codec;        /* hac_parquet_codec: UNCOMPRESSED (the default), SNAPPY, GZIP, ZSTD, LZ4_RAW */
    uint64_t group_bytes; /* default 128 MiB; 4 KiB to 1 TiB */
    uint64_t group_rows;  /* maximum of rows in a row group; 0: no limit */
    uint64_t block_bytes; /* 0: row groups may begin anywhere; otherwise at least group_bytes */
    uint64_t page_bytes;  /* approximate uncompressed size: default 1 MiB; 64 B to 256 MiB */
    uint64_t dictionary_bytes; /* a larger dictionary is given up: default 1 MiB; at most 64 MiB */
    bool no_dictionary;
    /* threads that encode columns in parallel: default 1, at most 64. With 2 or more, they also work while
     * rows are added. */
    unsigned threads;
    /* The rows are a part of a file (parquet/join.h): only row groups are written, and the writer ends with
     * hac_parquet_writer_end_part. block_bytes is 0 then. */
    bool part;
} hac_parquet_write_options;

/* Receives the file's bytes in order. With more than one thread, another thread calls it while rows are
 * added, and its errors are returned by a later call. */
typedef hac_status (*hac_parquet_sink)(void *context, const uint8_t *data, size_t bytes, hac_error *err);

/* The columns are the first n_columns of the schema, which is copied. HAC_INVALID: wrong options or columns
 * (no column, two with the same name, a name that is not UTF-8). */
HAC_MUST_USE hac_status hac_parquet_writer_new(const hac_schema *schema, size_t n_columns,
                                               const hac_parquet_write_options *options,
                                               hac_parquet_sink sink, void *context, hac_parquet_writer **ret,
                                               hac_error *err);
void hac_parquet_writer_free(hac_parquet_writer *writer);

/* Adds up to HAC_BATCH_ROWS rows. Fails with the sink's error, with HAC_NO_MEMORY, or with HAC_FAILED, which
 * names row and column: a value has an error state, or a text is longer than 1 GiB. After a failure the
 * writer always fails, and its output is not a file. */
HAC_MUST_USE hac_status hac_parquet_writer_add(hac_parquet_writer *writer, const hac_column *columns,
                                               size_t rows, hac_error *err);

/* Writes the remaining rows and the footer; nothing can be added any more. *ret_bytes: size of the file. */
HAC_MUST_USE hac_status hac_parquet_writer_end(hac_parquet_writer *writer, uint64_t *ret_bytes,
                                               hac_error *err);

/* Likewise for a part of a file: *ret_bytes is the size of its row groups, and *ret describes them, *ret_n
 * bytes that are to be freed. */
HAC_MUST_USE hac_status hac_parquet_writer_end_part(hac_parquet_writer *writer, uint64_t *ret_bytes,
                                                    uint8_t **ret, size_t *ret_n, hac_error *err);

#endif
