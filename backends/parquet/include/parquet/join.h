/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins parts of a Parquet file, which writers have written by themselves (hac_parquet_write_options.part),
 * to the file. A joiner places the row groups of all parts one after the other, such that none crosses a
 * multiple of the block size, and makes the footer. It does not touch the bytes of row groups, so whoever has
 * them copies them, piece by piece.
 *
 * The file: "PAR1", the row groups at their positions with zeros between them, the footer.
 */
#ifndef PARQUET_JOIN_H
#define PARQUET_JOIN_H

#include "expr/schema.h"
#include "parquet/file.h"

typedef struct hac_parquet_join hac_parquet_join;

typedef struct hac_parquet_join_group {
    uint64_t part;          /* number of the part */
    uint64_t offset, bytes; /* in the part */
    uint64_t position;      /* in the file */
    uint64_t rows, facts;   /* facts: where its chunks are described */
} hac_parquet_join_group;

/* The columns are the first n_columns of the schema, which is borrowed. block_bytes 0: row groups may cross
 * any byte. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_parquet_join_new(const hac_schema *schema, size_t n_columns, uint64_t block_bytes,
                                             hac_parquet_join **ret, hac_error *err);
void hac_parquet_join_free(hac_parquet_join *join);

/* Adds the next part, of `bytes` bytes; `described` is what hac_parquet_writer_end_part returned, and is
 * copied. HAC_INVALID: it was not written by such a writer. */
HAC_MUST_USE hac_status hac_parquet_join_add(hac_parquet_join *join, uint64_t bytes, const uint8_t *described,
                                             uint64_t described_bytes, hac_error *err);

/* All row groups so far, in the order of the file. */
const hac_parquet_join_group *hac_parquet_join_groups(const hac_parquet_join *join, size_t *ret_n);

/* Where the footer begins. */
uint64_t hac_parquet_join_end(const hac_parquet_join *join);

/* Makes the footer; *ret is to be freed. */
HAC_MUST_USE hac_status hac_parquet_join_footer(hac_parquet_join *join, hac_parquet_codec codec,
                                                uint8_t **ret, size_t *ret_n, hac_error *err);

#endif
