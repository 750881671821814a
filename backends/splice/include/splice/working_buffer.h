/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A WorkingBuffer: the columns of many records that a device maps at a time. The splicer copies blocks into
 * it, one after another (splice/splicer.h).
 *
 *   look-up index   one element for each block: HAC_INDEX_WORDS 64-bit words, then HAC_INDEX_COLUMN_WORDS for
 *                   each column. It says where the block and its columns' parts are, and how many records the
 *                   block has.
 *   blocks          each at a multiple of 64, laid out as in splice/launching_buffer.h
 *
 * All places are byte offsets in the buffer. A work-item finds record r of its block without a scan: through
 * the block's element, value r of the column, or offsets r and r + 1 of a text. Elements, values and offsets
 * are in the device's byte order; `places` has the same information for the host.
 *
 * Memory grows with the blocks, up to the capacity.
 */
#ifndef SPLICE_WORKING_BUFFER_H
#define SPLICE_WORKING_BUFFER_H

#include "base/table.h"
#include "splice/launching_buffer.h"
#include "splice/splicer.h"

/* Words of an element: those of the block, then those of each column, in the order of plans
 * (kernels/expr_device_ops.cl). */
enum {
    HAC_INDEX_RECORDS = 0,
    HAC_INDEX_FIRST, /* number of its first record in the buffer */
    HAC_INDEX_BLOCK, /* byte */
    HAC_INDEX_BYTES,
    HAC_INDEX_WORDS = 8
};
enum {
    HAC_INDEX_KIND = 0,
    HAC_INDEX_VALIDITY,
    HAC_INDEX_VALUES,
    HAC_INDEX_CHARACTERS,
    HAC_INDEX_N_CHARACTERS,
    HAC_INDEX_COLUMN_WORDS = 8
};

/* A data set in the buffer. */
typedef struct hac_working_block {
    uint64_t records;
    uint64_t skipped;  /* records that could not be read */
    uint64_t at, size; /* bytes */
} hac_working_block;

typedef struct hac_working_buffer {
    uint8_t *memory; /* 64-byte aligned */
    uint64_t bytes;  /* used bytes */
    uint64_t allocated;
    const hac_schema *schema; /* borrowed */
    uint64_t first_chunk;     /* data set of the first block; the following blocks have the following ones */
    uint64_t records;
    hac_working_block *blocks;
    size_t n_blocks;
    hac_table_column *places; /* schema->n_fields of each block */
    bool other_order;         /* values are stored in the byte order that is not the host's */
} hac_working_buffer;

/* Initialises the rule for buffers of at most `blocks` blocks and `bytes` bytes. One splicer serves the
 * buffers of a device in turn. HAC_INVALID. */
HAC_MUST_USE hac_status hac_working_buffer_rule(const hac_schema *schema, uint64_t blocks, uint64_t bytes,
                                                hac_splicer *ret, hac_error *err);

/* Makes an empty buffer for that rule, in the device's byte order. Clear it even if this fails.
 * HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_working_buffer_init(hac_working_buffer *buffer, const hac_schema *schema,
                                                const hac_splicer *rule, bool other_order, hac_error *err);
void hac_working_buffer_clear(hac_working_buffer *buffer);

/* Splices a sealed block, data set `chunk`, at the splicer's cursor. HAC_AGAIN: a pause: the caller triggers
 * the device on this buffer, calls hac_splicer_trigger and puts the same block into the next, empty one.
 * HAC_UNSUPPORTED: it does not fit an empty buffer. */
HAC_MUST_USE hac_status hac_working_buffer_put(hac_working_buffer *buffer, hac_splicer *splicer,
                                               const hac_launching_buffer *block, uint64_t chunk,
                                               uint64_t skipped, hac_error *err);

/* Empties the buffer after the device has mapped it. */
void hac_working_buffer_empty(hac_working_buffer *buffer);

/* The columns of block `block`, and the offset of its columns in the index. */
const hac_table_column *hac_working_buffer_columns(const hac_working_buffer *buffer, size_t block);
uint64_t hac_working_buffer_element(const hac_working_buffer *buffer, size_t block);

/* Swaps the byte order of everything once: for a device that has the host's order but is declared to have the
 * other one (profile key byte_order). */
void hac_working_buffer_turn(hac_working_buffer *buffer);

#endif
