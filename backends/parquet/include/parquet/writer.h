/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a Parquet file, from front to end: what every reader reads. Version 1, v1 data pages, LogicalType
 * and ConvertedType, dictionary (PLAIN_DICTIONARY is never written) with a fallback to PLAIN within a chunk,
 * page CRCs, statistics of chunks, page index.
 *
 * Row groups are sized by the bytes that they take in the file (their chunks' total_compressed_size): none is
 * above `group_bytes`, all but the last are at most 5 % below, and none crosses a multiple of `block_bytes`
 * (the file is padded with zeros where one would). So that this can be, rows are encoded in slabs, and the
 * last slab of a group is cut where it stops fitting. What cannot be cut so finely is the exception: a row
 * that alone takes more than 5 % of `group_bytes` may leave its group emptier, one that takes more than all
 * of it gets a group of its own, which is larger; and a page has at least some 50 bytes, so that of very many
 * columns in very small groups (below 8 KiB a column) a group may stay emptier, too.
 *
 * Memory: the bytes of one row group as stored, two slabs of rows (20 480 of them, or about 16 MiB of values,
 * or one row), about 200 bytes a page of the group, and what the footer will say.
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
 *
 * All columns are optional. A page has at most 20 480 rows.
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
    uint64_t group_bytes; /* 128 MiB; 4 KiB to 1 TiB */
    uint64_t group_rows;  /* at most so many in a row group, however small it is; 0: any number */
    uint64_t block_bytes; /* 0: row groups may lie anywhere; at least group_bytes */
    uint64_t page_bytes;  /* uncompressed, about: 1 MiB; 64 B to 256 MiB */
    uint64_t dictionary_bytes; /* a larger one is given up: 1 MiB; at most 64 MiB */
    bool no_dictionary;
    unsigned threads; /* that encode columns side by side: 1; more than 64 are as good as 64. From 2 on they
                       * do so while rows are added. */
} hac_parquet_write_options;

/* Takes the file's bytes in order. With more than one thread it is called from another one, while rows are
 * added, and its errors come with a later call. */
typedef hac_status (*hac_parquet_sink)(void *context, const uint8_t *data, size_t bytes, hac_error *err);

/* Columns are the first n_columns of the schema, which is copied. HAC_INVALID: the options or the columns
 * cannot be (no column, two of a name, a name that is not UTF-8). */
HAC_MUST_USE hac_status hac_parquet_writer_new(const hac_schema *schema, size_t n_columns,
                                               const hac_parquet_write_options *options,
                                               hac_parquet_sink sink, void *context, hac_parquet_writer **ret,
                                               hac_error *err);
void hac_parquet_writer_free(hac_parquet_writer *writer);

/* Adds up to HAC_BATCH_ROWS rows. Fails with what the sink said; HAC_NO_MEMORY; HAC_FAILED, naming row and
 * column: a value that has an error for a state, or a text above 1 GiB. A writer that has failed stays so,
 * and what it has written is not a file. */
HAC_MUST_USE hac_status hac_parquet_writer_add(hac_parquet_writer *writer, const hac_vector *columns,
                                               size_t rows, hac_error *err);

/* Writes what is left and the footer; nothing can be added any more. *ret_bytes: of the file. */
HAC_MUST_USE hac_status hac_parquet_writer_end(hac_parquet_writer *writer, uint64_t *ret_bytes,
                                               hac_error *err);

#endif
