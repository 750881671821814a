/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A WorkingBuffer: what a device maps at a time, columns of many records. The splicer copies blocks into it,
 * one behind the other (splice/splicer.h).
 *
 *   look-up index   an element a block, HAC_INDEX_WORDS 64-bit words and HAC_INDEX_COLUMN_WORDS for each
 *                   column: where the block is, how many records it has, where its columns' parts are.
 *   blocks          each at a multiple of 64, laid out as splice/launching_buffer.h has it
 *
 * All places are bytes from the buffer's front. A work-item finds record r of its block without a scan: by
 * the element of the block, value r of the column, or offsets r and r + 1 of a text, which are the block's
 * index of records. Elements, values and offsets are in the device's byte order, so that it never reads a
 * high byte as a low one; `places` has the same for the host.
 *
 * Memory grows with what is spliced, up to the capacity.
 */
#ifndef SPLICE_WORKING_BUFFER_H
#define SPLICE_WORKING_BUFFER_H

#include "base/table.h"
#include "splice/launching_buffer.h"
#include "splice/splicer.h"

/* Words of an element: of the block, then of each column as plans have them (kernels/expr_device_ops.cl). */
enum {
    HAC_INDEX_RECORDS = 0,
    HAC_INDEX_FIRST, /* number of its first record among the buffer's */
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
    uint64_t bytes;  /* in use */
    uint64_t room;
    const hac_schema *schema; /* borrowed */
    uint64_t first_chunk;     /* number of the first block's data set; the others' follow */
    uint64_t records;
    hac_working_block *blocks;
    size_t n_blocks;
    hac_table_column *places; /* schema->n_fields of each block */
    bool other_order;         /* multi-byte values are stored in the order that is not the host's */
} hac_working_buffer;

/* The rule for buffers of at most `blocks` blocks of `bytes` together. One splicer serves the buffers of a
 * device in turn. HAC_INVALID. */
HAC_MUST_USE hac_status hac_working_buffer_rule(const hac_schema *schema, uint64_t blocks, uint64_t bytes,
                                                hac_splicer *ret, hac_error *err);

/* An empty buffer for that rule, of the device's byte order. It is to be cleared also where this fails.
 * HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_working_buffer_init(hac_working_buffer *buffer, const hac_schema *schema,
                                                const hac_splicer *rule, bool other_order, hac_error *err);
void hac_working_buffer_clear(hac_working_buffer *buffer);

/*
 * Splices a sealed block, of data set `chunk`, at the splicer's cursor. HAC_AGAIN: a pause. The caller
 * triggers the device on this buffer, calls hac_splicer_trigger and puts the same block into the next, empty
 * one. HAC_UNSUPPORTED: it fits no empty buffer.
 */
HAC_MUST_USE hac_status hac_working_buffer_put(hac_working_buffer *buffer, hac_splicer *splicer,
                                               const hac_launching_buffer *block, uint64_t chunk,
                                               uint64_t skipped, hac_error *err);

/* The device is through with it. */
void hac_working_buffer_empty(hac_working_buffer *buffer);

/* Columns of block `block`, and the byte of its element's columns in the index. */
const hac_table_column *hac_working_buffer_columns(const hac_working_buffer *buffer, size_t block);
uint64_t hac_working_buffer_element(const hac_working_buffer *buffer, size_t block);

/* Turns all that has an order, once: what the loads of a device of the other order do, for one that is only
 * said to be (profile key byte_order). */
void hac_working_buffer_turn(hac_working_buffer *buffer);

#endif
