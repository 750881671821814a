/* SPDX-License-Identifier: Apache-2.0 */
/* A ColumnChunk of a footer: where its pages are, and which of its statistics are trusted. */
#ifndef PARQUET_CHUNK_H
#define PARQUET_CHUNK_H

#include "base/arena.h"
#include "parquet/file.h"
#include "thrift.h"

#define HAC_PARQUET_CHUNK_BYTES 15 /* the shortest one with all required fields */

typedef struct hac_parquet_chunk_context {
    const hac_parquet_file *file; /* its place, leaves and created_by */
    const hac_parquet_leaf *leaf;
    uint64_t rows; /* of the row group */
    hac_arena *arena;
} hac_parquet_chunk_context;

/* Reads a chunk; may set t->broken. If only this chunk is wrong, ret->why says why, and its other data is
 * ignored. */
void hac_parquet_chunk_read(hac_thrift *t, const hac_parquet_chunk_context *context, hac_parquet_chunk *ret);

#endif
