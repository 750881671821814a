/* SPDX-License-Identifier: Apache-2.0 */
#include "splice/launching_buffer.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY (UINT64_C(8) * HAC_BATCH_ROWS) /* records */

/* Size of a record's value before and after sealing. */
static size_t value_bytes(hac_value_type type)
{
    return hac_kind_is_text(type.kind) ? sizeof(uint32_t) : hac_value_size(type);
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

hac_status hac_launching_buffer_init(hac_launching_buffer *b, const hac_schema *schema, hac_error *err)
{
    *b = (hac_launching_buffer){.schema = schema};
    b->columns = calloc(schema->n_fields + 1, sizeof *b->columns);
    if (b->columns == NULL)
        return hac_fail_no_memory(err);
    for (size_t c = 0; c < schema->n_fields; c++)
        b->columns[c].type = schema->fields[c].type;
    return HAC_OK;
}

void hac_launching_buffer_release(hac_launching_buffer *b)
{
    for (size_t c = 0; b->columns != NULL && c < b->schema->n_fields; c++) {
        hac_block_column *column = &b->columns[c];
        free(column->values);
        free(column->validity);
        free(column->characters);
        *column = (hac_block_column){.type = column->type};
    }
    b->records = b->capacity = 0;
}

void hac_launching_buffer_clear(hac_launching_buffer *b)
{
    hac_launching_buffer_release(b);
    free(b->columns);
    b->columns = NULL;
}

void hac_launching_buffer_empty(hac_launching_buffer *b)
{
    b->records = 0;
    for (size_t c = 0; c < b->schema->n_fields; c++) {
        b->columns[c].marked = false;
        b->columns[c].n_characters = 0;
    }
}

uint64_t hac_launching_buffer_memory(const hac_launching_buffer *b)
{
    uint64_t bytes = 0;
    for (size_t c = 0; c < b->schema->n_fields; c++)
        bytes += b->capacity * (value_bytes(b->columns[c].type) + 1) + b->columns[c].capacity;
    return bytes;
}

/* ---- records added ---- */

static hac_status reserve(uint8_t **memory, uint64_t bytes, hac_error *err)
{
    uint8_t *larger = realloc(*memory, bytes);
    if (larger == NULL)
        return hac_fail_no_memory(err);
    *memory = larger;
    return HAC_OK;
}

/* One more than requested: text has an additional offset; bitmaps are made in place. */
static hac_status reserve_records(hac_launching_buffer *b, uint64_t records, hac_error *err)
{
    if (b->records + records <= b->capacity)
        return HAC_OK;
    uint64_t capacity = b->capacity == 0 ? FIRST_CAPACITY : 2 * b->capacity;
    hac_status status = HAC_OK;
    for (size_t c = 0; status == HAC_OK && c < b->schema->n_fields; c++) {
        hac_block_column *to = &b->columns[c];
        status = reserve(&to->values, (capacity + 1) * value_bytes(to->type), err);
        if (status == HAC_OK)
            status = reserve(&to->validity, capacity, err);
    }
    if (status == HAC_OK)
        b->capacity = capacity;
    return status;
}

/* Copies the low bytes of each value: representations are wider than types (little-endian). */
static void narrow(hac_value_type type, const void *from, size_t rows, uint8_t *to)
{
    size_t size = hac_value_size(type), stored = hac_repr_size(hac_repr_of(type));
    const uint64_t *words = from;
    if (size == stored)
        memcpy(to, from, rows * size);
    else if (size == 4)
        for (size_t i = 0; i < rows; i++)
            ((uint32_t *)(void *)to)[i] = (uint32_t)words[i];
    else if (size == 2)
        for (size_t i = 0; i < rows; i++)
            ((uint16_t *)(void *)to)[i] = (uint16_t)words[i];
    else
        for (size_t i = 0; i < rows; i++)
            to[i] = (uint8_t)words[i];
}

static hac_status reserve_characters(hac_block_column *to, uint64_t bytes, hac_error *err)
{
    if (bytes <= to->capacity - to->n_characters)
        return HAC_OK;
    uint64_t capacity =
        2 * to->capacity > to->n_characters + bytes ? 2 * to->capacity : to->n_characters + bytes;
    hac_status status = reserve(&to->characters, capacity, err);
    if (status == HAC_OK)
        to->capacity = capacity;
    return status;
}

static void add_strings(hac_block_column *to, uint64_t first, const hac_column *v, size_t rows)
{
    const hac_string_ref *refs = v->values;
    uint32_t *offsets = (uint32_t *)(void *)to->values + first;
    uint64_t at = to->n_characters;
    offsets[0] = (uint32_t)at;
    for (size_t i = 0; i < rows; i++) {
        uint32_t n = v->states != NULL && v->states[i] != HAC_ROW_OK ? 0 : refs[i].length;
        if (n != 0)
            memcpy(to->characters + at, v->bytes + refs[i].offset, n);
        at += n;
        offsets[i + 1] = (uint32_t)at;
    }
    to->n_characters = at;
}

static void add_states(hac_block_column *to, uint64_t first, const hac_column *v, size_t rows)
{
    if (v->states == NULL && !to->marked)
        return;
    if (!to->marked)
        memset(to->validity, HAC_ROW_OK, first);
    to->marked = true;
    if (v->states != NULL)
        memcpy(to->validity + first, v->states, rows);
    else
        memset(to->validity + first, HAC_ROW_OK, rows);
}

uint64_t hac_launching_buffer_batch_bytes(const hac_launching_buffer *b, const hac_batch *batch)
{
    uint64_t bytes = 0;
    for (size_t c = 0; c < batch->n_columns; c++) {
        const hac_column *v = &batch->columns[c];
        bytes += batch->rows * value_bytes(b->columns[c].type) + batch->rows / 8;
        if (hac_kind_is_text(v->type.kind))
            bytes += hac_column_string_bytes(v, batch->rows);
    }
    return bytes;
}

/* Allocates memory for the whole batch, so that it is added completely or not at all. */
static hac_status reserve_batch(hac_launching_buffer *b, const hac_batch *batch, hac_error *err)
{
    if (b->records + batch->rows > HAC_BLOCK_RECORDS_MAX)
        return hac_fail(err, HAC_UNSUPPORTED, "a block of more than %llu records",
                        (unsigned long long)HAC_BLOCK_RECORDS_MAX);
    hac_status status = reserve_records(b, batch->rows, err);
    for (size_t c = 0; status == HAC_OK && c < batch->n_columns; c++) {
        hac_block_column *to = &b->columns[c];
        if (!hac_kind_is_text(to->type.kind))
            continue;
        uint64_t bytes = hac_column_string_bytes(&batch->columns[c], batch->rows);
        status = bytes > HAC_BLOCK_BYTES_MAX - to->n_characters
                     ? hac_fail(err, HAC_UNSUPPORTED, "a block of more than %llu bytes of text",
                                (unsigned long long)HAC_BLOCK_BYTES_MAX)
                     : reserve_characters(to, bytes, err);
    }
    return status;
}

hac_status hac_launching_buffer_add(hac_launching_buffer *b, const hac_batch *batch, hac_error *err)
{
    hac_status status = reserve_batch(b, batch, err);
    if (status != HAC_OK)
        return status;
    for (size_t c = 0; c < batch->n_columns; c++) {
        const hac_column *v = &batch->columns[c];
        hac_block_column *to = &b->columns[c];
        add_states(to, b->records, v, batch->rows);
        if (hac_kind_is_text(to->type.kind))
            add_strings(to, b->records, v, batch->rows);
        else
            narrow(to->type, v->values, batch->rows, to->values + b->records * value_bytes(to->type));
    }
    b->records += batch->rows;
    return HAC_OK;
}

/* ---- the block ---- */

uint64_t hac_block_values_bytes(hac_value_type type, uint64_t records)
{
    if (records == 0)
        return 0;
    if (type.kind == HAC_KIND_BOOL)
        return (records + 7) / 8;
    return hac_kind_is_text(type.kind) ? (records + 1) * sizeof(uint32_t) : records * hac_value_size(type);
}

uint64_t hac_block_validity_bytes(uint64_t records)
{
    return (records + 7) / 8;
}

uint64_t hac_launching_buffer_bytes(const hac_launching_buffer *b)
{
    uint64_t bytes = 0;
    for (size_t c = 0; c < b->schema->n_fields; c++) {
        const hac_block_column *column = &b->columns[c];
        bytes += rounded(hac_block_values_bytes(column->type, b->records)) + rounded(column->n_characters);
        if (column->marked)
            bytes += rounded(hac_block_validity_bytes(b->records));
    }
    return bytes;
}

/* Packs eight bytes that are 0 or 1 into eight bits. */
static uint8_t bits_of(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return (uint8_t)((word * UINT64_C(0x0102040810204080)) >> 56);
}

/* Packs in place. `flip`: 1 for states, where zero means valid. */
static void make_bits(uint8_t *bytes, uint64_t records, uint8_t flip)
{
    uint64_t i = 0;
    for (; i + 8 <= records; i += 8)
        bytes[i / 8] = (uint8_t)(bits_of(bytes + i) ^ (flip ? 0xff : 0));
    if (i == records)
        return;
    uint8_t last = 0;
    for (uint64_t bit = 0; i + bit < records; bit++)
        last |= (uint8_t)(((bytes[i + bit] ^ flip) & 1) << bit);
    bytes[i / 8] = last;
}

void hac_launching_buffer_seal(hac_launching_buffer *b)
{
    for (size_t c = 0; c < b->schema->n_fields; c++) {
        hac_block_column *column = &b->columns[c];
        if (column->type.kind == HAC_KIND_BOOL)
            make_bits(column->values, b->records, 0);
        if (column->marked)
            make_bits(column->validity, b->records, 1);
    }
}
