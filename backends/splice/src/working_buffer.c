/* SPDX-License-Identifier: Apache-2.0 */
#include "splice/working_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

#define FIRST_BLOCKS 4 /* memory is first allocated for this many blocks of the first one's size */
#define WORD         sizeof(uint64_t)

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + HAC_ALIGNMENT - 1) / HAC_ALIGNMENT * HAC_ALIGNMENT;
}

static uint64_t element_words(const hac_schema *schema)
{
    return HAC_INDEX_WORDS + schema->n_fields * HAC_INDEX_COLUMN_WORDS;
}

hac_status hac_working_buffer_rule(const hac_schema *schema, uint64_t blocks, uint64_t bytes,
                                   hac_splicer *ret, hac_error *err)
{
    uint64_t index, capacity;
    if (__builtin_mul_overflow(blocks, element_words(schema) * WORD, &index) ||
        __builtin_add_overflow(index, bytes, &capacity))
        return hac_fail(err, HAC_INVALID, "a working buffer of %llu blocks", (unsigned long long)blocks);
    return hac_splicer_init(ret, index, capacity, blocks, err);
}

hac_status hac_working_buffer_init(hac_working_buffer *b, const hac_schema *schema, const hac_splicer *rule,
                                   bool other_order, hac_error *err)
{
    *b = (hac_working_buffer){.schema = schema, .other_order = other_order};
    b->blocks = calloc(rule->elements, sizeof *b->blocks);
    b->places = calloc(rule->elements * (schema->n_fields + 1), sizeof *b->places);
    return b->blocks != NULL && b->places != NULL ? HAC_OK : hac_fail_no_memory(err);
}

void hac_working_buffer_clear(hac_working_buffer *b)
{
    free(b->memory);
    free(b->blocks);
    free(b->places);
    *b = (hac_working_buffer){0};
}

void hac_working_buffer_empty(hac_working_buffer *b)
{
    b->n_blocks = 0;
    b->records = b->bytes = 0;
}

const hac_table_column *hac_working_buffer_columns(const hac_working_buffer *b, size_t block)
{
    return b->places + block * b->schema->n_fields;
}

uint64_t hac_working_buffer_element(const hac_working_buffer *b, size_t block)
{
    return (block * element_words(b->schema) + HAC_INDEX_WORDS) * WORD;
}

/* ---- byte order ---- */

/* Swaps values of `size` bytes; `to` may be `from`. */
static void turn(const uint8_t *from, uint64_t bytes, size_t size, uint8_t *to)
{
    for (uint64_t i = 0; size == 2 && i < bytes; i += 2) {
        uint16_t v;
        memcpy(&v, from + i, 2);
        v = __builtin_bswap16(v);
        memcpy(to + i, &v, 2);
    }
    for (uint64_t i = 0; size == 4 && i < bytes; i += 4) {
        uint32_t v;
        memcpy(&v, from + i, 4);
        v = __builtin_bswap32(v);
        memcpy(to + i, &v, 4);
    }
    for (uint64_t i = 0; size >= 8 && i < bytes; i += size) {
        uint64_t v[2] = {0, 0};
        memcpy(v, from + i, size);
        uint64_t low = __builtin_bswap64(v[0]), high = size == 16 ? __builtin_bswap64(v[1]) : low;
        memcpy(to + i, &high, 8);
        if (size == 16)
            memcpy(to + i + 8, &low, 8);
    }
}

static size_t ordered_size(hac_value_type type)
{
    if (type.kind == HAC_KIND_BOOL)
        return 1;
    return hac_kind_is_text(type.kind) ? sizeof(uint32_t) : hac_value_size(type);
}

static void copy(const hac_working_buffer *b, const uint8_t *from, uint64_t bytes, size_t size, uint64_t at)
{
    if (b->other_order && size > 1)
        turn(from, bytes, size, b->memory + at);
    else if (bytes != 0)
        memcpy(b->memory + at, from, bytes);
}

void hac_working_buffer_turn(hac_working_buffer *b)
{
    uint64_t words = element_words(b->schema) * WORD;
    for (size_t i = 0; i < b->n_blocks; i++) {
        const hac_table_column *places = hac_working_buffer_columns(b, i);
        turn(b->memory + i * words, words, WORD, b->memory + i * words);
        for (size_t c = 0; c < b->schema->n_fields; c++) {
            uint8_t *values = b->memory + places[c].values;
            size_t size = ordered_size(places[c].type);
            if (size > 1)
                turn(values, hac_block_values_bytes(places[c].type, b->blocks[i].records), size, values);
        }
    }
}

/* ---- blocks ---- */

/* Allocates memory for a block that ends at `end`; grows in large steps, since more blocks probably
 * follow. */
static hac_status grow(hac_working_buffer *b, uint64_t capacity, uint64_t end, uint64_t block, hac_error *err)
{
    if (end <= b->allocated)
        return HAC_OK;
    uint64_t allocated = b->allocated == 0 ? end + (FIRST_BLOCKS - 1) * block : 2 * b->allocated;
    allocated = rounded(allocated < end ? end : allocated > capacity ? capacity : allocated);
    uint8_t *memory = aligned_alloc(HAC_ALIGNMENT, allocated);
    if (memory == NULL)
        return hac_fail_no_memory(err);
    if (b->n_blocks != 0)
        memcpy(memory, b->memory, b->bytes);
    free(b->memory);
    b->memory = memory;
    b->allocated = allocated;
    return HAC_OK;
}

/* Places the parts of column `c` of a block; *at moves behind them. */
static void place_column(const hac_block_column *from, uint64_t records, hac_table_column *to, uint64_t *at)
{
    *to = (hac_table_column){.type = from->type, .validity = HAC_TABLE_NONE, .values = *at};
    *at += rounded(hac_block_values_bytes(from->type, records));
    if (from->marked) {
        to->validity = *at;
        *at += rounded(hac_block_validity_bytes(records));
    }
    to->bytes = hac_kind_is_text(from->type.kind) ? *at : HAC_TABLE_NONE;
    to->n_bytes = from->n_characters;
    *at += rounded(from->n_characters);
}

static void copy_column(const hac_working_buffer *b, const hac_block_column *from, uint64_t records,
                        const hac_table_column *to)
{
    copy(b, from->values, hac_block_values_bytes(from->type, records), ordered_size(from->type), to->values);
    if (from->marked)
        copy(b, from->validity, hac_block_validity_bytes(records), 1, to->validity);
    copy(b, from->characters, from->n_characters, 1, to->bytes);
}

static void write_element(hac_working_buffer *b, size_t block)
{
    const hac_working_block *w = &b->blocks[block];
    const hac_table_column *places = hac_working_buffer_columns(b, block);
    uint64_t words = element_words(b->schema);
    uint8_t *element = b->memory + block * words * WORD;
    uint64_t head[HAC_INDEX_WORDS] = {w->records, b->records, w->at, w->size};
    memcpy(element, head, sizeof head);
    for (size_t c = 0; c < b->schema->n_fields; c++) {
        bool text = hac_kind_is_text(places[c].type.kind); /* kernels treat bytes like strings */
        uint64_t column[HAC_INDEX_COLUMN_WORDS] = {text ? HAC_KIND_STRING : places[c].type.kind,
                                                   places[c].validity, places[c].values, places[c].bytes,
                                                   places[c].n_bytes};
        memcpy(element + (HAC_INDEX_WORDS + c * HAC_INDEX_COLUMN_WORDS) * WORD, column, sizeof column);
    }
    if (b->other_order)
        turn(element, words * WORD, WORD, element);
}

hac_status hac_working_buffer_put(hac_working_buffer *b, hac_splicer *splicer,
                                  const hac_launching_buffer *block, uint64_t chunk, uint64_t skipped,
                                  hac_error *err)
{
    uint64_t bytes = hac_launching_buffer_bytes(block), at;
    hac_status status = hac_splicer_put(splicer, bytes, 1, &at, err);
    if (status == HAC_OK)
        status = grow(b, splicer->capacity, at + bytes, bytes, err);
    if (status != HAC_OK)
        return status;
    if (b->n_blocks == 0)
        b->first_chunk = chunk;
    b->blocks[b->n_blocks] =
        (hac_working_block){.records = block->records, .skipped = skipped, .at = at, .size = bytes};
    hac_table_column *places = b->places + b->n_blocks * b->schema->n_fields;
    for (size_t c = 0; c < b->schema->n_fields; c++) {
        place_column(&block->columns[c], block->records, &places[c], &at);
        copy_column(b, &block->columns[c], block->records, &places[c]);
    }
    write_element(b, b->n_blocks++);
    b->records += block->records;
    b->bytes = at;
    return HAC_OK;
}
