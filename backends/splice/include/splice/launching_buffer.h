/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A LaunchingBuffer: one data set as columns, the data block of the splice pipeline. The preprocessor adds
 * batches and seals it. Then it is the block as kernels read it, except for its place and the device's byte
 * order. Values are as narrow as in base/table.h. The buffer's memory is reused for later data sets.
 *
 * A sealed column of n records:
 *
 *   values      fixed width: n values; bool: a bitmap; text: n + 1 32-bit offsets into its characters
 *   validity    a bitmap, if there are nulls
 *   characters  of text
 *
 * Every part begins at a multiple of 64 bytes of the block.
 */
#ifndef SPLICE_LAUNCHING_BUFFER_H
#define SPLICE_LAUNCHING_BUFFER_H

#include "expr/column.h"
#include "expr/schema.h"

/* Kernels count a block's records and pairs in 32 bits; offsets of text are signed. */
#define HAC_BLOCK_RECORDS_MAX (UINT64_C(1) << 28)
#define HAC_BLOCK_BYTES_MAX   (UINT64_C(1) << 30)

/* A column of the block. */
typedef struct hac_block_column {
    hac_value_type type;
    uint8_t *values;   /* before sealing, bool has one byte a record */
    uint8_t *validity; /* before sealing: one hac_row_state a record */
    bool marked;       /* some values are null */
    uint8_t *characters;
    uint64_t n_characters, capacity; /* of `characters` */
} hac_block_column;

typedef struct hac_launching_buffer {
    const hac_schema *schema;   /* borrowed */
    hac_block_column *columns;  /* schema->n_fields */
    uint64_t records, capacity; /* records; capacity in records */
} hac_launching_buffer;

/* `schema` must outlive the buffer. Clear the buffer even if this fails. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_launching_buffer_init(hac_launching_buffer *buffer, const hac_schema *schema,
                                                  hac_error *err);
void hac_launching_buffer_clear(hac_launching_buffer *buffer);

/* Empties the buffer for the next data set and keeps its memory. */
void hac_launching_buffer_empty(hac_launching_buffer *buffer);
/* The memory that the buffer keeps; and frees it. */
uint64_t hac_launching_buffer_memory(const hac_launching_buffer *buffer);
void hac_launching_buffer_release(hac_launching_buffer *buffer);

/* Bytes of a batch in a block, without rounding. */
uint64_t hac_launching_buffer_batch_bytes(const hac_launching_buffer *buffer, const hac_batch *batch);
/* Adds a batch of the schema's columns. HAC_NO_MEMORY. HAC_UNSUPPORTED: the block would have more than
 * HAC_BLOCK_RECORDS_MAX records, or HAC_BLOCK_BYTES_MAX of text; nothing was added. */
HAC_MUST_USE hac_status hac_launching_buffer_add(hac_launching_buffer *buffer, const hac_batch *batch,
                                                 hac_error *err);

/* Size of the block, or its size once it is sealed. */
uint64_t hac_launching_buffer_bytes(const hac_launching_buffer *buffer);
/* Ends the data set. */
void hac_launching_buffer_seal(hac_launching_buffer *buffer);

/* Sizes of the parts of a sealed column; `validity` only exists if the column is marked. */
uint64_t hac_block_values_bytes(hac_value_type type, uint64_t records);
uint64_t hac_block_validity_bytes(uint64_t records);

#endif
