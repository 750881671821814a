/* SPDX-License-Identifier: Apache-2.0 */
/* A ColumnChunk of a footer: where its pages are, and what of its statistics can be believed. */
#ifndef PARQUET_CHUNK_H
#define PARQUET_CHUNK_H

#include "base/arena.h"
#include "parquet/file.h"
#include "thrift.h"

#define HAC_PARQUET_CHUNK_BYTES 15 /* the shortest one that has what is required */

typedef struct hac_parquet_chunk_context {
    const hac_parquet_file *file; /* its place, leaves and created_by */
    const hac_parquet_leaf *leaf;
    uint64_t rows; /* of the row group */
    hac_arena *arena;
} hac_parquet_chunk_context;

/* Reads it; it may set t->broken. What is wrong with this chunk alone becomes ret->why, and nothing else of
 * it is believed then. */
void hac_parquet_chunk_read(hac_thrift *t, const hac_parquet_chunk_context *context, hac_parquet_chunk *ret);

#endif
