/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A LaunchingBuffer: one data set as columns, flow B's data block. The preprocessor adds batches and seals
 * it; then it is the block as kernels read it, but for where it lies and for the device's byte order. Values
 * are as narrow as base/table.h has them. Its memory serves the next data set, too.
 *
 * A sealed column of n records:
 *
 *   values      fixed width: n values; bool: a bitmap; text: n + 1 offsets of 32 bits into its characters
 *   validity    a bitmap, where there are nulls
 *   characters  of text
 *
 * Every part begins at a multiple of 64 bytes of the block.
 */
#ifndef SPLICE_LAUNCHING_BUFFER_H
#define SPLICE_LAUNCHING_BUFFER_H

#include "expr/schema.h"
#include "expr/vector.h"

/* Kernels count a block's records, and pairs, in 32 bits; offsets of text have a sign. */
#define HAC_BLOCK_RECORDS_MAX (UINT64_C(1) << 28)
#define HAC_BLOCK_BYTES_MAX   (UINT64_C(1) << 30)

/* A column of the block. */
typedef struct hac_block_column {
    hac_value_type type;
    uint8_t *values;   /* until it is sealed, of bool: a byte a record */
    uint8_t *validity; /* until then: a hac_row_state a record */
    bool marked;       /* there are nulls */
    uint8_t *characters;
    uint64_t n_characters, room; /* of the characters */
} hac_block_column;

typedef struct hac_launching_buffer {
    const hac_schema *schema;  /* borrowed */
    hac_block_column *columns; /* schema->n_fields */
    uint64_t records, room;    /* room in records */
} hac_launching_buffer;

/* `schema` must outlive the buffer, which is cleared also where this fails. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_launching_buffer_init(hac_launching_buffer *buffer, const hac_schema *schema,
                                                  hac_error *err);
void hac_launching_buffer_clear(hac_launching_buffer *buffer);

/* For the next data set: keeps the memory. */
void hac_launching_buffer_empty(hac_launching_buffer *buffer);
/* Bytes of memory that it keeps; gives them back. */
uint64_t hac_launching_buffer_memory(const hac_launching_buffer *buffer);
void hac_launching_buffer_release(hac_launching_buffer *buffer);

/* Bytes that a batch takes of a block, rounding left out. */
uint64_t hac_launching_buffer_batch_bytes(const hac_launching_buffer *buffer, const hac_batch *batch);
/* Adds a batch of the schema's columns. HAC_NO_MEMORY. HAC_UNSUPPORTED: the block would have more than
 * HAC_BLOCK_RECORDS_MAX records, or HAC_BLOCK_BYTES_MAX of text; nothing was added. */
HAC_MUST_USE hac_status hac_launching_buffer_add(hac_launching_buffer *buffer, const hac_batch *batch,
                                                 hac_error *err);

/* Bytes that the block has, or will have when it is sealed. */
uint64_t hac_launching_buffer_bytes(const hac_launching_buffer *buffer);
/* The data set is through. */
void hac_launching_buffer_seal(hac_launching_buffer *buffer);

/* Bytes of the parts of a sealed column; those of `validity` are there where it is marked. */
uint64_t hac_block_values_bytes(hac_value_type type, uint64_t records);
uint64_t hac_block_validity_bytes(uint64_t records);

#endif
